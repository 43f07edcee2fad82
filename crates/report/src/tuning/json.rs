//! A search for the best set of recipes as a document.

use schemars::JsonSchema;
use serde::Serialize;

use bootlap_analysis::Effect;

use crate::json::FORMAT;
use crate::trials::{TrialJson, trial};
use crate::tuning::{Excluded, LeftOut, Tuning, Waterfall};

/// What `bootlap tune --json` prints, and writes beside the boots.
///
/// All times are integer nanoseconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TuningJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// The target's name.
    pub target: String,
    /// How it was measured: `sim`, `modelled`, `plain` or `board`.
    pub mode: String,
    /// The kind of time: `simulated`, `modelled` or `measured`.
    pub time: String,
    /// Eight digits that tell the board in whose time it was made from others; null unless
    /// time was modelled.
    pub model: Option<String>,
    /// Median time to ready of the start, in the boots of the proof.
    pub before_ns: i64,
    /// The same of the tuned target.
    pub after_ns: i64,
    /// All boots, those of an interrupted search included.
    pub boots: usize,
    /// The start against the tuned target, in boots that the search did not
    /// use.
    pub proof: TrialJson,
    /// What was kept, in the order in which it is applied.
    pub steps: Vec<TuningStepJson>,
    /// The same steps on another axis of time, and what other searches kept.
    pub beside: Vec<Waterfall>,
    /// What broke the target.
    pub excluded: Vec<Excluded>,
    /// What did not pay.
    pub left_out: Vec<LeftOut>,
    /// Why the search ended before it was through; absent if it was.
    pub stopped: Option<String>,
    /// The folder of the tuned target.
    pub out: String,
    /// The folder with all boots.
    pub runs: String,
}

/// A recipe that was kept.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TuningStepJson {
    /// As it is typed.
    pub recipe: String,
    /// What it does.
    pub title: String,
    /// What may be lost by it.
    pub risk: String,
    /// What it saves on top of the steps before it.
    pub saved_ns: i64,
    /// The saving lies between these with 95 %.
    pub interval_ns: [i64; 2],
    /// `faster` where that is sure.
    pub verdict: String,
    /// What leaving it out of the whole set costs; absent if the search was
    /// stopped before.
    pub without_ns: Option<i64>,
    /// The p value of that, corrected for all that were left out (Holm); absent if it was
    /// clear at a glance.
    pub without_p: Option<f64>,
    /// The whole account.
    pub trial: TrialJson,
}

/// What `tune --json` prints.
///
/// # Errors
/// None for any search.
pub fn json(tuning: &Tuning) -> Result<String, serde_json::Error> {
    crate::json::line(&TuningJson::of(tuning))
}

impl TuningJson {
    /// The document of a search.
    pub fn of(tuning: &Tuning) -> Self {
        let about = &tuning.about;
        let steps = tuning.steps.iter().map(|step| {
            let account = trial(&step.trial);
            TuningStepJson {
                recipe: step.recipe.clone(),
                title: step.title.clone(),
                risk: step.risk.clone(),
                saved_ns: account.saved_ns,
                interval_ns: account.interval_ns,
                verdict: account.verdict.clone(),
                without_ns: step.without.map(|e| e.shift_ns),
                without_p: step.without.filter(Effect::is_sure).map(|e| e.p),
                trial: account,
            }
        });
        Self {
            format: FORMAT,
            tool: about.tool.clone(),
            target: about.target.clone(),
            mode: about.mode.clone(),
            time: about.time.clone(),
            model: about.model.clone(),
            before_ns: tuning.proof.before_ns,
            after_ns: tuning.proof.after_ns,
            boots: tuning.boots,
            proof: trial(&tuning.proof),
            steps: steps.collect(),
            beside: tuning.beside.clone(),
            excluded: tuning.excluded.clone(),
            left_out: tuning.left_out.clone(),
            stopped: tuning.stopped.clone(),
            out: tuning.out.clone(),
            runs: tuning.runs.clone(),
        }
    }
}
