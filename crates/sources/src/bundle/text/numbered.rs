//! Lines with their numbers: `cat -n`, `grep -n`.

use super::{Undo, first_lines, is_log};

/// Whether the lines of a console's log are numbered: each with one more than the last.
pub(super) fn is_numbered(head: &[u8]) -> bool {
    let Some(lines) = first_lines(head) else {
        return false;
    };
    let numbered = |line: &&[u8]| {
        let line = line.trim_ascii_start();
        let digits = line.iter().take_while(|b| b.is_ascii_digit()).count();
        let number: u64 = std::str::from_utf8(&line[..digits]).ok()?.parse().ok()?;
        let text = match &line[digits..] {
            [] => &[],
            [b'\t' | b':' | b' ', text @ ..] => text,
            _ => return None,
        };
        Some((number, is_log(text)))
    };
    let Some(all) = lines.iter().map(numbered).collect::<Option<Vec<_>>>() else {
        return false;
    };
    all.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0)
        && all.iter().filter(|(_, is_log)| *is_log).count() * 2 > all.len()
}

/// What comes next in a numbered line.
#[derive(Clone, Copy, Default)]
pub(super) enum Numbered {
    #[default]
    Blanks,
    Number,
    Text,
}

impl Undo for Numbered {
    fn byte(&mut self, byte: u8, plain: &mut Vec<u8>) {
        let (next, is_text) = match (*self, byte) {
            (_, b'\n') => (Self::Blanks, true),
            (Self::Blanks, b' ') => (Self::Blanks, false),
            (Self::Blanks | Self::Number, b'0'..=b'9') => (Self::Number, false),
            (Self::Number, b'\t' | b':' | b' ') => (Self::Text, false),
            _ => (Self::Text, true),
        };
        *self = next;
        if is_text {
            plain.push(byte);
        }
    }
}
