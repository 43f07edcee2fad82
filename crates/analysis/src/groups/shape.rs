//! How the values of a group lie: together, in two heaps, or with some far out.

use serde::{Deserialize, Serialize};

use crate::stats::{mad, median};

/// How values lie. Nothing is ever left out for it: it is only said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Values that are far from all others, by index.
    pub outliers: Vec<usize>,
    /// Two heaps instead of one, the shorter times first.
    pub modes: Option<[Mode; 2]>,
}

/// A heap of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mode {
    /// Its median, ns.
    pub median_ns: i64,
    /// How many values are in it.
    pub samples: usize,
}

/// Fewer values in a heap are outliers.
const LEAST: usize = 3;

impl Shape {
    /// Of values in any order.
    pub fn of(values: &[i64]) -> Self {
        let modes = modes(values);
        let outliers = match modes.is_none() {
            true => outliers(values),
            false => Vec::new(),
        };
        Self { outliers, modes }
    }
}

/// Two heaps, if what lies between them is wider than either and they are no
/// hair's breadth apart.
fn modes(values: &[i64]) -> Option<[Mode; 2]> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let least = LEAST.max(sorted.len() / 5);
    let last = sorted.len().checked_sub(least)?;
    let gap = |at: usize| sorted[at].saturating_sub(sorted[at - 1]);
    let at = (least..=last).max_by_key(|at| gap(*at))?;
    let (low, high) = sorted.split_at(at);
    let width = |heap: &[i64]| heap[heap.len() - 1].saturating_sub(heap[0]);
    let wider = width(low).max(width(high));
    let middle = median(&sorted)?.saturating_abs();
    let apart = gap(at) > wider.saturating_add(wider / 2) && gap(at) > middle / 200;
    let mode = |heap: &[i64]| Mode {
        median_ns: median(heap).unwrap_or(0),
        samples: heap.len(),
    };
    apart.then(|| [mode(low), mode(high)])
}

/// Farther from the median than five deviations (of a normal distribution:
/// one value in two million), and than 0.5 % of it.
fn outliers(values: &[i64]) -> Vec<usize> {
    if values.len() < 5 {
        return Vec::new();
    }
    let (Some(middle), Some(mad)) = (median(values), mad(values)) else {
        return Vec::new();
    };
    let far = (mad.saturating_mul(74) / 10).max(middle.saturating_abs() / 200);
    let all = values.iter().enumerate();
    let far = all.filter(|(_, v)| v.abs_diff(middle) > far.unsigned_abs());
    far.map(|(at, _)| at).collect()
}
