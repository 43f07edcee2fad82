//! The stamped console: every console byte with the moment it was sent.
//!
//! bootlap's QEMU probe (`probe/stamps.c`) and `bootlap capture` write it next
//! to the raw console. A 16-byte header, then records, all little-endian.
//!
//! **Version 1**, which the probe writes: 16 bytes for each console byte.
//!
//! ```text
//! 42 4f 4f 54 4c 41 50 00  01 01 00 00 00 00 00 00   BOOTLAP\0, version 1, clock 1
//! 6e 65 75 00 00 00 00 00  55 05 b5 3a 00 00 00 00   'U' at 7 693 678 ns, 3 847 429 insns
//! 10 c7 1b 44 00 00 00 80  01 64 c4 0d 22 00 00 00   bit 63: mark 1, the kernel's first insn
//! ```
//!
//! The first word is ns since zero (bit 63 tells a mark from a byte), the
//! second `instructions << 8 | byte`, where a mark has its number for a byte.
//!
//! Mark 6 is a request to a disk that was done, and two records follow it whose first word
//! has bits 63 and 62 set: the offset, and `bytes << 8 | disk << 2 | what`
//! (0 reads, 1 writes, 2 flushes, 3 is what the machine loaded by itself); then how long it
//! took, ns, and `ns << 8` that the CPU has waited for disks since power-on. [`Begun`] puts
//! them together.
//!
//! **Version 2**, which a host writes: what came in one read is one record. It
//! holds the bytes too, so the file is whole by itself, and about as large as
//! the console.
//!
//! ```text
//! 42 4f 4f 54 4c 41 50 00  02 03 01 00 00 00 00 00   BOOTLAP\0, version 2, clock 3, zero 1
//! e8 07  20  54 46 2d 41                             1000 ns later: kind 0, 4 bytes: TF-A
//! 80 ad e2 04  42  67 6f 6e 65 20 75 73 62           10 ms later: kind 2 (gone), 8 bytes of text
//! ```
//!
//! A record is `ns since the record before`, `length << 3 | kind`, both as
//! LEB128 (seven bits a byte, low ones first, bit 7: more follow), and as many
//! bytes. The kinds are those of [`Event`]; kind 0 is console bytes.
//!
//! | clock | what the ns are | instructions |
//! | --- | --- | --- |
//! | 1 | QEMU's virtual clock with `-icount`: simulated time | counted |
//! | 2 | QEMU's virtual clock, which follows the host | 0 |
//! | 3 | the host's monotonic clock | 0 |
//! | 4 | QEMU's virtual clock with `-icount`, as a model of a board has it: modelled time | counted |
//!
//! Zero is power-on (0), the line that a pattern met (1), or the first byte
//! (2); version 1 knows only power-on.
//!
//! Bytes that a machine handed over in one piece share one stamp. A recording
//! can die with its machine or its host, so the last record can be torn: what
//! is there of a chunk is used, and [`Reader::torn`] counts what is left over.

mod begun;
mod chunks;
mod reader;
mod writer;

pub use begun::Begun;
pub use chunks::{ChunkWriter, Event};
pub use reader::{OpenError, Reader};
pub use writer::Writer;

use bootlap_model::{ClockKind, Stamp, TimeKind};

/// The first bytes of a stamped console.
pub const MAGIC: [u8; 8] = *b"BOOTLAP\0";
/// The version with a record for each byte.
pub const VERSION: u8 = 1;
/// The version with a record for each read.
pub const VERSION_CHUNKS: u8 = 2;
/// Bytes of the header.
pub const HEADER_LEN: usize = 16;
/// Bytes of a record of version 1.
pub const RECORD_LEN: usize = 16;

const MARK_FLAG: u64 = 1 << 63;
const DETAIL_FLAG: u64 = 1 << 62;

/// What the ns of a stamped console count, and whether instructions are too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampClock {
    /// QEMU's virtual clock with instruction counting: simulated time.
    Simulated,
    /// The same at a board's speed, with what its serial line takes: modelled time.
    Modelled,
    /// QEMU's virtual clock without instruction counting.
    Virtual,
    /// The host's monotonic clock.
    Host,
}

impl StampClock {
    fn code(self) -> u8 {
        match self {
            StampClock::Simulated => 1,
            StampClock::Virtual => 2,
            StampClock::Host => 3,
            StampClock::Modelled => 4,
        }
    }

    /// The clock in the model.
    pub fn kind(self) -> ClockKind {
        match self {
            StampClock::Simulated | StampClock::Modelled | StampClock::Virtual => {
                ClockKind::QemuVirtual
            }
            StampClock::Host => ClockKind::HostMonotonic,
        }
    }

    /// What the time is made of.
    pub fn time(self) -> TimeKind {
        match self {
            StampClock::Simulated => TimeKind::Simulated,
            StampClock::Modelled => TimeKind::Modelled,
            StampClock::Virtual | StampClock::Host => TimeKind::Measured,
        }
    }

    /// The moment `ns`, after `insns` instructions if this clock counts them.
    pub fn stamp(self, ns: i64, insns: u64) -> Stamp {
        match self {
            StampClock::Simulated | StampClock::Modelled => Stamp::counted(ns, insns),
            StampClock::Virtual | StampClock::Host => Stamp::new(ns, 0),
        }
    }
}

/// What the ns of a stamped console are counted from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zero {
    /// Power-on, or the command that gave it.
    #[default]
    PowerOn,
    /// The line that a pattern of the user met.
    Pattern,
    /// The first byte.
    FirstByte,
}

