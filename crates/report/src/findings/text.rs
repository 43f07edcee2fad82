//! Advice, best first.

use std::collections::BTreeSet;

use bootlap_advice::Finding;
use bootlap_analysis::extent;
use bootlap_model::{Timeline, shell_word};

use super::remedy::claimed_before;
use super::risk;
use crate::boot::headline::is_of_no_boot;
use crate::boot::text::costs::expected;
use crate::terminal::{Ink, Line, MARGIN, Page, Style};

/// Sources of which no rule looks at anything, but for what Android's runtime marks in a trace.
const WITHOUT_RULES: [&str; 11] = [
    "strace",
    "perf",
    "ftrace",
    "trace-cmd",
    "perfetto",
    "kfi",
    "logic",
    "vcd",
    "getprop",
    "bootstat",
    "stopwatch",
];

/// Every finding about a timeline: what it saves, why, and how to do it.
pub fn text(findings: &[Finding], timeline: &Timeline, style: &Style) -> String {
    let mut page = Page::new(style);
    if findings.is_empty() {
        page.wrapped(Line::indented(MARGIN), &nothing(timeline), Ink::Plain);
    }
    let shared = claimed_before(findings);
    for (at, finding) in findings.iter().enumerate() {
        page.blank();
        entry(at + 1, finding, shared[at], &mut page);
    }
    page.finish()
}

/// What is said of a boot without findings: where no rule has looked, nothing can be found.
fn nothing(timeline: &Timeline) -> String {
    let sources: BTreeSet<&str> = timeline.files.iter().map(|f| &*f.source).collect();
    let unseen = |source: &&str| WITHOUT_RULES.contains(source);
    match !sources.is_empty() && sources.iter().all(unseen) {
        true => {
            let sources: Vec<&str> = sources.into_iter().collect();
            if !timeline.file_uses.is_empty() {
                return format!(
                    "Of evidence of this kind ({}) rules look only at which files are read, and \
                     find nothing to improve: `bootlap show --by reads` lists these; a kernel log \
                     or what systemd-analyze prints tells rules more.",
                    sources.join(", ")
                );
            }
            format!(
                "Hardly any rule looks at evidence of this kind ({}): `bootlap show` says where the time \
                 went; a kernel log or what systemd-analyze prints tells rules more.",
                sources.join(", ")
            )
        }
        false if is_of_no_boot(timeline) => {
            "Nothing in this log says that a boot began or ended, so there is nothing to improve: \
             record one from its start."
                .to_owned()
        }
        false if extent(timeline).is_some_and(|seen| seen.duration_ns() == 0) => {
            "All that has a time in it is at one moment, so nothing can be measured: record the \
             boot with `bootlap boot` or `bootlap capture`, which stamp each byte."
                .to_owned()
        }
        false => "Nothing found to improve.".to_owned(),
    }
}

fn entry(number: usize, finding: &Finding, shares: Option<usize>, page: &mut Page<'_>) {
    let mut title = Line::indented(MARGIN).with(&format!("{number:>2}  "), Ink::Faint);
    let indent = title.width();
    title.push(&finding.title, Ink::Strong);
    page.line_with_right(title, Line::default().with(&expected(finding), Ink::Good));
    let label = |name: &str| Line::indented(indent).with(&format!("{name:<7}"), Ink::Faint);
    let mut basis = finding.saving.basis.clone();
    if let Some(other) = shares {
        basis += &format!("; {} claims the same time: do not add the two", other + 1);
    }
    for (name, text) in [
        ("why", &finding.why),
        ("saving", &basis),
        ("fix", &finding.fix),
        ("risk", &risk(finding)),
    ] {
        if !text.is_empty() {
            page.wrapped(label(name), text, Ink::Plain);
        }
    }
    match &finding.recipe {
        Some(recipe) => page.wrapped(label("recipe"), &shell_word(recipe), Ink::Command),
        None => page.wrapped(
            label("recipe"),
            "none applies: to be done by hand",
            Ink::Faint,
        ),
    }
    page.wrapped(label("rule"), &finding.rule, Ink::Faint);
}
