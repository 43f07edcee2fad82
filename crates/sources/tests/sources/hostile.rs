//! What somebody makes up to hurt: every source reads it to the end, in time
//! and memory that grow with the input, and says what it skipped. No time is
//! asserted; what is quadratic would not end.

use std::io::{self, BufReader, Read};
use std::sync::OnceLock;

use crate::support::{Case, all_cases, is_sound, try_read};
use bootlap_model::Timeline;
use bootlap_sources::{HEAD_LEN, Hints, Input, Source, SourceError, all, named};
use regex::bytes::{Captures, Regex};

/// Numbers that no clock shows.
const NUMBERS: [&str; 6] = [
    "9223372036854775808",
    "1000000000000000000000000000000",
    "-1",
    "-9223372036854775808",
    "-0.000001",
    "99999999999.999999999",
];

fn read(source: &Source, what: &str, bytes: impl Read) {
    let mut bytes = BufReader::with_capacity(HEAD_LEN, bytes);
    let mut timeline = Timeline::default();
    let input = Input {
        label: "",
        bytes: &mut bytes,
        hints: &Hints::default(),
    };
    let result = source.read(input, &mut timeline);
    let fine = matches!(result, Ok(()) | Err(SourceError::NotThisFormat { .. }));
    let what = format!("{}: {what}", source.name);
    assert!(fine, "{what}");
    is_sound(&what, &timeline);
}

/// By every source, and by each behind the smallest file that it knows.
fn by_all(what: &str, bytes: impl Read + Clone) {
    let mut head = Vec::new();
    let start = bytes.clone().take(HEAD_LEN as u64);
    BufReader::new(start).read_to_end(&mut head).unwrap();
    for source in all() {
        source.sniff(&head);
        read(source, what, bytes.clone());
        let known = smallest(source.name);
        read(source, what, known.chain(bytes.clone()));
    }
}

fn smallest(format: &str) -> &'static [u8] {
    let parts = cases().iter().filter(|c| c.format == format);
    let parts = parts.flat_map(|c| &c.parts).map(|p| &p.bytes[..]);
    parts.min_by_key(|b| b.len()).expect("a fixture")
}

fn cases() -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    CASES.get_or_init(all_cases)
}

/// A piece over and over, made as it is read.
#[derive(Clone)]
struct Repeated {
    piece: &'static [u8],
    at: usize,
    left: usize,
}

fn repeated(piece: &'static [u8], times: usize) -> Repeated {
    Repeated {
        piece,
        at: 0,
        left: times * piece.len(),
    }
}

impl Read for Repeated {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = buf.len().min(self.left);
        let mut filled = 0;
        while filled < n {
            let piece = &self.piece[self.at..];
            let len = piece.len().min(n - filled);
            buf[filled..filled + len].copy_from_slice(&piece[..len]);
            filled += len;
            self.at = (self.at + len) % self.piece.len();
        }
        self.left -= n;
        Ok(n)
    }
}

#[test]
fn numbers_that_no_clock_shows() {
    let number = Regex::new(r"(?-u)\d+(\.\d+)?").unwrap();
    let texts = cases().iter().filter(|c| {
        let mut parts = c.parts.iter();
        parts.all(|p| p.bytes.len() < 8_000 && !p.bytes.contains(&0))
    });
    for case in texts {
        for hostile in NUMBERS {
            for every in [1, 3, 7] {
                let mut case = case.clone();
                for part in &mut case.parts {
                    let mut n = 0;
                    let replaced = number.replace_all(&part.bytes, |c: &Captures<'_>| {
                        n += 1;
                        let hit = n % every == 0;
                        if hit {
                            hostile.as_bytes().to_vec()
                        } else {
                            c[0].to_vec()
                        }
                    });
                    part.bytes = replaced.into_owned();
                }
                check(&case, hostile);
            }
        }
    }
}

/// The same in files of numbers: eight bytes in each of many places.
#[test]
fn numbers_that_no_machine_counts() {
    let binary = |c: &&Case| {
        let small = c.parts.iter().all(|p| p.bytes.len() < 80_000);
        small && c.parts.iter().any(|p| p.bytes.contains(&0))
    };
    for case in cases().iter().filter(binary) {
        for hostile in [u64::MAX, 1 << 63, (1 << 63) - 1, 1 << 32, 0] {
            for bytes in [hostile.to_le_bytes(), hostile.to_be_bytes()] {
                for nth in 0..40 {
                    let mut case = case.clone();
                    let part = nth % case.parts.len();
                    let part = &mut case.parts[part].bytes;
                    // The beginning, where the lengths are, and all over it.
                    let at = if nth < 20 {
                        nth * 4
                    } else {
                        part.len() / 20 * (nth - 20)
                    };
                    let at = at.min(part.len());
                    let n = bytes.len().min(part.len() - at);
                    part[at..at + n].copy_from_slice(&bytes[..n]);
                    check(&case, "a number of 8 bytes");
                }
            }
        }
    }
}

fn check(case: &Case, what: &str) {
    let source = named(&case.format).unwrap();
    let what = format!("{} with {what}", case.dir.display());
    is_sound(&what, &try_read(source, case, HEAD_LEN).1);
}

#[test]
fn a_million_in_each_other() {
    for piece in [
        "{", "[", "(", "<g>", "[{\"a\":", "\"", "\x1b[", "\\", "/*", "$scope ",
    ] {
        by_all(piece, repeated(piece.as_bytes(), 1_000_000));
    }
}

#[test]
fn a_million_calls_in_each_other() {
    let calls: [(&str, &[u8]); 6] = [
        ("ftrace", b" 0)               |  vfs_read() {\n"),
        ("strace", b"1 0.000001 read(3,  <unfinished ...>\n"),
        ("console", b"[    1.000000] calling  a+0x0/0x1 @ 1\r\n"),
        ("dmesg", b"[    1.000000] calling  a+0x0/0x1 @ 1\n"),
        ("systemd", b"<svg><g><text>\n"),
        ("vcd", b"$scope module a $end\n"),
    ];
    for (format, line) in calls {
        let source = named(format).unwrap();
        let known = smallest(format);
        read(source, "calls", known.chain(repeated(line, 1_000_000)));
    }
}

#[test]
fn a_line_of_64_megabytes() {
    for source in all() {
        let flood = repeated(b"1.0 a", (64 << 20) / 5);
        read(source, "one line", flood);
    }
}

#[test]
fn nothing_but_one_byte() {
    by_all("empty lines", repeated(b"\n", 1_000_000));
    by_all("empty lines", repeated(b"\r\n", 1_000_000));
    for byte in [b"\0", b"\xff", b" ", b"\r", b"0", b"-"] {
        by_all("one byte", repeated(byte, 1_000_000));
    }
}

#[test]
fn text_of_another_encoding() {
    let mut random = 1u64;
    let mut text = vec![0xff, 0xfe];
    for _ in 0..500_000 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        text.extend(((random >> 40) as u16).to_le_bytes());
    }
    by_all("UTF-16", &text[..]);
}
