//! When to look, and when to stop.
//!
//! Who looks at the numbers again and again, and stops as soon as they please,
//! is wrong far more often than one time in twenty. Here an experiment looks
//! at most three times, after 1/4, 1/2 and all of its boots, and spends a
//! share of the allowed error on each look (Lan and DeMets 1983). The spending
//! function is that of Pocock's kind, α·ln(1 + (e − 1)·t): a change worth
//! having is much larger than the noise, and should be said at the first look.
//! One of O'Brien and Fleming's kind would spend nearly nothing there, to save
//! a few boots of those experiments that go on to the end.

use serde::Serialize;

/// Where an experiment is when it looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// All boots are there, and nobody looked before.
    #[default]
    Only,
    /// A quarter of the boots.
    First,
    /// Half of the boots, after the first look.
    Second,
    /// All boots, after both.
    Last,
}

/// The overall error of an experiment, and the two-sided level of the second
/// and the last look that keep it, as shares of it; ascending. From
/// `tests/stats_reference.py`. (The first look's is ln(1 + (e − 1)/4) always.)
const LEVELS: [(f64, [f64; 2]); 12] = [
    (1e-9, [0.265_103, 0.382_395]),
    (1e-6, [0.271_626, 0.389_761]),
    (1e-4, [0.285_311, 0.406_729]),
    (0.001, [0.299_825, 0.426_490]),
    (0.005, [0.316_327, 0.450_814]),
    (0.01, [0.326_011, 0.465_922]),
    (0.025, [0.342_283, 0.492_617]),
    (0.05, [0.358_151, 0.520_175]),
    (0.1, [0.378_282, 0.557_303]),
    (0.2, [0.404_353, 0.609_315]),
    (0.5, [0.452_762, 0.725_321]),
    (0.9, [0.499_750, 0.917_149]),
];

/// ln(1 + (e − 1)/4).
const FIRST: f64 = 0.357_374_019_508_788_1;

impl Stage {
    /// The level of the test at this look, two-sided, that keeps the error of
    /// the whole experiment at `alpha`.
    pub fn level(self, alpha: f64) -> f64 {
        alpha * self.share(alpha)
    }

    /// The smallest error of the whole experiment at which a look with this p
    /// would have been enough. At most 1.
    pub fn overall(self, p: f64) -> f64 {
        // The share grows slowly with alpha: a few steps find the fixed point.
        let solved = (0..60).fold(p, |alpha, _| (p / self.share(alpha)).min(1.0));
        solved.clamp(p.min(1.0), 1.0)
    }

    fn share(self, alpha: f64) -> f64 {
        let column = match self {
            Stage::Only => return 1.0,
            Stage::First => return FIRST,
            Stage::Second => 0,
            Stage::Last => 1,
        };
        let at = LEVELS.partition_point(|row| row.0 < alpha);
        let at = at.clamp(1, LEVELS.len() - 1);
        let ((from, low), (to, high)) = (LEVELS[at - 1], LEVELS[at]);
        let along = ((alpha / from).ln() / (to / from).ln()).clamp(0.0, 1.0);
        low[column] + (high[column] - low[column]) * along
    }
}

/// One of the looks of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Look {
    /// After how many boots of each side.
    pub boots: u32,
    /// Which it is.
    pub stage: Stage,
}

/// The looks of an experiment whose first is after `first` boots of each side:
/// then, after twice, and after four times as many.
pub fn looks(first: u32) -> [Look; 3] {
    let first = first.max(1);
    [(1, Stage::First), (2, Stage::Second), (4, Stage::Last)].map(|(times, stage)| Look {
        boots: first.saturating_mul(times),
        stage,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::ALPHA;

    #[test]
    fn levels_and_overall_errors_are_each_others_inverse() {
        for stage in [Stage::Only, Stage::First, Stage::Second, Stage::Last] {
            for alpha in [1e-7, 0.000_3, 0.01, 0.05, 0.2, 0.8] {
                let back = stage.overall(stage.level(alpha));
                assert!(
                    (back / alpha - 1.0).abs() < 1e-6,
                    "{stage:?} {alpha} {back}"
                );
            }
            assert_eq!(stage.overall(1.0), 1.0);
            assert!(stage.overall(1e-300) > 0.0);
            // Where a p is just enough at a look, it is so overall.
            let level = stage.level(ALPHA);
            assert!(stage.overall(level * 1.001) > ALPHA);
            assert!(stage.overall(level * 0.999) < ALPHA);
        }
    }

    #[test]
    fn looks_are_after_once_twice_and_four_times_as_many_boots() {
        assert_eq!(looks(8).map(|look| look.boots), [8, 16, 32]);
        assert_eq!(looks(0)[2].boots, 4);
        assert_eq!(looks(u32::MAX)[2].boots, u32::MAX);
    }
}
