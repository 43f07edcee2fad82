//! Where a series of results changed: between which two commits.
//!
//! E-divisive (Matteson and James 2014) finds the split whose sides are most
//! unlike each other, by the mean distance between values of one side and of
//! the other; Student's t test says whether to believe it; and so on in both
//! halves. As in *Hunter* (Fleming et al. 2023, now Apache Otava) this is done
//! in overlapping windows, so that a long history does not hide a small change,
//! with a lenient test first; then the weakest splits are taken back until all
//! that are left are significant against their neighbours.
//!
//! It differs from Otava on purpose, and `tests/changes_reference.rs` compares
//! the two:
//! - A split was sought among many, so its p is multiplied by how many: a long
//!   series without a change has one no more often than a short one.
//! - Deviations are those of samples (n − 1), so two results that happen to lie
//!   close together do not make a change of the third.
//! - Values that do not vary at all, as simulated time gives them, are equal or
//!   not; there is nothing to test.
//! - A split is tested on the stretch that it was found in, so a regression
//!   that was mended soon is found, too.

mod split;
mod student;
#[cfg(test)]
mod tests;

use serde::Serialize;

use student::t_test;

/// When a difference is a change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sensitivity {
    /// How many results are looked at together, at least 2.
    pub window: usize,
    /// The largest p of a change.
    pub max_p: f64,
    /// The smallest change, as a share of the value: 0.01 for 1 %.
    pub least: f64,
}

impl Default for Sensitivity {
    fn default() -> Self {
        Self {
            window: 50,
            max_p: 0.001,
            least: 0.0,
        }
    }
}

/// A change in a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Index of the first value after it.
    pub at: usize,
    /// The mean from the change before it on.
    pub before: f64,
    /// The mean until the change after it.
    pub after: f64,
    /// p of the t test of these two stretches, times the places where it could
    /// have been.
    pub p: f64,
}

impl Change {
    /// The change as a share of what was before: 0.01 for 1 % more.
    pub fn share(&self) -> f64 {
        match self.before {
            0.0 => 0.0,
            before => self.after / before - 1.0,
        }
    }

    /// The larger of the shares seen from either side.
    fn magnitude(&self) -> f64 {
        let back = match self.after {
            0.0 => 0.0,
            after => self.before / after - 1.0,
        };
        self.share().abs().max(back.abs())
    }
}

/// The changes of a series, in order. Values that are no numbers are none.
pub fn changes(series: &[f64], sensitivity: &Sensitivity) -> Vec<Change> {
    if series.len() < 2 || series.iter().any(|v| !v.is_finite()) {
        return Vec::new();
    }
    let window = sensitivity.window.max(2);
    let lenient = (sensitivity.max_p * 10.0).min(0.5);
    let mut at = split::candidates(series, window, lenient);
    at.sort_unstable();
    at.dedup();
    keep_strong(series, at, sensitivity)
}

/// Takes the weakest split back until all are strong: each time, its
/// neighbours are tested anew against longer stretches.
fn keep_strong(series: &[f64], mut at: Vec<usize>, sensitivity: &Sensitivity) -> Vec<Change> {
    loop {
        let changes = tested(series, &at);
        let by_p = |a: &&Change, b: &&Change| a.p.total_cmp(&b.p);
        let Some(weakest) = changes.iter().max_by(by_p) else {
            return changes;
        };
        let mut worst = weakest.at;
        if weakest.p <= sensitivity.max_p {
            let by_size = |a: &&Change, b: &&Change| a.magnitude().total_cmp(&b.magnitude());
            match changes.iter().min_by(by_size) {
                Some(smallest) if smallest.magnitude() < sensitivity.least => worst = smallest.at,
                _ => return changes,
            }
        }
        at.retain(|a| *a != worst);
    }
}

/// Each split against its neighbours.
fn tested(series: &[f64], at: &[usize]) -> Vec<Change> {
    let ends = at.iter().skip(1).copied().chain([series.len()]);
    let starts = std::iter::once(0).chain(at.iter().copied());
    let splits = at.iter().zip(starts.zip(ends));
    let change = |(&at, (start, end)): (&usize, (usize, usize))| {
        let (left, right) = (&series[start..at], &series[at..end]);
        Change {
            at,
            before: mean(left),
            after: mean(right),
            p: p_of_split(left, right),
        }
    };
    splits.map(change).collect()
}

/// p of a split that was sought among all splits of these values.
fn p_of_split(left: &[f64], right: &[f64]) -> f64 {
    let places = (left.len() + right.len()).saturating_sub(1);
    (t_test(left, right) * places as f64).min(1.0)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
