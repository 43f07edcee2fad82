//! The order of init scripts, as it is shown.

mod json;
mod text;

pub use json::{RcJson, RcLeftOutJson, RcScriptJson, RcTimesJson, RcWaitJson, json};
pub use text::text;

/// Init scripts, who waits for whom, and how fast that can be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RcReport {
    /// The folder, as it was typed.
    pub dir: String,
    /// The folder on the target.
    pub on_target: String,
    /// The scripts in the order of the plan: the more urgent ones first.
    pub scripts: Vec<RcScript>,
    /// What does not start, and why.
    pub left_out: Vec<(String, String)>,
    /// What was taken for granted, and what should be done better.
    pub notes: Vec<String>,
    /// What their times say, if there are any.
    pub times: Option<RcTimes>,
    /// The plan's file, if one was written.
    pub plan: Option<String>,
    /// The version of bootlap.
    pub tool: String,
}

/// An init script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RcScript {
    /// Its file's name.
    pub name: String,
    /// From 1 on: one more than the last of those that it waits for.
    pub wave: usize,
    /// Nothing runs beside it.
    pub alone: bool,
    /// Whether it has a header.
    pub header: bool,
    /// The scripts that it waits for, and why.
    pub waits: Vec<(String, String)>,
    /// What it took, ns.
    pub ns: Option<i64>,
    /// It is on the critical path.
    pub critical: bool,
}

/// How fast the scripts can be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
