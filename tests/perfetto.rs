//! Traces for Perfetto, read by Perfetto: see `tests/perfetto/check.py`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{bootlap, root, scratch, succeeded};

/// A recording under `tests/`.
fn recorded(path: &str) -> PathBuf {
    let path = root().join("tests").join(path);
    path.canonicalize().unwrap()
}

/// Reports of `evidence` in `dir`: the trace, and the documents of what is in
/// it.
fn reports(dir: &Path, evidence: &str, before: Option<&str>) -> (PathBuf, Vec<PathBuf>) {
    let write = |out: &str, evidence: &str, before: Option<&str>| {
        let mut command = bootlap(dir);
        command.arg("report").arg(recorded(evidence));
        if let Some(before) = before {
            command.arg("--before").arg(recorded(before));
        }
        succeeded(command.args(["-o", out]));
        dir.join(out)
    };
    let trace = write("boot.pftrace", evidence, before);
    let mut documents = vec![write("boot.json", evidence, None)];
    documents.extend(before.map(|before| write("before.json", before, None)));
    (trace, documents)
}

/// What the checker says of a trace and the documents it should agree with.
fn checked(trace: &Path, documents: &[PathBuf]) -> Output {
    let cache = env::var_os("BOOTLAP_CACHE").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    Command::new("python3")
        .arg(root().join("tests/perfetto/check.py"))
        .arg(cache)
        .arg(trace)
        .args(documents)
        .output()
        .expect("traces are checked by a program in Python: apt-get install python3-pip nodejs")
}

fn agrees(name: &str, evidence: &str, before: Option<&str>) {
    let dir = scratch(&format!("perfetto-{name}"));
    let (trace, documents) = reports(&dir, evidence, before);
    let output = checked(&trace, &documents);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_boot_from_every_side() {
    agrees("sides", "boots/debian13-systemd257", None);
}

#[test]
fn processes_and_counters() {
    let recording = "fixtures/bootchart/busybox-1.37.0/trixie-systemd257/parts";
    agrees("bootchart", recording, None);
}

#[test]
fn functions_of_threads() {
    let recording = "fixtures/trace-cmd/trace-cmd-3.1.6/graph-v6-mono/input.gz";
    agrees("functions", recording, None);
}

#[test]
fn units_that_wait() {
    let recording = "fixtures/systemd/systemd-252.39/three-in-one-file/input";
    agrees("units", recording, None);
}

#[test]
fn times_before_zero() {
    let recording = "fixtures/logic/handmade/saleae-1-negative/input";
    agrees("negative", recording, None);
}

#[test]
fn hostile_evidence() {
    agrees("hostile", "fixtures/ftrace/handmade/hostile/input", None);
}

#[test]
fn two_boots_in_one_trace() {
    let after = "fixtures/bootchart/busybox-1.37.0/trixie-systemd257/parts";
    let before = "fixtures/bootchart/busybox-1.35.0/bookworm-systemd252/parts";
    agrees("before", after, Some(before));
}

/// The checker tells a trace from that of another boot.
#[test]
fn a_trace_that_says_something_else_is_refused() {
    let dir = scratch("perfetto-refused");
    let recording = "fixtures/ftrace/linux-6.12-amd64/events-syscalls/input";
    let (trace, documents) = reports(&dir, recording, None);
    let document = std::fs::read_to_string(&documents[0]).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let mut spans = document["spans"].as_array_mut().unwrap().iter_mut();
    let end_ns = spans.find_map(|s| s.get_mut("end_ns").filter(|ns| ns.is_number()));
    let end_ns = end_ns.unwrap();
    *end_ns = (end_ns.as_i64().unwrap() + 1).into();
    let document = document.to_string();
    std::fs::write(&documents[0], document).unwrap();
    let output = checked(&trace, &documents);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("1 missing, 1 too many"), "{said}");
}

/// Its times are those of an axis: read again they would be measured ones, of another clock.
#[test]
fn a_report_is_no_evidence() {
    let dir = scratch("perfetto-report");
    let (trace, _) = reports(&dir, "boots/debian13-systemd257", None);
    let output = bootlap(&dir).arg("show").arg(trace).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("it is a report of bootlap's"), "{said}");
    assert_eq!(output.status.code(), Some(4), "{said}");
}
