//! The order of init scripts, as it is shown.

mod text;

pub use text::text;

use schemars::JsonSchema;
use serde::Serialize;

use crate::json::line;

/// Init scripts, and who waits for whom.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RcReport {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// The folder.
    pub dir: String,
    /// The folder on the target.
    pub on_target: String,
    /// The scripts in the order of the plan: the more urgent ones first.
    pub scripts: Vec<RcScript>,
    /// Files that do not start.
    pub left_out: Vec<RcLeftOut>,
    /// What was taken for granted, and what should be done better, a sentence each.
    pub notes: Vec<String>,
    /// How fast they can be; null without times.
    pub times: Option<RcTimes>,
    /// The plan's file; null if none was written.
    pub plan: Option<String>,
}

/// A file that does not start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RcLeftOutJson")]
pub struct RcLeftOut {
    /// Its name.
    pub file: String,
    /// Why not.
    pub why: String,
}

/// An init script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RcScriptJson")]
pub struct RcScript {
    /// Its file's name.
    #[serde(rename = "script")]
    pub name: String,
    /// From 1 on: one more than the last of those that it waits for.
    pub wave: usize,
    /// Nothing runs beside it.
    pub alone: bool,
    /// Whether it has a header.
    pub header: bool,
    /// The scripts that it waits for, without those that follow from others.
    pub waits: Vec<RcWait>,
    /// What it took, ns; null if that is not known.
    pub ns: Option<i64>,
    /// Whether it is on the critical path.
    pub critical: bool,
}

/// That a script waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RcWaitJson")]
pub struct RcWait {
    /// For this script.
    pub on: String,
    /// Why, in a few words.
    pub why: String,
}

/// How fast the scripts can be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RcTimesJson")]
pub struct RcTimes {
    /// One after the other, ns.
    pub work_ns: i64,
    /// From the first start to the last end in the evidence, ns.
    pub seen_ns: Option<i64>,
    /// The scripts of the critical path, in order.
    pub critical: Vec<String>,
    /// How long that takes, ns: no number of CPUs is faster.
    pub critical_ns: i64,
    /// The CPUs that each script has one of while it runs.
    pub cpus: usize,
    /// No order on so many CPUs is faster, ns.
    pub bound_ns: i64,
    /// The best order that was found, ns.
    pub found_ns: i64,
    /// Whether there is none better.
    pub is_best: bool,
    /// Scripts without a time, counted as none.
    pub unknown: Vec<String>,
}

/// What `rc --json` prints.
///
/// # Errors
/// None for any report.
pub fn json(report: &RcReport) -> Result<String, serde_json::Error> {
    line(report)
}
