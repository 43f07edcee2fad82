//! Recipes for the boot loader, one on top of the other on the 32-bit target:
//! what each takes away is seen in simulated time or on the console.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{bootlap, json, root, scratch};

/// A boot, and what its console said.
struct Booted {
    json: Value,
    console: String,
}

impl Booted {
    fn of(dir: &Path, target: &Path, boots: &str) -> Self {
        let mut command = bootlap(dir);
        command.args(["boot", "--json", "-n", boots]).arg(target);
        let json = json(&mut command);
        let run = dir.join(json["run"].as_str().unwrap());
        let console = fs::read(run.join("console")).unwrap();
        Self {
            json,
            console: String::from_utf8_lossy(&console).into_owned(),
        }
    }

    fn ready(&self) -> i64 {
        self.json["ready_ns"].as_i64().unwrap()
    }

    /// Simulated time that U-Boot takes.
    fn loader(&self) -> i64 {
        let phases = self.json["phases"].as_array().unwrap();
        let of = |p: &&Value| p["name"] == "bootloader";
        let phase = phases.iter().find(of).unwrap();
        let at = |key: &str| phase[key].as_i64().unwrap();
        at("end_ns") - at("start_ns")
    }

    fn says(&self, text: &str) -> bool {
        self.console.contains(text)
    }
}

/// A copy of `target` with one recipe more.
fn with(dir: &Path, target: &Path, recipe: &str) -> PathBuf {
    let out = dir.join(recipe);
    let mut command = bootlap(dir);
    command.arg("apply").arg(target).arg(recipe);
    json(command.arg("--json").arg("-o").arg(&out));
    // What is done is done.
    let mut command = bootlap(dir);
    command.arg("apply").arg(&out).args([recipe, "-o", "again"]);
    let said = support::failure(&mut command, 2);
    assert!(said.contains("already"), "{recipe}: {said}");
    out
}

#[test]
fn each_habit_of_the_boot_loader_goes_and_takes_its_time_with_it() {
    let dir = scratch("recipes-loader");
    // The two seconds of the delay are the kiosk's test.
    let arm32 = with(&dir, &root().join("targets/arm32"), "uboot-bootdelay");
    let base = Booted::of(&dir, &arm32, "2");
    assert_eq!(base.json["identical"], true);
    for said in ["Verifying Checksum", "Loading Kernel Image", "APP_READY"] {
        assert!(base.says(said), "{}", base.console);
    }

    let flat = with(&dir, &arm32, "uboot-flat-bootcmd");
    let flat_boot = Booted::of(&dir, &flat, "1");
    assert!(flat_boot.loader() < base.loader());

    let exact = with(&dir, &flat, "uboot-exact-size");
    let exact_boot = Booted::of(&dir, &exact, "1");
    assert!(exact_boot.loader() < flat_boot.loader());

    let in_place = with(&dir, &exact, "uboot-load-in-place");
    let in_place_boot = Booted::of(&dir, &in_place, "1");
    assert!(in_place_boot.loader() < exact_boot.loader());
    assert!(in_place_boot.says("XIP Kernel Image"));
    assert!(!in_place_boot.says("Loading Kernel Image"));

    let unchecked = with(&dir, &in_place, "uboot-verify-off");
    let unchecked_boot = Booted::of(&dir, &unchecked, "1");
    assert!(unchecked_boot.loader() < in_place_boot.loader());
    assert!(!unchecked_boot.says("Verifying Checksum"));

    let none = with(&dir, &unchecked, "bootloader-none");
    let none_boot = Booted::of(&dir, &none, "1");
    assert!(!none_boot.says("U-Boot") && none_boot.says("APP_READY"));
    assert!(none_boot.ready() < unchecked_boot.ready());
    // Each step brings its own patch set; this is the sixth.
    let about = fs::read_to_string(none.join("patches-6/README.md")).unwrap();
    assert!(about.contains("A boot without a boot loader"), "{about}");
}
