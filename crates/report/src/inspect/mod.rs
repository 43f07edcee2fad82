//! What each piece of evidence is, and how much of it is understood.

mod json;
mod text;

pub use json::{
    InspectedClockJson, InspectedJson, InspectedNoticeJson, LinesJson, NearestJson, PlaceJson, json,
};
pub use text::text;

use bootlap_model::FileId;

/// What became of a file, or of files that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// What was given.
    pub path: String,
    /// The names of its parts, if several were read together.
    pub parts: Vec<String>,
    /// Its files in the timeline.
    pub files: Vec<FileId>,
    /// Which format it has.
    pub verdict: Verdict,
}

/// Which format something has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// This one.
    Known {
        /// The format's short name.
        source: &'static str,
        /// What it is, in a few words.
        title: &'static str,
        /// How sure that is, in percent.
        percent: u8,
    },
    /// A known kind of log that says nothing of time.
    Timeless {
        /// What it is: `coreboot's console`.
        what: &'static str,
        /// What to do to have times.
        remedy: &'static str,
    },
    /// None of those known.
    Unknown {
        /// The nearest, best first: short name, percent, what it looks like.
        nearest: Vec<(&'static str, u8, &'static str)>,
        /// The short names of all formats that were tried.
        looked_for: Vec<&'static str>,
    },
    /// It could not be read.
    Unreadable {
        /// Why not.
        why: String,
    },
    /// There are no bytes in it.
    Empty,
}
