use bootlap_model::{Span, SpanEnd, Timeline};
use bootlap_wire::archive::{MAGIC, RecordError, Records};
use data_encoding::BASE64;
use expect_test::expect_file;

use super::printed::Printed;
use super::*;

/// What the agent's own test compares its bytes with.
const GOLDEN: &[u8] = include_bytes!("../../../../agent/tests/golden/every-kind.archive");
const WIRE_H: &str = include_str!("../../../../agent/src/collect/wire.h");

#[test]
fn every_field_is_where_the_agent_writes_it() {
    let all = Records::new(GOLDEN).map(|r| format!("{:?}\n", r.content));
    expect_file!["golden.txt"].assert_eq(&all.collect::<String>());
}

#[test]
fn every_kind_of_the_agents_header_is_known() {
    let kinds = WIRE_H.lines().filter_map(|line| {
        let (name, number) = line.trim().strip_suffix(',')?.split_once(" = ")?;
        name.starts_with("WIRE_")
            .then(|| number.parse::<u8>().unwrap())
    });
    let kinds: Vec<u8> = kinds.collect();
    assert!(kinds.len() >= 17, "{kinds:?}");
    let golden: Vec<u8> = Records::new(GOLDEN)
        .map(|r| GOLDEN[usize::try_from(r.start).unwrap()])
        .collect();
    for kind in kinds {
        assert!(golden.contains(&kind), "no record of kind {kind}");
        let record = [MAGIC, &[kind, 0, 0, 0]].concat();
        let content = Records::new(&record).next().unwrap().content;
        assert_ne!(content, Err(RecordError::Kind), "{kind}");
    }
}

/// The lines that the agent prints for `bytes`.
fn printed(bytes: &[u8]) -> Vec<Vec<u8>> {
    let lines = bytes.chunks(57).enumerate().map(|(i, part)| {
        let place = format!("bootlap-archive {}/{} ", i * 57, bytes.len());
        (place + &BASE64.encode(part)).into_bytes()
    });
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    let end = format!("bootlap-archive {} end", crc.sum()).into_bytes();
    lines.chain([end]).collect()
}

/// The codes of what went wrong, and the events, of lines that were printed.
fn read_printed(lines: &[Vec<u8>]) -> (Vec<String>, usize) {
    let mut timeline = Timeline::default();
    let file = timeline.add_file("console", "console");
    let mut all = Printed::default();
    for line in lines {
        let (start, end, line_number) = (0, 0, 1);
        let at = Evidence {
            file,
            start,
            end,
            line: line_number,
        };
        assert!(all.line(line, at));
    }
    all.finish("console", &mut timeline);
    let wrong = timeline.notices.iter();
    let wrong = wrong.filter(|n| n.severity > Severity::Info);
    let codes = wrong.map(|n| n.code.to_string());
    (codes.collect(), timeline.spans.len() + timeline.marks.len())
}

const KIOSK: &[u8] = include_bytes!("../../../../tests/fixtures/agent/0.1.0/kiosk/input");

#[test]
fn a_printed_archive_is_the_archive() {
    let (codes, events) = read_printed(&printed(KIOSK));
    assert_eq!(codes, [""; 0]);
    assert!(events > 80, "{events}");
}

#[test]
fn what_collecting_cost_is_told_and_is_a_fact_of_the_collector() {
    let mut timeline = Timeline::default();
    super::read(KIOSK, false, "archive", &mut timeline);
    let told: Vec<_> = timeline.notices.iter().map(|n| &*n.code).collect();
    assert_eq!(told, ["collector-cost"]);
    let text = &timeline.notices[0].remedy;
    assert!(
        text.contains("took 14.605 ms of CPU time in 5 wake-ups"),
        "{text}"
    );
    let pid = |span: &&Span| timeline.arg(span, "pid") == Some("78");
    let collector = timeline.spans.iter().find(pid).unwrap();
    assert_eq!(timeline.text(collector.name), "bootlap-agent");
    let fact = |key| timeline.arg(collector, key);
    assert_eq!(fact("cpu_us"), Some("14605"));
    assert_eq!(fact("wake_ups"), Some("5"));
    assert_eq!(fact("buffer_used_bytes"), Some("16694"));
}

