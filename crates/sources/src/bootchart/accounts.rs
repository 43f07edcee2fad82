//! Accounting records find their processes: by pid and name, and by when the
//! process was seen.

use std::collections::HashMap;

use bootlap_model::{ClockId, ClockKind, LinkKind, Severity, SpanEnd, SpanId, Stamp, TrackKind};

use super::blocks::{Blocks, JIFFY_ERR_NS, JIFFY_NS};
use super::pacct::Account;
use super::table::Table;
use crate::text::Import;

/// Processes of one name that a record without pid is compared with.
const MAX_TRIED: usize = 256;
/// The wall clock's seconds are cut, and so is that of the kernel's start.
const WALL_ERR_NS: u32 = 1_000_000_000;
/// Above this the order of the exits tells no more than the wall clock.
const MAX_BETWEEN_NS: i64 = 500_000_000;

/// How a process ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exit {
    /// When, ns of uptime.
    pub(super) ns: i64,
    /// As `wait(2)` tells it.
    pub(super) code: u32,
    /// All CPU time that it used.
    pub(super) cpu_ns: i64,
}

/// Finds the process of each record. By process its exit, and by record
/// whether it was found.
pub(super) fn matched(
    accounts: &[Account],
    table: &Table,
    blocks: &Blocks,
    import: &Import<'_>,
) -> (Vec<Option<Exit>>, Vec<Option<usize>>) {
    let mut exits = vec![None; table.processes.len()];
    let mut found = vec![None; accounts.len()];
    let by_pid = table.index();
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, process) in table.processes.iter().enumerate() {
        if let Some(name) = process.name() {
            by_name
                .entry(import.timeline.text(name))
                .or_default()
                .push(at);
        }
    }
    for (account, found) in accounts.iter().zip(&mut found) {
        let candidates = match account.pids {
            Some((pid, _)) => by_pid.of(pid),
            None => by_name
                .get(&*account.name)
                .map(Vec::as_slice)
                .unwrap_or_default(),
        };
        let free = candidates.iter().filter(|at| exits[**at].is_none());
        for at in free.take(MAX_TRIED) {
            if let Some(ns) = exit_ns(account, &table.processes[*at], blocks) {
                let (code, cpu_ns) = (account.exit_code, account.cpu_ns);
                exits[*at] = Some(Exit { ns, code, cpu_ns });
                *found = Some(*at);
                break;
            }
        }
    }
    (exits, found)
}

/// When the process ended, if the record can be its.
fn exit_ns(account: &Account, process: &super::table::Process, blocks: &Blocks) -> Option<i64> {
    let end = process.start_ns?.saturating_add(account.elapsed_ns);
    let slack = 2 * JIFFY_NS;
    let after = process
        .alive
        .map_or(process.start_ns, |b| Some(blocks.times[b]))?;
    let next = process.alive.map_or(process.first, |alive| alive + 1);
    let before = blocks.times.get(next).copied().unwrap_or(i64::MAX);
    (end.saturating_add(slack) >= after && end <= before.saturating_add(slack)).then_some(end)
}

/// What is known of the time of records that no sample saw.
pub(super) struct Times<'a> {
    /// The clock of uptimes, and the samples on it.
    pub(super) uptime: Option<(ClockId, &'a Blocks)>,
    /// The second in which the kernel started.
    pub(super) booted_s: Option<i64>,
    /// By process: its exit.
    pub(super) exits: &'a [Option<Exit>],
    /// By record: its process.
    pub(super) found: &'a [Option<usize>],
    /// What was sampled, and its spans.
    pub(super) table: &'a Table,
    pub(super) spans: &'a [SpanId],
}

