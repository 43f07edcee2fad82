//! `--json`: an object a line, as it happens; docs/schema/capture.json.

use std::path::Path;

use bootlap_lab::{Fault, Run, Split};
use serde_json::{Value, json};

pub(super) fn begins(boot: u32, dir: &Path) -> Value {
    json!({"event": "begin", "boot": boot, "run": dir.display().to_string()})
}

pub(super) fn zero(boot: u32) -> Value {
    json!({"event": "zero", "boot": boot})
}

pub(super) fn line(boot: u32, ns: i64, delta_ns: i64, text: &str) -> Value {
    json!({"event": "line", "boot": boot, "ns": ns, "delta_ns": delta_ns, "text": text})
}

pub(super) fn split(boot: u32, split: &Split, best: Option<i64>, last: Option<i64>) -> Value {
    json!({
        "event": "split",
        "boot": boot,
        "name": split.name,
        "ns": split.ns,
        "best_ns": best,
        "last_ns": last,
    })
}

pub(super) fn fault(boot: u32, fault: &Fault) -> Value {
    json!({
        "event": "fault",
        "boot": boot,
        "ns": fault.ns,
        "kind": fault.kind,
        "text": fault.text,
    })
}

pub(super) fn sent(boot: u32, bytes: &[u8]) -> Value {
    json!({"event": "sent", "boot": boot, "text": bytes.escape_ascii().to_string()})
}

pub(super) fn ends(boot: u32, run: &Run) -> Value {
    let manifest = &run.manifest;
    let captured = manifest.capture.as_ref();
    json!({
        "event": "end",
        "boot": boot,
        "run": run.dir.display().to_string(),
        "outcome": manifest.outcome,
        "zero": captured.map(|c| &c.zero),
        "zero_wall": captured.map(|c| &c.zero_wall),
        "splits": captured.map(|c| &c.splits),
        "faults": manifest.faults,
        "console_sha256": manifest.console_sha256,
    })
}
