//! `reduce` on the kiosk: the files that it needs, and the initcalls that it can do without.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{bootlap, failure, json, kiosk, scratch, succeeded};

/// The kiosk with the least before its first program.
fn short_kiosk(dir: &Path) {
    let mut command = bootlap(dir);
    command.arg("apply").arg(kiosk());
    let recipes = ["bootloader-none", "cmdline-no-crypto-tests"];
    succeeded(command.args(recipes).args(["-o", "short"]));
}

fn reduce(dir: &Path, recipe: &str, out: &str) -> Command {
    let mut command = bootlap(dir);
    command.args(["reduce", "short", recipe, "-o", out, "-k", "2", "--json"]);
    command.args(["--store", "kept", "--recheck", "0"]);
    command
}

#[test]
fn what_is_left_of_a_list_is_needed_and_the_rest_is_not() {
    let dir = scratch("reduce");
    short_kiosk(&dir);
    let needed = [
        "/etc/init.d/S40network",
        "/etc/init.d/S90kiosk",
        "/etc/init.d/rcS",
        "/srv/www/index.html",
        "/usr/bin/kiosk",
    ];
    let others = ["/etc/init.d/S20logging", "/nowhere"];
    let all = ["# by hand"].iter().chain(&others).chain(&needed);
    let all: String = all.map(|line| format!("{line}\n")).collect();
    fs::write(dir.join("all.txt"), all).unwrap();

    let recipe = "initramfs-touched=all.txt";
    let found = json(&mut reduce(&dir, recipe, "needed.txt"));
    let list = fs::read_to_string(dir.join("needed.txt")).unwrap();
    let list: Vec<&str> = list.lines().collect();
    assert_eq!(list, needed);
    assert_eq!(found["list"], serde_json::json!(needed));
    assert_eq!(found["left_out"], serde_json::json!(others));
    assert_eq!(found["says"], "stays");
    assert!(found["trial"]["saved_ns"].as_i64().unwrap() > 0, "{found}");

    // Boots that hang are given up at the same instruction: made again, each is the same.
    let mut fresh = reduce(&dir, recipe, "again.txt");
    let again = json(fresh.args(["--fresh", "--runs", "fresh"]));
    assert_eq!(again["list"], found["list"]);
    let mut kept = bootlap(&dir);
    let kept = json(kept.args(["store", "list", "--json", "--store", "kept"]));
    let kept = kept["boots"].as_array().unwrap();
    let twice = |boot: &&serde_json::Value| boot["made"].as_array().unwrap().len() == 2;
    let hung = |boot: &&serde_json::Value| boot["ready_ns"].is_null();
    assert!(
        kept.iter().filter(hung).filter(twice).count() > 2,
        "{kept:?}"
    );

    let said = failure(&mut reduce(&dir, recipe, "all.txt"), 2);
    assert!(said.contains("nothing is written over"), "{said}");
    let said = failure(&mut reduce(&dir, "cmdline-quiet", "none"), 2);
    assert!(said.contains("takes no list; those that do are"), "{said}");
}

#[test]
fn of_changes_the_most_are_made_that_the_target_takes() {
    let dir = scratch("reduce-changes");
    short_kiosk(&dir);
    let taken = ["hugetlb_init", "swap_init_sysfs", "kswapd_init"];
    // Without the files of its initramfs a kernel has no first program.
    let recipe = format!(
        "cmdline-initcall-blacklist={},populate_rootfs",
        taken.join(",")
    );
    let found = json(&mut reduce(&dir, &recipe, "without.txt"));
    assert_eq!(found["list"], serde_json::json!(taken));
    assert_eq!(found["left_out"], serde_json::json!(["populate_rootfs"]));
    assert_eq!(found["says"], "changes");
    let mut text = bootlap(&dir);
    text.args(["reduce", "short", &recipe, "-o", "text.txt", "-k", "2"]);
    let out = succeeded(text.args(["--store", "kept", "--recheck", "0"]));
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("takes 3 of 4"), "{text}");
    let lines = fs::read_to_string(dir.join("text.txt")).unwrap();
    assert_eq!(lines.lines().collect::<Vec<_>>(), taken);
}
