//! Processes, from `sched_process_fork`, `_exec`, `_exit` and `sched_switch`.
//!
//! A span lasts from fork to exit and has the name that the process had last:
//! that of the program it executed. One whose fork was not recorded begins
//! where it is first spoken of, and says so (`began`). `cpu_us` is the time
//! between being switched to and away from, where `sched_switch` is recorded.
//! A thread that was only sampled is shown from the first to the last sample.

use std::collections::{BTreeMap, HashMap, HashSet};

use bootlap_model::{Anchor, LinkKind, Milestone, Severity, Span, SpanEnd, SpanId, Sym, TrackKind};

use super::cut;
use super::event::{Moment, Task};
use super::samples::Samples;
use crate::text::Import;

/// As many as a kernel has by default at a time, eight times over.
const MAX_TASKS: usize = 1 << 18;
const MAX_CPUS: usize = 8_192;
/// Distinct programs that other evidence may know.
const MAX_PROGRAMS: usize = 4_096;
/// perf tells of a fork by a record and by a tracepoint.
const SAME_FORK_NS: i64 = 1_000_000;
/// `TASK_COMM_LEN` without its NUL.
const COMM_LEN: usize = 15;

struct Known {
    span: SpanId,
    comm: Sym,
    ended: bool,
    /// It was not only sampled.
    told: bool,
    forked_ns: Option<i64>,
    cpu_ns: Option<i64>,
    samples: Samples,
    extra: Vec<(&'static str, Sym)>,
}

/// All processes of a trace.
#[derive(Default)]
pub(crate) struct Tasks {
    by_pid: HashMap<u32, usize>,
    all: Vec<Known>,
    /// By CPU: who runs there, since when.
    running: BTreeMap<u32, (u32, i64)>,
    programs: HashSet<u64>,
    /// The boot itself is in this recording: initcalls were seen.
    pub(crate) boots: bool,
    init_ran: bool,
}

impl Tasks {
    /// `parent` makes `child`.
    pub(crate) fn fork(
        &mut self,
        parent: Task<'_>,
        child: Task<'_>,
        now: &Moment,
        import: &mut Import<'_>,
    ) {
        let parent_span = self.seen(parent, now, import).map(|p| self.all[p].span);
        if let Some(&known) = self.by_pid.get(&child.pid) {
            let forked_ns = self.all[known].forked_ns;
            let again = forked_ns.is_some_and(|ns| now.at.ns.saturating_sub(ns) < SAME_FORK_NS);
            if again && !self.all[known].ended {
                return self.rename(known, child.comm, import);
            }
            // The number is used again: the end of the first was not seen.
            self.gone(child.pid, import);
            self.by_pid.remove(&child.pid);
        }
        let ppid = parent.pid.to_string();
        let Some(new) = self.add(child, &[("ppid", &ppid)], now, import) else {
            return;
        };
        self.all[new].forked_ns = Some(now.at.ns);
        if let Some(parent) = parent_span {
            let child = self.all[new].span;
            import.timeline.link(parent, child, LinkKind::Spawns);
        }
    }

    /// `task` is spoken of, by the name that it has now.
    pub(crate) fn seen(
        &mut self,
        task: Task<'_>,
        now: &Moment,
        import: &mut Import<'_>,
    ) -> Option<usize> {
        if task.pid == 0 {
            return None;
        }
        if let Some(&known) = self.by_pid.get(&task.pid) {
            self.rename(known, task.comm, import);
            self.all[known].told = true;
            return Some(known);
        }
        let args = [("began", "before it was first seen")];
        self.add(task, &args, now, import)
    }

    /// `task` was running, in `symbol`.
    pub(crate) fn sampled(
        &mut self,
        task: Task<'_>,
        symbol: Option<&str>,
        now: &Moment,
        import: &mut Import<'_>,
    ) {
        if task.pid == 0 {
            return;
        }
        let known = match self.by_pid.get(&task.pid) {
            Some(&known) => known,
            None => match self.add(task, &[], now, import) {
                Some(new) => {
                    self.all[new].told = false;
                    new
                }
                None => return,
            },
        };
        let symbol = symbol.map(|s| import.sym(s));
        self.all[known].samples.add(now.at, symbol);
    }

