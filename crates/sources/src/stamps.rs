//! The stamped console: every console byte with the moment it was sent.
//!
//! bootlap's QEMU probe (`probe/probe.c`) and `bootlap capture` write it next
//! to the raw console. A 16-byte header, then 16-byte records, all
//! little-endian:
//!
//! ```text
//! 42 4f 4f 54 4c 41 50 00  01 01 00 00 00 00 00 00   BOOTLAP\0, version 1, clock 1
//! 6e 65 75 00 00 00 00 00  55 05 b5 3a 00 00 00 00   'U' at 7 693 678 ns, 3 847 429 insns
//! 10 c7 1b 44 00 00 00 80  01 64 c4 0d 22 00 00 00   bit 63: mark 1, the kernel's first insn
//! ```
//!
//! The first word is ns since power-on (bit 63 tells a mark from a byte), the
//! second `instructions << 8 | byte`, where a mark has its number for a byte.
//!
//! | clock | what the ns are | instructions |
//! | --- | --- | --- |
//! | 1 | QEMU's virtual clock with `-icount`: simulated time | counted |
//! | 2 | QEMU's virtual clock, which follows the host | 0 |
//! | 3 | the host's monotonic clock since power-on | 0 |
//!
//! Bytes that a machine handed over in one piece share one stamp. The probe
//! dies with QEMU, so the last record can be torn: [`Reader::torn`] counts
//! what is left of it.

use std::io::{self, BufRead, Write};

use bootlap_model::{ClockKind, Stamp};

/// The first bytes of a stamped console.
pub const MAGIC: [u8; 8] = *b"BOOTLAP\0";
/// The only version so far.
pub const VERSION: u8 = 1;
/// Bytes of the header.
pub const HEADER_LEN: usize = 16;
/// Bytes of a record.
pub const RECORD_LEN: usize = 16;

const MARK_FLAG: u64 = 1 << 63;

/// What the ns of a stamped console count, and whether instructions are too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampClock {
    /// QEMU's virtual clock with instruction counting: simulated time.
    Simulated,
    /// QEMU's virtual clock without instruction counting.
    Virtual,
    /// The host's monotonic clock since power-on.
    Host,
}

impl StampClock {
    fn code(self) -> u8 {
        match self {
            StampClock::Simulated => 1,
            StampClock::Virtual => 2,
            StampClock::Host => 3,
        }
    }

    /// The clock in the model.
    pub fn kind(self) -> ClockKind {
        match self {
            StampClock::Simulated | StampClock::Virtual => ClockKind::QemuVirtual,
            StampClock::Host => ClockKind::HostMonotonic,
        }
    }

    /// Whether the time is simulated, that is, counted from instructions.
    pub fn simulated(self) -> bool {
        self == StampClock::Simulated
    }

    /// The moment `ns`, after `insns` instructions if this clock counts them.
    pub fn stamp(self, ns: i64, insns: u64) -> Stamp {
        match self {
            StampClock::Simulated => Stamp::counted(ns, insns),
            StampClock::Virtual | StampClock::Host => Stamp::new(ns, 0),
        }
    }
}

/// The first 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The clock of all records.
    pub clock: StampClock,
}

/// Why bytes are not the header of a stamped console.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// Fewer than [`HEADER_LEN`] bytes.
    #[error("the header has {0} of 16 bytes: the recording never began")]
    Short(usize),
    /// Not [`MAGIC`].
    #[error("it does not begin with BOOTLAP and a zero byte")]
    Magic,
    /// A version of the format that this program does not know.
    #[error("it is of version {0}, and this bootlap reads version 1: use a newer bootlap")]
    Version(u8),
    /// A clock that this program does not know.
    #[error("clock {0} is none of 1, 2 and 3: use a newer bootlap")]
    Clock(u8),
}

impl Header {
    /// Understands the first bytes of a file.
    ///
    /// # Errors
    /// If they are no header, or one of a newer version.
    pub fn decode(bytes: &[u8]) -> Result<Self, HeaderError> {
        let magic = bytes.len().min(MAGIC.len());
        if bytes[..magic] != MAGIC[..magic] {
            return Err(HeaderError::Magic);
        }
        let Some(&[version, clock]) = bytes.get(8..10).filter(|_| bytes.len() >= HEADER_LEN) else {
            return Err(HeaderError::Short(bytes.len()));
        };
        if version != VERSION {
            return Err(HeaderError::Version(version));
        }
        let clock = match clock {
            1 => StampClock::Simulated,
            2 => StampClock::Virtual,
            3 => StampClock::Host,
            other => return Err(HeaderError::Clock(other)),
        };
        Ok(Self { clock })
    }

