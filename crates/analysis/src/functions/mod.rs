//! What each function cost: count, time, time of its own, time asleep.
//!
//! The columns are those of `kd`, the program that summarises KFI and KFT
//! logs, for every source of nested calls: KFI, function_graph, initcalls.
//! Where the numbers mean something else than kd's, it is because kd's cannot
//! be added up:
//!
//! - **Time** counts recursion once. kd adds up all calls, so a function that
//!   calls itself can take longer than the boot.
//! - **Sleep** is apart. A `schedule()` that kd shows with 5.2 s in a boot of
//!   1.6 s was asleep in several tasks at a time; nobody worked there.
//! - Who called whom is seen from the times of one task, not from the name of
//!   the caller, which may be missing from a filtered log.

mod lane;
mod sleep;
#[cfg(test)]
mod tests;
mod waits;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use bootlap_model::{Sym, Timeline, TrackKind};
use schemars::JsonSchema;
use serde::Serialize;

use self::lane::{Call, Lane};
pub use self::waits::{Wait, WaitKind, waits_below};

/// What all calls of one function cost; its initcalls and traced calls are apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "FunctionJson")]
pub struct CallStats {
    /// `function` or `initcall`.
    #[serde(rename = "track")]
    #[schemars(with = "String")]
    pub kind: TrackKind,
    /// The function.
    pub name: String,
    /// How often it was called.
    pub count: u64,
    /// Calls of which no end is known: they have no time, and what ran in them
    /// is not known to be theirs.
    pub endless: u64,
    /// How long it ran, callees and sleep included, added up over tasks;
    /// recursion counts once.
    pub time_ns: i64,
    /// The mean of its calls.
    pub average_ns: Option<i64>,
    /// Its shortest and its longest call.
    #[schemars(with = "Option<[i64; 2]>")]
    pub range_ns: Option<(i64, i64)>,
    /// Spent in itself, or in callees that the evidence leaves out. All
    /// functions together: the time covered.
    pub local_ns: i64,
    /// Spent in what it called: the rest.
    pub sub_ns: i64,
    /// Of its time: in functions that sleep or idle (`schedule`, `msleep`,
    /// `default_idle` …); all of it for these.
    pub sleep_ns: i64,
    /// The callee that took most.
    pub max_sub: Option<MaxSub>,
}

/// The callee that a function spent most time in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "CalleeJson")]
pub struct MaxSub {
    /// The callee; itself if it calls itself.
    pub name: String,
    /// How often it was called from there.
    pub count: u64,
    /// How long it took when called from there.
    pub time_ns: i64,
}

/// What each function cost, the most time first.
pub fn functions(timeline: &Timeline) -> Vec<CallStats> {
    let mut sums: BTreeMap<(TrackKind, Sym), Sum> = BTreeMap::new();
    for lane in lane::lanes(timeline) {
        add(&lane, &mut sums);
    }
    let mut all: Vec<CallStats> = sums
        .into_iter()
        .map(|((kind, name), sum)| sum.stats(kind, name, timeline))
        .collect();
    all.sort_by(|a, b| {
        let key = |s: &CallStats| (Reverse(s.time_ns), s.kind);
        key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
    });
    all
}

/// Each stack of functions with the time that its innermost one took itself,
/// ns; what a flame graph is drawn from. The lane's name is outermost; stacks
/// are in the order in which they were first seen, deeper ones than 256 are cut
/// there.
pub fn folded(timeline: &Timeline) -> Vec<(Vec<String>, i64)> {
    folded_of(timeline, |_| true)
}

/// [`folded`], of the lanes whose kind is wanted: [`TrackKind::Function`],
/// [`TrackKind::Initcall`], or both.
pub fn folded_of(
    timeline: &Timeline,
    wanted: impl Fn(TrackKind) -> bool,
) -> Vec<(Vec<String>, i64)> {
    const DEEPEST: usize = 256;
    struct Frame {
        below: Option<usize>,
        name: Sym,
        depth: usize,
        self_ns: i64,
    }
    let mut frames: Vec<Frame> = Vec::new();
    let mut known: HashMap<(Option<usize>, Sym), usize> = HashMap::new();
    let mut frame = |frames: &mut Vec<Frame>, below: Option<usize>, name: Sym| {
        let depth = below.map_or(0, |b: usize| frames[b].depth + 1);
        if let Some(below) = below.filter(|_| depth >= DEEPEST) {
            return below;
        }
        *known.entry((below, name)).or_insert_with(|| {
            frames.push(Frame {
                below,
                name,
                depth,
                self_ns: 0,
            });
            frames.len() - 1
        })
    };
    let lanes = lane::lanes(timeline).into_iter();
    for lane in lanes.filter(|lane| wanted(lane.kind)) {
        let root = frame(&mut frames, None, lane.name);
        let mut of_call = Vec::with_capacity(lane.calls.len());
        for call in &lane.calls {
            let below = call.parent.map_or(root, |parent| of_call[parent]);
            let at = frame(&mut frames, Some(below), call.name);
            frames[at].self_ns = frames[at].self_ns.saturating_add(call.local_ns);
            of_call.push(at);
        }
    }
    let stack = |frame: &Frame| {
        let below = |at: &usize| frames[*at].below;
        let mut names = vec![timeline.text(frame.name).to_owned()];
        let outer = std::iter::successors(frame.below, below);
        names.extend(outer.map(|at| timeline.text(frames[at].name).to_owned()));
        names.reverse();
        names
    };
    let spent = frames.iter().filter(|f| f.self_ns > 0);
    spent.map(|f| (stack(f), f.self_ns)).collect()
}