    /// If `task` is known, it has this name.
    pub(crate) fn named(&mut self, task: Task<'_>, import: &mut Import<'_>) {
        if let Some(&known) = self.by_pid.get(&task.pid) {
            self.rename(known, task.comm, import);
        }
    }

    /// `pid` is a thread of its parent.
    pub(crate) fn is_thread(&mut self, pid: u32, import: &mut Import<'_>) {
        if let Some(&known) = self.by_pid.get(&pid) {
            let yes = import.sym("yes");
            self.extra(known, "thread", yes);
        }
    }

    /// `pid`, now called `comm`, executes `program`.
    pub(crate) fn exec(
        &mut self,
        program: &str,
        Task { comm, pid }: Task<'_>,
        now: &Moment,
        import: &mut Import<'_>,
    ) {
        // busybox runs its applets as `/proc/self/exe`.
        let named = !program.starts_with("/proc/");
        let comm = if named { comm_of(program) } else { comm };
        if let Some(known) = self.seen(Task { comm, pid }, now, import)
            && named
        {
            let program = import.sym(program);
            self.extra(known, "exe", program);
        }
        let key = Anchor::exec(program.as_bytes());
        if named && self.programs.len() < MAX_PROGRAMS && self.programs.insert(key) {
            import.anchor(now.clock, now.at, key, now.evidence);
        }
        // Later ones: the first program hands over to another.
        if pid == 1 && self.boots && !self.init_ran {
            self.init_ran = true;
            import.milestone(now.clock, now.at, Milestone::InitStart, now.evidence);
        }
    }

