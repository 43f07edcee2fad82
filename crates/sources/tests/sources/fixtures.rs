//! Every fixture through every check: see `support`. `UPDATE_EXPECT=1 cargo
//! test -p bootlap-sources` writes the snapshots anew;
//! `FIXTURES=strace cargo test -p bootlap-sources fixtures` runs one format's.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::support::dump::dump;
use crate::support::{Case, Part, all_cases, is_sound, read, try_read};
use bootlap_model::{FileUse, SpanEnd, Timeline, TrackKind};
use bootlap_sources::ingest::{Format, Given, Options, Piece, ingest};
use bootlap_sources::{HEAD_LEN, Sniff, Source, named, ranking};
use expect_test::expect_file;

/// Larger than any fixture's chunk.
const WHOLE: usize = 1 << 16;

#[test]
fn fixtures() {
    for case in all_cases() {
        check(&case);
    }
}

/// Every file is told by its content, with all formats to choose from.
#[test]
fn detection() {
    let mut wrong = Vec::new();
    for case in all_cases() {
        for part in &case.parts {
            let head = &part.bytes[..part.bytes.len().min(HEAD_LEN)];
            let found: Vec<_> = ranking(head)
                .iter()
                .map(|(s, sniff)| (s.name, sniff.as_percent()))
                .take(2)
                .collect();
            let right = Some(case.format.as_str());
            // A console can begin like a kernel's log, and goes on otherwise.
            if found.first().map(|f| f.0) != right && taken(&part.bytes) != right {
                wrong.push(format!("{} {}: {found:?}", case.dir.display(), part.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a file is taken for by all of its content.
fn taken(bytes: &[u8]) -> Option<&'static str> {
    let piece = Piece {
        name: "file".into(),
        open: Box::new(|| Ok(Box::new(bytes))),
    };
    let given = Given {
        name: "file".into(),
        pieces: vec![piece],
    };
    let taken = ingest(vec![given], &Options::default(), &mut Timeline::default());
    match taken.ok()?.first()?.format {
        Format::Known { source, .. } => Some(source),
        _ => None,
    }
}

/// Every source has a fixture.
#[test]
fn every_source_has_fixtures() {
    let cases = all_cases();
    for source in bootlap_sources::all() {
        let name = source.name;
        assert!(cases.iter().any(|c| c.format == name), "{name}");
    }
}

/// One run of a program, recorded by both at once.
#[test]
fn strace_and_the_kernels_trace_count_the_same() {
    let all = all_cases();
    let rows = |source: &str, dir: &str| {
        let case = all.iter().find(|case| case.dir.ends_with(dir)).unwrap();
        let timeline = read(named(source).unwrap(), case, 4096);
        let rows = timeline.file_uses.iter().filter(|row| row.pid == 106);
        let row = |row: &FileUse| {
            let [program, path] =
                [row.program, row.path].map(|name| timeline.text(name).to_owned());
            let counts = [row.opens, row.missing, row.looks, row.reads, row.maps];
            (program, path, counts, row.bytes)
        };
        rows.map(row).collect::<Vec<_>>()
    };
    let strace = rows("strace", "strace-6.1/zoneinfo");
    assert_eq!(strace.len(), 4);
    assert_eq!(strace, rows("ftrace", "bootlap-agent-0.1.0/reads"));
}

fn check(case: &Case) {
    let source = named(&case.format).unwrap_or_else(|| panic!("no source {}", case.format));
    let whole = read(source, case, WHOLE);
    let text = dump(&whole, true);
    expect_file![case.dir.join("expected.txt")].assert_eq(&text);

    is_sound("", &whole);
    initcalls_nest(&whole);
    for chunk in [1, 100] {
        let nameless = read(source, &case.nameless(), chunk);
        assert!(
            dump(&nameless, true) == text,
            "{} in chunks of {chunk}",
            case.dir.display()
        );
    }
    line_ends_do_not_matter(source, case);
    survives_json(&whole, &text);
    for i in 1..=10 {
        never_panics(source, &case.cut(i));
    }
}

/// The initcalls of one task are nested or apart, never half in each other.
fn initcalls_nest(timeline: &Timeline) {
    let mut calls: Vec<(&str, i64, i64, &str)> = Vec::new();
    for span in timeline.spans_of(TrackKind::Initcall) {
        let (Some(pid), SpanEnd::At(end)) = (timeline.arg(span, "pid"), span.end) else {
            continue;
        };
        if timeline.arg(span, "ret").is_some() && span.start.err_ns <= 1_000 {
            calls.push((pid, span.start.ns, end.ns, timeline.text(span.name)));
        }
    }
    // A probe is known by its end, so the inner ones come first.
    calls.sort_by_key(|(_, start, end, _)| (*start, std::cmp::Reverse(*end)));
    let mut open: Vec<(&str, i64)> = Vec::new();
    for (pid, start, end, name) in calls {
        open.retain(|(of, until)| *of != pid || *until > start);
        for (of, until) in &open {
            assert!(*of != pid || end <= *until, "{name}");
        }
        open.push((pid, end));
    }
}

fn never_panics(source: &Source, case: &Case) {
    let attempt = || {
        let sniffs = |part: &Part| source.sniff(&part.bytes) > Sniff::NO;
        if case.parts.iter().any(sniffs) {
            is_sound("", &try_read(source, case, WHOLE).1);
        }
    };
    catch_unwind(AssertUnwindSafe(attempt)).unwrap_or_else(|_| {
        let lengths: Vec<usize> = case.parts.iter().map(|p| p.bytes.len()).collect();
        panic!("{} cut at {lengths:?}", case.dir.display())
    });
}

/// LF, CR LF and CR CR LF tell the same.
fn line_ends_do_not_matter(source: &Source, case: &Case) {
    let Some(unix) = case.with_line_ends("\n") else {
        return;
    };
    let unix = dump(&read(source, &unix, WHOLE), false);
    for end in ["\r\n", "\r\r\n"] {
        let other = case.with_line_ends(end).expect("it is text");
        let other = dump(&read(source, &other, WHOLE), false);
        assert!(other == unix, "{} {end:?}", case.dir.display());
    }
}

/// A timeline written as JSON and read again is the same.
fn survives_json(timeline: &Timeline, text: &str) {
    let json = serde_json::to_string(timeline).unwrap();
    let again: Timeline = serde_json::from_str(&json).unwrap();
    assert!(dump(&again, true) == text);
}
