//! Tables whose columns fit their content. One of them gives way where the page
//! is narrow; where that is not enough, others go.

use crate::terminal::line::Line;
use crate::terminal::page::{MARGIN, Page};
use crate::terminal::style::Ink;

/// Spaces between columns.
const GUTTER: usize = 2;

/// With less than this, names cannot be told apart.
const FLEX_LEAST: usize = 13;

/// How a column is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
    /// Left, and as wide as what the others leave.
    Flex,
    /// The same for paths: what is cut is their beginning.
    FlexPath,
}

impl Align {
    fn is_flexible(self) -> bool {
        matches!(self, Self::Flex | Self::FlexPath)
    }
}

/// Rows under a heading.
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<Line>>,
    dispensable: &'static [&'static str],
}

impl Table {
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        let columns = columns
            .iter()
            .map(|(name, align)| ((*name).to_owned(), *align));
        Self {
            columns: columns.collect(),
            rows: Vec::new(),
            dispensable: &[],
        }
    }

    /// The columns that go where there is no room for them, the first one
    /// first.
    pub(crate) fn without(mut self, names: &'static [&'static str]) -> Self {
        self.dispensable = names;
        self
    }

    /// Adds a row; missing cells are empty.
    pub(crate) fn row(&mut self, cells: Vec<Line>) {
        self.rows.push(cells);
    }

    /// Writes the heading and the rows.
    pub(crate) fn render(mut self, page: &mut Page<'_>) {
        for name in self.dispensable {
            if self.fits(page.columns()) {
                break;
            }
            self.remove(name);
        }
        let widths = self.widths(page.columns());
        let heads = self.columns.iter().map(|(name, _)| cell(name, Ink::Faint));
        page.line(self.layout(heads.collect(), &widths));
        for row in &self.rows {
            page.line(self.layout(row.clone(), &widths));
        }
    }

    fn layout(&self, cells: Vec<Line>, widths: &[usize]) -> Line {
        let mut line = Line::indented(MARGIN);
        for (at, cell) in cells.into_iter().enumerate().take(widths.len()) {
            if at > 0 {
                line.push(&" ".repeat(GUTTER), Ink::Plain);
            }
            line.append(match self.columns[at].1 {
                Align::Right => cell.right_aligned(widths[at]),
                Align::Left | Align::Flex => cell.fit(widths[at]),
                Align::FlexPath => cell.without_start(widths[at]),
            });
        }
        line
    }

    fn remove(&mut self, name: &str) {
        let Some(at) = self.columns.iter().position(|(n, _)| n.trim_end() == name) else {
            return;
        };
        self.columns.remove(at);
        for row in self.rows.iter_mut().filter(|row| row.len() > at) {
            row.remove(at);
        }
    }

    /// Whether the flexible column gets what it needs.
    fn fits(&self, columns: usize) -> bool {
        let natural = self.natural_widths();
        let needed = natural.iter().zip(&self.columns).map(|(width, column)| {
            if column.1.is_flexible() {
                (*width).min(FLEX_LEAST)
            } else {
                *width
            }
        });
        let gutters = GUTTER * (natural.len() - 1);
        MARGIN + needed.sum::<usize>() + gutters <= columns
    }

    /// What the widest cell of each column takes up.
    fn natural_widths(&self) -> Vec<usize> {
        let natural = |at: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(at));
            let head = cell(&self.columns[at].0, Ink::Plain).width();
            cells.map(Line::width).max().unwrap_or(0).max(head)
        };
        (0..self.columns.len()).map(natural).collect()
    }

    /// Each column as wide as its widest cell; the flexible one gets the rest.
    fn widths(&self, columns: usize) -> Vec<usize> {
        let mut widths = self.natural_widths();
        if let Some(flex) = self.columns.iter().position(|(_, a)| a.is_flexible()) {
            let others: usize = widths.iter().sum::<usize>() - widths[flex];
            let gutters = GUTTER * (widths.len() - 1);
            let left = columns.saturating_sub(MARGIN + others + gutters);
            widths[flex] = widths[flex].min(left.max(8));
        }
        widths
    }
}

/// A cell of one ink.
pub(crate) fn cell(text: &str, ink: Ink) -> Line {
    Line::default().with(text, ink)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::Style;

    #[test]
    fn the_flexible_column_gives_way() {
        let style = Style::wide(60);
        let mut page = Page::new(&style);
        let mut table = Table::new(&[
            ("time", Align::Right),
            ("what", Align::Flex),
            ("in", Align::Left),
        ]);
        table.row(vec![
            cell("1.000 s", Ink::Plain),
            cell(&"x".repeat(90), Ink::Plain),
            cell("kernel", Ink::Plain),
        ]);
        table.row(vec![cell("9 ns", Ink::Plain), cell("short", Ink::Plain)]);
        table.render(&mut page);
        let text = page.finish();
        assert!(
            text.lines().all(|line| line.chars().count() <= 60),
            "{text}"
        );
        assert!(text.contains("x…  kernel\n"), "{text}");
        assert!(text.ends_with("\n     9 ns  short\n"), "{text}");
    }
}
