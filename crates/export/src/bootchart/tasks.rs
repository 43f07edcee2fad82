//! Who is listed: the processes of a boot, each with a number of its own.
//!
//! Where several kinds of evidence saw processes, those of the kind that saw most
//! are taken, so that none is there twice. A process whose number nobody told, or
//! whose number another one has at the same time, gets one from the end of those
//! that Linux has.

use std::collections::{BTreeMap, HashMap, HashSet};

use bootlap_analysis::{Process, Processes};
use bootlap_model::Timeline;
use bootlap_report::clean::clean;

use super::JIFFY_NS;

/// Linux has no larger pid.
const MAX_PID: u32 = 1 << 22;
/// Longer names are cut; the kernel's have 15 bytes, those of its workers 63.
const MAX_NAME: usize = 63;

/// A process as it is listed.
pub(super) struct Task {
    pub(super) pid: u32,
    /// 0 if nobody is known.
    pub(super) ppid: u32,
    pub(super) name: String,
    /// In which jiffies it is there: from this one, up to but not in that one.
    pub(super) from: i64,
    pub(super) to: i64,
    /// All that it used, jiffies.
    pub(super) cpu: i64,
}

impl Task {
    pub(super) fn is_kernel(&self) -> bool {
        self.pid == 2 || self.ppid == 2
    }
}

/// All of them, by begin, and the jiffies of the first begin and of the last sample.
pub(super) struct Tasks {
    pub(super) all: Vec<Task>,
    pub(super) first: i64,
    pub(super) last: i64,
    /// Facts of the machine, by the names that sources give them.
    pub(super) facts: BTreeMap<&'static str, String>,
}

/// Facts of the machine that sources put beside a process.
const FACTS: [&str; 5] = ["kernel", "release", "cpu_model", "cpus", "kernel_options"];

pub(super) fn of(timeline: &Timeline, found: &Processes) -> Tasks {
    let kept = kept(timeline, &found.rows);
    // What ended before the last moment is not in a sample after it.
    let last = jiffy(found.window.1) + 1;
    let mut order: Vec<usize> = (0..found.rows.len()).filter(|at| kept[*at]).collect();
    order.sort_by_key(|at| (found.rows[*at].start_ns, *at));
    let lives: Vec<(i64, i64)> = found.rows.iter().map(|row| life(row, last)).collect();
    let pids = pids(&found.rows, &order, &lives);
    let task = |at: usize| {
        let row = &found.rows[at];
        let above = std::iter::successors(row.parent, |at| found.rows[*at].parent);
        let parent = above.into_iter().find(|at| kept[*at]);
        let told = timeline.arg(timeline.span(row.span), "ppid");
        let ppid = match parent {
            Some(parent) => pids[&parent],
            None => told.and_then(|ppid| ppid.parse().ok()).unwrap_or(0),
        };
        Task {
            pid: pids[&at],
            ppid,
            name: name(&row.name),
            from: lives[at].0,
            to: lives[at].1,
            cpu: row.cpu_ns.unwrap_or(0).max(0).saturating_add(JIFFY_NS / 2) / JIFFY_NS,
        }
    };
    let fact = |key: &&'static str| {
        let mut spans = order.iter().map(|at| timeline.span(found.rows[*at].span));
        let value = spans.find_map(|span| timeline.arg(span, key))?;
        Some((*key, value.to_owned()))
    };
    let all: Vec<Task> = order.iter().map(|at| task(*at)).collect();
    Tasks {
        first: all.first().map_or(last, |task| task.from),
        all,
        last,
        facts: FACTS.iter().filter_map(fact).collect(),
    }
}

fn jiffy(ns: i64) -> i64 {
    ns.div_euclid(JIFFY_NS)
}

/// From its begin to its end; at least the jiffy in which it began.
fn life(row: &Process, last: i64) -> (i64, i64) {
    let from = jiffy(row.start_ns);
    let to = match (row.open, row.end_ns, row.seen_ns) {
        (true, ..) => last + 1,
        (_, Some(end), _) => jiffy(end),
        // In the sample that saw it, it was there.
        (_, None, Some(seen)) => jiffy(seen) + 1,
        (_, None, None) => from,
    };
    (from, to.max(from + 1))
}

/// By row: whether it is listed.
fn kept(timeline: &Timeline, rows: &[Process]) -> Vec<bool> {
    let source = |row: &Process| {
        let span = timeline.span(row.span);
        let is_thread =
            timeline.arg(span, "made_by").is_some() || timeline.arg(span, "thread") == Some("yes");
        let file = timeline.file(span.evidence.file);
        (!is_thread).then_some(&*file.source)
    };
    let sources: Vec<Option<&str>> = rows.iter().map(source).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for source in sources.iter().flatten() {
        *counts.entry(source).or_default() += 1;
    }
    let most = counts.iter().max_by_key(|(_, count)| **count);
    let most = most.map(|(source, _)| *source);
    sources
        .iter()
        .map(|source| source.is_some() && *source == most)
        .collect()
}

/// The numbers of the rows in `order`.
fn pids(rows: &[Process], order: &[usize], lives: &[(i64, i64)]) -> HashMap<usize, u32> {
    let told = |at: usize| rows[at].pid.filter(|pid| (1..=MAX_PID).contains(pid));
    let known: HashSet<u32> = order.iter().filter_map(|at| told(*at)).collect();
    let mut free = (1..=MAX_PID).rev().filter(|pid| !known.contains(pid));
    // By pid: until when it is taken.
    let mut taken: HashMap<u32, i64> = HashMap::new();
    let mut pids = HashMap::new();
    for &at in order {
        let (from, to) = lives[at];
        let own = told(at).filter(|pid| taken.get(pid).is_none_or(|until| *until <= from));
        let pid = own.or_else(|| free.next()).unwrap_or(MAX_PID);
        taken.insert(pid, to);
        pids.insert(at, pid);
    }
    pids
}

/// A name on one line, its words one space apart, as tools split lines there.
fn name(name: &str) -> String {
    let name = clean(name);
    let words: Vec<&str> = name.split_whitespace().collect();
    words.join(" ").chars().take(MAX_NAME).collect()
}
