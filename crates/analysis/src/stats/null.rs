//! How the rank sum falls when nothing changed.
//!
//! Take every pair of a boot before and a boot after, and count the pairs in
//! which the second is longer (Mann–Whitney's U). If nothing changed, every
//! order of the boots is as likely as any other, so how U falls follows from
//! the numbers of boots alone. Blocks add their counts up.

use super::normal;

/// Up to this many pairs of boots every order counts; beyond, U is as good as
/// normal.
const EXACT_PAIRS: usize = 20_000;

/// p values are compared with a share of slack for the last bits of a float.
const SLACK: f64 = 1.0 + 1e-9;

/// Whether `p` is as small as `alpha` demands.
pub(super) fn at_most(p: f64, alpha: f64) -> bool {
    p <= alpha * SLACK
}

/// The distribution of U if both sides are the same thing.
pub(super) struct Null {
    /// How many pairs: the largest U.
    pairs: u128,
    shape: Shape,
}

enum Shape {
    /// P(U ≤ u), from 0 up to half of all pairs.
    Exact(Vec<f64>),
    Normal {
        mean: f64,
        deviation: f64,
    },
}

impl Null {
    /// For blocks of so many boots before and after.
    pub(super) fn of(blocks: &[(usize, usize)]) -> Self {
        let pairs = blocks.iter().map(|&(n, m)| n as u128 * m as u128).sum();
        let exact = (pairs <= EXACT_PAIRS as u128).then(|| convolved(blocks));
        let shape = match exact.flatten() {
            Some(share) => Shape::Exact(lower_half(&share)),
            None => {
                let variance = blocks.iter().map(|&(n, m)| {
                    let (n, m) = (n as f64, m as f64);
                    n * m * (n + m + 1.0) / 12.0
                });
                Shape::Normal {
                    mean: pairs as f64 / 2.0,
                    deviation: variance.sum::<f64>().sqrt(),
                }
            }
        };
        Self { pairs, shape }
    }

    /// P(U ≤ `u`); by symmetry also P(U ≥ pairs − `u`). Of the upper half
    /// nobody asks; there it is 1.
    pub(super) fn up_to(&self, u: u128) -> f64 {
        if u >= self.pairs {
            return 1.0;
        }
        match &self.shape {
            Shape::Exact(lower) => {
                let at = usize::try_from(u).ok().and_then(|u| lower.get(u));
                at.copied().unwrap_or(1.0)
            }
            Shape::Normal { mean, deviation } => normal::below((u as f64 + 0.5 - mean) / deviation),
        }
    }

    /// The largest U whose P(U ≤ u) is at most `tail`; `None` if not even 0 is
    /// rare enough.
    pub(super) fn critical(&self, tail: f64) -> Option<u128> {
        if !at_most(self.up_to(0), tail) {
            return None;
        }
        let (mut low, mut high) = (0, self.pairs / 2);
        while low < high {
            let middle = high - (high - low) / 2;
            match at_most(self.up_to(middle), tail) {
                true => low = middle,
                false => high = middle - 1,
            }
        }
        Some(low)
    }
}

/// The share of each U; `None` if the orders are too many to count.
fn convolved(blocks: &[(usize, usize)]) -> Option<Vec<f64>> {
    let mut all = vec![1.0];
    // Experiments have many blocks of one size: count each size once.
    let mut last = ((0, 0), vec![1.0]);
    for &size in blocks {
        if last.0 != size {
            last = (size, shares(size.0, size.1)?);
        }
        let one = &last.1;
        let mut sum = vec![0.0; all.len() + one.len() - 1];
        for (i, a) in all.iter().enumerate() {
            for (j, b) in one.iter().enumerate() {
                sum[i + j] += a * b;
            }
        }
        all = sum;
    }
    Some(all)
}

/// The share of each U among the orders of `n` and `m` values: the
/// coefficients of the Gaussian binomial, multiplied and divided factor by
/// factor. Whole numbers that may wrap in between and are right in the end.
fn shares(n: usize, m: usize) -> Option<Vec<f64>> {
    let (few, many) = (n.min(m), n.max(m));
    let total = orders(few, many)?;
    let mut ways = vec![0u128; few * many + 1];
    ways[0] = 1;
    for i in 1..=few {
        for u in (many + i..ways.len()).rev() {
            ways[u] = ways[u].wrapping_sub(ways[u - many - i]);
        }
        for u in i..ways.len() {
            ways[u] = ways[u].wrapping_add(ways[u - i]);
        }
    }
    Some(ways.iter().map(|&w| w as f64 / total as f64).collect())
}

/// Ways to put `few` and `many` values in order, if the number fits.
fn orders(few: usize, many: usize) -> Option<u128> {
    let mut total = 1u128;
    for i in 1..=few as u128 {
        total = total.checked_mul(many as u128 + i)? / i;
    }
    Some(total)
}

fn lower_half(share: &[f64]) -> Vec<f64> {
    let mut below = 0.0;
    let sums = share[..share.len().div_ceil(2)].iter().map(|s| {
        below += s;
        below
    });
    sums.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_tables() {
        // 4 and 4: 70 orders, the first ones 1, 1, 2, 3, 5.
        let share = shares(4, 4).unwrap();
        let ways: Vec<f64> = share.iter().map(|s| (s * 70.0).round()).collect();
        assert_eq!(ways[..5], [1.0, 1.0, 2.0, 3.0, 5.0]);
        assert!((share.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // Mann and Whitney's table: at most 13 of 64 pairs, 23 of 100.
        for (n, critical) in [(8, 13), (10, 23), (16, 75), (20, 127)] {
            assert_eq!(Null::of(&[(n, n)]).critical(0.025), Some(critical), "{n}");
        }
        assert_eq!(Null::of(&[(3, 3)]).critical(0.025), None);
        assert_eq!(Null::of(&[(3, 3)]).critical(0.05), Some(0));
        assert_eq!(Null::of(&[]).critical(0.5), None);
        assert_eq!(Null::of(&[(0, 9)]).up_to(0), 1.0);
    }

    #[test]
    fn blocks_add_up() {
        // Four blocks of 2 and 2: (1 + x + 2x² + x³ + x⁴)⁴ / 6⁴.
        let null = Null::of(&[(2, 2); 4]);
        for (u, ways) in [(0, 1.0), (1, 5.0), (2, 19.0)] {
            assert!((null.up_to(u) - ways / 1296.0).abs() < 1e-12);
        }
        let empty = Null::of(&[(2, 2), (0, 2), (2, 2), (3, 0), (2, 2), (2, 2)]);
        assert_eq!(empty.up_to(1), null.up_to(1));
    }

    #[test]
    fn the_normal_takes_over_without_a_step() {
        let sizes = [(60, 60)];
        let exact = Null::of(&sizes);
        assert!(matches!(exact.shape, Shape::Exact(_)));
        let variance: f64 = 60.0 * 60.0 * 121.0 / 12.0;
        let normal = Null {
            pairs: 3600,
            shape: Shape::Normal {
                mean: 1800.0,
                deviation: variance.sqrt(),
            },
        };
        for u in [1200, 1400, 1600] {
            let (exact, normal) = (exact.up_to(u), normal.up_to(u));
            assert!((exact - normal).abs() < 0.001, "{u}: {exact} {normal}");
        }
        assert!(matches!(
            Null::of(&[(200, 200)]).shape,
            Shape::Normal { .. }
        ));
    }
}
