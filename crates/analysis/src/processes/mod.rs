//! What ran: a tree of processes, from whatever evidence saw them.
//!
//! A boot has hundreds of processes and a screen has some dozen lines, so the
//! tree can be pruned as bootchart does it:
//!
//! - **recorder**: what the recording tool started is merged into it;
//! - **idle**: a process without children that used no CPU time and was there
//!   for more than nine tenths of the chart, to its end;
//! - **short**: a process that lived no longer than two samples; its children
//!   go to its parent;
//! - **same**: neighbours of one name under one parent become one (threads,
//!   and a script's calls of the same program);
//! - **chain**: a process whose only child has its name becomes one with it.
//!
//! Pruning hides most of a boot (three of four processes of a desktop, among
//! them the short-lived ones whose number may be the problem), so it is off
//! unless asked for, and what it hid is counted.

mod prune;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use bootlap_model::{Axis, LinkKind, SpanEnd, SpanId, Stamp, Timeline, TrackKind};
use schemars::JsonSchema;
use serde::Serialize;

pub use self::prune::Hidden;

/// Processes of a boot, parents before their children.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Processes {
    /// In the order of a tree: a parent, then its children by their start.
    pub rows: Vec<Process>,
    /// How many there were before anything was hidden.
    pub all: usize,
    /// What was hidden, and why.
    pub hidden: Hidden,
    /// From where to where processes were seen, ns on the axis.
    pub window: (i64, i64),
}

/// A process, or several that were merged into one.
///
/// In documents moments are on the boot's reference clock.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ProcessJson")]
pub struct Process {
    /// Where it was read; of several that were merged, the first.
    #[serde(skip)]
    pub span: SpanId,
    /// The program's name.
    pub name: String,
    /// Its pid, if known.
    pub pid: Option<u32>,
    /// The index of its parent in these rows.
    pub parent: Option<usize>,
    /// How deep it is in the tree; 0 has no parent.
    pub depth: usize,
    /// When it began.
    pub start_ns: i64,
    /// When it ended; null if unknown.
    pub end_ns: Option<i64>,
    /// It was still running when the recording stopped.
    pub open: bool,
    /// When it was last seen, where that is all that is known of its end.
    pub seen_ns: Option<i64>,
    /// CPU time of its own, if known.
    pub cpu_ns: Option<i64>,
    /// How many processes this row stands for.
    pub count: usize,
    /// By how much its end, or else its start, may be wrong: half a sample
    /// where it was sampled.
    pub err_ns: u32,
}

impl Process {
    /// How long it lived at least, ns: to its end, or to `until`, the end of
    /// the recording, if it was still there.
    pub fn lasted_ns(&self, until: i64) -> Option<i64> {
        Some(self.until_ns(until)?.saturating_sub(self.start_ns).max(0))
    }

    /// To when it was there at least, ns on the axis, in a recording that
    /// ended at `until`.
    pub fn until_ns(&self, until: i64) -> Option<i64> {
        if self.open {
            return Some(until);
        }
        self.end_ns.or(self.seen_ns)
    }
}

/// The processes of a timeline; with `prune`, less those that bootchart would
/// not show. Spans that nothing relates to the axis are left out.
pub fn processes(timeline: &Timeline, prune: bool) -> Processes {
    let axis = Axis::of(timeline);
    let mut nodes = nodes(timeline, &axis);
    let parents = parents(timeline, &nodes);
    for (at, parent) in parents.into_iter().enumerate() {
        nodes[at].process.parent = parent;
    }
    let window = window(timeline, &axis, &nodes);
    let all = nodes.len();
    let processes = nodes.into_iter().map(|node| node.process).collect();
    let mut tree = prune::Tree::new(processes);
    let hidden = if prune {
        tree.prune(window)
    } else {
        Hidden::default()
    };
    Processes {
        rows: tree.rows(),
        all,
        hidden,
        window,
    }
}

/// A process and its span.
struct Node {
    span: SpanId,
    process: Process,
}

