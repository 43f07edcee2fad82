//! A search for the best set of recipes, as it is shown.

mod json;
mod text;
mod waterfall;

pub use json::{TuningJson, TuningStepJson, json};
pub use text::text;
pub use waterfall::{Fall, NotATuning, Waterfall};

use bootlap_analysis::{Effect, Trial};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::About;

/// What a search found and proved.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// What was tuned.
    pub about: About,
    /// The start against the whole set, from boots that the search did not use.
    pub proof: Trial,
    /// What was kept, in the order in which it is applied.
    pub steps: Vec<TuningStep>,
    /// What broke the target.
    pub excluded: Vec<Excluded>,
    /// What did not pay.
    pub left_out: Vec<LeftOut>,
    /// The same steps on another axis of time, and what other searches kept.
    pub beside: Vec<Waterfall>,
    /// All boots, those of an interrupted search included.
    pub boots: usize,
    /// Why the search ended before it was through.
    pub stopped: Option<String>,
    /// The folder of the tuned target.
    pub out: String,
    /// The folder with all boots.
    pub runs: String,
}

/// A recipe that was kept.
#[derive(Clone, Debug)]
pub struct TuningStep {
    /// As it is typed.
    pub recipe: String,
    /// What it does, in one line.
    pub title: String,
    /// What may be lost by it.
    pub risk: String,
    /// With it and all before it, against all before it.
    pub trial: Trial,
    /// What leaving it out of the whole set does.
    pub without: Option<Effect>,
}

/// A recipe that broke the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ExcludedJson")]
pub struct Excluded {
    /// As it is typed.
    pub recipe: String,
    /// What happened.
    pub why: String,
    /// The last lines of the console.
    #[serde(rename = "console_tail")]
    pub tail: Vec<String>,
    /// The run that shows it.
    pub run: Option<String>,
}

/// A recipe that was not kept although the target boots with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "LeftOutJson")]
pub struct LeftOut {
    /// As it is typed.
    pub recipe: String,
    /// Why it was not kept.
    pub why: String,
    /// What it was last seen to save, ns.
    pub saved_ns: Option<i64>,
}
