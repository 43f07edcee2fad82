//! `perf script`: the text of a `perf record`.
//!
//! ```text
//! sh 12283  1466.442625:     500000 cpu-clock:
//!         ffffffff821f5127 exc_page_fault+0xd7 ([kernel.kallsyms])
//!         ffffffff81000c82 asm_exc_page_fault+0x22 ([kernel.kallsyms])
//!
//!               sh 12298 [000]  1467.618583: sched:sched_process_fork: comm=sh pid=12298 child_comm=sh child_pid=12300
//!               sh 12300 [000]  1467.618776: PERF_RECORD_COMM exec: sh:12300/12300
//! ```
//!
//! Of a sample only this is sure: the thread was running this function at this
//! moment. So samples do not become function calls. They are counted: over
//! time for each program (the twenty with most), and for each thread, whose
//! span then has `samples` and the functions that were met most (`hot`). Of a
//! thread that only samples are known of, the span goes from its first to its
//! last sample and says so (`seen`): it may have lived longer.
//!
//! Tracepoints (`sched:…`, `initcall:…`, `syscalls:…`) are the same events as
//! those of ftrace: [`crate::trace`]. `--show-task-events` adds the processes
//! (`PERF_RECORD_FORK`, …).
//!
//! Times are seconds of the kernel's scheduler clock, which the kernel log's
//! is near, or of the one that `perf record -k` chose, which is known if
//! `perf script --header` was used; cut to µs, or ns with `--ns`. With
//! `--reltime` they count from the first event, with `--deltatime` each from
//! the event before.

mod line;

use bootlap_model::{ClockKind, Evidence, Stamp, Timeline};

use self::line::Head;
use crate::ftrace::{self, body};
use crate::text::{self, Import, Line, Reader, Skip};
use crate::trace::{Event, Recording, Task, What, readable};
use crate::{Input, Sniff, Source, SourceError};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "perf",
    title: "perf script",
    looks_like: "lines like `sh 12298 [000]  1467.618583: sched:sched_process_fork: …`",
    sniff,
    read,
    together: None,
};

const UNKNOWN: Skip = Skip::unknown(
    "expected what perf script prints, with at least the fields comm, tid, time and event: perf script -F comm,tid,cpu,time,event,trace,ip,sym,dso",
);

/// How many lines tell `--deltatime` from `--reltime`: differences that never
/// get smaller are no differences.
const ENOUGH: usize = 64;

fn sniff(head: &[u8]) -> Sniff {
    let (mut header, mut found, mut all) = (false, 0, 0);
    for line in text::head_lines(head).take(600) {
        header |= line.starts_with(b"# captured on ");
        if line.starts_with(b"#") || is_stack_row(line) {
            continue;
        }
        all += 1;
        let head = line::head(text::valid(line));
        found += usize::from(head.is_some_and(|h| h.cpu.is_some() || !h.event.is_empty()));
    }
    match (header, found) {
        (true, found) if found * 2 >= all => Sniff::percent(95),
        (_, 0) => Sniff::NO,
        (_, 1) if all <= 2 => Sniff::percent(65),
        (_, found) if found * 4 >= all * 3 => Sniff::SURE,
        _ => Sniff::NO,
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    text::read(input, &SOURCE, out, &mut PerfReader::default())
}

/// A row of a stack begins with a tab, and an address unless `-F sym`.
fn is_stack_row(line: &[u8]) -> bool {
    line.first() == Some(&b'\t')
}

/// How the times count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Times {
    /// No event was seen yet.
    Open,
    /// The first is 0, so they are relative: to what is not decided.
    Held,
    Clock,
    SinceFirst,
    /// To the event before, which was at this time.
    Deltas(i64),
}

/// Reads the lines of `perf script`.
struct PerfReader {
    recording: Recording,
    times: Times,
    held: Vec<(String, Evidence)>,
    held_ns: i64,
    /// A sample whose function is in the next line.
    sample: Option<Sampled>,
    /// A stack may go on.
    stack: bool,
}

struct Sampled {
    comm: String,
    pid: u32,
    at: Stamp,
    evidence: Evidence,
}

impl Default for PerfReader {
    fn default() -> Self {
        Self {
            recording: Recording::new(ClockKind::Trace),
            times: Times::Open,
            held: Vec::new(),
            held_ns: 0,
            sample: None,
            stack: false,
        }
    }
}

impl Reader for PerfReader {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        let text = readable(line.text);
        if text.starts_with('#') {
            self.header(&text);
            return Ok(());
        }
        if is_stack_row(line.text) {
            return self.row(&text, line.at, import);
        }
        let Some(head) = line::head(&text) else {
            return self.row(&text, line.at, import);
        };
        self.stack = true;
        let is_record = head.event.starts_with("PERF_RECORD_");
        if self.times == Times::Open && !is_record {
            self.times = if head.at.ns == 0 {
                Times::Held
            } else {
                Times::Clock
            };
        }
        if self.times == Times::Held && !is_record {
            if head.at.ns < self.held_ns {
                self.decide(Times::Deltas(0), import);
            } else {
                self.held_ns = head.at.ns;
                self.held.push((text.into_owned(), line.at));
                if self.held.len() >= ENOUGH {
                    self.decide(Times::SinceFirst, import);
                }
                return Ok(());
            }
        }
        self.event(&head, line.at, import);
        Ok(())
    }

    fn blank(&mut self, _line: &Line<'_>, import: &mut Import<'_>) {
        self.count_sample(None, import);
        self.stack = false;
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        self.decide(Times::SinceFirst, import);
        self.count_sample(None, import);
        self.recording.finish(import);
    }
}

