//! The archive of `bootlap-agent collect`.
//!
//! Processes with the kernel's own times of fork, exec and exit, what the kernel's
//! accounting says of each, marks, and CPUs, disks, memory and pressure at
//! intervals. Times are ns of `CLOCK_MONOTONIC`. The format is that of
//! `agent/src/collect/wire.h`: [`wire`].
//!
//! What was lost on the device, that an archive has no end, and what collecting
//! cost is told; nothing is subtracted.

mod counters;
mod ends;
mod facts;
mod printed;

use std::collections::HashSet;

use bootlap_model::{ClockEdge, ClockId, ClockKind, Evidence, How, Severity, Stamp, Timeline};

use self::counters::Counters;
use self::ends::Looks;
use self::facts::{Fact, Machine};
pub(crate) use self::printed::Printed;
use crate::text::{Import, Skip};
use crate::trace::{Event, Recording, Task, What};
use crate::{Input, Sniff, Source, SourceError, binary};
use bootlap_wire::archive::{self, Account, Content, Cost, Live, Record};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "agent",
    title: "bootlap-agent's archive",
    looks_like: "the file that bootlap-agent collect writes",
    sniff,
    read: read_input,
    together: None,
};

/// The agent's buffer is at most 1 GiB; nobody has used a tenth.
const LIMIT: u64 = 128 << 20;

const UNKNOWN: Skip = Skip::unknown(
    "a record of a kind that this bootlap does not know: use the bootlap that the agent is of",
);
const DAMAGED: Skip = Skip::lost(
    "record-damaged",
    "a record is shorter than its kind: copy the archive again, as bytes",
);

fn sniff(head: &[u8]) -> Sniff {
    match head.starts_with(archive::MAGIC) {
        true => Sniff::CERTAIN,
        false => Sniff::NO,
    }
}

fn read_input(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    let (bytes, more) = binary::all(input.bytes, LIMIT)?;
    read(&bytes, more, input.label, out);
    Ok(())
}

/// Reads an archive, or as much of it as is there; `more` if it goes on.
fn read(bytes: &[u8], more: bool, label: &str, out: &mut Timeline) {
    let mut import = Import::new(out, label, SOURCE.name);
    let mut archive = Archive::default();
    archive.read(bytes, &mut import);
    archive.finish(more, bytes.len(), &mut import);
    import.finish();
}

/// Something that happened to a process, and the order of equal times.
struct Happened<'a> {
    ns: i64,
    err_ns: u32,
    what: Content<'a>,
    at: Evidence,
}

impl Happened<'_> {
    /// Hands the recording something of a process that happened then.
    fn event(&self, pid: u32, what: What<'_>, to: &mut Recording, import: &mut Import<'_>) {
        let event = Event {
            at: Some(Stamp::new(self.ns, self.err_ns)),
            cpu: None,
            comm: "",
            pid: Some(pid),
            what,
        };
        to.event(&event, self.at, import);
    }
}

#[derive(Default)]
struct Archive<'a> {
    happened: Vec<Happened<'a>>,
    accounts: Vec<Happened<'a>>,
    marks: Vec<(i64, String, Evidence)>,
    counters: Counters,
    /// Processes whose beginning is known.
    begun: HashSet<u32>,
    /// Programs whose start is known by the kernel's name for them: when, whose.
    named: HashSet<(i64, u32)>,
    /// From, to, the kernel's log between them; ns.
    log_clock: Option<([i64; 3], Evidence)>,
    tick_ns: i64,
    /// The collector itself.
    collector: u32,
    machine: Machine,
    cost: Option<(Cost, Evidence)>,
    looks: Looks,
    ended: Option<(i64, Evidence)>,
}

impl<'a> Archive<'a> {
    fn read(&mut self, bytes: &'a [u8], import: &mut Import<'_>) {
        for Record {
            content,
            start,
            end,
            line,
        } in archive::Records::new(bytes)
        {
            let at = Evidence {
                file: import.file,
                start,
                end,
                line,
            };
            import.count_lines(1);
            match content {
                Ok(content) => self.take(content, at, import),
                Err(archive::RecordError::Kind) => import.skip(at, UNKNOWN),
                Err(archive::RecordError::Short) => import.skip(at, DAMAGED),
            }
        }
    }

