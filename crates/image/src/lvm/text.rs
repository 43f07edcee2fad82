//! LVM's text format: sections of names with numbers, texts and lists.

use std::iter::Peekable;
use std::str::Chars;

/// A section in a section, and so on, is no volume group's.
const DEEPEST: usize = 8;

/// What stands between two braces, or in the whole text.
#[derive(Debug, Default)]
pub(super) struct Section(Vec<(String, Value)>);

#[derive(Debug)]
enum Value {
    Number(u64),
    Text(String),
    List(Vec<Value>),
    Section(Section),
}

impl Section {
    /// Reads a whole text.
    ///
    /// # Errors
    /// If it is none of LVM's.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut reader = Reader {
            rest: text.trim_end_matches('\0').chars().peekable(),
        };
        let read = reader.section(0);
        read.ok_or_else(|| "its LVM metadata are damaged".to_owned())
    }

    fn get(&self, key: &str) -> Option<&Value> {
        let mut all = self.0.iter();
        all.find_map(|(name, value)| (name == key).then_some(value))
    }

    pub(super) fn number(&self, key: &str) -> Option<u64> {
        match self.get(key)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether a word is in the list of this name.
    pub(super) fn lists(&self, key: &str, word: &str) -> bool {
        match self.get(key) {
            Some(Value::List(list)) => list
                .iter()
                .any(|v| matches!(v, Value::Text(t) if t == word)),
            _ => false,
        }
    }

    /// The sections in it, with their names.
    pub(super) fn sections(&self) -> impl Iterator<Item = (&str, &Section)> {
        self.0.iter().filter_map(|(name, value)| match value {
            Value::Section(section) => Some((name.as_str(), section)),
            _ => None,
        })
    }

    /// The sections in the section of this name.
    pub(super) fn within(&self, name: &str) -> impl Iterator<Item = (&str, &Section)> {
        let named = self.sections().find(|(of, _)| *of == name);
        named
            .into_iter()
            .flat_map(|(_, section)| section.sections())
    }

    /// The first physical volume that a segment lies on, and its first extent there.
    pub(super) fn stripe(&self) -> Option<(&str, u64)> {
        match self.get("stripes")? {
            Value::List(list) => match list.as_slice() {
                [Value::Text(of), Value::Number(at)] => Some((of, *at)),
                _ => None,
            },
            _ => None,
        }
    }
}

struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
}

impl Reader<'_> {
    /// All up to the brace that ends it, or the end of the text.
    fn section(&mut self, depth: usize) -> Option<Section> {
        let mut section = Section::default();
        loop {
            self.skip();
            match self.rest.peek() {
                None if depth == 0 => return Some(section),
                Some('}') if depth > 0 => {
                    self.rest.next();
                    return Some(section);
                }
                _ => {}
            }
            let name = self.word()?;
            self.skip();
            let value = match self.rest.next()? {
                '{' if depth < DEEPEST => Value::Section(self.section(depth + 1)?),
                '=' => self.value()?,
                _ => return None,
            };
            section.0.push((name, value));
        }
    }

    fn value(&mut self) -> Option<Value> {
        self.skip();
        match self.rest.peek()? {
            '"' => {
                self.rest.next();
                self.quoted().map(Value::Text)
            }
            '[' => {
                self.rest.next();
                self.list()
            }
            _ => {
                let word = self.word()?;
                // Some are fractions, or below zero: none that anybody asks for.
                let number = word.parse();
                Some(number.map_or(Value::Text(word), Value::Number))
            }
        }
    }

    /// A list has no lists in it.
    fn list(&mut self) -> Option<Value> {
        let mut list = Vec::new();
        loop {
            self.skip();
            match self.rest.peek()? {
                ']' => {
                    self.rest.next();
                    return Some(Value::List(list));
                }
                ',' => {
                    self.rest.next();
                }
                '[' => return None,
                _ => list.push(self.value()?),
            }
        }
    }

    fn quoted(&mut self) -> Option<String> {
        let mut text = String::new();
        loop {
            match self.rest.next()? {
                '"' => return Some(text),
                '\\' => text.push(self.rest.next()?),
                c => text.push(c),
            }
        }
    }

    fn word(&mut self) -> Option<String> {
        let mut word = String::new();
        let is_part = |c: &char| c.is_ascii_alphanumeric() || "_-+.".contains(*c);
        while let Some(c) = self.rest.next_if(is_part) {
            word.push(c);
        }
        (!word.is_empty()).then_some(word)
    }

    /// Goes to what is neither space nor a remark.
    fn skip(&mut self) {
        while let Some(c) = self.rest.peek() {
            match c {
                '#' => while self.rest.next_if(|c| *c != '\n').is_some() {},
                c if c.is_whitespace() => {
                    self.rest.next();
                }
                _ => return,
            }
        }
    }
}
