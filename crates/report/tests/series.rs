//! A series of boots, as text and as a document.

mod schema;

use bootlap_analysis::{Lap, PhaseName};
use bootlap_report::About;
use bootlap_report::Style;
use bootlap_report::series::{LapAbout, SeriesReport, json, text};
use expect_test::expect_file;
use schema::checked;
use serde_json::Value;

fn lap(n: usize, ready_ms: Option<i64>) -> (Lap, LapAbout) {
    let ms = |ms: i64| ms * 1_000_000;
    let boot_ms = ready_ms.unwrap_or(100_000);
    let lap = Lap {
        ready_ns: ready_ms.map(ms),
        phases: vec![
            (PhaseName::Firmware, ms(300)),
            (PhaseName::Kernel, ms(1000)),
            (PhaseName::Userspace, ms(boot_ms - 1300)),
        ],
    };
    let about = LapAbout {
        run: format!("runs/board/{n}"),
        why_not: ready_ms
            .is_none()
            .then(|| "the \u{1b}[31mkernel\u{202e} panicked".into()),
        power_ms: Some(250),
    };
    (lap, about)
}

fn report(ready_ms: &[Option<i64>]) -> SeriesReport {
    let boots = ready_ms.iter().enumerate();
    SeriesReport::new(
        About {
            target: "gateway".into(),
            machine: "serial /dev/ttyUSB0 at 115200 baud".into(),
            mode: "board".into(),
            time: "measured".into(),
            tool: "bootlap 0".into(),
            ..About::default()
        },
        boots.map(|(n, ms)| lap(n + 1, *ms)).collect(),
    )
}

const LAPS: [Option<i64>; 8] = [
    Some(4210),
    Some(4190),
    None,
    Some(4205),
    Some(4900),
    Some(4200),
    Some(4211),
    Some(4203),
];

/// Two clusters, and a boot that hung for a while.
const TWO: [Option<i64>; 12] = [
    Some(2104),
    Some(2449),
    Some(2098),
    Some(3900),
    Some(2110),
    Some(2455),
    Some(2101),
    Some(2095),
    None,
    Some(2451),
    Some(2106),
    Some(2102),
];

#[test]
fn two_clusters_are_said() {
    let style = Style::default();
    expect_file!["snapshots/series-two-80.txt"].assert_eq(&text(&report(&TWO), &style));
    let value: Value = serde_json::from_str(&json(&report(&TWO)).unwrap()).unwrap();
    let modes = &value["modes"];
    assert_eq!([&modes[0]["samples"], &modes[1]["samples"]], [7, 4]);
    assert_eq!(modes[1]["median_ns"], 2_453_000_000_i64);
    assert_eq!(value["boots"][3]["outlier"], true);
    assert_eq!(value["boots"][4]["outlier"], Value::Null);
}

#[test]
fn many_boots_on_one_screen() {
    let style = Style::default();
    expect_file!["snapshots/series-many-80.txt"].assert_eq(&text(&report(&LAPS), &style));
}

#[test]
fn few_boots_and_none() {
    let style = Style::default();
    expect_file!["snapshots/series-few-80.txt"].assert_eq(&text(&report(&LAPS[..2]), &style));
    expect_file!["snapshots/series-none-80.txt"].assert_eq(&text(&report(&[None, None]), &style));
}

#[test]
fn every_line_fits_and_is_harmless() {
    for width in [60, 80, 100, 140] {
        let style = Style::wide(width);
        for laps in [&LAPS[..], &LAPS[..1], &TWO, &[None; 20], &[]] {
            let shown = text(&report(laps), &style);
            for line in shown.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
                assert!(!line.contains(['\u{1b}', '\u{202e}']), "{line}");
            }
        }
    }
}

#[test]
fn documents_follow_the_schema() {
    for laps in [&LAPS[..], &LAPS[..1], &TWO, &[None], &[]] {
        checked("series", &json(&report(laps)).unwrap());
    }
    let value: Value = serde_json::from_str(&json(&report(&LAPS)).unwrap()).unwrap();
    assert_eq!(value["ready"]["median_ns"], 4_205_000_000_i64);
    assert_eq!(value["ready"]["samples"], 7);
    assert_eq!(value["not_ready"], 1);
    assert_eq!(value["phases"][1]["name"], "kernel");
    assert_eq!(value["phases"][1]["median_ns"], 1_000_000_000);
    assert_eq!(value["fastest"], "runs/board/2");
    assert_eq!(value["slowest"], "runs/board/5");
    assert_eq!(value["boots"][2]["ready_ns"], Value::Null);
}
