//! Colours on a console, and those of which the ESC is lost.

use std::ops::Range;

use crate::cleaner::Cleaner;

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
