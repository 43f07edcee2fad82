//! Strings in double quotes, as JSON and flow-style YAML write them.

/// The string that `text` begins with, and what follows it; `None` if it has no
/// end.
pub(crate) fn string(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let behind = text.strip_prefix(b"\"")?;
    let mut value = Vec::new();
    let len = unescape(behind, &mut value)?;
    Some((value, &behind[len..]))
}

/// Appends what `text` holds up to its closing quote; says how long that was,
/// with the quote. `None` if there is no quote: then it was all of `text`.
pub(crate) fn unescape(text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let mut rest = text;
    loop {
        let special = memchr::memchr2(b'"', b'\\', rest);
        let plain = special.unwrap_or(rest.len());
        out.extend_from_slice(&rest[..plain]);
        let (quote, behind) = rest.get(plain..)?.split_first()?;
        if *quote == b'"' {
            return Some(text.len() - behind.len());
        }
        // Nothing follows where the text was cut after a backslash.
        let (escaped, behind) = behind.split_first()?;
        rest = behind;
        match escaped {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'b' => out.push(8),
            b'f' => out.push(12),
            // These three are YAML's alone.
            b'e' => out.push(0x1b),
            b'0' => out.push(0),
            b'x' => rest = character(rest, 2, out),
            b'u' => rest = character(rest, 4, out),
            other => out.push(*other),
        }
    }
}

/// Appends the character whose number has so many `digits`, and says what
/// follows it. One of UTF-16's halves needs the escape of the other after it.
fn character<'t>(text: &'t [u8], digits: usize, out: &mut Vec<u8>) -> &'t [u8] {
    let number = text.get(..digits).and_then(hex);
    let mut rest = number.map_or(text, |_| &text[digits..]);
    let mut number = number.unwrap_or(0xfffd);
    let low = rest.strip_prefix(b"\\u").and_then(|r| hex(r.get(..4)?));
    if let (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) = (number, low) {
        number = 0x10000 + ((number - 0xd800) << 10) + (low - 0xdc00);
        rest = &rest[6..];
    }
    let c = char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    rest
}

fn hex(digits: &[u8]) -> Option<u32> {
    let all = digits.iter().all(u8::is_ascii_hexdigit);
    u32::from_str_radix(std::str::from_utf8(digits).ok().filter(|_| all)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<(String, usize)> {
        let (value, rest) = string(text.as_bytes())?;
        Some((String::from_utf8(value).unwrap(), rest.len()))
    }

    #[test]
    fn strings() {
        let is = |text, expected: &str, rest| {
            assert_eq!(value(text), Some((expected.to_owned(), rest)), "{text}");
        };
        is(r#""a\"b\\\n\u0041",x"#, "a\"b\\\nA", 2);
        is(r#""\ud83d\ude00""#, "😀", 0);
        is(r#""\xe9\e\0""#, "é\u{1b}\0", 0);
        // Halves without the other half, and what is no number.
        is(r#""\ud83da\ude00""#, "\u{fffd}a\u{fffd}", 0);
        is(r#""\u+123""#, "\u{fffd}+123", 0);
    }

    #[test]
    fn torn() {
        for (text, has) in [
            ("", ""),
            ("a", "a"),
            (r"a\", "a"),
            (r#"a\""#, "a\""),
            (r"a\u12", "a\u{fffd}12"),
        ] {
            let mut out = Vec::new();
            assert_eq!(unescape(text.as_bytes(), &mut out), None, "{text}");
            assert_eq!(String::from_utf8(out).unwrap(), has, "{text}");
        }
        assert_eq!(value("\"a"), None);
        assert_eq!(value("a\""), None);
    }
}
