//! Tables in Markdown.

use std::fmt;

pub(crate) struct Table {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(heads: Vec<String>) -> Self {
        Self {
            heads,
            rows: Vec::new(),
        }
    }

    pub(crate) fn of(heads: &[&str]) -> Self {
        Self::new(heads.iter().map(|&head| head.to_owned()).collect())
    }

    pub(crate) fn row(&mut self, name: &str, cells: Vec<String>) {
        self.rows.push([vec![name.to_owned()], cells].concat());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| {} |", self.heads.join(" | "))?;
        writeln!(f, "| ---{} |", " | ---:".repeat(self.heads.len() - 1))?;
        for row in &self.rows {
            writeln!(f, "| {} |", row.join(" | "))?;
        }
        Ok(())
    }
}

pub(crate) fn percent(value: f64, digits: usize) -> String {
    format!("{value:.digits$}")
}
