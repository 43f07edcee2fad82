//! A tree of processes, and what is cut from it to fit a page.
//!
//! No step goes down the tree by calling itself: a fork bomb is as deep as it
//! is long.

use schemars::JsonSchema;
use serde::Serialize;

use super::Process;

/// What `--prune` left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "HiddenJson")]
pub struct Hidden {
    /// Started by the recording tool.
    pub recorder: usize,
    /// Without children and CPU time nearly all the time.
    pub idle: usize,
    /// Shorter than `short_ns`.
    pub short: usize,
    /// Next to one of the same name.
    pub same: usize,
    /// The only child of one of the same name.
    pub chain: usize,
    /// What counted as short.
    pub short_ns: i64,
}

impl Hidden {
    /// How many in all.
    pub fn total(&self) -> usize {
        self.recorder + self.idle + self.short + self.same + self.chain
    }
}

/// Tools that record a boot; the kernel cuts names to 15 bytes.
const RECORDERS: [&str; 4] = [
    "bootchartd",
    "bootchart-colle",
    "bootchart-collector",
    "systemd-bootcha",
];
/// An error of an end from which on it is taken for half a sample.
const SAMPLED_NS: u32 = 1_000_000;

/// Processes and the children of each.
pub(super) struct Tree {
    nodes: Vec<Process>,
    children: Vec<Vec<usize>>,
    roots: Vec<usize>,
}

impl Tree {
    /// A tree of processes that name their parents, without cycles.
    pub(super) fn new(nodes: Vec<Process>) -> Self {
        let mut tree = Self {
            children: vec![Vec::new(); nodes.len()],
            nodes,
            roots: Vec::new(),
        };
        let mut order: Vec<usize> = (0..tree.nodes.len()).collect();
        order.sort_by_key(|at| tree.key(*at));
        tree.adopt(&order);
        tree
    }

    /// Siblings stand in the order of their starts.
    fn key(&self, at: usize) -> (i64, Option<u32>, usize) {
        (self.nodes[at].start_ns, self.nodes[at].pid, at)
    }

    /// Builds the lists of children anew, of those in `order`.
    fn adopt(&mut self, order: &[usize]) {
        self.children.iter_mut().for_each(Vec::clear);
        self.roots.clear();
        for &at in order {
            match self.nodes[at].parent {
                Some(parent) => self.children[parent].push(at),
                None => self.roots.push(at),
            }
        }
    }

    /// Each process after its parent, siblings in order.
    fn order(&self) -> Vec<usize> {
        let mut order = Vec::new();
        let mut todo: Vec<usize> = self.roots.iter().rev().copied().collect();
        while let Some(at) = todo.pop() {
            order.push(at);
            todo.extend(self.children[at].iter().rev());
        }
        order
    }

    /// Applies all rules; says what was hidden.
    pub(super) fn prune(&mut self, window: (i64, i64)) -> Hidden {
        let mut hidden = Hidden {
            short_ns: self.short_ns(window),
            ..Hidden::default()
        };
        self.merge_recorders(&mut hidden);
        self.drop_idle_and_short(window, &mut hidden);
        self.merge_same(&mut hidden);
        self.merge_chains(&mut hidden);
        hidden
    }

    /// Two samples: the end of a sampled process is known to half a sample.
    fn short_ns(&self, window: (i64, i64)) -> i64 {
        let halves = self.nodes.iter().map(|p| p.err_ns);
        let mut halves: Vec<u32> = halves.filter(|err| *err >= SAMPLED_NS).collect();
        halves.sort_unstable();
        match halves.get(halves.len() / 2) {
            Some(half) => i64::from(*half) * 4,
            None => window.1.saturating_sub(window.0) / 500,
        }
    }

    fn merge_recorders(&mut self, hidden: &mut Hidden) {
        let mut into: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let order = self.order();
        for &at in &order {
            let process = &self.nodes[at];
            // busybox's becomes init when it runs as PID 1: then it is not one.
            let recorder = RECORDERS.contains(&&*process.name) && process.pid != Some(1);
            let above = process.parent.and_then(|parent| into[parent]);
            into[at] = above.or(recorder.then_some(at));
        }
        for &at in &order {
            if let Some(recorder) = into[at].filter(|recorder| *recorder != at) {
                self.merge(recorder, at);
                hidden.recorder += 1;
            }
        }
        let kept = order
            .into_iter()
            .filter(|at| into[*at].is_none_or(|r| r == *at));
        let kept: Vec<usize> = kept.collect();
        self.adopt(&kept);
    }

