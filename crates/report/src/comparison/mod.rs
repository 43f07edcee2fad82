//! Two boots against each other, place by place.

pub(crate) mod markdown;
mod text;

pub use text::text;

pub(crate) use text::{ink_of, places};

use bootlap_analysis::{Comparison, Delta};

/// How many places that shrank, and that grew, are listed.
const SHOWN: usize = 6;
/// Changes below one part in this many of the boot are noise to a reader.
const SMALLEST: i64 = 2_000;

/// The places that grew, and those that shrank, without those of noise.
fn grew_and_shrank(comparison: &Comparison) -> (Vec<&Delta>, Vec<&Delta>) {
    let least = comparison.total.before_ns.unwrap_or(0) / SMALLEST;
    let changed = |d: &&Delta| d.delta_ns.saturating_abs() >= least.max(1);
    let parts = comparison.parts.iter().filter(changed);
    parts.partition(|d| d.delta_ns > 0)
}
