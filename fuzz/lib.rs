//! What every source must hold, whatever the bytes.

use std::sync::LazyLock;

use bootlap_model::{SpanEnd, Timeline};
use bootlap_sources::{Hints, Input, SourceError, named};
use regex::bytes::Regex;

static HINTS: LazyLock<Hints> = LazyLock::new(|| Hints {
    ready: Regex::new("login: $").ok(),
    application: Regex::new("^app").ok(),
    marks: vec![("rest".to_owned(), Regex::new("OK.*").expect("a pattern"))],
});

/// Reads `bytes` with the source called `format` and checks the invariants.
pub fn check(format: &str, mut bytes: &[u8]) {
    let source = named(format).expect("a source of this name");
    source.sniff(bytes);
    let input = Input {
        label: "fuzz",
        bytes: &mut bytes,
        hints: &HINTS,
    };
    let mut timeline = Timeline::default();
    match source.read(input, &mut timeline) {
        Ok(()) => is_sound(&timeline),
        Err(SourceError::NotThisFormat { .. }) => {}
        Err(e) => panic!("bytes in memory cannot fail: {e}"),
    }
}

fn is_sound(timeline: &Timeline) {
    for file in &timeline.files {
        assert_eq!(file.usage.used + file.usage.skipped, file.usage.total);
        assert!(file.usage.skipped == 0 || !timeline.notices.is_empty());
    }
    for span in &timeline.spans {
        assert!(span.evidence.start <= span.evidence.end);
        if let SpanEnd::At(end) = span.end {
            assert!(span.start.ns <= end.ns);
        }
    }
}
