//! The tables as they are in memory.
//!
//! ```text
//! 46 50 44 54 44 00 00 00 …     FPDT: ACPI header of 36 bytes, then records
//!   00 00 10 01 00 00 00 00 <address>            where the boot table is
//! 46 42 50 54 38 00 00 00       FBPT: signature and length, then records
//!   02 00 30 02 00 00 00 00 <5 × 64 bits of ns>  the moments of this boot
//! ```
//!
//! A record: type (16 bits), length, revision (8 bits each), content; little
//! endian. Types from 0x1010 are EDK II's: a progress id (16 bits), APIC id
//! (32), ns (64), a GUID, and by type another GUID, a number, a name. Ids below
//! 0x10 come in pairs of odd and even, later ones begin with the low digit 0.

use std::collections::BTreeMap;

use bootlap_model::{ClockId, Evidence, Severity, SpanEnd, Stamp, TrackKind};
use data_encoding::HEXLOWER;

use super::{Boot, MOMENTS};
use crate::binary::{Order, u16_at, u32_at, u64_at};
use crate::text::{self, Import, Skip};

const ACPI_HEADER: usize = 36;
const HEADER: usize = 8;

/// Whether one of the tables begins here.
pub(super) fn is_table(head: &[u8]) -> bool {
    let length = u32_at(head, 4, Order::Little).unwrap_or(0);
    match head.get(..4) {
        Some(b"FPDT") => (ACPI_HEADER as u32..1 << 20).contains(&length),
        Some(b"FBPT" | b"S3PT") => (HEADER as u32..1 << 28).contains(&length),
        _ => false,
    }
}

/// Something that EDK II's performance library wrote down.
pub(super) struct Event {
    id: u16,
    ns: i64,
    guid: Vec<u8>,
    /// The second GUID or the number.
    what: Vec<u8>,
    name: String,
    at: Evidence,
}

/// Reads tables that follow each other; each record counts as a line.
pub(super) fn read(bytes: &[u8], more: bool, boot: &mut Boot, import: &mut Import<'_>) {
    let mut records = 0;
    let mut at = 0;
    while is_table(&bytes[at..]) {
        let length = u32_at(bytes, at + 4, Order::Little).unwrap_or(0) as usize;
        let end = at.saturating_add(length);
        let kept = end.min(bytes.len());
        if end > bytes.len() {
            cut(bytes.len(), import);
        }
        table(bytes, (at, kept), &mut records, boot, import);
        at = kept;
    }
    if more {
        cut(bytes.len(), import);
    }
}

/// Reads what a text dump was of; its lines are counted by the text.
pub(super) fn read_dump(bytes: &[u8], boot: &mut Boot, import: &mut Import<'_>) {
    if is_table(bytes) {
        let length = u32_at(bytes, 4, Order::Little).unwrap_or(0) as usize;
        let end = length.min(bytes.len());
        table(bytes, (0, end), &mut 0, boot, import);
    }
}

fn cut(at: usize, import: &mut Import<'_>) {
    let at = Evidence {
        file: import.file,
        start: at as u64,
        end: at as u64,
        line: 1,
    };
    import.notice(
        "table-cut",
        Severity::DataLoss,
        at,
        "the table ends too early: copy all of it",
    );
}

fn table(
    bytes: &[u8],
    (start, end): (usize, usize),
    records: &mut u32,
    boot: &mut Boot,
    import: &mut Import<'_>,
) {
    let header = match &bytes[start..start + 4] {
        b"FPDT" => ACPI_HEADER,
        _ => HEADER,
    };
    let is_boot = &bytes[start..start + 4] != b"S3PT";
    let mut at = start + header;
    while at + 4 <= end {
        let kind = u16_at(bytes, at, Order::Little).unwrap_or(0);
        let length = usize::from(bytes[at + 2]);
        *records += 1;
        let place = Evidence {
            file: import.file,
            start: at as u64,
            end: (at + length).min(end) as u64,
            line: *records,
        };
        import.count_lines(1);
        if length < 4 || at + length > end {
            import.skip(place, DAMAGED);
            return;
        }
        let record = &bytes[at..at + length];
        let known = match (header == ACPI_HEADER, is_boot, kind) {
            (true, ..) => {
                boot.pointer.get_or_insert(place);
                kind <= 1
            }
            (_, false, _) => true,
            (_, true, 2) => moments(record, place, boot),
            (_, true, 0x1010..=0x1014) => match event(record, kind, place) {
                Some(event) => {
                    boot.events.push(event);
                    true
                }
                None => false,
            },
            _ => false,
        };
        if !known {
            import.skip(place, FOREIGN);
        }
        at += length;
    }
}

const DAMAGED: Skip = Skip::lost(
    "record-damaged",
    "a record of the table has an impossible length: copy the table again",
);

const FOREIGN: Skip = Skip {
    code: "unknown-record",
    severity: Severity::Info,
    remedy: "these records are of the firmware's maker: nothing is known of what they say",
};

fn moments(record: &[u8], at: Evidence, boot: &mut Boot) -> bool {
    let mut told = false;
    for (i, (moment, ..)) in MOMENTS.iter().enumerate() {
        let ns = u64_at(record, 8 + 8 * i, Order::Little);
        if let Some(ns) = ns.and_then(|ns| i64::try_from(ns).ok()) {
            told |= boot.add(*moment, ns, at);
        }
    }
    told
}

