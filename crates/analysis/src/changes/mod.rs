//! Where a series of results changed: between which two commits.
//!
//! A series lies on levels, with noise about them. What is sought are the
//! levels that explain it best, where each change of level costs as much as a
//! few results that lie far off (`levels`); so noise makes no change, and two
//! results on a new level do. One result counts no more than so much, however
//! far off it is: an outlier is no level (the bounded loss of Fearnhead and
//! Rigaill 2019). How large the noise is, the series says itself (`noise`):
//! whatever its shape, whether it comes in ticks of a clock or in two heaps.
//!
//! In simulated time results that mean the same are the same, and there is
//! nothing to weigh: any difference is a change.

mod levels;
mod noise;
#[cfg(test)]
mod tests;

use serde::Serialize;

use levels::levels;
use noise::noise;

/// What is known of a series beside its values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Measured: each value is the median of some boots, which by themselves
    /// let it vary so much (a standard deviation; 0 if that is not known).
    Measured(f64),
    /// Simulated: equal boots take equally long.
    Simulated,
}

/// When a difference is a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sensitivity {
    /// The smallest change, as a share of the value: 0.01 for 1 %.
    pub least: f64,
}

/// A change in a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Index of the first value after it.
    pub at: usize,
    /// The median from the change before it on.
    pub before: f64,
    /// The median until the change after it.
    pub after: f64,
    /// The noise of one result, a standard deviation; 0 if there is none.
    pub noise: f64,
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
pub fn changes(series: &[f64], kind: Kind, sensitivity: &Sensitivity) -> Vec<Change> {
    if series.iter().any(|v| !v.is_finite()) {
        return Vec::new();
    }
    let noise = noise(series, kind);
    let mut at = match noise {
        None => Vec::new(),
        Some(0.0) => (1..series.len())
            .filter(|&i| series[i] != series[i - 1])
            .collect(),
        Some(noise) => levels(series, noise),
    };
    loop {
        let changes = told(series, &at, noise.unwrap_or(0.0));
        let by_size = |a: &&Change, b: &&Change| a.magnitude().total_cmp(&b.magnitude());
        let smallest = changes.iter().min_by(by_size);
        match smallest.filter(|c| c.magnitude() < sensitivity.least) {
            Some(small) => at.retain(|a| *a != small.at),
            None => return changes,
        }
    }
}

fn told(series: &[f64], at: &[usize], noise: f64) -> Vec<Change> {
    let ends = at.iter().skip(1).copied().chain([series.len()]);
    let starts = std::iter::once(0).chain(at.iter().copied());
    let splits = at.iter().zip(starts.zip(ends));
    let change = |(&at, (start, end)): (&usize, (usize, usize))| Change {
        at,
        before: median(&series[start..at]),
        after: median(&series[at..end]),
        noise,
    };
    splits.map(change).collect()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len();
    (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0
}
