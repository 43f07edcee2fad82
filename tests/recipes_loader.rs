//! Recipes for the boot loader, one on top of the other on the 32-bit target:
//! what each takes away is seen in simulated time or on the console.

use std::fs;
use std::path::Path;

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

#[test]
fn each_habit_of_the_boot_loader_goes_and_takes_its_time_with_it() {
    let dir = scratch("recipes-loader");
    let step = |target: &Path, recipe: &str| with(&dir, recipe, target, &[recipe]);
    // The two seconds of the delay are the kiosk's test.
    let arm32 = step(&root().join("targets/arm32"), "uboot-bootdelay");
    let base = Booted::of(&dir, &arm32, "2");
    assert_eq!(base.json["identical"], true);
    for said in ["Verifying Checksum", "Loading Kernel Image", "APP_READY"] {
        assert!(base.says(said), "{}", base.console);
    }

    // Its kernel is packed with xz, and would unpack itself.
    let unpacked = step(&arm32, "kernel-compression=gzip");
    let unpacked_boot = Booted::of(&dir, &unpacked, "1");
    assert!(unpacked_boot.says("Uncompressing Kernel Image"));
    assert!(unpacked_boot.ready() < base.ready() - 3_000_000_000);

    let flat = step(&arm32, "uboot-flat-bootcmd");
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

    let none = step(&unchecked, "bootloader-none");
    let none_boot = Booted::of(&dir, &none, "1");
    assert!(!none_boot.says("U-Boot") && none_boot.says("APP_READY"));
    assert!(none_boot.ready() < unchecked_boot.ready());
    // Each step brings its own patch set; this is the sixth.
    let about = fs::read_to_string(none.join("patches-6/README.md")).unwrap();
    assert!(about.contains("A boot without a boot loader"), "{about}");
}
