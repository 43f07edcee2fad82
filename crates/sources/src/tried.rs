//! What tests of sources share.

use bootlap_model::{SpanEnd, Timeline};

use crate::{Hints, Input, Source};

/// What `source` makes of these bytes.
pub(crate) fn read(source: &Source, mut bytes: &[u8]) -> Timeline {
    let mut timeline = Timeline::default();
    let input = Input {
        label: "",
        bytes: &mut bytes,
        hints: &Hints::default(),
    };
    source.read(input, &mut timeline).unwrap();
    timeline
}

/// Reads any bytes: each line is counted, what was skipped is told, and no span ends
/// before it began.
pub(crate) fn survives(source: &Source, bytes: &[u8]) {
    let out = read(source, bytes);
    let usage = out.files[0].usage;
    assert_eq!(usage.used + usage.skipped, usage.total);
    assert!(usage.skipped == 0 || !out.notices.is_empty());
    for span in &out.spans {
        if let SpanEnd::At(end) = span.end {
            assert!(span.start.ns <= end.ns);
        }
    }
}
