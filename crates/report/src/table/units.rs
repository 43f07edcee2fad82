//! The table after `bootlap show --by units`: how long each unit took to
//! start, and what the end of the boot waited for.

use bootlap_analysis::{Answers, CriticalPath, Step, UnitStart};
use bootlap_model::{LinkKind, Milestone, TrackKind};

use crate::format::{duration, moment, moment_in_words};
use crate::terminal::{Align, Ink, Line, MARGIN, Page, Style, Table, cell, nothing};

/// Steps and gaps of the path below this are not worth a line.
const SHORT_NS: i64 = 1_000_000;
/// From here on a wait is what the reader looks for.
const LONG_NS: i64 = 100_000_000;

/// At most `limit` units, the longest start first, and the critical path.
pub(crate) fn units(answers: &Answers<'_>, limit: usize, style: &Style) -> String {
    let mut page = Page::new(style);
    let units = answers.units();
    let path = answers.critical_path();
    if units.is_empty() && path.is_none() {
        return nothing("No units were seen.", style);
    }
    if units.is_empty() {
        let text = "No units were seen.";
        page.wrapped(Line::indented(MARGIN), text, Ink::Faint);
    } else {
        blame(units, limit, &mut page);
    }
    if let Some(path) = path {
        waited_for(path, &mut page);
    }
    // The kernel's part of it needs nothing of systemd.
    let ordered = |path: &CriticalPath| path.steps.iter().any(|s| s.kind == TrackKind::Unit);
    if !units.is_empty() && !path.is_some_and(ordered) {
        no_path(&mut page);
    }
    page.finish()
}

fn blame(units: &[UnitStart], limit: usize, page: &mut Page<'_>) {
    let mut table = Table::new(&[
        ("time", Align::Right),
        ("at, s", Align::Right),
        ("idle before", Align::Right),
        ("unit", Align::Flex),
    ])
    .without(&["idle before", "at, s"]);
    for unit in units.iter().take(limit) {
        let time = match (unit.open, unit.own_ns) {
            (true, _) => "not active".to_owned(),
            (false, Some(ns)) => duration(ns),
            (false, None) => "–".to_owned(),
        };
        let at = unit.start.map_or("–".to_owned(), |s| moment(s.ns));
        let after = unit.after.as_ref();
        table.row(vec![
            cell(&time, Ink::Strong),
            cell(&at, Ink::Plain),
            after.map_or_else(|| cell("–", Ink::Faint), |a| wait(a.gap_ns)),
            described(unit),
        ]);
    }
    table.render(page);
    if units.len() > limit {
        let text = format!("{limit} of {} shown: the longest", units.len());
        page.wrapped(Line::indented(MARGIN), &text, Ink::Faint);
    }
}

/// A unit's name, how it went, and what it waited for last.
fn described(unit: &UnitStart) -> Line {
    let mut line = cell(&unit.name, Ink::Plain);
    if let Some(result) = &unit.result {
        line.push(&format!("  {result}"), Ink::Bad);
    }
    if let Some(after) = &unit.after {
        line.push(&format!("  after {}", after.name), Ink::Faint);
    }
    line
}

/// A time in which nothing that is known of held it up.
fn wait(ns: i64) -> Line {
    match ns {
        ns if ns < SHORT_NS => cell("–", Ink::Faint),
        ns if ns < LONG_NS => cell(&duration(ns), Ink::Faint),
        ns => cell(&duration(ns), Ink::Warn),
    }
}

fn waited_for(path: &CriticalPath, page: &mut Page<'_>) {
    page.heading(&format!(
        "what {} at {} waited for",
        match path.to {
            Some(Milestone::Ready) => "ready",
            Some(Milestone::StartupFinished) => "the end of the startup",
            Some(Milestone::InitStart) => "init",
            Some(milestone) => milestone.text(),
            None => "the last step",
        },
        moment_in_words(path.end.ns)
    ));
    let text = format!(
        "{} in {}, and {} between them",
        duration(path.own_ns()),
        counted(path.steps.len()),
        duration(path.gaps_ns()),
    );
    page.wrapped(Line::indented(MARGIN), &text, Ink::Faint);
    let mut table = Table::new(&[
        ("at, s", Align::Right),
        ("idle before", Align::Right),
        ("time", Align::Right),
        ("step", Align::Flex),
    ])
    .without(&["at, s", "idle before"]);
    let mut through: Vec<&Step> = Vec::new();
    for (at, step) in path.steps.iter().enumerate() {
        let last = at + 1 == path.steps.len();
        if step.own_ns() < SHORT_NS && step.gap_ns < SHORT_NS && !last {
            through.push(step);
            continue;
        }
        table.row(row(step, &through));
        through.clear();
    }
    if path.last_gap_ns >= SHORT_NS {
        let end = path.to.map_or("the end", |milestone| milestone.text());
        table.row(vec![
            cell(&moment(path.end.ns), Ink::Plain),
            wait(path.last_gap_ns),
            cell("–", Ink::Faint),
            cell(end, Ink::Faint),
        ]);
    }
    table.render(page);
}

fn row(step: &Step, through: &[&Step]) -> Vec<Line> {
    let time = match step.own_ns() {
        ns if ns < SHORT_NS => cell("–", Ink::Faint),
        ns => cell(&duration(ns), Ink::Strong),
    };
    let mut name = cell(&step.name, Ink::Plain);
    // Units that were active at once only pass the wait on.
    if let Some(first) = through.first() {
        let more = match through.len() {
            1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        name.push(&format!("  through {}{more}", first.name), Ink::Faint);
    } else if let Some(during) = &step.during {
        name.push(&format!("  behind {during}"), Ink::Faint);
    } else if step.link == Some(LinkKind::WaitsOn) {
        name.push("  needs the one above", Ink::Faint);
    }
    vec![
        cell(&moment(step.start.ns), Ink::Plain),
        wait(step.gap_ns),
        time,
        name,
    ]
}

fn counted(steps: usize) -> String {
    match steps {
        1 => "one step".to_owned(),
        n => format!("{n} steps"),
    }
}

fn no_path(page: &mut Page<'_>) {
    page.blank();
    page.wrapped(
        Line::indented(MARGIN),
        "What its units waited for is not known: this evidence does not tell how units are ordered. `systemctl show '*'` tells it, and so does the SVG of `systemd-analyze plot` (systemd 257).",
        Ink::Faint,
    );
}
