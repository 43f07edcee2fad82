//! Sampled processes become spans: when each began and ended, and how well
//! that is known.
//!
//! - The kernel says in which jiffy a process was forked (10 ms). Without that
//!   (`taskstats.log`) it was between two samples.
//! - A process that is gone went between its last sample and the next; its
//!   accounting record (`kernel_pacct`) knows better.
//! - A process that was there in the last whole sample still runs.

use std::collections::HashSet;

use bootlap_model::{Anchor, ClockId, LinkKind, Span, SpanEnd, SpanId, Stamp, Sym, TrackKind};

use super::accounts::Exit;
use super::blocks::{Blocks, JIFFY_ERR_NS, JIFFY_NS};
use super::family::{Commands, Paternity};
use super::table::{Process, Table};
use crate::parts::base;
use crate::text::Import;

/// Anchors are for the processes that come first.
const MAX_ANCHORS: usize = 4096;
/// The kernel cuts names to 15 bytes.
const COMM_LEN: usize = 15;
/// A jiffy for the start, and one for the time elapsed.
const EXIT_ERR_NS: u32 = 2 * JIFFY_ERR_NS;

/// Everything that tells of processes.
pub(super) struct Assembly<'a> {
    pub(super) clock: ClockId,
    pub(super) blocks: &'a Blocks,
    pub(super) table: &'a Table,
    pub(super) paternity: &'a Paternity,
    pub(super) commands: &'a Commands,
    /// By process: its exit, where accounting told.
    pub(super) exits: &'a [Option<Exit>],
    /// Facts of the machine, for the first process.
    pub(super) facts: Vec<(Sym, Sym)>,
    /// The recording's times do not count from the kernel's start.
    pub(super) relative: bool,
}

