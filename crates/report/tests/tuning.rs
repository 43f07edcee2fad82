//! A search for the best set of recipes, as text and as a document.

mod schema;

use bootlap_analysis::stats::{Question, effect};
use bootlap_analysis::{Moved, Trial};
use bootlap_report::About;
use bootlap_report::Style;
use bootlap_report::tuning::{Excluded, Fall, LeftOut, Tuning, TuningStep, Waterfall, json, text};
use expect_test::expect_file;
use schema::checked;

/// Eight boots of each side around these times, ms.
fn trial(recipe: &str, before_ms: i64, after_ms: i64) -> Trial {
    let boots = |ms: i64| {
        (0..8)
            .map(|n| ms * 1_000_000 + n * 100_000)
            .collect::<Vec<i64>>()
    };
    let (before, after) = (boots(before_ms), boots(after_ms));
    Trial {
        recipe: recipe.into(),
        before_ns: before[4],
        after_ns: after[4],
        effect: effect(&before, &after, &Question::once(1_000_000)),
        not_ready: [0, 0],
        phases: Vec::new(),
        parts: Vec::new(),
        moved: Vec::new(),
        predicted: None,
    }
}

fn step(recipe: &str, before_ms: i64, after_ms: i64) -> TuningStep {
    TuningStep {
        recipe: recipe.into(),
        title: "it does less".into(),
        risk: "none".into(),
        trial: trial(recipe, before_ms, after_ms),
        without: Some(trial(recipe, after_ms, before_ms).effect),
    }
}

fn tuning(stopped: Option<&str>) -> Tuning {
    let mut steps = vec![
        step("uboot-bootdelay", 5555, 3555),
        step("cmdline-no-crypto-tests", 3555, 2367),
        step("kernel-compression=none", 2367, 1800),
        step("fit-no-hash", 1800, 1190),
    ];
    steps[2].trial.moved.push(Moved {
        from: "uncompress kernel".into(),
        to: "hash check of kernel".into(),
        ns: 261_000_000,
        saved_ns: 910_000_000,
        grew_ns: 261_000_000,
    });
    Tuning {
        about: About {
            target: "kiosk".into(),
            mode: "sim".into(),
            time: "simulated".into(),
            tool: "bootlap 0".into(),
            ..About::default()
        },
        proof: trial("tuned", 5555, 1190),
        steps,
        excluded: vec![Excluded {
            recipe: "no-init".into(),
            why: "the kernel panicked".into(),
            tail: vec!["VFS: Unable \u{1b}[31mto mount\u{202e} root fs".into()],
            run: Some("runs/kiosk-tune/now/no-init/0".into()),
        }],
        left_out: vec![
            LeftOut {
                recipe: "kernel-compression=lz4".into(),
                why: "kernel-compression=none is better".into(),
                saved_ns: None,
            },
            LeftOut {
                recipe: "cmdline-quiet".into(),
                why: "no sure gain here; on a board it is predicted to save 1.167 s (13 446 \
                      bytes at 115 200 baud)"
                    .into(),
                saved_ns: Some(-200_000),
            },
        ],
        beside: Vec::new(),
        boots: 142,
        stopped: stopped.map(str::to_owned),
        out: "kiosk-tuned".into(),
        runs: "runs/kiosk-tune/now".into(),
    }
}

#[test]
fn a_search_falls_from_before_to_after() {
    let style = Style::default();
    expect_file!["snapshots/tuning-80.txt"].assert_eq(&text(&tuning(None), &style));
    let narrow = Style::wide(50);
    let stopped = tuning(Some("the boots that were allowed are used up"));
    expect_file!["snapshots/tuning-50.txt"].assert_eq(&text(&stopped, &narrow));
}

/// The same search beside simulated time, and beside one on another board.
fn on_a_board() -> Tuning {
    let mut there = tuning(None);
    there.about = About {
        time: "modelled".into(),
        model: Some("0badcafe".into()),
        ..there.about
    };
    let elsewhere = Waterfall::read(json(&there).unwrap().as_bytes()).unwrap();
    let mut here = tuning(None);
    here.about = About {
        time: "modelled".into(),
        model: Some("d0265ce3".into()),
        ..here.about
    };
    here.steps[2] = step("cmdline-quiet", 2367, 1800);
    here.left_out[1].recipe = "kernel-compression=none".into();
    let saved = |recipe: &str, ms: i64| Fall {
        recipe: recipe.into(),
        saved_ns: ms * 1_000_000,
    };
    here.beside = vec![
        Waterfall {
            axis: "simulated time".into(),
            before_ns: 2_760_000_000,
            after_ns: 1_190_000_000,
            steps: vec![saved("uboot-bootdelay", 1570), saved("cmdline-quiet", -1)],
            left_out: Vec::new(),
        },
        elsewhere,
    ];
    here
}

#[test]
fn searches_stand_beside_each_other() {
    let told = text(&on_a_board(), &Style::default());
    expect_file!["snapshots/tuning-beside.txt"].assert_eq(&told);
    let value = checked("tune", &json(&on_a_board()).unwrap());
    assert_eq!(value["model"], "d0265ce3");
    assert_eq!(value["beside"][1]["axis"], "kiosk, board 0badcafe");
}

#[test]
fn what_is_no_search_is_told() {
    for document in ["", "{}", "[1]", "{\"target\": \"kiosk\"}"] {
        let why = Waterfall::read(document.as_bytes())
            .unwrap_err()
            .to_string();
        assert!(why.starts_with("not what `bootlap tune` wrote"), "{why}");
    }
}

#[test]
fn every_line_fits_and_is_harmless() {
    for width in [40, 60, 80, 100, 200] {
        let style = Style::wide(width);
        let mut nothing = tuning(None);
        nothing.steps.clear();
        for tuning in [tuning(Some("x")), on_a_board(), nothing] {
            for line in text(&tuning, &style).lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
                assert!(!line.contains(['\u{1b}', '\u{202e}']), "{line}");
            }
        }
    }
}

#[test]
fn the_document_follows_its_schema() {
    let value = checked("tune", &json(&tuning(None)).unwrap());
    assert_eq!(value["boots"], 142);
    assert_eq!(value["steps"][0]["saved_ns"], 2_000_000_000_i64);
    assert_eq!(value["excluded"][0]["recipe"], "no-init");
    let saved = value["steps"].as_array().unwrap().iter();
    let saved: i64 = saved.map(|s| s["saved_ns"].as_i64().unwrap()).sum();
    let ns = |key: &str| value[key].as_i64().unwrap();
    assert_eq!(ns("before_ns") - ns("after_ns"), saved);
}
