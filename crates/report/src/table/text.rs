//! The tables after `bootlap show --by …`.

use bootlap_analysis::Gap;
use bootlap_model::{Span, Timeline, TrackKind};

use super::By;
use super::accesses::accesses;
use super::files::files;
use super::functions::functions;
use super::processes::processes;
use super::select::{self, Rows};
use super::units::units;
use crate::Report;
use crate::boot::text::length;
use crate::format::{change, duration, moment, percent, short_count};
use crate::terminal::{Align, Ink, Line, Page, Style, Table, cell, left_out, nothing};

/// A table of the wanted rows.
pub fn text(report: &Report<'_>, by: By, rows: &Rows<'_>, style: &Style) -> String {
    let (timeline, limit) = (report.timeline, rows.limit);
    let mut page = Page::new(style);
    match by {
        By::Phases => crate::boot::text::waterfall(report, &mut page),
        By::Spans => longest(timeline, rows, &mut page, |kind| kind != TrackKind::Console),
        By::Initcalls => longest(timeline, rows, &mut page, |kind| {
            kind == TrackKind::Initcall
        }),
        By::Units => return units(&report.answers, limit, style),
        By::Processes => return processes(report.answers.processes(rows.prune), limit, style),
        By::Functions => return functions(report.answers.functions(), limit, style),
        By::Gaps => silences(&report.gaps, limit, &mut page),
        By::Deltas => deltas(timeline, rows, &mut page),
        By::Files => files(&report.files, limit, &mut page),
        By::Reads => accesses(
            &select::accesses(report.answers.accesses(), rows),
            limit,
            &mut page,
        ),
    }
    let text = page.finish();
    match by {
        _ if !text.is_empty() => text,
        By::Reads => nothing(
            "No calls that open or read files were recorded: run strace -f -ttt -T, or \
             bootlap-agent collect --trace reads.",
            style,
        ),
        _ => "  Nothing of this kind was seen.\n".to_owned(),
    }
}

fn longest(
    timeline: &Timeline,
    rows: &Rows<'_>,
    page: &mut Page<'_>,
    wanted: impl Fn(TrackKind) -> bool,
) {
    let found = select::longest(timeline, rows, wanted);
    let mut table = Table::new(&[
        ("time", Align::Right),
        ("at, s", Align::Right),
        ("instr.", Align::Right),
        ("in", Align::Left),
        ("what", Align::Flex),
    ])
    .without(&["instr.", "in", "at, s"]);
    for (span, placed) in &found.rows {
        let time = placed.duration_ns().map_or("no end".to_owned(), duration);
        let insns = placed.end.and_then(|end| placed.start.insns_until(&end));
        table.row(vec![
            cell(&time, Ink::Strong),
            cell(&moment(placed.start.ns), Ink::Plain),
            cell(&insns.map_or("–".to_owned(), short_count), Ink::Faint),
            cell(timeline.kind_of(span).text(), Ink::Faint),
            what(timeline, span),
        ]);
    }
    if found.all > 0 {
        table.render(page);
    }
    left_out(found.all, rows.limit, "the longest", page);
}

/// A span's name and arguments.
fn what(timeline: &Timeline, span: &Span) -> Line {
    let mut line = cell(timeline.text(span.name), Ink::Plain);
    for (key, value) in &span.args {
        let text = format!("  {}={}", timeline.text(*key), timeline.text(*value));
        line.push(&text, Ink::Faint);
    }
    line
}

fn silences(gaps: &[Gap], limit: usize, page: &mut Page<'_>) {
    let mut table = Table::new(&[
        ("time", Align::Right),
        ("at, s", Align::Right),
        ("waiting", Align::Right),
        ("in", Align::Left),
        ("after the line", Align::Flex),
    ])
    .without(&["in", "waiting", "at, s"]);
    for gap in gaps.iter().take(limit) {
        table.row(vec![
            cell(&duration(length(gap)), Ink::Strong),
            cell(&moment(gap.start.ns), Ink::Plain),
            cell(&gap.idle_share.map_or("–".to_owned(), percent), Ink::Faint),
            cell(gap.phase.map_or("", |phase| phase.text()), Ink::Faint),
            cell(gap.before.trim(), Ink::Plain),
        ]);
    }
    if !gaps.is_empty() {
        table.render(page);
    }
    left_out(gaps.len(), limit, "the longest", page);
}

/// Console lines; if not all fit, those after the longest silences.
fn deltas(timeline: &Timeline, rows: &Rows<'_>, page: &mut Page<'_>) {
    let found = select::console(timeline, rows);
    let mut table = Table::new(&[
        ("at, s", Align::Right),
        ("since", Align::Right),
        ("console", Align::Flex),
    ])
    .without(&["at, s"]);
    for line in &found.rows {
        // A long wait is what the reader looks for.
        let ink = if line.since_ns >= 100_000_000 {
            Ink::Warn
        } else {
            Ink::Faint
        };
        table.row(vec![
            cell(&moment(line.at_ns), Ink::Plain),
            cell(&change(line.since_ns), ink),
            cell(timeline.text(line.span.name).trim_end(), Ink::Plain),
        ]);
    }
    if found.all > 0 {
        table.render(page);
    }
    if found.all > found.rows.len() {
        let text = "those after the longest silences";
        left_out(found.all, found.rows.len(), text, page);
    }
}
