//! Units and the critical path, of a real boot.

use std::io::Read;
use std::path::Path;

use bootlap_model::Timeline;
use bootlap_report::table::{self, By, Rows};
use bootlap_report::{About, Report, Style, Texts};
use bootlap_sources::{Hints, Input, named};
use expect_test::{ExpectFile, expect_file};
use unicode_width::UnicodeWidthStr;

/// What these fixtures say, one behind the other as one file.
fn read(fixtures: &[&str]) -> Timeline {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/systemd");
    let mut bytes = Vec::new();
    for fixture in fixtures {
        let mut file = std::fs::File::open(root.join(fixture).join("input")).unwrap();
        file.read_to_end(&mut bytes).unwrap();
        bytes.push(b'\n');
    }
    let mut timeline = Timeline::default();
    let input = Input {
        label: "",
        bytes: &mut &bytes[..],
        hints: &Hints::default(),
    };
    named("systemd")
        .unwrap()
        .read(input, &mut timeline)
        .unwrap();
    timeline
}

fn units(timeline: &Timeline, limit: usize, style: &Style) -> String {
    let texts = Texts::default();
    let report = Report::new(About::default(), timeline, &texts);
    table::text(&report, By::Units, &Rows::first(limit), style)
}

fn check(timeline: &Timeline, limit: usize, width: usize, expected: &ExpectFile) {
    let style = Style::wide(width);
    let text = units(timeline, limit, &style);
    expected.assert_eq(&text);
    for line in text.lines() {
        assert!(line.width() <= width, "{} columns: {line}", line.width());
    }
}

#[test]
fn a_boot_with_times_and_orderings() {
    let boot = read(&["systemd-252.39/show-manager", "systemd-252.39/show-units"]);
    check(&boot, 12, 80, &expect_file!["snapshots/units-80.txt"]);
    check(&boot, 12, 60, &expect_file!["snapshots/units-60.txt"]);
    check(&boot, 1000, 120, &expect_file!["snapshots/units-120.txt"]);
}

#[test]
fn lengths_only() {
    let boot = read(&["systemd-257.13/blame"]);
    check(&boot, 5, 80, &expect_file!["snapshots/units-blame-80.txt"]);
}

#[test]
fn several_outputs_in_one_file() {
    let boot = read(&["systemd-252.39/three-in-one-file"]);
    check(&boot, 8, 80, &expect_file!["snapshots/units-three-80.txt"]);
}

#[test]
fn hostile_times() {
    let boot = read(&["handmade/show-hostile", "handmade/plot-restarted-and-open"]);
    check(
        &boot,
        20,
        80,
        &expect_file!["snapshots/units-hostile-80.txt"],
    );
}

#[test]
fn no_units() {
    let text = units(&Timeline::default(), 5, &Style::default());
    assert_eq!(text, "  No units were seen.\n");
}
