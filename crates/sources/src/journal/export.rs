//! `journalctl -o export`: the journal's exchange format.
//!
//! ```text
//! __CURSOR=s=43e9…;i=1;b=c631…;m=6137c2;t=64f5…;x=b8d2…
//! __REALTIME_TIMESTAMP=1776109088586249
//! __MONOTONIC_TIMESTAMP=6371266
//! _TRANSPORT=kernel
//! MESSAGE=Linux version 6.12.107+deb13-cloud-amd64 …
//! _SELINUX_CONTEXT
//! <8 bytes: length, little-endian><the bytes><newline>
//! ```
//!
//! A blank line ends a message. Values that are no plain text have their
//! length in front, so this is read as bytes, not as lines; a message counts
//! as one line.

use std::io::{self, BufRead};

use bootlap_model::{Evidence, Severity};

use super::Collected;
use super::row::Row;
use crate::text::{Import, Skip};

/// More of one value is not kept.
const MAX_VALUE: usize = 64 * 1024;

/// Whether `head` is of this format.
pub(crate) fn is_export(head: &[u8]) -> bool {
    let line = head
        .split(|b| *b == b'\n')
        .find(|l| !l.trim_ascii().is_empty());
    let line = line.unwrap_or_default();
    line.starts_with(b"__CURSOR=")
        || line.starts_with(b"__REALTIME_TIMESTAMP=")
        || line.starts_with(b"__MONOTONIC_TIMESTAMP=")
}

/// Reads all messages of `bytes`.
pub(crate) fn read(
    bytes: &mut dyn BufRead,
    import: &mut Import<'_>,
    out: &mut Collected,
) -> io::Result<()> {
    let mut input = Bytes {
        bytes,
        offset: 0,
        number: 0,
    };
    let mut entry: Option<(Row, Box<str>)> = None;
    let mut line = Vec::new();
    loop {
        let start = input.offset;
        line.clear();
        if !input.line(&mut line)? {
            break;
        }
        let at = Evidence {
            file: import.file,
            start,
            end: input.offset,
            line: input.number,
        };
        while line.last() == Some(&b'\r') {
            line.pop();
        }
        if line.is_empty() {
            flush(&mut entry, import, out);
            continue;
        }
        let (row, boot) = entry.get_or_insert_with(Default::default);
        row.at.get_or_insert(at).end = at.end;
        if let Some(equals) = memchr::memchr(b'=', &line) {
            row.field(&line[..equals], &line[equals + 1..], boot);
        } else if is_name(&line) {
            let mut value = Vec::new();
            let whole = input.value(&mut value)?;
            row.field(&line, &value, boot);
            if !whole {
                cut(at, import);
            }
            row.at.get_or_insert(at).end = input.offset;
        } else {
            import.count_lines(1);
            import.skip(
                at,
                Skip::unknown("expected `FIELD=value` as `journalctl -o export` prints it"),
            );
        }
    }
    flush(&mut entry, import, out);
    Ok(())
}

fn flush(entry: &mut Option<(Row, Box<str>)>, import: &mut Import<'_>, out: &mut Collected) {
    let Some((mut row, boot)) = entry.take() else {
        return;
    };
    import.count_lines(1);
    row.lines = 1;
    row.err_ns = 1_000;
    out.add(row, boot, import);
}

/// The text ended within a message.
pub(crate) fn cut(at: Evidence, import: &mut Import<'_>) {
    import.notice(
        "record-cut",
        Severity::DataLoss,
        at,
        "the file ends in the middle of a message: was it copied as a whole?",
    );
}

fn is_name(line: &[u8]) -> bool {
    let fits = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_';
    line.len() <= 64 && line.iter().all(fits)
}

struct Bytes<'a> {
    bytes: &'a mut dyn BufRead,
    offset: u64,
    number: u32,
}

impl Bytes<'_> {
    /// Appends the next line without its end; `false` if there is none.
    fn line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        let begin = self.offset;
        self.number = self.number.saturating_add(1);
        loop {
            let chunk = self.bytes.fill_buf()?;
            if chunk.is_empty() {
                return Ok(self.offset > begin);
            }
            let end = memchr::memchr(b'\n', chunk);
            let text = &chunk[..end.unwrap_or(chunk.len())];
            let room = MAX_VALUE.saturating_sub(line.len());
            line.extend_from_slice(&text[..text.len().min(room)]);
            let n = text.len() + usize::from(end.is_some());
            self.bytes.consume(n);
            self.offset += n as u64;
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// Appends a value with its length in front; `false` if it ends early.
    fn value(&mut self, value: &mut Vec<u8>) -> io::Result<bool> {
        let mut length = Vec::new();
        if self.take(8, &mut length)? < 8 {
            return Ok(false);
        }
        let length = u64::from_le_bytes(length.try_into().unwrap_or_default());
        let whole = self.take(length, value)? == length;
        let mut newline = Vec::new();
        Ok(whole && self.take(1, &mut newline)? == 1)
    }

    /// Steps over `n` bytes and keeps the first of them; says how many there were.
    fn take(&mut self, n: u64, keep: &mut Vec<u8>) -> io::Result<u64> {
        let mut left = n;
        while left > 0 {
            let chunk = self.bytes.fill_buf()?;
            if chunk.is_empty() {
                break;
            }
            let n = chunk.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let room = MAX_VALUE.saturating_sub(keep.len());
            keep.extend_from_slice(&chunk[..n.min(room)]);
            self.bytes.consume(n);
            self.offset += n as u64;
            left -= n as u64;
        }
        Ok(n - left)
    }
}
