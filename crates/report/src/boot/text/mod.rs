//! One boot on one screen.

pub(crate) mod costs;
mod disks;
pub(crate) mod gaps;
mod notices;
mod phases;
mod predicted;

pub use notices::notices;

pub(crate) use gaps::length;
pub(crate) use notices::{entry as notice, place};
pub(crate) use phases::waterfall;

use crate::Report;
use crate::boot::headline::{Outcome, alone};
use crate::format::{count, duration};
use crate::sink::Sink;
use crate::terminal::{Ink, Line, MARGIN, Page, Style};
use crate::{comparison, findings, trials};

/// The format.
pub const TEXT: Sink = Sink {
    name: "text",
    title: "what the terminal shows",
    extensions: &["txt"],
    choices: &[],
    write: |report, _, out| {
        let style = Style::wide(100);
        let mut parts = vec![text(report, &style)];
        if report.before.is_some() {
            parts.push(comparison::text(report, &style));
        }
        if !report.findings.is_empty() {
            parts.push(findings::text(&report.findings, report.timeline, &style));
        }
        if !report.trials.is_empty() {
            parts.push(trials::text(&report.trials, &style));
        }
        Ok(out.write_all(parts.join("\n").as_bytes())?)
    },
};

/// What a boot took, where the time went, and what to do about it.
pub fn text(report: &Report<'_>, style: &Style) -> String {
    let mut page = Page::new(style);
    headline(report, &mut page);
    phases::section(report, &mut page);
    predicted::section(report, &mut page);
    disks::section(report, &mut page);
    costs::section(report, &mut page);
    gaps::section(report, &mut page);
    notices::section(report.timeline, &mut page);
    page.finish()
}

/// How short a name may become, with what stands before it, in columns.
const SHORTEST_NAME: usize = 16;

/// Target and time, the kind of time, and what stands behind the number.
fn headline(report: &Report<'_>, page: &mut Page<'_>) {
    let about = &report.about;
    let name = if about.target.is_empty() {
        "this boot"
    } else {
        &about.target
    };
    let mut line = page.subject(name);
    let said = alone(report);
    let label = time_label(&about.time);
    // A sentence is broken rather than cut.
    let space = page.columns().saturating_sub(label.width() + 2);
    let fits = line.width() + said.chars().count() <= space;
    let broken = said.split_once("; ").or_else(|| said.split_once(", "));
    let (said, rest) = match broken.filter(|_| !fits) {
        Some((said, rest)) => (said, Some(rest)),
        None => (said.as_str(), None),
    };
    // What cannot be broken takes room from the name.
    if rest.is_none() && !fits {
        line.cut(
            space
                .saturating_sub(said.chars().count())
                .max(SHORTEST_NAME),
        );
    }
    match Outcome::of(report) {
        Outcome::Ready { ns, .. } => {
            let number = duration(ns);
            line.push(said.strip_suffix(&*number).unwrap_or(said), Ink::Plain);
            line.push(&number, Ink::Strong);
        }
        Outcome::NotReady(_) => line.push(said, Ink::Bad),
        Outcome::Ended { .. } | Outcome::Seen(_) => line.push(said, Ink::Plain),
    }
    let rest = rest.map(|rest| Line::indented(MARGIN).with(rest, Ink::Plain));
    match rest {
        Some(rest) if line.width() > space && line.width() <= page.columns() => {
            page.line(line);
            page.line_with_right(rest, label);
        }
        rest => {
            page.line_with_right(line, label);
            rest.into_iter().for_each(|rest| page.line(rest));
        }
    }
    let facts = facts(report).join(" · ");
    if !facts.is_empty() {
        page.wrapped(Line::indented(MARGIN), &facts, Ink::Faint);
    }
}

/// Says which kind of time the numbers are: it is never left open.
pub(crate) fn time_label(time: &str) -> Line {
    let time = if time.is_empty() { "unlabelled" } else { time };
    Line::default().with(&format!("{time} time"), Ink::Warn)
}

fn facts(report: &Report<'_>) -> Vec<String> {
    let about = &report.about;
    let mut facts = Vec::new();
    if let Some(n) = about.instructions {
        facts.push(format!("{} instructions", count(n)));
    }
    match about.identical {
        Some(true) => facts.push("booted twice, bit for bit the same".to_owned()),
        Some(false) => facts.push("booted twice, NOT the same".to_owned()),
        None => {}
    }
    if !about.machine.is_empty() {
        facts.push(about.machine.clone());
    }
    facts
}
