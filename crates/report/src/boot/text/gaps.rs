//! Silence on the console, in short.

use bootlap_analysis::Gap;

use crate::Report;
use crate::format::{duration, moment_in_words, percent};
use crate::terminal::{Ink, Line, MARGIN, Page};

/// How many silences a summary shows.
const SHOWN: usize = 3;

pub(crate) fn section(report: &Report<'_>, page: &mut Page<'_>) {
    if report.gaps.is_empty() {
        return;
    }
    page.heading("silences");
    let sum: i64 = report.gaps.iter().map(length).fold(0, i64::saturating_add);
    let what = match report.gaps.len() {
        1 => "one stretch without a word".to_owned(),
        n => format!("{n} stretches without a word"),
    };
    let mut text = format!("{what}, {} in all", duration(sum));
    if let Some(waiting) = waiting(&report.gaps) {
        text = format!("{text}; {} of that the machine waited", duration(waiting));
    }
    page.wrapped(Line::indented(MARGIN), &text, Ink::Faint);
    for gap in report.gaps.iter().take(SHOWN) {
        page.line_with_right(row(gap), share(gap));
    }
}

fn row(gap: &Gap) -> Line {
    let time = Line::default().with(&duration(length(gap)), Ink::Plain);
    let mut line = Line::indented(MARGIN);
    line.append(time.right_aligned(9));
    line.push(
        &format!("  at {} after ", moment_in_words(gap.start.ns)),
        Ink::Faint,
    );
    line.push(gap.before.trim(), Ink::Plain);
    line
}

fn share(gap: &Gap) -> Line {
    match gap.idle_share {
        Some(share) if share >= 0.05 => {
            Line::default().with(&format!("{} waiting", percent(share)), Ink::Warn)
        }
        Some(_) => Line::default().with("busy", Ink::Faint),
        None => Line::default(),
    }
}

pub(crate) fn length(gap: &Gap) -> i64 {
    gap.end.ns.saturating_sub(gap.start.ns)
}

/// How long the machine waited in all silences, where that is known.
fn waiting(gaps: &[Gap]) -> Option<i64> {
    let known = gaps
        .iter()
        .filter_map(|gap| Some((length(gap), gap.idle_share?)));
    let sum = known.fold(None, |sum, (ns, share)| {
        Some(sum.unwrap_or(0.0) + ns as f64 * share)
    });
    sum.map(|ns| ns as i64)
}