impl PerfReader {
    /// A row of a stack: the first is the function that ran.
    fn row(&mut self, text: &str, at: Evidence, import: &mut Import<'_>) -> Result<(), Skip> {
        if !self.stack || !text.starts_with(['\t', ' ']) {
            return Err(UNKNOWN);
        }
        if self.times == Times::Held {
            self.held.push((text.to_owned(), at));
            if self.held.len() >= ENOUGH * ENOUGH {
                self.decide(Times::SinceFirst, import);
            }
            return Ok(());
        }
        if self.sample.is_some() {
            self.count_sample(line::symbol(text), import);
        }
        Ok(())
    }

    /// Now it is known how the times count: the lines that waited for it.
    fn decide(&mut self, times: Times, import: &mut Import<'_>) {
        if self.times != Times::Held {
            return;
        }
        self.times = times;
        self.recording.is_on(ClockKind::Relative);
        for (text, at) in std::mem::take(&mut self.held) {
            match line::head(&text) {
                Some(head) if !is_stack_row(text.as_bytes()) => self.event(&head, at, import),
                _ if self.sample.is_some() => self.count_sample(line::symbol(&text), import),
                _ => {}
            }
        }
    }

    fn event(&mut self, head: &Head<'_>, at: Evidence, import: &mut Import<'_>) {
        self.count_sample(None, import);
        let mut stamp = head.at;
        if let Times::Deltas(before) = &mut self.times {
            stamp.ns = before.saturating_add(stamp.ns.max(0));
            *before = stamp.ns;
        }
        let mut event = Event {
            at: Some(stamp),
            cpu: head.cpu,
            comm: head.comm,
            pid: Some(head.tid),
            what: What::Nothing,
        };
        if let Some(kind) = head.event.strip_prefix("PERF_RECORD_") {
            // Those of what was there before the recording have no time.
            if head.at.ns != 0 {
                self.record(kind, head, event, at, import);
            }
        } else if let Some(name) = line::tracepoint(head.event) {
            event.what = body::event(name, head.rest);
            self.recording.event(&event, at, import);
        } else {
            self.sample = Some(Sampled {
                comm: head.comm.to_owned(),
                pid: head.tid,
                at: stamp,
                evidence: at,
            });
            if !head.rest.is_empty() {
                self.count_sample(line::symbol(head.rest), import);
            }
        }
    }

    fn count_sample(&mut self, symbol: Option<&str>, import: &mut Import<'_>) {
        if let Some(sample) = self.sample.take() {
            let event = Event {
                at: Some(sample.at),
                cpu: None,
                comm: &sample.comm,
                pid: Some(sample.pid),
                what: What::Sample { symbol },
            };
            self.recording.event(&event, sample.evidence, import);
        }
    }

    /// `PERF_RECORD_…`: what perf knows of processes.
    fn record<'a>(
        &mut self,
        kind: &str,
        head: &Head<'a>,
        mut event: Event<'a>,
        at: Evidence,
        import: &mut Import<'_>,
    ) {
        match kind {
            "COMM" => {
                let (is_exec, text) = match head.rest.strip_prefix("exec: ") {
                    Some(text) => (true, text),
                    None => (false, head.rest.trim_start_matches([':', ' '])),
                };
                let Some((comm, ids)) = text.rsplit_once(':') else {
                    return;
                };
                let tid = ids.rsplit('/').next().and_then(|tid| tid.parse().ok());
                let Some(pid) = tid else {
                    return;
                };
                event.what = if is_exec {
                    What::Exec { program: comm, pid }
                } else {
                    What::Rename {
                        task: Task { comm, pid },
                    }
                };
                self.recording.event(&event, at, import);
            }
            "FORK" | "EXIT" => {
                let Some([pid, tid, _, ptid]) = four(head.rest) else {
                    return;
                };
                let (comm, child) = (
                    head.comm,
                    Task {
                        comm: head.comm,
                        pid: tid,
                    },
                );
                event.what = if kind == "FORK" {
                    What::Fork {
                        parent: Task { comm, pid: ptid },
                        child,
                    }
                } else {
                    What::Exit { task: child }
                };
                self.recording.event(&event, at, import);
                if kind == "FORK" && pid != tid {
                    event.what = What::New {
                        task: child,
                        is_thread: true,
                    };
                    self.recording.event(&event, at, import);
                }
            }
            "LOST" | "LOST_SAMPLES" => ftrace::lost(at, import),
            _ => {}
        }
    }

    /// `# event : name = …, use_clockid = 1, …, clockid = 1`, or `# clockid:
    /// monotonic (1)`.
    fn header(&mut self, text: &str) {
        let id = match text.split_once(" clockid = ") {
            Some((_, id)) => id,
            None => match text
                .strip_prefix("# clockid: ")
                .and_then(|t| t.split_once('('))
            {
                Some((_, id)) => id,
                None => return,
            },
        };
        let end = id.find(|c: char| !c.is_ascii_digit()).unwrap_or(id.len());
        self.recording.is_on(match &id[..end] {
            "0" => ClockKind::Realtime,
            "1" => ClockKind::Monotonic,
            "7" => ClockKind::Boottime,
            "4" | "11" => ClockKind::Relative,
            _ => return,
        });
    }
}

/// `(12300:12301):(12298:12299)`
fn four(text: &str) -> Option<[u32; 4]> {
    let numbers = text.split(['(', ')', ':']).filter(|t| !t.is_empty());
    let numbers: Vec<u32> = numbers
        .map_while(|n| n.trim().parse().ok())
        .take(5)
        .collect();
    numbers.try_into().ok()
}
