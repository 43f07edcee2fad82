//! Where the time went: phases and their known parts, as a waterfall.

use bootlap_analysis::{Part, Phase, PhaseName};
use unicode_width::UnicodeWidthStr;

use crate::Report;
use crate::format::{duration, share};
use crate::terminal::{Ink, Line, MARGIN, Page, bar};

/// Columns of a time (at least), and of a share of the whole.
const TIME: usize = 10;
const SHARE: usize = 8;
/// A narrower page has no shares: bars say more.
const ROOM_FOR_SHARES: usize = 50;
/// Parts shorter than this share of the boot are left out, as 1 in …
const SMALLEST_PART: i64 = 500;

/// More parts of a phase are a list, not a picture.
const MOST_PARTS: usize = 10;

pub(crate) fn section(report: &Report<'_>, page: &mut Page<'_>) {
    if report.phases.is_empty() {
        return;
    }
    page.blank();
    waterfall(report, page);
}

/// A bar for each phase and part, under one another as the boot passed them.
pub(crate) fn waterfall(report: &Report<'_>, page: &mut Page<'_>) {
    let scale = Scale::of(report, page.columns());
    for phase in &report.phases {
        let (from, to) = (phase.start.ns, phase.end.ns);
        let bar = bar::block(scale.at(from), scale.at(to), scale.whole, scale.bar);
        let name = Line::indented(MARGIN).with(phase.name.text(), Ink::Strong);
        page.line(scale.row(name, &bar, Ink::Phase(phase.name), phase.duration_ns()));
        let shown = shown_parts(phase, scale.whole);
        for part in &shown {
            page.line(part_row(&scale, part, phase.name));
        }
        let rest = phase.parts.iter().filter(|p| !shown.contains(p));
        let rest: Vec<&Part> = rest.filter(|p| worth_a_line(p, scale.whole)).collect();
        if !rest.is_empty() {
            let ns = rest.iter().map(|p| p.duration_ns());
            let ns = ns.fold(0, i64::saturating_add);
            let text = format!("… {} more, {} in all", rest.len(), duration(ns));
            page.line(Line::indented(MARGIN + 2).with(&text, Ink::Faint));
        }
    }
}

fn part_row(scale: &Scale, part: &Part, phase: PhaseName) -> Line {
    let (from, to) = (scale.at(part.start.ns), scale.at(part.end.ns));
    let bar = bar::rule(from, to, scale.whole, scale.bar);
    let name = Line::indented(MARGIN + 2).with(&part.name, Ink::Faint);
    scale.row(name, &bar, Ink::Part(phase), part.duration_ns())
}

/// The longest of the parts worth a line, in the order of the boot.
fn shown_parts(phase: &Phase, whole: i64) -> Vec<&Part> {
    let parts = phase.parts.iter().filter(|p| worth_a_line(p, whole));
    let mut shown: Vec<&Part> = parts.collect();
    shown.sort_by_key(|p| std::cmp::Reverse(p.duration_ns()));
    shown.truncate(MOST_PARTS);
    shown.sort_by_key(|p| p.start.ns);
    shown
}

fn worth_a_line(part: &Part, whole: i64) -> bool {
    part.duration_ns() >= whole / SMALLEST_PART
}

/// What all rows of a waterfall have in common.
struct Scale {
    origin: i64,
    whole: i64,
    name: usize,
    bar: usize,
    time: usize,
    /// Whether there is room for shares.
    shares: bool,
}

impl Scale {
    fn of(report: &Report<'_>, columns: usize) -> Self {
        let phases = &report.phases;
        // The boot can go on where nobody knows which phase it is in.
        let boot = report.answers.extent().map(|e| [e.start.ns, e.end.ns]);
        let ranges = phases.iter().map(|p| [p.start.ns, p.end.ns]).chain(boot);
        let origin = ranges.clone().map(|[start, _]| start).min().unwrap_or(0);
        let end = ranges.map(|[_, end]| end).max().unwrap_or(0);
        let whole = end.saturating_sub(origin);
        let names = phases.iter().flat_map(|phase| {
            let parts = shown_parts(phase, whole);
            let names: Vec<usize> = parts.iter().map(|p| p.name.width() + 2).collect();
            names.into_iter().chain([phase.name.text().width()])
        });
        // Names get three eighths of the page at most, the bars get the rest.
        let name = MARGIN + names.max().unwrap_or(0).min(columns * 3 / 8);
        // What is longest has the longest text, or nearly so.
        let time = TIME.max(1 + duration(whole).width());
        let shares = columns >= ROOM_FOR_SHARES;
        let share = if shares { SHARE } else { 0 };
        let bar = columns.saturating_sub(name + 2 + time + share);
        Self {
            origin,
            whole,
            name,
            bar,
            time,
            shares,
        }
    }

    fn at(&self, ns: i64) -> i64 {
        ns.saturating_sub(self.origin)
    }

    fn row(&self, name: Line, bar: &str, ink: Ink, ns: i64) -> Line {
        let mut line = name.fit(self.name).with("  ", Ink::Plain);
        line.append(Line::default().with(bar, ink).fit(self.bar));
        // Parts are quieter than the phases they belong to.
        let number = match ink {
            Ink::Part(_) => Ink::Faint,
            _ => Ink::Plain,
        };
        let time = Line::default().with(&duration(ns), number);
        line.append(time.right_aligned(self.time));
        if self.shares {
            let share = Line::default().with(&share(ns, self.whole), Ink::Faint);
            line.append(share.right_aligned(SHARE));
        }
        line
    }
}
