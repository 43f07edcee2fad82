//! `bootlap recipes` and `bootlap rules`: names and what stands behind them.

use bootlap_advice::Rule;

use crate::terminal::{Ink, Line, MARGIN, Page, Style};

/// One entry of a catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// As it is typed.
    pub name: String,
    /// What it is, in one line.
    pub title: String,
    /// What else there is to say, a line each.
    pub notes: Vec<String>,
}

/// Columns of a name, if the page is wide enough to have them beside the
/// titles.
const NAME: usize = 24;
const WIDE: usize = 60;

/// The entries, in their order.
pub fn text(entries: &[Entry], style: &Style) -> String {
    let mut page = Page::new(style);
    for entry in entries {
        let name = Line::indented(MARGIN).with(&entry.name, Ink::Command);
        let beside = page.columns() >= WIDE && name.width() <= MARGIN + NAME;
        let indent = match page.columns() {
            ..WIDE => MARGIN + 2,
            _ => MARGIN + NAME + 1,
        };
        let first = match beside {
            true => name.fit(indent),
            false => {
                page.line(name);
                Line::indented(indent)
            }
        };
        page.wrapped(first, &entry.title, Ink::Plain);
        for note in &entry.notes {
            page.wrapped(Line::indented(indent), note, Ink::Faint);
        }
    }
    page.finish()
}

/// Rules of one layer, under its name.
pub fn rules(rules: &[&Rule], style: &Style) -> String {
    let mut page = Page::new(style);
    if let Some(first) = rules.first() {
        page.heading(first.page.layer.text());
    }
    let entries = rules.iter().map(|rule| Entry {
        name: rule.name.to_owned(),
        title: rule.page.title().to_owned(),
        notes: Vec::new(),
    });
    page.finish() + &text(&entries.collect::<Vec<_>>(), style) + "\n"
}

/// The page of a rule, its Markdown as plain text.
pub fn rule(rule: &Rule, style: &Style) -> String {
    let mut page = Page::new(style);
    page.heading(rule.name);
    for paragraph in rule.page.text.split("\n\n") {
        let text = paragraph.replace('\n', " ").replace("**", "");
        page.blank();
        page.wrapped(Line::indented(MARGIN), &text, Ink::Plain);
    }
    page.finish() + "\n"
}
