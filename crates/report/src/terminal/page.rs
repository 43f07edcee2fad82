//! Lines collected into the finished text.

use unicode_width::UnicodeWidthStr;

use crate::terminal::line::{Line, fitting_prefix};
use crate::terminal::style::{Ink, Style};

/// The margin on the left.
pub(crate) const MARGIN: usize = 2;

/// Below this width two things rarely go beside each other.
const NARROW: usize = 60;

/// A text under construction.
pub(crate) struct Page<'a> {
    pub(crate) style: &'a Style,
    text: String,
}

impl<'a> Page<'a> {
    pub(crate) fn new(style: &'a Style) -> Self {
        Self {
            style,
            text: String::new(),
        }
    }

    /// The columns that lines may fill, margin included.
    pub(crate) fn columns(&self) -> usize {
        self.style.columns()
    }

    /// Adds a line, cut at the right edge.
    pub(crate) fn line(&mut self, mut line: Line) {
        line.cut(self.columns());
        line.render(self.style, &mut self.text);
    }

    /// Adds a line with something at its right edge; the left part gives way,
    /// or where that would leave little of it, the right one goes below it.
    pub(crate) fn line_with_right(&mut self, left: Line, right: Line) {
        let columns = self.columns();
        let space = columns.saturating_sub(right.width() + 2);
        let little = space < columns / 2 || columns < NARROW;
        if left.width() > space && little {
            self.line(left);
            self.line(right.right_aligned(columns));
            return;
        }
        let mut line = left.fit(space);
        line.push("  ", Ink::Plain);
        line.append(right);
        self.line(line);
    }

    /// Adds an empty line, unless there is one or nothing yet.
    pub(crate) fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// The first words of a page: what it is about. A long name gives way to
    /// what is said of it.
    pub(crate) fn subject(&self, name: &str) -> Line {
        let mut name = Line::default().with(name, Ink::Strong);
        name.cut(self.columns() / 2);
        let mut line = Line::indented(MARGIN);
        line.append(name);
        line
    }

    /// Begins a section.
    pub(crate) fn heading(&mut self, title: &str) {
        self.blank();
        self.wrapped(Line::indented(MARGIN), title, Ink::Strong);
    }

    /// Adds text, wrapped at words; `first` stands before its first line and
    /// the others are aligned with it.
    pub(crate) fn wrapped(&mut self, first: Line, text: &str, ink: Ink) {
        let indent = first.width();
        let space = self.columns().saturating_sub(indent).max(1);
        let mut lead = Some(first);
        for piece in wrap(&crate::clean::clean(text), space) {
            let line = lead.take().unwrap_or_else(|| Line::indented(indent));
            self.line(line.with(&piece, ink));
        }
        if let Some(line) = lead {
            self.line(line);
        }
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// Breaks `text` at spaces into lines of at most `columns`; a longer word is
/// broken where it must be.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    // Not `split_whitespace`: a no-break space keeps words together.
    for mut word in text.split([' ', '\n']).filter(|w| !w.is_empty()) {
        if !line.is_empty() && line.width() + 1 + word.width() > columns {
            lines.push(std::mem::take(&mut line));
        }
        while word.width() > columns {
            let head = fitting_prefix(word, columns);
            // A character wider than the line has to go somewhere.
            let at = if head.is_empty() {
                word.len()
            } else {
                head.len()
            };
            lines.push(word[..at].to_owned());
            word = &word[at..];
        }
        if !line.is_empty() && !word.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// What a table that has no rows says.
pub(crate) fn nothing(text: &str, style: &Style) -> String {
    let mut page = Page::new(style);
    page.wrapped(Line::indented(MARGIN), text, Ink::Plain);
    page.finish()
}

/// Says how many rows of a table were left out, if any were.
pub(crate) fn left_out(all: usize, shown: usize, which: &str, page: &mut Page<'_>) {
    if all > shown {
        let text = format!("{shown} of {all} shown: {which}");
        page.wrapped(Line::indented(MARGIN), &text, Ink::Faint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_at_words_and_breaks_what_is_too_long() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("a 世世世", 4), ["a", "世世", "世"]);
        assert_eq!(wrap("世", 1), ["世"]);
        assert_eq!(wrap("  ", 4), Vec::<String>::new());
        assert_eq!(wrap("10\u{a0}ms later", 6), ["10\u{a0}ms", "later"]);
    }

    #[test]
    fn continuation_lines_are_aligned() {
        let style = Style::wide(60);
        let mut page = Page::new(&style);
        let text = "word ".repeat(14);
        page.wrapped(
            Line::indented(2).with("why ", Ink::Faint),
            &text,
            Ink::Plain,
        );
        let text = page.finish();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].starts_with("  why word"));
        assert!(lines[1].starts_with("      word"));
    }
}
