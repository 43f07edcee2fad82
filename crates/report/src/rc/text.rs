//! The order of init scripts.

use crate::format::{count, duration};
use crate::rc::{RcLeftOut, RcReport, RcScript, RcTimes, RcWait};
use crate::terminal::{Align, Ink, Line, MARGIN, Page, Style, Table, cell};

/// Where what is said of the times begins.
const INDENT: usize = MARGIN + 15;

/// Scripts that are waited for by the same reason have a line each, up to so many.
const MOST_LINES: usize = 4;

/// The scripts by waves, what each waits for, and what that says of the times.
pub fn text(report: &RcReport, style: &Style) -> String {
    let mut page = Page::new(style);
    let waves = report.scripts.iter().map(|s| s.wave).max().unwrap_or(0);
    let scripts = report.scripts.len() as u64;
    let line = page.subject(&report.dir);
    let text = format!(" {} scripts in {waves} waves", count(scripts));
    page.line(line.with(&text, Ink::Plain));
    if !report.scripts.is_empty() {
        page.blank();
        waits(report, &mut page);
    }
    if let Some(times) = &report.times {
        page.blank();
        self::times(times, &mut page);
    }
    notes(report, &mut page);
    page.finish()
}

fn waits(report: &RcReport, page: &mut Page<'_>) {
    let timed = report.times.is_some();
    let mut columns = vec![("wave", Align::Right), ("script", Align::Left)];
    if timed {
        columns.push(("takes", Align::Right));
    }
    columns.extend([("waits for", Align::Left), ("by", Align::Flex)]);
    let mut table = Table::new(&columns).without(&["by"]);
    let mut scripts: Vec<&RcScript> = report.scripts.iter().collect();
    scripts.sort_by_key(|script| script.wave);
    let mut wave = 0;
    for script in scripts {
        let number = match script.wave == wave {
            true => Line::default(),
            false => cell(&script.wave.to_string(), Ink::Faint),
        };
        wave = script.wave;
        let ink = if script.critical {
            Ink::Strong
        } else {
            Ink::Plain
        };
        let alone = if script.alone { " (alone)" } else { "" };
        let name = cell(&script.name, ink).with(alone, Ink::Warn);
        let mut lead = vec![number, name];
        if timed {
            let time = script.ns.map_or("unknown".to_owned(), duration);
            lead.push(cell(&time, ink));
        }
        let width = lead.len();
        if script.waits.is_empty() {
            table.row(lead);
            continue;
        }
        for (on, why) in together(&script.waits) {
            let mut cells = std::mem::take(&mut lead);
            cells.resize_with(width, Line::default);
            cells.extend([cell(&on, Ink::Plain), cell(why, Ink::Faint)]);
            table.row(cells);
        }
    }
    table.render(page);
}

/// What a script waits for, line by line: many for one reason (`$all`, the boot's own
/// level) are a line.
fn together(waits: &[RcWait]) -> Vec<(String, &str)> {
    let mut lines: Vec<(String, &str)> = Vec::new();
    for (at, RcWait { on, why }) in waits.iter().enumerate() {
        let same = |other: &&RcWait| other.why == *why;
        let more = waits.iter().filter(same).count() - 1;
        if more < MOST_LINES {
            lines.push((on.clone(), why));
        } else if !waits.iter().take(at).any(|wait| same(&wait)) {
            lines.push((format!("{on} and {more} more"), why));
        }
    }
    lines
}

fn times(times: &RcTimes, page: &mut Page<'_>) {
    let mut said = |what: &str, text: &str| {
        let first = Line::indented(MARGIN).with(what, Ink::Faint);
        page.wrapped(first.fit(INDENT), text, Ink::Plain);
    };
    said("one by one", &duration(times.work_ns));
    if let Some(ns) = times.seen_ns {
        said("as seen", &duration(ns));
    }
    let chain = times.critical.join(" → ");
    let critical = format!("{}: {chain}", duration(times.critical_ns));
    said("critical path", &critical);
    let found = duration(times.found_ns);
    let best = match (times.is_best, times.found_ns == times.critical_ns) {
        (true, true) => format!("{found}, as long as the critical path"),
        (true, false) => format!("{found}, if each script keeps a CPU busy"),
        (false, _) => format!(
            "{} at least, {found} found, if each script keeps a CPU busy",
            duration(times.bound_ns)
        ),
    };
    said(&format!("on {} CPUs", times.cpus), &best);
}

fn notes(report: &RcReport, page: &mut Page<'_>) {
    page.blank();
    let mut note = |text: &str, ink: Ink| page.wrapped(Line::indented(MARGIN), text, ink);
    for RcLeftOut { file, why } in &report.left_out {
        note(&format!("not started: {file}: {why}"), Ink::Faint);
    }
    let unknown = report.times.iter().flat_map(|t| &t.unknown);
    let unknown: Vec<&str> = unknown.map(String::as_str).collect();
    if !unknown.is_empty() {
        note(
            &format!("without a time: {}", unknown.join(", ")),
            Ink::Warn,
        );
    }
    for text in &report.notes {
        note(text, Ink::Warn);
    }
    if let Some(plan) = &report.plan {
        let text = format!(
            "{plan}: for `bootlap-agent rc`, scripts in {}",
            report.on_target
        );
        note(&text, Ink::Plain);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_waits_for_one_reason_are_a_line() {
        let wait = |on: &str, why: &str| RcWait {
            on: on.to_owned(),
            why: why.to_owned(),
        };
        let mut waits = vec![wait("net", "Required-Start: net")];
        waits.extend(["a", "b", "c", "d"].map(|on| wait(on, "$all")));
        assert_eq!(together(&waits).len(), 5);
        waits.push(wait("e", "$all"));
        let lines: Vec<String> = together(&waits).into_iter().map(|(on, _)| on).collect();
        assert_eq!(lines, ["net", "a and 4 more"]);
    }
}
