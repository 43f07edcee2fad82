//! A log in a web page, as CI servers show it: tags go, and what they had to escape comes back.

use super::Undo;

/// Whether `head` begins a page of HTML.
pub(super) fn is_page(head: &[u8]) -> bool {
    let start = head
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(head)
        .trim_ascii_start();
    let begins = |word: &[u8]| {
        start
            .get(..word.len())
            .is_some_and(|s| s.eq_ignore_ascii_case(word))
    };
    begins(b"<!doctype html") || begins(b"<html")
}

#[derive(Default)]
pub(super) struct Page {
    at: At,
    /// The tag or the entity that is being read, as far as it tells what it is.
    word: Vec<u8>,
}

/// Where in a page.
#[derive(Clone, Copy, Default)]
enum At {
    #[default]
    Text,
    /// Behind `<`.
    Tag,
    /// Behind `&`.
    Entity,
    /// In what is no text, up to the tag that ends it: `</style>`, `</script>`.
    Hidden,
    /// In a tag there.
    HiddenTag,
}

/// So many bytes tell a tag or an entity.
const TELLS: usize = 8;

impl Page {
    fn begin(&mut self, at: At) {
        self.word.clear();
        self.at = at;
    }

    /// What began with `first` was neither a tag nor an entity.
    fn was_text(&mut self, first: u8, next: u8, plain: &mut Vec<u8>) {
        plain.push(first);
        plain.append(&mut self.word);
        self.at = At::Text;
        self.byte(next, plain);
    }

    fn tag_ends(&mut self, plain: &mut Vec<u8>) -> At {
        self.word.make_ascii_lowercase();
        let name = self.word.split(|b| matches!(b, b' ' | b'\n')).next();
        match name.unwrap_or_default() {
            b"style" | b"script" => At::Hidden,
            b"br" | b"br/" | b"/p" | b"/div" | b"/li" | b"/tr" => {
                plain.push(b'\n');
                At::Text
            }
            _ => At::Text,
        }
    }

    fn entity_ends(&mut self, plain: &mut Vec<u8>) {
        self.at = At::Text;
        let is = match &*self.word {
            b"lt" => b'<',
            b"gt" => b'>',
            b"amp" => b'&',
            b"quot" | b"#34" | b"#x22" => b'"',
            b"apos" | b"#39" | b"#x27" => b'\'',
            b"nbsp" => b' ',
            _ => {
                plain.push(b'&');
                plain.append(&mut self.word);
                b';'
            }
        };
        plain.push(is);
    }
}

fn is_tags(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'!')
}

fn is_entitys(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'#'
}

impl Undo for Page {
    fn byte(&mut self, byte: u8, plain: &mut Vec<u8>) {
        match (self.at, byte) {
            (At::Text, b'<') => self.begin(At::Tag),
            (At::Text, b'&') => self.begin(At::Entity),
            (At::Text, _) => plain.push(byte),
            (At::Hidden | At::HiddenTag, b'<') => self.begin(At::HiddenTag),
            (At::Hidden, _) => {}
            (At::Tag, _) if self.word.is_empty() && !is_tags(byte) => {
                self.was_text(b'<', byte, plain)
            }
            (At::Tag, b'>') => self.at = self.tag_ends(plain),
            (At::HiddenTag, b'>') => {
                self.word.make_ascii_lowercase();
                let ends = [&b"/style"[..], b"/script"].contains(&&*self.word);
                self.at = if ends { At::Text } else { At::Hidden };
            }
            (At::Entity, b';') => self.entity_ends(plain),
            (At::Entity, _) if self.word.len() == TELLS || !is_entitys(byte) => {
                self.was_text(b'&', byte, plain);
            }
            _ if self.word.len() < TELLS => self.word.push(byte),
            _ => {}
        }
    }
}
