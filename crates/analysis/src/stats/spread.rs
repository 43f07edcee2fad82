//! Where one side varies far more than the other.
//!
//! Then the other side is as good as one value, and each boot of the wide side
//! is above or below it: as when a coin is thrown, all that counts is how often
//! it fell on either side. The orders of both (`orders`) know of more chances
//! than there are, and would be wrong in up to one case of eight.

use super::orders::at_most;
use super::pairs::outwards;

/// A side is wide if its median deviation is so many times that of the other.
const WIDE: f64 = 2.5;

/// Of more boots the orders know enough, and 2⁻ⁿ is no float any more.
const MOST: usize = 1_000;
/// A side with fewer boots may be wide without being seen to be.
const FEW: usize = 6;

/// The wide side, and what the other says.
pub(super) struct Wide {
    /// Twice the differences of its boots from the other side's median, in
    /// order; positive where the second side is longer.
    twice: Vec<i128>,
    /// P(at most so many of them are below), from 0 on.
    up_to: Vec<f64>,
}

impl Wide {
    /// `None` if neither side is wide.
    pub(super) fn of(before: &[i64], after: &[i64]) -> Option<Self> {
        let [(from, middle), (to, end)] = [lie(before)?, lie(after)?];
        // Of so few nobody knows how wide they are, beside many.
        let few = |one: &[i64], other: &[i64]| one.len() < FEW && one.len() < other.len();
        let (wide, other, sign) = match () {
            () if few(after, before) => (after, middle, 1),
            () if few(before, after) => (before, end, -1),
            () if to > WIDE * from => (after, middle, 1),
            () if from > WIDE * to => (before, end, -1),
            () => return None,
        };
        if wide.len() > MOST {
            return None;
        }
        let mut twice: Vec<i128> = wide
            .iter()
            .map(|v| sign * (2 * i128::from(*v) - other))
            .collect();
        twice.sort_unstable();
        Some(Self {
            up_to: chances(twice.len()),
            twice,
        })
    }

    /// The shifts that are not ruled out.
    pub(super) fn interval(&self, level: f64) -> [i64; 2] {
        let rare = |p: &f64| at_most(2.0 * p, level);
        let can = self.up_to.iter().take_while(|p| rare(p)).count();
        match can.checked_sub(1) {
            Some(cut) => outwards([self.twice[cut], self.twice[self.twice.len() - 1 - cut]]),
            None => self.clear(),
        }
    }

    /// The shifts that the wide side's boots are not farther off from than they
    /// are from each other. Beyond, nobody needs to count.
    fn clear(&self) -> [i64; 2] {
        let (low, high) = (self.twice[0], self.twice[self.twice.len() - 1]);
        let range = high - low;
        outwards([low - range, high + range])
    }

    /// p of the hypothesis that nothing changed; 0 where this has nothing to
    /// say.
    pub(super) fn p(&self) -> f64 {
        let [low, high] = self.clear();
        if low > 0 || high < 0 {
            return 0.0;
        }
        let not_above = self.twice.partition_point(|v| *v < 2);
        let not_below = self.twice.len() - self.twice.partition_point(|v| *v <= -2);
        (2.0 * self.up_to[not_above.min(not_below)]).min(1.0)
    }
}

/// From so many pairs on the signs of their differences tell more than chance does.
const MANY_PAIRS: usize = 12;
/// Sides of pairs are unequal if one varies so many times as much as the other.
const UNEQUAL: f64 = 1.8;

/// Whether pairs are no more than two samples: their sides vary differently, and the
/// differences as much as the wider side. Then nothing makes the differences fall as
/// often to either side, and their signs prove nothing.
pub(super) fn has_nothing_in_common(before: &[i64], after: &[i64], differences: &[i64]) -> bool {
    let [Some((from, _)), Some((to, _)), Some((apart, _))] = [before, after, differences].map(lie)
    else {
        return false;
    };
    let (narrow, wide) = (from.min(to), from.max(to));
    before.len() >= MANY_PAIRS && wide > UNEQUAL * narrow && apart >= 0.7 * wide
}

/// How far the values of a sample are from its median, and twice that median:
/// exact, where the median has halves, so that it moves with the sample.
fn lie(values: &[i64]) -> Option<(f64, i128)> {
    let twice_median = |values: &mut Vec<i128>| {
        values.sort_unstable();
        let n = values.len();
        Some(*values.get(n.checked_sub(1)? / 2)? + values[n / 2])
    };
    let middle = twice_median(&mut values.iter().map(|v| i128::from(*v)).collect())?;
    let mut away = values
        .iter()
        .map(|v| (2 * i128::from(*v) - middle).abs())
        .collect();
    Some((twice_median(&mut away)? as f64, middle))
}

/// P(at most k of n thrown coins fall on one side).
fn chances(n: usize) -> Vec<f64> {
    let mut ways = 0.5_f64.powi(n as i32);
    let mut below = 0.0;
    let chance = (0..=n).map(|k| {
        below += ways;
        ways *= (n - k) as f64 / (k + 1) as f64;
        below.min(1.0)
    });
    chance.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coins_and_medians_are_exact() {
        assert_eq!(chances(3), [0.125, 0.5, 0.875, 1.0]);
        // Twice: the median is 4.5, and from it the values lie 3.5, 1.5, 1.5 and 4.5.
        assert_eq!(lie(&[9, 1, 6, 3]), Some((2.0 * 5.0, 9)));
        assert_eq!(lie(&[]), None);
    }
}
