//! One line of output: pieces of harmless text, each in its ink.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::clean::clean;
use crate::terminal::style::{Ink, Style, to_ascii};

/// A line under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    pieces: Vec<(String, Ink)>,
}

impl Line {
    /// A line that begins with `indent` spaces.
    pub(crate) fn indented(indent: usize) -> Self {
        Self::default().with(&" ".repeat(indent), Ink::Plain)
    }

    /// Adds text; what could control a terminal is made visible first.
    pub(crate) fn push(&mut self, text: &str, ink: Ink) {
        if !text.is_empty() {
            self.pieces.push((clean(text).into_owned(), ink));
        }
    }

    /// [`push`](Self::push) for building in one expression.
    pub(crate) fn with(mut self, text: &str, ink: Ink) -> Self {
        self.push(text, ink);
        self
    }

    /// Adds the pieces of another line.
    pub(crate) fn append(&mut self, other: Line) {
        self.pieces.extend(other.pieces);
    }

    /// Columns that it takes up.
    pub(crate) fn width(&self) -> usize {
        self.pieces.iter().map(|(text, _)| text.width()).sum()
    }

    /// Makes it exactly `columns` wide: cut with `…`, or filled with spaces.
    pub(crate) fn fit(mut self, columns: usize) -> Self {
        self.cut(columns);
        let missing = columns.saturating_sub(self.width());
        self.with(&" ".repeat(missing), Ink::Plain)
    }

    /// Fills with spaces on the left; what is wider stays so, as a number that
    /// is cut is another number.
    pub(crate) fn right_aligned(self, columns: usize) -> Self {
        let mut line = Line::indented(columns.saturating_sub(self.width()));
        line.append(self);
        line
    }

    /// Shortens it to at most `columns`.
    pub(crate) fn cut(&mut self, columns: usize) {
        if self.width() <= columns {
            return;
        }
        let mut left = columns.saturating_sub(1);
        let mut pieces = Vec::new();
        for (text, ink) in self.pieces.drain(..) {
            let kept = fitting_prefix(&text, left);
            left -= kept.width().min(left);
            let whole = kept.len() == text.len();
            pieces.push((kept.to_owned(), ink));
            if !whole {
                break;
            }
        }
        if columns > 0 {
            let ink = pieces.last().map_or(Ink::Plain, |(_, ink)| *ink);
            pieces.push(("…".to_owned(), ink));
        }
        self.pieces = pieces;
    }

    /// Shortens it to at most `columns` from its start: a path's end tells more.
    pub(crate) fn without_start(mut self, columns: usize) -> Self {
        let mut over = self.width().saturating_sub(columns);
        if over == 0 || columns == 0 {
            return self.fit(columns);
        }
        over += 1;
        while over > 0 && !self.pieces.is_empty() {
            let (text, ink) = self.pieces.remove(0);
            let gone = fitting_prefix(&text, over).len();
            // One that is two columns wide may be half over.
            let gone = match text[gone..].chars().next() {
                Some(c) if text[..gone].width() < over => gone + c.len_utf8(),
                _ => gone,
            };
            over -= text[..gone].width().min(over);
            if over == 0 {
                self.pieces.insert(0, (format!("…{}", &text[gone..]), ink));
            }
        }
        self.fit(columns)
    }

    /// Writes it, with a newline and without spaces at its end.
    pub(crate) fn render(&self, style: &Style, out: &mut String) {
        let end = self.pieces.iter().rposition(|(t, _)| !t.trim().is_empty());
        let shown = end.map_or(0, |end| end + 1);
        for (at, (text, ink)) in self.pieces[..shown].iter().enumerate() {
            let last = at + 1 == shown;
            let text = if last { text.trim_end() } else { text };
            render_piece(text, *ink, style, out);
        }
        out.push('\n');
    }
}

fn render_piece(text: &str, ink: Ink, style: &Style, out: &mut String) {
    let sgr = ink.sgr().filter(|_| style.color);
    if let Some(sgr) = sgr {
        out.push_str("\x1b[");
        out.push_str(sgr);
        out.push('m');
    }
    for c in text.chars() {
        match c {
            // Only keeps words together while laying out.
            '\u{a0}' => out.push(' '),
            _ if style.unicode => out.push(c),
            _ => {
                let columns = c.width().unwrap_or(1);
                out.extend(std::iter::repeat_n(to_ascii(c), columns));
            }
        }
    }
    if sgr.is_some() {
        out.push_str("\x1b[0m");
    }
}

/// The longest beginning of `text` that fits into `columns`.
pub(crate) fn fitting_prefix(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > columns {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(line: &Line) -> String {
        let mut out = String::new();
        line.render(&Style::default(), &mut out);
        out
    }

    #[test]
    fn the_end_of_a_path_stays() {
        let path = |columns| {
            let line = Line::default().with("1:", Ink::Faint);
            plain(
                &line
                    .with("/usr/lib/世界.so", Ink::Plain)
                    .without_start(columns),
            )
        };
        assert_eq!(path(18), "1:/usr/lib/世界.so\n");
        assert_eq!(path(17), "…/usr/lib/世界.so\n");
        assert_eq!(path(8), "…世界.so\n");
        assert_eq!(path(7), "…界.so\n");
        assert_eq!(path(1), "…\n");
        assert_eq!(path(0), "\n");
    }

    #[test]
    fn cutting_counts_columns_not_characters() {
        let mut line = Line::default()
            .with("世界", Ink::Plain)
            .with("abc", Ink::Strong);
        line.cut(6);
        assert_eq!(plain(&line), "世界a…\n");
        line.cut(4);
        assert_eq!(plain(&line), "世…\n");
        assert_eq!(
            Line::default()
                .with("ab", Ink::Plain)
                .right_aligned(4)
                .width(),
            4
        );
        assert_eq!(plain(&Line::default().with("abc", Ink::Plain).fit(0)), "\n");
    }

    #[test]
    fn colours_only_when_asked_and_never_from_the_text() {
        let line = Line::default().with("\x1b[31mred\x1b]0;x\x07", Ink::Good);
        assert_eq!(plain(&line), "red␛]0;x␇\n");
        let mut out = String::new();
        let style = Style {
            color: true,
            unicode: false,
            width: 80,
        };
        line.render(&style, &mut out);
        assert_eq!(out, "\x1b[32mred?]0;x?\x1b[0m\n");
    }

    #[test]
    fn ascii_keeps_the_width() {
        let mut out = String::new();
        let style = Style {
            unicode: false,
            ..Style::default()
        };
        let line = Line::default().with("世→µ…", Ink::Plain);
        line.render(&style, &mut out);
        assert_eq!(out, "??>u~\n");
    }
}