fn event(record: &[u8], kind: u16, at: Evidence) -> Option<Event> {
    let guid = record.get(18..34)?.to_vec();
    let (what, name) = match kind {
        0x1010 => (0, None),
        0x1011 => (0, Some(34)),
        0x1012 => (16, Some(50)),
        0x1013 => (8, None),
        _ => (8, Some(42)),
    };
    let name = name.and_then(|at| record.get(at..)).unwrap_or_default();
    let end = name.iter().position(|b| *b == 0).unwrap_or(name.len());
    Some(Event {
        id: u16_at(record, 4, Order::Little)?,
        ns: i64::try_from(u64_at(record, 10, Order::Little)?).ok()?,
        guid,
        what: record.get(34..34 + what)?.to_vec(),
        name: text::valid(&name[..end]).to_owned(),
        at,
    })
}

/// What ids are about.
fn about(id: u16) -> &'static str {
    match id {
        0x01 | 0x02 => "entry point",
        0x03 | 0x04 => "load image",
        0x05 | 0x06 => "start driver binding",
        0x07 | 0x08 => "is driver supported",
        0x09 | 0x0a => "stop driver binding",
        0x10..=0x1f => "signal event",
        0x20..=0x2f => "callback",
        0x30..=0x3f => "function",
        0x40..=0x4f => "within module",
        0x50..=0x5f => "across modules",
        0x60..=0x6f => "event",
        _ => "event of the firmware's maker",
    }
}

/// The id of the beginning, and whether this is one.
fn begins(id: u16) -> (u16, bool) {
    match id {
        0..0x10 => (id - 1 + id % 2, id % 2 == 1),
        _ => (id & !0xf, id & 0xf == 0),
    }
}

const SINGLE: u16 = 0x60;
const LOAD_IMAGE: u16 = 0x03;

/// Pairs beginnings and ends, and writes them down.
pub(super) fn write(events: Vec<Event>, clock: ClockId, import: &mut Import<'_>) {
    type Key = (u16, Vec<u8>, Vec<u8>);
    let mut open: BTreeMap<Key, Vec<Event>> = BTreeMap::new();
    for event in events {
        let (id, is_begin) = begins(event.id.max(1));
        if id == SINGLE {
            let name = named(&event, &event);
            import.mark(clock, Stamp::new(event.ns, 1), &name, event.at);
            continue;
        }
        // Which image is loaded is known only when it is.
        let key = match id {
            LOAD_IMAGE => (id, Vec::new(), Vec::new()),
            _ if event.what.len() == 16 || event.what.is_empty() => {
                (id, event.guid.clone(), event.name.clone().into_bytes())
            }
            _ => (id, event.guid.clone(), event.what.clone()),
        };
        if is_begin {
            open.entry(key).or_default().push(event);
            continue;
        }
        match open.get_mut(&key).and_then(Vec::pop) {
            Some(begin) => span(&begin, Some(&event), clock, import),
            None => import.notice(
                "end-without-beginning",
                Severity::Info,
                event.at,
                "the firmware wrote down when these ended, but not when they began",
            ),
        }
    }
    let mut rest: Vec<Event> = open.into_values().flatten().collect();
    rest.sort_by_key(|e| (e.ns, e.at.start));
    for begin in rest {
        span(&begin, None, clock, import);
    }
}

fn span(begin: &Event, end: Option<&Event>, clock: ClockId, import: &mut Import<'_>) {
    let known = end.unwrap_or(begin);
    let name = named(begin, known);
    let guid = guid(&known.guid);
    let until = end.map_or(SpanEnd::Unknown, |e| SpanEnd::At(Stamp::new(e.ns, 1)));
    let ends = (Stamp::new(begin.ns, 1), until);
    let args = [("about", about(begin.id)), ("guid", &guid)];
    let track = (TrackKind::Firmware, "UEFI modules");
    import.span(clock, track, &name, ends, &args, begin.at);
}

/// The name, which may be in the end only; else the GUID.
fn named(begin: &Event, end: &Event) -> String {
    let name = [&begin.name, &end.name].into_iter().find(|n| !n.is_empty());
    name.cloned().unwrap_or_else(|| guid(&end.guid))
}

/// `8c8ce578-8a3d-4f1c-9935-896185c32dd3`: the first three groups are numbers.
fn guid(bytes: &[u8]) -> String {
    let plain = |range: std::ops::Range<usize>| HEXLOWER.encode(&bytes[range]);
    let number = |range: std::ops::Range<usize>| {
        let reversed: Vec<u8> = bytes[range].iter().rev().copied().collect();
        HEXLOWER.encode(&reversed)
    };
    if bytes.len() != 16 {
        return String::new();
    }
    let (a, b, c) = (number(0..4), number(4..6), number(6..8));
    format!("{a}-{b}-{c}-{}-{}", plain(8..10), plain(10..16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_in_pairs() {
        assert_eq!(begins(0x01), (0x01, true));
        assert_eq!(begins(0x02), (0x01, false));
        assert_eq!(begins(0x0a), (0x09, false));
        assert_eq!(begins(0x30), (0x30, true));
        assert_eq!(begins(0x31), (0x30, false));
    }

    #[test]
    fn guids() {
        let bytes = [
            0x78, 0xe5, 0x8c, 0x8c, 0x3d, 0x8a, 0x1c, 0x4f, 0x99, 0x35, 0x89, 0x61, 0x85, 0xc3,
            0x2d, 0xd3,
        ];
        assert_eq!(guid(&bytes), "8c8ce578-8a3d-4f1c-9935-896185c32dd3");
        assert_eq!(guid(&bytes[1..]), "");
    }
}
