//! The last row of a terminal: which boot, how long, and the newest split
//! against the best run and the last one.

use bootlap_lab::Split;
use bootlap_report::Style;
use bootlap_report::clean::clean;

use super::seconds;

/// See the module.
pub(super) struct Footer {
    boot: u32,
    boots: u32,
    /// Newest last: name, ns, and those of the best and the last run.
    splits: Vec<(String, i64, Option<i64>, Option<i64>)>,
}

impl Footer {
    pub(super) fn new(boots: u32) -> Self {
        Self {
            boot: 1,
            boots,
            splits: Vec::new(),
        }
    }

    pub(super) fn begins(&mut self, boot: u32) {
        self.boot = boot;
        self.splits.clear();
    }

    pub(super) fn zero(&mut self) {
        self.splits.clear();
    }

    pub(super) fn split(&mut self, split: &Split, best: Option<i64>, last: Option<i64>) {
        let name = clean(&split.name).into_owned();
        self.splits.push((name, split.ns, best, last));
    }

    /// One row of at most `width` columns.
    pub(super) fn draw(&self, elapsed: Option<i64>, width: usize, style: &Style) -> String {
        let mut row = Row::new(width, style.color);
        if self.boots > 1 {
            row.add(&format!(" boot {}/{}", self.boot, self.boots), None);
        }
        match elapsed {
            Some(ns) => row.add(&format!(" {:>8} s", seconds(ns)), Some("1")),
            None => row.add(" waiting", None),
        };
        // The newest first: what does not fit is the oldest.
        for (name, ns, best, last) in self.splits.iter().rev() {
            let mut parts = vec![(format!("   {name} {}", seconds(*ns)), None)];
            for (what, other) in [("best", best), ("last", last)] {
                if let Some(other) = other {
                    let (text, ink) = difference(ns - other);
                    parts.push((format!("  {what} "), None));
                    parts.push((text, ink));
                }
            }
            if !row.fits(&parts) {
                break;
            }
            for (text, ink) in parts {
                row.add(&text, ink);
            }
        }
        row.text
    }
}

/// `-0.031`, green when it is less.
pub(super) fn difference(ns: i64) -> (String, Option<&'static str>) {
    let text = seconds(ns);
    match text.as_str() {
        "0.000" => ("±0.000".to_owned(), None),
        _ if ns < 0 => (text, Some("32")),
        _ => (format!("+{text}"), Some("31")),
    }
}

/// Text that knows how wide it is.
pub(super) struct Row {
    pub(super) text: String,
    left: usize,
    color: bool,
}

impl Row {
    pub(super) fn new(width: usize, color: bool) -> Self {
        Self {
            text: String::new(),
            left: width,
            color,
        }
    }

    fn fits(&self, parts: &[(String, Option<&str>)]) -> bool {
        parts.iter().map(|p| p.0.chars().count()).sum::<usize>() <= self.left
    }

    pub(super) fn add(&mut self, text: &str, ink: Option<&str>) {
        let text: String = text.chars().take(self.left).collect();
        self.left -= text.chars().count();
        match ink.filter(|_| self.color) {
            Some(ink) => self.text += &format!("\x1b[{ink}m{text}\x1b[0m"),
            None => self.text += &text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn footer() -> Footer {
        let mut footer = Footer::new(5);
        footer.begins(2);
        let split = |name: &str, ns| Split {
            name: name.to_owned(),
            ns,
        };
        footer.split(&split("kernel", 1_204_000_000), Some(1_235_000_000), None);
        let ready = split("ready", 8_250_400_000);
        footer.split(&ready, Some(8_250_000_000), Some(8_050_000_000));
        footer
    }

    fn style(color: bool) -> Style {
        Style {
            width: 80,
            color,
            unicode: true,
        }
    }

    #[test]
    fn the_newest_split_is_compared_and_the_row_fits() {
        let row = footer().draw(Some(12_345_000_000), 79, &style(false));
        assert_eq!(
            row,
            " boot 2/5   12.345 s   ready 8.250  best ±0.000  last +0.200"
        );
        for width in 0..120 {
            let row = footer().draw(Some(12_345_000_000), width, &style(false));
            assert!(row.chars().count() <= width);
        }
        assert_eq!(
            footer().draw(None, 79, &style(false)).find("waiting"),
            Some(10)
        );
    }

    #[test]
    fn colours_are_for_those_who_want_them() {
        let row = footer().draw(Some(1), 119, &style(true));
        assert!(row.contains("\x1b[32m-0.031\x1b[0m") && row.contains("\x1b[31m+0.200\x1b[0m"));
        assert!(!footer().draw(Some(1), 119, &style(false)).contains('\x1b'));
    }
}
