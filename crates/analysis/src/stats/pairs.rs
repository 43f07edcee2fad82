//! All pairs of a boot before and a boot after, and their differences.

use super::orders::Score;

/// Two samples.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    /// Both sides, in order.
    sides: [Vec<i64>; 2],
}

impl Pairs {
    pub(super) fn of(before: &[i64], after: &[i64]) -> Self {
        let mut sides = [before.to_vec(), after.to_vec()];
        sides.iter_mut().for_each(|s| s.sort_unstable());
        Self { sides }
    }

    /// How many values either side has.
    pub(super) fn sizes(&self) -> [usize; 2] {
        self.sides.each_ref().map(Vec::len)
    }

    fn len(&self) -> u128 {
        let [n, m] = self.sizes();
        n as u128 * m as u128
    }

    /// The smallest and the largest difference `after − before`; `None` if a
    /// side is empty.
    pub(super) fn ends(&self) -> Option<[i128; 2]> {
        let [before, after] = &self.sides;
        let wide = |v: Option<&i64>| v.map(|&v| i128::from(v));
        Some([
            wide(after.first())? - wide(before.last())?,
            wide(after.last())? - wide(before.first())?,
        ])
    }

    /// What the order says if every boot after were `limit` shorter; one that
    /// then equals a boot before counts as shorter.
    pub(super) fn score(&self, limit: i128) -> Score {
        let [before, after] = &self.sides;
        let mut score = Score::default();
        let mut within = 0;
        for &from in before {
            let reach = i128::from(from) + limit;
            while after.get(within).is_some_and(|&to| i128::from(to) <= reach) {
                within += 1;
            }
            score.add(0, within);
        }
        let mut below = 0;
        for &to in after {
            let to = i128::from(to);
            while before
                .get(below)
                .is_some_and(|&from| i128::from(from) + limit < to)
            {
                below += 1;
            }
            score.add(1, below);
        }
        score
    }

    /// How many differences are at most `limit`.
    fn up_to(&self, limit: i128) -> u128 {
        self.score(limit).sums[0] as u128
    }

    /// The `k`-th smallest difference (from 0), by bisection of its value:
    /// large samples have too many pairs for a list.
    fn kth(&self, k: u128) -> i128 {
        let [low, high] = self.ends().unwrap_or([0, 0]);
        first(low, high, |limit| self.up_to(limit) > k)
    }

    /// Twice the median difference: exact, where the median has halves. `None`
    /// without any pair.
    pub(super) fn twice_median(&self) -> Option<i128> {
        let pairs = self.len();
        let low = pairs.checked_sub(1)? / 2;
        let high = pairs / 2;
        let middle = self.kth(low);
        let other = if low == high { middle } else { self.kth(high) };
        Some(middle + other)
    }
}

/// The smallest number from `low` on that is `enough`, at most `high`.
pub(super) fn first(low: i128, high: i128, enough: impl Fn(i128) -> bool) -> i128 {
    let [mut low, mut high] = [low, high];
    while low < high {
        let middle = low + (high - low) / 2;
        match enough(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

/// Halves of doubled ends, rounded outwards.
pub(super) fn outwards([low, high]: [i128; 2]) -> [i64; 2] {
    [narrow(low.div_euclid(2)), narrow(-(-high).div_euclid(2))]
}

/// The whole number next to `wide` that fits.
pub(super) fn narrow(wide: i128) -> i64 {
    wide.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}
