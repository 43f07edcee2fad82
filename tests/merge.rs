//! Evidence of one boot from different programs comes onto one time axis, and
//! the error that is stated for each clock holds against what the lab knows.

use std::fs;
use std::path::PathBuf;

use crate::support::{bootlap, failure, json, root, scratch};
use serde_json::Value;

/// What is known of the clocks is known to this, ns.
const TRUTH_ERR_NS: i64 = 100_000;

/// Virtual time − time of this clock, ns: see the boot's README.
const TRUTH: [(&str, i64); 3] = [
    ("kernel-printk", 1_414_420_000 + 5_545_000),
    ("monotonic", 1_414_420_000),
    ("realtime", 1_414_420_000 - 1_776_109_082_214_983_000),
];

fn boot(file: &str) -> PathBuf {
    root().join("tests/boots/debian13-systemd257").join(file)
}

fn inspect(files: &[&str]) -> Vec<Value> {
    let dir = scratch("merge");
    let files = files.iter().map(|f| boot(f));
    let all = json(bootlap(&dir).args(["inspect", "--json"]).args(files));
    all.as_array().unwrap().clone()
}

/// Checks every clock but the reference against the truth.
fn check_clocks(all: &[Value]) {
    let clocks = all.iter().flat_map(|f| f["clocks"].as_array().unwrap());
    let mut checked = 0;
    for clock in clocks.filter(|c| c["how"] != "reference") {
        let kind = clock["kind"].as_str().unwrap();
        let (_, truth) = TRUTH.iter().find(|(k, _)| *k == kind).unwrap();
        assert_eq!(clock["how"], "shared-event", "{clock}");
        let offset = clock["offset_ns"].as_i64().unwrap();
        let err = clock["err_ns"].as_i64().unwrap();
        assert!((offset - truth).abs() <= err + TRUTH_ERR_NS, "{clock}");
        // A bound that says nothing would hold too.
        assert!(err <= 10_000_000, "{clock}");
        checked += 1;
    }
    assert!(checked >= 3, "{checked}");
}

#[test]
fn one_boot_seen_four_ways() {
    let files = [
        "console.stamps.gz",
        "dmesg.txt.gz",
        "plot.json",
        "kiosk.strace.gz",
    ];
    let all = inspect(&files);
    let sources: Vec<&Value> = all.iter().map(|f| &f["source"]).collect();
    assert_eq!(sources, ["stamps", "dmesg", "systemd", "strace"]);
    for file in &all {
        assert_eq!(file["lines"]["skipped"], 0, "{}", file["path"]);
    }
    check_clocks(&all);
    // In any order.
    let mut backwards = files;
    backwards.reverse();
    check_clocks(&inspect(&backwards));
}

#[test]
fn the_same_moment_in_console_and_strace() {
    let dir = scratch("merge-ready");
    let files = [boot("console.stamps.gz"), boot("kiosk.strace.gz")];
    let mut command = bootlap(&dir);
    command.args(["show", "--json", "--ready", "APP_READY"]);
    let report = json(command.args(files));
    assert_eq!(report["time"], "simulated");
    // Of the pattern its last byte counts, the ninth at 115 200 baud or faster.
    let ready = report["ready_ns"].as_i64().unwrap();
    assert!(
        (0..1_000_000).contains(&(ready - 13_578_234_134)),
        "{ready}"
    );
    let spans = report["spans"].as_array().unwrap();
    let kiosk = spans.iter().find(|s| s["track"] == "process").unwrap();
    let start = kiosk["start_ns"].as_i64().unwrap();
    assert!((12_000_000_000..ready).contains(&start), "{kiosk}");
}

#[test]
fn units_and_what_ready_waited_for() {
    let dir = scratch("merge-units");
    let files = [
        boot("console.stamps.gz"),
        boot("plot.json"),
        boot("units.txt.gz"),
    ];
    let mut command = bootlap(&dir);
    command.args(["show", "--by", "units", "--ready", "APP_READY"]);
    let out = command.args(files).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("kiosk.service"), "{text}");
    let path = text.split("what ready at 13.578").nth(1).unwrap();
    assert!(path.contains("settings.service"), "{path}");
}

#[test]
fn a_user_can_say_how_clocks_lie() {
    let dir = scratch("merge-declared");
    let plot = boot("plot.json");
    let strace = boot("kiosk.strace.gz");
    let mut command = bootlap(&dir);
    command.args([
        "inspect",
        "--json",
        "--offset",
        "kiosk.strace.gz=-1776109082.215",
    ]);
    let all = json(command.args([&plot, &strace]));
    let clock = &all[1]["clocks"][0];
    assert_eq!(clock["how"], "declared", "{clock}");
    let mut command = bootlap(&dir);
    command.args(["inspect", "--align", "plot.json:1=nowhere:2"]);
    let said = failure(command.args([&plot, &strace]), 2);
    assert!(said.contains("nowhere"), "{said}");
}

