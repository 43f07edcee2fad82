//! Is one sample of boot times shorter than another, and by how much?
//!
//! Boot times are skewed, have outliers and are few, so everything here goes
//! by ranks, and by one count: in how many pairs of a boot before and a boot
//! after is the second longer? The median of the pairs' differences is the
//! shift (Hodges–Lehmann). The test asks how often chance would make the count
//! as extreme (`orders`); where boots belong together two by two, their
//! differences are counted instead (`signed`). The interval holds every shift
//! that the test would not reject. So the three never contradict each other,
//! and what the interval covers is what the test does not reject wrongly.
//!
//! Chance is not all that makes boots differ: those of another day may do so
//! without any change (`sessions`).
//!
//! Results depend on the values alone: swapped sides change the sign and
//! nothing else. `docs/statistics.md` says it for readers of a verdict, and
//! `docs/tables/verdicts.md` measures it.

use serde::Serialize;

pub mod bootstrap;
mod looks;
mod orders;
mod pairs;
mod random;
mod sessions;
mod shape;
mod shift;
mod signed;
mod spread;
mod student;
#[cfg(test)]
mod tests;

pub use looks::{Look, Stage, looks};
pub use shape::{Mode, Shape};
pub use shift::{hodges_lehmann, mad, median};

pub use sessions::Sessions;

use orders::{Null, at_most};
use pairs::{Pairs, first, narrow};
use signed::Signed;
use spread::{Wide, has_nothing_in_common};

/// The error of the first kind that a verdict may have.
pub const ALPHA: f64 = 0.05;

/// Fewer boots on a side have no verdict: nobody knows how much they vary.
pub(crate) const FEWEST: usize = 4;
/// Fewer pairs cannot show anything, however clear they are.
pub(crate) const FEWEST_PAIRS: usize = 6;

/// What an experiment says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The second is faster.
    Faster,
    /// The second is slower.
    Slower,
    /// The difference is within the margin.
    Equivalent,
    /// The samples do not say.
    Unknown,
}

impl Verdict {
    /// The word that people see.
    pub fn text(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Equivalent => "equivalent",
            Verdict::Unknown => "unknown",
        }
    }
}

/// What is asked of two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// Within this distance of 0 a change is equivalent to none, ns.
    pub margin_ns: i64,
    /// The error that the whole experiment may have: [`ALPHA`], or less.
    pub alpha: f64,
    /// Whether somebody looked before, or will again.
    pub stage: Stage,
}

impl Question {
    /// The usual error, and all boots are there: nobody looked before.
    pub fn once(margin_ns: i64) -> Self {
        Self {
            margin_ns,
            alpha: ALPHA,
            stage: Stage::Only,
        }
    }

    /// The two-sided error of the test at this look.
    fn level(&self) -> f64 {
        self.stage.level(self.alpha)
    }
}

/// How the second sample differs from the first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// Hodges–Lehmann shift, ns: second minus first, negative is faster.
    pub shift_ns: i64,
    /// The shifts that the boots do not rule out, ns; it contains the shift.
    /// It holds the true one with 95 % over the whole experiment, however many
    /// looks there were. With too few boots for that it is all that was seen;
    /// then `confidence` is below what the look asks for.
    pub interval_ns: [i64; 2],
    /// Two-sided p of the test, in (0, 1]; the looks before count: it is the
    /// smallest error of the whole experiment with which it could be claimed
    /// that these boots differ by more than chance.
    pub p: f64,
    /// What follows.
    pub verdict: Verdict,
    /// The margin of `Equivalent`, ns.
    pub margin_ns: i64,
    /// How many values either side had.
    pub samples: [usize; 2],
    /// With which confidence the interval of this look by itself holds the
    /// true shift.
    #[serde(default)]
    pub confidence: f64,
    /// The look it was made at.
    #[serde(default)]
    pub stage: Stage,
    /// What boots that were not made side by side may differ by without any
    /// change; `None` where they were, or where time is simulated.
    pub sessions: Option<Sessions>,
}

impl Effect {
    /// Whether the boots said anything.
    pub fn is_sure(&self) -> bool {
        self.verdict != Verdict::Unknown
    }
}

