//! How much the results of a series vary without any change.
//!
//! A change of level is seen in the difference of two neighbours, and so is
//! noise. But only noise lets a result lie outside of both its neighbours: on a
//! staircase none ever does. How far results lie outside is how large the noise
//! is, and it does not matter how many steps there are between.

use super::Kind;

/// Of normal noise of deviation 1 three results in four, and 93 in a hundred, lie
/// less than this outside of their neighbours.
const OUTSIDE: [(f64, f64); 2] = [(0.75, 0.92), (0.93, 1.78)];

/// Fewer results than this lie one above the other by chance more often than in
/// one case of a thousand.
const FEWEST: usize = 8;

/// The standard deviation of the noise of one result; `None` if the series is
/// too short to tell.
pub(super) fn noise(series: &[f64], kind: Kind) -> Option<f64> {
    let mut outside: Vec<f64> = series.windows(3).map(outside).collect();
    outside.sort_unstable_by(f64::total_cmp);
    let n = outside.len();
    let seen = OUTSIDE.map(|(share, normal)| {
        let at = (share * n as f64) as usize;
        outside.get(at.min(n.saturating_sub(1))).unwrap_or(&0.0) / normal
    });
    let seen = seen[0].max(seen[1]);
    // Of few results the noise is not known well.
    let seen = seen * (1.0 + 20.0 / (n * n).max(1) as f64);
    match kind {
        Kind::Simulated => Some(seen),
        Kind::Measured(_) if series.len() < FEWEST => None,
        Kind::Measured(within) => Some(seen.max(within).max(tick(series))),
    }
}

/// How far the middle of three lies outside of the others.
fn outside(three: &[f64]) -> f64 {
    let (low, high) = (three[0].min(three[2]), three[0].max(three[2]));
    (three[1] - high).max(low - three[1]).max(0.0)
}

/// The unit that all values are multiples of: a clock that ticks tells no more.
fn tick(series: &[f64]) -> f64 {
    let mut unit = 0_u64;
    for value in series {
        let (mut a, mut b) = (unit, value.abs().round() as u64);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        unit = a;
    }
    let all_equal = series.windows(2).all(|w| w[0] == w[1]);
    if all_equal { 0.0 } else { unit as f64 }
}
