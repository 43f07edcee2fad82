//! Wilcoxon's signed rank test, of boots that belong together two by two.
//!
//! Two boots with the same perturbation, or made one right after the other,
//! have in common what has nothing to do with the change. Their difference is
//! what is left. The means of all two differences are counted: how many are
//! above 0? If nothing changed, a difference is as likely to have either sign.

use super::pairs::{narrow, outwards};

/// More pairs than this are cut off: nobody boots so often.
const MOST: usize = 500;

/// The differences of pairs.
pub(super) struct Signed {
    pairs: usize,
    /// Twice the mean of each two of them (and of each with itself), in order.
    twice_means: Vec<i128>,
    /// How likely at most so many of the means are below 0 if nothing changed,
    /// from 0 on.
    up_to: Vec<f64>,
}

impl Signed {
    pub(super) fn of(differences: &[i64]) -> Self {
        let differences = &differences[..differences.len().min(MOST)];
        let pairs = differences.len();
        let mut twice_means = Vec::with_capacity(pairs * (pairs + 1) / 2);
        for (i, a) in differences.iter().enumerate() {
            let means = differences[i..].iter();
            twice_means.extend(means.map(|b| i128::from(*a) + i128::from(*b)));
        }
        twice_means.sort_unstable();
        Self {
            pairs,
            twice_means,
            up_to: chances(pairs),
        }
    }

    /// The median of the means; 0 without any.
    pub(super) fn shift(&self) -> i64 {
        let n = self.twice_means.len();
        match n {
            0 => 0,
            _ => narrow((self.twice_means[(n - 1) / 2] + self.twice_means[n / 2]) / 4),
        }
    }

    /// The shifts that the test does not rule out, and how likely it is that
    /// the true one is outside. `None` where even the clearest pairs are more
    /// likely than `level`; then they are all that was seen.
    pub(super) fn interval(&self, level: f64) -> ([i64; 2], f64, bool) {
        let rare = |p: &f64| super::orders::at_most(2.0 * p, level);
        let can = self.up_to.iter().take_while(|p| rare(p)).count();
        let cut = can.saturating_sub(1);
        let n = self.twice_means.len();
        let ends = match n {
            0 => [0; 2],
            _ => outwards([self.twice_means[cut], self.twice_means[n - 1 - cut]]),
        };
        (ends, (2.0 * self.up_to[cut]).min(1.0), can > 0)
    }

    /// p of the hypothesis that nothing changed.
    pub(super) fn p(&self) -> f64 {
        // By whole nanoseconds, as the interval is rounded.
        let not_above = self.twice_means.partition_point(|m| *m < 2);
        let below = self.twice_means.partition_point(|m| *m <= -2);
        let not_below = self.twice_means.len() - below;
        (2.0 * self.up_to[not_above.min(not_below)]).min(1.0)
    }

    pub(super) fn pairs(&self) -> usize {
        self.pairs
    }
}

/// P(at most k of the means are below 0), by the exact distribution of the sum
/// of ranks.
fn chances(pairs: usize) -> Vec<f64> {
    let most = pairs * (pairs + 1) / 2;
    let mut chance = vec![0.0_f64; most + 1];
    chance[0] = 1.0;
    for rank in 1..=pairs {
        for sum in (0..=rank * (rank + 1) / 2).rev() {
            let with = if sum >= rank { chance[sum - rank] } else { 0.0 };
            chance[sum] = (chance[sum] + with) / 2.0;
        }
    }
    let mut below = 0.0;
    chance.iter_mut().for_each(|p| {
        below += *p;
        *p = below.min(1.0);
    });
    chance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_tables() {
        // Hollander and Wolfe, table A.4: the largest sum with two-sided p ≤ 5 %.
        for (n, sum) in [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (12, 13), (20, 52)] {
            let rare = chances(n).iter().take_while(|p| **p <= 0.025).count();
            assert_eq!(rare, sum + 1, "{n}");
        }
        assert!(!Signed::of(&[1; 5]).interval(0.05).2);
        assert!(Signed::of(&[1; 6]).interval(0.05).2);
    }

    #[test]
    fn halves_are_rounded_outwards_and_the_ends_do_not_overflow() {
        let (ends, ..) = Signed::of(&[-3, -2]).interval(0.05);
        assert_eq!(ends, [-3, -2]);
        let far = Signed::of(&[i64::MIN, i64::MAX]);
        assert_eq!(far.shift(), 0);
        assert_eq!(Signed::of(&[]).shift(), 0);
        assert_eq!((Signed::of(&[]).p(), Signed::of(&[0; 9]).p()), (1.0, 1.0));
    }

    #[test]
    fn no_pairs_say_nothing() {
        let none = Signed::of(&[]);
        assert_eq!(none.interval(0.05).0, [0; 2]);
        assert_eq!(none.p(), 1.0);
    }
}