impl Assembly<'_> {
    /// Adds a span for each process, the links between them, and anchors;
    /// gives the spans, by process.
    pub(super) fn add(mut self, import: &mut Import<'_>) -> Vec<SpanId> {
        let by_pid = self.table.index();
        let processes = &self.table.processes;
        let mut spans: Vec<SpanId> = Vec::with_capacity(processes.len());
        let mut names: HashSet<String> = HashSet::new();
        for (at, process) in processes.iter().enumerate() {
            let alone = by_pid.of(process.pid).len() == 1;
            let comm = process.name().map_or("", |name| import.timeline.text(name));
            let exec = self.commands.of(process.pid, base(comm), alone, import);
            let ppid = self.paternity.parent(process.pid, process.ppid);
            let mut args = self.args(at, ppid, import);
            if let Some(exec) = exec {
                args.push((import.sym("exe"), exec.file));
                args.push((import.sym("cmdline"), exec.args));
            }
            if at == 0 {
                args.append(&mut self.facts);
            }
            let start = self.start(process);
            let span = Span {
                track: import.timeline.track(TrackKind::Process, "processes"),
                clock: self.clock,
                start,
                end: self.end(at, start),
                name: self.name(process, import),
                args,
                evidence: process.at,
            };
            spans.push(import.timeline.add_span(span));
            let parent = by_pid.parent(process.ppid, at, processes);
            let parent = parent.and_then(|parent| processes[parent].name());
            let full = exec.map(|exec| exec.file);
            self.anchors(process, parent, full, &mut names, import);
        }
        for (at, process) in processes.iter().enumerate() {
            // The nearest ancestor that lived long enough to be sampled.
            let mut parent = self.paternity.parent(process.pid, process.ppid);
            for _ in 0..64 {
                if let Some(found) = by_pid.parent(parent, at, processes) {
                    let (from, to) = (spans[found], spans[at]);
                    import.timeline.link(from, to, LinkKind::Spawns);
                    break;
                }
                match self.paternity.parent(parent, 0) {
                    0 => break,
                    next => parent = next,
                }
            }
        }
        spans
    }

    /// The program's name: Android has paths and whole command lines.
    fn name(&self, process: &Process, import: &mut Import<'_>) -> Sym {
        let Some(name) = process.name() else {
            return import.sym("");
        };
        let text = import.timeline.text(name);
        if !text.starts_with('/') || process.kernel {
            return name;
        }
        let short = base(text.split(' ').next().unwrap_or(text)).to_owned();
        if short.is_empty() {
            name
        } else {
            import.sym(&short)
        }
    }

    fn args(&self, at: usize, ppid: u32, import: &mut Import<'_>) -> Vec<(Sym, Sym)> {
        let process = &self.table.processes[at];
        let mut facts = vec![("pid", process.pid.to_string()), ("ppid", ppid.to_string())];
        let text = |name: Sym| import.timeline.text(name).to_owned();
        match &process.names[..] {
            [] => {}
            [(name, _)] => {
                if text(*name).starts_with('/') && !process.kernel {
                    facts.push(("cmdline", text(*name)));
                }
            }
            names => {
                let names: Vec<String> = names.iter().map(|(name, _)| text(*name)).collect();
                facts.push(("names", names.join(" → ")));
            }
        }
        let exit = self.exits[at];
        let cpu_ns = exit.map_or(0, |exit| exit.cpu_ns).max(process.cpu_ns);
        facts.push(("cpu_us", us(cpu_ns)));
        if process.children_ns > 0 {
            facts.push(("children_cpu_us", us(process.children_ns)));
        }
        if let Some([running, disk, sleeping]) = process.states_ns {
            facts.push(("running_us", us(running)));
            facts.push(("disk_us", us(disk)));
            facts.push(("sleep_us", us(sleeping)));
        }
        if process.io_ns > 0 {
            facts.push(("io_wait_us", us(process.io_ns)));
        }
        if process.threads > 0 {
            facts.push(("threads", process.threads.to_string()));
        }
        if process.kernel || process.pid == 2 || process.ppid == 2 {
            facts.push(("kernel_thread", "yes".to_owned()));
        }
        if process.start_ns.is_none() || self.relative {
            if process.first == 0 {
                facts.push(("started", "before the recording".to_owned()));
            }
            facts.push(("last_seen_us", us(self.blocks.times[process.last])));
        }
        if let Some(exit) = exit {
            facts.push(("exit", exit.code.to_string()));
        }
        let args = facts
            .iter()
            .map(|(key, value)| (import.sym(key), import.sym(value)));
        args.collect()
    }

    fn start(&self, process: &Process) -> Stamp {
        let times = &self.blocks.times;
        let seen = times[process.first];
        match process.start_ns.filter(|_| !self.relative) {
            // It was there when the sample was taken, whatever its own time
            // says: the clocks are read one after the other.
            Some(start) => Stamp::new(start.min(seen), JIFFY_ERR_NS),
            None => match process.first.checked_sub(1) {
                Some(before) => between(times[before], seen),
                None => Stamp::new(seen, u32::try_from(seen.max(JIFFY_NS)).unwrap_or(u32::MAX)),
            },
        }
    }

    fn end(&self, at: usize, start: Stamp) -> SpanEnd {
        let process = &self.table.processes[at];
        let times = &self.blocks.times;
        let whole = self.blocks.whole();
        if let Some(exit) = &self.exits[at] {
            return SpanEnd::At(Stamp::new(exit.ns.max(start.ns), EXIT_ERR_NS));
        }
        if process.alive.is_some_and(|alive| alive + 1 >= whole) {
            return SpanEnd::OpenAtCut;
        }
        // Rows of taskstats come only when something changed.
        if process.states_ns.is_none() {
            return SpanEnd::Unknown;
        }
        let gone = match process.alive {
            Some(alive) => between(times[alive].max(start.ns), times[alive + 1]),
            None => between(start.ns, times[process.first]),
        };
        SpanEnd::At(Stamp::new(gone.ns.max(start.ns), gone.err_ns))
    }

    /// When the process began to run each of its programs.
    fn anchors(
        &self,
        process: &Process,
        parent: Option<Sym>,
        full: Option<Sym>,
        names: &mut HashSet<String>,
        import: &mut Import<'_>,
    ) {
        for (name, block) in &process.names {
            let comm = import.timeline.text(*name);
            let known = names.len() >= MAX_ANCHORS || !names.insert(comm.to_owned());
            // A fork without exec keeps its parent's name; what ran before the
            // recording began some time before.
            if known || process.kernel || parent == Some(*name) || *block == 0 {
                continue;
            }
            let full = full.map(|file| base(import.timeline.text(file)));
            let program = match full.filter(|file| file.starts_with(comm)) {
                Some(full) => full,
                None if comm.len() == COMM_LEN => continue,
                None if comm.starts_with('/') => comm.split(' ').next().unwrap_or(comm),
                None => comm,
            };
            let key = Anchor::exec(program.as_bytes());
            let before = self.blocks.times[block - 1];
            let after = self.blocks.times[*block];
            let start = process.start_ns.filter(|_| !self.relative);
            let begun = start.unwrap_or(before).clamp(before, after);
            let moment = between(begun, after);
            let err = moment.err_ns.saturating_add(JIFFY_ERR_NS);
            import.anchor(self.clock, Stamp::new(moment.ns, err), key, process.at);
        }
    }
}

/// Some moment from `before` to `after`.
fn between(before: i64, after: i64) -> Stamp {
    let half = after.saturating_sub(before).max(0) / 2;
    let err = u32::try_from(half).unwrap_or(u32::MAX);
    Stamp::new(before.saturating_add(half), err.max(JIFFY_ERR_NS))
}

fn us(ns: i64) -> String {
    (ns / 1000).to_string()
}
