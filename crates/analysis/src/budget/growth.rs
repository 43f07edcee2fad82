//! By how much a value grew, and how sure that is.
//!
//! Boots in simulated time are exact, but a change of anything moves code and
//! data about, and with it the time: by up to 0.4 % of the kernel's, in steps,
//! as its allocations fall on one side of a boundary or the other
//! (`docs/tables/check.md`). So a build is booted in several perturbations, and each
//! perturbation of one side is compared with the same perturbation of the other: that takes
//! out what the perturbation does, and leaves what the change does. The growth is the
//! Hodges–Lehmann estimate of the pairs (the median of the means of all two of
//! them), its interval is that of Wilcoxon's signed rank test.
//!
//! Boots that cannot be paired, those of a board, are two samples: see
//! [`stats`](crate::stats).

use serde::Serialize;

use crate::stats::{Question, effect, median};

/// A single boot on a side may be off by this share for its perturbation alone: the
/// measured spread is 0.36 % of the kernel's time.
const PERTURBATION_SHARE: i64 = 200;
/// More pairs than this are cut off; nobody boots so many perturbations.
const MOST_PAIRS: usize = 500;

/// How a growth was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// So many pairs of boots with the same perturbation.
    Pairs(usize),
    /// Two samples of so many boots.
    Samples([usize; 2]),
    /// Too few for statistics: see the interval.
    Few([usize; 2]),
}

/// By how much a value grew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Growth {
    /// The median before.
    pub before: i64,
    /// The median now.
    pub after: i64,
    /// The best estimate of the growth; negative if it shrank.
    pub shift: i64,
    /// The growth lies in it, with 95 % or as a bound; `None` if nothing is
    /// known of it.
    pub interval: Option<[i64; 2]>,
    /// From what.
    pub how: How,
}

/// A value of one boot, and what to pair it by.
pub(super) type Keyed<'k> = (Option<&'k str>, i64);

/// By how much `after` is more than `before`; `None` if a side has no values.
pub(super) fn growth(before: &[Keyed], after: &[Keyed], simulated: bool) -> Option<Growth> {
    let values = |side: &[Keyed]| side.iter().map(|v| v.1).collect::<Vec<i64>>();
    let sides = [values(before), values(after)];
    let (from, to) = (median(&sides[0])?, median(&sides[1])?);
    let counts = [before.len(), after.len()];
    let plain = Growth {
        before: from,
        after: to,
        shift: to.saturating_sub(from),
        interval: None,
        how: How::Few(counts),
    };
    let pairs = if simulated {
        pairs(before, after)
    } else {
        Vec::new()
    };
    if !pairs.is_empty() {
        return Some(paired(plain, &pairs));
    }
    let effect = effect(&sides[0], &sides[1], &Question::once(0));
    if counts.iter().all(|&n| n >= 4) {
        // The permutation test and the interval must both say so.
        let sure = effect.p <= crate::stats::ALPHA;
        let [low, high] = effect.interval_ns;
        let interval = if sure {
            [low, high]
        } else {
            [low.min(0), high.max(0)]
        };
        return Some(Growth {
            shift: effect.shift_ns,
            interval: Some(interval),
            how: How::Samples(counts),
            ..plain
        });
    }
    Some(plain)
}

/// What the same perturbations have on both sides: second minus first, of medians.
fn pairs(before: &[Keyed], after: &[Keyed]) -> Vec<i64> {
    let of = |side: &[Keyed], key: &str| {
        let same = side.iter().filter(|v| v.0 == Some(key)).map(|v| v.1);
        median(&same.collect::<Vec<i64>>())
    };
    let mut keys: Vec<&str> = before.iter().filter_map(|v| v.0).collect();
    keys.sort_unstable();
    keys.dedup();
    let pair = |key: &&str| Some(of(after, key)?.saturating_sub(of(before, key)?));
    keys.iter().filter_map(pair).take(MOST_PAIRS).collect()
}

