//! `bootlap compare`: folders of real logs, made slower and faster.
//!
//! Each boot is a real recording whose times were stretched by a known factor
//! and a seeded spread of 1 %, so that what is said can be held against what
//! was done.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::support::{bootlap, failure, json, root, scratch, succeeded};
use serde_json::Value;

/// Random numbers from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Near 1: as good as normal, with a deviation of 1 %.
    fn near_one(&mut self) -> f64 {
        let sum: f64 = (0..12).map(|_| self.next()).sum();
        1.0 + (sum - 6.0) / 100.0
    }
}

/// A real `dmesg` of Linux 6.12 with `initcall_debug`.
fn real_dmesg() -> String {
    let file = root().join("tests/fixtures/dmesg/linux-6.12-amd64/initcalls/input.gz");
    let mut text = Vec::new();
    let packed = fs::File::open(file).unwrap();
    let mut unpacked = flate2::read::GzDecoder::new(packed);
    unpacked.read_to_end(&mut text).unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

/// When the kernel ran init in it, seconds.
const INIT: f64 = 3.390_275;

/// The log with the kernel's time stretched by `kernel` and what comes later by
/// `user`.
fn stretched(log: &str, kernel: f64, user: f64) -> String {
    let mut out = String::with_capacity(log.len());
    for line in log.lines() {
        let stamp = line.strip_prefix('[').and_then(|l| l.split_once(']'));
        let time = stamp.and_then(|(t, rest)| Some((t.trim().parse::<f64>().ok()?, rest)));
        match time {
            Some((at, rest)) => {
                let before = at.min(INIT) * kernel;
                let behind = (at - INIT).max(0.0) * user;
                out += &format!("[{:12.6}]{rest}\n", before + behind);
            }
            None => {
                out += line;
                out.push('\n');
            }
        }
    }
    out
}

/// A folder of `boots` dmesg.
fn dmesgs(dir: &Path, name: &str, boots: usize, stretch: impl Fn(usize) -> (f64, f64)) -> PathBuf {
    let (log, folder) = (real_dmesg(), dir.join(name));
    let mut random = Random(name.bytes().map(u64::from).sum());
    fs::create_dir_all(&folder).unwrap();
    for boot in 1..=boots {
        let (kernel, user) = stretch(boot);
        let text = stretched(&log, kernel * random.near_one(), user * random.near_one());
        fs::write(folder.join(format!("boot-{boot}.txt")), text).unwrap();
    }
    folder
}

/// A folder of `systemd-analyze time`.
fn times(dir: &Path, name: &str, boots: usize, kernel: f64, user: f64) -> PathBuf {
    let folder = dir.join(name);
    let mut random = Random(name.len() as u64 + 77);
    fs::create_dir_all(&folder).unwrap();
    for boot in 1..=boots {
        let kernel = 9.547 * kernel * random.near_one();
        let user = 33.272 * user * random.near_one();
        let text = format!(
            "Startup finished in {kernel:.3}s (kernel) + {user:.3}s (userspace) = {:.3}s \nmulti-user.target reached after {:.3}s in userspace.\n",
            kernel + user,
            user - 0.027
        );
        fs::write(folder.join(format!("{boot}.txt")), text).unwrap();
    }
    folder
}

fn compare(dir: &Path, args: &[&str]) -> Value {
    json(bootlap(dir).args(["compare", "--json"]).args(args))
}

fn said(dir: &Path, args: &[&str], columns: &str) -> String {
    let mut command = bootlap(dir);
    command.args(["compare"]).args(args);
    command.env("COLUMNS", columns).env("LC_ALL", "C.UTF-8");
    let out = succeeded(&mut command);
    String::from_utf8(out.stdout).unwrap()
}

fn named<'v>(rows: &'v Value, name: &str) -> &'v Value {
    let rows = rows.as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == name);
    row.unwrap_or_else(|| panic!("no {name} in {rows:?}"))
}

/// The notes of one kind.
fn notes<'v>(compared: &'v Value, code: &str) -> Vec<&'v str> {
    let notes = compared["notes"].as_array().unwrap().iter();
    let notes = notes.filter(|note| note["code"] == code);
    notes.map(|note| note["text"].as_str().unwrap()).collect()
}

