//! ftrace as text: what `/sys/kernel/tracing/trace` and `trace_pipe` say, and
//! `trace-cmd report`.
//!
//! ```text
//! # tracer: function_graph
//!     7.990163 |   1)   swapper-1    |               |  do_one_initcall() {
//!     7.990215 |   1)   swapper-1    |   5.463 us    |    crypto_ecb_module_init();
//!     7.990270 |   1)   swapper-1    | ! 107.535 us  |  } /* do_one_initcall */
//! # tracer: nop
//!          systemd-1       [001] .....    22.555418: initcall_start: func=fuse_len_args+0x0/0x30 [fuse]
//!               sh-148     [000] d..2.    4.546995: sched_process_exec: filename=/bin/sh pid=148 old_pid=148
//! CPU:1 [LOST 123 EVENTS]
//! cpus=2
//!              cat-149   [001]     4.547007: sched_switch:         cat:149 [120] S ==> init:1 [120]
//! ```
//!
//! Printed by the kernel (`kernel/trace/trace_output.c`,
//! `trace_functions_graph.c`) and by `trace-cmd`; pm-graph's `bootgraph` writes
//! the same after lines of its own (`# boot-…`, `# sysinfo | …`).
//!
//! Times are seconds of the trace clock, cut to µs. `local` (the kernel's
//! choice) and `global` count from where the kernel log's clock starts; the
//! text does not say which clock it is, so another one (`trace_clock=`, `-C`)
//! cannot be told from these. Latency format counts µs from its first event,
//! and `counter` and `x86-tsc` count no time at all.
//!
//! What the events become: [`crate::trace`]. Columns: [`graph_line`],
//! [`event_line`]. Fields: [`body`]. What was off for the longest time:
//! [`longest`].

pub(crate) mod body;
mod event_line;
mod graph_line;
mod longest;

use std::collections::HashMap;

use bootlap_model::{ClockKind, Evidence, Severity, Timeline};

use self::event_line::Time;
use self::graph_line::{GraphLine, Shape};
use self::longest::Longest;
use crate::text::{self, Import, Line, Reader, Skip};
use crate::trace::{Event, Recording, What, readable};
use crate::{Input, Sniff, Source, SourceError};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "ftrace",
    title: "kernel trace (ftrace)",
    looks_like: "`# tracer: …`, or lines like `  init-1  [001] .....  22.555418: initcall_start: …`",
    sniff,
    read,
    together: None,
};

const UNKNOWN: Skip = Skip::unknown(
    "expected lines of the kernel's trace file or of trace-cmd report: save the file as it is (cat /sys/kernel/tracing/trace > trace.txt)",
);

const NO_TIME: Skip = Skip::lost(
    "trace-clock-is-no-time",
    "the trace's clock counts something else than seconds (counter, x86-tsc, uptime), so these events cannot be placed: trace again with trace_clock=global",
);

/// More CPUs than a kernel can have.
const MAX_CPUS: usize = 8_192;

fn sniff(head: &[u8]) -> Sniff {
    let mut tracer = false;
    let mut first = None;
    let (mut found, mut all) = (0, 0);
    for line in text::head_lines(head).take(400) {
        tracer |= line.starts_with(b"# tracer: ");
        first.get_or_insert(tracer);
        let line = text::valid(line);
        if is_aside(line) {
            continue;
        }
        all += 1;
        let graph = || graph_line::parse(line).is_some_and(|l| tracer || !is_bare(line, &l));
        found += usize::from(event_line::parse(line).is_some() || graph());
    }
    match (tracer, found) {
        (true, found) if found * 2 >= all => Sniff::percent(95),
        // Whatever follows: a tracer of its own, options that leave all out.
        _ if first == Some(true) => Sniff::SURE,
        (_, 0) => Sniff::NO,
        (_, 1) if all <= 2 => Sniff::percent(70),
        (_, found) if found * 2 >= all => Sniff::SURE,
        _ => Sniff::NO,
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    text::read(input, &SOURCE, out, &mut FtraceReader::default())
}

/// Reads the lines of a trace.
pub(crate) struct FtraceReader {
    recording: Recording,
    /// Which thread each CPU runs, as far as `function_graph` says.
    running: HashMap<u32, (u32, String)>,
    /// The last line was one of `function_graph`: so may be the next.
    graph: bool,
    /// Bare lines (`f() {`) are calls: the tracer was named.
    named: bool,
    longest: Longest,
}

impl Default for FtraceReader {
    fn default() -> Self {
        Self {
            recording: Recording::new(ClockKind::Trace),
            running: HashMap::new(),
            graph: false,
            named: false,
            longest: Longest::default(),
        }
    }
}

impl Reader for FtraceReader {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        let text = &*readable(line.text);
        if self.graph && self.graph_line(text, line, import) {
            return Ok(());
        }
        if let Some(head) = event_line::parse(text) {
            self.graph = false;
            let at = match head.time {
                Time::At(at) => at,
                Time::Since(at) => {
                    self.recording.is_on(ClockKind::Relative);
                    at
                }
                Time::Ticks => return Err(NO_TIME),
            };
            self.longest
                .begins(at, line.at, &mut self.recording, import);
            let event = Event {
                at: Some(at),
                cpu: Some(head.cpu),
                comm: head.comm,
                pid: Some(head.pid),
                what: body::parse(head.body),
            };
            self.recording.event(&event, line.at, import);
            return Ok(());
        }
        if is_aside(text) {
            self.aside(text.trim_ascii(), line, import);
            return Ok(());
        }
        if self.graph_line(text, line, import) {
            return Ok(());
        }
        Err(UNKNOWN)
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        self.recording.finish(import);
    }
}

