//! All pairs of a boot before and a boot after, and their differences.

/// Samples that are compared with each other only: all boots, or those of one
/// block of rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    /// Both sides of each block, in order.
    blocks: Vec<[Vec<i64>; 2]>,
}

impl Pairs {
    pub(super) fn new(blocks: Vec<[Vec<i64>; 2]>) -> Self {
        let mut blocks = blocks;
        blocks.iter_mut().flatten().for_each(|s| s.sort_unstable());
        Self { blocks }
    }

    pub(super) fn of(before: &[i64], after: &[i64]) -> Self {
        Self::new(vec![[before.to_vec(), after.to_vec()]])
    }

    /// How many values each block has on either side.
    pub(super) fn sizes(&self) -> Vec<(usize, usize)> {
        let sizes = self.blocks.iter().map(|[b, a]| (b.len(), a.len()));
        sizes.collect()
    }

    /// How many values there are on either side.
    pub(super) fn samples(&self) -> [usize; 2] {
        [0, 1].map(|side| self.blocks.iter().map(|block| block[side].len()).sum())
    }

    pub(super) fn len(&self) -> u128 {
        let pairs = self.sizes().into_iter();
        pairs.map(|(n, m)| n as u128 * m as u128).sum()
    }

    /// How many differences `after − before` are at most `limit`.
    pub(super) fn up_to(&self, limit: i128) -> u128 {
        let counts = self.blocks.iter().map(|[before, after]| {
            // With a larger `before` more of `after` comes within the limit.
            let mut within = 0;
            let mut count = 0;
            for &from in before {
                let reach = i128::from(from) + limit;
                while after.get(within).is_some_and(|&to| i128::from(to) <= reach) {
                    within += 1;
                }
                count += within as u128;
            }
            count
        });
        counts.sum()
    }

    /// The `k`-th smallest difference (from 0), by bisection of its value:
    /// large samples have too many pairs for a list.
    pub(super) fn kth(&self, k: u128) -> i128 {
        let both = self
            .blocks
            .iter()
            .filter(|b| b.iter().all(|s| !s.is_empty()));
        let ends = both.map(|[before, after]| {
            let wide = |v: Option<&i64>| v.map_or(0, |&v| i128::from(v));
            [
                wide(after.first()) - wide(before.last()),
                wide(after.last()) - wide(before.first()),
            ]
        });
        let ends = ends.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]);
        let [mut low, mut high] = ends.unwrap_or([0, 0]);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.up_to(middle) > k {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
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

/// The whole number next to `wide` that fits.
pub(super) fn narrow(wide: i128) -> i64 {
    wide.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}
