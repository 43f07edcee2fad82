//! A boot as budgets see it.

use bootlap_model::Timeline;

use super::metric::Measures;

/// One boot to judge, or to judge by.
#[derive(Clone, Debug)]
pub struct Sample<'t> {
    /// What was measured of it.
    pub measures: Measures,
    /// The boot itself; `None` where only results were kept.
    pub timeline: Option<&'t Timeline>,
}
