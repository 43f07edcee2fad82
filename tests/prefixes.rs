//! What other programs put before the lines of a kernel's log changes nothing that is said
//! of the boot.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use crate::support::{bootlap, json, root, scratch};

/// Moments, µs, and what the kernel said then, with its initcalls.
fn log() -> Vec<(u64, String)> {
    let file = root().join("tests/fixtures/dmesg/linux-6.12-amd64/initcalls/input.gz");
    let mut log = String::new();
    let mut packed = flate2::read::GzDecoder::new(File::open(file).unwrap());
    packed.read_to_string(&mut log).unwrap();
    let line = |line: &str| {
        let (time, text) = line.strip_prefix('[')?.split_once("] ")?;
        let (s, us) = time.trim().split_once('.')?;
        Some((
            s.parse::<u64>().ok()? * 1_000_000 + us.parse::<u64>().ok()?,
            text.to_owned(),
        ))
    };
    log.lines().filter_map(line).collect()
}

/// The same of a machine whose clock runs evenly, as a terminal's does.
fn even() -> Vec<(u64, String)> {
    let said = |n: u64| match n {
        0 => "Linux version 6.1.0 (a@b) (gcc) #1 SMP".to_owned(),
        70 => "Run /init as init process".to_owned(),
        300 => "systemd[1]: systemd 252 running in system mode (+PAM)".to_owned(),
        n => format!("device{n} 1000.bus: found"),
    };
    (0..600).map(|n| (n * 10_007, said(n))).collect()
}

/// The kernel's own line.
fn plain(us: u64, text: &str) -> String {
    format!("[{}] {text}", seconds(us))
}

fn seconds(us: u64) -> String {
    format!("{:5}.{:06}", us / 1_000_000, us % 1_000_000)
}

/// A time of day, with so many decimals.
fn clock(us: u64, decimals: usize) -> String {
    let us = us + 47_159_318_000;
    let (s, us) = (us / 1_000_000, us % 1_000_000);
    let second = format!("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
    match decimals {
        0 => second,
        _ => format!("{second}.{}", &format!("{us:06}")[..decimals]),
    }
}

type Program = (&'static str, fn(u64, &str) -> String);

/// Each shows the kernel's times, or is where they are.
const LOGGERS: [Program; 10] = [
    ("dmesg -r", |us, text| format!("<6>{}", plain(us, text))),
    ("dmesg -x", |us, text| {
        format!("kern  :info  : {}", plain(us, text))
    }),
    ("dmesg --color", |us, text| {
        format!("\x1b[32m[{}] \x1b[0m{text}", seconds(us))
    }),
    ("/dev/kmsg", |us, text| format!("6,{us},{us},-;{text}")),
    ("journalctl -o short-monotonic", |us, text| {
        format!("[{}] host kernel: {text}", seconds(us))
    }),
    ("syslog", |us, text| {
        format!("Nov 21 {} host kernel: {}", clock(us, 0), plain(us, text))
    }),
    ("rsyslog, all of it received late", |us, text| {
        format!(
            "2026-11-21T{}+00:00 host kernel: {}",
            clock(us.max(9_000_000), 6),
            plain(us, text)
        )
    }),
    ("logread", |us, text| {
        format!(
            "Sat Nov 21 {} 2026 kern.info kernel: {}",
            clock(us, 0),
            plain(us, text)
        )
    }),
    ("a quotation", |us, text| format!("> {}", plain(us, text))),
    ("Windows", |us, text| format!("{}\r", plain(us, text))),
];

/// Each stamps what comes over a line.
const TERMINALS: [Program; 9] = [
    ("grabserial", |us, text| {
        format!(
            "[{} 0.000100] {}",
            seconds(us + 2_000_000).trim(),
            plain(us, text)
        )
    }),
    ("ts", |us, text| {
        format!("Nov 21 {} {}", clock(us, 0), plain(us, text))
    }),
    ("ts %.s", |us, text| {
        format!(
            "{}.{:06} {}",
            1_795_266_359 + us / 1_000_000,
            us % 1_000_000,
            plain(us, text)
        )
    }),
    ("tio", |us, text| {
        format!("[{}] {}", clock(us, 3), plain(us, text))
    }),
    ("Tera Term", |us, text| {
        format!("[Sat Nov 21 {} 2026] {}", clock(us, 3), plain(us, text))
    }),
    ("MobaXterm", |us, text| {
        format!("[2026-11-21 {}] {}", clock(us, 0), plain(us, text))
    }),
    ("a serial monitor", |us, text| {
        format!("{} -> {}", clock(us, 3), plain(us, text))
    }),
    ("a job of GitLab", |us, text| {
        format!("2026-11-21T{}Z 01O {}", clock(us, 6), plain(us, text))
    }),
    ("a job of Jenkins", |us, text| {
        format!("[2026-11-21T{}Z] {}", clock(us, 3), plain(us, text))
    }),
];

fn written(dir: &Path, log: Vec<(u64, String)>, program: fn(u64, &str) -> String) -> String {
    let lines = log.into_iter().map(|(us, text)| program(us, &text) + "\n");
    fs::write(dir.join("boot.log"), lines.collect::<String>()).unwrap();
    "boot.log".into()
}

/// How long each phase took, ms.
fn phases(dir: &Path, file: &str) -> Vec<(String, i64)> {
    let shown = json(bootlap(dir).args(["show", "--json", file]));
    let took = |p: &Value| p["end_ns"].as_i64().unwrap() - p["start_ns"].as_i64().unwrap();
    let phase = |p: &Value| (p["name"].as_str().unwrap().to_owned(), took(p) / 1_000_000);
    shown["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(phase)
        .collect()
}

/// What is advised, and what it saves, ms.
fn advice(dir: &Path, file: &str) -> Vec<(String, i64)> {
    let told = json(bootlap(dir).args(["advise", "--json", file]));
    let finding = |f: &Value| {
        let saving = f["saving_ns"].as_i64().unwrap() / 1_000_000;
        (f["rule"].as_str().unwrap().to_owned(), saving)
    };
    told["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(finding)
        .collect()
}

#[test]
fn what_stands_before_a_kernels_lines_changes_nothing() {
    let dir = scratch("prefixes");
    let file = written(&dir, log(), plain);
    let (took, advised) = (phases(&dir, &file), advice(&dir, &file));
    assert!(took.iter().any(|(name, _)| name == "kernel"), "{took:?}");
    assert!(advised.len() > 3, "{advised:?}");
    for (name, program) in LOGGERS {
        let file = written(&dir, log(), program);
        assert_eq!(phases(&dir, &file), took, "{name}");
        assert_eq!(advice(&dir, &file), advised, "{name}");
    }
}

#[test]
fn behind_words_that_nobody_knows_no_phase_is_told() {
    let dir = scratch("prefixes-unknown");
    let file = written(&dir, even(), |us, text| plain(us, &format!("c0 1  {text}")));
    assert_eq!(phases(&dir, &file), []);
}

#[test]
fn what_a_terminal_stamps_changes_no_phase() {
    let dir = scratch("prefixes-terminals");
    let file = written(&dir, even(), plain);
    let took = phases(&dir, &file);
    assert_eq!(took.len(), 3, "{took:?}");
    for (name, program) in TERMINALS {
        let file = written(&dir, even(), program);
        let is = phases(&dir, &file);
        let near = is
            .iter()
            .zip(&took)
            .all(|((is, ms), (was, before))| is == was && (ms - before).abs() <= 1);
        assert!(is.len() == took.len() && near, "{name}: {is:?}, {took:?}");
    }
}
