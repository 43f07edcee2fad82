//! Disks as people ship them, made and imported.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{bootlap, json, root, succeeded};

/// A disk of `scripts/make-disk`, made once.
pub(crate) fn disk(name: &str) -> PathBuf {
    let path = root().join(format!("target/disks/{name}.img"));
    let lock = root().join("target/disks.lock");
    let lock = File::create(lock).unwrap();
    lock.lock().unwrap();
    // Of another script it would be another disk.
    let script = root().join("scripts/make-disk");
    let changed = |path: &Path| fs::metadata(path).and_then(|known| known.modified());
    if changed(&path).is_ok_and(|made| made < changed(&script).unwrap()) {
        fs::remove_file(&path).unwrap();
    }
    if !path.exists() {
        succeeded(Command::new(script).arg(name).arg(&path));
    }
    path
}

/// What `import --json` prints.
pub(crate) fn import(dir: &Path, image: &Path, out: &str, more: &[&str]) -> Value {
    let mut command = bootlap(dir);
    json(
        command
            .arg("import")
            .arg(image)
            .args(["-o", out, "--json"])
            .args(more),
    )
}

/// What `boot --json` prints.
pub(crate) fn boot(dir: &Path, target: &str, boots: &str) -> Value {
    json(bootlap(dir).args(["boot", target, "-n", boots, "--json"]))
}
