//! The document and its schema.

mod common;
mod schema;

use bootlap_model::{ClockKind, Counter, LinkKind};
use bootlap_report::apply::{AppliedJson, EditJson, applied};
use bootlap_report::boot::json::document;
use bootlap_report::builds::{self, BuildsJson, BuiltJson};
use bootlap_report::catalogue::{RecipeJson, RuleJson, recipes_json, rules_json};
use bootlap_report::table::{self, By, Rows};
use bootlap_report::{FORMAT, findings, inspect, schemas, trials};
use common::wide::wide;
use common::{Boot, MS, hostile, stock, tuned};
use expect_test::expect_file;
use schema::checked;
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

#[test]
fn parts_printed_on_their_own_follow_their_schemas() {
    let (old, new) = (stock(), tuned());
    let report = new.report(Some(&old));
    let trials = trials::json(&report.trials, "kiosk", "sim", "bootlap 0").unwrap();
    checked("try", &trials);
    checked("advise", &findings::json(&report).unwrap());
    let edit = EditJson {
        key: "fit.hash".to_owned(),
        value: Some("none".to_owned()),
    };
    let document = AppliedJson {
        format: FORMAT,
        tool: "bootlap 0".to_owned(),
        target: "kiosk".to_owned(),
        out: "fast".to_owned(),
        edits: vec![edit],
        files: vec!["patches/README.md".to_owned()],
    };
    checked("apply", &applied(&document).unwrap());
    let built = BuiltJson {
        section: "kernel".to_owned(),
        image: "cache/Image".to_owned(),
        bytes: 3_000_000,
        origin: "Image built from linux-source-6.1 6.1.192-2".to_owned(),
        tree: "cache/sources/1f25".to_owned(),
        config: "cache/config".to_owned(),
        built_in: 441,
        modules: 0,
        kept: true,
    };
    let document = BuildsJson {
        format: FORMAT,
        tool: "bootlap 0".to_owned(),
        target: "kiosk".to_owned(),
        builds: vec![built],
    };
    checked("build", &builds::json(&document).unwrap());
    let recipe = RecipeJson {
        recipe: "kernel-compression".to_owned(),
        title: "Unpack the kernel faster".to_owned(),
        risk: "the image is larger".to_owned(),
        values: vec!["lz4".to_owned()],
    };
    checked("recipes", &recipes_json(&[recipe]).unwrap());
    let rule = RuleJson {
        rule: "uboot-bootdelay".to_owned(),
        title: "U-Boot waits".to_owned(),
        layer: "kernel".into(),
        page: "What it looks for.".into(),
    };
    checked("rules", &rules_json(&[rule]).unwrap());
    for boot in [stock(), hostile(), wide()] {
        let files = common::files(&boot);
        let list = checked("inspect", &inspect::json(&files, &boot.timeline).unwrap());
        assert_eq!(list.as_array().unwrap().len(), files.len());
    }
}

#[test]
fn reports_follow_the_schema() {
    let (old, new, hostile, wide) = (stock(), tuned(), hostile(), wide());
    for report in [
        old.report(None),
        new.report(Some(&old)),
        hostile.report(Some(&old)),
        wide.report(Some(&hostile)),
    ] {
        checked("report", &document(&report).unwrap());
    }
}

const BYS: [(&str, By); 8] = [
    ("phases", By::Phases),
    ("spans", By::Spans),
    ("initcalls", By::Initcalls),
    ("units", By::Units),
    ("processes", By::Processes),
    ("functions", By::Functions),
    ("gaps", By::Gaps),
    ("deltas", By::Deltas),
];

fn rows(boot: &Boot, by: By, limit: usize) -> Value {
    let text = table::json(&boot.report(None), by, &Rows::first(limit)).unwrap();
    checked("show", &text)
}

#[test]
fn tables_follow_the_schema_and_have_the_rows_that_people_see() {
    for boot in [stock(), hostile(), wide()] {
        for (name, by) in BYS {
            let all = rows(&boot, by, usize::MAX);
            assert_eq!(all["by"], name);
            let count = all["rows"].as_array().unwrap().len();
            assert_eq!(all["all"], count, "{name}");
            let first = rows(&boot, by, 2);
            assert_eq!(first["all"], count, "{name}");
            let listed = first["rows"].as_array().unwrap().len();
            let is_limited = name != "phases";
            assert_eq!(
                listed,
                if is_limited { count.min(2) } else { count },
                "{name}"
            );
        }
    }
    let wide = wide();
    let units = rows(&wide, By::Units, 4);
    assert_eq!(units["rows"].as_array().unwrap().len(), 4);
    assert_eq!(units["rows"][0]["own_ns"], 207_359_998_000_000_i64);
    let functions = rows(&wide, By::Functions, 1);
    assert_eq!(functions["rows"][0]["track"], "function");
    let deltas = rows(&stock(), By::Deltas, usize::MAX);
    assert_eq!(deltas["rows"][1]["evidence"]["line"], 2);
    // The schema tells the tables apart.
    let schemas = schemas();
    let (_, schema) = schemas.iter().find(|(name, _)| *name == "show").unwrap();
    let mut wrong = deltas;
    wrong["by"] = "gaps".into();
    assert!(!jsonschema::is_valid(schema, &wrong));
    let matching = Rows {
        matching: Some(&|text| text.contains("autoboot")),
        ..Rows::first(9)
    };
    let text = table::json(&stock().report(None), By::Spans, &matching).unwrap();
    let spans = checked("show", &text);
    assert_eq!(spans["rows"][0]["name"], "autoboot wait");
    assert_eq!(spans["all"], 1);
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
    let stopwatch = timeline.add_clock(ClockKind::Stopwatch, evidence.file);
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
    let value = checked("report", &document(&boot.report(None)).unwrap());
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
