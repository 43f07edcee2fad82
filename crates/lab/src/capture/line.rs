//! The line that is being said, as clean text, with the time of each byte.

use bootlap_sources::Cleaner;
use regex::bytes::Regex;

/// A line is looked at up to this many bytes; longer ones lose their beginning.
const LIMIT: usize = 4096;

/// One line on its way.
pub(super) struct Line {
    text: Vec<u8>,
    /// `(where in the text, ns)`: from there on, bytes came at this time.
    times: Vec<(usize, i64)>,
    /// When its first byte came, text or not.
    pub(super) first_ns: Option<i64>,
    cleaner: Cleaner,
    /// What it holds, raw, to begin another run with.
    pub(super) raw: Vec<(i64, Vec<u8>)>,
    raw_len: usize,
}

impl Line {
    pub(super) fn new() -> Self {
        Self {
            text: Vec::new(),
            times: Vec::new(),
            first_ns: None,
            cleaner: Cleaner::new(),
            raw: Vec::new(),
            raw_len: 0,
        }
    }

    /// Takes bytes of this line, its end perhaps, that came at `ns`.
    pub(super) fn push(&mut self, ns: i64, bytes: &[u8]) {
        self.first_ns.get_or_insert(ns);
        if self.raw_len + bytes.len() <= 16 * LIMIT {
            self.raw.push((ns, bytes.to_owned()));
            self.raw_len += bytes.len();
        }
        self.times.push((self.text.len(), ns));
        for &byte in bytes {
            match byte {
                b'\n' => {}
                // Text after it is printed over what was there.
                b'\r' => self.cleaner.line_ends(),
                byte if self.cleaner.is_text(byte) => self.text.push(byte),
                _ => {}
            }
        }
        if self.text.len() > LIMIT {
            let gone = self.text.len() - LIMIT / 2;
            self.text.drain(..gone);
            self.times
                .iter_mut()
                .for_each(|t| t.0 = t.0.saturating_sub(gone));
            let kept = self.times.iter().rposition(|t| t.0 == 0).unwrap_or(0);
            self.times.drain(..kept);
        }
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// When the byte came that first made `pattern` match.
    pub(super) fn completed(&self, pattern: &Regex) -> Option<i64> {
        let end = pattern.shortest_match(&self.text)?;
        let byte = end.saturating_sub(1);
        let i = self.times.partition_point(|t| t.0 <= byte);
        self.times.get(i.saturating_sub(1)).map(|t| t.1)
    }

    /// The next line begins.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.times.clear();
        self.raw.clear();
        self.raw_len = 0;
        self.first_ns = None;
        self.cleaner.line_ends();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_has_the_time_of_the_byte_that_completed_it() {
        let mut line = Line::new();
        line.push(10, b"\x1b[1mkio");
        line.push(20, b"sk lo\x1b[");
        line.push(30, b"0mgin: ");
        let at = |pattern: &str| line.completed(&Regex::new(pattern).unwrap());
        assert_eq!(line.text(), b"kiosk login: ");
        assert_eq!(at("kio"), Some(10));
        assert_eq!(at("kios"), Some(20));
        assert_eq!(at("login: $"), Some(30));
        assert_eq!(at("root"), None);
        assert_eq!(line.first_ns, Some(10));
    }

    #[test]
    fn a_line_without_end_is_bounded() {
        let mut line = Line::new();
        for ns in 0..2000 {
            line.push(ns, &[b'x'; 1000]);
        }
        line.push(7000, b"READY");
        assert!(line.text().len() <= LIMIT && line.times.len() < 20);
        assert!(line.raw_len <= 16 * LIMIT);
        assert_eq!(line.completed(&Regex::new("READY").unwrap()), Some(7000));
        assert_eq!(line.completed(&Regex::new("xREADY").unwrap()), Some(7000));
    }
}