/// What is known of one function so far.
#[derive(Default)]
struct Sum {
    count: u64,
    endless: u64,
    time_ns: i64,
    calls_ns: i64,
    range_ns: Option<(i64, i64)>,
    local_ns: i64,
    sleep_ns: i64,
    /// By callee: how often and how long.
    subs: BTreeMap<Sym, (u64, i64)>,
}

impl Sum {
    fn stats(self, kind: TrackKind, name: Sym, timeline: &Timeline) -> CallStats {
        let ended = i64::try_from(self.count - self.endless).unwrap_or(i64::MAX);
        let text = |name: Sym| timeline.text(name);
        let max_sub = self.subs.iter().max_by(|(a, x), (b, y)| {
            let key = |of: &(u64, i64)| (of.1, of.0);
            key(x).cmp(&key(y)).then_with(|| text(**b).cmp(text(**a)))
        });
        CallStats {
            kind,
            name: text(name).to_owned(),
            count: self.count,
            endless: self.endless,
            time_ns: self.time_ns,
            average_ns: self.calls_ns.checked_div(ended),
            range_ns: self.range_ns,
            sub_ns: self.time_ns.saturating_sub(self.local_ns),
            local_ns: self.local_ns,
            sleep_ns: self.sleep_ns,
            max_sub: max_sub.map(|(name, (count, time_ns))| MaxSub {
                name: text(*name).to_owned(),
                count: *count,
                time_ns: *time_ns,
            }),
        }
    }
}

/// Adds the calls of one lane.
fn add(lane: &Lane, sums: &mut BTreeMap<(TrackKind, Sym), Sum>) {
    // By function: up to when its time is counted.
    let mut counted: HashMap<Sym, i64> = HashMap::new();
    for call in &lane.calls {
        let sum = sums.entry((lane.kind, call.name)).or_default();
        sum.count += 1;
        sum.local_ns = sum.local_ns.saturating_add(call.local_ns);
        if let Some(end_ns) = call.end_ns {
            let long_ns = call.length_ns();
            sum.calls_ns = sum.calls_ns.saturating_add(long_ns);
            let (least, most) = sum.range_ns.unwrap_or((long_ns, long_ns));
            sum.range_ns = Some((least.min(long_ns), most.max(long_ns)));
            let until = counted.entry(call.name).or_insert(i64::MIN);
            let from_ns = call.start_ns.max(*until);
            if from_ns < end_ns {
                sum.time_ns = sum.time_ns.saturating_add(end_ns.saturating_sub(from_ns));
                let slept_ns = lane.asleep.between(from_ns, end_ns);
                sum.sleep_ns = sum.sleep_ns.saturating_add(slept_ns);
                *until = end_ns;
            }
        } else {
            sum.endless += 1;
        }
        if let Some(parent) = call.parent {
            add_to_caller(&lane.calls[parent], call, lane.kind, sums);
        }
    }
}

fn add_to_caller(
    caller: &Call,
    call: &Call,
    kind: TrackKind,
    sums: &mut BTreeMap<(TrackKind, Sym), Sum>,
) {
    let sum = sums.entry((kind, caller.name)).or_default();
    let (count, time_ns) = sum.subs.entry(call.name).or_default();
    *count += 1;
    // Of a callee that seems to end later the part within counts.
    let over = call
        .end_ns
        .unwrap_or(call.start_ns)
        .saturating_sub(caller.end_ns.unwrap_or(i64::MAX));
    let within = call.length_ns().saturating_sub(over.max(0)).max(0);
    *time_ns = time_ns.saturating_add(within);
}