/// The effect of going from `before` to `after` (ns), two samples that may vary
/// and count differently.
///
/// The interval decides: below 0 it is *faster*, above *slower* (then also
/// p ≤ alpha), and inside ± margin *equivalent*, whichever side of 0 it is on.
/// The last is the same as two one-sided tests that reject a shift of the
/// margin, each with half of alpha. Everything else is *unknown*: more boots
/// may tell.
pub fn effect(before: &[i64], after: &[i64], question: &Question) -> Effect {
    of_samples(before, after, question.level()).effect(question)
}

/// The effect from boots that belong together two by two: those with the same
/// perturbation, or made right after each other. Fewer than six pairs are two
/// samples.
///
/// Pairs see what the boots of one have in common, two samples of few boots are
/// rarer by chance. So both are asked, each with half of the error: what either
/// rules out is ruled out.
pub fn effect_of_pairs(pairs: &[(i64, i64)], question: &Question) -> Effect {
    let (before, after): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
    let differences = differences(pairs);
    if pairs.len() < FEWEST_PAIRS || has_nothing_in_common(&before, &after, &differences) {
        return effect(&before, &after, question);
    }
    let level = question.level() / 2.0;
    let samples = of_samples(&before, &after, level);
    of_differences(pairs, level).and(samples).effect(question)
}

/// The effect from pairs alone, with the whole error. Of six pairs it says more
/// than [`effect_of_pairs`] where they hardly differ, and less where several
/// claims are made at once.
pub fn effect_of_pairs_alone(pairs: &[(i64, i64)], question: &Question) -> Effect {
    of_differences(pairs, question.level()).effect(question)
}

fn of_samples(before: &[i64], after: &[i64], level: f64) -> Found {
    let pairs = Pairs::of(before, after);
    let sizes = pairs.sizes();
    let null = Null::of(sizes);
    let statistic = |limit: i128| pairs.score(limit).statistic(sizes);
    let rejects = |statistic: f64| at_most(null.p(statistic), level);
    let ends = pairs.ends();
    let [low, high] = ends.unwrap_or([0, 0]);
    // Without any overlap the boots say as much as they ever can.
    let can = sizes.iter().all(|&n| n >= FEWEST) && rejects(statistic(low - 1));
    let (interval, error) = match can {
        false => ([low, high], null.p(statistic(low - 1))),
        true => {
            let above = |limit: i128| statistic(limit) > 0.0 && rejects(statistic(limit));
            let below = |limit: i128| statistic(limit) < 0.0 && rejects(statistic(limit));
            let interval = [
                first(low, high, |limit| !above(limit)),
                first(low, high, below),
            ];
            let tails = [interval[0] - 1, interval[1]].map(|limit| null.p(statistic(limit)));
            (interval, (tails[0] + tails[1]) / 2.0)
        }
    };
    // An equal boot counts in the order that claims least.
    let (greater, less) = (statistic(0), statistic(-1));
    let mut p = match () {
        () if ends.is_none() => 1.0,
        () if greater > 0.0 => null.p(greater),
        () if less < 0.0 => null.p(less),
        () => 1.0,
    };
    let mut interval_ns = interval.map(narrow);
    if let Some(wide) = Wide::of(before, after).filter(|_| can) {
        let [low, high] = wide.interval(level);
        interval_ns = [interval_ns[0].min(low), interval_ns[1].max(high)];
        p = wide.p().max(p);
    }
    Found {
        shift_ns: pairs.twice_median().map_or(0, shift::half),
        interval_ns,
        error,
        can,
        p,
        samples: sizes,
    }
}

fn of_differences(pairs: &[(i64, i64)], level: f64) -> Found {
    let signed = Signed::of(&differences(pairs));
    let (interval_ns, error, can) = signed.interval(level);
    Found {
        shift_ns: signed.shift(),
        interval_ns,
        error,
        can,
        p: signed.p(),
        samples: [signed.pairs(); 2],
    }
}

fn differences(pairs: &[(i64, i64)]) -> Vec<i64> {
    let differences = pairs
        .iter()
        .map(|(before, after)| after.saturating_sub(*before));
    differences.collect()
}

/// What a test found.
struct Found {
    shift_ns: i64,
    interval_ns: [i64; 2],
    /// How likely the true shift is outside.
    error: f64,
    /// Whether there are enough boots for a verdict.
    can: bool,
    p: f64,
    samples: [usize; 2],
}

