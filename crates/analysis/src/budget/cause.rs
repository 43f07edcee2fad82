//! What is at fault when a limit is broken.

use std::collections::{BTreeMap, BTreeSet};

use bootlap_model::Timeline;

use super::metric::{Metric, places};
use super::sample::Sample;
use schemars::JsonSchema;
use serde::Serialize;

use crate::compare::compare;
use crate::cost::costs;
use crate::stats::median;

/// How many causes are named.
const MOST: usize = 3;
/// A growth below this share of the largest one is not named.
const SHARE: i64 = 10;

/// What is at fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Causes {
    /// Whether these are changes against the baseline, or just what takes
    /// longest.
    pub against_baseline: bool,
    /// The largest first.
    pub list: Vec<Cause>,
    /// Savings that came back elsewhere, in words.
    pub moved: Vec<String>,
}

/// Something that grew, or that takes long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "CauseJson")]
pub struct Cause {
    /// What.
    pub name: String,
    /// By how much it grew, or how long it takes, ns.
    pub ns: i64,
}

/// What made `metric` too large, by `excess` in its unit. What grew less than
/// half of that is not at fault; then it is what takes longest.
pub(super) fn causes(
    metric: &Metric,
    excess: Option<i64>,
    boots: &[Sample],
    baseline: &[Sample],
) -> Causes {
    // No part of a boot tells whose the bytes are.
    if *metric == Metric::ConsoleBytes {
        return Causes::default();
    }
    let pairs = pairs(boots, baseline);
    if let Some((before, after)) = pairs.first() {
        let list = grown(metric, &pairs);
        let sum_ns = list.iter().fold(0, |sum: i64, c| sum.saturating_add(c.ns));
        if excess.is_none_or(|excess| sum_ns >= excess / 2) {
            return Causes {
                against_baseline: true,
                list,
                moved: moved(before, after),
            };
        }
    }
    let timeline = boots.iter().find_map(|b| b.timeline);
    Causes {
        against_baseline: false,
        list: timeline.map_or_else(Vec::new, |t| largest(metric, t)),
        moved: Vec::new(),
    }
}

/// Boots to compare: of equal perturbations, else the median one of each side.
fn pairs<'t>(boots: &[Sample<'t>], baseline: &[Sample<'t>]) -> Vec<(&'t Timeline, &'t Timeline)> {
    let with_timeline = |side: &[Sample<'t>]| -> Vec<Sample<'t>> {
        let some = side.iter().filter(|s| s.timeline.is_some());
        some.cloned().collect()
    };
    let (before, after) = (with_timeline(baseline), with_timeline(boots));
    let mut pairs = Vec::new();
    for boot in &after {
        let same = |b: &&Sample<'t>| {
            b.measures.perturbation.is_some()
                && b.measures.perturbation == boot.measures.perturbation
        };
        let pair = before.iter().find(same).and_then(|b| b.timeline);
        pairs.extend(pair.zip(boot.timeline));
    }
    if pairs.is_empty() {
        pairs.extend(middle(&before).zip(middle(&after)));
    }
    pairs
}

fn middle<'t>(side: &[Sample<'t>]) -> Option<&'t Timeline> {
    let mut side: Vec<&Sample<'t>> = side.iter().collect();
    // What never got ready goes last.
    side.sort_by_key(|s| s.measures.ready_ns.unwrap_or(i64::MAX));
    side.get(side.len().checked_sub(1)? / 2)?.timeline
}

/// The parts that grew most: the median over all pairs, of those that grew in
/// nearly all of them.
fn grown(metric: &Metric, pairs: &[(&Timeline, &Timeline)]) -> Vec<Cause> {
    let mut deltas: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for (before, after) in pairs {
        let mut delta: BTreeMap<String, i64> = BTreeMap::new();
        for (boot, sign) in [(before, -1), (after, 1)] {
            for (name, ns) in relevant(metric, boot) {
                let sum = delta.entry(name).or_default();
                *sum = sum.saturating_add(sign * ns);
            }
        }
        for (name, ns) in delta {
            deltas.entry(name).or_default().push(ns);
        }
    }
    let sure = |d: &Vec<i64>| d.iter().filter(|ns| **ns > 0).count() * 4 > pairs.len() * 3;
    let mut list: Vec<Cause> = deltas
        .into_iter()
        .filter(|(_, d)| sure(d))
        .filter_map(|(name, d)| {
            Some(Cause {
                name,
                ns: median(&d)?,
            })
        })
        .collect();
    shorten(&mut list);
    list
}

/// Known parts, silences and printing, in the phase that the metric is about.
fn relevant(metric: &Metric, timeline: &Timeline) -> Vec<(String, i64)> {
    let wanted = |phase| metric.phase().is_none() || metric.phase() == phase;
    let places = places(timeline);
    let named: BTreeSet<&str> = places.iter().map(|p| p.name.as_str()).collect();
    // Initcalls that costs sum up are told one by one here.
    let others = costs(timeline, usize::MAX).into_iter();
    let others = others
        .filter(|c| !named.contains(c.name.as_str()) && !c.name.ends_with(" short initcalls"))
        .filter(|c| wanted(c.phase))
        .map(|c| (c.name, c.duration_ns));
    let others: Vec<(String, i64)> = others.collect();
    let places = places.into_iter().filter(|p| wanted(p.phase));
    places.map(|p| (p.name, p.ns)).chain(others).collect()
}

/// What takes longest, in the phase that the metric is about.
fn largest(metric: &Metric, timeline: &Timeline) -> Vec<Cause> {
    let costs = costs(timeline, usize::MAX).into_iter();
    let wanted = costs.filter(|c| metric.phase().is_none() || c.phase == metric.phase());
    let mut list: Vec<Cause> = wanted
        .map(|c| Cause {
            name: c.name,
            ns: c.duration_ns,
        })
        .collect();
    shorten(&mut list);
    list
}

fn shorten(list: &mut Vec<Cause>) {
    list.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| a.name.cmp(&b.name)));
    let least = list.first().map_or(0, |c| c.ns / SHARE);
    list.retain(|c| c.ns > least && c.ns > 0);
    list.truncate(MOST);
}

/// Savings that came back: what the comparison of two boots says of movement.
fn moved(before: &Timeline, after: &Timeline) -> Vec<String> {
    let back = compare(before, after).moved.into_iter();
    let words = back.map(|m| format!("what {} saved came back in {}", m.from, m.to));
    words.take(MOST).collect()
}