fn nodes(timeline: &Timeline, axis: &Axis) -> Vec<Node> {
    let spans = timeline.span_ids().zip(&timeline.spans);
    let processes = spans.filter(|(_, s)| timeline.kind_of(s) == TrackKind::Process);
    let nodes = processes.filter_map(|(id, span)| {
        let placed = axis.span(span)?;
        let number = |key| timeline.arg(span, key)?.parse::<i64>().ok();
        let end = placed.end.filter(|end| end.ns >= placed.start.ns);
        let seen = number("last_seen_us").filter(|_| span.end == SpanEnd::Unknown);
        let seen = seen.map(|us| Stamp::new(us.saturating_mul(1000), 0));
        let seen = seen.and_then(|seen| axis.at(span.clock, seen));
        let begun_before = timeline.arg(span, "started").is_some();
        Some(Node {
            span: id,
            process: Process {
                span: id,
                name: timeline.text(span.name).to_owned(),
                pid: number("pid").and_then(|pid| u32::try_from(pid).ok()),
                parent: None,
                depth: 0,
                start_ns: placed.start.ns,
                end_ns: end.map(|end| end.ns),
                open: span.end == SpanEnd::OpenAtCut,
                seen_ns: seen.map(|seen| seen.ns),
                cpu_ns: number("cpu_us").map(|us| us.saturating_mul(1000)),
                count: 1,
                err_ns: match span.end {
                    SpanEnd::At(end) => end.err_ns,
                    SpanEnd::Unknown if !begun_before => span.start.err_ns,
                    SpanEnd::OpenAtCut | SpanEnd::Unknown => 0,
                },
            },
        })
    });
    nodes.collect()
}

/// The parent of each: as links say, else by pid.
fn parents(timeline: &Timeline, nodes: &[Node]) -> Vec<Option<usize>> {
    let by_span: HashMap<SpanId, usize> = nodes.iter().map(|n| n.span).zip(0..).collect();
    let mut parents: Vec<Option<usize>> = vec![None; nodes.len()];
    for link in &timeline.links {
        let ends = (by_span.get(&link.from), by_span.get(&link.to));
        if let (LinkKind::Spawns, (Some(from), Some(to))) = (link.kind, ends) {
            parents[*to].get_or_insert(*from);
        }
    }
    by_pid(timeline, nodes, &mut parents);
    without_cycles(&mut parents);
    parents
}

/// Gives a parent to those that have none, if their evidence names its pid:
/// the one that had this pid last when they began.
fn by_pid(timeline: &Timeline, nodes: &[Node], parents: &mut [Option<usize>]) {
    let file = |at: usize| timeline.span(nodes[at].span).evidence.file;
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_key(|at| (nodes[*at].process.start_ns, *at));
    let mut latest = HashMap::new();
    for at in order {
        let span = timeline.span(nodes[at].span);
        let ppid = timeline
            .arg(span, "ppid")
            .and_then(|ppid| ppid.parse().ok());
        if parents[at].is_none()
            && let Some(ppid) = ppid
        {
            parents[at] = latest.get(&(file(at), ppid)).copied();
        }
        if let Some(pid) = nodes[at].process.pid {
            latest.insert((file(at), pid), at);
        }
    }
}

/// Cuts what would be its own ancestor, as wrong evidence may say.
fn without_cycles(parents: &mut [Option<usize>]) {
    // In which walk each was met.
    let mut walk: Vec<usize> = vec![0; parents.len()];
    for start in 0..parents.len() {
        let mut at = start;
        while walk[at] == 0 {
            walk[at] = start + 1;
            match parents[at] {
                Some(parent) if walk[parent] == start + 1 => parents[at] = None,
                Some(parent) => at = parent,
                None => break,
            }
        }
    }
}

/// From the first start to the last moment known of: an end, or a mark of the
/// same evidence that says when its recording ended.
fn window(timeline: &Timeline, axis: &Axis, nodes: &[Node]) -> (i64, i64) {
    let starts = nodes.iter().map(|node| node.process.start_ns);
    let clocks: HashSet<_> = nodes.iter().map(|n| timeline.span(n.span).clock).collect();
    let marks = timeline.marks.iter().filter(|m| clocks.contains(&m.clock));
    let marks = marks.filter_map(|m| Some(axis.mark(m)?.ns));
    let ends = nodes
        .iter()
        .filter_map(|node| node.process.end_ns.or(node.process.seen_ns));
    let first = starts.clone().min().unwrap_or(0);
    let last = starts.chain(ends).chain(marks).max().unwrap_or(first);
    (first, last)
}
