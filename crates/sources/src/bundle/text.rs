//! Text that is not as a log's text should be: in UTF-16, as Windows' terminals save it, or
//! behind something that stands before every line (`> `, `[info] `).
//!
//! Like what is packed, it is undone while it is read: evidence counts the bytes of the
//! plain text.

use std::io::{self, BufRead, Read};

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use encoding_rs_io::DecodeReaderBytesBuilder;

use crate::console::bootloader::BootLoader;
use crate::console::printk;

/// How text is disguised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Disguise {
    /// UTF-16 in this order of bytes.
    Wide(&'static Encoding),
    /// This stands before every line.
    Quoted(Vec<u8>),
}

/// So many first bytes tell.
const LOOKED_AT: usize = 4_096;

/// So many lines make a rule.
const LINES: usize = 5;

/// A longer prefix is more than a quotation.
const LONGEST_PREFIX: usize = 64;

impl Disguise {
    /// What `head`, the first bytes, are disguised in.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        wide(head)
            .map(Disguise::Wide)
            .or_else(|| quotation(head).map(|q| Disguise::Quoted(q.to_vec())))
    }

    /// The plain text.
    pub(super) fn undo<'r>(self, text: Box<dyn BufRead + 'r>) -> Box<dyn Read + 'r> {
        match self {
            Disguise::Wide(encoding) => {
                let mut builder = DecodeReaderBytesBuilder::new();
                Box::new(builder.encoding(Some(encoding)).build(text))
            }
            Disguise::Quoted(prefix) => Box::new(Unquoted {
                text,
                prefix,
                state: State::Matched(0),
            }),
        }
    }
}

/// UTF-16 by its mark, or because every other byte is zero.
fn wide(head: &[u8]) -> Option<&'static Encoding> {
    let encoding = match head {
        [0xff, 0xfe, ..] => return Some(UTF_16LE),
        [0xfe, 0xff, ..] => return Some(UTF_16BE),
        [0, ..] => UTF_16BE,
        [_, 0, ..] => UTF_16LE,
        _ => return None,
    };
    let high = usize::from(encoding == UTF_16LE);
    let (pairs, _) = head[..head.len().min(LOOKED_AT)].as_chunks::<2>();
    let is_ascii = |pair: &&[u8; 2]| {
        let low = pair[1 - high];
        pair[high] == 0 && matches!(low, b'\t' | b'\n' | b'\r' | 0x1b | b' '..=b'~')
    };
    let ascii = pairs.iter().filter(is_ascii).count();
    (pairs.len() >= 8 && ascii * 10 >= pairs.len() * 9).then_some(encoding)
}

/// What stands before every line of a console's log.
fn quotation(head: &[u8]) -> Option<&[u8]> {
    let whole = &head[..head.len().min(LOOKED_AT)];
    let complete = memchr::memrchr(b'\n', whole).map_or(whole, |end| &whole[..end]);
    let lines = complete.split(|b| *b == b'\n').map(<[u8]>::trim_ascii_end);
    let lines: Vec<&[u8]> = lines.filter(|l| !l.is_empty()).collect();
    let (first, rest) = lines
        .split_first()
        .filter(|(_, rest)| rest.len() + 1 >= LINES)?;
    let same = |line: &&[u8]| first.iter().zip(*line).take_while(|(a, b)| a == b).count();
    let len = rest.iter().map(same).min()?.min(LONGEST_PREFIX);
    let is_log = |line: &[u8]| printk::parse(line).is_some() || BootLoader::is_banner(line);
    if lines.iter().any(|line| is_log(line)) {
        return None;
    }
    // The blanks within the times of all lines are as equal as the quotation's.
    let blanks = (0..len).filter(|at| first[*at] == b' ');
    let mut prefixes = blanks.map(|at| &first[..=at]);
    prefixes.find(|prefix| {
        let is_time = prefix.iter().any(u8::is_ascii_digit);
        let is_blank = prefix.trim_ascii().is_empty();
        let behind = |line: &&[u8]| is_log(&line[prefix.len()..]);
        !is_time && !is_blank && lines.iter().any(behind)
    })
}

/// Text without what stands before every line.
struct Unquoted<'r> {
    text: Box<dyn BufRead + 'r>,
    prefix: Vec<u8>,
    state: State,
}

