//! The largest costs, why they are there, and what removes them.

use bootlap_advice::{Finding, SavingKind};
use bootlap_analysis::Cost;
use bootlap_model::shell_word;

use crate::Report;
use crate::findings::remedies;
use crate::format::{duration, percent};
use crate::terminal::{Ink, Line, MARGIN, Page};

/// How many costs a summary shows.
const SHOWN: usize = 5;
/// Where names begin, after the time.
const INDENT: usize = MARGIN + 11;
/// From this share on, a cost is called waiting.
const WAITING: f64 = 0.05;

pub(crate) fn section(report: &Report<'_>, page: &mut Page<'_>) {
    if !report.costs.is_empty() {
        page.heading("largest costs");
    }
    let remedies = remedies(&report.costs, &report.findings);
    for (at, cost) in report.costs.iter().enumerate().take(SHOWN) {
        entry(report, cost, remedies[at], page);
    }
    others(report, &remedies, page);
}

fn entry(report: &Report<'_>, cost: &Cost, remedy: Option<usize>, page: &mut Page<'_>) {
    let time = Line::default().with(&duration(cost.duration_ns), Ink::Strong);
    let mut line = Line::indented(MARGIN);
    line.append(time.right_aligned(9));
    line.push("  ", Ink::Plain);
    let indent = line.width();
    line.push(&cost.name, Ink::Strong);
    page.line_with_right(line, circumstances(cost));
    page.wrapped(Line::indented(indent), &cost.why, Ink::Faint);
    if let Some(finding) = remedy.and_then(|at| report.findings.get(at)) {
        hint(&report.about.typed(), finding, indent, page);
    }
}

/// The phase it lies in, and whether the machine waited meanwhile.
fn circumstances(cost: &Cost) -> Line {
    let mut line = Line::default();
    if let Some(share) = cost.idle_share.filter(|share| *share >= WAITING) {
        line.push(&format!("{} waiting", percent(share)), Ink::Warn);
        line.push(" · ", Ink::Faint);
    }
    if let Some(phase) = cost.phase {
        line.push(phase.text(), Ink::Phase(phase));
    }
    line
}

/// What to type, or what to do by hand, and what it should save.
fn hint(target: &str, finding: &Finding, indent: usize, page: &mut Page<'_>) {
    let arrow = Line::indented(indent).with("→ ", Ink::Command);
    let (what, ink) = match &finding.recipe {
        Some(recipe) => (
            format!("bootlap try {target} {}", shell_word(recipe)),
            Ink::Command,
        ),
        None => (finding.title.clone(), Ink::Plain),
    };
    let saving = Line::default().with(&expected(finding), Ink::Good);
    let line = arrow.clone().with(&what, ink);
    if line.width() + 2 + saving.width() <= page.columns() {
        page.line_with_right(line, saving);
    } else {
        // A command that is cut is of no use to anybody.
        page.wrapped(arrow, &what, ink);
        page.wrapped(Line::indented(indent + 2), &expected(finding), Ink::Good);
    }
}

/// The expected saving, with the kind of time it is of.
pub(crate) fn expected(finding: &Finding) -> String {
    let up_to = if finding.saving.is_bound() {
        "up to "
    } else {
        ""
    };
    let time = duration(finding.saving.ns);
    match finding.saving.kind {
        SavingKind::ThisBoot => format!("saves {up_to}{time}"),
        SavingKind::PredictedBoard => format!("saves {up_to}{time} (predicted)"),
        SavingKind::Unknown if finding.takes_ns > 0 => {
            format!("takes {}, to be tried", duration(finding.takes_ns))
        }
        SavingKind::Unknown => "to be tried".into(),
    }
}

/// Findings that belong to none of the costs shown.
fn others(report: &Report<'_>, remedies: &[Option<usize>], page: &mut Page<'_>) {
    let shown = &remedies[..remedies.len().min(SHOWN)];
    let mut left: Vec<_> = (0..report.findings.len()).collect();
    left.retain(|at| !shown.contains(&Some(*at)));
    if left.is_empty() {
        return;
    }
    page.heading(if shown.iter().any(Option::is_some) {
        "also possible"
    } else {
        "possible"
    });
    for at in left.iter().take(SHOWN) {
        hint(&report.about.typed(), &report.findings[*at], INDENT, page);
    }
    if left.len() > SHOWN {
        let text = format!(
            "and {} more: bootlap advise {}",
            left.len() - SHOWN,
            report.about.typed()
        );
        page.line(Line::indented(INDENT).with(&text, Ink::Faint));
    }
}