impl Found {
    /// Both of two tests of the same boots, each with half of the error; the
    /// shift is that of the first.
    fn and(self, other: Found) -> Found {
        let p = (2.0 * self.p.min(other.p)).min(1.0);
        match (self.can, other.can) {
            (true, false) => return Found { p, ..self },
            (false, true) => return Found { p, ..other },
            _ => {}
        }
        let ([low, high], [other_low, other_high]) = (self.interval_ns, other.interval_ns);
        let both = [low.max(other_low), high.min(other_high)];
        // What they agree on holds the shift, or they do not agree.
        match both[0] <= self.shift_ns && self.shift_ns <= both[1] {
            true => Found {
                interval_ns: both,
                error: self.error + other.error,
                p,
                ..self
            },
            false => Found {
                p: (2.0 * self.p).min(1.0),
                ..self
            },
        }
    }

    fn effect(self, question: &Question) -> Effect {
        let mut effect = Effect {
            shift_ns: self.shift_ns,
            interval_ns: self.interval_ns,
            p: question.stage.overall(self.p),
            verdict: Verdict::Unknown,
            margin_ns: question.margin_ns.saturating_abs(),
            samples: self.samples,
            confidence: (1.0 - self.error).max(0.0),
            stage: question.stage,
            sessions: None,
        };
        if self.can {
            effect.verdict = verdict(&effect);
        }
        effect
    }
}

fn verdict(effect: &Effect) -> Verdict {
    let apart_ns = effect.sessions.map_or(0, |s| s.apart_ns);
    let [low_ns, high_ns] = effect.interval_ns;
    let (low_ns, high_ns) = (
        low_ns.saturating_sub(apart_ns),
        high_ns.saturating_add(apart_ns),
    );
    let margin_ns = effect.margin_ns;
    if -margin_ns < low_ns && high_ns < margin_ns {
        Verdict::Equivalent
    } else if high_ns < 0 {
        Verdict::Faster
    } else if low_ns > 0 {
        Verdict::Slower
    } else {
        Verdict::Unknown
    }
}

/// p values corrected for making several comparisons (Holm 1979), in the order
/// given; what is not a number counts as 1.
pub fn holm(p: &[f64]) -> Vec<f64> {
    weighted_holm(p, &vec![1.0; p.len()])
}

/// The same for comparisons of which some may use more of the error than
/// others: a share of it that goes with their weight, until others are sure and
/// leave them theirs.
fn weighted_holm(p: &[f64], weights: &[f64]) -> Vec<f64> {
    let p = p.iter().map(|p| if p.is_nan() { 1.0 } else { *p });
    let p: Vec<f64> = p.collect();
    let mut order: Vec<usize> = (0..p.len().min(weights.len())).collect();
    let key = |i: usize| p[i] / weights[i];
    order.sort_by(|&a, &b| key(a).total_cmp(&key(b)));
    let mut left: f64 = weights.iter().sum();
    let mut corrected = p.clone();
    let mut least: f64 = 0.0;
    for i in order {
        least = least.max(left * key(i)).min(1.0);
        corrected[i] = least;
        left -= weights[i];
    }
    corrected
}

/// Corrects the effects of several recipes that are ranked against each other:
/// `p` becomes Holm's, and a faster or slower that no longer holds becomes
/// unknown. Intervals stay those of one comparison.
pub fn correct(effects: &mut [Effect]) {
    let mut effects: Vec<(f64, &mut Effect)> = effects.iter_mut().map(|e| (1.0, e)).collect();
    correct_weighted(&mut effects);
}

/// The same for effects with weights: some may use more of the error.
pub fn correct_weighted(effects: &mut [(f64, &mut Effect)]) {
    let p: Vec<f64> = effects.iter().map(|(_, e)| e.p).collect();
    let weights: Vec<f64> = effects.iter().map(|(weight, _)| *weight).collect();
    for ((_, effect), p) in effects.iter_mut().zip(weighted_holm(&p, &weights)) {
        effect.p = p;
        let claims = matches!(effect.verdict, Verdict::Faster | Verdict::Slower);
        if claims && !at_most(p, ALPHA) {
            effect.verdict = Verdict::Unknown;
        }
    }
}
