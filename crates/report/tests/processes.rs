//! The tree of processes, at several widths.

use bootlap_report::table::{self, By, Rows};
use bootlap_report::{About, Report, Style, Texts};
use bootlap_sources::{Hints, Input, named};
use expect_test::expect_file;
use unicode_width::UnicodeWidthStr;

use bootlap_model::Timeline;

/// `/proc/PID/stat` of a process.
fn stat(pid: u32, name: &str, ppid: u32, start: u32, cpu: u32) -> String {
    format!("{pid} ({name}) S {ppid} 1 1 0 -1 0 0 0 0 0 {cpu} 0 0 0 20 0 1 0 {start} 1 1\n")
}

/// A boot as bootchart sees it, sampled five times a second.
fn boot() -> Timeline {
    let mut log = String::new();
    for block in 0..20 {
        let now = 200 + 20 * block;
        log += &format!("{now}\n");
        log += &stat(1, "init", 0, 10, 30 + block);
        log += &stat(2, "kthreadd", 0, 10, 0);
        log += &stat(3, "kworker/0:0", 2, 220, 0);
        for n in (0..12u32).filter(|n| (n * 25..n * 25 + 70).contains(&(block * 20))) {
            log += &stat(20 + 2 * n, "rc.sh", 1, 200 + n * 25, 1);
            log += &stat(
                21 + 2 * n,
                &format!("服务 {n}\x1b[31m"),
                20 + 2 * n,
                201 + n * 25,
                n * 3,
            );
        }
        if block > 12 {
            log += &stat(90, "a-rather-long-name-of-an-application", 1, 450, block);
        }
        log.push('\n');
    }
    let mut timeline = Timeline::default();
    let input = Input {
        label: "proc_ps.log",
        bytes: &mut log.as_bytes(),
        hints: &Hints::default(),
    };
    named("bootchart")
        .unwrap()
        .read(input, &mut timeline)
        .unwrap();
    timeline
}

fn check(text: &str, name: &str, width: usize) {
    expect_file![format!("snapshots/{name}.txt")].assert_eq(text);
    for line in text.lines() {
        assert!(line.width() <= width, "{} columns: {line}", line.width());
    }
}

fn processes(timeline: &Timeline, limit: usize, prune: bool, style: &Style) -> String {
    let texts = Texts::default();
    let report = Report::new(About::default(), timeline, &texts);
    let rows = Rows {
        prune,
        ..Rows::first(limit)
    };
    table::text(&report, By::Processes, &rows, style)
}

#[test]
fn trees() {
    let boot = boot();
    for width in [60, 80, 120] {
        let style = Style::wide(width);
        let name = format!("processes-{width}");
        check(&processes(&boot, 100, false, &style), &name, width);
    }
}

#[test]
fn pruned_and_limited() {
    let boot = boot();
    let style = Style::default();
    check(&processes(&boot, 100, true, &style), "processes-pruned", 80);
    check(&processes(&boot, 6, false, &style), "processes-6", 80);
    let ascii = Style {
        unicode: false,
        ..style
    };
    assert!(processes(&boot, 100, true, &ascii).is_ascii());
}

#[test]
fn nothing_was_seen() {
    let text = processes(&Timeline::default(), 10, false, &Style::default());
    assert!(text.starts_with("  No processes were seen"), "{text}");
}