/// Whether `row` says a change of `expected` ns, to a tenth of it.
fn about(row: &Value, expected: f64) -> bool {
    let shift = row["shift_ns"].as_f64().unwrap();
    (shift - expected).abs() <= expected.abs() / 10.0
}

#[test]
fn dmesg_before_and_after_a_phase_that_got_slower_inside_a_faster_total() {
    let dir = scratch("compare-dmesg");
    dmesgs(&dir, "old", 10, |_| (1.0, 1.0));
    dmesgs(&dir, "new", 10, |_| (0.88, 1.2));
    let compared = compare(&dir, &["old", "new"]);
    let headline = compared["headline"].as_str().unwrap();
    assert!(headline.starts_with("after is faster: −"), "{headline}");
    assert!(
        headline.contains("10 and 10 boots; but user space got slower: +"),
        "{headline}"
    );
    assert_eq!(compared["total"]["verdict"], "faster");
    let (kernel, user) = (
        named(&compared["phases"], "kernel"),
        named(&compared["phases"], "user space"),
    );
    assert!(
        kernel["verdict"] == "faster" && about(kernel, -0.12 * INIT * 1e9),
        "{kernel}"
    );
    assert!(
        user["verdict"] == "slower" && about(user, 0.2 * 0.592e9),
        "{user}"
    );
    // An initcall is told by its name, the end by its line.
    let call = named(&compared["spans"], "crypto_algapi_init");
    assert!(
        call["verdict"] == "faster" && about(call, -0.12 * 0.2612e9),
        "{call}"
    );
    assert_eq!(
        (call["kind"].as_str(), &call["boots"]),
        (Some("initcall"), &serde_json::json!([10, 10]))
    );
    assert_eq!(compared["end"], "line");
    assert!(
        compared["end_name"]
            .as_str()
            .unwrap()
            .contains("calibrate_xor_blocks")
    );
    for column in ["40", "80", "200"] {
        let text = said(&dir, &["old", "new"], column);
        let widest = text
            .lines()
            .map(unicode_width::UnicodeWidthStr::width)
            .max();
        assert!(
            widest.unwrap() <= column.parse::<usize>().unwrap(),
            "{text}"
        );
        assert!(text.contains("user space got slower"), "{text}");
    }
    // Both ways round, and the same again.
    let back = compare(&dir, &["new", "old"]);
    assert_eq!(back["total"]["verdict"], "slower");
    assert_eq!(
        back["total"]["shift_ns"].as_i64(),
        compared["total"]["shift_ns"].as_i64().map(|ns| -ns)
    );
    assert_eq!(compare(&dir, &["old", "new"]), compared);
}

#[test]
fn systemd_analyze_has_a_total_of_its_own() {
    let dir = scratch("compare-systemd");
    times(&dir, "old", 10, 1.0, 1.0);
    times(&dir, "new", 10, 1.2, 0.85);
    // One of them was asked too early.
    let early = "Bootup is not yet finished (org.freedesktop.systemd1.Manager.FinishTimestampMonotonic=0).\nPlease try again later.\n";
    fs::write(dir.join("new/11.txt"), early).unwrap();
    let compared = compare(&dir, &["old", "new"]);
    assert_eq!(
        (&compared["end"], &compared["end_name"]),
        (&"milestone".into(), &"startup-finished".into())
    );
    assert_eq!(compared["total"]["verdict"], "faster");
    assert!(about(
        &compared["total"],
        (0.2 * 9.547 - 0.15 * 33.272) * 1e9
    ));
    assert_eq!(named(&compared["phases"], "kernel")["verdict"], "slower");
    let headline = compared["headline"].as_str().unwrap();
    assert!(
        headline.contains("but kernel got slower: +1."),
        "{headline}"
    );
    assert!(
        headline.contains("1 of 11 boots of after never got to"),
        "{headline}"
    );
    assert_eq!(compared["after"]["failed"], 1);
    assert_eq!(compared["total"]["samples"], serde_json::json!([10, 10]));
    assert!(notes(&compared, "never-ready")[0].contains("11.txt` (boot not finished)"));
    // The units of plots are matched, and what they are long is not the kernel's.
    let plot =
        fs::read_to_string(root().join("tests/fixtures/systemd/systemd-257.13/plot-json/input"))
            .unwrap();
    for (name, from) in [
        ("plots-old", "\"x\""),
        ("plots-new", "\"name\":\"systemd-networkd.service\""),
    ] {
        fs::create_dir_all(dir.join(name)).unwrap();
        for boot in 0..4 {
            let text = plot.replace(from, "\"name\":\"other.service\"");
            fs::write(dir.join(name).join(format!("{boot}.json")), text).unwrap();
        }
    }
    let plots = compare(&dir, &["plots-old", "plots-new"]);
    assert_eq!(plots["phases"], serde_json::json!([]));
    assert_eq!(plots["total"]["verdict"], "equivalent");
    assert_eq!(
        named(&plots["disappeared"], "systemd-networkd.service")["kind"],
        "unit"
    );
    assert_eq!(
        named(&plots["appeared"], "other.service")["boots"],
        serde_json::json!([0, 4])
    );
}