    fn take(&mut self, content: Content<'a>, at: Evidence, import: &mut Import<'_>) {
        let happened = |ns, err_ns, what| Happened {
            ns,
            err_ns,
            what,
            at,
        };
        self.looks.see(&content);
        match content {
            Content::Start { ticks, cpus, pid } => {
                self.tick_ns = 1_000_000_000 / i64::from(ticks.max(1));
                self.collector = pid;
                self.machine.cpus = cpus;
            }
            Content::Fact { name, value } => self.machine.add(&name, &value),
            Content::Cost(cost) => {
                self.cost = Some((cost, at));
                self.accounts.push(happened(cost.ns, 0, content));
            }
            Content::Fork { ns, pid, .. } => {
                self.begun.insert(pid);
                self.happened.push(happened(ns, 0, content));
            }
            Content::Name { ns, pid, .. } => {
                self.named.insert((ns, pid));
                self.happened.push(happened(ns, 0, content));
            }
            Content::LogClock {
                from_ns,
                to_ns,
                log_us,
            } => {
                self.log_clock = Some(([from_ns, to_ns, log_us.saturating_mul(1000)], at));
            }
            Content::Exec { ns, .. } | Content::Exit { ns, .. } => {
                self.happened.push(happened(ns, 0, content));
            }
            Content::Account(Account { ns, .. }) | Content::Ran { ns, .. } => {
                self.accounts.push(happened(ns, 0, content));
            }
            Content::Live(Live { ns, pid, start, .. }) => {
                // One that was there before: the kernel says since which tick.
                if self.begun.insert(pid) {
                    let began = i64::try_from(start)
                        .unwrap_or(0)
                        .saturating_mul(self.tick_ns);
                    let err_ns = u32::try_from(self.tick_ns).unwrap_or(u32::MAX);
                    self.happened
                        .push(happened(began.min(ns), err_ns, content.clone()));
                }
                self.accounts.push(happened(ns, 0, content));
            }
            Content::Mark { ns, name } => self.marks.push((ns, name.into_owned(), at)),
            Content::Lost { count: 0, .. } => {}
            Content::Lost { count, what } => {
                // Notices of one code are one, with one remedy.
                let (code, remedy) = match &*what {
                    "records" => (
                        "agent-buffer-full",
                        "the agent's buffer was full: give it more (--buffer-kib)",
                    ),
                    _ => (
                        "agent-lost",
                        "the kernel's queue ran over: look more often (--interval-ms)",
                    ),
                };
                import.notice_times(count.into(), code, Severity::DataLoss, at, remedy);
            }
            Content::End { ns } => self.ended = Some((ns, at)),
            Content::Sample(sample) => self.counters.add(sample, at),
        }
    }

    fn finish(mut self, more: bool, len: usize, import: &mut Import<'_>) {
        let mut recording = Recording::new(ClockKind::Monotonic);
        self.happened.sort_by_key(|h| h.ns);
        for happened in &self.happened {
            self.tell(happened, &mut recording, import);
        }
        self.tell_gone(&mut recording, import);
        // Accounts are read after what they speak of, and names stay with a process.
        for happened in &self.accounts {
            self.tell(happened, &mut recording, import);
        }
        self.tell_machine(&mut recording, import);
        recording.finish(import);
        let clock = recording.clock(import);
        for (ns, name, at) in &self.marks {
            import.mark(clock, Stamp::new(*ns, 0), name, *at);
        }
        // What is still there then lived at least until then.
        if let Some((ns, at)) = self.ended {
            import.mark(clock, Stamp::new(ns, 0), "collecting ends", at);
        }
        self.counters.finish(clock, import);
        if let Some((cost, at)) = self.cost {
            let text = facts::cost_text(&cost);
            import.notice("collector-cost", Severity::Info, at, &text);
        }
        if let Some((times, at)) = self.log_clock {
            join_log(clock, times, at, import);
        }
        if more || self.ended.is_none() {
            let at = Evidence {
                file: import.file,
                start: len as u64,
                end: len as u64,
                line: 1,
            };
            import.notice(
                "archive-cut",
                Severity::DataLoss,
                at,
                "the archive has no end: copy all of it; what is there was read",
            );
        }
    }

    /// Hands on which processes ended without being seen to.
    fn tell_gone(&self, to: &mut Recording, import: &mut Import<'_>) {
        let Some((ns, at)) = self.ended else {
            return;
        };
        let looked = self.accounts.iter();
        let looked = looked.filter(|h| matches!(h.what, Content::Live(_)));
        let told = self.happened.iter().chain(looked);
        let told = told.map(|h| (h.ns, &h.what));
        for (pid, seen_ns) in self.looks.gone(self.collector, told) {
            let last = Happened {
                ns: seen_ns.min(ns),
                err_ns: 0,
                what: Content::End { ns },
                at,
            };
            let mut event = |pid, what: What<'_>| last.event(pid, what, to, import);
            event(pid, What::Gone { pid });
            let seen_us = (seen_ns / 1_000).to_string();
            tell_facts(pid, [("last_seen_us", seen_us)], &mut event);
        }
    }

