//! Function calls of `function_graph`, nested by thread.
//!
//! Entry and return are lines of their own, except for a function that called
//! nothing: its one line has the time of its entry, and how long it took. The
//! depth of each line tells when lines were lost: what is open at that depth
//! or deeper has ended unseen, and its end is unknown.
//!
//! Without absolute times (`nofuncgraph-abstime`, the kernel's default) only
//! durations are known. Each thread's calls are then put one after the other
//! from 0 on, which gives every call its length and its nesting; what passed
//! between calls is missing, and a notice says so.
//!
//! Where `sched_switch` is recorded too, calls during which the thread did not
//! have the CPU say for how long: `asleep_us` (it waited), `preempted_us` (it
//! could have run).

use std::collections::HashMap;

use bootlap_model::{ClockId, ClockKind, Evidence, Severity, Span, SpanEnd, Stamp, Sym, TrackKind};

use super::event::{Event, Function};
use super::lane::{Lane, Open, Place, Returned, Thread};
use super::named_initcalls::NamedInitcalls;
use crate::text::Import;

/// From here on, calls without calls in them that took less than
/// [`SHORT_NS`] are left out, which are nearly all; and from the second limit
/// on, all: 200 bytes each.
const MANY: usize = 1_000_000;
const SHORT_NS: i64 = 10_000;
const TOO_MANY: usize = 4_000_000;
/// The kernel follows 50 levels (`FTRACE_RETFUNC_DEPTH`).
const MAX_DEPTH: usize = 1_000;
/// As many threads as a kernel has by default (`kernel.pid_max`).
const MAX_LANES: usize = 32_768;
/// Absolute times are cut to µs, durations are not.
const CUT_NS: i64 = 1_000;

/// Symbols that each call needs.
#[derive(Clone, Copy)]
struct Keys {
    pid: Sym,
    cpu: Sym,
    one_initcall: Sym,
}

/// All function calls of a trace.
#[derive(Default)]
pub(crate) struct Calls {
    by_thread: HashMap<Thread, usize>,
    lanes: Vec<Lane>,
    recent: Option<(Thread, usize)>,
    kept: usize,
    /// For calls without times.
    relative: Option<ClockId>,
    /// By number, the symbols of what CPUs are called.
    cpus: Vec<Option<Sym>>,
    keys: Option<Keys>,
    pub(crate) initcalls: NamedInitcalls,
}

impl Lane {
    /// Tells the innermost open call what it called, if that is kept.
    fn tell_parent(&mut self, name: &str, span: Option<usize>) {
        let parent = self.open.last_mut();
        if let Some(children) = parent.and_then(|open| open.children.as_mut()) {
            children.child(name, span);
        }
    }
}