#[test]
fn two_kinds_of_boots_are_called_bimodal() {
    let dir = scratch("compare-bimodal");
    dmesgs(&dir, "old", 10, |boot| {
        (if boot % 5 < 2 { 1.3 } else { 1.0 }, 1.0)
    });
    dmesgs(&dir, "new", 10, |_| (0.9, 1.0));
    let compared = compare(&dir, &["old", "new"]);
    assert_eq!(compared["before"]["shape"]["bimodal"], true);
    assert_eq!(compared["after"]["shape"]["bimodal"], false);
    assert!(notes(&compared, "bimodal")[0].starts_with("before is bimodal: 6 boots near 3."));
    assert!(notes(&compared, "bimodal-phase")[0].starts_with("kernel of before is bimodal"));
    assert!(said(&dir, &["old", "new"], "80").contains("! before is bimodal"));
}

#[test]
fn the_same_folder_twice_is_never_faster() {
    let dir = scratch("compare-same");
    dmesgs(&dir, "old", 10, |_| (1.0, 1.0));
    let compared = compare(&dir, &["old", "old"]);
    let rows = compared["phases"]
        .as_array()
        .unwrap()
        .iter()
        .chain(compared["spans"].as_array().unwrap());
    for row in rows.chain([&compared["total"]]) {
        assert!(
            row["verdict"] == "equivalent" || row["verdict"] == "unknown",
            "{row}"
        );
    }
    assert_eq!(
        (&compared["moved"], &compared["appeared"]),
        (&serde_json::json!([]), &serde_json::json!([]))
    );
    // The margin is that of the user.
    let wide = compare(&dir, &["old", "old", "--margin", "10%"]);
    assert_eq!(wide["total"]["verdict"], "equivalent");
    let strict = compare(&dir, &["old", "old", "--margin", "1us"]);
    assert_eq!(strict["total"]["verdict"], "unknown");
    assert_eq!(
        (&strict["margin_ns"], &strict["margin_share"]),
        (&1_000.into(), &Value::Null)
    );
}

#[test]
fn one_boot_on_a_side_proves_nothing() {
    let dir = scratch("compare-single");
    dmesgs(&dir, "old", 1, |_| (1.0, 1.0));
    dmesgs(&dir, "new", 5, |_| (0.5, 1.0));
    let compared = compare(&dir, &["old/boot-1.txt", "new"]);
    assert_eq!(compared["total"]["verdict"], "unknown");
    let headline = compared["headline"].as_str().unwrap();
    assert!(
        headline.contains("less than before") && headline.contains("proves nothing"),
        "{headline}"
    );
}

