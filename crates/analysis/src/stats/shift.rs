//! Where a sample lies, and how far apart two samples are.

use super::random::{Random, below};

/// Pairs of resamples; each gives two replicates of the shift.
const PAIRS: usize = 2000;

/// The median; of an even number of values the mean of the two in the middle,
/// towards 0. `None` without values.
pub fn median(values: &[i64]) -> Option<i64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let n = sorted.len();
    let (low, high) = (*sorted.get(n.checked_sub(1)? / 2)?, sorted[n / 2]);
    Some(half(i128::from(low) + i128::from(high)))
}

/// The median absolute deviation from the median, not scaled.
pub fn mad(values: &[i64]) -> Option<i64> {
    let middle = median(values)?;
    let away = values
        .iter()
        .map(|v| v.saturating_sub(middle).saturating_abs());
    median(&away.collect::<Vec<i64>>())
}

/// The Hodges–Lehmann shift: the median of all differences `after − before`,
/// halves towards 0. `None` if a side is empty.
pub fn hodges_lehmann(before: &[i64], after: &[i64]) -> Option<i64> {
    let (mut before, mut after) = (before.to_vec(), after.to_vec());
    before.sort_unstable();
    after.sort_unstable();
    twice_shift(&before, &after).map(half)
}

/// The 95 % percentile bootstrap interval of the shift; widened to contain the
/// shift, and rounded outwards. `None` with fewer than two values on a side:
/// one value says nothing about its spread. Both samples sorted.
///
/// Each pair of resamples is drawn by two streams of random numbers, and used
/// twice with the streams exchanged: so to swap the sides changes the sign of
/// the interval and nothing else.
pub(super) fn interval(before: &[i64], after: &[i64], seed: u64) -> Option<[i64; 2]> {
    if before.len() < 2 || after.len() < 2 {
        return None;
    }
    let mut random = Random::new(seed);
    let longest = before.len().max(after.len());
    let mut replicates = Vec::with_capacity(2 * PAIRS + 1);
    for _ in 0..PAIRS {
        let streams = [0, 1].map(|_| (0..longest).map(|_| random.next()).collect::<Vec<u64>>());
        for (first, second) in [(0, 1), (1, 0)] {
            let from = resample(before, &streams[first]);
            let to = resample(after, &streams[second]);
            replicates.extend(twice_shift(&from, &to));
        }
    }
    replicates.sort_unstable();
    let cut = replicates.len() / 40;
    let shift = twice_shift(before, after)?;
    let low = (*replicates.get(cut)?).min(shift);
    let high = replicates[replicates.len() - 1 - cut].max(shift);
    Some([half_down(low), half_up(high)])
}

fn resample(sorted: &[i64], stream: &[u64]) -> Vec<i64> {
    let picks = stream.iter().take(sorted.len());
    let mut sample: Vec<i64> = picks.map(|&r| sorted[below(r, sorted.len())]).collect();
    sample.sort_unstable();
    sample
}

/// Twice the shift of two sorted samples: exact, where the shift has halves.
fn twice_shift(before: &[i64], after: &[i64]) -> Option<i128> {
    let pairs = before.len() as u128 * after.len() as u128;
    let low = (pairs.checked_sub(1)?) / 2;
    let high = pairs / 2;
    let middle = kth_difference(before, after, low);
    let other = if low == high {
        middle
    } else {
        kth_difference(before, after, high)
    };
    Some(middle + other)
}

/// The `k`-th smallest difference (from 0), by bisection of its value: a list
/// of all n·m differences would be too much for thousands of resamples.
fn kth_difference(before: &[i64], after: &[i64], k: u128) -> i128 {
    let wide = |v: Option<&i64>| v.map_or(0, |&v| i128::from(v));
    let mut low = wide(after.first()) - wide(before.last());
    let mut high = wide(after.last()) - wide(before.first());
    while low < high {
        let middle = low + (high - low) / 2;
        if count_up_to(before, after, middle) > k {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// How many differences are at most `limit`.
fn count_up_to(before: &[i64], after: &[i64], limit: i128) -> u128 {
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
}

fn half(twice: i128) -> i64 {
    narrow(twice / 2)
}

fn half_down(twice: i128) -> i64 {
    narrow(twice.div_euclid(2))
}

fn half_up(twice: i128) -> i64 {
    narrow(-(-twice).div_euclid(2))
}

fn narrow(wide: i128) -> i64 {
    wide.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}