/// A record of the archive.
fn record(kind: u8, payload: &[u8]) -> Vec<u8> {
    let len = u16::try_from(payload.len()).unwrap().to_le_bytes();
    [&[kind, 0, len[0], len[1]], payload].concat()
}

/// What an archive of these records becomes.
fn timeline_of(records: &[Vec<u8>]) -> Timeline {
    let mut timeline = Timeline::default();
    let bytes = [MAGIC, &records.concat()].concat();
    read(&bytes, false, "archive", &mut timeline);
    timeline
}

#[test]
fn what_was_lost_is_told_by_its_number() {
    let lost =
        |count: u32, what: &str| record(13, &[&count.to_le_bytes(), what.as_bytes()].concat());
    let timeline = timeline_of(&[
        lost(6991, "records"),
        lost(u32::MAX, "events"),
        lost(2, "accounts"),
        lost(0, "records"),
        record(15, &[0; 8]),
    ]);
    let told = timeline.notices.iter();
    let told: Vec<_> = told.map(|n| (&*n.code, n.count, n.first.len())).collect();
    let queue = u64::from(u32::MAX) + 2;
    assert_eq!(
        told,
        [("agent-buffer-full", 6991, 1), ("agent-lost", queue, 2)]
    );
}

const MS: u64 = 1_000_000;

/// A time in ms, and numbers.
fn at_ms(ms: u64, numbers: &[u32]) -> Vec<u8> {
    let numbers = numbers.iter().flat_map(|n| n.to_le_bytes());
    (ms * MS).to_le_bytes().into_iter().chain(numbers).collect()
}

/// Process 1 starts others from 100 ms on, of which only 11 is seen to end: the
/// last look at 900 ms finds 1, the collector 10, and 12. 13 is a thread of 12,
/// 15 one of 14.
fn archive() -> Vec<Vec<u8>> {
    // The wall clock takes two numbers; then ticks, CPUs, the collector.
    let start = at_ms(0, &[0, 0, 0, 1, 10]);
    let fork = |ms, parent, pid, process| record(3, &at_ms(ms, &[parent, pid, process]));
    let lives = |ms, pid, name: &str| {
        let numbers = at_ms(ms, &[pid, u32::from(pid > 1), 0, 0, 0, 0, 0, 0, 0]);
        record(7, &[&numbers, name.as_bytes()].concat())
    };
    vec![
        record(1, &start),
        // An earlier look.
        lives(50, 1, "init"),
        lives(50, 16, "early"),
        fork(100, 1, 11, 11),
        record(5, &at_ms(150, &[11, 11, 0])),
        fork(200, 1, 12, 12),
        fork(210, 12, 13, 12),
        fork(300, 1, 14, 14),
        fork(310, 14, 15, 14),
        lives(900, 1, "init"),
        lives(900, 10, "agent"),
        lives(900, 12, "sleep"),
        // While the others were looked at.
        fork(901, 1, 17, 17),
        record(15, &at_ms(902, &[])),
    ]
}

/// Pid, end and when it was seen last of each process but the first and the
/// collector.
fn ends(timeline: &Timeline) -> Vec<(&str, SpanEnd, Option<&str>)> {
    let spans = timeline.spans.iter();
    let end = |span: &Span| {
        let pid = timeline.arg(span, "pid").unwrap();
        (pid, span.end, timeline.arg(span, "last_seen_us"))
    };
    let mut ends: Vec<_> = spans
        .map(end)
        .filter(|e| !["1", "10"].contains(&e.0))
        .collect();
    ends.sort_by_key(|e| e.0);
    ends
}

#[test]
fn who_lives_at_the_end_is_open_and_who_is_gone_has_no_known_end() {
    let timeline = timeline_of(&archive());
    let ended = SpanEnd::At(Stamp::new(150_000_000, 0));
    let expected = [
        ("11", ended, None),
        ("12", SpanEnd::OpenAtCut, None),
        ("13", SpanEnd::OpenAtCut, None),
        ("14", SpanEnd::Unknown, Some("310000")),
        ("15", SpanEnd::Unknown, Some("310000")),
        ("16", SpanEnd::Unknown, Some("50000")),
        ("17", SpanEnd::OpenAtCut, None),
    ];
    assert_eq!(ends(&timeline), expected);
    let mark = &timeline.marks[0];
    assert_eq!(timeline.text(mark.name), "collecting ends");
    assert_eq!(mark.at.ns, 902_000_000);
}