#[test]
fn logs_cut_at_different_moments_and_boots_that_hung() {
    let dir = scratch("compare-cut");
    let (old, new) = (
        dmesgs(&dir, "old", 6, |_| (1.0, 1.0)),
        dmesgs(&dir, "new", 6, |_| (1.0, 1.0)),
    );
    // dmesg was typed at some time or other, and things go on happening.
    for boot in 1..=6 {
        let file = new.join(format!("boot-{boot}.txt"));
        let more = format!(
            "[{:12.6}] usb 1-{boot}: new high-speed USB device\n",
            100.0 * f64::from(boot)
        );
        fs::write(&file, fs::read_to_string(&file).unwrap() + &more).unwrap();
    }
    let compared = compare(&dir, &["old", "new"]);
    assert!(
        compared["total"]["after_ns"].as_i64().unwrap() < 5_000_000_000,
        "{}",
        compared["total"]
    );
    assert!(notes(&compared, "goes-on")[0].starts_with("the logs of 6 of 6 boots of after go on"));
    // With a pattern, boots that never show it failed.
    let hung = fs::read_to_string(old.join("boot-2.txt")).unwrap();
    let hung: String = hung.lines().take(700).map(|l| format!("{l}\n")).collect();
    fs::write(old.join("boot-2.txt"), &hung).unwrap();
    let ready = ["old", "new", "--ready", "Run /init"];
    let compared = compare(&dir, &ready);
    assert_eq!(
        (&compared["end_name"], &compared["before"]["failed"]),
        (&"ready".into(), &1.into())
    );
    let kernel_ns = compared["total"]["before_ns"].as_i64().unwrap();
    assert!(
        (3_300_000_000..3_500_000_000).contains(&kernel_ns),
        "{kernel_ns}"
    );
    // Without one the milestone that the others pass says so, too.
    let compared = compare(&dir, &["old", "new"]);
    assert_eq!(compared["before"]["failed"], 1);
    assert!(notes(&compared, "never-ready")[0].contains("boot-2.txt"));
    // None at all.
    let compared = compare(&dir, &["old", "new", "--ready", "no such line"]);
    assert_eq!(compared["total"], Value::Null);
    let headline = compared["headline"].as_str().unwrap();
    assert!(headline.contains("no boot of either side"), "{headline}");
}

#[test]
fn what_is_no_boot_is_said_and_left_out() {
    let dir = scratch("compare-odd");
    let old = dmesgs(&dir, "old", 4, |_| (1.0, 1.0));
    dmesgs(&dir, "new", 4, |_| (0.8, 1.0));
    fs::write(old.join("README.txt"), "the kernel as it came\n").unwrap();
    fs::write(old.join("boot-9.txt"), "").unwrap();
    let compared = compare(&dir, &["old", "new"]);
    assert_eq!(compared["total"]["samples"], serde_json::json!([4, 4]));
    let left_out = notes(&compared, "not-a-boot")[0];
    assert!(
        left_out.contains("README.txt") && left_out.contains("boot-9.txt` (is empty)"),
        "{left_out}"
    );
    // A folder of different kinds of evidence is one boot.
    let boot = root().join("tests/boots/debian13-systemd257");
    let one = boot.to_str().unwrap();
    let compared = compare(&dir, &[one, one]);
    assert_eq!(compared["before"]["boots"].as_array().unwrap().len(), 1);
    assert!(notes(&compared, "assumed")[0].contains("taken for one boot"));
    assert_eq!(compared["total"]["shift_ns"], 0);

    fs::create_dir_all(dir.join("empty")).unwrap();
    assert!(failure(bootlap(&dir).args(["compare", "empty", "new"]), 4).contains("empty is empty"));
    assert!(failure(bootlap(&dir).args(["compare", "old"]), 2).contains("no experiment"));
    failure(bootlap(&dir).args(["compare", "nowhere", "new"]), 2);
    failure(
        bootlap(&dir).args(["compare", "old", "new", "--margin", "5"]),
        2,
    );
    failure(
        bootlap(&dir).args(["compare", "old", "new", "--ready", "("]),
        2,
    );
}

#[test]
fn different_kinds_of_files_have_what_all_of_them_tell() {
    let dir = scratch("compare-mixed");
    let old = dmesgs(&dir, "old", 5, |_| (1.0, 1.0));
    let new = dmesgs(&dir, "new", 3, |_| (1.0, 1.0));
    for (boot, seconds) in [(4, 3.41), (5, 3.38)] {
        let text = format!(
            "Startup finished in {seconds:.3}s (kernel) + 9.000s (userspace) = {:.3}s\n",
            seconds + 9.0
        );
        fs::write(new.join(format!("boot-{boot}.txt")), text).unwrap();
    }
    let compared = compare(&dir, &["old", "new"]);
    assert!(notes(&compared, "formats-mixed")[0].contains("(dmesg, systemd)"));
    assert_eq!(compared["end_name"], "init-start");
    assert_eq!(compared["after"]["failed"], 0);
    let shift = compared["total"]["shift_ns"].as_i64().unwrap();
    assert!(shift.abs() < 100_000_000, "{shift}");
    drop(old);
}