    /// The bytes to write first.
    pub fn encode(self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8] = VERSION;
        bytes[9] = self.clock.code();
        bytes
    }
}

/// A moment that the probe saw without a console byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeMark {
    /// The first instruction in the kernel's half of the address space.
    KernelEntry,
    /// The first system call of user space.
    UserEntry,
    /// The first instruction of the kernel image, which may unpack itself.
    ImageEntry,
    /// A mark of a newer probe.
    Other(u8),
}

impl ProbeMark {
    fn from_code(code: u8) -> Self {
        match code {
            1 => ProbeMark::KernelEntry,
            2 => ProbeMark::UserEntry,
            3 => ProbeMark::ImageEntry,
            other => ProbeMark::Other(other),
        }
    }

    fn code(self) -> u8 {
        match self {
            ProbeMark::KernelEntry => 1,
            ProbeMark::UserEntry => 2,
            ProbeMark::ImageEntry => 3,
            ProbeMark::Other(code) => code,
        }
    }
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// A console byte.
    Byte {
        /// When it was sent.
        at: Stamp,
        /// The byte.
        byte: u8,
    },
    /// Something else that the probe saw.
    Mark {
        /// When.
        at: Stamp,
        /// What.
        mark: ProbeMark,
    },
}

impl Record {
    /// Understands 16 bytes; every 16 bytes are a record.
    #[inline]
    pub fn decode(bytes: &[u8; RECORD_LEN], clock: StampClock) -> Self {
        let both = u128::from_le_bytes(*bytes);
        let (first, second) = (both as u64, (both >> 64) as u64);
        let at = clock.stamp((first & !MARK_FLAG) as i64, second >> 8);
        let code = second as u8;
        if first & MARK_FLAG == 0 {
            Record::Byte { at, byte: code }
        } else {
            let mark = ProbeMark::from_code(code);
            Record::Mark { at, mark }
        }
    }

    /// The 16 bytes to write. Times before power-on do not exist: they are
    /// written as 0.
    pub fn encode(self) -> [u8; RECORD_LEN] {
        let (flag, at, code) = match self {
            Record::Byte { at, byte } => (0, at, byte),
            Record::Mark { at, mark } => (MARK_FLAG, at, mark.code()),
        };
        let first = at.ns.max(0) as u64 | flag;
        let second = at.insns.unwrap_or(0) << 8 | u64::from(code);
        (u128::from(second) << 64 | u128::from(first)).to_le_bytes()
    }
}

/// Reads a stamped console record by record.
pub struct Reader<R> {
    bytes: R,
    header: Header,
    torn: usize,
}

/// Why a stamped console cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The bytes are something else.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The bytes could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// If `bytes` cannot be read or are no stamped console.
    pub fn new(mut bytes: R) -> Result<Self, OpenError> {
        let mut head = [0; HEADER_LEN];
        let n = fill(&mut bytes, &mut head)?;
        let header = Header::decode(&head[..n])?;
        Ok(Self {
            bytes,
            header,
            torn: 0,
        })
    }

    /// The header.
    pub fn header(&self) -> Header {
        self.header
    }

    /// At the end: how many bytes of a last, incomplete record were left over.
    pub fn torn(&self) -> usize {
        self.torn
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// If the bytes cannot be read.
    #[inline]
    pub fn record(&mut self) -> io::Result<Option<Record>> {
        let clock = self.header.clock;
        if let Some(bytes) = self.bytes.fill_buf()?.first_chunk() {
            let record = Record::decode(bytes, clock);
            self.bytes.consume(RECORD_LEN);
            return Ok(Some(record));
        }
        self.straddling()
    }

    /// A record of which the buffer holds only a part.
    #[cold]
    fn straddling(&mut self) -> io::Result<Option<Record>> {
        let mut bytes = [0; RECORD_LEN];
        let n = fill(&mut self.bytes, &mut bytes)?;
        if n == RECORD_LEN {
            return Ok(Some(Record::decode(&bytes, self.header.clock)));
        }
        if n > 0 {
            self.torn = n;
        }
        Ok(None)
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = io::Result<Record>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.record().transpose()
    }
}

