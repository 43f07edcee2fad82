//! Charts of real boots in a real browser, in the widest font that is common:
//! labels do not overlap there either.

#[path = "../../report/tests/common/mod.rs"]
mod common;

use std::path::Path;

use bootlap_analysis::{costs, gaps, phases, ready_ns};
use bootlap_export::sink_for;
use bootlap_model::Timeline;
use bootlap_report::table::By;
use bootlap_report::{About, Report, Texts};
use bootlap_sources::ingest::{Given, Options, Piece, ingest};

use common::browser::rendered;
use common::{hostile, stock, tuned};

fn chart(report: &Report<'_>, by: By) -> String {
    let mut bytes = Vec::new();
    let sink = sink_for("svg").unwrap();
    sink.write(report, Some(by), &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Measures the labels, and what they were measured with.
const MEASURE: &str = r#"
<p id="said"></p>
<script>
const svg = document.querySelector("svg");
const frame = svg.getBoundingClientRect();
const texts = [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim() !== "");
const boxes = texts.map((t) => t.getBoundingClientRect());
const wrong = [];
boxes.forEach((a, i) => {
  if (a.left < frame.left || a.right > frame.right || a.bottom > frame.bottom) {
    wrong.push("outside: " + texts[i].textContent);
  }
  boxes.slice(i + 1).forEach((b, j) => {
    if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) {
      wrong.push("overlap: " + texts[i].textContent + " | " + texts[i + 1 + j].textContent);
    }
  });
});
document.getElementById("said").textContent = texts.length + " labels, wrong: " + JSON.stringify(wrong);
</script>"#;

/// What the browser says of the labels of all charts.
fn measured(name: &str, svg: &str) -> String {
    let font = "<style>body{margin:0}svg{font-family:'DejaVu Sans'!important}</style>";
    let html = format!("<!doctype html><meta charset=utf-8>{font}{svg}{MEASURE}");
    let (dom, _) = rendered(&format!("chart-{name}"), &html, "");
    let (_, said) = dom.split_once("id=\"said\">").unwrap();
    said.split_once("</p>").unwrap().0.to_owned()
}

fn check(name: &str, svg: &str, least: usize) {
    let said = measured(name, svg);
    let (count, wrong) = said.split_once(" labels, wrong: ").unwrap();
    assert_eq!(wrong, "[]", "{name}");
    assert!(count.parse::<usize>().unwrap() >= least, "{name}: {said}");
}

fn read(folder: &str, files: &[&str]) -> Timeline {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests")
        .join(folder);
    let opener = bootlap_sources::bundle::Opener::default();
    let pieces = files.iter().map(|name| {
        let packed = std::fs::read(root.join(name)).unwrap();
        let mut bytes = Vec::new();
        let reader = Box::new(std::io::Cursor::new(packed));
        if let bootlap_sources::bundle::Opened::Stream(mut stream) = opener.open(reader).unwrap() {
            std::io::Read::read_to_end(&mut stream, &mut bytes).unwrap();
        }
        (format!("{folder}/{name}"), bytes)
    });
    let pieces: Vec<(String, Vec<u8>)> = pieces.collect();
    let given = Given {
        name: folder.to_owned(),
        pieces: pieces
            .iter()
            .map(|(name, bytes)| Piece {
                name: name.clone(),
                open: Box::new(|| Ok(Box::new(std::io::Cursor::new(bytes.clone())))),
            })
            .collect(),
    };
    let mut timeline = Timeline::default();
    ingest(vec![given], &Options::default(), &mut timeline).unwrap();
    timeline
}

fn report<'a>(timeline: &'a Timeline, texts: &'a Texts) -> Report<'a> {
    let about = About {
        target: "a real boot".to_owned(),
        ready_ns: ready_ns(timeline),
        ..About::default()
    };
    Report {
        phases: phases(timeline),
        gaps: gaps(timeline, 1_000_000),
        costs: costs(timeline, 8),
        ..Report::new(about, timeline, texts)
    }
}

#[test]
fn real_boots() {
    let texts = Texts::default();
    let systemd = read(
        "boots/debian13-systemd257",
        &["plot.json", "units.txt.gz", "dmesg.txt.gz"],
    );
    let units = report(&systemd, &texts);
    let svg = chart(&units, By::Units);
    assert!(svg.contains("waited for"), "{svg}");
    check("units", &svg, 35);
    check("initcalls", &chart(&units, By::Initcalls), 40);
    let folder = "fixtures/bootchart/bootchart2-0.14/bookworm-systemd252/parts";
    let parts = [
        "header",
        "proc_stat.log.gz",
        "proc_diskstats.log.gz",
        "taskstats.log.gz",
        "paternity.log",
    ];
    let bootchart = read(folder, &parts);
    let processes = report(&bootchart, &texts);
    let svg = chart(&processes, By::Processes);
    assert!(svg.contains(">CPU<"), "{svg}");
    check("processes", &svg, 40);
    let processes = processes.against(report(&bootchart, &texts));
    check("twice", &chart(&processes, By::Processes), 50);
}

#[test]
fn made_boots() {
    let (old, new, hostile) = (stock(), tuned(), hostile());
    check("two", &chart(&new.report(Some(&old)), By::Phases), 12);
    check(
        "hostile",
        &chart(&hostile.report(Some(&old)), By::Initcalls),
        5,
    );
}
