use bootlap_model::Timeline;
use data_encoding::BASE64;
use expect_test::expect_file;

use super::printed::Printed;
use super::wire::{MAGIC, Records, Wrong};
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
        assert_ne!(content, Err(Wrong::Kind), "{kind}");
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
    let pid = |span: &&bootlap_model::Span| timeline.arg(span, "pid") == Some("78");
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
        record(15, b""),
    ]);
    let told = timeline.notices.iter();
    let told: Vec<_> = told.map(|n| (&*n.code, n.count, n.first.len())).collect();
    let queue = u64::from(u32::MAX) + 2;
    assert_eq!(
        told,
        [("agent-buffer-full", 6991, 1), ("agent-lost", queue, 2)]
    );
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
