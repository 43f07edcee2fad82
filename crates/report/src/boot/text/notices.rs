//! What could not be used or had to be assumed.

use std::collections::BTreeSet;

use bootlap_model::{Axis, ClockKind, Evidence, How, Notice, Severity, Timeline};

use crate::terminal::{Ink, Line, MARGIN, Page, Style};

/// All notices of all sources, and how much of each file was used.
pub fn notices(timeline: &Timeline, style: &Style) -> String {
    let mut page = Page::new(style);
    if !timeline.files.is_empty() {
        page.heading("evidence");
    }
    for file in &timeline.files {
        let usage = file.usage;
        let mut used = format!("{} of {} lines used", usage.used, usage.total);
        if usage.skipped > 0 {
            used = format!("{used}, {} skipped", usage.skipped);
        }
        let line = Line::indented(MARGIN).with(&file.name, Ink::Plain);
        let line = line.with(&format!("  {}", file.source), Ink::Faint);
        page.line_with_right(line, Line::default().with(&used, Ink::Plain));
    }
    list(timeline, Severity::Info, &mut page);
    page.finish()
}

/// The notices that a summary must not hide.
pub(crate) fn section(timeline: &Timeline, page: &mut Page<'_>) {
    list(timeline, Severity::Notice, page);
}

fn list(timeline: &Timeline, least: Severity, page: &mut Page<'_>) {
    let assumed = assumed_clocks(timeline);
    let shown = timeline.notices.iter().filter(|n| n.severity >= least);
    let mut shown: Vec<_> = shown.collect();
    // The worst first; a stable sort keeps the sources' order otherwise.
    shown.sort_by_key(|n| std::cmp::Reverse(n.severity));
    if shown.is_empty() && assumed.is_empty() {
        return;
    }
    page.heading("notices");
    for text in assumed {
        page.wrapped(
            Line::indented(MARGIN).with("! ", Ink::Warn),
            &text,
            Ink::Plain,
        );
    }
    for notice in shown {
        entry(notice, MARGIN, |at| place(timeline, at), page);
    }
}

/// One notice, with its places as `place` writes them.
pub(crate) fn entry(
    notice: &Notice,
    indent: usize,
    place: impl Fn(&Evidence) -> String,
    page: &mut Page<'_>,
) {
    let (sign, ink) = match notice.severity {
        Severity::Info => ("· ", Ink::Faint),
        Severity::Notice => ("! ", Ink::Warn),
        Severity::DataLoss | Severity::Error => ("! ", Ink::Bad),
    };
    let mut text = notice.remedy.clone();
    if notice.count > 1 {
        text = format!("{} times: {text}", notice.count);
    }
    let places: Vec<_> = notice.first.iter().map(place).collect();
    let mut first = notice.code.clone();
    if !places.is_empty() {
        first = format!("{first} ({})", places.join(", "));
    }
    page.wrapped(
        Line::indented(indent).with(sign, ink),
        &format!("{first}: {text}"),
        Ink::Plain,
    );
}

/// `file:line`, as editors understand it.
pub(crate) fn place(timeline: &Timeline, evidence: &Evidence) -> String {
    format!("{}:{}", timeline.file(evidence.file).name, evidence.line)
}

/// Clocks that are on the axis by assumption only: no report may hide them.
fn assumed_clocks(timeline: &Timeline) -> Vec<String> {
    let axis = Axis::of(timeline);
    let edges = timeline.edges.iter().flat_map(|edge| [edge.from, edge.to]);
    let assumed = edges.filter(|c| axis.how(*c) == Some(How::Assumed));
    let kinds: BTreeSet<ClockKind> = assumed.map(|c| timeline.clock(c).kind).collect();
    let text =
        |clock: ClockKind| format!("the place of the {} is assumed, not known", clock.text());
    kinds.into_iter().map(text).collect()
}
