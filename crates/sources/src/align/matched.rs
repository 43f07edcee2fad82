//! Events that two clocks have a stamp of, and what most of them say.

use std::collections::HashMap;

use bootlap_model::{ClockId, Evidence, Stamp, Timeline};

/// Pairs this close to the median agree, whatever the others do.
const AGREE_NS: i64 = 2_000_000;
/// If even the middle half lies further apart, the pairs say nothing.
const CONTRADICTORY_NS: i64 = 2_000_000_000;
/// Drift is looked for only over a longer time, ns, and with more pairs.
const DRIFT_OVER_NS: i64 = 5_000_000_000;
const DRIFT_PAIRS: usize = 8;
/// Clocks that drift apart by 1 in this much still agree (333 ppm).
const DRIFTS_BY: i64 = 3_000;
/// Two quartz clocks differ by less, ppm; what looks like more is no drift.
const MAX_DRIFT_PPM: f64 = 1000.0;

/// The anchors of one clock, by key; those whose key is there twice tell
/// nothing and are left out.
pub(super) struct Anchors {
    pub(super) clock: ClockId,
    by_key: HashMap<u64, Option<(Stamp, Evidence)>>,
}

/// The anchors of each clock that has any.
pub(super) fn by_clock(timeline: &Timeline) -> Vec<Anchors> {
    let mut all: Vec<Anchors> = Vec::new();
    for anchor in &timeline.anchors {
        let known = all.iter().position(|a| a.clock == anchor.clock);
        let at = known.unwrap_or_else(|| {
            all.push(Anchors {
                clock: anchor.clock,
                by_key: HashMap::new(),
            });
            all.len() - 1
        });
        all[at]
            .by_key
            .entry(anchor.key)
            .and_modify(|known| *known = None)
            .or_insert(Some((anchor.at, anchor.evidence)));
    }
    all
}

/// One event on two clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) a: Stamp,
    pub(super) b: Stamp,
    pub(super) evidence: Evidence,
}

impl Pair {
    fn offset_ns(&self) -> i64 {
        self.b.ns.saturating_sub(self.a.ns)
    }

    fn err_ns(&self) -> i64 {
        i64::from(self.a.err_ns) + i64::from(self.b.err_ns)
    }
}

/// The events that both have, in order of time.
pub(super) fn pairs(a: &Anchors, b: &Anchors) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = a
        .by_key
        .iter()
        .filter_map(|(key, of_a)| {
            let ((a, evidence), (b, _)) = ((*of_a)?, (*b.by_key.get(key)?)?);
            Some(Pair { a, b, evidence })
        })
        .collect();
    pairs.sort_by_key(|p| (p.a.ns, p.b.ns, p.evidence.start));
    pairs
}

/// What pairs say of two clocks.
#[derive(Debug)]
pub(super) enum Match {
    Agreed(Fit),
    /// They contradict each other; the first of them.
    Contradictory(Evidence),
}

/// `b = a + offset_ns + drift · (a − pivot_ns)`, within `err_ns`.
#[derive(Debug)]
pub(super) struct Fit {
    pub(super) offset_ns: i64,
    pub(super) drift_ppm: f32,
    pub(super) pivot_ns: i64,
    pub(super) err_ns: u32,
    /// How many pairs agreed.
    pub(super) agreed: usize,
    pub(super) evidence: Evidence,
}

/// What most of `pairs` (at least one) say.
///
/// The median is not moved by a minority of events that are not the same
/// after all. Those further from it than the typical distance allows are left
/// out; the error is that of those that stay.
pub(super) fn best(pairs: &[Pair]) -> Match {
    let first = pairs[0].evidence;
    let mut sorted: Vec<i64> = pairs.iter().map(Pair::offset_ns).collect();
    sorted.sort_unstable();
    let median = sorted[sorted.len() / 2];
    let middle = sorted[sorted.len() * 3 / 4].saturating_sub(sorted[sorted.len() / 4]);
    if middle > CONTRADICTORY_NS {
        return Match::Contradictory(first);
    }
    let over = pairs[pairs.len() - 1].a.ns.saturating_sub(pairs[0].a.ns);
    let drifted = over / DRIFTS_BY;
    let tolerance = middle
        .saturating_mul(2)
        .max(AGREE_NS)
        .saturating_add(drifted);
    let agree = |p: &&Pair| {
        let apart = p.offset_ns().saturating_sub(median).saturating_abs();
        apart <= tolerance.saturating_add(p.err_ns())
    };
    let agreed: Vec<&Pair> = pairs.iter().filter(agree).collect();
    if agreed.len() * 2 < pairs.len() {
        return Match::Contradictory(first);
    }
    let level = Fit {
        offset_ns: median,
        drift_ppm: 0.0,
        pivot_ns: agreed[0].a.ns,
        err_ns: 0,
        agreed: agreed.len(),
        evidence: agreed[0].evidence,
    };
    let level_err = level.worst_ns(&agreed);
    let mut fit = level.with_err(level_err);
    if let Some(sloped) = drifting(&agreed) {
        let err = sloped.worst_ns(&agreed);
        // A slope always fits better; it has to be clearly so.
        if err < level_err / 2 {
            fit = sloped.with_err(err);
        }
    }
    Match::Agreed(fit)
}

impl Fit {
    /// How far it may be off: what the most exact pair leaves open, and how
    /// far the others lie outside of their own errors.
    fn worst_ns(&self, pairs: &[&Pair]) -> i64 {
        let rate = f64::from(self.drift_ppm) / 1e6;
        let off = |p: &&Pair| {
            let drift = p.a.ns.saturating_sub(self.pivot_ns) as f64 * rate;
            let expected = self.offset_ns.saturating_add(drift as i64);
            let apart = p.offset_ns().saturating_sub(expected);
            apart.saturating_abs().saturating_sub(p.err_ns()).max(0)
        };
        let exact = pairs.iter().map(|p| p.err_ns()).min().unwrap_or(0);
        let outside = pairs.iter().map(off).max().unwrap_or(0);
        exact.saturating_add(outside)
    }

    fn with_err(mut self, err_ns: i64) -> Self {
        self.err_ns = u32::try_from(err_ns).unwrap_or(u32::MAX);
        self
    }
}

/// A line through the pairs: the slope between the medians of the first and
/// the last third (robust, and simple).
fn drifting(pairs: &[&Pair]) -> Option<Fit> {
    let n = pairs.len();
    let over = pairs[n - 1].a.ns.saturating_sub(pairs[0].a.ns);
    if n < DRIFT_PAIRS || over < DRIFT_OVER_NS {
        return None;
    }
    let (early, late) = (middle(&pairs[..n / 3]), middle(&pairs[n - n / 3..]));
    let run = late.0.saturating_sub(early.0);
    let rise = late.1.saturating_sub(early.1);
    let ppm = rise as f64 / run.max(1) as f64 * 1e6;
    (run > 0 && ppm.abs() < MAX_DRIFT_PPM).then(|| Fit {
        offset_ns: early.1,
        drift_ppm: ppm as f32,
        pivot_ns: early.0,
        err_ns: 0,
        agreed: n,
        evidence: pairs[0].evidence,
    })
}

/// The median time and the median offset.
fn middle(pairs: &[&Pair]) -> (i64, i64) {
    let median = |mut all: Vec<i64>| {
        all.sort_unstable();
        all[all.len() / 2]
    };
    (
        median(pairs.iter().map(|p| p.a.ns).collect()),
        median(pairs.iter().map(|p| p.offset_ns()).collect()),
    )
}
