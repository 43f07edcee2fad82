//! Advice, best first.

use bootlap_advice::Finding;

use crate::boot::text::costs::expected;
use crate::terminal::{Ink, Line, MARGIN, Page, Style};

/// Every finding: what it saves, why, and how to do it.
pub fn text(findings: &[Finding], style: &Style) -> String {
    let mut page = Page::new(style);
    if findings.is_empty() {
        page.line(Line::indented(MARGIN).with("Nothing found to improve.", Ink::Plain));
    }
    for (at, finding) in findings.iter().enumerate() {
        page.blank();
        entry(at + 1, finding, &mut page);
    }
    page.finish()
}

fn entry(number: usize, finding: &Finding, page: &mut Page<'_>) {
    let mut title = Line::indented(MARGIN).with(&format!("{number:>2}  "), Ink::Faint);
    let indent = title.width();
    title.push(&finding.title, Ink::Strong);
    page.line_with_right(title, Line::default().with(&expected(finding), Ink::Good));
    let label = |name: &str| Line::indented(indent).with(&format!("{name:<7}"), Ink::Faint);
    for (name, text) in [
        ("why", &finding.why),
        ("saving", &finding.saving.basis),
        ("fix", &finding.fix),
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
