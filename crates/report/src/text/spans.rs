//! The tables behind `bootlap show --by …`.

use bootlap_analysis::phases;
use bootlap_model::{Span, Timeline, TrackKind};

use super::gaps::length;
use super::line::Line;
use super::page::{Page, left_out};
use super::style::{Ink, Style};
use super::table::{Align, Table, cell};
use crate::format::{change, duration, moment, percent, short_count};
use crate::select::{self, Rows};

/// What a table lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Phases and their parts, in the order of the boot.
    Phases,
    /// What lasted, except for console text, the longest first.
    Spans,
    /// Kernel initcalls, the longest first.
    Initcalls,
    /// Units of systemd: what each took, and what ready waited for.
    Units,
    /// Processes as a tree.
    Processes,
    /// Calls of functions, as KFI's `kd` counts them.
    Functions,
    /// Silences of the console, the longest first.
    Gaps,
    /// Console lines with the time since the line before, in order.
    Deltas,
}

impl By {
    /// The word that asks for it: `--by initcalls`.
    pub fn text(self) -> &'static str {
        match self {
            By::Phases => "phases",
            By::Spans => "spans",
            By::Initcalls => "initcalls",
            By::Units => "units",
            By::Processes => "processes",
            By::Functions => "functions",
            By::Gaps => "gaps",
            By::Deltas => "deltas",
        }
    }
}

/// A table of the wanted rows.
pub fn spans(timeline: &Timeline, by: By, rows: &Rows<'_>, style: &Style) -> String {
    let limit = rows.limit;
    let mut page = Page::new(style);
    match by {
        By::Phases => super::phases::waterfall(&phases(timeline), &mut page),
        By::Spans => longest(timeline, rows, &mut page, |kind| kind != TrackKind::Console),
        By::Initcalls => longest(timeline, rows, &mut page, |kind| {
            kind == TrackKind::Initcall
        }),
        By::Units => return super::units(timeline, limit, style),
        By::Processes => return super::processes(timeline, limit, rows.prune, style),
        By::Functions => return super::functions(timeline, limit, style),
        By::Gaps => silences(timeline, limit, &mut page),
        By::Deltas => deltas(timeline, rows, &mut page),
    }
    let text = page.finish();
    if text.is_empty() {
        return "  Nothing of this kind was seen.\n".to_owned();
    }
    text
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

fn silences(timeline: &Timeline, limit: usize, page: &mut Page<'_>) {
    let found = select::silences(timeline, limit);
    let mut table = Table::new(&[
        ("time", Align::Right),
        ("at, s", Align::Right),
        ("waiting", Align::Right),
        ("in", Align::Left),
        ("after the line", Align::Flex),
    ])
    .without(&["in", "waiting", "at, s"]);
    for gap in &found.rows {
        table.row(vec![
            cell(&duration(length(gap)), Ink::Strong),
            cell(&moment(gap.start.ns), Ink::Plain),
            cell(&gap.idle_share.map_or("–".to_owned(), percent), Ink::Faint),
            cell(gap.phase.map_or("", |phase| phase.text()), Ink::Faint),
            cell(gap.before.trim(), Ink::Plain),
        ]);
    }
    if found.all > 0 {
        table.render(page);
    }
    left_out(found.all, limit, "the longest", page);
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
