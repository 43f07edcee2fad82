//! How the documents for programs are written: one line of JSON and a newline.
//!
//! `docs/schema/` has their schemas ([`crate::schemas`]). Within one format version
//! fields are only ever added, so readers ignore what they do not know and expect any
//! optional field to be absent.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// The version of the document's format.
pub const FORMAT: u32 = 1;

/// The name that an enumeration's value has in JSON.
pub fn id<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        other => format!("{other:?}"),
    }
}

/// A document as one line.
pub(crate) fn line(document: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut bytes = Vec::new();
    write_line(document, &mut bytes)?;
    String::from_utf8(bytes).map_err(serde::ser::Error::custom)
}

/// Writes a document as one line.
///
/// Characters that a terminal or a browser would obey stand as `\u` escapes,
/// so that it can be shown, piped and embedded as it is.
pub(crate) fn write_line(
    document: &impl Serialize,
    out: &mut impl Write,
) -> Result<(), serde_json::Error> {
    let mut serializer = Serializer::with_formatter(&mut *out, Escaping);
    document.serialize(&mut serializer)?;
    out.write_all(b"\n").map_err(serde_json::Error::io)
}

/// Escapes what could leave a `<script>` element, control a terminal or turn
/// text round. In JSON such characters occur in strings only.
struct Escaping;

impl Formatter for Escaping {
    fn write_string_fragment<W>(&mut self, out: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        let mut rest = fragment;
        while let Some(at) = rest.bytes().position(is_suspect) {
            let (harmless, suspect) = rest.split_at(at);
            out.write_all(harmless.as_bytes())?;
            let mut chars = suspect.chars();
            if let Some(c) = chars.next() {
                escape(out, c)?;
            }
            rest = chars.as_str();
        }
        out.write_all(rest.as_bytes())
    }
}

/// Whether a character that is escaped can begin with this byte.
fn is_suspect(byte: u8) -> bool {
    matches!(byte, b'<' | b'>' | b'&' | 0x7f..)
}

fn escape<W: ?Sized + Write>(out: &mut W, c: char) -> io::Result<()> {
    if !matches!(c, '<' | '>' | '&') && crate::clean::harmless(c) {
        return out.write_all(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    let mut units = [0; 2];
    let mut units = c.encode_utf16(&mut units).iter();
    units.try_for_each(|unit| write!(out, "\\u{unit:04x}"))
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn nothing_that_acts_stays_in_the_document() {
        let hostile = "</script>&\u{202e}\u{2028}\u{9b}\u{e0041}é";
        let json = line(&hostile).unwrap();
        assert_eq!(
            json,
            "\"\\u003c/script\\u003e\\u0026\\u202e\\u2028\\u009b\\udb40\\udc41é\"\n"
        );
        let back: String = serde_json::from_str(&json).unwrap();
        assert_eq!(back, hostile);
    }
}