impl Zero {
    fn code(self) -> u8 {
        match self {
            Zero::PowerOn => 0,
            Zero::Pattern => 1,
            Zero::FirstByte => 2,
        }
    }
}

/// What the first 16 bytes say of the clock.
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
    #[error("it is of version {0}, and this bootlap reads versions 1 and 2: use a newer bootlap")]
    Version(u8),
    /// A zero that this program does not know.
    #[error("its zero {0} is none of 0, 1 and 2: use a newer bootlap")]
    Zero(u8),
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
        if !matches!(version, VERSION | VERSION_CHUNKS) {
            return Err(HeaderError::Version(version));
        }
        let clock = match clock {
            1 => StampClock::Simulated,
            2 => StampClock::Virtual,
            3 => StampClock::Host,
            4 => StampClock::Modelled,
            other => return Err(HeaderError::Clock(other)),
        };
        Ok(Self { clock })
    }

    /// The version and the zero that bytes say which [`Self::decode`] took.
    ///
    /// # Errors
    /// If the zero is one of a newer version.
    fn layout(bytes: &[u8; HEADER_LEN]) -> Result<(u8, Zero), HeaderError> {
        match (bytes[8], bytes[10]) {
            (VERSION, _) => Ok((VERSION, Zero::PowerOn)),
            (version, 0) => Ok((version, Zero::PowerOn)),
            (version, 1) => Ok((version, Zero::Pattern)),
            (version, 2) => Ok((version, Zero::FirstByte)),
            (_, other) => Err(HeaderError::Zero(other)),
        }
    }

    /// The bytes of version 2 to write first.
    fn encode_chunks(self, zero: Zero) -> [u8; HEADER_LEN] {
        let mut bytes = self.encode();
        bytes[8] = VERSION_CHUNKS;
        bytes[10] = zero.code();
        bytes
    }

    /// The bytes of version 1 to write first.
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
    /// The guest's time at which the boot is given up.
    Limit,
    /// The first instruction of a boot loader that firmware starts.
    LoaderEntry,
    /// A request to a disk is done; two [`Record::Detail`] follow.
    Request,
    /// A mark of a newer probe.
    Other(u8),
}

impl ProbeMark {
    fn from_code(code: u8) -> Self {
        match code {
            1 => ProbeMark::KernelEntry,
            2 => ProbeMark::UserEntry,
            3 => ProbeMark::ImageEntry,
            4 => ProbeMark::Limit,
            5 => ProbeMark::LoaderEntry,
            6 => ProbeMark::Request,
            other => ProbeMark::Other(other),
        }
    }

    fn code(self) -> u8 {
        match self {
            ProbeMark::KernelEntry => 1,
            ProbeMark::UserEntry => 2,
            ProbeMark::ImageEntry => 3,
            ProbeMark::Limit => 4,
            ProbeMark::LoaderEntry => 5,
            ProbeMark::Request => 6,
            ProbeMark::Other(code) => code,
        }
    }
}

/// One thing that a stamped console tells.
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
    /// More of the mark before it.
    Detail {
        /// 62 bits.
        first: u64,
        /// 56 bits.
        second: u64,
        /// The least 8 of the second word.
        code: u8,
    },
    /// Something that happened to the recording; [`Reader::text`] has more.
    Event {
        /// When.
        at: Stamp,
        /// What.
        event: Event,
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
        } else if first & DETAIL_FLAG != 0 {
            Record::Detail {
                first: first & !(MARK_FLAG | DETAIL_FLAG),
                second: second >> 8,
                code,
            }
        } else {
            let mark = ProbeMark::from_code(code);
            Record::Mark { at, mark }
        }
    }

    /// The 16 bytes to write; version 1 has none for an event. Times before
    /// power-on do not exist: they are written as 0.
    pub fn encode(self) -> Option<[u8; RECORD_LEN]> {
        let word = |at: Stamp| at.ns.max(0) as u64;
        let count = |at: Stamp| at.insns.unwrap_or(0);
        let (first, second, code) = match self {
            Record::Byte { at, byte } => (word(at), count(at), byte),
            Record::Mark { at, mark } => {
                let ns = word(at).min(DETAIL_FLAG - 1);
                (ns | MARK_FLAG, count(at), mark.code())
            }
            Record::Detail {
                first,
                second,
                code,
            } => (first | MARK_FLAG | DETAIL_FLAG, second, code),
            Record::Event { .. } => return None,
        };
        let second = second << 8 | u64::from(code);
        Some((u128::from(second) << 64 | u128::from(first)).to_le_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use bootlap_model::{Evidence, Request, RequestKind, Timeline};

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
                at: Stamp::counted((1 << 62) - 1, 0),
                mark: ProbeMark::Other(9),
            },
            Record::Detail {
                first: (1 << 62) - 1,
                second: (1 << 56) - 1,
                code: 7,
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
    fn a_request_is_put_together() {
        let done = Stamp::counted(5, 3);
        let mut timeline = Timeline::default();
        let file = timeline.add_file("console", "stamps");
        let clock = timeline.add_clock(ClockKind::QemuVirtual, file);
        let evidence = Evidence::whole(file, 0);
        let mut begun = Begun::new(clock, done);
        assert_eq!(begun.detail((4096, 512, 2 << 2 | 1), evidence), None);
        let whole = Request {
            clock,
            done,
            took_ns: 1_000,
            waited_ns: 900,
            kind: RequestKind::Write,
            disk: 2,
            offset: 4096,
            bytes: 512,
            evidence,
        };
        assert_eq!(begun.detail((1_000, 900, 0), evidence), Some(whole));
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
        newer[8] = 3;
        assert_eq!(Header::decode(&newer), Err(HeaderError::Version(3)));
    }
}
