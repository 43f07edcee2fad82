//! Text among the control bytes and escape sequences of a terminal.

use std::ops::Range;

/// Where the splitter is in an escape sequence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escape {
    /// In none.
    None,
    /// Behind ESC.
    Begun,
    /// In `ESC [ … letter`.
    Csi,
    /// In `ESC ] … BEL` or `… ESC \`.
    String,
    /// Behind the ESC of a possible `ESC \`.
    StringEnd,
    /// Before the one byte that ends `ESC ( B`.
    OneMore,
}

/// Tells the text of a console from its control bytes and escape sequences.
pub struct Cleaner {
    escape: Escape,
}

impl Default for Cleaner {
    fn default() -> Self {
        Self::new()
    }
}

impl Cleaner {
    /// At the start of a console.
    pub fn new() -> Self {
        Self {
            escape: Escape::None,
        }
    }

    /// Whether `byte`, which ends no line, is text.
    #[inline]
    pub fn is_text(&mut self, byte: u8) -> bool {
        if self.escape == Escape::None && byte != 0x1b {
            return is_plain(byte);
        }
        self.escape = self.escaped(byte);
        false
    }

    /// How many bytes `bytes` begins with that are text for certain.
    pub(crate) fn run_len(&self, bytes: &[u8]) -> usize {
        if self.escape != Escape::None {
            return 0;
        }
        let end = bytes.iter().position(|b| !is_plain(*b));
        end.unwrap_or(bytes.len())
    }

    /// A line end also ends what a torn escape sequence began.
    pub fn line_ends(&mut self) {
        self.escape = Escape::None;
    }

    /// The state after a byte of an escape sequence.
    fn escaped(&self, byte: u8) -> Escape {
        const ESC: u8 = 0x1b;
        match (self.escape, byte) {
            (Escape::String, ESC) => Escape::StringEnd,
            (Escape::StringEnd, b'\\') | (Escape::String, 0x07) => Escape::None,
            (Escape::String | Escape::StringEnd, _) => Escape::String,
            (_, ESC) => Escape::Begun,
            (Escape::Begun, b'[') => Escape::Csi,
            (Escape::Begun, b']' | b'P' | b'X' | b'^' | b'_') => Escape::String,
            (Escape::Begun, b'(' | b')' | b'*' | b'+' | b'#' | b'%') => Escape::OneMore,
            (Escape::Csi, b' '..=b'?') => Escape::Csi,
            _ => Escape::None,
        }
    }
}

/// The text of one line, without control bytes and colours.
pub(crate) fn clean_line(line: &[u8], text: &mut Vec<u8>) {
    let mut cleaner = Cleaner::new();
    text.clear();
    text.extend(line.iter().filter(|b| cleaner.is_text(**b)));
    let colours: Vec<_> = bare_colours(text).collect();
    for colour in colours.into_iter().rev() {
        text.drain(colour);
    }
}

/// Where colours stand of which the ESC is lost (`[0;32m`), as in what was copied from a
/// terminal or a web page.
pub(crate) fn bare_colours(text: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let brackets = memchr::memchr_iter(b'[', text);
    brackets.filter_map(|start| {
        let rest = &text[start + 1..];
        let is_part = |b: &&u8| b.is_ascii_digit() || **b == b';';
        let len = rest.iter().take_while(is_part).count();
        let number = &rest[..len];
        if len == 0 || rest.get(len) != Some(&b'm') {
            return None;
        }
        // `[5m]` may be minutes.
        let closes = rest.get(len + 1) == Some(&b']');
        let is_colour = number == b"0" || number.contains(&b';') || len <= 2 && !closes;
        is_colour.then_some(start..start + len + 2)
    })
}

fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte != 0x7f || byte == b'\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_without_their_esc_are_found_and_nothing_else() {
        let colours = |text: &'static str| -> Vec<&str> {
            bare_colours(text.as_bytes()).map(|r| &text[r]).collect()
        };
        let started = "[[0;32m  OK  [0m] Started [0;1;39mssh[0m.";
        assert_eq!(colours(started), ["[0;32m", "[0m", "[0;1;39m", "[0m"]);
        assert_eq!(colours("[1mWelcome[m"), ["[1m"]);
        for plain in [
            "[    0.123456] mm: x",
            "wait [5m]",
            "a[12] m",
            "[",
            "[1",
            "x[100m",
        ] {
            assert!(colours(plain).is_empty(), "{plain}");
        }
    }
}
