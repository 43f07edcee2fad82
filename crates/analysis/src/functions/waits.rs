//! What was waited for below a function, by a trace of functions: delays that a source tree
//! only says may come, as they came.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use bootlap_model::{Sym, Timeline, TrackKind};
use schemars::JsonSchema;
use serde::Serialize;

use super::lane::{self, Lane};
use super::sleep::is_sleep;

/// Functions in which a CPU goes round until a time has passed; `mdelay` calls them.
const BUSY: [&str; 10] = [
    "__delay",
    "__udelay",
    "__ndelay",
    "__const_udelay",
    "__timer_delay",
    "delay_tsc",
    "delay_halt",
    "delay_loop",
    "mdelay",
    "udelay",
];

/// How a function waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WaitKind {
    /// The CPU goes round.
    Busy,
    /// Others may run.
    Sleep,
}

/// All calls of one function that waits, below another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "WaitJson")]
pub struct Wait {
    /// The function that waits; what it calls to do so is not counted again.
    pub function: String,
    /// How.
    pub how: WaitKind,
    /// How often it was called there.
    pub count: u64,
    /// How long these calls took; one whose end is unknown counts as 0.
    pub time_ns: i64,
}

/// What was waited for in each call of one of these functions and in what that called, the
/// longest first. Nothing for functions of which the trace has no call.
pub fn waits_below(timeline: &Timeline, functions: &[&str]) -> BTreeMap<String, Vec<Wait>> {
    let mut sums: BTreeMap<(Sym, Sym), (u64, i64)> = BTreeMap::new();
    let known = functions.iter().filter_map(|f| timeline.symbols.find(f));
    let functions: HashSet<Sym> = known.collect();
    let lanes = lane::lanes(timeline);
    for lane in lanes.iter().filter(|l| l.kind == TrackKind::Function) {
        add(lane, timeline, &functions, &mut sums);
    }
    let mut below: BTreeMap<String, Vec<Wait>> = BTreeMap::new();
    for ((function, wait), (count, time_ns)) in sums {
        let name = timeline.text(wait);
        let how = how(name).unwrap_or(WaitKind::Sleep);
        let waits = below.entry(timeline.text(function).to_owned()).or_default();
        waits.push(Wait {
            function: name.to_owned(),
            how,
            count,
            time_ns,
        });
    }
    for waits in below.values_mut() {
        waits.sort_by(|a, b| {
            let key = |wait: &Wait| Reverse(wait.time_ns);
            key(a)
                .cmp(&key(b))
                .then_with(|| a.function.cmp(&b.function))
        });
    }
    below
}

fn how(name: &str) -> Option<WaitKind> {
    let plain = name.split('.').next().unwrap_or(name);
    match BUSY.contains(&plain) {
        true => Some(WaitKind::Busy),
        false => is_sleep(name).then_some(WaitKind::Sleep),
    }
}

/// Adds what one task waited for. A call below two of the functions counts for the inner one.
fn add(
    lane: &Lane,
    timeline: &Timeline,
    functions: &HashSet<Sym>,
    sums: &mut BTreeMap<(Sym, Sym), (u64, i64)>,
) {
    // Of each call: the function that it is in, and whether that waits already.
    let mut places: Vec<(Option<Sym>, bool)> = Vec::with_capacity(lane.calls.len());
    for call in &lane.calls {
        let (above, waits) = call.parent.map_or((None, false), |parent| places[parent]);
        let name = timeline.text(call.name);
        let within = match functions.contains(&call.name) {
            true => Some(call.name),
            false => above,
        };
        let is_wait = how(name).is_some();
        if let Some(function) = above.filter(|_| is_wait && !waits) {
            let (count, time_ns) = sums.entry((function, call.name)).or_default();
            *count += 1;
            *time_ns = time_ns.saturating_add(call.length_ns());
        }
        places.push((within, waits || is_wait));
    }
}
