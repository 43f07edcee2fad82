//! The percentile bootstrap interval of the shift, which verdicts do not use:
//! with the few boots that there are it is too narrow. `docs/tables/verdicts.md`
//! shows by how much, and this is what it measures.

use super::pairs::{Pairs, narrow};
use super::random::{Random, below};

/// Pairs of resamples; each gives two replicates of the shift.
const PAIRS: usize = 2000;

/// The 95 % percentile bootstrap interval of the Hodges–Lehmann shift, ns;
/// widened to contain the shift, and rounded outwards. `None` with fewer than
/// two values on a side: one value says nothing about its spread.
///
/// Each pair of resamples is drawn by two streams of random numbers, and used
/// twice with the streams exchanged: so to swap the sides changes the sign of
/// the interval and nothing else.
pub fn interval(before: &[i64], after: &[i64], seed: u64) -> Option<[i64; 2]> {
    if before.len() < 2 || after.len() < 2 {
        return None;
    }
    let mut sides = [before.to_vec(), after.to_vec()];
    sides.iter_mut().for_each(|s| s.sort_unstable());
    let [before, after] = &sides;
    let mut random = Random::new(seed);
    let longest = before.len().max(after.len());
    let mut replicates = Vec::with_capacity(2 * PAIRS + 1);
    for _ in 0..PAIRS {
        let streams = [0, 1].map(|_| (0..longest).map(|_| random.next()).collect::<Vec<u64>>());
        for (first, second) in [(0, 1), (1, 0)] {
            let from = resample(before, &streams[first]);
            let to = resample(after, &streams[second]);
            replicates.extend(Pairs::of(&from, &to).twice_median());
        }
    }
    replicates.sort_unstable();
    let cut = replicates.len() / 40;
    let shift = Pairs::of(before, after).twice_median()?;
    let low = (*replicates.get(cut)?).min(shift);
    let high = replicates[replicates.len() - 1 - cut].max(shift);
    Some([narrow(low.div_euclid(2)), narrow(-(-high).div_euclid(2))])
}

fn resample(sorted: &[i64], stream: &[u64]) -> Vec<i64> {
    let picks = stream.iter().take(sorted.len());
    picks.map(|&r| sorted[below(r, sorted.len())]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_boot_says_nothing_of_its_spread() {
        assert_eq!(interval(&[1], &[1, 2], 1), None);
        assert_eq!(interval(&[1, 2], &[1], 1), None);
        assert!(interval(&[1, 2], &[1, 2], 1).is_some());
    }
}
