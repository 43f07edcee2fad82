//! Reads a word: quotes, and what is expanded in it.

use std::ops::Range;

use super::read::{Read, Reader, is_name};
use super::syntax::{Piece, What, Word};

impl Reader<'_> {
    pub(super) fn word(&mut self) -> Read<Word> {
        let start = self.at;
        let mut pieces = Vec::new();
        while self.begins_word() && !matches!(self.byte(0), b' ' | b'\t') {
            match self.byte(0) {
                b'\\' if self.byte(1) == b'\n' => self.at += 2,
                b'\\' => {
                    let from = self.at;
                    self.at += 1;
                    let text = self.character()?;
                    pieces.push(piece(from..self.at, true, What::Text(text)));
                }
                b'\'' => {
                    let from = self.at;
                    let rest = &self.text[from + 1..self.end];
                    let length = rest.find('\'');
                    let length = length.ok_or_else(|| self.fail("a ' that is not closed"))?;
                    self.at = from + length + 2;
                    let text = What::Text(rest[..length].to_owned());
                    pieces.push(piece(from..self.at, true, text));
                }
                b'"' => self.quoted(&mut pieces)?,
                b'$' if matches!(self.byte(1), b'\'' | b'"') => {
                    return Err(self.fail("$'…' of bash"));
                }
                b'$' | b'`' => pieces.push(self.expansion(false)?),
                _ => {
                    let from = self.at;
                    let ends = |c: char| " \t\n;&|<>()\\'\"$`\0".contains(c);
                    let rest = &self.text[from..self.end];
                    let text = rest.split(ends).next().unwrap_or_default();
                    self.at += text.len();
                    let text = What::Text(text.to_owned());
                    pieces.push(piece(from..self.at, false, text));
                }
            }
        }
        if self.at == start {
            return Err(self.fail("no word where one should be"));
        }
        Ok(Word {
            range: start..self.at,
            pieces,
        })
    }

    fn character(&mut self) -> Read<String> {
        let next = self.text[self.at..self.end].chars().next();
        let next = next.ok_or_else(|| self.fail("a \\ at the end"))?;
        self.at += next.len_utf8();
        Ok(next.to_string())
    }

    /// What is between double quotes.
    fn quoted(&mut self, pieces: &mut Vec<Piece>) -> Read<()> {
        let open = self.at;
        self.at += 1;
        let before = pieces.len();
        let mut text = String::new();
        let mut from = self.at;
        loop {
            let flush = |text: &mut String, range: Range<usize>, pieces: &mut Vec<Piece>| {
                if !text.is_empty() {
                    pieces.push(piece(range, true, What::Text(std::mem::take(text))));
                }
            };
            if self.at >= self.end {
                return Err(self.fail("a \" that is not closed"));
            }
            match self.byte(0) {
                b'"' => {
                    flush(&mut text, from..self.at, pieces);
                    self.at += 1;
                    if pieces.len() == before {
                        let nothing = What::Text(String::new());
                        pieces.push(piece(open..self.at, true, nothing));
                    }
                    return Ok(());
                }
                b'\\' if self.byte(1) == b'\n' => self.at += 2,
                b'\\' if matches!(self.byte(1), b'$' | b'`' | b'"' | b'\\') => {
                    text.push(char::from(self.byte(1)));
                    self.at += 2;
                }
                b'$' | b'`' => {
                    flush(&mut text, from..self.at, pieces);
                    pieces.push(self.expansion(true)?);
                    from = self.at;
                }
                b'\n' if !self.documents.is_empty() => {
                    return Err(self.fail("a here-document behind an open quote"));
                }
                _ => text.push_str(&self.character()?),
            }
        }
    }

    /// What a `$` or a backquote begins; a `$` that begins nothing is text.
    fn expansion(&mut self, quoted: bool) -> Read<Piece> {
        let from = self.at;
        let what = match (self.byte(0), self.byte(1)) {
            (b'`', _) => self.backquoted()?,
            (_, b'(') if self.byte(2) == b'(' => self.arithmetic()?,
            (_, b'(') => {
                self.at += 2;
                let open = std::mem::take(&mut self.documents);
                let list = self.list(&[])?;
                self.expect(")", "a $( that is not closed")?;
                if !std::mem::replace(&mut self.documents, open).is_empty() {
                    return Err(self.fail("a here-document that outlives its $("));
                }
                What::Output(list)
            }
            (_, b'{') => self.braced()?,
            (_, c) if c.is_ascii_alphabetic() || c == b'_' => {
                self.at += 1;
                let rest = &self.text[self.at..self.end];
                let ends = |c: char| !c.is_ascii_alphanumeric() && c != '_';
                let name = rest.split(ends).next().unwrap_or_default();
                self.at += name.len();
                What::Parameter(name.to_owned())
            }
            (_, c) if c.is_ascii_digit() || b"#?-$!".contains(&c) => {
                self.at += 2;
                What::Parameter(char::from(c).to_string())
            }
            // They may become several words.
            (_, b'@' | b'*') => {
                self.at += 2;
                What::Pure
            }
            (_, b'[') => return Err(self.fail("$[ of bash")),
            _ => {
                self.at += 1;
                What::Text("$".to_owned())
            }
        };
        Ok(piece(from..self.at, quoted, what))
    }

    /// In backquotes a backslash takes away the meaning of the next character once more: what
    /// has one is not looked into.
    fn backquoted(&mut self) -> Read<What> {
        let from = self.at + 1;
        let mut to = from;
        let bytes = self.text.as_bytes();
        let mut escaped = false;
        loop {
            match bytes.get(to).filter(|_| to < self.end) {
                None => return Err(self.fail("a ` that is not closed")),
                Some(b'`') => break,
                Some(b'\\') => {
                    escaped = true;
                    to += 2;
                }
                Some(_) => to += 1,
            }
        }
        if escaped {
            self.at = to + 1;
            return Ok(What::Other);
        }
        self.at = from;
        let end = std::mem::replace(&mut self.end, to);
        let open = std::mem::take(&mut self.documents);
        let list = self.list(&[])?;
        if self.at != to || !std::mem::replace(&mut self.documents, open).is_empty() {
            return Err(self.fail("what is between ` is not understood"));
        }
        self.end = end;
        self.at = to + 1;
        Ok(What::Output(list))
    }

    /// `$((…))`.
    fn arithmetic(&mut self) -> Read<What> {
        let from = self.at + 3;
        let (mut open, mut to) = (0, from);
        let inside = loop {
            match self.text.as_bytes().get(to).filter(|_| to < self.end) {
                None => return Err(self.fail("a $(( that is not closed")),
                Some(b'(') => open += 1,
                Some(b')') if open > 0 => open -= 1,
                Some(b')') if self.text.as_bytes().get(to + 1) == Some(&b')') => {
                    break &self.text[from..to];
                }
                Some(b')') => return Err(self.fail("a $(( that may be a $( (")),
                Some(b'\'' | b'"') => return Err(self.fail("quotes in $((")),
                Some(_) => {}
            }
            to += 1;
        };
        self.at = to + 2;
        if self.at > self.end {
            return Err(self.fail("a $(( that is not closed"));
        }
        let changes = inside.contains(['=', '`']) || inside.contains("++");
        let changes = changes || inside.contains("--") || inside.contains("$(");
        Ok(if changes { What::Other } else { What::Pure })
    }

    /// `${…}`.
    fn braced(&mut self) -> Read<What> {
        let from = self.at + 2;
        let mut to = from;
        loop {
            match self.text.as_bytes().get(to).filter(|_| to < self.end) {
                None => return Err(self.fail("a ${ that is not closed")),
                Some(b'}') => break,
                // Which of these ends what is another matter in each shell.
                Some(b'{' | b'\\' | b'\'' | b'"' | b'`' | b'(') => return self.odd_braces(),
                Some(_) => to += 1,
            }
        }
        self.at = to + 1;
        let inside = &self.text[from..to];
        if is_name(inside) || inside.bytes().all(|b| b.is_ascii_digit()) && !inside.is_empty() {
            return Ok(What::Parameter(inside.to_owned()));
        }
        let simple = inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let pure = ["#", "%", "-", ":-", "+", ":+"]
            .iter()
            .any(|o| simple.starts_with(o));
        Ok(if pure { What::Pure } else { What::Other })
    }

    /// `${…}` with quotes, or with expansions in it.
    fn odd_braces(&mut self) -> Read<What> {
        self.deeper(|reader| {
            reader.at += 2;
            loop {
                if reader.at >= reader.end {
                    return Err(reader.fail("a ${ that is not closed"));
                }
                match reader.byte(0) {
                    b'}' => {
                        reader.at += 1;
                        return Ok(What::Other);
                    }
                    b'\\' => {
                        reader.at += 1;
                        reader.character()?;
                    }
                    b'"' => reader.quoted(&mut Vec::new())?,
                    b'\'' => return Err(reader.fail("a ' in ${, which shells read differently")),
                    b'$' | b'`' => {
                        reader.expansion(true)?;
                    }
                    _ => {
                        reader.character()?;
                    }
                }
            }
        })
    }
}

fn piece(range: Range<usize>, quoted: bool, what: What) -> Piece {
    Piece {
        range,
        quoted,
        what,
    }
}
