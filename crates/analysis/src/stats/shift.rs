//! Where a sample lies, and how far apart two samples are.

use super::pairs::{Pairs, narrow};

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
    Pairs::of(before, after).twice_median().map(half)
}

/// Half of a doubled value, towards 0.
pub(super) fn half(twice: i128) -> i64 {
    narrow(twice / 2)
}
