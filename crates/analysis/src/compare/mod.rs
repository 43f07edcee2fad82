//! Two boots, place by place: what shrank, what grew, what only moved.

use std::cmp::{Ordering, Reverse};

use bootlap_model::Timeline;
use schemars::JsonSchema;
use serde::Serialize;

use crate::ends::extent;
use crate::phase::{PhaseName, phases};

mod anchor;
pub(crate) mod moved;
pub(crate) mod place;
#[cfg(test)]
mod tests;

pub(crate) use anchor::common_texts;

/// A duration in two boots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DeltaJson")]
pub struct Delta {
    /// What lasted.
    pub name: String,
    /// In the first boot; null if it was not there.
    pub before_ns: Option<i64>,
    /// In the second boot; null if it was not there.
    pub after_ns: Option<i64>,
    /// Second minus first.
    pub delta_ns: i64,
}

impl Delta {
    pub(crate) fn new(
        name: impl Into<String>,
        before_ns: Option<i64>,
        after_ns: Option<i64>,
    ) -> Self {
        Self {
            name: name.into(),
            before_ns,
            after_ns,
            delta_ns: after_ns.unwrap_or(0).saturating_sub(before_ns.unwrap_or(0)),
        }
    }

    /// Whether it was in one of the boots.
    pub fn is_known(&self) -> bool {
        self.before_ns.or(self.after_ns).is_some()
    }
}

/// A saving that came back elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "MovedJson")]
pub struct Moved {
    /// What shrank.
    pub from: String,
    /// What grew.
    pub to: String,
    /// How much of the saving came back there.
    pub ns: i64,
    /// The whole saving of `from`, positive.
    pub saved_ns: i64,
    /// The whole growth of `to`.
    pub grew_ns: i64,
}

/// Two boots side by side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ComparisonJson")]
pub struct Comparison {
    /// From power-on to ready, or to the last event.
    pub total: Delta,
    /// Whether the first boot got ready.
    #[serde(skip)]
    pub before_ready: bool,
    /// Whether the second boot got ready.
    #[serde(skip)]
    pub after_ready: bool,
    /// By phase, in the order of a boot.
    pub phases: Vec<Delta>,
    /// By place, the largest change first. Places are disjoint and cover the
    /// boot, so their changes add up to that of the total.
    pub parts: Vec<Delta>,
    /// Savings that came back elsewhere, the largest first.
    pub moved: Vec<Moved>,
}

/// A change of less than 0.5 % of the longer boot, or of less than 1 ms, is
/// not called a movement: code layout alone shifts a simulated boot by 0.01 %
/// in total and single stretches by several times that, a board spreads more.
pub fn noise_ns(before_total_ns: i64, after_total_ns: i64) -> i64 {
    let longer_ns = before_total_ns.max(after_total_ns);
    (longer_ns / 200).max(1_000_000)
}

/// Compares two boots.
///
/// A place is a known part by its name, or the time between two lines that
/// both boots print; what changes less than [`noise_ns`] is summed up by
/// phase. Initcalls, and
/// the other known parts, are told apart only if both boots show some.
pub fn compare(before: &Timeline, after: &Timeline) -> Comparison {
    let extents = [extent(before), extent(after)];
    let total_ns = extents.map(|e| Some(e?.duration_ns()));
    let noise_ns = noise_ns(total_ns[0].unwrap_or(0), total_ns[1].unwrap_or(0));
    let parts = place::deltas(before, after, noise_ns);
    let is_ready = extents.map(|e| e.is_some_and(|e| e.is_ready()));
    Comparison {
        total: Delta::new("total", total_ns[0], total_ns[1]),
        before_ready: is_ready[0],
        after_ready: is_ready[1],
        phases: by_phase(before, after),
        moved: moved::pair(&parts, noise_ns),
        parts: parts.into_iter().map(|(delta, _)| delta).collect(),
    }
}

/// The duration of each phase that one of the boots has.
fn by_phase(before: &Timeline, after: &Timeline) -> Vec<Delta> {
    let (before, after) = (phases(before), phases(after));
    let mut names: Vec<PhaseName> = before.iter().chain(&after).map(|p| p.name).collect();
    names.sort_unstable();
    names.dedup();
    let in_boot = |boot: &[crate::Phase], name| {
        let phase = boot.iter().find(|p| p.name == name);
        phase.map(crate::Phase::duration_ns)
    };
    names
        .into_iter()
        .map(|name| Delta::new(name.text(), in_boot(&before, name), in_boot(&after, name)))
        .collect()
}

/// Orders changes by size, and of equals by name.
fn largest_first(a: &Delta, b: &Delta) -> Ordering {
    let key = |d: &Delta| Reverse(d.delta_ns.unsigned_abs());
    key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
}
