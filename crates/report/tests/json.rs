//! The document and its schema.

mod common;

use bootlap_report::json::{advice, document, schemas, trials};
use common::{hostile, stock, tuned};
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
    let [_, _, (_, advise), (_, tried), ..] = schemas();
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
