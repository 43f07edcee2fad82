//! A history as Markdown, for a summary of a CI job.

use std::fmt::Write;

use crate::check::amount;
use crate::history::{HistoryReport, change_text};
use crate::markdown::prose as escaped;

/// The latest result, and every change.
pub fn markdown(report: &HistoryReport) -> String {
    let mut text = format!("# {}\n\n", escaped(report.target()));
    let n = report.entries.len();
    let _ = writeln!(text, "{n} results in {} time.\n", escaped(report.time()));
    text += "| | latest | last change |\n| --- | ---: | --- |\n";
    for trend in &report.trends {
        let unit = trend.metric.unit();
        let latest = trend.values.iter().rev().flatten().next();
        let latest = latest.map_or("–".to_owned(), |v| amount(*v, unit));
        let change = trend.changes.last().map_or("none".to_owned(), |c| {
            let commit = escaped(&report.commit(c.at));
            format!("{commit} ({}): {}", report.day(c.at), change_text(c, unit))
        });
        let name = escaped(&trend.metric.text());
        let _ = writeln!(text, "| {name} | {latest} | {change} |");
    }
    let changes = report.changes();
    if !changes.is_empty() {
        text += "\n## Changes\n\n| commit | date | what | change |\n| --- | --- | --- | --- |\n";
    }
    for (metric, change) in changes {
        let (commit, name) = (escaped(&report.commit(change.at)), escaped(&metric.text()));
        let day = escaped(&report.day(change.at));
        let said = change_text(change, metric.unit());
        let _ = writeln!(text, "| {commit} | {day} | {name} | {said} |");
    }
    text
}
