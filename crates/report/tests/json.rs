//! The document and its schema.

mod common;

use bootlap_model::{ClockKind, Counter, LinkKind};
use bootlap_report::json::{advice, document, schemas, trials};
use common::{MS, hostile, stock, tuned};
use expect_test::expect_file;
use serde_json::Value;

/// `UPDATE_EXPECT=1` writes the schemas again.
#[test]
fn the_schemas_are_checked_in() {
    for (name, schema) in schemas() {
        let schema = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        let file = format!("../../../docs/schema/{name}.json");
        expect_file![file].assert_eq(&schema);
    }
}

fn schema() -> Value {
    schemas()[0].1.clone()
}

#[test]
fn parts_printed_on_their_own_follow_their_schemas() {
    let [_, _, (_, advise), (_, tried)] = schemas();
    let (old, new) = (stock(), tuned());
    let report = new.report(Some(&old));
    let trials = trials(&report.trials, "kiosk", "sim", "bootlap 0").unwrap();
    for (schema, text) in [(advise, advice(&report).unwrap()), (tried, trials)] {
        let value: Value = serde_json::from_str(&text).unwrap();
        let schema = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<_> = schema.iter_errors(&value).map(|e| e.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new());
    }
}

#[test]
fn reports_follow_the_schema() {
    let schema = jsonschema::validator_for(&schema()).unwrap();
    let (old, new, hostile) = (stock(), tuned(), hostile());
    for report in [
        old.report(None),
        new.report(Some(&old)),
        hostile.report(Some(&old)),
    ] {
        let value: Value = serde_json::from_str(&document(&report).unwrap()).unwrap();
        let errors: Vec<_> = schema.iter_errors(&value).map(|e| e.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new());
    }
}

#[test]
fn the_document_has_the_numbers_and_the_evidence() {
    let boot = stock();
    let value: Value = serde_json::from_str(&document(&boot.report(None)).unwrap()).unwrap();
    assert_eq!(value["ready_ns"], 5_177_000_000_i64);
    assert_eq!(value["phases"][1]["name"], "bootloader");
    assert_eq!(value["phases"][1]["instructions"], 1_756_000_000);
    assert_eq!(value["costs"][0]["finding"], 0);
    assert_eq!(value["costs"][3]["finding"], 2);
    assert_eq!(value["before"], Value::Null);
    assert_eq!(value["clocks"][0]["how"], "reference");
    assert_eq!(value["clocks"][1]["how"], "shared-event");
    assert_eq!(value["clocks"][1]["offset_ns"], 3_540_000_000_i64);
    let spans = value["spans"].as_array().unwrap();
    let wait = spans.iter().find(|s| s["name"] == "autoboot wait").unwrap();
    assert_eq!(wait["track"], "bootloader");
    assert_eq!(wait["instructions"], 1_000_000_000);
    assert_eq!(wait["args"][0], serde_json::json!(["seconds", "2"]));
    assert_eq!(wait["evidence"]["line"], 2);
    assert_eq!(
        wait["evidence"]["text"],
        "Hit any key to stop autoboot:  2  1  0 "
    );
}

#[test]
fn counters_and_links_are_in_the_document() {
    let mut boot = stock();
    let timeline = &mut boot.timeline;
    let name = timeline.symbols.intern("cpu user");
    let unit = timeline.symbols.intern("%");
    let evidence = timeline.spans[0].evidence;
    let stopwatch = timeline.add_clock(ClockKind::Stopwatch, false, evidence.file);
    for clock in [timeline.spans[0].clock, stopwatch] {
        timeline.counters.push(Counter {
            clock,
            name,
            unit,
            samples: vec![
                (-MS, 12.5),
                (0, f64::NAN),
                (MS, f64::INFINITY),
                (2 * MS, 80.0),
            ],
            evidence,
        });
    }
    let spans: Vec<_> = timeline.span_ids().collect();
    timeline.link(spans[1], spans[2], LinkKind::WaitsOn);
    timeline.link(spans[3], spans[0], LinkKind::Spawns);
    let value: Value = serde_json::from_str(&document(&boot.report(None)).unwrap()).unwrap();
    let expected = serde_json::json!([
        {"name": "cpu user", "unit": "%", "clock": 0,
         "samples": [[-1_000_000, 12.5], [2_000_000, 80.0]]},
        {"name": "cpu user", "unit": "%", "clock": 2,
         "samples": [[null, 12.5], [null, 80.0]]},
    ]);
    assert_eq!(value["counters"], expected);
    assert_eq!(value["clocks"][2]["how"], "unrelated");
    let expected = serde_json::json!([
        {"from": 1, "to": 2, "kind": "waits-on"},
        {"from": 3, "to": 0, "kind": "spawns"},
    ]);
    assert_eq!(value["links"], expected);
    let schema = jsonschema::validator_for(&schema()).unwrap();
    let errors: Vec<_> = schema.iter_errors(&value).map(|e| e.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
}

#[test]
fn hostile_text_stays_data() {
    let boot = hostile();
    let text = document(&boot.report(None)).unwrap();
    for c in text.trim_end().chars() {
        assert!(
            !c.is_control() && !matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{202e}'),
            "{c:?}"
        );
    }
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["target"], boot.about.target);
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    let boot = stock();
    let again = stock();
    assert_eq!(
        document(&boot.report(None)).unwrap(),
        document(&again.report(None)).unwrap()
    );
}