enum State {
    /// So many bytes of this line were those of the prefix.
    Matched(usize),
    /// They were not all: these are to be given back, from the first number to the second.
    GiveBack(usize, usize),
    /// The prefix has ended.
    Text,
}

impl Read for Unquoted<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            if let State::GiveBack(from, to) = self.state {
                let n = out.len().min(to - from);
                out[..n].copy_from_slice(&self.prefix[from..from + n]);
                self.state = match from + n {
                    done if done == to => State::Text,
                    more => State::GiveBack(more, to),
                };
                return Ok(n);
            }
            let bytes = self.text.fill_buf()?;
            if bytes.is_empty() {
                match self.state {
                    State::Matched(n) if n > 0 => self.state = State::GiveBack(0, n),
                    _ => return Ok(0),
                }
                continue;
            }
            match self.state {
                State::Matched(n) if n == self.prefix.len() => self.state = State::Text,
                State::Matched(n) if bytes[0] == self.prefix[n] => {
                    self.text.consume(1);
                    self.state = State::Matched(n + 1);
                }
                State::Matched(0) => self.state = State::Text,
                State::Matched(n) => self.state = State::GiveBack(0, n),
                State::GiveBack(..) => {}
                State::Text => {
                    let end = memchr::memchr(b'\n', bytes);
                    let line = &bytes[..end.map_or(bytes.len(), |at| at + 1)];
                    let n = line.len().min(out.len());
                    out[..n].copy_from_slice(&line[..n]);
                    if line[..n].ends_with(b"\n") {
                        self.state = State::Matched(0);
                    }
                    self.text.consume(n);
                    return Ok(n);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    const LOG: &str = "[    0.000000] Linux version 6.1.0\n\
        [    0.000001] Command line: quiet\n\
        \n\
        [    0.100000] Memory: 1K\n\
        [    0.200000] a\n\
        [    0.300000] b\n";

    fn undone(bytes: &[u8], capacity: usize) -> Option<String> {
        let disguise = Disguise::of(bytes)?;
        let text = Box::new(BufReader::with_capacity(capacity, bytes));
        let mut out = String::new();
        disguise.undo(text).read_to_string(&mut out).unwrap();
        Some(out)
    }

    #[test]
    fn what_windows_saves_is_read_with_and_without_its_mark() {
        let units: Vec<u16> = LOG.encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|u| u.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|u| u.to_be_bytes()).collect();
        let marked = [&[0xff, 0xfe][..], &little].concat();
        for bytes in [little, big, marked] {
            assert_eq!(undone(&bytes, 7).as_deref(), Some(LOG));
        }
    }

    #[test]
    fn a_quoted_log_loses_its_quotation() {
        for prefix in ["> ", "[info] ", "  | ", "INFO serial: "] {
            let quoted: String = LOG.lines().map(|l| format!("{prefix}{l}\n")).collect();
            // Editors cut blanks at the ends of lines.
            let quoted = quoted.replace(&format!("{prefix}\n"), "\n");
            for capacity in [1, 5, 4_096] {
                assert_eq!(undone(quoted.as_bytes(), capacity).as_deref(), Some(LOG));
            }
        }
    }

    #[test]
    fn other_text_is_left_as_it_is() {
        let dated: String = LOG
            .lines()
            .map(|l| format!("Jan 01 00:00:01 {l}\n"))
            .collect();
        let prose = "> a\n> b\n> c\n> d\n> e\n";
        for text in [LOG, &dated, prose, "", "\0", "a\0"] {
            assert_eq!(Disguise::of(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn only_the_prefix_goes(
            lines in prop::collection::vec("[> ab]{0,6}", 0..20),
            capacity in 1..9_usize,
        ) {
            let text: String = lines.iter().map(|l| format!("{l}\n")).collect();
            let bytes = BufReader::with_capacity(capacity, text.as_bytes());
            let disguise = Disguise::Quoted(b"> ".to_vec());
            let mut out = String::new();
            disguise.undo(Box::new(bytes)).read_to_string(&mut out).unwrap();
            let want: String = lines
                .iter()
                .map(|l| format!("{}\n", l.strip_prefix("> ").unwrap_or(l)))
                .collect();
            prop_assert_eq!(out, want);
        }
    }
}
