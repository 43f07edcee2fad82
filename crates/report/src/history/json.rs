//! `history show --json`: results over commits.

use schemars::JsonSchema;
use serde::Serialize;

use crate::history::{HistoryReport, column};

/// Results over commits, and where they changed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HistoryJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// The target's name.
    pub target: String,
    /// The kind of time: `simulated` or `measured`.
    pub time: String,
    /// The board in whose time the boots were made, where that was modelled.
    pub model: Option<String>,
    /// The results, in the order of their dates.
    pub results: Vec<ResultJson>,
    /// Each number over the results.
    pub metrics: Vec<TrendJson>,
}

/// One result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ResultJson {
    /// What was booted.
    pub commit: String,
    /// When that was made, RFC 3339.
    pub date: String,
    /// How many boots.
    pub boots: usize,
    /// Boots that never got ready; they are in no number.
    pub not_ready: usize,
}

/// One number over the results.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TrendJson {
    /// As in the CSV: `total_ns`, `kernel_instructions`.
    pub name: String,
    /// The median of each result's boots; null where it was not measured.
    pub values: Vec<Option<i64>>,
    /// Where it changed, in order.
    pub changes: Vec<ChangeJson>,
}

/// A change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChangeJson {
    /// Index of the first result after it.
    pub at: usize,
    /// The commit of that result.
    pub commit: String,
    /// The median from the change before it on.
    pub before: f64,
    /// The median until the change after it.
    pub after: f64,
    /// The change as a share of what was before: 0.01 is 1 % more.
    pub share: f64,
    /// The noise of one result, a standard deviation; 0 where equal boots are
    /// equally long.
    pub noise: f64,
}

/// What `history show --json` prints.
///
/// # Errors
/// None for any history.
pub fn json(report: &HistoryReport) -> Result<String, serde_json::Error> {
    let results = report.entries.iter().map(|e| ResultJson {
        commit: e.commit.clone(),
        date: e.date.clone(),
        boots: e.boots.len(),
        not_ready: e.not_ready(),
    });
    let metrics = report.trends.iter().map(|trend| TrendJson {
        name: column(&trend.metric),
        values: trend.values.clone(),
        changes: trend
            .changes
            .iter()
            .map(|c| ChangeJson {
                at: c.at,
                commit: report.entries[c.at].commit.clone(),
                before: c.before,
                after: c.after,
                share: c.share(),
                noise: c.noise,
            })
            .collect(),
    });
    crate::json::line(&HistoryJson {
        format: crate::json::FORMAT,
        tool: report.tool.clone(),
        target: report.target().to_owned(),
        time: report.time().to_owned(),
        model: report.entries.first().and_then(|e| e.model.clone()),
        results: results.collect(),
        metrics: metrics.collect(),
    })
}
