//! Text that is not as a log's text should be: in UTF-16, as Windows' terminals save it, in
//! a web page, with blanks that do not break, quoted, with its lines numbered, or with its
//! times in colour.
//!
//! Like what is packed, it is undone while it is read: evidence counts the bytes of the
//! plain text.

mod blanks;
mod coloured;
mod numbered;
mod page;
mod quoted;

use std::io::{self, BufRead, Read};

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use encoding_rs_io::DecodeReaderBytesBuilder;

use self::blanks::{Blanks, are_unbreakable};
use self::coloured::{Coloured, is_coloured};
use self::numbered::{Numbered, is_numbered};
use self::page::{Page, is_page};
use self::quoted::{Quoted, quotation};
use crate::console::bootloader::BootLoader;
use crate::console::printk;

/// How text is disguised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Disguise {
    /// UTF-16 in this order of bytes.
    Wide(&'static Encoding),
    /// A web page has it.
    Page,
    /// Its blanks do not break.
    Blanks,
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

impl Disguise {
    /// What `head`, the first bytes, are disguised in.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        wide(head)
            .map(Disguise::Wide)
            .or_else(|| is_page(head).then_some(Disguise::Page))
            .or_else(|| are_unbreakable(head).then_some(Disguise::Blanks))
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
            Disguise::Page => undone(text, Page::default()),
            Disguise::Blanks => undone(text, Blanks::default()),
            Disguise::Quoted(prefix) => undone(text, Quoted::new(prefix)),
            Disguise::Numbered => undone(text, Numbered::default()),
            Disguise::Coloured => undone(text, Coloured::default()),
        }
    }
}

fn undone<'r>(text: Box<dyn BufRead + 'r>, undo: impl Undo + 'r) -> Box<dyn Read + 'r> {
    Box::new(Undone {
        text,
        undo,
        plain: Vec::new(),
        given: 0,
    })
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

/// Whether most of the first lines are what `is_it` asks for only once they are undone.
fn are_only_then<U: Undo + Default>(head: &[u8], is_it: impl Fn(&[u8]) -> bool) -> bool {
    let mut plain = Vec::new();
    let mut only_then = |line: &&[u8]| {
        plain.clear();
        let mut undo = U::default();
        line.iter().for_each(|byte| undo.byte(*byte, &mut plain));
        undo.end(&mut plain);
        !is_it(line) && is_it(&plain)
    };
    first_lines(head).is_some_and(|lines| {
        let all = lines.len();
        lines.iter().filter(|line| only_then(line)).count() * 2 > all
    })
}

fn is_log(line: &[u8]) -> bool {
    printk::parse(line).is_some() || BootLoader::is_banner(line)
}

fn is_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// How a disguise is undone, byte by byte.
trait Undo {
    /// Takes a byte, and adds to `plain` what is certain now.
    fn byte(&mut self, byte: u8, plain: &mut Vec<u8>);

    /// The text ends here.
    fn end(&mut self, _plain: &mut Vec<u8>) {}
}

/// Text whose disguise is undone while it is read.
struct Undone<'r, U> {
    text: Box<dyn BufRead + 'r>,
    undo: U,
    plain: Vec<u8>,
    /// So much of it was given out.
    given: usize,
}

impl<U: Undo> Read for Undone<'_, U> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.given == self.plain.len() {
            self.plain.clear();
            self.given = 0;
            let bytes = self.text.fill_buf()?;
            if bytes.is_empty() {
                self.undo.end(&mut self.plain);
                break;
            }
            for byte in bytes {
                self.undo.byte(*byte, &mut self.plain);
            }
            let used = bytes.len();
            self.text.consume(used);
        }
        let left = &self.plain[self.given..];
        let n = left.len().min(out.len());
        out[..n].copy_from_slice(&left[..n]);
        self.given += n;
        Ok(n)
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
    fn a_web_pages_log_is_its_text() {
        let escape = |line: &str| line.replace('&', "&amp;").replace('<', "&lt;");
        let lines: Vec<String> = LOG.lines().map(escape).collect();
        let span = |line: &String| format!("<span class=\"a\">{line}</span>");
        let spans: Vec<String> = lines.iter().map(span).collect();
        let style = "<style>pre > a { b: c }</style><script>if (a < b) {}</script>";
        for log in [lines.join("\n"), spans.join("\n"), lines.join("<BR>")] {
            let page = format!("<!DOCTYPE html><html><head>{style}</head><pre>{log}</pre></html>");
            for capacity in [1, 5, 4_096] {
                let text = undone(page.as_bytes(), capacity).unwrap();
                assert_eq!(text.trim_end(), LOG.trim_end());
            }
        }
        let odd = undone(b"<html>A < b &X; &C <6>[ &amp;lt; &nbsp;c", 3);
        assert_eq!(odd.as_deref(), Some("A < b &X; &C <6>[ &lt;  c"));
    }

    #[test]
    fn blanks_that_do_not_break_are_blanks() {
        let log = LOG.replace("1K", "1°K ²");
        let odd = log.replace("  ", "\u{a0} ");
        for capacity in [1, 5, 4_096] {
            assert_eq!(undone(odd.as_bytes(), capacity).as_ref(), Some(&log));
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