impl Calls {
    /// A function is entered.
    pub(crate) fn call(
        &mut self,
        event: &Event<'_>,
        (function, depth): (&Function<'_>, u32),
        clock: Option<ClockId>,
        evidence: Evidence,
        import: &mut Import<'_>,
    ) {
        let Some(place) = self.place(event, clock, evidence, import) else {
            return;
        };
        self.lose_from(place.lane, depth, import);
        let name = import.sym(function.name);
        let start = self.start(&place, import);
        let span = self.add(&place, name, function, (start, SpanEnd::Unknown), import);
        let is_initcall = self.keys(import).one_initcall == name;
        let lane = &mut self.lanes[place.lane];
        lane.tell_parent(function.name, span);
        if lane.open.len() >= MAX_DEPTH {
            return;
        }
        lane.open.push(Open {
            span,
            name,
            depth,
            start,
            asleep_ns: lane.asleep_ns,
            preempted_ns: lane.preempted_ns,
            children: is_initcall.then(Box::default),
        });
    }

    /// A function that called nothing.
    pub(crate) fn leaf(
        &mut self,
        event: &Event<'_>,
        function: &Function<'_>,
        returned: Returned<'_>,
        clock: Option<ClockId>,
        evidence: Evidence,
        import: &mut Import<'_>,
    ) {
        let Some(place) = self.place(event, clock, evidence, import) else {
            return;
        };
        let returned = forwards(returned, evidence, import);
        self.lose_from(place.lane, returned.depth, import);
        let start = self.start(&place, import);
        let end = returned
            .duration_ns
            .map_or(SpanEnd::Unknown, |ns| SpanEnd::At(later(start, ns)));
        if let SpanEnd::At(end) = end {
            self.lanes[place.lane].laid_ns = end.ns;
        }
        let in_initcall = self.lanes[place.lane]
            .open
            .last()
            .is_some_and(|o| o.children.is_some());
        let short = returned.duration_ns.is_none_or(|ns| ns < SHORT_NS);
        if self.kept >= MANY && short && !in_initcall {
            return too_many(
                evidence,
                "short-calls-left-out",
                "after the first million calls, calls of less than 10 us that call nothing are left out: trace fewer functions (set_graph_function, max_graph_depth)",
                import,
            );
        }
        let name = import.sym(function.name);
        let span = self.add(&place, name, function, (start, end), import);
        if let (Some(span), Some(value)) = (span, returned.value) {
            let arg = (import.sym("ret"), import.sym(value));
            import.timeline.spans[span].args.push(arg);
        }
        let lane = &mut self.lanes[place.lane];
        lane.leaf = span;
        lane.tell_parent(function.name, span);
    }

    /// A function has returned.
    pub(crate) fn returned(
        &mut self,
        event: &Event<'_>,
        returned: Returned<'_>,
        clock: Option<ClockId>,
        evidence: Evidence,
        import: &mut Import<'_>,
    ) {
        let Some(place) = self.place(event, clock, evidence, import) else {
            return;
        };
        let returned = forwards(returned, evidence, import);
        self.lose_from(place.lane, returned.depth.saturating_add(1), import);
        let lane = &mut self.lanes[place.lane];
        let symbols = &import.timeline.symbols;
        let is_it = |o: &Open| {
            returned
                .name
                .is_none_or(|name| symbols.text(o.name) == name)
        };
        let same = |o: &Open| o.depth == returned.depth && is_it(o);
        match lane.open.pop_if(|o| same(o)) {
            Some(open) => self.close(&place, open, returned, import),
            None => {
                self.lose_from(place.lane, returned.depth, import);
                self.late(&place, returned, import);
            }
        }
    }

    fn close(
        &mut self,
        place: &Place,
        open: Open,
        returned: Returned<'_>,
        import: &mut Import<'_>,
    ) {
        let lane = &mut self.lanes[place.lane];
        let end = match (place.at, returned.duration_ns) {
            (Some(at), _) => Some(at),
            (None, Some(ns)) => {
                lane.laid_ns = later(open.start, ns).ns.max(lane.laid_ns);
                Some(Stamp::new(lane.laid_ns, open.start.err_ns))
            }
            (None, None) => None,
        };
        let (Some(span), Some(end)) = (open.span, end) else {
            return;
        };
        if end.ns < open.start.ns {
            return ends_before_it_starts(place.evidence, import);
        }
        let off = [
            ("asleep_us", lane.asleep_ns.saturating_sub(open.asleep_ns)),
            (
                "preempted_us",
                lane.preempted_ns.saturating_sub(open.preempted_ns),
            ),
        ];
        for (key, ns) in off.into_iter().filter(|(_, ns)| *ns > 0) {
            let arg = (import.sym(key), import.sym(&(ns / 1_000).to_string()));
            import.timeline.spans[span].args.push(arg);
        }
        if let Some(value) = returned.value {
            let arg = (import.sym("ret"), import.sym(value));
            import.timeline.spans[span].args.push(arg);
        }
        import.timeline.spans[span].end = SpanEnd::At(end);
        if let Some(children) = open.children {
            self.initcalls.one(&children, import);
        }
    }

    /// A return whose entry was not recorded: it began its duration before.
    fn late(&mut self, place: &Place, returned: Returned<'_>, import: &mut Import<'_>) {
        let (Some(name), Some(ns)) = (returned.name, returned.duration_ns) else {
            return import.notice(
                "return-without-call",
                Severity::Notice,
                place.evidence,
                "these functions returned, but the line that says when they were called is missing: the recording began later, or lines were lost; trace again with a larger buffer (trace_buf_size=) and with funcgraph-tail",
            );
        };
        let Some(end) = place.at else {
            return;
        };
        let start = Stamp::new(end.ns.saturating_sub(ns), end.err_ns);
        let function = Function {
            name,
            ..Function::default()
        };
        let name = import.sym(name);
        self.add(place, name, &function, (start, SpanEnd::At(end)), import);
    }

    /// The CPU goes from `from` to `to`.
    pub(crate) fn switch(&mut self, from: u32, asleep: bool, to: u32, at: Stamp) {
        if let Some(&lane) = self.by_thread.get(&Thread::Pid(from)) {
            self.lanes[lane].off_cpu = Some((at.ns, asleep));
        }
        let Some(&lane) = self.by_thread.get(&Thread::Pid(to)) else {
            return;
        };
        let lane = &mut self.lanes[lane];
        if let Some((since, asleep)) = lane.off_cpu.take() {
            let ns = at.ns.saturating_sub(since).max(0);
            let total = if asleep {
                &mut lane.asleep_ns
            } else {
                &mut lane.preempted_ns
            };
            *total = total.saturating_add(ns);
        }
    }

    /// The recording has ended: what is open still runs.
    pub(crate) fn finish(&mut self, import: &mut Import<'_>) {
        for lane in &mut self.lanes {
            for open in lane.open.drain(..) {
                if let Some(span) = open.span {
                    import.timeline.spans[span].end = SpanEnd::OpenAtCut;
                }
            }
        }
    }

    fn place(
        &mut self,
        event: &Event<'_>,
        clock: Option<ClockId>,
        evidence: Evidence,
        import: &mut Import<'_>,
    ) -> Option<Place> {
        let thread = match event.pid {
            Some(pid) if pid > 0 => Thread::Pid(pid),
            _ => Thread::Cpu(event.cpu),
        };
        let lane = match self.recent {
            Some((recent, lane)) if recent == thread => lane,
            _ => self.lane(thread, event, evidence, import)?,
        };
        self.recent = Some((thread, lane));
        if let Some(at) = event.at {
            self.end_leaf(lane, at, evidence, import);
        }
        Some(Place {
            lane,
            clock: match (event.at, clock) {
                (Some(_), Some(clock)) => clock,
                _ => self.relative(import),
            },
            at: event.at,
            cpu: event.cpu,
            evidence,
        })
    }

    fn lane(
        &mut self,
        thread: Thread,
        event: &Event<'_>,
        evidence: Evidence,
        import: &mut Import<'_>,
    ) -> Option<usize> {
        if let Some(&lane) = self.by_thread.get(&thread) {
            return Some(lane);
        }
        if self.lanes.len() >= MAX_LANES {
            import.notice(
                "too-many-threads",
                Severity::DataLoss,
                evidence,
                "only the calls of the first 32768 threads are shown: trace fewer (set_ftrace_pid)",
            );
            return None;
        }
        let comm = if event.comm.is_empty() {
            "<...>"
        } else {
            event.comm
        };
        let name = match (thread, event.cpu) {
            (Thread::Pid(pid), _) => format!("{comm}-{pid}"),
            (Thread::Cpu(Some(cpu)), _) => format!("cpu {cpu}"),
            (Thread::Cpu(None), _) => "unknown thread".to_owned(),
        };
        let pid = event.pid.map(|pid| import.sym(&pid.to_string()));
        self.lanes.push(Lane {
            track: import.timeline.track(TrackKind::Function, &name),
            pid,
            open: Vec::new(),
            laid_ns: 0,
            leaf: None,
            off_cpu: None,
            asleep_ns: 0,
            preempted_ns: 0,
        });
        self.by_thread.insert(thread, self.lanes.len() - 1);
        Some(self.lanes.len() - 1)
    }

    /// Something else happens in this thread, so the last call without calls
    /// in it is over, whatever its duration says.
    fn end_leaf(&mut self, lane: usize, at: Stamp, evidence: Evidence, import: &mut Import<'_>) {
        let Some(leaf) = self.lanes[lane].leaf.take() else {
            return;
        };
        let leaf = &mut import.timeline.spans[leaf];
        let SpanEnd::At(end) = &mut leaf.end else {
            return;
        };
        let over = end.ns.saturating_sub(at.ns);
        if over <= 0 {
            return;
        }
        end.ns = at.ns.max(leaf.start.ns);
        if over > CUT_NS {
            import.notice(
                "duration-beyond-next-call",
                Severity::Info,
                evidence,
                "by their duration, functions still ran when their thread's next line was recorded: they are shown as ending there; the clock was adjusted, or trace_clock is not exact",
            );
        }
    }

    fn start(&mut self, place: &Place, import: &mut Import<'_>) -> Stamp {
        place.at.unwrap_or_else(|| {
            import.notice(
                "calls-without-times",
                Severity::Notice,
                place.evidence,
                "these calls have a duration, but no time: they are put one behind the other, without what passed between them; trace again with `echo 1 > options/funcgraph-abstime` (trace_options=funcgraph-abstime)",
            );
            Stamp::new(self.lanes[place.lane].laid_ns, u32::MAX)
        })
    }

    fn relative(&mut self, import: &mut Import<'_>) -> ClockId {
        let (timeline, file) = (&mut *import.timeline, import.file);
        *self
            .relative
            .get_or_insert_with(|| timeline.add_clock(ClockKind::Relative, file))
    }

    /// What is open at `depth` or deeper has ended unseen.
    fn lose_from(&mut self, lane: usize, depth: u32, import: &mut Import<'_>) {
        let open = &mut self.lanes[lane].open;
        while let Some(lost) = open.pop_if(|o| o.depth >= depth) {
            if let Some(span) = lost.span {
                let at = import.timeline.spans[span].evidence;
                import.notice(
                    "call-without-return",
                    Severity::DataLoss,
                    at,
                    "the lines that say when these functions returned are missing, so their time is not known: trace again with a larger buffer (trace_buf_size=) or fewer functions",
                );
            }
        }
    }

    fn add(
        &mut self,
        place: &Place,
        name: Sym,
        function: &Function<'_>,
        (start, end): (Stamp, SpanEnd),
        import: &mut Import<'_>,
    ) -> Option<usize> {
        if self.kept >= TOO_MANY {
            too_many(
                place.evidence,
                "calls-left-out",
                "only the first 4 million calls are kept: trace fewer functions (set_graph_function, max_graph_depth)",
                import,
            );
            return None;
        }
        self.kept += 1;
        let (track, pid) = (self.lanes[place.lane].track, self.lanes[place.lane].pid);
        let mut args = Vec::with_capacity(2);
        let keys = self.keys(import);
        args.extend(pid.map(|pid| (keys.pid, pid)));
        if let Some(cpu) = place.cpu.and_then(|cpu| self.cpu(cpu, import)) {
            args.push((keys.cpu, cpu));
        }
        if !function.args.is_empty() {
            args.push((import.sym("args"), import.sym(function.args)));
        }
        if let Some(module) = function.module {
            args.push((import.sym("module"), import.sym(module)));
        }
        let id = import.timeline.spans.len();
        import.timeline.add_span(Span {
            track,
            clock: place.clock,
            start,
            end,
            name,
            args,
            evidence: place.evidence,
        });
        Some(id)
    }

    fn keys(&mut self, import: &mut Import<'_>) -> Keys {
        *self.keys.get_or_insert_with(|| Keys {
            pid: import.sym("pid"),
            cpu: import.sym("cpu"),
            one_initcall: import.sym("do_one_initcall"),
        })
    }

    fn cpu(&mut self, cpu: u32, import: &mut Import<'_>) -> Option<Sym> {
        let at = usize::try_from(cpu).ok().filter(|at| *at < 8_192)?;
        if self.cpus.len() <= at {
            self.cpus.resize(at + 1, None);
        }
        let symbols = &mut import.timeline.symbols;
        Some(*self.cpus[at].get_or_insert_with(|| symbols.intern(&cpu.to_string())))
    }
}

fn later(at: Stamp, ns: i64) -> Stamp {
    Stamp::new(at.ns.saturating_add(ns.max(0)), at.err_ns)
}

/// A negative duration is none.
fn forwards<'r>(returned: Returned<'r>, at: Evidence, import: &mut Import<'_>) -> Returned<'r> {
    let duration_ns = returned.duration_ns.filter(|ns| *ns >= 0);
    if duration_ns != returned.duration_ns {
        ends_before_it_starts(at, import);
    }
    Returned {
        duration_ns,
        ..returned
    }
}

fn ends_before_it_starts(at: Evidence, import: &mut Import<'_>) {
    import.notice(
        "ends-before-it-starts",
        Severity::Notice,
        at,
        "by their own times these events end before they begin: their end is not known",
    );
}

fn too_many(at: Evidence, code: &str, remedy: &str, import: &mut Import<'_>) {
    import.notice(code, Severity::DataLoss, at, remedy);
}
