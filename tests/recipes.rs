//! Recipes on the real kiosk: what they save is measured, never assumed.

use std::process::Command;

use crate::support::{bootlap, json, kiosk, scratch, succeeded};
use serde_json::Value;

#[test]
fn the_boot_delay_costs_two_seconds() {
    let dir = scratch("try");
    let mut command = bootlap(&dir);
    command.arg("try").arg(kiosk());
    let tried = json(command.args(["uboot-bootdelay", "-k", "5", "--json"]));
    let trial = &tried["trials"][0];
    assert_eq!(trial["recipe"], "uboot-bootdelay");
    assert_eq!(trial["verdict"], "faster");
    let saved = trial["saved_ns"].as_i64().unwrap();
    assert!((1_980_000_000..=2_020_000_000).contains(&saved), "{saved}");
    let bound = |i: usize| trial["interval_ns"][i].as_i64().unwrap();
    assert!(bound(0) <= saved && saved <= bound(1), "{trial}");
    let before = trial["before_ns"].as_i64().unwrap();
    let after = trial["after_ns"].as_i64().unwrap();
    assert!(before - after > 1_980_000_000, "{trial}");
    assert!(trial["moved"].is_array());
}

#[test]
fn everything_advised_makes_the_kiosk_four_times_faster() {
    let dir = scratch("tuned");
    let mut command = bootlap(&dir);
    let advice = json(command.arg("advise").arg(kiosk()).arg("--json"));
    let recipes: Vec<&str> = advice["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|f| f["recipe"].as_str())
        // Instead of all recipes for the boot loader.
        .filter(|recipe| *recipe != "bootloader-none")
        .collect();
    for expected in ["uboot-bootdelay", "cmdline-no-crypto-tests", "fit-no-hash"] {
        assert!(recipes.contains(&expected), "{expected} in {recipes:?}");
    }
    let tuned = dir.join("kiosk-tuned");
    let mut command = bootlap(&dir);
    succeeded(
        command
            .arg("apply")
            .arg(kiosk())
            .args(&recipes)
            .arg("-o")
            .arg(&tuned),
    );

    let boot = |target| {
        let mut command = bootlap(&dir);
        json(command.args(["boot", "--json"]).arg(target))
    };
    let (stock, tuned_boot) = (boot(kiosk()), boot(tuned.clone()));
    let ready = |boot: &Value| boot["ready_ns"].as_f64().unwrap();
    let factor = ready(&stock) / ready(&tuned_boot);
    assert!(factor >= 4.0, "only {factor:.2} times faster");

    // What is done already is refused, and nothing is written over.
    let said = refused(
        &dir,
        &["apply", &text(&tuned), "uboot-bootdelay", "-o", "again"],
    );
    assert!(said.contains("bootdelay is 0 already"), "{said}");
    let said = refused(
        &dir,
        &[
            "apply",
            &text(&kiosk()),
            "cmdline-quiet",
            "-o",
            &text(&tuned),
        ],
    );
    assert!(said.contains("exists already"), "{said}");
}

fn text(path: &std::path::Path) -> String {
    path.display().to_string()
}

fn refused(dir: &std::path::Path, args: &[&str]) -> String {
    let command: &mut Command = &mut bootlap(dir);
    crate::support::failure(command.args(args), 2)
}