#[test]
fn an_experiment_is_compared_with_its_baseline_and_written_out() {
    let dir = scratch("compare-experiment");
    let whole = dir.join("tried");
    for (name, kernel) in [("baseline", 1.0), ("a", 0.9), ("b", 1.0)] {
        dmesgs(&whole, name, 5, |_| (kernel, 1.0));
    }
    let about = r#"{"format":1,"target":"x","mode":"board","seed":1,"variants":[
        {"name":"baseline","dir":"baseline"},{"name":"recipe A","dir":"a"},{"name":"recipe B","dir":"b"}]}"#;
    fs::write(whole.join("experiment.json"), about).unwrap();
    let outs = ["x.md", "x.json", "x.csv", "x.txt", "x.html"];
    let outs: Vec<&str> = outs.iter().flat_map(|out| ["-o", *out]).collect();
    let compared = compare(&dir, &[&["tried"], &outs[..]].concat());
    assert_eq!(
        (&compared["before"]["name"], &compared["after"]["name"]),
        (&"baseline".into(), &"recipe A".into())
    );
    assert_eq!(compared["total"]["verdict"], "faster");
    assert_eq!(compared["others"][0]["after"]["name"], "recipe B");
    assert_ne!(compared["others"][0]["total"]["verdict"], "faster");
    let text = |name: &str| fs::read_to_string(dir.join(name)).unwrap();
    assert!(
        text("x.md").starts_with("### recipe A is faster: −"),
        "{}",
        text("x.md")
    );
    assert!(text("x.md").contains("| **total** |"));
    assert_eq!(
        serde_json::from_str::<Value>(&text("x.json")).unwrap(),
        compared
    );
    assert!(text("x.csv").contains("\r\ntried/baseline,tried/a,total,total,"));
    assert!(text("x.txt").contains("recipe A is faster"));
    assert!(text("x.html").contains("tried/a/boot-"));
    // Evidence stays as it is.
    let evidence = "tried/a/boot-1.txt";
    let before = text(evidence);
    assert!(
        failure(bootlap(&dir).args(["compare", "tried", "-o", evidence]), 2)
            .contains("stays as it is")
    );
    assert_eq!(text(evidence), before);
    fs::write(
        whole.join("experiment.json"),
        r#"{"variants":[{"name":"x","dir":"../old"}]}"#,
    )
    .unwrap();
    failure(bootlap(&dir).args(["compare", "tried"]), 4);
}

#[test]
fn a_folder_of_runs_is_a_group_and_counts_those_that_never_got_ready() {
    let dir = scratch("compare-runs");
    let record = |out: &str, last: &str, code: i32| {
        let console = format!("echo one; sleep 0.02; echo {last}");
        let mut command = bootlap(&dir);
        command.args(["capture", "--exec", &console, "--ready", "READY", "-o", out]);
        assert_eq!(command.output().unwrap().status.code(), Some(code));
    };
    for run in 0..3 {
        record(&format!("old/{run}"), "READY", 0);
        record(&format!("new/{run}"), "READY", 0);
    }
    record("new/3", "panic", 6);
    fs::write(dir.join("new/notes.txt"), "the other power supply").unwrap();
    let compared = compare(&dir, &["old", "new"]);
    assert_eq!(compared["end_name"], "ready");
    assert_eq!(compared["total"]["samples"], serde_json::json!([3, 3]));
    assert_eq!(
        (&compared["before"]["failed"], &compared["after"]["failed"]),
        (&0.into(), &1.into())
    );
    assert!(notes(&compared, "never-ready")[0].contains("new/3` (the command ended"));
    assert!(notes(&compared, "not-a-boot")[0].contains("notes.txt` (lies among runs)"));
    assert!(
        compared["headline"]
            .as_str()
            .unwrap()
            .contains("1 of 4 boots of after never got to ready")
    );
}
