//! The steps of a search on one axis of time, to stand beside those of others.
//!
//! What a recipe saves depends on the board: where a serial console or slow flash takes
//! the time, other recipes pay than where the CPU does. Axes beside each other show it.

use bootlap_analysis::{Trial, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{LeftOut, Tuning};
use crate::About;

/// A set of recipes on one axis of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "WaterfallJson")]
pub struct Waterfall {
    /// Whose time: `board d0265ce3`, `simulated time`.
    pub axis: String,
    /// Time to ready of the start, ns.
    pub before_ns: i64,
    /// The same with all steps, ns.
    pub after_ns: i64,
    /// What was kept there, in the order in which it is applied.
    pub steps: Vec<Fall>,
    /// What was tried there and not kept.
    pub left_out: Vec<String>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "FallJson")]
pub struct Fall {
    /// As it is typed.
    pub recipe: String,
    /// What it saves on top of the steps before it, ns.
    pub saved_ns: i64,
}

/// Why a document is not that of a search.
#[derive(Debug, Error)]
#[error("not what `bootlap tune` wrote: {0}")]
pub struct NotATuning(#[from] serde_json::Error);

impl Waterfall {
    /// That of trials which were made on top of those before them that helped; `None` if
    /// none did.
    pub fn of_trials(about: &About, trials: &[Trial]) -> Option<Self> {
        let kept: Vec<&Trial> = trials
            .iter()
            .filter(|trial| trial.effect.verdict == Verdict::Faster)
            .collect();
        Some(Self {
            axis: axis(&about.time, about.model.as_deref()),
            before_ns: kept.first()?.before_ns,
            after_ns: kept.last()?.after_ns,
            steps: kept.into_iter().map(Fall::of).collect(),
            left_out: Vec::new(),
        })
    }

    /// That of `tuning` itself.
    pub fn of(tuning: &Tuning) -> Self {
        let steps = tuning.steps.iter().map(|step| Fall::of(&step.trial));
        Self {
            axis: axis(&tuning.about.time, tuning.about.model.as_deref()),
            before_ns: tuning.proof.before_ns,
            after_ns: tuning.proof.after_ns,
            steps: steps.collect(),
            left_out: tuning.left_out.iter().map(|o| o.recipe.clone()).collect(),
        }
    }

    /// That of an earlier search, from its `tune.json`.
    ///
    /// # Errors
    /// If `document` is something else.
    pub fn read(document: &[u8]) -> Result<Self, NotATuning> {
        let written: Written = serde_json::from_slice(document)?;
        let whose = axis(&written.time, written.model.as_deref());
        Ok(Self {
            axis: format!("{}, {whose}", written.target),
            before_ns: written.before_ns,
            after_ns: written.after_ns,
            steps: written.steps,
            left_out: written.left_out.into_iter().map(|o| o.recipe).collect(),
        })
    }

    /// What `recipe` saves there, ns; `None` if it was not kept.
    pub fn saved_ns(&self, recipe: &str) -> Option<i64> {
        let mut steps = self.steps.iter();
        steps.find(|s| s.recipe == recipe).map(|s| s.saved_ns)
    }
}

impl Fall {
    fn of(trial: &Trial) -> Self {
        Self {
            recipe: trial.recipe.clone(),
            saved_ns: trial.effect.shift_ns.saturating_neg(),
        }
    }
}

fn axis(time: &str, model: Option<&str>) -> String {
    match model {
        Some(model) => format!("board {model}"),
        None => format!("{time} time"),
    }
}

/// The part of `tune.json` that is read again.
#[derive(Deserialize)]
struct Written {
    target: String,
    time: String,
    #[serde(default)]
    model: Option<String>,
    before_ns: i64,
    after_ns: i64,
    steps: Vec<Fall>,
    left_out: Vec<LeftOut>,
}
