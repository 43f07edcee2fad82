//! Real boots of the kiosk: bit-identical, undisturbed by probe and host.

use std::process::{Child, Command, Stdio};

use crate::support::{bootlap, changed_kiosk, json, kiosk, other_qemu, scratch};
use serde_json::Value;

/// The values that must not differ between equal boots.
fn fingerprint(boot: &Value) -> [&Value; 3] {
    [
        &boot["console_sha256"],
        &boot["instructions"],
        &boot["ready_ns"],
    ]
}

/// Something else to do for one core, until dropped.
struct Load(Child);

impl Load {
    fn start() -> Self {
        let mut yes = Command::new("yes");
        Self(yes.stdout(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn equal_boots_are_bit_identical_also_on_a_busy_host() {
    let dir = scratch("boot-identical");
    let boot = || {
        let mut command = bootlap(&dir);
        json(command.args(["boot", "--json"]).arg(kiosk()))
    };
    let quiet = boot();
    let loads = [Load::start(), Load::start()];
    let busy = boot();
    drop(loads);
    for boot in [&quiet, &busy] {
        assert_eq!(boot["identical"], true);
        assert_eq!(boot["mode"], "sim");
    }
    assert_eq!(fingerprint(&quiet), fingerprint(&busy));
    assert_ne!(quiet["run"], busy["run"]);

    let phases = quiet["phases"].as_array().unwrap();
    let names: Vec<&str> = phases.iter().filter_map(|p| p["name"].as_str()).collect();
    assert_eq!(names, ["bootloader", "kernel", "userspace", "application"]);
    let sum: u64 = phases
        .iter()
        .filter_map(|p| p["instructions"].as_u64())
        .sum();
    assert_eq!(
        quiet["instructions"], sum,
        "phases share out all instructions"
    );
    for pair in phases.windows(2) {
        assert_eq!(pair[0]["end_ns"], pair[1]["start_ns"]);
    }

    // Played again, a run says the same.
    let mut replay = bootlap(&dir);
    let run = dir.join(quiet["run"].as_str().unwrap());
    let again = json(replay.args(["boot", "--json"]).arg(run));
    assert_eq!(fingerprint(&quiet), fingerprint(&again));
    assert_eq!(quiet["phases"], again["phases"]);
}

#[test]
fn the_probe_changes_nothing_that_the_guest_prints() {
    let dir = scratch("boot-probe");
    let boot = |more: &[&str]| {
        let mut command = bootlap(&dir);
        json(
            command
                .args(["boot", "--json", "-n", "1"])
                .args(more)
                .arg(kiosk()),
        )
    };
    let with = boot(&[]);
    let without = boot(&["--no-probe"]);
    assert_eq!(with["console_sha256"], without["console_sha256"]);
    assert_eq!(without["instructions"], Value::Null, "the host counts none");
}

#[test]
fn plain_time_boots_too() {
    let dir = scratch("boot-plain");
    let mut command = bootlap(&dir);
    let boot = json(command.args(["boot", "--json", "--plain"]).arg(kiosk()));
    assert_eq!(boot["mode"], "plain");
    assert_eq!(boot["time"], "measured");
    assert_eq!(boot["instructions"], Value::Null);
    assert!(boot["ready_ns"].as_i64().unwrap() > 0);
}

#[test]
fn the_other_qemu_is_served_by_the_same_probe() {
    let dir = scratch("boot-other-qemu");
    let Some(program) = other_qemu() else { return };
    let target = changed_kiosk(&dir, "qemu-system-aarch64", &program);
    let mut command = bootlap(&dir);
    let boot = json(command.args(["boot", "--json"]).arg(target));
    assert_eq!(boot["identical"], true);
    assert!(boot["instructions"].as_u64().unwrap() > 1_000_000_000);
}