/// Reads until `into` is full or the bytes end; says how many there were.
fn fill(bytes: &mut impl BufRead, into: &mut [u8]) -> io::Result<usize> {
    let mut n = 0;
    while n < into.len() {
        match bytes.read(&mut into[n..]) {
            Ok(0) => break,
            Ok(got) => n += got,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(n)
}

/// Writes a stamped console.
///
/// It does not buffer: hand it a `BufWriter`, and flush that when the console
/// is silent so that a killed recording keeps what it saw.
pub struct Writer<W: Write> {
    to: W,
}

impl<W: Write> Writer<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// If writing fails.
    pub fn new(mut to: W, clock: StampClock) -> io::Result<Self> {
        to.write_all(&Header { clock }.encode())?;
        Ok(Self { to })
    }

    /// Writes one record.
    ///
    /// # Errors
    /// If writing fails.
    pub fn record(&mut self, record: Record) -> io::Result<()> {
        self.to.write_all(&record.encode())
    }

    /// Writes bytes that arrived together at `at`.
    ///
    /// # Errors
    /// If writing fails.
    pub fn bytes(&mut self, at: Stamp, bytes: &[u8]) -> io::Result<()> {
        bytes
            .iter()
            .try_for_each(|&byte| self.record(Record::Byte { at, byte }))
    }

    /// Writes a mark.
    ///
    /// # Errors
    /// If writing fails.
    pub fn mark(&mut self, at: Stamp, mark: ProbeMark) -> io::Result<()> {
        self.record(Record::Mark { at, mark })
    }

    /// Flushes what is written to.
    ///
    /// # Errors
    /// If that fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.to
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn sample() -> (Vec<Record>, Vec<u8>) {
        let records = vec![
            Record::Byte {
                at: Stamp::counted(7_693_678, 3_847_429),
                byte: b'U',
            },
            Record::Mark {
                at: Stamp::counted(1_142_657_064, (1 << 56) - 1),
                mark: ProbeMark::KernelEntry,
            },
            Record::Mark {
                at: Stamp::counted(i64::MAX, 0),
                mark: ProbeMark::Other(9),
            },
        ];
        let mut writer = Writer::new(Vec::new(), StampClock::Simulated).unwrap();
        for r in &records {
            writer.record(*r).unwrap();
        }
        (records, writer.into_inner())
    }

    #[test]
    fn what_is_written_is_read_in_any_chunks() {
        let (records, bytes) = sample();
        for chunk in [1, 15, 16, 17, 4096] {
            let reader = Reader::new(BufReader::with_capacity(chunk, &bytes[..])).unwrap();
            assert_eq!(reader.map(Result::unwrap).collect::<Vec<_>>(), records);
        }
    }

    #[test]
    fn a_torn_record_ends_the_file() {
        let (records, bytes) = sample();
        let mut reader = Reader::new(&bytes[..bytes.len() - 3]).unwrap();
        assert_eq!(reader.by_ref().count(), records.len() - 1);
        assert_eq!(reader.torn(), 13);
    }

    #[test]
    fn clocks_without_counting_have_no_instructions() {
        let mut writer = Writer::new(Vec::new(), StampClock::Host).unwrap();
        writer.bytes(Stamp::new(5, 0), b"ok").unwrap();
        let bytes = writer.into_inner();
        let mut reader = Reader::new(&bytes[..]).unwrap();
        let at = Stamp::new(5, 0);
        assert_eq!(
            reader.record().unwrap(),
            Some(Record::Byte { at, byte: b'o' })
        );
    }

    #[test]
    fn headers_are_checked() {
        let good = Header {
            clock: StampClock::Virtual,
        };
        assert_eq!(Header::decode(&good.encode()), Ok(good));
        assert_eq!(Header::decode(b"BOOTLAP"), Err(HeaderError::Short(7)));
        assert_eq!(Header::decode(b"U-Boot 2023.01"), Err(HeaderError::Magic));
        let mut newer = good.encode();
        newer[8] = 2;
        assert_eq!(Header::decode(&newer), Err(HeaderError::Version(2)));
    }
}
