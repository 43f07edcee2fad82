//! Budgets: limits that a boot must keep, and what is at fault if it does not.
//!
//! A limit is absolute, or says how much more than a baseline is allowed. With
//! several boots on a side the first is judged by their median, the second by
//! statistics (see `growth`): *broken* is said only when the growth is sure and
//! more than allowed, *ok* when it is surely no more, and *unknown* otherwise.

mod cause;
mod growth;
mod judge;
mod metric;
mod sample;
#[cfg(test)]
mod tests;

pub use cause::{Cause, Causes};
pub use growth::{Growth, How};
pub use judge::{Judged, State, judge, judge_one};
pub use metric::{Measures, Metric, PhaseMeasure, SpanTime, Unit, span_time};
pub use sample::Sample;

/// What must be kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budget {
    /// In the order of the file.
    pub limits: Vec<Limit>,
}

/// One limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Of what.
    pub metric: Metric,
    /// How much is allowed.
    pub bound: Bound,
    /// The line of the budget's file that says so, from 1.
    pub line: usize,
}

/// How much is allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// At most this, in the metric's unit.
    AtMost(i64),
    /// At most so much more than the baseline, in the metric's unit.
    More(i64),
    /// At most this share more than the baseline: 0.001 for 0.1 %.
    MoreShare(f64),
}

impl Bound {
    /// Whether it needs a baseline.
    pub fn is_relative(self) -> bool {
        !matches!(self, Bound::AtMost(_))
    }

    /// The growth that it allows from `before`; `None` for absolute ones.
    fn growth(self, before: i64) -> Option<i64> {
        match self {
            Bound::AtMost(_) => None,
            Bound::More(by) => Some(by),
            Bound::MoreShare(share) => Some((before as f64 * share).round() as i64),
        }
    }
}
