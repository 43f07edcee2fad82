//! What goes wrong is said once, clearly, with the right exit code, and leaves
//! nothing behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::support::{bootlap, changed_kiosk, failure, json, kiosk, processes_with, scratch};

#[test]
fn a_target_that_is_not_ready_in_time_ends_at_its_timeout() {
    let dir = scratch("timeout");
    let mut command = bootlap(&dir);
    let args = ["boot", "-n", "1", "--fresh", "--timeout", "1"];
    let said = failure(command.args(args).arg(kiosk()), 6);
    assert!(said.contains("never got ready"), "{said}");
    assert!(said.contains("--timeout"), "what to do: {said}");
}

#[test]
fn a_guest_that_waits_for_somebody_ends_by_its_own_clock() {
    let dir = scratch("never-ready");
    let target = changed_kiosk(&dir, "APP_READY\"", "NEVER_PRINTED\"");
    let mut command = bootlap(&dir);
    let said = failure(command.args(["boot", "-n", "1"]).arg(target), 6);
    assert!(
        said.contains("not ready after an hour of its own time"),
        "{said}"
    );
    assert!(said.contains("\n  | "), "the last console lines: {said}");
    assert!(said.contains("NEVER_PRINTED"), "what to do: {said}");
}

#[test]
fn a_boot_loader_that_gives_up_is_not_waited_for() {
    let dir = scratch("no-image");
    let target = changed_kiosk(&dir, "#conf-1 ${fit", "#conf-9 ${fit");
    let mut command = bootlap(&dir);
    let said = failure(
        command
            .args(["boot", "-n", "1", "--timeout", "100"])
            .arg(target),
        6,
    );
    assert!(said.contains("U-Boot stopped at its prompt"), "{said}");
    assert!(said.contains("| ERROR: can't get kernel image!"), "{said}");
}

#[test]
fn a_missing_qemu_says_what_to_install() {
    let dir = scratch("no-qemu");
    let target = changed_kiosk(&dir, "qemu-system-aarch64", "no-such/qemu-system-aarch64");
    let said = failure(bootlap(&dir).arg("boot").arg(target), 5);
    assert!(said.contains("apt-get install qemu-system-arm"), "{said}");
    assert_eq!(said.matches("bootlap:").count(), 1, "one error: {said}");
}

#[test]
fn a_broken_description_is_shown_with_file_and_line() {
    let dir = scratch("broken-target");
    for (from, to, line, mend) in [
        ("timeout-s = 600", "timout-s = 120", 17, "expected one of"),
        (
            "memory-mb = 512",
            "memory-mb = \"much\"",
            26,
            "expected u32",
        ),
        ("APP_READY\"", "APP_READY(\"", 15, "backslash"),
        ("format = 1", "format = 9", 9, "reads format 1"),
        ("hash = \"crc32\"", "hash = \"crc33\"", 46, "sha256"),
    ] {
        let target = changed_kiosk(&dir, from, to);
        let said = failure(bootlap(&dir).arg("boot").arg(&target), 2);
        let place = format!("target.toml:{line}: ");
        assert!(said.contains(&place), "{to}: wants {place} in: {said}");
        assert!(said.contains(mend), "{to}: wants {mend} in: {said}");
    }
}

#[test]
fn what_does_not_exist_is_named() {
    let dir = scratch("missing");
    let said = failure(bootlap(&dir).args(["boot", "nowhere"]), 2);
    assert!(
        said.contains("nowhere") && said.contains("target.toml"),
        "{said}"
    );

    let from = "package:linux-image-arm64/boot/vmlinuz-*";
    let target = changed_kiosk(&dir, from, "Image");
    let said = failure(bootlap(&dir).arg("boot").arg(target), 2);
    assert!(said.contains("kernel.image names Image"), "{said}");

    let mut command = bootlap(&dir);
    let said = failure(command.arg("try").arg(kiosk()).arg("uboot-bootdeley"), 2);
    assert!(said.contains("did you mean uboot-bootdelay?"), "{said}");

    let mut command = bootlap(&dir);
    let said = failure(
        command
            .arg("try")
            .arg(kiosk())
            .arg("kernel-compression=zstd"),
        2,
    );
    assert!(said.contains("CONFIG_ZSTD"), "{said}");
}

