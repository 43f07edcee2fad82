//! What a rule found.

use bootlap_model::Evidence;
use serde::{Deserialize, Serialize};

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule, e.g. `uboot-bootdelay`.
    pub rule: String,
    /// What is wrong, in one line.
    pub title: String,
    /// What this boot showed.
    pub why: String,
    /// What to expect from the change.
    pub saving: Saving,
    /// What to do by hand.
    pub fix: String,
    /// The recipe that does it, if there is one and it applies.
    pub recipe: Option<String>,
    /// The interval that the time goes into: ns on the axis.
    pub at_ns: Option<[i64; 2]>,
    /// The lines that show it.
    pub evidence: Vec<Evidence>,
}

/// The expected saving.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saving {
    /// Nanoseconds.
    pub ns: i64,
    /// Of which kind of time.
    pub kind: SavingKind,
    /// How it was computed.
    pub basis: String,
}

/// Which time would be saved: these never mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SavingKind {
    /// On the clock of the boot that was looked at.
    ThisBoot,
    /// Predicted for a real board; an emulated machine does not show it.
    PredictedBoard,
}
