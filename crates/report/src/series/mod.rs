//! A target booted many times, as it is shown.

mod html;
mod json;
mod text;

pub use html::{Against, Beside, html};
pub use json::{LapJson, LapPhaseJson, PhaseSpreadJson, SeriesJson, json};
pub use text::text;

use bootlap_analysis::{Lap, Series, series};

use crate::About;

/// All that is shown of a series of boots.
pub struct SeriesReport {
    /// What was booted and how: what all boots have in common.
    pub about: About,
    /// Times, and how far they are apart.
    pub series: Series,
    /// What the times do not say, of each boot.
    pub laps: Vec<LapAbout>,
}

/// What is known of one boot of a series beside its times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LapAbout {
    /// Its run's folder, as the user would type it.
    pub run: String,
    /// Why it never got ready; `None` if it did.
    pub why_not: Option<String>,
    /// How long the command that switched the board on took, ms.
    pub power_ms: Option<u64>,
}

impl SeriesReport {
    /// The report of these boots, in order.
    pub fn new(about: About, boots: Vec<(Lap, LapAbout)>) -> Self {
        let (times, laps) = boots.into_iter().unzip();
        Self {
            about,
            series: series(times),
            laps,
        }
    }
}