#[test]
fn a_folder_without_files_is_said() {
    let dir = scratch("no-files");
    fs::create_dir_all(dir.join("logs/old")).unwrap();
    for command in ["show", "advise", "inspect"] {
        let said = failure(bootlap(&dir).args([command, "logs"]), 4);
        assert!(
            said.contains("there is no file in logs"),
            "{command}: {said}"
        );
    }
}

#[test]
fn a_console_without_times_says_what_needs_none() {
    let dir = scratch("no-times");
    let console = |seconds: u32| {
        format!(
            "U-Boot 2023.01 (Jan 01 2023)\nHit any key to stop autoboot:  {seconds}\n\
             Starting kernel ...\nLinux version 6.1.0\n"
        )
    };
    fs::write(dir.join("three.log"), console(3)).unwrap();
    fs::write(dir.join("none.log"), console(0)).unwrap();
    let advice = json(bootlap(&dir).args(["advise", "--json", "three.log"]));
    let finding = &advice["findings"][0];
    assert_eq!(finding["rule"], "uboot-bootdelay");
    assert_eq!(finding["predicted_saving_ns"], 3_000_000_000_u64);
    // The note is on the other stream, and an error where there is nothing else to say.
    let said = failure(bootlap(&dir).args(["advise", "none.log"]), 4);
    assert!(said.contains("nothing in it has a time"), "{said}");
    let said = failure(bootlap(&dir).args(["show", "three.log"]), 4);
    assert!(said.contains("nothing in it has a time"), "{said}");
}

#[test]
fn a_full_disk_is_said_and_leaves_no_machine() {
    let dir = scratch("full-disk");
    let said = failure(
        bootlap(&dir)
            .args(["boot", "--runs", "/dev/full/x"])
            .arg(kiosk()),
        1,
    );
    assert!(said.contains("/dev/full/x"), "{said}");
}

/// The manifests of all runs below `dir`.
fn manifests(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.ends_with("manifest.json") {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn a_killed_bootlap_leaves_no_machine_and_an_unfinished_run() {
    let dir = scratch("killed");
    // Something to recognise this test's own QEMU by.
    let name = format!("killed-{}", std::process::id());
    let target = changed_kiosk(
        &dir,
        "memory-mb = 512",
        &format!("memory-mb = 512\nargs = [\"-name\", \"{name}\"]"),
    );
    let mut child = bootlap(&dir)
        .args(["boot", "-n", "1"])
        .arg(target)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let machine = format!("-name {name}");
    wait_for("QEMU starts", || !processes_with(&machine).is_empty());
    let console = |m: &PathBuf| fs::metadata(m.with_file_name("console")).map_or(0, |m| m.len());
    wait_for("the console speaks", || {
        manifests(&dir).iter().any(|m| console(m) > 0)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("QEMU is gone", || processes_with(&machine).is_empty());

    let manifests = manifests(&dir);
    assert_eq!(manifests.len(), 1);
    let manifest = fs::read_to_string(&manifests[0]).unwrap();
    assert!(manifest.contains("\"state\": \"unfinished\""), "{manifest}");
    let names = fs::read_dir(manifests[0].parent().unwrap())
        .unwrap()
        .flatten();
    let mut names: Vec<_> = names.map(|e| e.file_name()).collect();
    names.sort();
    assert_eq!(names, ["console", "console.stamps", "manifest.json"]);
}

fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if happened() {
            return;
        }
        sleep(Duration::from_millis(20));
    }
    panic!("never: {what}");
}

#[test]
fn a_qemu_that_hangs_has_not_stopped() {
    let dir = scratch("hanging-qemu");
    let program = dir.join("qemu-that-hangs");
    fs::write(&program, "#!/bin/sh\nexec sleep 300\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let target = changed_kiosk(&dir, "qemu-system-aarch64", program.to_str().unwrap());
    let said = failure(bootlap(&dir).arg("boot").arg(target), 5);
    assert!(said.contains("runs, but does not answer"), "{said}");
    assert!(!said.contains("stopped"), "{said}");
}
