//! Recipes for the initramfs on the real kiosk: what a boot opens is enough to
//! boot, and less is unpacked.

use std::fs;
use std::path::Path;

use crate::support::{bootlap, failure, json, kiosk, scratch, succeeded};
use serde_json::Value;

fn boot(dir: &Path, target: &Path) -> Value {
    json(bootlap(dir).args(["boot", "--json", "-n", "1"]).arg(target))
}

/// Bytes of the initramfs as the FIT holds it.
fn initramfs_bytes(dir: &Path, boot: &Value) -> u64 {
    let run = dir.join(boot["run"].as_str().unwrap());
    let manifest = fs::read(run.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let parts = manifest["parts"].as_array().unwrap();
    let initramfs = parts.iter().find(|p| p["name"] == "initramfs").unwrap();
    initramfs["bytes"].as_u64().unwrap()
}

#[test]
fn what_a_boot_opens_is_enough_to_boot() {
    let dir = scratch("recipes-initramfs");
    let list = dir.join("touched.txt");
    let mut touched = bootlap(&dir);
    succeeded(touched.arg("touched").arg(kiosk()).arg("-o").arg(&list));
    let listed = fs::read_to_string(&list).unwrap();
    for opened in [
        "/init\n",
        "/bin/busybox\n",
        "/etc/init.d/rcS\n",
        "/usr/bin/kiosk\n",
    ] {
        assert!(listed.contains(opened), "{opened} in {listed}");
    }

    let tuned = dir.join("tuned");
    let recipe = format!("initramfs-touched={}", list.display());
    let mut apply = bootlap(&dir);
    let apply = apply.arg("apply").arg(kiosk());
    json(
        apply
            .args([&recipe, "initramfs-strip", "--json", "-o"])
            .arg(&tuned),
    );
    let (stock, less) = (boot(&dir, &kiosk()), boot(&dir, &tuned));
    assert!(less["ready_ns"].is_number(), "{less}");
    let (before, after) = (initramfs_bytes(&dir, &stock), initramfs_bytes(&dir, &less));
    assert!(after <= before, "{before} to {after} bytes");

    for again in [&*recipe, "initramfs-strip"] {
        let mut command = bootlap(&dir);
        let command = command
            .arg("apply")
            .arg(&tuned)
            .args([again, "-o", "again"]);
        let said = failure(command, 2);
        assert!(said.contains("already"), "{said}");
    }
}
