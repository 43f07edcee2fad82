//! Recipes for the boot loader on the 32-bit target: what each takes away is
//! seen in simulated time or on the console.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::pc::pc;
use crate::support::{Booted, root, scratch, with};
use serde_json::Value;

/// Simulated time that U-Boot takes.
fn loader(boot: &Booted) -> i64 {
    let phases = boot.json["phases"].as_array().unwrap();
    let of = |p: &&Value| p["name"] == "bootloader";
    let phase = phases.iter().find(of).unwrap();
    let at = |key: &str| phase[key].as_i64().unwrap();
    at("end_ns") - at("start_ns")
}

/// The 32-bit target without the two seconds of its delay, which is the kiosk's
/// test, and its boot.
fn arm32(dir: &Path, boots: &str) -> (PathBuf, Booted) {
    let target = with(
        dir,
        "arm32",
        &root().join("targets/arm32"),
        &["uboot-bootdelay"],
    );
    let boot = Booted::of(dir, &target, boots);
    for said in ["Verifying Checksum", "Loading Kernel Image", "APP_READY"] {
        assert!(boot.says(said), "{}", boot.console);
    }
    (target, boot)
}

#[test]
fn each_habit_of_the_boot_loader_goes_and_takes_its_time_with_it() {
    let dir = scratch("recipes-loader");
    let step = |target: &Path, recipe: &str| with(&dir, recipe, target, &[recipe]);
    let (target, base) = arm32(&dir, "1");

    let flat = step(&target, "uboot-flat-bootcmd");
    let flat_boot = Booted::of(&dir, &flat, "1");
    assert!(loader(&flat_boot) < loader(&base));

    let exact = step(&flat, "uboot-exact-size");
    let exact_boot = Booted::of(&dir, &exact, "1");
    assert!(loader(&exact_boot) < loader(&flat_boot));

    let in_place = step(&exact, "uboot-load-in-place");
    let in_place_boot = Booted::of(&dir, &in_place, "1");
    assert!(loader(&in_place_boot) < loader(&exact_boot));
    assert!(in_place_boot.says("XIP Kernel Image"));
    assert!(!in_place_boot.says("Loading Kernel Image"));

    let unchecked = step(&in_place, "uboot-verify-off");
    let unchecked_boot = Booted::of(&dir, &unchecked, "1");
    assert!(loader(&unchecked_boot) < loader(&in_place_boot));
    assert!(!unchecked_boot.says("Verifying Checksum"));
}

#[test]
fn others_unpack_and_start_the_kernel() {
    let dir = scratch("recipes-unpack");
    let (target, base) = arm32(&dir, "2");
    assert_eq!(base.json["identical"], true);

    // It is packed with xz, and would unpack itself.
    let recipes = ["kernel-compression=gzip"];
    let unpacked = Booted::of(&dir, &with(&dir, "unpacked", &target, &recipes), "1");
    assert!(unpacked.says("Uncompressing Kernel Image"));
    assert!(unpacked.ready() < base.ready() - 3_000_000_000);

    let none = with(&dir, "none", &target, &["bootloader-none"]);
    let started = Booted::of(&dir, &none, "1");
    assert!(!started.says("U-Boot") && started.says("APP_READY"));
    assert!(started.ready() < base.ready());
    // Each step brings its own patch set.
    let about = fs::read_to_string(none.join("patches-2/README.md")).unwrap();
    assert!(about.contains("A boot without a boot loader"), "{about}");
}

/// Where a machine starts the kernel itself, it gets what is inside, as it is or unpacking itself
/// from LZ4. Debian's kernel for clouds does that, too, and looks for a random place.
#[test]
fn a_machine_starts_a_kernel_that_unpacks_itself_from_lz4() {
    let dir = scratch("recipes-loader-pc");
    let stock = pc(&dir);
    let [none, lz4] = ["none", "lz4"].map(|packed| {
        let recipe = format!("kernel-compression={packed}");
        with(&dir, packed, &stock, &[recipe.as_str()])
    });
    let unpacking = |target: &Path| -> i64 {
        let boot = Booted::of(&dir, target, "1");
        let spans = boot.json["phases"].as_array().unwrap();
        let kernel = spans.iter().find(|p| p["name"] == "kernel").unwrap();
        let parts = kernel["parts"].as_array().unwrap();
        let itself = parts.iter().find(|p| p["name"] == "image start-up");
        itself.map_or(0, |p| p["instructions"].as_i64().unwrap())
    };
    let [stock, none, lz4] = [&stock, &none, &lz4].map(|target| unpacking(target));
    assert!(
        none < 1000 && 1000 < lz4 && lz4 < stock,
        "{stock} {none} {lz4}"
    );
}
