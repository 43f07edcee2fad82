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

use crate::stats::{
    ALPHA, FEWEST, FEWEST_PAIRS, Question, Sessions, effect, effect_of_pairs_alone, median,
};

/// A single boot on a side may be off by this share for its perturbation alone: the
/// measured spread is 0.36 % of the kernel's time.
const PERTURBATION_SHARE: i64 = 200;

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
    /// What the interval allows for, as all boots before may have been made
    /// before all boots after.
    pub sessions: Option<Sessions>,
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
        sessions: None,
    };
    let pairs = if simulated {
        pairs(before, after)
    } else {
        Vec::new()
    };
    if !pairs.is_empty() {
        return Some(paired(plain, &pairs));
    }
    let mut effect = effect(&sides[0], &sides[1], &Question::once(0));
    if !simulated {
        effect = effect.of_sessions(&sides[0], &sides[1]);
    }
    if counts.iter().any(|&n| n < FEWEST) {
        return Some(plain);
    }
    let sessions = effect.sessions.filter(|s| s.apart_ns > 0);
    let apart = sessions.map_or(0, |s| s.apart_ns);
    let [low, high] = effect.interval_ns;
    let [low, high] = [low.saturating_sub(apart), high.saturating_add(apart)];
    // The test and the interval must both say so.
    let sure = effect.p <= ALPHA;
    Some(Growth {
        shift: effect.shift_ns,
        interval: Some(if sure {
            [low, high]
        } else {
            [low.min(0), high.max(0)]
        }),
        how: How::Samples(counts),
        sessions,
        ..plain
    })
}

/// What the same perturbations have on both sides, of medians.
fn pairs(before: &[Keyed], after: &[Keyed]) -> Vec<(i64, i64)> {
    let of = |side: &[Keyed], key: &str| {
        let same = side.iter().filter(|v| v.0 == Some(key)).map(|v| v.1);
        median(&same.collect::<Vec<i64>>())
    };
    let mut keys: Vec<&str> = before.iter().filter_map(|v| v.0).collect();
    keys.sort_unstable();
    keys.dedup();
    let pair = |key: &&str| Some((of(before, key)?, of(after, key)?));
    keys.iter().filter_map(pair).collect()
}

fn paired(plain: Growth, pairs: &[(i64, i64)]) -> Growth {
    let n = pairs.len();
    let effect = effect_of_pairs_alone(pairs, &Question::once(0));
    if n >= FEWEST_PAIRS {
        return Growth {
            shift: effect.shift_ns,
            interval: Some(effect.interval_ns),
            how: How::Pairs(n),
            ..plain
        };
    }
    let perturbation = plain.before.saturating_abs() / PERTURBATION_SHARE;
    let deltas = pairs
        .iter()
        .map(|(before, after)| after.saturating_sub(*before));
    let shift = median(&deltas.collect::<Vec<i64>>()).unwrap_or(0);
    // Not one instruction differs: there is nothing to be unsure of.
    let equal = pairs.iter().all(|(before, after)| before == after);
    Growth {
        shift,
        interval: Some(match equal {
            true => [0, 0],
            // With few pairs the perturbation may be all that differs.
            false => [
                shift.saturating_sub(perturbation),
                shift.saturating_add(perturbation),
            ],
        }),
        how: if equal {
            How::Pairs(n)
        } else {
            How::Few([n, n])
        },
        ..plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn boards_are_two_samples_of_two_sessions() {
        let before: Vec<i64> = (0..10).map(|i| 1000 + i * 7 % 10).collect();
        let after = |more: i64| before.iter().map(|v| v + more).collect::<Vec<i64>>();
        let grown = of(&before, &after(100), false);
        assert_eq!((grown.shift, grown.how), (100, How::Samples([10, 10])));
        assert!(grown.interval.unwrap()[0] > 0);
        // A growth as large as the boots' spread may be another day.
        let little = of(&before, &after(5), false);
        assert!(little.interval.unwrap()[0] <= 0, "{little:?}");
        assert_eq!(
            little.sessions.map(|s| (s.apart_ns, s.drift_ns)),
            Some((4, 0))
        );
    }
}