    /// Something more is known of `pid`, if it is known itself.
    pub(crate) fn fact(
        &mut self,
        (key, value): (&'static str, &str),
        pid: u32,
        import: &mut Import<'_>,
    ) {
        if let Some(&known) = self.by_pid.get(&pid) {
            let value = import.sym(value);
            self.extra(known, key, value);
        }
    }

    /// `task` ends.
    pub(crate) fn exit(&mut self, task: Task<'_>, now: &Moment, import: &mut Import<'_>) {
        let Some(known) = self.seen(task, now, import) else {
            return;
        };
        let id = self.all[known].span;
        let span = span_mut(id, import);
        if !self.all[known].ended && now.at.ns >= span.start.ns {
            span.end = SpanEnd::At(now.at);
            self.all[known].ended = true;
        }
    }

    /// `pid`, if it is known, has ended by now, and nobody saw when.
    pub(crate) fn gone(&mut self, pid: u32, import: &mut Import<'_>) {
        let Some(&known) = self.by_pid.get(&pid) else {
            return;
        };
        let known = &mut self.all[known];
        if !known.ended {
            span_mut(known.span, import).end = SpanEnd::Unknown;
            known.ended = true;
        }
    }

    /// `task`, if it is known, has used so much of the CPUs in all.
    pub(crate) fn used(&mut self, task: Task<'_>, cpu_ns: i64, import: &mut Import<'_>) {
        if let Some(&known) = self.by_pid.get(&task.pid) {
            self.rename(known, task.comm, import);
            self.all[known].cpu_ns = Some(cpu_ns);
        }
    }

    /// `cpu` goes from one thread to another.
    pub(crate) fn switch(
        &mut self,
        cpu: Option<u32>,
        from: Task<'_>,
        to: Task<'_>,
        now: &Moment,
        import: &mut Import<'_>,
    ) {
        let from_known = self.seen(from, now, import);
        self.seen(to, now, import);
        let Some(cpu) = cpu else {
            return;
        };
        if let Some((pid, since)) = self.running.get(&cpu).copied()
            && pid == from.pid
            && let Some(known) = from_known
        {
            self.ran(known, now.at.ns.saturating_sub(since));
        }
        if self.running.len() < MAX_CPUS || self.running.contains_key(&cpu) {
            self.running.insert(cpu, (to.pid, now.at.ns));
        }
    }

    fn ran(&mut self, known: usize, ns: i64) {
        let total = self.all[known].cpu_ns.get_or_insert(0);
        *total = total.saturating_add(ns.max(0));
    }

    /// The recording has ended at `last_ns`.
    pub(crate) fn finish(&mut self, last_ns: i64, import: &mut Import<'_>) {
        for (pid, since) in std::mem::take(&mut self.running).into_values() {
            if let Some(&known) = self.by_pid.get(&pid) {
                self.ran(known, last_ns.saturating_sub(since));
            }
        }
        for known in &self.all {
            let mut args: Vec<_> = known
                .extra
                .iter()
                .map(|(k, v)| (import.timeline.symbols.intern(k), *v))
                .collect();
            if let Some(ns) = known.cpu_ns {
                args.push((import.sym("cpu_us"), import.sym(&(ns / 1_000).to_string())));
            }
            if let Some(last) = known.samples.last {
                if !known.told {
                    let seen = import.sym("first to last sample");
                    args.push((import.sym("seen"), seen));
                    span_mut(known.span, import).end = SpanEnd::At(last);
                }
                let count = known.samples.count.to_string();
                args.push((import.sym("samples"), import.sym(&count)));
                let hot = known.samples.hot(import);
                if !hot.is_empty() {
                    args.push((import.sym("hot"), import.sym(&hot)));
                }
            }
            let span = span_mut(known.span, import);
            span.name = known.comm;
            span.args.extend(args);
        }
    }

    fn add(
        &mut self,
        task: Task<'_>,
        args: &[(&str, &str)],
        now: &Moment,
        import: &mut Import<'_>,
    ) -> Option<usize> {
        if self.all.len() >= MAX_TASKS {
            import.notice(
                "too-many-processes",
                Severity::DataLoss,
                now.evidence,
                "only the first 262144 processes are shown: record less of the boot at a time",
            );
            return None;
        }
        let pid = task.pid.to_string();
        let mut all = vec![("pid", &*pid)];
        all.extend(args);
        let comm = if is_name(task.comm) {
            task.comm
        } else {
            "<...>"
        };
        let track = (TrackKind::Process, "processes");
        let time = (now.at, SpanEnd::OpenAtCut);
        let span = import.span(now.clock, track, comm, time, &all, now.evidence);
        self.all.push(Known {
            span,
            comm: import.sym(comm),
            ended: false,
            told: true,
            forked_ns: None,
            cpu_ns: None,
            samples: Samples::default(),
            extra: Vec::new(),
        });
        self.by_pid.insert(task.pid, self.all.len() - 1);
        Some(self.all.len() - 1)
    }

    fn rename(&mut self, known: usize, comm: &str, import: &mut Import<'_>) {
        if is_name(comm) {
            self.all[known].comm = import.sym(comm);
        }
    }

    fn extra(&mut self, known: usize, key: &'static str, value: Sym) {
        let extra = &mut self.all[known].extra;
        match extra.iter_mut().find(|(k, _)| *k == key) {
            Some(old) => old.1 = value,
            None => extra.push((key, value)),
        }
    }
}

/// What the kernel calls a process that executes `program`.
pub(crate) fn comm_of(program: &str) -> &str {
    let name = program.rsplit('/').next().unwrap_or(program);
    cut(name, COMM_LEN)
}

fn span_mut<'s>(id: SpanId, import: &'s mut Import<'_>) -> &'s mut Span {
    import.timeline.span_mut(id)
}

/// `<...>` is what the kernel prints if it has forgotten the name.
fn is_name(comm: &str) -> bool {
    !comm.is_empty() && comm != "<...>"
}
