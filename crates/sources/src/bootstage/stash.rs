//! A dump of the memory that `bootstage stash` wrote.
//!
//! ```text
//! 00000000: 0000 0000 0c00 0000 1302 0000 a357 07b0  version, count, size, magic
//! 00000010: cf00 0000 0000 0000 0000 0000 0000 0000  next id; then the records
//! 00000190: bb00 0000 7265 7365 7400 626f 6172 645f  and their names: reset.board_
//! ```
//!
//! The records are the C structures of U-Boot as they lie in its memory: µs
//! (as wide as a pointer), µs of the start if it is accumulated (32 bits), a
//! pointer to the name (worthless), flags and id; 20 bytes in 32-bit U-Boots,
//! 32 with padding in 64-bit ones, in the CPU's byte order.

use bootlap_model::{Evidence, Severity};

use crate::binary::{Order, c_str, u32_at, u64_at};
use crate::text::{self, Import};

use super::stages::{self, MAX_RECORDS, Record, Records, UNIT_NS};

const MAGIC: u32 = 0xb007_57a3;
const HEADER_LEN: usize = 20;

/// The flag of a record that tells of a failure.
const ERROR: u32 = 1;

/// The byte order of a stash, if it is one.
pub(super) fn order(head: &[u8]) -> Option<Order> {
    let is = |order: &Order| u32_at(head, 12, *order) == Some(MAGIC);
    [Order::Little, Order::Big].into_iter().find(is)
}

/// Where the fields of a record are.
struct Layout {
    len: usize,
    wide: bool,
    start: usize,
    flags: usize,
}

const NARROW: Layout = Layout {
    len: 20,
    wide: false,
    start: 4,
    flags: 12,
};

const WIDE: Layout = Layout {
    len: 32,
    wide: true,
    start: 8,
    flags: 24,
};

/// Reads all records; each counts as a line.
pub(super) fn read(bytes: &[u8], order: Order, import: &mut Import<'_>) {
    let claimed = u32_at(bytes, 4, order).unwrap_or(0) as usize;
    let size = u32_at(bytes, 8, order).unwrap_or(0) as usize;
    let whole = stages::nowhere(import, 0);
    if size == 0 {
        import.notice(
            "stash-too-small",
            Severity::DataLoss,
            whole,
            "U-Boot had no room for all of its stash: raise CONFIG_BOOTSTAGE_STASH_SIZE",
        );
    }
    let count = claimed.min(MAX_RECORDS);
    let Some(layout) = layout(bytes, order, count, size) else {
        import.notice(
            "stash-cut",
            Severity::DataLoss,
            whole,
            "the dump ends within the stash: save all of CONFIG_BOOTSTAGE_STASH_SIZE",
        );
        return;
    };
    let mut records = Records::default();
    let mut name_at = HEADER_LEN + count * layout.len;
    for i in 0..count {
        let start = HEADER_LEN + i * layout.len;
        let at = Evidence {
            file: import.file,
            start: start as u64,
            end: (start + layout.len) as u64,
            line: i as u32 + 1,
        };
        import.count_lines(1);
        let name = c_str(bytes, name_at).unwrap_or_default();
        name_at += name.len() + 1;
        match record(bytes, start, order, layout) {
            Some((ns, accumulated, error)) => {
                let name = text::valid(name).to_owned();
                records.push(Record {
                    name,
                    ns,
                    accumulated,
                    error,
                    at,
                });
            }
            None => import.skip(
                at,
                text::Skip::lost(
                    "stash-cut",
                    "the dump ends within the stash: save all of CONFIG_BOOTSTAGE_STASH_SIZE",
                ),
            ),
        }
    }
    records.write(import.timeline);
}

/// ns, whether it is a length, whether it tells of a failure.
fn record(bytes: &[u8], at: usize, order: Order, layout: &Layout) -> Option<(i64, bool, bool)> {
    let us = if layout.wide {
        u64_at(bytes, at, order)?
    } else {
        u64::from(u32_at(bytes, at, order)?)
    };
    let start = u32_at(bytes, at + layout.start, order)?;
    let flags = u32_at(bytes, at + layout.flags, order)?;
    let ns = i64::try_from(us).ok()?.checked_mul(UNIT_NS)?;
    Some((ns, start != 0, flags & ERROR != 0))
}

/// The layout with which the names end where the stash ends; without a size,
/// the one with which there are names at all.
fn layout(bytes: &[u8], order: Order, count: usize, size: usize) -> Option<&'static Layout> {
    let end_of = |layout: &Layout| {
        let mut at = HEADER_LEN + count * layout.len;
        for _ in 0..count {
            at += name(bytes, at)? + 1;
        }
        Some(at)
    };
    let layouts = [&WIDE, &NARROW];
    let exact = layouts.into_iter().find(|l| end_of(l) == Some(size));
    let plausible = |l: &&Layout| {
        let first = HEADER_LEN + count * l.len;
        name(bytes, first).is_some_and(|n| n > 0) && record(bytes, HEADER_LEN, order, l).is_some()
    };
    exact.or_else(|| layouts.into_iter().find(plausible))
}

/// The length of the printable name at `at`.
fn name(bytes: &[u8], at: usize) -> Option<usize> {
    let name = c_str(bytes, at)?;
    let printable = name.iter().all(|b| (b' '..0x7f).contains(b));
    (printable && name.len() < 256).then_some(name.len())
}
