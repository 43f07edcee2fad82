//! What every source must hold, whatever the bytes.

use std::io::{BufRead, BufReader};
use std::sync::LazyLock;

use bootlap_model::{SpanEnd, Timeline};
use bootlap_sources::{Hints, Input, Source, SourceError, ranking};
use regex::bytes::Regex;

use crate::pieces::{self, Piece};

/// What a user may have said beforehand.
pub static HINTS: LazyLock<Hints> = LazyLock::new(|| Hints {
    ready: Regex::new("login: $").ok(),
    application: Regex::new("^app").ok(),
    marks: vec![("rest".to_owned(), Regex::new("OK.*").expect("a pattern"))],
});

/// Longer inputs are not read a second time in 1-byte chunks, nor through
/// JSON: that is slow.
const READ_TWICE: usize = 4096;

/// Reads `bytes` with `source` and checks the invariants.
pub fn check(source: &Source, bytes: &[u8]) {
    source.sniff(bytes);
    let whole = Piece {
        name: "fuzz".to_owned(),
        bytes,
    };
    let mut parts = vec![whole];
    if source.reads_together() {
        let folders = pieces::folders(bytes).into_iter().flatten();
        let mut all: Vec<_> = folders.collect();
        if all.len() > 1 {
            std::mem::swap(&mut parts, &mut all);
        }
    }
    let timeline = read(source, &parts, 1 << 16);
    is_sound(&timeline);
    if bytes.len() < READ_TWICE {
        let json = survives_json(&timeline);
        let again = read(source, &parts, 1);
        let again = serde_json::to_string(&again).expect("a timeline is JSON");
        assert_eq!(again, json, "the same in 1-byte chunks");
    }
}

fn read(source: &Source, parts: &[Piece<'_>], chunk: usize) -> Timeline {
    let reader = |p: &Piece<'_>| -> Box<dyn BufRead> {
        Box::new(BufReader::with_capacity(
            chunk,
            std::io::Cursor::new(p.bytes.to_vec()),
        ))
    };
    let mut readers: Vec<_> = parts.iter().map(reader).collect();
    let inputs = readers.iter_mut().zip(parts).map(|(bytes, part)| Input {
        label: &part.name,
        bytes,
        hints: &HINTS,
    });
    let mut inputs: Vec<_> = inputs.collect();
    let mut timeline = Timeline::default();
    let result = if inputs.len() > 1 {
        source.read_parts(inputs, &mut timeline)
    } else {
        source.read(inputs.remove(0), &mut timeline)
    };
    match result {
        Ok(()) | Err(SourceError::NotThisFormat { .. }) => timeline,
        Err(e) => panic!("bytes in memory cannot fail: {e}"),
    }
}

/// Checks what holds for every timeline.
pub fn is_sound(timeline: &Timeline) {
    for file in &timeline.files {
        assert_eq!(file.usage.used + file.usage.skipped, file.usage.total);
        assert!(
            file.usage.skipped == 0 || !timeline.notices.is_empty(),
            "lines were skipped without a word"
        );
    }
    for span in &timeline.spans {
        assert!(span.evidence.start <= span.evidence.end);
        if let SpanEnd::At(end) = span.end {
            assert!(span.start.ns <= end.ns, "{}", timeline.text(span.name));
        }
    }
    for notice in &timeline.notices {
        assert!(notice.count > 0 && !notice.remedy.is_empty());
    }
}

fn survives_json(timeline: &Timeline) -> String {
    let json = serde_json::to_string(timeline).expect("a timeline is JSON");
    let again: Timeline = serde_json::from_str(&json).expect("and the JSON is a timeline");
    let again = serde_json::to_string(&again).expect("again");
    assert_eq!(again, json, "the same through JSON");
    json
}

/// Asks all sources what a head could be.
pub fn detect(head: &[u8]) {
    let ranked = ranking(head);
    let sure: Vec<u8> = ranked.iter().map(|(_, sniff)| sniff.as_percent()).collect();
    assert!(sure.iter().all(|s| (1..=100).contains(s)) && sure.is_sorted_by(|a, b| a >= b));
}
