//! A board whose speed is known: calibration finds it, and what is predicted
//! for it is what it takes.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{bootlap, changed_kiosk, failure, json, kiosk, scratch, succeeded};
use serde_json::Value;

/// The truth: instructions per second, and bits per second.
const LOADER: f64 = 40e6;
const KERNEL: f64 = 250e6;
const BAUD: f64 = 115_200.0;

/// `[board]` of the truth, without an error of its own.
const TRUTH: &str = "[board]\nname = \"snail\"\nbaud = 115200\nerror = 0.15\n\
                     instructions-per-second = { bootloader = 40e6, kernel = 250e6 }\n\n[kernel]";

/// What grabserial would say of this board: every stretch of a simulated boot
/// (2 ns per instruction) at the board's speed, give or take a seventh, and
/// every byte at the line's. Waits take as long as they took. Also when it is
/// ready, in s.
fn grabserial(boot: &Value) -> (String, f64) {
    let ns = |v: &Value| v.as_i64().unwrap();
    let spans = boot["spans"].as_array().unwrap();
    let of = |track: &'static str| spans.iter().filter(move |s| s["track"] == track);
    let wait = of("bootloader").find(|s| s["name"] == "autoboot wait");
    let wait = wait
        .map(|w| (ns(&w["start_ns"]), ns(&w["end_ns"])))
        .unwrap();
    let loader_end = ns(&boot["phases"][0]["end_ns"]);
    let (mut log, mut now, mut before, mut last) = (String::new(), 0.0, 0, 0.0);
    let mut dice = 1_u64;
    for line in of("console") {
        let at = ns(&line["start_ns"]);
        let waited = (at.min(wait.1) - before.max(wait.0)).max(0);
        let in_loader = (at.min(loader_end) - before).max(0) - waited;
        let in_kernel = (at - before.max(loader_end)).max(0);
        let work = in_loader as f64 / LOADER + in_kernel as f64 / KERNEL;
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let swing = 1.0 + 0.3 * ((dice >> 33) as f64 / (1_u64 << 31) as f64 - 0.5);
        now += waited as f64 / 1e9 + work / 2.0 * swing;
        let text = line["name"].as_str().unwrap();
        writeln!(log, "[{now:.6} {:.6}] {text}", now - last).unwrap();
        (last, before) = (now, at);
        now += (text.len() + 2) as f64 * 10.0 / BAUD;
    }
    (log, last)
}

fn booted(dir: &Path) -> (PathBuf, Value) {
    let target = changed_kiosk(dir, "[kernel]", TRUTH);
    let mut command = bootlap(dir);
    let boot = json(
        command
            .args(["boot", "-n", "1", "--simulated", "--json"])
            .arg(&target),
    );
    (target, boot)
}

#[test]
fn a_known_board_is_found_and_predicted() {
    let dir = scratch("calibrate");
    let (target, boot) = booted(&dir);
    let (log, ready_s) = grabserial(&boot);
    fs::write(dir.join("board.log"), log).unwrap();
    let run = boot["run"].as_str().unwrap();

    // The run says what it should take on the board: the log tells what it did.
    let total = &boot["predicted"]["total"];
    let predicted = total["predicted_ns"].as_f64().unwrap() / 1e9;
    let error = total["error_ns"].as_f64().unwrap() / 1e9;
    assert!(
        (predicted - ready_s).abs() < error,
        "{predicted} ± {error}, took {ready_s}"
    );
    let loader = &boot["predicted"]["phases"][0];
    let waits = loader["predicted_wait_ns"].as_i64().unwrap();
    assert!((1_990_000_000..2_010_000_000).contains(&waits), "{loader}");

    // And the log tells how fast the board is.
    let mut command = bootlap(&dir);
    command.args(["calibrate", "board.log", "--json", "--run", run, "--target"]);
    let found = json(command.arg(&target));
    assert_eq!(
        (found["baud"].as_u64(), &found["baud_from"]),
        (Some(115_200), &"seen".into())
    );
    for (phase, truth) in [("bootloader", LOADER), ("kernel", KERNEL)] {
        let speeds = found["speeds"].as_array().unwrap();
        let speed = speeds.iter().find(|s| s["phase"] == phase).unwrap();
        let off = speed["instructions_per_second"].as_f64().unwrap() / truth - 1.0;
        let error = speed["error"].as_f64().unwrap();
        assert!(off.abs() <= error && error < 0.3, "{speed}");
    }
    let sum = |key: &str| found[key].as_f64().unwrap();
    let off = sum("predicted_ns") / sum("measured_ns") - 1.0;
    assert!(off.abs() < 0.05, "{off}");

    the_fragment_is_a_board(&dir, &target, run);
    nothing_predicted_goes_without_the_word(&dir, run);
}

