//! JSON as log tools print it: records of fields, one or many lines each.
//!
//! ```text
//! {"MESSAGE":"Started foo.","__MONOTONIC_TIMESTAMP":"4752491","_PID":"1"}
//! {"MESSAGE":[104,105,255],"UNIT":["a.service","b.service"],"X":null}
//! [{"name":"-.mount","activated":16110271,"time":0},{"name":"-.slice", …
//! ```
//!
//! Not a general reader: a record is an object outside of any other object,
//! and only its own fields are told. Deeper values are stepped over by
//! counting brackets, so depth costs nothing. Text that ends in the middle of
//! a record gives the fields that it has.

use crate::quoted;

/// What was met, in order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Item<'a> {
    /// `{` of a record: which byte of the line it is.
    Begin(usize),
    /// One field: its key, and its text or number as it was written. A list of
    /// bytes is the text that they make, a list of texts is its first one.
    Field(&'a [u8], &'a [u8]),
    /// `}` of a record: the byte of the line after it.
    End(usize),
}

/// Where the reader is, between lines too.
#[derive(Default)]
pub(crate) struct Json {
    /// Inside a record.
    inside: bool,
    /// The key of the value that comes next.
    key: Vec<u8>,
    has_key: bool,
    /// In a list that is the value, what was kept of it.
    list: Option<Vec<u8>>,
    list_is_text: bool,
    /// Brackets open within the value, beyond those of a list.
    deep: u32,
    text: Vec<u8>,
}

impl Json {
    /// Whether a record is open.
    pub(crate) fn inside(&self) -> bool {
        self.inside
    }

    /// Forgets what is open.
    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Takes the next line; says whether all of it was JSON.
    pub(crate) fn line(&mut self, line: &[u8], each: &mut dyn FnMut(Item<'_>)) -> bool {
        let mut rest = line;
        let mut clean = true;
        while let Some((&first, behind)) = rest.split_first() {
            let at = line.len() - rest.len();
            rest = match first {
                b' ' | b'\t' | b'\r' | b',' | b':' => behind,
                b'{' | b'[' => {
                    self.open(first, at, each);
                    behind
                }
                b'}' | b']' => {
                    self.close(first, at + 1, each);
                    behind
                }
                b'"' => {
                    let mut text = std::mem::take(&mut self.text);
                    text.clear();
                    let len = quoted::unescape(behind, &mut text);
                    clean &= self.inside;
                    self.string(&text, each);
                    self.text = text;
                    &behind[len.unwrap_or(behind.len())..]
                }
                _ => {
                    let ends = |b: &u8| b" \t\r,:{}[]\"".contains(b);
                    let len = rest.iter().position(ends).unwrap_or(rest.len());
                    let (word, behind) = rest.split_at(len);
                    clean &= self.inside;
                    self.word(word, each);
                    behind
                }
            };
        }
        clean
    }

    fn open(&mut self, bracket: u8, at: usize, each: &mut dyn FnMut(Item<'_>)) {
        if !self.inside {
            if bracket == b'{' {
                self.reset();
                self.inside = true;
                each(Item::Begin(at));
            }
        } else if bracket == b'[' && self.list.is_none() && self.deep == 0 && self.has_key {
            self.list = Some(Vec::new());
            self.list_is_text = false;
        } else {
            self.deep = self.deep.saturating_add(1);
        }
    }

    fn close(&mut self, bracket: u8, at: usize, each: &mut dyn FnMut(Item<'_>)) {
        if !self.inside {
            return;
        }
        if self.deep > 0 {
            self.deep -= 1;
            if self.deep == 0 && self.list.is_none() {
                self.has_key = false;
            }
        } else if let Some(list) = self.list.take() {
            each(Item::Field(&self.key, &list));
            self.has_key = false;
        } else if bracket == b'}' {
            self.inside = false;
            each(Item::End(at));
        }
    }

    fn string(&mut self, text: &[u8], each: &mut dyn FnMut(Item<'_>)) {
        if !self.inside || self.deep > 0 {
            return;
        }
        if let Some(list) = &mut self.list {
            if !self.list_is_text {
                list.clear();
                list.extend_from_slice(text);
                self.list_is_text = true;
            }
        } else if self.has_key {
            self.has_key = false;
            each(Item::Field(&self.key, text));
        } else {
            self.key.clear();
            self.key.extend_from_slice(text);
            self.has_key = true;
        }
    }

    fn word(&mut self, word: &[u8], each: &mut dyn FnMut(Item<'_>)) {
        if !self.inside || self.deep > 0 {
            return;
        }
        if let Some(list) = &mut self.list {
            let byte = std::str::from_utf8(word).ok().and_then(|w| w.parse().ok());
            if let (Some(byte), false) = (byte, self.list_is_text) {
                list.push(byte);
            }
        } else if self.has_key {
            self.has_key = false;
            if word != b"null" {
                each(Item::Field(&self.key, word));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(lines: &[&str]) -> (String, bool) {
        let mut json = Json::default();
        let mut out = String::new();
        let mut clean = true;
        for line in lines {
            clean &= json.line(line.as_bytes(), &mut |item| match item {
                Item::Begin(_) => out.push('{'),
                Item::Field(key, value) => {
                    out += &format!(
                        "{}={};",
                        String::from_utf8_lossy(key),
                        String::from_utf8_lossy(value)
                    );
                }
                Item::End(_) => out.push('}'),
            });
        }
        (out, clean)
    }

    #[test]
    fn records_on_one_line_and_on_many() {
        let (text, clean) = items(&[r#"[{"a":"x","b":-12,"c":null},{"a":[104,105]}]"#]);
        assert_eq!((text.as_str(), clean), ("{a=x;b=-12;}{a=hi;}", true));
        let (text, clean) = items(&[
            "[",
            "\t{",
            "\t\t\"a\" : 1,",
            "\t\t\"b\" : \"y\"",
            "\t}",
            "]",
        ]);
        assert_eq!((text.as_str(), clean), ("{a=1;b=y;}", true));
    }

    #[test]
    fn what_is_deeper_is_stepped_over() {
        let text = r#"{"a":{"b":"x","c":[1,{"d":2}]},"e":["t","u"],"f":[[1],65,{"g":1}],"h":1}"#;
        assert_eq!(items(&[text]), ("{e=t;f=A;h=1;}".to_owned(), true));
        let deep = "[{".to_owned() + &"[{".repeat(100_000);
        assert_eq!(items(&[&deep]).0, "{");
    }

    #[test]
    fn escapes_and_torn_text() {
        let text = r#"{"a":"x\n\"\\\u00e9\ud83d\ude00\u0007","#;
        assert_eq!(items(&[text]).0, "{a=x\n\"\\é😀\u{7};");
        for torn in ["{\"a\":\"x\\", "{\"a\":\"x\\u00", "{\"a\":\"x\\ud83d"] {
            assert!(items(&[torn]).0.starts_with("{a=x"), "{torn}");
        }
        let (text, clean) = items(&["]", "108 Units listed."]);
        assert_eq!((text.as_str(), clean), ("", false));
    }
}
