//! Trials as a document: `try --json`.

use bootlap_analysis::{Delta, Moved, Trial};
use schemars::JsonSchema;
use serde::Serialize;

use crate::boot::json::PredictedTimeJson;
use crate::json::{FORMAT, id, line};

/// One recipe, measured against the baseline.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TrialJson {
    /// The recipe, or recipes joined by `+`.
    pub recipe: String,
    /// Median time to ready without it.
    pub before_ns: i64,
    /// Median time to ready with it.
    pub after_ns: i64,
    /// The saving: the Hodges–Lehmann shift of the two sides, positive is
    /// faster. A duration.
    pub saved_ns: i64,
    /// 95 % interval of the saving.
    pub interval_ns: [i64; 2],
    /// Two-sided p of the test (`docs/statistics.md`).
    pub p: f64,
    /// `faster`, `slower`, `equivalent` or `unknown`.
    pub verdict: String,
    /// Within this distance of zero a saving is `equivalent`.
    pub margin_ns: i64,
    /// Boots of each side: without and with the recipe.
    pub samples: [usize; 2],
    /// Boots of each side that never got ready.
    pub not_ready: [usize; 2],
    /// By phase.
    pub phases: Vec<Delta>,
    /// Savings that came back elsewhere.
    pub moved: Vec<Moved>,
    /// What it is predicted to save on the board that the target describes in
    /// `[board]`; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<PredictedTimeJson>,
}

/// Recipes, each measured against the target as it is: `bootlap try --json`.
///
/// All times are integer nanoseconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TrialsJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// The target's name.
    pub target: String,
    /// How it was measured: `sim` or `plain`.
    pub mode: String,
    /// In the order in which they were asked for.
    pub trials: Vec<TrialJson>,
}

/// What `try --json` prints.
///
/// # Errors
/// None for any trials.
pub fn json(
    trials: &[Trial],
    target: &str,
    mode: &str,
    tool: &str,
) -> Result<String, serde_json::Error> {
    line(&TrialsJson {
        format: FORMAT,
        tool: tool.to_owned(),
        target: target.to_owned(),
        mode: mode.to_owned(),
        trials: trials.iter().map(trial).collect(),
    })
}

/// One trial as the document has it.
pub(crate) fn trial(trial: &Trial) -> TrialJson {
    let effect = &trial.effect;
    let [low, high] = effect.interval_ns;
    TrialJson {
        recipe: trial.recipe.clone(),
        before_ns: trial.before_ns,
        after_ns: trial.after_ns,
        saved_ns: effect.shift_ns.saturating_neg(),
        // The change's interval, turned round.
        interval_ns: [high, low].map(i64::saturating_neg),
        p: if effect.p.is_finite() { effect.p } else { 1.0 },
        verdict: id(&effect.verdict),
        margin_ns: effect.margin_ns,
        samples: effect.samples,
        not_ready: trial.not_ready,
        phases: trial.phases.clone(),
        moved: trial.moved.clone(),
        predicted: trial.predicted.map(PredictedTimeJson::from),
    }
}