#[test]
fn who_is_gone_is_not_known_without_a_whole_look_at_the_end() {
    let open = |records: &[Vec<u8>]| {
        let timeline = timeline_of(records);
        let ends = ends(&timeline);
        ends.iter().filter(|e| e.1 == SpanEnd::OpenAtCut).count()
    };
    assert_eq!(open(&archive()), 3);
    let mut full = archive();
    let lost = [&1_u32.to_le_bytes(), b"records".as_slice()].concat();
    full.insert(full.len() - 1, record(13, &lost));
    assert_eq!(open(&full), 6);
    let cut = &archive()[..11];
    assert_eq!(open(cut), 5);
    let mut without_a_look = archive();
    without_a_look.drain(9..12);
    assert_eq!(open(&without_a_look), 6);
}

#[test]
fn switches_tell_better_than_accounts_and_ticks_what_somebody_used() {
    let mut records = archive();
    let end = records.pop().unwrap();
    let account = [&at_ms(800, &[11, 1]), &[9; 56][..], &[0; 4], b"sh"].concat();
    let ran =
        |pid: u32, ns: u64| record(18, &[at_ms(901, &[pid]), ns.to_le_bytes().into()].concat());
    records.extend([
        record(6, &account),
        ran(11, 1_234_567),
        ran(12, 89_000),
        end,
    ]);
    let timeline = timeline_of(&records);
    let used = |pid| {
        let span = timeline
            .spans
            .iter()
            .find(|s| timeline.arg(s, "pid") == Some(pid));
        timeline.arg(span.unwrap(), "cpu_us")
    };
    assert_eq!(used("11"), Some("1234"));
    assert_eq!(used("12"), Some("89"));
    // Who was there before is known by its ticks alone.
    assert_eq!(used("1"), Some("0"));
}

#[test]
fn what_is_printed_twice_counts_once() {
    let twice = [printed(KIOSK), printed(KIOSK)].concat();
    assert_eq!(read_printed(&twice), read_printed(&printed(KIOSK)));
}

#[test]
fn what_is_before_a_torn_line_is_read() {
    let (_, whole) = read_printed(&printed(KIOSK));
    for torn in [1, 100, 200] {
        let mut lines = printed(KIOSK);
        lines[torn].insert(40, b'[');
        let (codes, events) = read_printed(&lines);
        assert!(codes.contains(&"archive-torn".to_owned()), "{codes:?}");
        assert!(events < whole);
    }
}

#[test]
fn a_console_that_ends_early_and_a_wrong_sum_are_told() {
    let mut lines = printed(KIOSK);
    *lines.last_mut().unwrap() = b"bootlap-archive 1 end".to_vec();
    assert_eq!(read_printed(&lines).0, ["archive-torn"]);
    lines.pop();
    assert_eq!(read_printed(&lines).0, ["archive-torn"]);
    lines.pop();
    assert_eq!(read_printed(&lines).0, ["archive-torn", "archive-cut"]);
}

#[test]
fn what_machine_it_was_is_known_of_its_first_process() {
    let mut timeline = Timeline::default();
    read(KIOSK, false, "kiosk", &mut timeline);
    let first = timeline.spans.iter();
    let first = first.filter(|span| timeline.arg(span, "pid") == Some("1"));
    let [init] = first.collect::<Vec<_>>()[..] else {
        panic!("not one process 1");
    };
    let fact = |key| timeline.arg(init, key).unwrap_or_default();
    assert_eq!(fact("kernel"), "Linux 6.1.0-56-arm64 aarch64");
    assert_eq!(fact("cpus"), "1");
    let options = fact("kernel_options");
    assert!(
        options.starts_with("console=ttyAMA0,115200 rdinit="),
        "{options}"
    );
    assert_eq!(options.trim(), options);
}
