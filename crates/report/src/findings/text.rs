//! Advice, best first.

use bootlap_advice::Finding;

use super::remedy::claimed_before;
use crate::boot::text::costs::expected;
use crate::terminal::{Ink, Line, MARGIN, Page, Style};

/// Every finding: what it saves, why, and how to do it.
pub fn text(findings: &[Finding], style: &Style) -> String {
    let mut page = Page::new(style);
    if findings.is_empty() {
        page.line(Line::indented(MARGIN).with("Nothing found to improve.", Ink::Plain));
    }
    let shared = claimed_before(findings);
    for (at, finding) in findings.iter().enumerate() {
        page.blank();
        entry(at + 1, finding, shared[at], &mut page);
    }
    page.finish()
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
        ("risk", &finding.risk()),
    ] {
        if !text.is_empty() {
            page.wrapped(label(name), text, Ink::Plain);
        }
    }
    match &finding.recipe {
        Some(recipe) => page.wrapped(label("recipe"), recipe, Ink::Command),
        None => page.wrapped(
            label("recipe"),
            "none applies: to be done by hand",
            Ink::Faint,
        ),
    }
    page.wrapped(label("rule"), &finding.rule, Ink::Faint);
}