    /// Hands on what the machine is, as facts of its first process.
    fn tell_machine(&self, to: &mut Recording, import: &mut Import<'_>) {
        let Some(first) = self.happened.first() else {
            return;
        };
        let mut event = |pid, what: What<'_>| first.event(pid, what, to, import);
        tell_facts(1, self.machine.facts(), &mut event);
    }

    /// Hands what happened to the recording.
    fn tell(&self, happened: &Happened<'_>, to: &mut Recording, import: &mut Import<'_>) {
        let mut event = |pid, what: What<'_>| happened.event(pid, what, to, import);
        let task = |pid, comm| Task { comm, pid };
        match &happened.what {
            Content::Fork {
                parent, pid, tgid, ..
            } => {
                let (task, is_thread) = (task(*pid, ""), pid != tgid);
                event(*parent, What::New { task, is_thread });
            }
            Content::Name { pid, name, .. } => event(
                *pid,
                What::Exec {
                    program: name,
                    pid: *pid,
                },
            ),
            Content::Exec { ns, pid, arguments } => {
                let pid = *pid;
                let program = arguments.split('\0').next().unwrap_or_default();
                if !program.is_empty() && !self.named.contains(&(*ns, pid)) {
                    event(pid, What::Exec { program, pid });
                }
                let line = arguments.trim_end_matches('\0').replace('\0', " ");
                if !line.is_empty() {
                    let (key, value) = ("command", &*line);
                    event(pid, What::Fact { key, value, pid });
                }
            }
            Content::Exit { pid, status, .. } => {
                let task = task(*pid, "");
                event(*pid, What::Exit { task });
                tell_facts(*pid, facts::of_status(*status), &mut event);
            }
            Content::Account(account) => {
                let cpu_ns = account.cpu_us.saturating_mul(1000);
                let task = task(account.pid, &account.name);
                event(account.pid, What::Used { task, cpu_ns });
                tell_facts(account.pid, facts::of_account(account), &mut event);
            }
            Content::Ran { pid, ran_ns, .. } => {
                let task = task(*pid, "");
                event(
                    *pid,
                    What::Used {
                        task,
                        cpu_ns: *ran_ns,
                    },
                );
            }
            Content::Cost(cost) => {
                let (pid, cpu_ns) = (self.collector, facts::cpu_ns(cost));
                let task = task(pid, "");
                event(pid, What::Used { task, cpu_ns });
                tell_facts(pid, facts::of_cost(cost), &mut event);
            }
            Content::Live(live) if live.ns == happened.ns => {
                let ticks = i64::try_from(live.ticks).unwrap_or(i64::MAX);
                let cpu_ns = ticks.saturating_mul(self.tick_ns);
                let task = task(live.pid, &live.name);
                event(live.pid, What::Used { task, cpu_ns });
            }
            Content::Live(live) => {
                let task = task(live.pid, &live.name);
                event(
                    live.parent,
                    What::New {
                        task,
                        is_thread: false,
                    },
                );
            }
            _ => {}
        }
    }
}

/// Hands on what is known of a process beyond its times.
fn tell_facts(
    pid: u32,
    facts: impl IntoIterator<Item = Fact>,
    event: &mut dyn FnMut(u32, What<'_>),
) {
    for (key, value) in facts {
        let value = &*value;
        event(pid, What::Fact { key, value, pid });
    }
}

/// What the agent read of both clocks, one between two of the other.
fn join_log(monotonic: ClockId, times: [i64; 3], at: Evidence, import: &mut Import<'_>) {
    let [from, to, log] = times;
    let file = import.file;
    let printk = import.timeline.add_clock(ClockKind::KernelPrintk, file);
    let half = to.saturating_sub(from).max(0) / 2;
    // The log shows µs.
    let err_ns = u32::try_from(half.saturating_add(1_000)).unwrap_or(u32::MAX);
    let offset_ns = log.saturating_sub(from.saturating_add(half));
    let edge = ClockEdge::offset(monotonic, printk, offset_ns, err_ns, How::Measured);
    let edge = edge.because(
        "the agent wrote to the kernel's log and read it".to_owned(),
        Some(at),
    );
    import.timeline.edges.push(edge);
}

#[cfg(test)]
mod tests;
