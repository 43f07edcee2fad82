//! `rc --json`: the order of init scripts.

use schemars::JsonSchema;
use serde::Serialize;

use crate::rc::{RcReport, RcScript, RcTimes};

/// Init scripts, and who waits for whom.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RcJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// The folder.
    pub dir: String,
    /// The folder on the target.
    pub on_target: String,
    /// The scripts in the order of the plan.
    pub scripts: Vec<RcScriptJson>,
    /// Files that do not start.
    pub left_out: Vec<RcLeftOutJson>,
    /// What was taken for granted, a sentence each.
    pub notes: Vec<String>,
    /// How fast they can be; null without times.
    pub times: Option<RcTimesJson>,
    /// The plan's file; null if none was written.
    pub plan: Option<String>,
}

/// An init script.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RcScriptJson {
    /// Its file's name.
    pub script: String,
    /// From 1 on: one more than the last of those that it waits for.
    pub wave: usize,
    /// Nothing runs beside it.
    pub alone: bool,
    /// Whether it has a header.
    pub header: bool,
    /// The scripts that it waits for, without those that follow from others.
    pub waits: Vec<RcWaitJson>,
    /// What it took, ns; null if that is not known.
    pub ns: Option<i64>,
    /// Whether it is on the critical path.
    pub critical: bool,
}

/// That a script waits.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RcWaitJson {
    /// For this script.
    pub on: String,
    /// Why, in a few words.
    pub why: String,
}

/// A file that does not start.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RcLeftOutJson {
    /// Its name.
    pub file: String,
    /// Why not.
    pub why: String,
}

/// How fast scripts can be.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RcTimesJson {
    /// One after the other, ns.
    pub work_ns: i64,
    /// From the first start to the last end in the evidence, ns; null if unknown.
    pub seen_ns: Option<i64>,
    /// The scripts of the critical path.
    pub critical: Vec<String>,
    /// How long that takes, ns.
    pub critical_ns: i64,
    /// The number of CPUs.
    pub cpus: usize,
    /// No order on so many CPUs is faster, ns.
    pub bound_ns: i64,
    /// The best order that was found, ns.
    pub found_ns: i64,
    /// Whether there is none better.
    pub is_best: bool,
    /// Scripts without a time.
    pub unknown: Vec<String>,
}

/// What `rc --json` prints.
///
/// # Errors
/// None for any report.
pub fn json(report: &RcReport) -> Result<String, serde_json::Error> {
    let left_out = report.left_out.iter().map(|(file, why)| RcLeftOutJson {
        file: file.clone(),
        why: why.clone(),
    });
    crate::json::line(&RcJson {
        format: crate::json::FORMAT,
        tool: report.tool.clone(),
        dir: report.dir.clone(),
        on_target: report.on_target.clone(),
        scripts: report.scripts.iter().map(script).collect(),
        left_out: left_out.collect(),
        notes: report.notes.clone(),
        times: report.times.as_ref().map(times),
        plan: report.plan.clone(),
    })
}

fn script(script: &RcScript) -> RcScriptJson {
    let waits = script.waits.iter().map(|(on, why)| RcWaitJson {
        on: on.clone(),
        why: why.clone(),
    });
    RcScriptJson {
        script: script.name.clone(),
        wave: script.wave,
        alone: script.alone,
        header: script.header,
        waits: waits.collect(),
        ns: script.ns,
        critical: script.critical,
    }
}

fn times(times: &RcTimes) -> RcTimesJson {
    RcTimesJson {
        work_ns: times.work_ns,
        seen_ns: times.seen_ns,
        critical: times.critical.clone(),
        critical_ns: times.critical_ns,
        cpus: times.cpus,
        bound_ns: times.bound_ns,
        found_ns: times.found_ns,
        is_best: times.is_best,
        unknown: times.unknown.clone(),
    }
}
