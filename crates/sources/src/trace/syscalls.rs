//! System calls, from the `syscalls:*` or `raw_syscalls:*` events.

use std::collections::HashMap;

use bootlap_model::{Severity, SpanEnd, SpanId, TrackKind};

use super::event::Moment;
use super::event::Task;
use crate::text::Import;

/// 200 bytes each.
const TOO_MANY: usize = 1_000_000;

/// The system calls that run, by thread.
#[derive(Default)]
pub(crate) struct Syscalls {
    open: HashMap<u32, (String, SpanId)>,
    tracks: HashMap<u32, String>,
    kept: usize,
}

impl Syscalls {
    /// `task` calls `name`.
    pub(crate) fn enter(
        &mut self,
        task: Task<'_>,
        (name, args): (&str, &str),
        now: &Moment,
        import: &mut Import<'_>,
    ) {
        // Both kinds of events may be recorded: the second says less.
        if self.kept >= TOO_MANY {
            return import.notice(
                "system-calls-left-out",
                Severity::DataLoss,
                now.evidence,
                "only the first million system calls are kept: record fewer, or of one process (set_event_pid)",
            );
        }
        if let Some((_, span)) = self.open.get(&task.pid)
            && let Some(number) = name.strip_prefix("NR ")
        {
            let nr = (import.sym("nr"), import.sym(number));
            import.timeline.span_mut(*span).args.push(nr);
            return;
        }
        self.kept += 1;
        let track = self
            .tracks
            .entry(task.pid)
            .or_insert_with(|| format!("{} {}", task.comm, task.pid));
        let pid = task.pid.to_string();
        let mut pairs = vec![("pid", &*pid)];
        if !args.is_empty() {
            pairs.push(("args", args));
        }
        let track = (TrackKind::Syscall, &**track);
        let time = (now.at, SpanEnd::Unknown);
        let span = import.span(now.clock, track, name, time, &pairs, now.evidence);
        self.open.insert(task.pid, (name.to_owned(), span));
    }

    /// `task`'s call has returned.
    pub(crate) fn exit(
        &mut self,
        task: Task<'_>,
        (name, ret): (&str, &str),
        now: &Moment,
        import: &mut Import<'_>,
    ) {
        let Some((open, span)) = self.open.get(&task.pid) else {
            return;
        };
        if open != name {
            return;
        }
        let ret = (import.sym("ret"), import.sym(ret));
        let span = import.timeline.span_mut(*span);
        span.args.push(ret);
        if now.at.ns >= span.start.ns {
            span.end = SpanEnd::At(now.at);
        }
        self.open.remove(&task.pid);
    }

    /// The recording has ended.
    pub(crate) fn finish(&mut self, import: &mut Import<'_>) {
        for (_, span) in self.open.values() {
            import.timeline.span_mut(*span).end = SpanEnd::OpenAtCut;
        }
    }
}
