//! Reports: what people and programs read of a boot.
//!
//! There is a folder for each document: one boot ([`boot`]), a table about it
//! ([`table`]), advice ([`findings`]), two groups of boots ([`groups`]), and so on. In
//! it stand its text for a terminal, its JSON, and its other forms, side by side. A
//! [`Sink`] writes one boot's [`Report`] to a file; `bootlap-export` has those of other
//! programs' formats, and the list of all.
//!
//! All are pure: the same report gives the same bytes, and what analysis says is in the
//! report or asked of it ([`Report::answers`]). Names and lines come from evidence, which
//! is treated as hostile text everywhere ([`clean`]).

pub mod apply;
pub mod boot;
pub mod builds;
pub mod calibration;
pub mod catalogue;
mod charts;
pub mod check;
pub mod clean;
pub mod comparison;
mod csv;
pub mod doctor;
pub mod evidence;
pub mod explain;
pub mod findings;
pub mod format;
pub mod groups;
pub mod here;
pub mod history;
pub mod imported;
pub mod inspect;
mod json;
mod markdown;
pub mod rc;
pub mod reduced;
mod schemas;
pub mod series;
mod sink;
pub mod store;
pub mod table;
mod terminal;
pub mod trials;
pub mod tuning;
pub mod units;
pub mod xml;

pub use json::{FORMAT, id};
pub use schemas::schemas;
pub use sink::{Sink, SinkError, buffered};
pub use terminal::Style;

use bootlap_advice::Finding;
use bootlap_analysis::cost::Cost;
use bootlap_analysis::disks::FileRead;
use bootlap_analysis::experiment::Trial;
use bootlap_analysis::gap::Gap;
use bootlap_analysis::phase::Phase;
use bootlap_analysis::{Answers, Comparison, Disks, Prediction, compare};
use bootlap_model::{FileId, Timeline, shell_word};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::LazyLock;

use tuning::Waterfall;

/// Raw evidence by file: the bytes that [`bootlap_model::Evidence`] counts.
pub type Bytes = BTreeMap<FileId, Vec<u8>>;

/// The same for as many files as are worth keeping, read when somebody wants to show them: most
/// reports are a few lines about a long log.
pub struct Texts(LazyLock<Bytes, Box<dyn FnOnce() -> Bytes + Send>>);

impl Texts {
    /// What `read` gives, called once or never.
    pub fn reading(read: impl FnOnce() -> Bytes + Send + 'static) -> Self {
        Self(LazyLock::new(Box::new(read)))
    }
}

impl Default for Texts {
    fn default() -> Self {
        Self::reading(Bytes::new)
    }
}

impl<const N: usize> From<[(FileId, Vec<u8>); N]> for Texts {
    fn from(bytes: [(FileId, Vec<u8>); N]) -> Self {
        Self::reading(move || Bytes::from(bytes))
    }
}

impl Deref for Texts {
    type Target = Bytes;

    fn deref(&self) -> &Bytes {
        &self.0
    }
}

/// All that the sinks show of one boot.
pub struct Report<'a> {
    /// What was booted and how.
    pub about: About,
    /// The evidence, merged.
    pub timeline: &'a Timeline,
    /// What else analyses say of it.
    pub answers: Answers<'a>,
    /// The raw bytes of what is evidence, for showing its lines.
    pub texts: &'a Texts,
    /// Its splits.
    pub phases: Vec<Phase>,
    /// Its silences, largest first.
    pub gaps: Vec<Gap>,
    /// Its largest costs.
    pub costs: Vec<Cost>,
    /// What its disks were asked for, where a lab has seen it.
    pub disks: Option<Disks>,
    /// Which files were read from the disk, most bytes first, if anybody asked.
    pub files: Vec<FileRead>,
    /// What to change, best first.
    pub findings: Vec<Finding>,
    /// What was tried, and what came of it.
    pub trials: Vec<Trial>,
    /// Whether each trial was made on top of those before it that helped.
    pub steps: bool,
    /// Those steps from the start to the end, and on other axes of time beside them.
    pub waterfalls: Vec<Waterfall>,
    /// What it is predicted to take on a real board, if its target describes
    /// one.
    pub predicted: Option<Prediction>,
    /// The boot that this one is compared with, if any (say, the stock one).
    pub before: Option<Box<Report<'a>>>,
    /// This boot against `before`.
    pub comparison: Option<Comparison>,
    /// The groups of boots that these two are the most typical of.
    pub groups: Option<groups::GroupsJson>,
}

impl<'a> Report<'a> {
    /// A report that shows only the events; its other fields are for whoever analysed
    /// them.
    pub fn new(about: About, timeline: &'a Timeline, texts: &'a Texts) -> Self {
        Self {
            about,
            timeline,
            answers: Answers::of(timeline),
            texts,
            phases: Vec::new(),
            gaps: Vec::new(),
            costs: Vec::new(),
            disks: None,
            files: Vec::new(),
            findings: Vec::new(),
            trials: Vec::new(),
            steps: false,
            waterfalls: Vec::new(),
            predicted: None,
            before: None,
            comparison: None,
            groups: None,
        }
    }

    /// The same report, compared with `before`.
    #[must_use]
    pub fn against(mut self, before: Report<'a>) -> Self {
        self.comparison = Some(compare(before.timeline, self.timeline));
        self.before = Some(Box::new(before));
        self
    }
}

impl About {
    /// What to name the target by in a command.
    pub(crate) fn typed(&self) -> String {
        shell_word(if self.path.is_empty() {
            &self.target
        } else {
            &self.path
        })
    }
}

/// What was booted and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct About {
    /// The target's folder as it was typed, for commands to copy; empty if
    /// unknown.
    #[serde(skip)]
    pub path: String,
    /// The version of bootlap.
    #[serde(skip)]
    pub tool: String,
    /// The run's folder.
    pub run: String,
    /// The target's name.
    pub target: String,
    /// The machine and its settings in a few words.
    pub machine: String,
    /// How it was measured: `sim`, `plain`, `board`, or empty if unknown.
    pub mode: String,
    /// The kind of time: `simulated` or `measured`; kinds never mix.
    pub time: String,
    /// Eight digits that tell the board in whose time it was made from others; null unless
    /// time was modelled.
    pub model: Option<String>,
    /// Whether two boots were bit for bit the same; null if not checked.
    pub identical: Option<bool>,
    /// Power-on to ready; null if it never got ready.
    pub ready_ns: Option<i64>,
    /// Instructions until ready, where the machine counts them.
    pub instructions: Option<u64>,
    /// SHA-256 of the console up to ready, in hex.
    pub console_sha256: String,
}
