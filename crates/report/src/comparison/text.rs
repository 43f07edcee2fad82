//! Two boots of one target: what the changes brought, phase by phase.

use bootlap_analysis::{Comparison, Delta, PhaseName};
use unicode_width::UnicodeWidthStr;

use super::{SHOWN, SMALLEST, grew_and_shrank};
use crate::Report;
use crate::boot::headline::compared;
use crate::boot::text::time_label;
use crate::format::{change, duration};
use crate::terminal::{Align, Ink, Line, MARGIN, Page, Style, Table, bar, cell};
use crate::trials::came_back;

/// The account of `report` against its `before`; without one, its summary.
pub fn text(report: &Report<'_>, style: &Style) -> String {
    let (Some(before), Some(comparison)) = (&report.before, &report.comparison) else {
        return crate::boot::text(report, style);
    };
    let mut page = Page::new(style);
    headline(report, before, &mut page);
    page.blank();
    phases(comparison, &mut page);
    let (grew, shrank) = grew_and_shrank(comparison);
    places("what shrank", &shrank, Ink::Good, &mut page);
    places("what grew", &grew, Ink::Bad, &mut page);
    if !comparison.moved.is_empty() {
        page.heading("what only moved");
    }
    for moved in &comparison.moved {
        page.wrapped(Line::indented(MARGIN), &came_back(moved), Ink::Warn);
    }
    page.finish()
}

fn headline(report: &Report<'_>, before: &Report<'_>, page: &mut Page<'_>) {
    let mut line = page.subject(&report.about.target);
    for (text, ink) in compared(before, report) {
        line.push(&text, ink);
    }
    page.line_with_right(line, label(report, before));
}

/// Both kinds of time if they differ: such numbers do not compare.
fn label(report: &Report<'_>, before: &Report<'_>) -> Line {
    let (old, new) = (&before.about.time, &report.about.time);
    if old == new {
        return time_label(new);
    }
    Line::default().with(&format!("{old} against {new} time"), Ink::Bad)
}

/// A bar for each phase: what is left of it is solid, what went is light.
fn phases(comparison: &Comparison, page: &mut Page<'_>) {
    let sides = |d: &Delta| (d.before_ns.unwrap_or(0), d.after_ns.unwrap_or(0));
    let longest = comparison.phases.iter().map(|d| sides(d).0.max(sides(d).1));
    let longest = longest.max().unwrap_or(0);
    let names = comparison.phases.iter().map(|d| d.name.width());
    let name = MARGIN + names.max().unwrap_or(0).max("to ready".len());
    // Of what only says how long units took, there is none.
    let total = Some(&comparison.total).filter(|total| total.is_known());
    let all = || comparison.phases.iter().chain(total);
    let texts = all().flat_map(|d| [duration(sides(d).0), duration(sides(d).1)]);
    let time = texts.map(|text| text.width()).max().unwrap_or(0).max(9);
    // Two times, an arrow and a change stand behind the bar; where there is no
    // room for all of them the first time goes.
    let columns = page.columns().saturating_sub(name + 2);
    let numbers = time + 3 + time + time + 2;
    let both = columns >= numbers;
    let bar = columns.saturating_sub(numbers);
    for delta in all() {
        let (old, new) = sides(delta);
        let is_total = std::ptr::eq(delta, &comparison.total);
        let ready = comparison.before_ready && comparison.after_ready;
        let label = match (is_total, ready) {
            (true, true) => "to ready",
            (true, false) => "seen",
            (false, _) => &delta.name,
        };
        let mut line = Line::indented(MARGIN).with(label, Ink::Strong).fit(name);
        line.push("  ", Ink::Plain);
        let drawn = if is_total {
            Line::default()
        } else {
            stacked(delta, longest, bar)
        };
        line.append(drawn.fit(bar));
        if both {
            let old = Line::default().with(&duration(old), Ink::Plain);
            line.append(old.right_aligned(time).with(" → ", Ink::Faint));
        }
        let now = Line::default().with(&duration(new), Ink::Strong);
        line.append(now.right_aligned(time));
        let ink = change_ink(delta, &comparison.total);
        let by = change(new.saturating_sub(old));
        line.append(Line::default().with(&by, ink).right_aligned(time + 2));
        page.line(line);
    }
}

/// Good or bad news, unless it is too small to be any.
fn change_ink(delta: &Delta, total: &Delta) -> Ink {
    let least = total.before_ns.unwrap_or(0) / SMALLEST;
    match delta.delta_ns {
        ns if ns.saturating_abs() < least => Ink::Faint,
        1.. => Ink::Bad,
        _ => Ink::Good,
    }
}

fn stacked(delta: &Delta, longest: i64, columns: usize) -> Line {
    let (old, new) = (delta.before_ns.unwrap_or(0), delta.after_ns.unwrap_or(0));
    let kept = bar::block(0, old.min(new), longest, columns);
    let all = bar::block(0, old.max(new), longest, columns);
    let kept = if old.min(new) == 0 {
        String::new()
    } else {
        kept
    };
    let rest = all.chars().count().saturating_sub(kept.chars().count());
    let (shade, ink) = if new > old {
        ("▓", Ink::Bad)
    } else {
        ("░", Ink::Faint)
    };
    let line = Line::default().with(&kept, ink_of(&delta.name));
    if old == new {
        line
    } else {
        line.with(&shade.repeat(rest), ink)
    }
}

/// Deltas name phases by their words.
pub(crate) fn ink_of(name: &str) -> Ink {
    use PhaseName::{Application, Bootloader, Firmware, Initramfs, Kernel, Userspace};
    let all = [
        Firmware,
        Bootloader,
        Kernel,
        Initramfs,
        Userspace,
        Application,
    ];
    let phase = all.into_iter().find(|phase| phase.text() == name);
    phase.map_or(Ink::Plain, Ink::Phase)
}

pub(crate) fn places(title: &str, deltas: &[&Delta], ink: Ink, page: &mut Page<'_>) {
    if deltas.is_empty() {
        return;
    }
    page.heading(title);
    let mut table = Table::new(&[
        ("change", Align::Right),
        ("where", Align::Flex),
        ("before", Align::Right),
        ("after", Align::Right),
    ])
    .without(&["before", "after"]);
    let side = |ns: Option<i64>| cell(&ns.map_or("–".to_owned(), duration), Ink::Faint);
    for delta in deltas.iter().take(SHOWN) {
        table.row(vec![
            cell(&change(delta.delta_ns), ink),
            cell(&delta.name, Ink::Plain),
            side(delta.before_ns),
            side(delta.after_ns),
        ]);
    }
    table.render(page);
    if deltas.len() > SHOWN {
        let rest = deltas[SHOWN..]
            .iter()
            .map(|d| d.delta_ns)
            .fold(0, i64::saturating_add);
        let text = format!(
            "and {} more, {} together",
            deltas.len() - SHOWN,
            change(rest)
        );
        page.wrapped(Line::indented(MARGIN), &text, Ink::Faint);
    }
}
