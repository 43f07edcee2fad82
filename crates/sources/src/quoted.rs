//! Strings in double quotes, as JSON and flow-style YAML write them, for formats
//! that have one object or member a line.

/// The string that `text` begins with, and what follows it.
pub(crate) fn string(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut value = Vec::new();
    loop {
        let end = memchr::memchr2(b'"', b'\\', rest)?;
        value.extend_from_slice(&rest[..end]);
        if rest[end] == b'"' {
            return Some((value, &rest[end + 1..]));
        }
        let escaped = *rest.get(end + 1)?;
        rest = &rest[end + 2..];
        match escaped {
            b'n' => value.push(b'\n'),
            b't' => value.push(b'\t'),
            b'r' => value.push(b'\r'),
            b'b' => value.push(8),
            b'f' => value.push(12),
            b'e' => value.push(0x1b),
            b'0' => value.push(0),
            b'x' => {
                value.push(u8::try_from(hex(rest.get(..2)?)?).ok()?);
                rest = &rest[2..];
            }
            b'u' => {
                let code = hex(rest.get(..4)?)?;
                rest = &rest[4..];
                let (c, len) = character(code, rest);
                rest = &rest[len..];
                value.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            other => value.push(other),
        }
    }
}

/// The character of `\uXXXX`, with the second half of a pair from `rest`.
fn character(code: u32, rest: &[u8]) -> (char, usize) {
    let low = rest.strip_prefix(b"\\u").and_then(|r| hex(r.get(..4)?));
    if let (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) = (code, low) {
        let both = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        return (char::from_u32(both).unwrap_or('\u{fffd}'), 6);
    }
    (char::from_u32(code).unwrap_or('\u{fffd}'), 0)
}

fn hex(digits: &[u8]) -> Option<u32> {
    let all = digits.iter().all(u8::is_ascii_hexdigit);
    u32::from_str_radix(std::str::from_utf8(digits).ok().filter(|_| all)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings() {
        let s = |text: &str| {
            let (value, rest) = string(text.as_bytes())?;
            Some((String::from_utf8(value).unwrap(), rest.len()))
        };
        assert_eq!(
            s(r#""a\"b\\\n\u0041",x"#),
            Some(("a\"b\\\nA".to_owned(), 2))
        );
        assert_eq!(s(r#""\ud83d\ude00""#), Some(("😀".to_owned(), 0)));
        assert_eq!(s(r#""\ud83d""#), Some(("\u{fffd}".to_owned(), 0)));
        for torn in ["", "a", "\"a", "\"a\\", "\"\\u12", "\"\\u+123\""] {
            assert_eq!(s(torn), None, "{torn}");
        }
    }
}
