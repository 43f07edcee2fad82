//! Initcalls, from the `initcall:*` events.

use bootlap_model::{Anchor, Severity, Span, SpanEnd, SpanId, Sym, TrackKind};

use super::event::Function;
use super::event::Moment;
use crate::text::Import;

/// Parallel module loads keep a few open; thousands are lost returns.
const MAX_OPEN: usize = 256;

struct Open {
    name: Sym,
    pid: Option<u32>,
    span: SpanId,
}

/// The initcalls that run.
#[derive(Default)]
pub(crate) struct Initcalls {
    open: Vec<Open>,
    level: String,
    /// Whether there were any.
    pub(crate) seen: bool,
}

impl Initcalls {
    /// The kernel begins the initcalls of a level.
    pub(crate) fn level(&mut self, level: &str) {
        self.seen = true;
        level.trim().clone_into(&mut self.level);
    }

    /// `function` begins.
    pub(crate) fn start(
        &mut self,
        function: &Function<'_>,
        pid: Option<u32>,
        now: &Moment,
        import: &mut Import<'_>,
    ) {
        self.seen = true;
        if self.open.len() >= MAX_OPEN {
            let lost = self.open.remove(0);
            lose(&lost, import);
        }
        let pid_text = pid.map(|pid| pid.to_string());
        let mut args = Vec::new();
        args.extend(pid_text.as_deref().map(|pid| ("pid", pid)));
        args.extend(function.module.map(|m| ("module", m)));
        // The kernel's own thread runs those that are built in.
        let built_in = pid.is_none_or(|pid| pid <= 1);
        if built_in && !self.level.is_empty() {
            args.push(("level", &self.level));
        }
        let track = if built_in {
            "initcalls"
        } else {
            "module initcalls"
        };
        let track = (TrackKind::Initcall, track);
        let time = (now.at, SpanEnd::Unknown);
        let span = import.span(now.clock, track, function.name, time, &args, now.evidence);
        let name = import.sym(function.name);
        let key = Anchor::key("initcall", function.name.as_bytes());
        import.anchor(now.clock, now.at, key, now.evidence);
        self.open.push(Open { name, pid, span });
    }

    /// `function` has returned `ret`.
    pub(crate) fn finish_one(
        &mut self,
        function: &Function<'_>,
        ret: &str,
        pid: Option<u32>,
        now: &Moment,
        import: &mut Import<'_>,
    ) {
        self.seen = true;
        let name = import.sym(function.name);
        let is_it = |o: &Open| o.pid == pid && o.name == name;
        let Some(index) = self.open.iter().rposition(is_it) else {
            return import.notice(
                "initcall-without-call",
                Severity::Notice,
                now.evidence,
                "these initcalls returned, but the lines that say when they were called are missing: record from the start of the kernel (trace_event=initcall:*) with a larger buffer (trace_buf_size=)",
            );
        };
        let open = self.open.remove(index);
        let nested = self.open.extract_if(index.., |o| o.pid == pid);
        nested.for_each(|lost| lose(&lost, import));
        let ret = (import.sym("ret"), import.sym(ret));
        let span: &mut Span = import.timeline.span_mut(open.span);
        span.args.push(ret);
        if now.at.ns >= span.start.ns {
            span.end = SpanEnd::At(now.at);
        }
    }

    /// The recording has ended.
    pub(crate) fn finish(&mut self, import: &mut Import<'_>) {
        for open in self.open.drain(..) {
            import.timeline.span_mut(open.span).end = SpanEnd::OpenAtCut;
        }
    }
}

fn lose(lost: &Open, import: &mut Import<'_>) {
    let at = import.timeline.span(lost.span).evidence;
    import.notice(
        "initcall-without-return",
        Severity::DataLoss,
        at,
        "the lines that say when these initcalls returned are missing, so their time is not known: record with a larger buffer (trace_buf_size=)",
    );
}
