//! Text that is not as a log's text should be: in UTF-16, as Windows' terminals save it,
//! behind something that stands before every line (`> `, `[info] `, `dmesg.log:`), with its
//! lines numbered (`cat -n`, `grep -n`), or with its times in colour
//! (`dmesg --color=always`).
//!
//! Like what is packed, it is undone while it is read: evidence counts the bytes of the
//! plain text.

use std::io::{self, BufRead, Read};

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use encoding_rs_io::DecodeReaderBytesBuilder;

use crate::cleaner::Cleaner;
use crate::colours::clean_line;
use crate::console::bootloader::BootLoader;
use crate::console::printk;
use crate::dmesg::prefix::{self, Time};

/// How text is disguised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Disguise {
    /// UTF-16 in this order of bytes.
    Wide(&'static Encoding),
    /// This stands before every line.
    Quoted(Vec<u8>),
    /// A number stands before every line.
    Numbered,
    /// The times are in colour.
    Coloured,
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
            .or_else(|| is_numbered(head).then_some(Disguise::Numbered))
            .or_else(|| is_coloured(head).then_some(Disguise::Coloured))
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
            Disguise::Numbered => Box::new(Unnumbered {
                text,
                at: At::Blanks,
            }),
            Disguise::Coloured => Box::new(Uncoloured {
                text,
                cleaner: Cleaner::new(),
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

/// The first lines of all that have text, if there are enough to tell.
fn first_lines(head: &[u8]) -> Option<Vec<&[u8]>> {
    let whole = &head[..head.len().min(LOOKED_AT)];
    let complete = memchr::memrchr(b'\n', whole).map_or(whole, |end| &whole[..end]);
    let lines = complete.split(|b| *b == b'\n').map(<[u8]>::trim_ascii_end);
    let lines: Vec<&[u8]> = lines.filter(|l| !l.is_empty()).collect();
    (lines.len() >= LINES).then_some(lines)
}

/// Whether most lines have a time only once their colours are gone.
fn is_coloured(head: &[u8]) -> bool {
    if memchr::memchr(0x1b, head).is_none() {
        return false;
    }
    let has_time = |line: &[u8]| prefix::parse(line).is_some_and(|p| p.time != Time::None);
    let mut clean = Vec::new();
    let mut only_then = |line: &&[u8]| {
        clean_line(line, &mut clean);
        !has_time(line) && has_time(&clean)
    };
    first_lines(head).is_some_and(|lines| {
        let all = lines.len();
        lines.iter().filter(|l| only_then(l)).count() * 2 > all
    })
}

/// What stands before every line of a console's log.
fn quotation(head: &[u8]) -> Option<&[u8]> {
    let lines = first_lines(head)?;
    let longest = lines.iter().max_by_key(|line| line.len())?;
    // Of a quoted line that is empty only the quotation is left, without its blank.
    let quoted = lines.iter().filter(|line| !longest.starts_with(line));
    let same = |line: &&[u8]| {
        longest
            .iter()
            .zip(*line)
            .take_while(|(a, b)| a == b)
            .count()
    };
    let len = quoted.map(same).min()?.min(LONGEST_PREFIX);
    if lines.iter().any(|line| is_log(line)) {
        return None;
    }
    // The blanks within the times of all lines are as equal as the quotation's.
    let ends = (0..len).filter(|at| matches!(longest[*at], b' ' | b':'));
    let mut prefixes = ends.map(|at| &longest[..=at]);
    prefixes.find(|prefix| {
        let is_file = prefix[0].is_ascii_alphabetic() && prefix.ends_with(b":");
        let is_time = !is_file && prefix.iter().any(u8::is_ascii_digit);
        let is_blank = prefix.trim_ascii().is_empty();
        let behind = |line: &&[u8]| line.strip_prefix(*prefix).is_some_and(is_log);
        !is_time && !is_blank && lines.iter().any(behind)
    })
}

fn is_log(line: &[u8]) -> bool {
    printk::parse(line).is_some() || BootLoader::is_banner(line)
}

/// Whether the lines of a console's log are numbered: each with one more than the last.
fn is_numbered(head: &[u8]) -> bool {
    let Some(lines) = first_lines(head) else {
        return false;
    };
    let numbered = |line: &&[u8]| {
        let line = line.trim_ascii_start();
        let digits = line.iter().take_while(|b| b.is_ascii_digit()).count();
        let number: u64 = std::str::from_utf8(&line[..digits]).ok()?.parse().ok()?;
        let text = match &line[digits..] {
            [] => &[],
            [b'\t' | b':' | b' ', text @ ..] => text,
            _ => return None,
        };
        Some((number, is_log(text)))
    };
    let Some(all) = lines.iter().map(numbered).collect::<Option<Vec<_>>>() else {
        return false;
    };
    all.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0)
        && all.iter().filter(|(_, is_log)| *is_log).count() * 2 > all.len()
}

fn is_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Text without its colours.
struct Uncoloured<'r> {
    text: Box<dyn BufRead + 'r>,
    cleaner: Cleaner,
}

impl Read for Uncoloured<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let cleaner = &mut self.cleaner;
        kept(&mut *self.text, out, |byte| {
            if is_end(byte) {
                cleaner.line_ends();
                return true;
            }
            cleaner.is_text(byte)
        })
    }
}

