//! The permutation test of the rank sum (Wilcoxon, Mann–Whitney), with ties.

use super::random::{Random, below};

/// Up to this many values in all every permutation counts; the number of ways
/// to choose half of them still fits a `u64`.
const EXACT: usize = 60;

/// How many random permutations stand for all of a larger sample.
const DRAWS: u32 = 20_000;

/// p of the hypothesis that both samples come from one distribution, against
/// any shift. In (0, 1]; 1 if a side is empty.
pub fn two_sided(a: &[i64], b: &[i64], seed: u64) -> f64 {
    let ranks = Ranks::of(a, b);
    // The smaller side: swapped sides then draw the same permutations.
    let sum = if a.len() <= b.len() {
        ranks.sum_of(a)
    } else {
        ranks.sum_of(b)
    };
    let k = a.len().min(b.len());
    // Twice the mean sum of k doubled ranks; doubled again to stay whole.
    let mean = ranks.mean_of(k);
    let distance = sum.saturating_mul(2).abs_diff(mean);
    ranks.p(k, seed, |s| s.saturating_mul(2).abs_diff(mean) >= distance)
}

/// p of the hypothesis that `b` is not above `a`: small if `b` is greater.
pub fn greater(a: &[i64], b: &[i64], seed: u64) -> f64 {
    let ranks = Ranks::of(a, b);
    let sum = ranks.sum_of(b);
    ranks.p(b.len(), seed, |s| s >= sum)
}

/// Doubled midranks of two samples together: whole numbers also with ties.
struct Ranks {
    /// The values in order, each once, with its doubled rank.
    of: Vec<(i64, u64)>,
    /// All doubled ranks.
    all: Vec<u64>,
}

impl Ranks {
    fn of(a: &[i64], b: &[i64]) -> Self {
        let mut values: Vec<i64> = a.iter().chain(b).copied().collect();
        values.sort_unstable();
        let mut of = Vec::new();
        let mut all = Vec::with_capacity(values.len());
        for same in values.chunk_by(|x, y| x == y) {
            let before = all.len() as u64;
            // Ranks before+1 ..= before+n have the mean before + (n+1)/2.
            let doubled = 2 * before + same.len() as u64 + 1;
            of.push((same[0], doubled));
            all.extend(same.iter().map(|_| doubled));
        }
        Self { of, all }
    }

    fn sum_of(&self, sample: &[i64]) -> u64 {
        let rank = |value: &i64| {
            let at = self.of.binary_search_by_key(value, |r| r.0);
            at.map_or(0, |i| self.of[i].1)
        };
        sample.iter().map(rank).sum()
    }

    /// Twice the mean sum of `k` doubled ranks: k · 2(n + 1).
    fn mean_of(&self, k: usize) -> u64 {
        2 * k as u64 * (self.all.len() as u64 + 1)
    }

    /// The share of the choices of `k` ranks whose sum is `extreme`.
    fn p(&self, k: usize, seed: u64, extreme: impl Fn(u64) -> bool) -> f64 {
        if k == 0 || k == self.all.len() {
            return 1.0;
        }
        if self.all.len() <= EXACT {
            self.exact(k, extreme)
        } else {
            self.drawn(k, seed, extreme)
        }
    }

    /// Counts the choices by their sum, rank by rank: as exact as listing all
    /// of them, without doing so.
    fn exact(&self, k: usize, extreme: impl Fn(u64) -> bool) -> f64 {
        let highest = self.all.iter().rev().take(k).sum::<u64>() as usize;
        // ways[j][s]: ways to choose j of the ranks so far with the sum s.
        let mut ways = vec![vec![0u64; highest + 1]; k + 1];
        ways[0][0] = 1;
        for &rank in &self.all {
            let rank = rank as usize;
            for chosen in (1..=k).rev() {
                let (fewer, more) = ways.split_at_mut(chosen);
                let from = &fewer[chosen - 1];
                for sum in rank..=highest {
                    more[0][sum] += from[sum - rank];
                }
            }
        }
        let sums = ways[k].iter().enumerate();
        let total: u64 = ways[k].iter().sum();
        let hits: u64 = sums.filter(|(s, _)| extreme(*s as u64)).map(|w| w.1).sum();
        hits as f64 / total as f64
    }

    /// Draws choices at random. The one that was seen counts as well, so p is
    /// never 0.
    fn drawn(&self, k: usize, seed: u64, extreme: impl Fn(u64) -> bool) -> f64 {
        let mut random = Random::new(seed);
        let mut ranks = self.all.clone();
        let mut hits = 1u32;
        for _ in 0..DRAWS {
            let mut sum = 0;
            for i in 0..k {
                let pick = i + below(random.next(), ranks.len() - i);
                ranks.swap(i, pick);
                sum += ranks[i];
            }
            hits += u32::from(extreme(sum));
        }
        f64::from(hits) / f64::from(DRAWS + 1)
    }
}
