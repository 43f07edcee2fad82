//! Results over commits: `history`.

mod html;
mod json;
mod markdown;
mod text;

pub use html::html;
pub use json::{ChangeJson, HistoryJson, ResultJson, TrendJson, json};
pub use markdown::markdown;
pub use text::text;

use bootlap_analysis::budget::{Metric, Unit};
use bootlap_analysis::changes::Change;
use bootlap_analysis::history::{Entry, Trend};
use csv::{Terminator, WriterBuilder};

use crate::check::{amount, grown, small_share};

/// All that is shown of a history.
pub struct HistoryReport {
    /// Its folder, as it was typed.
    pub name: String,
    /// The version of bootlap.
    pub tool: String,
    /// The results, in order.
    pub entries: Vec<Entry>,
    /// Each metric over them.
    pub trends: Vec<Trend>,
}

impl HistoryReport {
    /// What was booted.
    pub(crate) fn target(&self) -> &str {
        let last = self.entries.last().map(|e| e.target.as_str());
        last.filter(|t| !t.is_empty()).unwrap_or(&self.name)
    }

    /// The kind of time.
    pub(crate) fn time(&self) -> &str {
        self.entries.first().map_or("", |e| e.time.as_str())
    }

    /// A commit as people name it.
    pub(crate) fn commit(&self, at: usize) -> String {
        self.entries
            .get(at)
            .map_or(String::new(), |e| short(&e.commit))
    }

    /// The day of a result.
    pub(crate) fn day(&self, at: usize) -> String {
        let date = self.entries.get(at).map_or("", |e| e.date.as_str());
        date.chars().take(10).collect()
    }

    /// All changes, the latest first, with the metric that changed.
    pub(crate) fn changes(&self) -> Vec<(&Metric, &Change)> {
        let of = |t: &'_ Trend| t.changes.len();
        let mut all: Vec<(&Metric, &Change)> = Vec::with_capacity(self.trends.iter().map(of).sum());
        for trend in &self.trends {
            all.extend(trend.changes.iter().map(|c| (&trend.metric, c)));
        }
        all.sort_by_key(|(_, change)| std::cmp::Reverse(change.at));
        all
    }
}

/// Twelve digits of a hash tell it apart; other names stay as they are.
fn short(commit: &str) -> String {
    let hash = commit.len() >= 40 && commit.bytes().all(|b| b.is_ascii_hexdigit());
    commit.chars().take(if hash { 12 } else { 40 }).collect()
}

/// A level in its unit.
pub(crate) fn level(value: f64, unit: Unit) -> String {
    amount(value.round() as i64, unit)
}

/// `1.344 s → 1.346 s, +2.100 ms (+0.156 %), 7 × the noise`.
pub(crate) fn change_text(change: &Change, unit: Unit) -> String {
    let (before, after) = (level(change.before, unit), level(change.after, unit));
    let by = grown((change.after - change.before).round() as i64, unit);
    let share = small_share(change.share());
    format!("{before} → {after}, {by} ({share}){}", times_noise(change))
}

/// How far it stands out; nothing where there is no noise.
fn times_noise(change: &Change) -> String {
    match (change.after - change.before).abs() / change.noise {
        times if !times.is_finite() => String::new(),
        times if times < 9.95 => format!(", {times:.1} × the noise"),
        times => format!(", {times:.0} × the noise"),
    }
}

/// The column's name of a metric.
pub(crate) fn column(metric: &Metric) -> String {
    let unit = match metric.unit() {
        Unit::Ns => "_ns",
        Unit::Instructions | Unit::Bytes => "",
    };
    metric.text().replace([' ', '-'], "_") + unit
}

/// A row for each result, as Apache Otava reads it: `time`, `commit`, then a
/// column for each metric. What was not measured is an empty cell.
pub fn csv(report: &HistoryReport) -> String {
    let mut rows = WriterBuilder::new()
        .terminator(Terminator::Any(b'\n'))
        .from_writer(Vec::new());
    let heads = report.trends.iter().map(|t| column(&t.metric));
    let heads = ["time".to_owned(), "commit".to_owned()]
        .into_iter()
        .chain(heads);
    // Writing into memory does not fail.
    let _ = rows.write_record(heads);
    for (at, entry) in report.entries.iter().enumerate() {
        let value = |t: &Trend| t.values[at].map_or(String::new(), |v| v.to_string());
        let cells = report.trends.iter().map(value);
        let lead = [entry.date.clone(), crate::csv::defused(&entry.commit)];
        let _ = rows.write_record(lead.into_iter().chain(cells));
    }
    let bytes = rows.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