    fn drop_idle_and_short(&mut self, (first, last): (i64, i64), hidden: &mut Hidden) {
        let order = self.order();
        let nine_tenths = last.saturating_sub(first) / 10 * 9;
        // By process: whom its children go to.
        let mut stands_for: Vec<Option<usize>> = (0..self.nodes.len()).map(Some).collect();
        let mut kept = Vec::new();
        for &at in &order {
            let childless = self.children[at].is_empty();
            let process = &mut self.nodes[at];
            process.parent = process.parent.and_then(|parent| stands_for[parent]);
            let lasted = process.lasted_ns(last);
            let background = process.open && lasted.is_some_and(|ns| ns > nine_tenths);
            let idle = background && childless && process.cpu_ns == Some(0);
            let short = !process.open && lasted.is_some_and(|ns| ns <= hidden.short_ns);
            // A root that has children holds them together, and what stands
            // for others is kept for them.
            let droppable = (idle || short) && process.count == 1;
            if droppable && (process.parent.is_some() || childless) {
                stands_for[at] = process.parent;
                hidden.idle += usize::from(idle);
                hidden.short += usize::from(!idle);
            } else {
                kept.push(at);
            }
        }
        kept.sort_by_key(|at| self.key(*at));
        self.adopt(&kept);
    }

    fn merge_same(&mut self, hidden: &mut Hidden) {
        let mut todo = vec![None];
        while let Some(parent) = todo.pop() {
            let mut list = std::mem::take(self.list(parent));
            list.sort_by_key(|at| self.key(*at));
            let mut kept: Vec<usize> = Vec::new();
            for at in list {
                match kept.last() {
                    Some(&before) if self.nodes[before].name == self.nodes[at].name => {
                        self.absorb(before, at);
                        hidden.same += 1;
                    }
                    _ => kept.push(at),
                }
            }
            todo.extend(kept.iter().map(|at| Some(*at)));
            *self.list(parent) = kept;
        }
    }

    fn list(&mut self, parent: Option<usize>) -> &mut Vec<usize> {
        match parent {
            Some(parent) => &mut self.children[parent],
            None => &mut self.roots,
        }
    }

    fn merge_chains(&mut self, hidden: &mut Hidden) {
        let mut todo = self.roots.clone();
        while let Some(at) = todo.pop() {
            while let [child] = self.children[at][..]
                && self.nodes[child].name == self.nodes[at].name
            {
                self.children[at].clear();
                self.absorb(at, child);
                hidden.chain += 1;
            }
            todo.extend(&self.children[at]);
        }
    }

    /// `into` stands for `at` too, and has its children.
    fn absorb(&mut self, into: usize, at: usize) {
        self.merge(into, at);
        let children = std::mem::take(&mut self.children[at]);
        for child in &children {
            self.nodes[*child].parent = Some(into);
        }
        self.children[into].extend(children);
    }

    /// `into` stands for `at` too.
    fn merge(&mut self, into: usize, at: usize) {
        let other = self.nodes[at].clone();
        let process = &mut self.nodes[into];
        process.start_ns = process.start_ns.min(other.start_ns);
        let ends = (process.end_ns, other.end_ns);
        let seen = |p: &Process| p.end_ns.or(p.seen_ns);
        process.seen_ns = seen(process).max(seen(&other));
        process.end_ns = ends.0.zip(ends.1).map(|(a, b)| a.max(b));
        process.open |= other.open;
        process.cpu_ns = match (process.cpu_ns, other.cpu_ns) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        process.count += other.count;
    }

    /// The processes that are left, each behind its parent.
    pub(super) fn rows(self) -> Vec<Process> {
        let order = self.order();
        let mut row = vec![0; self.nodes.len()];
        let mut rows: Vec<Process> = Vec::with_capacity(order.len());
        for at in order {
            let mut process = self.nodes[at].clone();
            process.parent = process.parent.map(|parent| row[parent]);
            process.depth = process.parent.map_or(0, |parent| rows[parent].depth + 1);
            row[at] = rows.len();
            rows.push(process);
        }
        rows
    }
}