/// Reads those bytes of `text` that are to stay; 0 at its end.
fn kept(
    text: &mut dyn BufRead,
    out: &mut [u8],
    mut stays: impl FnMut(u8) -> bool,
) -> io::Result<usize> {
    loop {
        let bytes = text.fill_buf()?;
        // Each byte gives one or none.
        let bytes = &bytes[..bytes.len().min(out.len())];
        let mut n = 0;
        for byte in bytes {
            if stays(*byte) {
                out[n] = *byte;
                n += 1;
            }
        }
        let used = bytes.len();
        text.consume(used);
        if n > 0 || used == 0 {
            return Ok(n);
        }
    }
}

/// Text without the numbers of its lines.
struct Unnumbered<'r> {
    text: Box<dyn BufRead + 'r>,
    at: At,
}

/// What comes next in a numbered line.
#[derive(Clone, Copy)]
enum At {
    Blanks,
    Number,
    Text,
}

impl At {
    /// What follows `byte`, and whether this is of the text.
    fn next(self, byte: u8) -> (At, bool) {
        match (self, byte) {
            (_, b'\n') => (At::Blanks, true),
            (At::Blanks, b' ') => (At::Blanks, false),
            (At::Blanks | At::Number, b'0'..=b'9') => (At::Number, false),
            (At::Number, b'\t' | b':' | b' ') => (At::Text, false),
            _ => (At::Text, true),
        }
    }
}

impl Read for Unnumbered<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        kept(&mut *self.text, out, |byte| {
            let (next, is_text) = self.at.next(byte);
            self.at = next;
            is_text
        })
    }
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
                State::Matched(n)
                    if is_end(bytes[0]) && self.prefix[n..].trim_ascii().is_empty() =>
                {
                    self.state = State::Text;
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
        let log = format!("\n{LOG}");
        for prefix in ["> ", "[info] ", "  | ", "INFO serial: ", "dmesg-6.1.log:"] {
            // Editors cut blanks at the ends of lines, or all of it.
            for empty in [prefix, prefix.trim_end(), ""] {
                let line = |l: &str| match l {
                    "" => format!("{empty}\n"),
                    text => format!("{prefix}{text}\n"),
                };
                let quoted: String = log.lines().map(line).collect();
                for capacity in [1, 5, 4_096] {
                    assert_eq!(undone(quoted.as_bytes(), capacity).as_ref(), Some(&log));
                }
            }
        }
    }

    #[test]
    fn numbers_of_lines_go() {
        type Number = fn(usize, &str) -> String;
        let ways: [Number; 3] = [
            |n, line| format!("{n:6}\t{line}\n"),
            |n, line| format!("{n}:{line}\n"),
            |n, line| format!("{n:4} {line}\n"),
        ];
        for way in ways {
            let lines = LOG.lines().enumerate();
            let log: String = lines.map(|(n, line)| way(n + 8, line)).collect();
            for capacity in [1, 5, 4_096] {
                assert_eq!(undone(log.as_bytes(), capacity).as_deref(), Some(LOG));
            }
        }
    }

    #[test]
    fn colours_of_dmesg_go() {
        let coloured = |line: &str| match line.split_once("] ") {
            Some((time, text)) => format!("\x1b[32m{time}] \x1b[0m\x1b[33m{text}\x1b[0m\n"),
            None => format!("{line}\n"),
        };
        for decoded in ["", "kern  :info  : "] {
            let log: String = LOG
                .lines()
                .map(|l| match l {
                    "" => "\n".to_owned(),
                    line => format!("{decoded}{}", coloured(line)),
                })
                .collect();
            for capacity in [1, 5, 4_096] {
                let plain = undone(log.as_bytes(), capacity).unwrap();
                assert_eq!(plain.replace(decoded, ""), LOG);
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
        // A console's colours are its own.
        let console: String = LOG
            .lines()
            .map(|l| format!("{l}\n[\x1b[0;32m  OK  \x1b[0m] Started a.\n"))
            .collect();
        for text in [LOG, &dated, &console, prose, "", "\0", "a\0"] {
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
                .map(|l| if l == ">" { "" } else { l.strip_prefix("> ").unwrap_or(l) })
                .map(|l| format!("{l}\n"))
                .collect();
            prop_assert_eq!(out, want);
        }
    }
}
