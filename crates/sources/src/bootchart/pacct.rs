//! `kernel_pacct`: what the kernel writes of each process when it exits
//! (BSD process accounting, `PROCESS_ACCOUNTING=yes` in bootchartd.conf).
//!
//! Records of 64 bytes, in the order of the exits, in the byte order of the
//! machine; `acct(5)` has the layouts. Version 3 has the pids; versions 0, 1
//! and 2 have not. The elapsed time is in 1/100 s (so is CPU time, in a float
//! of 3 bits for a base of 8 and 13 bits), the start in seconds of the wall
//! clock.
//!
//! The byte after the flags is the version, with bit 7 set by big-endian
//! machines; version 1 is that of m68k, whose records have no padding.

use std::io::{self, BufRead};

use bootlap_model::{Evidence, Severity};

use super::blocks::JIFFY_NS;
use crate::text::{Import, Skip};

const LEN: usize = 64;
/// m68k aligns to two bytes.
const LEN_M68K: usize = 62;
/// More exits than any boot has.
const MAX_RECORDS: usize = 1 << 20;

/// What the kernel noted of a process.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Account {
    pub(super) name: String,
    /// The pids, where the version has them.
    pub(super) pids: Option<(u32, u32)>,
    /// When it was forked, s of the wall clock.
    pub(super) start_s: u32,
    pub(super) elapsed_ns: i64,
    pub(super) cpu_ns: i64,
    pub(super) exit_code: u32,
    pub(super) at: Evidence,
}

/// How records are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    version: u8,
    big_endian: bool,
}

impl Layout {
    /// The layout of the record at the beginning of `bytes`, if it is one.
    fn of(bytes: &[u8]) -> Option<Self> {
        let version = *bytes.get(1)?;
        let layout = Self {
            version: version & 0x7f,
            big_endian: version & 0x80 != 0 || version & 0x7f == 1,
        };
        if layout.version > 3 {
            return None;
        }
        let record = bytes.get(..layout.len())?;
        // Flags: fork without exec, superuser, (unused), core, signal, group.
        let flags = record[0] & !0x3f == 0;
        (flags && layout.name(record).is_some()).then_some(layout)
    }

    fn len(self) -> usize {
        if self.version == 1 { LEN_M68K } else { LEN }
    }

    /// The command's name: text, then NULs.
    fn name(self, record: &[u8]) -> Option<&[u8]> {
        let field = match self.version {
            3 => &record[48..64],
            1 => &record[34..51],
            _ => &record[36..53],
        };
        let len = field.iter().position(|b| *b == 0).unwrap_or(field.len());
        let (name, rest) = field.split_at(len);
        // Behind the NUL may be a rest of a longer name.
        let text = |b: &u8| *b >= b' ' && *b != 0x7f;
        let fine = name.iter().all(text) && rest.iter().all(|b| *b == 0 || text(b));
        (fine && !name.is_empty()).then_some(name)
    }

    fn u16(self, record: &[u8], at: usize) -> u16 {
        let bytes = [record[at], record[at + 1]];
        if self.big_endian {
            u16::from_be_bytes(bytes)
        } else {
            u16::from_le_bytes(bytes)
        }
    }

    fn u32(self, record: &[u8], at: usize) -> u32 {
        let (a, b) = (self.u16(record, at), self.u16(record, at + 2));
        let (high, low) = if self.big_endian { (a, b) } else { (b, a) };
        u32::from(high) << 16 | u32::from(low)
    }

    fn account(self, record: &[u8], at: Evidence) -> Option<Account> {
        let name = String::from_utf8_lossy(self.name(record)?).into_owned();
        let cpu = |at| ticks_ns(expand(self.u16(record, at)));
        let account = if self.version == 3 {
            let elapsed = f64::from(f32::from_bits(self.u32(record, 28)));
            if !elapsed.is_finite() || elapsed < 0.0 {
                return None;
            }
            Account {
                name,
                pids: Some((self.u32(record, 16), self.u32(record, 20))),
                start_s: self.u32(record, 24),
                elapsed_ns: (elapsed * JIFFY_NS as f64) as i64,
                cpu_ns: cpu(32).saturating_add(cpu(34)),
                exit_code: self.u32(record, 4),
                at,
            }
        } else {
            Account {
                name,
                pids: None,
                start_s: self.u32(record, 8),
                elapsed_ns: cpu(16),
                cpu_ns: cpu(12).saturating_add(cpu(14)),
                exit_code: self.u32(record, if self.version == 1 { 30 } else { 32 }),
                at,
            }
        };
        Some(account)
    }
}

/// A `comp_t`: 13 bits, to be shifted by 3 as often as the upper 3 bits say.
fn expand(packed: u16) -> i64 {
    i64::from(packed & 0x1fff) << (3 * (packed >> 13))
}

fn ticks_ns(ticks: i64) -> i64 {
    ticks.saturating_mul(JIFFY_NS)
}

/// How sure one can be that bytes are accounting records, in percent.
pub(super) fn looks(head: &[u8]) -> u8 {
    let Some(layout) = Layout::of(head) else {
        return 0;
    };
    let records = head.chunks_exact(layout.len()).take(64);
    let (mut all, mut fine) = (0, 0);
    for record in records {
        all += 1;
        fine += usize::from(Layout::of(record) == Some(layout));
    }
    match (layout.version, fine) {
        _ if fine < all => 0,
        (0, ..3) => 0,
        (0 | 1, _) => 70,
        (_, 1) => 60,
        _ => 90,
    }
}

/// Reads all records; those that are none are skipped.
pub(super) fn read(bytes: &mut dyn BufRead, import: &mut Import<'_>) -> io::Result<Vec<Account>> {
    let mut all = Vec::new();
    let limit = (MAX_RECORDS * LEN) as u64;
    io::Read::read_to_end(&mut io::Read::take(bytes, limit), &mut all)?;
    let len = Layout::of(&all).map_or(LEN, Layout::len);
    let mut accounts = Vec::new();
    for (i, record) in all.chunks(len).enumerate() {
        let start = (i * len) as u64;
        let at = Evidence {
            file: import.file,
            start,
            end: start + record.len() as u64,
            line: i as u32 + 1,
        };
        take(record, at, &mut accounts, import);
    }
    Ok(accounts)
}

fn take(record: &[u8], at: Evidence, accounts: &mut Vec<Account>, import: &mut Import<'_>) {
    const BROKEN: Skip = Skip {
        code: "accounting-record-broken",
        severity: Severity::DataLoss,
        remedy: "these are no records of process accounting, or the last one is cut: the others are used; copy kernel_pacct after `accton off`",
    };
    import.count_lines(1);
    let account = Layout::of(record).and_then(|layout| layout.account(record, at));
    match account {
        Some(account) => accounts.push(account),
        None => import.skip(at, BROKEN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_times() {
        assert_eq!(expand(100), 100);
        assert_eq!(expand(1 << 13 | 1000), 8000);
        assert_eq!(expand(u16::MAX), 0x1fff << 21);
    }

    #[test]
    fn text_is_no_accounting() {
        for text in [&[b'a'; 256][..], &[0; 256], b"", b"\0\x03"] {
            assert_eq!(looks(text), 0);
        }
    }
}
