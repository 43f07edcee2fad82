//! Fixtures with a few bytes changed, of every format: no panic, and every
//! line accounted for.

use std::sync::OnceLock;

use crate::support::{Case, all_cases, try_read};
use bootlap_model::SpanEnd;
use bootlap_sources::named;
use proptest::prelude::*;

/// What numbers, names and structures trip over.
const BYTES: [u8; 16] = [
    b'0', b'9', b'-', b'.', b',', b':', b' ', b'\t', b'\n', b'(', b']', b'"', 0, 1, 0x7f, 0xff,
];

fn cases() -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    CASES.get_or_init(|| {
        let small = |c: &Case| c.parts.iter().all(|p| p.bytes.len() < 40_000);
        all_cases().into_iter().filter(small).collect()
    })
}

/// Where in the file (in 2⁻¹⁶), how many bytes are taken away, what is put
/// there and how often.
type Change = (u16, usize, u8, usize);

fn damage(bytes: &mut Vec<u8>, (place, gone, byte, often): Change) {
    let at = (bytes.len() * usize::from(place)) >> 16;
    let end = (at + gone).min(bytes.len());
    bytes.splice(at..end, std::iter::repeat_n(byte, often));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn damaged_fixtures(
        which in any::<prop::sample::Index>(),
        part in any::<prop::sample::Index>(),
        changes in prop::collection::vec(
            (any::<u16>(), 0..3usize, prop::sample::select(&BYTES[..]), 0..25usize),
            1..12,
        ),
    ) {
        let mut case = which.get(cases()).clone();
        let part = part.index(case.parts.len());
        for change in changes {
            damage(&mut case.parts[part].bytes, change);
        }
        let source = named(&case.format).unwrap();
        let (_, timeline) = try_read(source, &case, 1 << 16);
        for file in &timeline.files {
            prop_assert_eq!(file.usage.used + file.usage.skipped, file.usage.total);
        }
        for span in &timeline.spans {
            if let SpanEnd::At(end) = span.end {
                prop_assert!(span.start.ns <= end.ns);
            }
        }
    }
}
