//! Whatever the bytes: no panic, every line accounted for, the same in any
//! chunks.

use std::io::BufReader;

use bootlap_model::Timeline;
use bootlap_sources::{Hints, all, named};
use bootlap_wire::stamps::{ChunkWriter, Record, StampClock, Writer, Zero};
use proptest::prelude::*;

use crate::support::dump::dump;
use crate::support::read_bytes;

/// Pieces that recognisers know, so that chance gets somewhere.
const PIECES: [&str; 24] = [
    "\r\n",
    "\n",
    "\r",
    "\0",
    "\u{1b}[",
    "[    0.123456] ",
    "[    9.000001][    T1] ",
    "[    0.000000] ",
    "<6>",
    "Linux version ",
    "calling  a+0x0/0x1 @ 1",
    "calling  b+0x0/0x1 [m] @ 2",
    "initcall a+0x0/0x1 returned 0 after 5 usecs",
    "initcall b+0x0/0x1 [m] returned -1 after 99999999 usecs",
    "probe of x returned 517 after 7 usecs",
    "clocksource: Switched to clocksource x",
    "Trying to unpack rootfs image as initramfs",
    "Freeing initrd memory",
    "U-Boot 2023.01",
    "Hit any key to stop autoboot:  2 ",
    "   Verifying Hash Integrity ... crc32+ OK",
    "   Loading Ramdisk to 0, end ",
    "Starting x: OK",
    "READY",
];

fn console() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::sample::select(&PIECES[..]).prop_map(|p| p.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..12),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn hints() -> Hints {
    Hints {
        ready: regex::bytes::Regex::new("READY$").ok(),
        ..Hints::default()
    }
}

fn accounted(timeline: &Timeline) {
    for file in &timeline.files {
        assert_eq!(file.usage.used + file.usage.skipped, file.usage.total);
    }
    let kinds: Vec<_> = timeline.marks.iter().map(|m| m.kind).collect();
    let milestones = kinds
        .iter()
        .filter(|k| matches!(k, bootlap_model::MarkKind::Milestone(_)));
    let mut seen = Vec::new();
    for milestone in milestones {
        assert!(!seen.contains(&milestone), "{milestone:?} twice");
        seen.push(milestone);
    }
}

proptest! {
    #[test]
    fn consoles(bytes in console()) {
        let source = named("console").unwrap();
        let whole = read_bytes(source, &bytes[..], &hints());
        accounted(&whole);
        let in_ones = BufReader::with_capacity(1, &bytes[..]);
        let in_ones = read_bytes(source, in_ones, &hints());
        prop_assert_eq!(dump(&whole, true), dump(&in_ones, true));
    }

    #[test]
    fn stamped_consoles(
        bytes in console(),
        gaps in prop::collection::vec(0..3_000_000i64, 1..40),
        clock in prop::sample::select(vec![StampClock::Simulated, StampClock::Virtual, StampClock::Host]),
    ) {
        let mut writer = Writer::new(Vec::new(), clock).unwrap();
        let mut ns = 0;
        for (i, &byte) in bytes.iter().enumerate() {
            ns += gaps[i % gaps.len()];
            let at = clock.stamp(ns, ns as u64 / 2);
            writer.record(Record::Byte { at, byte }).unwrap();
        }
        let timeline = read_bytes(named("stamps").unwrap(), &writer.into_inner()[..], &hints());
        accounted(&timeline);
        let is_anew = |n: &bootlap_model::Notice| n.code == "end-of-an-earlier-boot";
        let anew = timeline.notices.iter().any(is_anew);
        prop_assert!(anew || timeline.files[0].usage.skipped == 0);
    }

    /// What came in chunks is told as what came byte by byte with their stamps.
    #[test]
    fn captured_consoles(
        pieces in prop::collection::vec((0..3_000_000i64, prop::collection::vec(any::<u8>(), 0..60)), 0..40),
        text in console(),
    ) {
        let mut chunks = ChunkWriter::new(Vec::new(), StampClock::Host, Zero::PowerOn).unwrap();
        let mut single = Writer::new(Vec::new(), StampClock::Host).unwrap();
        let mut ns = 0;
        for (gap, bytes) in pieces.iter().chain([&(7, text)]) {
            ns += gap;
            chunks.bytes(ns, bytes).unwrap();
            single.bytes(StampClock::Host.stamp(ns, 0), bytes).unwrap();
        }
        let read = |bytes: Vec<u8>| read_bytes(named("stamps").unwrap(), &bytes[..], &hints());
        let (chunks, single) = (read(chunks.into_inner()), read(single.into_inner()));
        accounted(&chunks);
        prop_assert_eq!(dump(&chunks, true), dump(&single, true));
    }

    #[test]
    fn captured_consoles_of_any_bytes(records in prop::collection::vec(any::<u8>(), 0..400)) {
        let writer = ChunkWriter::new(Vec::new(), StampClock::Host, Zero::FirstByte).unwrap();
        let mut bytes = writer.into_inner();
        bytes.extend(records);
        accounted(&read_bytes(named("stamps").unwrap(), &bytes[..], &hints()));
    }

    #[test]
    fn stamped_consoles_of_any_bytes(records in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut bytes = Writer::new(Vec::new(), StampClock::Host).unwrap().into_inner();
        bytes.extend(records);
        accounted(&read_bytes(named("stamps").unwrap(), &bytes[..], &hints()));
    }

    #[test]
    fn sniffing(head in prop::collection::vec(any::<u8>(), 0..64)) {
        for source in all() {
            source.sniff(&head);
        }
    }
}
