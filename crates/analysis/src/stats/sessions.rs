//! Boots that were not made side by side.
//!
//! If all boots before were made first and all boots after later, nothing in
//! their times tells what the change did from what the day did: the room got
//! warmer, the network busier, the card fuller. So a change counts only if it
//! is larger than what boots of two sessions may differ by for no reason. That
//! is not known; assumed is once the spread of a boot, more if each boot is
//! seen to follow the one before, and where the times are seen to drift, as
//! much more as they would have drifted from one session to the other.

use schemars::JsonSchema;
use serde::Serialize;

use super::shift::median;
use super::{Effect, verdict};

/// The times drift if a trend as clear as theirs comes by chance less often
/// than in one case of four: a deviate of the normal distribution.
const DRIFTING: f64 = 1.15;
/// Boots follow each other no more than this closely: of few boots the
/// correlation is not known well.
const CLOSEST: f64 = 0.8;

/// What two sessions of boots may differ by without any change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Sessions {
    /// So much, ns.
    pub apart_ns: i64,
    /// Of which this for the drift within the sessions; 0 if none is seen.
    pub drift_ns: i64,
}

impl Sessions {
    /// What the boots of both sides show, in the order they were made in; all
    /// of `before` before all of `after`.
    pub(super) fn of(before: &[i64], after: &[i64]) -> Self {
        let sides = [before, after];
        let drift = drift(&sides) * (before.len() + after.len()) as f64 / 2.0;
        let residues = sides.map(|side| {
            let middle = median(side).unwrap_or(0) as f64;
            side.iter()
                .map(|v| *v as f64 - middle)
                .collect::<Vec<f64>>()
        });
        let mut away: Vec<f64> = residues.iter().flatten().map(|v| v.abs()).collect();
        away.sort_unstable_by(f64::total_cmp);
        let spread = away.get(away.len() / 2).map_or(0.0, |mad| mad / 0.6745);
        let follow = follow(&residues).clamp(0.0, CLOSEST);
        let apart = spread * ((1.0 + follow) / (1.0 - follow)).sqrt() + drift;
        Self {
            apart_ns: apart as i64,
            drift_ns: drift as i64,
        }
    }
}

/// The drift from one boot to the next, as a size, ns; 0 if none is seen.
fn drift(sides: &[&[i64]; 2]) -> f64 {
    // Kendall's count of boots that are longer than an earlier one.
    let (mut longer, mut variance) = (0.0, 0.0);
    let mut slopes = Vec::new();
    for side in sides {
        let n = side.len() as f64;
        variance += n * (n - 1.0) * (2.0 * n + 5.0) / 18.0;
        for (i, a) in side.iter().enumerate() {
            for (steps, b) in side[i + 1..].iter().enumerate() {
                longer += f64::from((b.cmp(a)) as i8);
                slopes.push((*b as f64 - *a as f64) / (steps + 1) as f64);
            }
        }
    }
    if longer.abs() <= DRIFTING * variance.sqrt() {
        return 0.0;
    }
    slopes.sort_unstable_by(f64::total_cmp);
    slopes[slopes.len() / 2].abs()
}

/// How closely boots follow the one before: the correlation of neighbours.
fn follow(residues: &[Vec<f64>; 2]) -> f64 {
    let squares: f64 = residues.iter().flatten().map(|v| v * v).sum();
    let products = residues
        .iter()
        .flat_map(|side| side.windows(2).map(|w| w[0] * w[1]));
    match squares > 0.0 {
        true => products.sum::<f64>() / squares,
        false => 0.0,
    }
}

impl Effect {
    /// What is left of it if the boots were made in two sessions. The interval
    /// stays: it is about these boots. The verdict is about the change.
    pub fn of_sessions(self, before: &[i64], after: &[i64]) -> Self {
        let sessions = Sessions::of(before, after);
        let mut effect = Self {
            sessions: Some(sessions),
            ..self
        };
        if self.is_sure() {
            effect.verdict = verdict(&effect);
        }
        effect
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boots_that_grow_one_by_one_drift() {
        let up: Vec<i64> = (0..10).map(|i| 1_000 + 7 * i).collect();
        let down: Vec<i64> = up.iter().map(|v| 3_000 - v).collect();
        assert_eq!(drift(&[&up, &up]), 7.0);
        assert_eq!(drift(&[&down, &down]), 7.0);
        // What goes up in one session and down in the next is none.
        assert_eq!(drift(&[&up, &down]), 0.0);
        assert_eq!(drift(&[&[], &[]]), 0.0);
        // From the middle of one session to that of the next.
        let sessions = Sessions::of(&up, &up);
        assert_eq!(sessions.drift_ns, 70);
        assert!(sessions.apart_ns > sessions.drift_ns);
    }

    #[test]
    fn the_middle_slope_counts_each_distance_once() {
        // Steps of 10, but the fourth is late by 100: the median hardly moves.
        let side: Vec<i64> = (0..9)
            .map(|i| 10 * i + if i == 3 { 100 } else { 0 })
            .collect();
        assert_eq!(drift(&[&side, &side]), 10.0);
    }

    #[test]
    fn neighbours_that_agree_follow_each_other() {
        let of = |a: &[f64], b: &[f64]| follow(&[a.to_vec(), b.to_vec()]);
        assert_eq!(of(&[1.0, 1.0, -1.0, -1.0], &[]), 0.25);
        assert_eq!(of(&[1.0, -1.0, 1.0, -1.0], &[]), -0.75);
        // The last of one session and the first of the next are no neighbours.
        assert_eq!(of(&[1.0], &[1.0]), 0.0);
        assert_eq!(of(&[0.0, 0.0], &[]), 0.0);
    }

    #[test]
    fn sessions_lie_a_spread_apart() {
        // Alternating: nothing drifts, and nothing follows.
        let side = [100, 300, 100, 300, 100, 300, 100, 300];
        let sessions = Sessions::of(&side, &side);
        // All lie 100 from the median, which are 0.6745 deviations.
        assert_eq!((sessions.drift_ns, sessions.apart_ns), (0, 148));
        // Boots that come in runs say less, each, than those that do not.
        let runs = [100, 100, 100, 100, 300, 300, 300, 300];
        let runs: Vec<i64> = runs.iter().rev().chain(&runs).copied().collect();
        let follows = Sessions::of(&runs, &runs);
        assert!(
            follows.apart_ns > sessions.apart_ns,
            "{follows:?} {sessions:?}"
        );
    }

    #[test]
    fn boots_follow_one_another_as_their_correlation_says() {
        assert_eq!(follow(&[vec![1.0, 2.0, 3.0], vec![]]), 8.0 / 14.0);
        assert_eq!(follow(&[vec![1.0, 2.0], vec![2.0, 1.0]]), 4.0 / 10.0);
        assert_eq!(follow(&[vec![0.0], vec![]]), 0.0);
    }
}
