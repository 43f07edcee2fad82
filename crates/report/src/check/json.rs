//! `check --json`: a budget and what became of it.

use bootlap_analysis::budget::{Bound, Cause, How, Judged, Unit};
use bootlap_analysis::stats::Sessions;
use schemars::JsonSchema;
use serde::Serialize;

use crate::check::CheckReport;

/// A budget, and what became of each limit.
///
/// Times are integer nanoseconds; other values are counts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// The target's name.
    pub target: String,
    /// The kind of time: `simulated` or `measured`.
    pub time: String,
    /// The budget's file.
    pub budget: String,
    /// What was judged: runs, or files of one boot.
    pub boots: Vec<String>,
    /// What it was judged by, in words; null without a baseline.
    pub baseline: Option<String>,
    /// The worst of all limits: `ok`, `unknown` or `broken`.
    pub state: String,
    /// Each limit, in the order of the file.
    pub limits: Vec<LimitJson>,
}

/// A limit, and what became of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LimitJson {
    /// Of what: `total`, `kernel`, `kernel instructions`, a span.
    pub name: String,
    /// `ns`, `instructions` or `bytes`.
    pub unit: String,
    /// `at-most`, or of a regression `more` or `more-share`.
    pub kind: String,
    /// The line of the budget's file.
    pub line: usize,
    /// The limit as it stands there: a value, or a share (0.001 is 0.1 %).
    pub limit: f64,
    /// The largest value that would have been ok, if known.
    pub allowed: Option<i64>,
    /// The median of the boots; null if it was not measured.
    pub value: Option<i64>,
    /// `ok`, `unknown` or `broken`.
    pub state: String,
    /// By how much it grew, if there was a baseline.
    pub growth: Option<GrowthJson>,
    /// Why it is broken or unknown, and what to do; may be empty.
    pub why: String,
    /// Whether causes are growths, or what takes longest.
    pub against_baseline: bool,
    /// What is at fault, the largest first.
    pub causes: Vec<Cause>,
    /// Savings that came back elsewhere, in words.
    pub moved: Vec<String>,
}

/// By how much a value grew.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GrowthJson {
    /// The baseline's median.
    pub before: i64,
    /// The best estimate of the growth; negative if it shrank.
    pub shift: i64,
    /// The growth lies in it with 95 %, or of few boots a bound; null if
    /// nothing is known.
    pub interval: Option<[i64; 2]>,
    /// `pairs` of perturbations, two `samples`, or `few` boots.
    pub how: String,
    /// How many boots of the baseline and how many of these.
    pub samples: [usize; 2],
    /// How much of the interval, either way, is for what two sessions of boots
    /// may differ by without any change; null where that does not matter.
    pub sessions: Option<Sessions>,
}

/// What `check --json` prints.
///
/// # Errors
/// None for any check.
pub fn json(report: &CheckReport) -> Result<String, serde_json::Error> {
    crate::json::line(&CheckJson {
        format: crate::json::FORMAT,
        tool: report.about.tool.clone(),
        target: report.about.target.clone(),
        time: report.about.time.clone(),
        budget: report.budget.clone(),
        boots: report.boots.clone(),
        baseline: report.baseline.clone(),
        state: report.state().text().to_owned(),
        limits: report.judged.iter().map(limit).collect(),
    })
}

fn limit(judged: &Judged) -> LimitJson {
    let (kind, limit) = match judged.limit.bound {
        Bound::AtMost(most) => ("at-most", most as f64),
        Bound::More(by) => ("more", by as f64),
        Bound::MoreShare(share) => ("more-share", share),
    };
    let unit = match judged.limit.metric.unit() {
        Unit::Ns => "ns",
        Unit::Instructions => "instructions",
        Unit::Bytes => "bytes",
    };
    let growth = judged.growth.as_ref().map(|growth| {
        let (how, samples) = match growth.how {
            How::Pairs(n) => ("pairs", [n, n]),
            How::Samples(samples) => ("samples", samples),
            How::Few(samples) => ("few", samples),
        };
        GrowthJson {
            before: growth.before,
            shift: growth.shift,
            interval: growth.interval,
            how: how.to_owned(),
            samples,
            sessions: growth.sessions,
        }
    });
    LimitJson {
        name: judged.limit.metric.text(),
        unit: unit.to_owned(),
        kind: kind.to_owned(),
        line: judged.limit.line,
        limit,
        allowed: judged.allowed,
        value: judged.value,
        state: judged.state.text().to_owned(),
        growth,
        why: judged.why.clone(),
        against_baseline: judged.causes.against_baseline,
        causes: judged.causes.list.clone(),
        moved: judged.causes.moved.clone(),
    }
}
