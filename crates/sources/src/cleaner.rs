//! Text among the control bytes and escape sequences of a terminal.

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

fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte != 0x7f || byte == b'\t'
}
