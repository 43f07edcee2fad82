//! Results over commits on one screen.

use crate::boot::text::time_label;
use crate::check::{amount, small_share};
use crate::history::{HistoryReport, change_text, level};
use crate::terminal::{Align, Ink, Line, MARGIN, Page, Style, Table, cell};

/// More changes than this are counted.
const MOST: usize = 40;

/// Each metric with its latest value, and every change with its commit.
pub fn text(report: &HistoryReport, style: &Style) -> String {
    let mut page = Page::new(style);
    let mut line = page.subject(report.target());
    let n = report.entries.len();
    line.push(if n == 1 { ": 1 result" } else { ": " }, Ink::Plain);
    if n != 1 {
        line.push(&format!("{n} results"), Ink::Plain);
    }
    page.line_with_right(line, time_label(report.time()));
    if let Some(last) = n.checked_sub(1) {
        let span = format!(
            "{} · {} ({}) to {} ({})",
            report.name,
            report.commit(0),
            report.day(0),
            report.commit(last),
            report.day(last)
        );
        page.wrapped(Line::indented(MARGIN), &span, Ink::Faint);
    }
    page.blank();
    table(report).render(&mut page);
    changes(report, &mut page);
    let hung: usize = report.entries.iter().map(|e| e.not_ready()).sum();
    if hung > 0 {
        page.blank();
        let text = format!("{hung} boots never got ready; they are in no number");
        page.wrapped(Line::indented(MARGIN), &text, Ink::Bad);
    }
    page.finish()
}

fn table(report: &HistoryReport) -> Table {
    let heads = [
        ("", Align::Flex),
        ("latest", Align::Right),
        ("since", Align::Left),
        ("before that", Align::Right),
        ("change", Align::Right),
    ];
    let mut table = Table::new(&heads).without(&["before that", "change"]);
    for trend in &report.trends {
        let (metric, unit) = (&trend.metric, trend.metric.unit());
        let latest = trend.values.iter().rev().flatten().next();
        let latest = latest.map_or("–".to_owned(), |v| amount(*v, unit));
        let name = match metric.phase() {
            Some(phase) => cell(&metric.text(), Ink::Phase(phase)),
            None => cell(&metric.text(), Ink::Plain),
        };
        let mut cells = vec![name, cell(&latest, Ink::Strong)];
        if let Some(change) = trend.changes.last() {
            let ink = if change.after > change.before {
                Ink::Bad
            } else {
                Ink::Good
            };
            cells.push(cell(&report.commit(change.at), Ink::Plain));
            cells.push(cell(&level(change.before, unit), Ink::Plain));
            cells.push(cell(&small_share(change.share()), ink));
        } else {
            cells.push(cell("the beginning", Ink::Faint));
        }
        table.row(cells);
    }
    table
}

fn changes(report: &HistoryReport, page: &mut Page<'_>) {
    let all = report.changes();
    if all.is_empty() {
        return;
    }
    page.heading("changes, the latest first");
    let mut said = None;
    for (metric, change) in all.iter().take(MOST) {
        if said != Some(change.at) {
            let line = Line::indented(MARGIN).with(&report.commit(change.at), Ink::Strong);
            page.line(line.with(&format!("  {}", report.day(change.at)), Ink::Faint));
            said = Some(change.at);
        }
        let ink = if change.after > change.before {
            Ink::Bad
        } else {
            Ink::Good
        };
        let first = Line::indented(MARGIN + 2).with(&format!("{}: ", metric.text()), Ink::Plain);
        page.wrapped(first, &change_text(change, metric.unit()), ink);
    }
    if let Some(more @ 1..) = all.len().checked_sub(MOST) {
        let line = Line::indented(MARGIN).with(&format!("… and {more} more"), Ink::Faint);
        page.line(line);
    }
}
