//! Whatever the bytes: no panic, every line accounted for, the same in any
//! chunks and, for members of a recording, in any order.

use std::io::BufReader;

use bootlap_model::Timeline;
use proptest::prelude::*;

use super::SOURCE;
use crate::{Hints, Input};

/// Pieces that the readers know, so that chance gets somewhere.
const PIECES: [&str; 24] = [
    "\n",
    "\n\n",
    "263\n",
    "283\n",
    "283\n",
    "9223372036854775\n",
    "cpu  29 0 156 28 0 0 0 0 0\n",
    "cpu  9 0 156 999999999999999999 0 0 0 0\n",
    "procs_running 7\n",
    "processes 999999999999999999\n",
    "1 (init) S 0 1 1 0 -1 4194560 107 0 0 0 7 113 0 0 20 0 1 0 26 512000 58\n",
    "57 (a) b) Z 1 57 57 0 -1 0 80 0 0 0 1 2 0 0 20 0 1 0 999999999999999999 0 0\n",
    "57 (x) R 57 57 57 0 -1 0 80 0 0 0 1 2 0 0 20 0 1 0 270 0 0\n",
    "   8 0 sda 1 2 3 4 5 6 18446744073709551615 8 9 10 11\n",
    "58 57 Web Content 9223372036854775807 9223372036854775807 1\n",
    "412\n:/bin/sh\n:sh\0-c\0x\0\n\n",
    "412 411\n",
    "MemTotal:  17 kB\n",
    "version = 0.8\ntitle = Boot chart for x\n",
    "<svg <!-- This file is a bootchart SVG file -->\n",
    "<!-- sh [7] ppid=7 runtime=9999999999999999999.1ms -->\n",
    "<rect class=\"ps\" x=\"9000000000000000.1\" y=\"0\" width=\"12.5\" height=\"1\" />\n",
    "<rect class=\"cpu\" x=\"10.1\" y=\"0\" width=\"12.5\" height=\"1\" />\n",
    "<!-- x=\"0.000001\" y=\"1\" -->\n",
];

fn member() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => prop::sample::select(&PIECES[..]).prop_map(|p| p.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..12),
    ];
    let begin = prop::sample::select(&PIECES[..]).prop_map(|p| p.as_bytes().to_vec());
    let rest = prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat());
    (begin, rest).prop_map(|(begin, rest)| [begin, rest].concat())
}

fn read(members: &[Vec<u8>], chunk: usize) -> Timeline {
    let mut timeline = Timeline::default();
    let hints = Hints::default();
    let readers = members
        .iter()
        .map(|m| BufReader::with_capacity(chunk, &m[..]));
    let mut readers: Vec<_> = readers.collect();
    let inputs = readers.iter_mut().map(|bytes| Input {
        label: "",
        bytes,
        hints: &hints,
    });
    SOURCE.read_parts(inputs.collect(), &mut timeline).unwrap();
    timeline
}

proptest! {
    #[test]
    fn any_members(members in prop::collection::vec(member(), 1..5)) {
        let whole = read(&members, 1 << 16);
        for file in &whole.files {
            prop_assert_eq!(file.usage.used + file.usage.skipped, file.usage.total);
        }
        let json = |timeline: &Timeline| serde_json::to_string(timeline).unwrap();
        prop_assert_eq!(json(&whole), json(&read(&members, 1)));
    }
}

#[test]
fn the_order_of_members_does_not_matter() {
    let members = [
        "version = 0.8\ntitle = Boot chart for x\nsystem.cpu = one\n",
        "263\n1 (init) S 0 1 1 0 -1 0 1 0 0 0 7 1 0 0 20 0 1 0 26 5 5\n\n283\n\n",
        "263\ncpu  29 0 156 28\nbtime 77\n\n283\ncpu  30 0 157 40\n\n",
        "263\n 8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n\n283\n 8 0 sda 2 2 9 4 5 6 9 8 9 12 11\n\n",
    ];
    let mut members = members.map(|text| text.as_bytes().to_vec());
    let seen = |timeline: &Timeline| {
        let spans = timeline
            .spans
            .iter()
            .map(|s| (s.start, s.end, s.args.len()));
        let counters = timeline.counters.iter().map(|c| c.samples.clone());
        (spans.collect::<Vec<_>>(), counters.collect::<Vec<_>>())
    };
    let forward = seen(&read(&members, 100));
    members.reverse();
    assert_eq!(seen(&read(&members, 100)), forward);
    assert_eq!(forward.0.len(), 1);
    assert_eq!(forward.1.len(), 7);
}
