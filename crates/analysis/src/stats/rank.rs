//! The permutation test of the rank sum (Wilcoxon, Mann–Whitney).
//!
//! Equal values on both sides count as if they stood in the order that says
//! least: then the test needs no correction for ties, and never claims more
//! than its interval does.

use super::null::Null;
use super::pairs::Pairs;

/// p of the hypothesis that both samples come from one distribution, against
/// any shift. In (0, 1]; 1 if a side is empty.
pub fn two_sided(before: &[i64], after: &[i64]) -> f64 {
    let pairs = Pairs::of(before, after);
    two_sided_of(&pairs, &Null::of(&pairs.sizes()))
}

/// p of the hypothesis that `after` is not above `before`: small if `after` is
/// greater.
pub fn greater(before: &[i64], after: &[i64]) -> f64 {
    let pairs = Pairs::of(before, after);
    Null::of(&pairs.sizes()).up_to(pairs.up_to(0))
}

pub(super) fn two_sided_of(pairs: &Pairs, null: &Null) -> f64 {
    let not_above = pairs.up_to(0);
    let not_below = pairs.len() - pairs.up_to(-1);
    (2.0 * null.up_to(not_above.min(not_below))).min(1.0)
}
