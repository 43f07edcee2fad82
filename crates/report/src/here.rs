//! `bootlap here`: what frames the report of this very machine's boot.

use crate::terminal::{Ink, Line, MARGIN, Page, Style};

/// What could not be read, each with why, and what to do about it.
pub fn missed(all: &[(&str, &str)], advice: &str, style: &Style) -> String {
    let mut page = Page::new(style);
    for (what, why) in all {
        let line = Line::indented(MARGIN).with("not known  ", Ink::Faint);
        page.wrapped(line, &format!("{what}: {why}"), Ink::Faint);
    }
    if !advice.is_empty() {
        page.wrapped(Line::indented(MARGIN), advice, Ink::Plain);
    }
    page.finish()
}
