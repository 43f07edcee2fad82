//! Is one sample of boot times shorter than another, and by how much?
//!
//! Boot times are skewed, have outliers and are few, so everything here goes
//! by ranks, and by one count: in how many pairs of a boot before and a boot
//! after is the second longer? The median of the pairs' differences is the
//! shift (Hodges–Lehmann). The permutation test asks how often chance would
//! make the count as extreme. The interval holds every shift that the test
//! would not reject. So the three never contradict each other, and what the
//! interval covers is what the test does not reject wrongly.
//!
//! Results depend on the values alone: there is no seed, and neither the order
//! of the values nor that of the sides changes anything (swapped sides change
//! the sign). `docs/statistics.md` says it for readers of a verdict, and
//! `docs/tables/verdicts.md` measures it.

use serde::Serialize;

pub mod bootstrap;
mod looks;
mod normal;
mod null;
mod pairs;
mod random;
pub mod rank;
mod shape;
mod shift;
#[cfg(test)]
mod tests;

pub use looks::{Look, Stage, looks};
pub use shape::{Mode, Shape};
pub use shift::{hodges_lehmann, mad, median};

use null::Null;
use pairs::{Pairs, narrow};

/// The error of the first kind that a verdict may have.
pub const ALPHA: f64 = 0.05;

/// So many rounds, of two boots of each side, are compared among themselves.
/// Four boots of each side are few enough to be close in time, and so many
/// that the steps of the test are fine enough.
const ROUNDS_PER_BLOCK: usize = 2;

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
    /// Two-sided p of the permutation test of the rank sum, in (0, 1]; the
    /// looks before count: it is the smallest error of the whole experiment
    /// with which this claim could be made.
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
}

impl Effect {
    /// Whether the boots said anything.
    pub fn is_sure(&self) -> bool {
        self.verdict != Verdict::Unknown
    }
}

/// Boots that were made close to each other, ns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Without the change.
    pub before: Vec<i64>,
    /// With it.
    pub after: Vec<i64>,
}

/// The effect of going from `before` to `after` (ns).
///
/// The interval decides: below 0 it is *faster*, above *slower* (then also
/// p ≤ alpha), and inside ± margin *equivalent*, whichever side of 0 it is on.
/// The last is the same as two one-sided tests that reject a shift of the
/// margin, each with half of alpha. Everything else is *unknown*: more boots
/// may tell.
pub fn effect(before: &[i64], after: &[i64], question: &Question) -> Effect {
    of_pairs(&Pairs::of(before, after), question)
}

/// The same from boots in rounds, where time may have changed the machine
/// (temperature, load): only boots of the same two rounds are compared with
/// each other, so what drifts from one to the next counts on neither side.
pub fn effect_in_rounds(rounds: &[Round], question: &Question) -> Effect {
    effect_in_blocks(&blocks(rounds, ROUNDS_PER_BLOCK), question)
}

/// The same from blocks: only boots of one block are compared with each other.
pub fn effect_in_blocks(blocks: &[Round], question: &Question) -> Effect {
    let blocks = blocks.iter().map(|b| [b.before.clone(), b.after.clone()]);
    of_pairs(&Pairs::new(blocks.collect()), question)
}

/// Puts so many rounds together, in order; what remains goes to the last.
pub fn blocks(rounds: &[Round], each: usize) -> Vec<Round> {
    let each = each.max(1);
    let whole = (rounds.len() / each).max(1);
    let mut blocks = vec![Round::default(); whole];
    for (at, round) in rounds.iter().enumerate() {
        let block = &mut blocks[(at / each).min(whole - 1)];
        block.before.extend(&round.before);
        block.after.extend(&round.after);
    }
    blocks
}

fn of_pairs(pairs: &Pairs, question: &Question) -> Effect {
    let margin_ns = question.margin_ns.saturating_abs();
    let null = Null::of(&pairs.sizes());
    let level = question.stage.level(question.alpha);
    let critical = null.critical(level / 2.0);
    let cut = critical.unwrap_or(0);
    let interval_ns = match pairs.len() {
        0 => [0; 2],
        n => [cut, n - 1 - cut].map(|k| narrow(pairs.kth(k))),
    };
    let mut effect = Effect {
        shift_ns: pairs.twice_median().map_or(0, shift::half),
        interval_ns,
        p: question.stage.overall(rank::two_sided_of(pairs, &null)),
        verdict: Verdict::Unknown,
        margin_ns,
        samples: pairs.samples(),
        confidence: (1.0 - 2.0 * null.up_to(cut)).max(0.0),
        stage: question.stage,
    };
    if critical.is_some() {
        effect.verdict = verdict(&effect);
    }
    effect
}

fn verdict(effect: &Effect) -> Verdict {
    let ([low_ns, high_ns], margin_ns) = (effect.interval_ns, effect.margin_ns);
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
    let p = p.iter().map(|p| if p.is_nan() { 1.0 } else { *p });
    let p: Vec<f64> = p.collect();
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut corrected = p.clone();
    let mut least: f64 = 0.0;
    for (rank, &i) in order.iter().enumerate() {
        least = least.max((p.len() - rank) as f64 * p[i]).min(1.0);
        corrected[i] = least;
    }
    corrected
}

/// Corrects the effects of several recipes that are ranked against each other:
/// `p` becomes Holm's, and a faster or slower that no longer holds becomes
/// unknown. Intervals stay those of one comparison.
pub fn correct(effects: &mut [Effect]) {
    let p: Vec<f64> = effects.iter().map(|e| e.p).collect();
    for (effect, p) in effects.iter_mut().zip(holm(&p)) {
        effect.p = p;
        let claims = matches!(effect.verdict, Verdict::Faster | Verdict::Slower);
        if claims && !null::at_most(p, ALPHA) {
            effect.verdict = Verdict::Unknown;
        }
    }
}