impl Times<'_> {
    /// Adds a span for each record whose process was never sampled.
    pub(super) fn add(&self, accounts: &[Account], import: &mut Import<'_>) {
        let bounds = self.bounds(accounts.len());
        let mut wall = None;
        let mut added: HashMap<u32, SpanId> = HashMap::new();
        let mut children: Vec<(SpanId, u32)> = Vec::new();
        for (i, account) in accounts.iter().enumerate() {
            if self.found[i].is_some() {
                continue;
            }
            let (clock, start, end) = match (self.uptime, bounds[i], self.booted_s) {
                (Some((clock, _)), Some((low, high)), _) if high - low <= MAX_BETWEEN_NS => {
                    let half = (high - low).max(0) / 2;
                    let end = low.saturating_add(half);
                    let err = u32::try_from(half).unwrap_or(u32::MAX);
                    let err = err.saturating_add(2 * JIFFY_ERR_NS);
                    let start = end.saturating_sub(account.elapsed_ns);
                    (clock, Stamp::new(start, err), Stamp::new(end, err))
                }
                (Some((clock, _)), _, Some(booted)) => {
                    let since = i64::from(account.start_s).saturating_sub(booted);
                    let start = since.saturating_mul(1_000_000_000);
                    let end = start.saturating_add(account.elapsed_ns);
                    let stamp = |ns| Stamp::new(ns, WALL_ERR_NS);
                    (clock, stamp(start), stamp(end))
                }
                _ => {
                    let file = account.at.file;
                    let clock = *wall.get_or_insert_with(|| {
                        import.timeline.add_clock(ClockKind::Realtime, file)
                    });
                    let start = i64::from(account.start_s) * 1_000_000_000;
                    let end = start.saturating_add(account.elapsed_ns);
                    let stamp = |ns| Stamp::new(ns, WALL_ERR_NS);
                    (clock, stamp(start), stamp(end))
                }
            };
            let span = add(account, clock, (start, end), import);
            if let Some((pid, ppid)) = account.pids {
                added.insert(pid, span);
                children.push((span, ppid));
            }
        }
        self.link(&added, &children, import);
        if wall.is_some() && self.uptime.is_some() {
            let remedy = "process accounting has wall-clock seconds only, and the clock was set while these processes ran, so they are not on the time axis of the others";
            if let Some(first) = accounts.first() {
                import.notice(
                    "accounting-on-wall-clock",
                    Severity::Notice,
                    first.at,
                    remedy,
                );
            }
        }
    }

    /// Links spans to their parents, of which the pid is known.
    fn link(
        &self,
        added: &HashMap<u32, SpanId>,
        children: &[(SpanId, u32)],
        import: &mut Import<'_>,
    ) {
        let by_pid = self.table.index();
        for (child, ppid) in children {
            let sampled = by_pid.of(*ppid).last().and_then(|at| self.spans.get(*at));
            let parent = sampled.or_else(|| added.get(ppid));
            if let Some(parent) = parent.filter(|parent| *parent != child) {
                import.timeline.link(*parent, *child, LinkKind::Spawns);
            }
        }
    }

    /// By record: between which uptimes it was written, as records come in
    /// the order of the exits.
    fn bounds(&self, records: usize) -> Vec<Option<(i64, i64)>> {
        let known = |i: usize| Some(self.exits[self.found[i]?]?.ns);
        let end = self.uptime.and_then(|(_, blocks)| blocks.window());
        let mut low = Vec::with_capacity(records);
        let mut last = None;
        for i in 0..records {
            low.push(last);
            last = known(i).max(last);
        }
        let mut next = end.map(|(_, end)| end);
        let mut bounds = vec![None; records];
        for i in (0..records).rev() {
            bounds[i] = low[i].zip(next).filter(|(low, high)| low <= high);
            if let Some(ns) = known(i) {
                next = Some(next.map_or(ns, |next| next.min(ns)));
            }
        }
        bounds
    }
}

fn add(
    account: &Account,
    clock: ClockId,
    (start, end): (Stamp, Stamp),
    import: &mut Import<'_>,
) -> SpanId {
    let mut args = Vec::new();
    if let Some((pid, ppid)) = account.pids {
        args.push(("pid", pid.to_string()));
        args.push(("ppid", ppid.to_string()));
    }
    args.push(("cpu_us", (account.cpu_ns / 1000).to_string()));
    args.push(("exit", account.exit_code.to_string()));
    let args: Vec<(&str, &str)> = args.iter().map(|(k, v)| (*k, &v[..])).collect();
    let track = (TrackKind::Process, "processes");
    let span = (start, SpanEnd::At(end));
    import.span(clock, track, &account.name, span, &args, account.at)
}
