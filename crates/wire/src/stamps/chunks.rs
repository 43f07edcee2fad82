//! Version 2: a record for each read, and for what happened to the recording.

use std::io::{self, Write};

use super::{Header, StampClock, Zero};

/// Bytes of the longest number.
pub(super) const MOST_LEB128: u32 = 10;
/// What is kept of an event's text.
pub(super) const MAX_TEXT: usize = 4096;

/// What happened to a recording beside the bytes that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Something was sent to the machine; the text is what.
    Sent,
    /// The device vanished or the connection broke; the text says how.
    Gone,
    /// It is back.
    Returned,
    /// The bytes look as if sent at another rate.
    WrongRate,
    /// The host's driver or the recorder lost bytes; the text says how many.
    Lost,
    /// An event of a newer version.
    Other(u8),
}

impl Event {
    pub(super) fn from_kind(kind: u8) -> Self {
        match kind {
            1 => Event::Sent,
            2 => Event::Gone,
            3 => Event::Returned,
            4 => Event::WrongRate,
            5 => Event::Lost,
            other => Event::Other(other),
        }
    }

    fn kind(self) -> u8 {
        match self {
            Event::Sent => 1,
            Event::Gone => 2,
            Event::Returned => 3,
            Event::WrongRate => 4,
            Event::Lost => 5,
            Event::Other(kind) => kind & 7,
        }
    }
}

/// Writes a stamped console of version 2.
///
/// It does not buffer: hand it a `BufWriter`, and flush that often, so that a
/// killed recording keeps what it saw.
pub struct ChunkWriter<W: Write> {
    to: W,
    last_ns: i64,
}

impl<W: Write> ChunkWriter<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// If writing fails.
    pub fn new(mut to: W, clock: StampClock, zero: Zero) -> io::Result<Self> {
        to.write_all(&Header { clock }.encode_chunks(zero))?;
        Ok(Self { to, last_ns: 0 })
    }

    /// Writes bytes that were read together at `ns` since zero. A time before
    /// that of the record before (or before zero) is taken for that. Says how
    /// many bytes of the file that took.
    ///
    /// # Errors
    /// If writing fails.
    pub fn bytes(&mut self, ns: i64, bytes: &[u8]) -> io::Result<u64> {
        if bytes.is_empty() {
            return Ok(0);
        }
        self.write(ns, 0, bytes)
    }

    /// Writes what happened to the recording; says how many bytes that took.
    ///
    /// # Errors
    /// If writing fails.
    pub fn event(&mut self, ns: i64, event: Event, text: &str) -> io::Result<u64> {
        let text = &text.as_bytes()[..text.len().min(MAX_TEXT)];
        self.write(ns, event.kind(), text)
    }

    fn write(&mut self, ns: i64, kind: u8, bytes: &[u8]) -> io::Result<u64> {
        let delta = ns.saturating_sub(self.last_ns).max(0);
        self.last_ns += delta;
        let mut head = [0; 2 * MOST_LEB128 as usize];
        let n = leb128(delta as u64, &mut head, 0);
        let n = leb128((bytes.len() as u64) << 3 | u64::from(kind), &mut head, n);
        self.to.write_all(&head[..n])?;
        self.to.write_all(bytes)?;
        Ok((n + bytes.len()) as u64)
    }

    /// The ns of the last record.
    pub fn last_ns(&self) -> i64 {
        self.last_ns
    }

    /// Flushes what is written to.
    ///
    /// # Errors
    /// If that fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    /// What is written to.
    pub fn get_ref(&self) -> &W {
        &self.to
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.to
    }
}

/// Writes a number at `at`; says where it ends.
fn leb128(mut value: u64, into: &mut [u8], mut at: usize) -> usize {
    while value >= 0x80 {
        into[at] = value as u8 | 0x80;
        value >>= 7;
        at += 1;
    }
    into[at] = value as u8;
    at + 1
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::super::{Reader, Record};
    use super::*;

    fn sample() -> Vec<u8> {
        let mut writer = ChunkWriter::new(Vec::new(), StampClock::Host, Zero::Pattern).unwrap();
        writer.bytes(1000, b"TF-A").unwrap();
        writer.event(10_001_000, Event::Gone, "gone usb").unwrap();
        writer.event(3_000_000_000, Event::Returned, "").unwrap();
        writer.bytes(i64::MAX, b"!").unwrap();
        writer.into_inner()
    }

    fn read(bytes: &[u8], chunk: usize) -> (String, usize) {
        let mut reader = Reader::new(BufReader::with_capacity(chunk, bytes)).unwrap();
        let mut all = String::new();
        while let Some(record) = reader.record().unwrap() {
            all += &match record {
                Record::Byte { at, byte } => format!("{} {}\n", at.ns, byte as char),
                Record::Event { at, event } => {
                    let text = String::from_utf8_lossy(reader.text()).into_owned();
                    format!("{} {event:?} {text}\n", at.ns)
                }
                Record::Mark { .. } | Record::Detail { .. } => panic!(),
            };
        }
        (all, reader.torn())
    }

    #[test]
    fn what_is_written_is_read_in_any_chunks() {
        let all = "1000 T\n1000 F\n1000 -\n1000 A\n10001000 Gone gone usb\n\
                   3000000000 Returned \n9223372036854775807 !\n";
        for chunk in [1, 2, 7, 4096] {
            assert_eq!(read(&sample(), chunk), (all.to_owned(), 0));
        }
        let bytes = sample();
        let reader = Reader::new(&bytes[..]).unwrap();
        assert_eq!(reader.zero(), Zero::Pattern);
        assert_eq!(reader.header().clock, StampClock::Host);
        // As the documentation shows it.
        assert_eq!(&bytes[16..23], b"\xe8\x07\x20TF-A");
        assert_eq!(&bytes[23..36], b"\x80\xad\xe2\x04\x42gone usb");
    }

    #[test]
    fn a_torn_chunk_gives_the_bytes_that_are_there() {
        let bytes = sample();
        for len in 16..bytes.len() {
            let (text, torn) = read(&bytes[..len], 4096);
            let whole = [16, 23, 36, bytes.len()].contains(&len) || torn > 0 || len == 42;
            assert!(whole, "{len}: {text} {torn}");
        }
        assert_eq!(read(&bytes[..21], 4096), ("1000 T\n1000 F\n".to_owned(), 2));
    }

    #[test]
    fn times_never_go_back_and_long_numbers_end() {
        let mut writer = ChunkWriter::new(Vec::new(), StampClock::Host, Zero::FirstByte).unwrap();
        writer.bytes(50, b"a").unwrap();
        writer.bytes(-7, b"b").unwrap();
        writer.bytes(60, b"").unwrap();
        let mut bytes = writer.into_inner();
        assert_eq!(read(&bytes, 64).0, "50 a\n50 b\n");
        bytes.extend([0xff; 40]);
        let (text, _) = read(&bytes, 64);
        assert!(text.contains("50 b\n"));
    }
}