/// A board with caches, which arithmetic does not know.
#[test]
fn what_was_found_is_lived_and_mended() {
    let dir = scratch("calibrate-lived");
    let truth = "[board]\nlike = \"cortex-a7\"\n\n[kernel]";
    let board = changed_kiosk(&dir.join("board"), "[kernel]", truth);
    let mut command = bootlap(&dir);
    let boot = json(
        command
            .args(["boot", "-n", "1", "--json", "--modelled"])
            .arg(board),
    );
    let (mut log, mut before) = (String::new(), 0.0);
    let spans = boot["spans"].as_array().unwrap();
    for line in spans.iter().filter(|s| s["track"] == "console") {
        let now = line["start_ns"].as_f64().unwrap() / 1e9;
        let text = line["name"].as_str().unwrap();
        writeln!(log, "[{now:.6} {:.6}] {text}", now - before).unwrap();
        before = now;
    }
    fs::write(dir.join("board.log"), log).unwrap();
    let mut command = bootlap(&dir);
    command.args(["calibrate", "board.log", "--json", "--target"]);
    let found = json(command.arg(kiosk()));
    let of = |key: &str| found["lived"][key].as_f64().unwrap();
    let off = of("modelled_ns") / of("measured_ns") - 1.0;
    assert!(off.abs() < 0.005, "{off}");
    // What is told of a stretch is that boot's, no longer arithmetic's.
    let stretches = found["stretches"].as_array().unwrap();
    let kept = stretches.iter().filter(|s| s["left_out"] == false);
    let predicted: f64 = kept.map(|s| s["predicted_ns"].as_f64().unwrap()).sum();
    let off = predicted / of("modelled_ns") - 1.0;
    // A few have a line that the boot in that time did not print: how many is up to the kernel,
    // whose threads print side by side (1.1 % of Debian's 6.1.192-3).
    assert!(off.abs() < 0.02, "{off}");
}

/// What `-o` wrote, in place of the truth, is a target's `[board]`; and what is
/// there is never written over.
fn the_fragment_is_a_board(dir: &Path, target: &Path, run: &str) {
    let calibrate = || {
        let mut command = bootlap(dir);
        command.args([
            "calibrate",
            "board.log",
            "--run",
            run,
            "--name",
            "a \"board\"",
        ]);
        command
    };
    let out = succeeded(calibrate().args(["-o", "found.toml"]));
    let said = String::from_utf8(out.stdout).unwrap();
    let fragment = fs::read_to_string(dir.join("found.toml")).unwrap();
    assert!(said.contains(fragment.trim_end()), "{said}");
    let file = target.join("target.toml");
    let text = fs::read_to_string(&file).unwrap();
    let start = text.find("[board]").unwrap();
    let end = text.find("[kernel]").unwrap();
    fs::write(
        &file,
        format!("{}{fragment}\n{}", &text[..start], &text[end..]),
    )
    .unwrap();
    let mut command = bootlap(dir);
    let applied = command
        .args(["apply", "-o", "copy"])
        .arg(target)
        .arg("cmdline-quiet");
    assert!(applied.output().unwrap().status.success(), "{fragment}");
    let before = fs::read(&file).unwrap();
    let said = failure(calibrate().arg("-o").arg(&file), 2);
    assert!(said.contains("name a new file"), "{said}");
    assert_eq!(fs::read(&file).unwrap(), before);
}

/// The run is shown without its target: it kept the board.
fn nothing_predicted_goes_without_the_word(dir: &Path, run: &str) {
    let out = bootlap(dir).args(["show", run]).output().unwrap();
    let said = String::from_utf8(out.stdout).unwrap();
    let line = said.lines().find(|l| l.contains("on snail: ")).unwrap();
    assert!(
        line.contains("predicted ") && line.contains(" ± "),
        "{said}"
    );
    let head = said.lines().find(|l| l.contains("waits")).unwrap();
    assert!(head.contains("predicted"), "{said}");
    assert!(said.contains("simulated time"), "{said}");
}

#[test]
fn what_cannot_be_calibrated_says_why() {
    let dir = scratch("not-calibrated");
    fs::write(dir.join("empty.log"), "").unwrap();
    fs::write(
        dir.join("bare.log"),
        "U-Boot 2023.01\nStarting kernel ...\n",
    )
    .unwrap();
    let refused = |args: &[&str], code| {
        let mut command = bootlap(&dir);
        failure(command.arg("calibrate").args(args), code)
    };
    let target = kiosk().display().to_string();
    assert!(refused(&["empty.log", "--target", &target], 4).contains("empty"));
    refused(&["bare.log", "--target", &target], 4);
    refused(&["empty.log"], 2);
    let board = kiosk().with_file_name("board-example").join("board.toml");
    let log = "[0.000100 0.000100] U-Boot 2023.01\n[1.000000 0.999900] Starting kernel ...\n";
    fs::write(dir.join("some.log"), log).unwrap();
    let said = refused(&["some.log", "--target", &board.display().to_string()], 2);
    assert!(
        said.contains("is a real board") && said.contains("qemu"),
        "{said}"
    );
}
