//! Is one sample of boot times shorter than another, and by how much?
//!
//! Boot times are skewed, have outliers and are few, so everything here goes
//! by ranks: the Hodges–Lehmann shift with a bootstrap interval, and the
//! permutation test of the rank sum that belongs to it. Random numbers come
//! from the seed alone, and neither the order of the values nor that of the
//! sides changes a result (swapped sides change the sign).

use serde::{Deserialize, Serialize};

mod random;
pub mod rank;
pub mod shift;
#[cfg(test)]
mod tests;

pub use shift::{hodges_lehmann, mad, median};

/// The error of the first kind that a verdict may have.
pub const ALPHA: f64 = 0.05;

/// What an experiment says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// How the second sample differs from the first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// Hodges–Lehmann shift, ns: second minus first, negative is faster.
    pub shift_ns: i64,
    /// 95 % bootstrap interval of the shift, ns. With fewer than two values on
    /// a side it is the shift itself and says nothing; then the verdict is
    /// `Unknown`.
    pub interval_ns: [i64; 2],
    /// Two-sided p of the permutation test of the rank sum, in (0, 1].
    pub p: f64,
    /// What follows.
    pub verdict: Verdict,
    /// The margin of `Equivalent`, ns.
    pub margin_ns: i64,
    /// How many values either side had.
    pub samples: [usize; 2],
}

/// The effect of going from `before` to `after` (ns).
///
/// *Equivalent*: the interval lies within ± `margin_ns`, and two one-sided
/// permutation tests reject a shift of the margin either way (so never with a
/// margin of 0, nor with fewer than three values on each side). *Faster* and
/// *slower*: p ≤ 0.05 and the interval lies on one side of 0. Everything else
/// is *unknown*: more runs may tell.
pub fn effect(before: &[i64], after: &[i64], margin_ns: i64, seed: u64) -> Effect {
    let margin_ns = margin_ns.saturating_abs();
    let mut sides = [before.to_vec(), after.to_vec()];
    sides.iter_mut().for_each(|s| s.sort_unstable());
    let [before, after] = &sides;
    let shift_ns = hodges_lehmann(before, after).unwrap_or(0);
    let interval_ns = shift::interval(before, after, seed).unwrap_or([shift_ns; 2]);
    let p = rank::two_sided(before, after, seed);
    let mut effect = Effect {
        shift_ns,
        interval_ns,
        p,
        verdict: Verdict::Unknown,
        margin_ns,
        samples: [before.len(), after.len()],
    };
    let is_close = margin_ns > 0 && within(before, after, margin_ns, seed);
    effect.verdict = verdict(&effect, is_close);
    effect
}

fn verdict(effect: &Effect, is_close: bool) -> Verdict {
    let [low_ns, high_ns] = effect.interval_ns;
    if effect.samples.iter().any(|&n| n < 2) {
        return Verdict::Unknown;
    }
    if is_close && -effect.margin_ns <= low_ns && high_ns <= effect.margin_ns {
        return Verdict::Equivalent;
    }
    match effect.p <= ALPHA {
        true if high_ns < 0 => Verdict::Faster,
        true if low_ns > 0 => Verdict::Slower,
        _ => Verdict::Unknown,
    }
}

/// Two one-sided tests: is the shift above −margin, and below +margin?
fn within(before: &[i64], after: &[i64], margin_ns: i64, seed: u64) -> bool {
    let moved = |by_ns: i64| -> Vec<i64> {
        let values = after.iter().map(|v| v.saturating_add(by_ns));
        values.collect()
    };
    let above = rank::greater(before, &moved(margin_ns), seed);
    let below = rank::greater(&moved(-margin_ns), before, seed);
    above <= ALPHA && below <= ALPHA
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
        if claims && p > ALPHA {
            effect.verdict = Verdict::Unknown;
        }
    }
}