fn paired(plain: Growth, deltas: &[i64]) -> Growth {
    let n = deltas.len();
    let mut means: Vec<i128> = Vec::with_capacity(n * (n + 1) / 2);
    for (i, a) in deltas.iter().enumerate() {
        means.extend(deltas[i..].iter().map(|b| i128::from(*a) + i128::from(*b)));
    }
    means.sort_unstable();
    let narrow = |twice: i128| (twice / 2).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    let middle = (means[(means.len() - 1) / 2] + means[means.len() / 2]) / 2;
    let outer = signed_rank(n).map(|k| [narrow(means[k]), narrow(means[means.len() - 1 - k])]);
    let equal = deltas.iter().all(|d| *d == 0);
    let perturbation = plain.before.saturating_abs() / PERTURBATION_SHARE;
    let shift = narrow(middle);
    // Not one instruction differs: there is nothing to be unsure of.
    let interval = if equal {
        Some([0, 0])
    } else {
        // With few pairs the perturbation may be all that differs.
        outer.or(Some([
            shift.saturating_sub(perturbation),
            shift.saturating_add(perturbation),
        ]))
    };
    Growth {
        shift,
        interval,
        how: if outer.is_some() || equal {
            How::Pairs(n)
        } else {
            How::Few([n, n])
        },
        ..plain
    }
}

/// The rank (from 0) of the means of pairs that bound the growth with 95 %, by
/// the exact distribution of the signed rank; `None` below six pairs, which
/// cannot tell.
fn signed_rank(n: usize) -> Option<usize> {
    let most = n * (n + 1) / 2;
    // How likely each sum of positive ranks is.
    let mut chance = vec![0.0_f64; most + 1];
    chance[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..=most).rev() {
            let with = if sum >= rank { chance[sum - rank] } else { 0.0 };
            chance[sum] = (chance[sum] + with) / 2.0;
        }
    }
    let mut below = 0.0;
    let mut found = None;
    for (sum, p) in chance.iter().enumerate() {
        below += p;
        if 2.0 * below > 0.05 {
            break;
        }
        found = Some(sum);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_tables() {
        // Hollander and Wolfe, table A.4: the largest sum with two-sided p ≤ 5 %.
        let table = [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (12, 13), (20, 52)];
        for (n, rank) in table {
            assert_eq!(signed_rank(n), Some(rank), "{n}");
        }
        assert_eq!(signed_rank(5), None);
    }

    fn keyed(values: &[i64]) -> Vec<(Option<String>, i64)> {
        let values = values.iter().enumerate();
        values.map(|(i, v)| (Some(i.to_string()), *v)).collect()
    }

    fn of(before: &[i64], after: &[i64], simulated: bool) -> Growth {
        let (before, after) = (keyed(before), keyed(after));
        let refs = |v: &'_ [(Option<String>, i64)]| -> Vec<(Option<String>, i64)> { v.to_vec() };
        let (b, a) = (refs(&before), refs(&after));
        let b: Vec<Keyed> = b.iter().map(|(k, v)| (k.as_deref(), *v)).collect();
        let a: Vec<Keyed> = a.iter().map(|(k, v)| (k.as_deref(), *v)).collect();
        growth(&b, &a, simulated).unwrap()
    }

    #[test]
    fn pairs_see_through_the_layout() {
        // Two clusters 1000 apart, and a growth of 10 in each perturbation.
        let before = [5000, 4000, 4003, 4001, 5001, 5003, 4002, 4004];
        let after = before.map(|v| v + 10);
        let paired = of(&before, &after, true);
        assert_eq!((paired.shift, paired.interval), (10, Some([10, 10])));
        let samples = of(&before, &after, false);
        assert!(samples.interval.unwrap()[0] <= 0, "{samples:?}");
        assert_eq!(of(&before, &before, true).interval, Some([0, 0]));
    }

    #[test]
    fn one_boot_on_a_side_cannot_tell() {
        let one = of(&[1_000_000], &[1_001_000], true);
        assert_eq!(one.interval, Some([-4_000, 6_000]));
        assert_eq!(one.how, How::Few([1, 1]));
        let board = of(&[1_000_000], &[2_000_000], false);
        assert_eq!((board.shift, board.interval), (1_000_000, None));
        let extreme = of(&[i64::MIN; 6], &[i64::MAX; 6], true);
        assert_eq!(extreme.shift, i64::MAX);
    }

    #[test]
    fn boards_are_two_samples() {
        let before: Vec<i64> = (0..10).map(|i| 1000 + i).collect();
        let after: Vec<i64> = (0..10).map(|i| 1100 + i).collect();
        let grown = of(&before, &after, false);
        assert_eq!((grown.shift, grown.how), (100, How::Samples([10, 10])));
        assert!(grown.interval.unwrap()[0] > 0);
    }
}
