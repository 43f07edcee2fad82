//! Every fixture through every check: see `support`. `UPDATE_EXPECT=1 cargo
//! test -p bootlap-sources` writes the snapshots anew.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::support::dump::dump;
use crate::support::{Case, cases, read};
use bootlap_model::{SpanEnd, Timeline, TrackKind};
use bootlap_sources::{HEAD_LEN, Hints, Source, detect, named};
use expect_test::expect_file;

/// Larger than any fixture's chunk.
const WHOLE: usize = 1 << 16;

fn check(case: &Case) {
    let source = named(&case.format).unwrap();
    let whole = read(source, &case.bytes, "console", WHOLE, &case.hints);
    let text = dump(&whole, true);
    expect_file![case.dir.join("expected.txt")].assert_eq(&text);

    is_sound(&whole);
    initcalls_nest(&whole);
    let head = &case.bytes[..case.bytes.len().min(HEAD_LEN)];
    let found = detect(head).map(|s| s.info().name);
    assert_eq!(found, Some(source.info().name));
    for chunk in [1, 100] {
        let nameless = read(source, &case.bytes, "", chunk, &case.hints);
        assert!(dump(&nameless, true) == text, "in chunks of {chunk}");
    }
    for cut in cuts(case.bytes.len()) {
        never_panics(source, &case.bytes[..cut], &case.hints);
    }
}

/// What holds for every timeline, whatever it was read from.
fn is_sound(timeline: &Timeline) {
    for file in &timeline.files {
        let u = file.usage;
        assert_eq!(u.used + u.skipped, u.total);
        assert!(u.skipped == 0 || !timeline.notices.is_empty());
    }
    for span in &timeline.spans {
        assert!(span.evidence.start <= span.evidence.end);
        if let SpanEnd::At(end) = span.end {
            assert!(span.start.ns <= end.ns, "{}", timeline.text(span.name));
        }
    }
}

/// The initcalls of one task are nested or apart, never half in each other.
fn initcalls_nest(timeline: &Timeline) {
    let mut open: Vec<(String, i64)> = Vec::new();
    for span in timeline.spans_of(TrackKind::Initcall) {
        let (Some(pid), SpanEnd::At(end)) = (timeline.arg(span, "pid"), span.end) else {
            continue;
        };
        if timeline.arg(span, "ret").is_none() || span.start.err_ns > 1_000 {
            continue;
        }
        open.retain(|(of, until)| of != pid || *until > span.start.ns);
        for (of, until) in &open {
            assert!(
                of != pid || end.ns <= *until,
                "{}",
                timeline.text(span.name)
            );
        }
        open.push((pid.to_owned(), end.ns));
    }
}

/// Ten places, from the first bytes to the last but one.
fn cuts(len: usize) -> impl Iterator<Item = usize> {
    (1..=10).map(move |i| (len * i / 10).saturating_sub(1))
}

fn never_panics(source: &dyn Source, bytes: &[u8], hints: &Hints) {
    let read = || {
        if source.sniff(bytes) > bootlap_sources::Sniff::No {
            is_sound(&read_if_able(source, bytes, hints));
        }
    };
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| panic!("cut at {}", bytes.len()));
}

fn read_if_able(source: &dyn Source, mut bytes: &[u8], hints: &Hints) -> Timeline {
    let mut timeline = Timeline::default();
    let input = bootlap_sources::Input {
        label: "cut",
        bytes: &mut bytes,
        hints,
    };
    let _ = source.read(input, &mut timeline);
    timeline
}

#[test]
fn stamps() {
    cases("stamps").iter().for_each(check);
}

#[test]
fn console() {
    for case in cases("console") {
        check(&case);
        line_ends_do_not_matter(&case);
    }
}

/// LF, CR LF and CR CR LF tell the same.
fn line_ends_do_not_matter(case: &Case) {
    let source = named("console").unwrap();
    let text = String::from_utf8_lossy(&case.bytes).replace("\r\n", "\n");
    if text.contains('\r') {
        return;
    }
    let dumped = |text: &str| {
        let timeline = read(source, text.as_bytes(), "", WHOLE, &case.hints);
        dump(&timeline, false)
    };
    let unix = dumped(&text);
    for end in ["\r\n", "\r\r\n"] {
        assert!(dumped(&text.replace('\n', end)) == unix, "{end:?}");
    }
}