#[test]
fn what_is_no_evidence_is_said_with_what_is_nearest() {
    let dir = scratch("merge-unknown");
    let poem = dir.join("poem.txt");
    std::fs::write(&poem, "Not every text\nis evidence of a boot.\n").unwrap();
    let out = bootlap(&dir).arg("inspect").arg(&poem).output().unwrap();
    assert_eq!(out.status.code(), Some(4));
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("nearest is console"), "{text}");
    assert!(text.contains("looked for: "), "{text}");
    let said = failure(bootlap(&dir).arg("show").arg(&poem), 4);
    assert!(said.contains("bootlap inspect"), "{said}");
}

#[test]
fn files_of_one_strace_are_read_together_also_when_given_one_by_one() {
    let dir = scratch("merge-ff");
    let parts = root().join("tests/fixtures/strace/strace-6.1/shell-ff/parts");
    let mut files: Vec<PathBuf> = std::fs::read_dir(parts)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    let all = json(bootlap(&dir).args(["inspect", "--json"]).args(&files));
    let paths: Vec<&Value> = all.as_array().unwrap().iter().map(|f| &f["path"]).collect();
    let given: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
    assert_eq!(paths, given.iter().collect::<Vec<_>>());
    let mut command = bootlap(&dir);
    let show = command.args(["show", "--by", "processes"]).args(&files);
    let text = String::from_utf8(show.output().unwrap().stdout).unwrap();
    // The child is indented below its parent: somebody knows who forked it.
    assert!(text.contains("  sh ") && text.contains("    ls "), "{text}");
}

#[test]
fn the_text_beside_an_event_is_that_of_its_own_file() {
    let dir = scratch("merge-texts");
    let vcd = root().join("tests/fixtures/vcd/sigrok-cli-0.7.2/uart-115200/input.gz");
    let report = json(bootlap(&dir).args(["show", "--json"]).arg(vcd));
    let spans = report["spans"].as_array().unwrap();
    let console = spans.iter().filter(|s| s["track"] == "console");
    // The console was decoded from a pin: the capture has none of its bytes.
    let texts: Vec<&Value> = console.map(|s| &s["evidence"]["text"]).collect();
    assert!(!texts.is_empty() && texts.iter().all(|t| t.is_null()));
    let pin = spans.iter().find(|s| s["track"] == "signal").unwrap();
    assert!(pin["evidence"]["text"].is_string(), "{pin}");
}

#[test]
fn the_text_beside_a_stamped_byte_is_the_console() {
    let dir = scratch("merge-stamped");
    let report = json(
        bootlap(&dir)
            .args(["show", "--json"])
            .arg(boot("console.stamps.gz")),
    );
    let spans = report["spans"].as_array().unwrap();
    let kernel = spans.iter().filter(|s| s["track"] == "console");
    let mut whole_lines = 0;
    for span in kernel {
        let said = span["evidence"]["text"].as_str().unwrap();
        whole_lines += usize::from(said == span["name"].as_str().unwrap());
    }
    assert!(whole_lines > 100, "{whole_lines}");
}

#[test]
fn options_that_a_table_would_not_heed_are_refused() {
    let dir = scratch("merge-options");
    let dmesg = boot("dmesg.txt.gz");
    let mut command = bootlap(&dir);
    let said = failure(command.args(["show", "--grep", "x"]).arg(&dmesg), 2);
    assert!(said.contains("--by"), "{said}");
    let mut command = bootlap(&dir);
    let said = failure(command.args(["show", "--prune"]).arg(&dmesg), 2);
    assert!(said.contains("--by processes"), "{said}");
}

#[test]
fn a_clock_whose_place_is_assumed_is_said_to_be() {
    let dir = scratch("merge-assumed");
    let log = root().join("tests/fixtures/firmware-log/handmade/jetson/input");
    let output = bootlap(&dir).arg("show").arg(log).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let notice = "the place of the firmware clock is assumed, not known";
    assert!(said.contains(notice), "{said}");
}

#[test]
fn what_a_bug_reports_archive_has_of_another_boot_is_left_out() {
    let dir = scratch("merge-bug-report");
    let (report, fixtures) = (dir.join("report"), root().join("tests/fixtures"));
    let kept = report.join("FS/sys/fs/pstore");
    fs::create_dir_all(&kept).unwrap();
    let text = fixtures.join("bug-report/handmade/first-boot/input");
    fs::copy(&text, report.join("bugreport-x.txt")).unwrap();
    fs::write(report.join("main_entry.txt"), "bugreport-x.txt").unwrap();
    let other = fixtures.join("firmware-log/handmade/qualcomm/input");
    fs::copy(other, kept.join("console-ramoops-0")).unwrap();
    let phases = |path: PathBuf| {
        let shown = json(bootlap(&dir).args(["show", "--json"]).arg(path));
        shown["phases"].clone()
    };
    assert_eq!(phases(report), phases(text));
}
