//! Text from evidence made harmless: it may not control a terminal, reorder
//! what is around it, or hide.
//!
//! A console log legitimately holds colour sequences (systemd's status lines),
//! so whole CSI sequences are dropped; any other control byte is shown as its
//! control picture (`␀`, `␛`). Characters that reorder or hide text (bidi
//! overrides, zero-width characters, tags) become `�`.

use std::borrow::Cow;

/// `text` with nothing left that a terminal or a text layout would obey.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().all(harmless) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(length) = csi(rest) {
            rest = &rest[length..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            _ if harmless(c) => out.push(c),
            '\t' => out.push(' '),
            '\0'..='\x1f' => out.push(picture(c as u32)),
            '\x7f' => out.push('␡'),
            _ => out.push('\u{fffd}'),
        }
    }
    Cow::Owned(out)
}

/// Bytes of evidence as text of one line: invalid UTF-8 becomes `�`.
pub fn clean_bytes(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    clean(text.trim_end_matches(['\r', '\n'])).into_owned()
}

/// U+2400 onwards has a picture of each C0 control.
fn picture(control: u32) -> char {
    char::from_u32(0x2400 + control).unwrap_or('\u{fffd}')
}

/// The length of the CSI sequence that `text` begins with (`ESC [ … final`).
fn csi(text: &str) -> Option<usize> {
    let bytes = text.as_bytes().strip_prefix(b"\x1b[")?;
    let parameters = bytes.iter().take_while(|b| (0x20..0x40).contains(*b));
    let length = parameters.count();
    let last = bytes.get(length)?;
    (0x40..0x7f).contains(last).then_some(length + 3)
}

pub(crate) fn harmless(c: char) -> bool {
    !matches!(
        u32::from(c),
        0..0x20 | 0x7f..0xa0 // C0, DEL, C1
        | 0xad | 0x34f | 0x61c | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f
        | 0x200b..=0x200f // zero width, marks of direction
        | 0x2028..=0x202e // line and paragraph separators, embeddings, overrides
        | 0x2060..=0x206f // invisible operators, isolates
        | 0x3164 | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
        | 0xe0000..=0xe0fff // tags, more variation selectors
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_is_not_copied() {
        assert!(matches!(clean("Grüße, 世界 ✓"), Cow::Borrowed(_)));
    }

    #[test]
    fn colours_go_and_the_words_stay() {
        assert_eq!(clean("[\x1b[0;32m  OK  \x1b[0m] up"), "[  OK  ] up");
    }

    #[test]
    fn what_controls_is_shown_instead_of_obeyed() {
        assert_eq!(clean("a\0b\x1b]0;title\x07c\td\x7f"), "a␀b␛]0;title␇c d␡");
        assert_eq!(clean("\x1b["), "␛[");
        assert_eq!(clean("\u{9b}31m"), "\u{fffd}31m");
        assert_eq!(clean("abc\u{202e}fed\u{200b}"), "abc\u{fffd}fed\u{fffd}");
        assert_eq!(clean("\x1b[\u{e9}"), "␛[é");
    }

    #[test]
    fn bytes_become_one_line() {
        assert_eq!(clean_bytes(b"ok \xff\r\n"), "ok \u{fffd}");
    }
}
