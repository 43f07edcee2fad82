//! Something that stands before every line: `> `, `[info] `, `dmesg.log:`.

use super::{Undo, first_lines, is_end, is_log};

/// A longer prefix is more than a quotation.
const LONGEST_PREFIX: usize = 64;

/// What stands before every line of a console's log.
pub(super) fn quotation(head: &[u8]) -> Option<&[u8]> {
    let lines = first_lines(head)?;
    let longest = lines.iter().max_by_key(|line| line.len())?;
    // Of a quoted line that is empty only the quotation is left, without its blank.
    let quoted = lines.iter().filter(|line| !longest.starts_with(line));
    let same = |line: &&[u8]| {
        longest
            .iter()
            .zip(*line)
            .take_while(|(a, b)| a == b)
            .count()
    };
    let len = quoted.map(same).min()?.min(LONGEST_PREFIX);
    if lines.iter().any(|line| is_log(line)) {
        return None;
    }
    // The blanks within the times of all lines are as equal as the quotation's.
    let ends = (0..len).filter(|at| matches!(longest[*at], b' ' | b':'));
    let mut prefixes = ends.map(|at| &longest[..=at]);
    prefixes.find(|prefix| {
        let is_file = prefix[0].is_ascii_alphabetic() && prefix.ends_with(b":");
        let is_time = !is_file && prefix.iter().any(u8::is_ascii_digit);
        let is_blank = prefix.trim_ascii().is_empty();
        let behind = |line: &&[u8]| line.strip_prefix(*prefix).is_some_and(is_log);
        !is_time && !is_blank && lines.iter().any(behind)
    })
}

pub(super) struct Quoted {
    prefix: Vec<u8>,
    /// So many bytes of this line were those of the prefix; `None` behind it.
    matched: Option<usize>,
}

impl Quoted {
    pub(super) fn new(prefix: Vec<u8>) -> Self {
        let matched = Some(0);
        Self { prefix, matched }
    }
}

impl Undo for Quoted {
    fn byte(&mut self, byte: u8, plain: &mut Vec<u8>) {
        if let Some(n) = self.matched {
            if self.prefix.get(n) == Some(&byte) {
                self.matched = Some(n + 1);
                return;
            }
            // Of a quoted line that is empty the prefix may have lost its blanks.
            let is_whole = self.prefix[n..].trim_ascii().is_empty();
            if !(n == self.prefix.len() || is_end(byte) && is_whole) {
                self.end(plain);
            }
        }
        self.matched = (byte == b'\n').then_some(0);
        plain.push(byte);
    }

    fn end(&mut self, plain: &mut Vec<u8>) {
        let n = self.matched.unwrap_or(0);
        plain.extend_from_slice(&self.prefix[..n]);
    }
}