impl FtraceReader {
    /// Looks at one line; `false` if it is none of `function_graph`.
    fn graph_line(&mut self, text: &str, line: &Line<'_>, import: &mut Import<'_>) -> bool {
        let Some(graph) = graph_line::parse(text) else {
            return false;
        };
        if !self.named && is_bare(text, &graph) {
            return false;
        }
        self.graph = true;
        match graph.what {
            Shape::Call(what) => self.graph_event(&graph, what, line, import),
            Shape::Comment(comment) => {
                self.graph_event(&graph, body::parse(comment), line, import);
            }
            Shape::Banner(task) => {
                if let Some(cpu) = graph.cpu
                    && (self.running.len() < MAX_CPUS || self.running.contains_key(&cpu))
                {
                    self.running.insert(cpu, (task.pid, task.comm.to_owned()));
                }
            }
            Shape::Overruns => lost(line.at, import),
            Shape::Interrupt => {}
        }
        true
    }

    fn graph_event(
        &mut self,
        graph: &GraphLine<'_>,
        what: What<'_>,
        line: &Line<'_>,
        import: &mut Import<'_>,
    ) {
        let (mut comm, mut pid) = ("", None);
        if let Some(task) = graph.task {
            (comm, pid) = (task.comm, Some(task.pid));
        } else if let Some((running, name)) = graph.cpu.and_then(|cpu| self.running.get(&cpu)) {
            (comm, pid) = (name, Some(*running));
        }
        let event = Event {
            at: graph.at,
            cpu: graph.cpu,
            comm,
            pid,
            what,
        };
        self.recording.event(&event, line.at, import);
    }

    /// A line that is no event.
    fn aside(&mut self, text: &str, line: &Line<'_>, import: &mut Import<'_>) {
        if let Some(tracer) = text.strip_prefix("# tracer: ") {
            self.named = tracer.trim() == "function_graph";
            self.longest.tracer(tracer.trim());
        } else if let Some(counts) = text.strip_prefix("# entries-in-buffer/entries-written: ") {
            let counts = counts.split([' ', '/']).map(str::parse::<u64>);
            if let [Ok(kept), Ok(written)] = counts.take(2).collect::<Vec<_>>()[..]
                && written > kept
            {
                lost(line.at, import);
            }
        } else if let Some(clock) = text.strip_prefix("# clock: ") {
            self.recording.is_on(clock_kind(clock.trim()));
        } else if text == "# reads" {
            self.recording.is_of_files();
        } else if is_loss(text) {
            lost(line.at, import);
        } else if text.starts_with('#') {
            self.longest.heading(text);
        }
    }
}

/// What a trace clock of this name counts.
pub(crate) fn clock_kind(name: &str) -> ClockKind {
    match name {
        "mono" => ClockKind::Monotonic,
        "boot" | "uptime" => ClockKind::Boottime,
        "tai" | "counter" | "x86-tsc" | "tsc2nsec" | "ppc-tb" => ClockKind::Relative,
        _ => ClockKind::Trace,
    }
}

/// The kernel dropped events.
pub(crate) fn lost(at: Evidence, import: &mut Import<'_>) {
    import.notice(
        "trace-events-lost",
        Severity::DataLoss,
        at,
        "the kernel had no room for all events here: trace again with a larger buffer (trace_buf_size=16M, trace-cmd record -b 16384, bootlap-agent collect --buffer-kib 8192) or fewer events",
    );
}

/// `CPU:1 [LOST 123 EVENTS]`, `CPU:1 [123 EVENTS DROPPED]`
fn is_loss(text: &str) -> bool {
    text.starts_with("CPU:") && (text.contains("[LOST ") || text.contains("EVENTS DROPPED"))
}

/// Only indented code: what C looks like, too.
fn is_bare(text: &str, line: &GraphLine<'_>) -> bool {
    line.at.is_none() && line.cpu.is_none() && !text.contains('|')
}

/// Lines that are no events, but belong to a trace.
fn is_aside(text: &str) -> bool {
    let text = text.trim_ascii();
    match text.as_bytes().first() {
        None | Some(b'#') => true,
        Some(b'=') => text.starts_with("=> "),
        Some(b'-') => text.bytes().all(|b| b == b'-'),
        Some(b'C') => {
            (text.starts_with("CPU:") && text.ends_with(']'))
                || (text.starts_with("CPU ") && text.ends_with(" is empty"))
        }
        // What trace-cmd says besides, if both went to one file.
        Some(b't') => text.starts_with("trace-cmd: "),
        Some(b'E') => text.starts_with("Error: expected type "),
        Some(b'c') => is_number(text.strip_prefix("cpus=")),
        Some(b'v') => is_number(text.strip_prefix("version = ")),
        _ => false,
    }
}

fn is_number(text: Option<&str>) -> bool {
    text.is_some_and(|t| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit()))
}
