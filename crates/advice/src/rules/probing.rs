//! Devices that wait for others, and silences that nobody explains.

use super::checks;
use super::devices::{says_missing, says_timeout};
use super::root_wait::address_wait;
use super::seen::{init_ns, is_kernels, ms, steps, within};
use crate::dump::is_dump;
use crate::lines::contains;
use crate::{Boot, Finding};

checks! {
    "cmdline-deferred-probe-timeout" => deferred,
    "cmdline-fw-devlink-permissive" => supplier,
    "kernel-silence" => quiet_times,
}

fn deferred(boot: &Boot<'_>) -> Option<Finding> {
    let texts = [
        "deferred probe pending",
        "deferred probe timeout, ignoring dependency",
    ];
    let lines: Vec<_> = boot.lines().all(texts).collect();
    let first = lines.first()?;
    let devices: Vec<&str> = lines
        .iter()
        .take(5)
        .filter_map(|l| l.text.split(": ").next())
        .collect();
    Some(
        Finding::new()
            .why(format!("{} of them: {}", lines.len(), devices.join(", ")))
            .saves_unknown("what waits for these devices waits up to `deferred_probe_timeout`")
            .recipe(boot.recipe("cmdline-deferred-probe-timeout=1"))
            .at(Some([first.start_ns, first.start_ns]))
            .seen(lines.iter().take(5).map(|l| l.evidence)),
    )
}

fn supplier(boot: &Boot<'_>) -> Option<Finding> {
    if boot.parameter("fw_devlink").is_some() {
        return None;
    }
    let texts = ["supplier ", "sync_state() pending due to"];
    let marks = [
        "not ready",
        "wait for supplier",
        "sync_state() pending due to",
    ];
    let line = boot.line((texts, |t: &str| contains(t, &marks)))?;
    Some(
        Finding::new()
            .why(format!("`{}`", line.text))
            .saves_unknown("boot with `fw_devlink=permissive` and compare")
            .recipe(boot.recipe("cmdline-fw-devlink-permissive"))
            .at(Some(line.at()))
            .seen([line.evidence]),
    )
}

/// A silence that deserves a finding without any further sign.
const LONG_NS: i64 = 200_000_000;

/// Lines at which silences have rules of their own: before or after them.
const EXPLAINED: [&str; 24] = [
    "Calibrating delay loop",
    "Trying to unpack rootfs",
    "Unpacking initramfs",
    "Freeing initrd memory",
    "Freeing unused kernel",
    "Checked W+X",
    "ftrace: ",
    "raid6: ",
    "xor: ",
    "md: ",
    "Waiting for root device",
    "sec before mounting root",
    "Mounted root",
    "IP-Config",
    "DHCP",
    "for network",
    "i8042",
    "Testing ",
    "selftest",
    "mem auto-init",
    "Memory: ",
    "setting system clock",
    "smp: Br",
    "Falling back to sys",
];

fn quiet_times(boot: &Boot<'_>) -> Vec<Finding> {
    let begun = boot.line("Linux version ").map(|l| l.start_ns);
    let (Some(begun), Some(_)) = (begun, init_ns(boot)) else {
        return Vec::new();
    };
    // With `quiet` silence is what was asked for.
    let is_quiet = boot.parameter("quiet").is_some() || boot.parameter("loglevel").is_some();
    if boot.has_initcalls() || is_quiet {
        return Vec::new();
    }
    let is_explained = |text: &str| EXPLAINED.iter().any(|e| text.contains(e));
    let tells = |text: &str| says_timeout(text) || says_missing(text) || text.starts_with("mmc");
    let address = address_wait(boot).unwrap_or_default();
    let long = steps(boot).filter(|(before, after)| {
        before.start_ns >= begun
            && !within(before, address)
            && before.ns() >= LONG_NS
            && !is_explained(before.text)
            && !is_explained(after.text)
            && !is_dump(before.text)
            && !is_dump(after.text)
            && !tells(before.text)
            && !tells(after.text)
            && is_kernels(boot, before)
    });
    let mut long: Vec<_> = long.collect();
    long.sort_by_key(|(before, _)| std::cmp::Reverse(before.ns()));
    long.truncate(3);
    let findings = long.iter().map(|(before, after)| {
        let said = |text: &str| match text {
            "" => "an empty line".to_owned(),
            text => format!("`{text}`"),
        };
        Finding::new()
            .why(format!(
                "{} between {} and {}",
                ms(before.ns()),
                said(before.text),
                said(after.text)
            ))
            .saves(
                before.ns(),
                "at most: the whole silence, of which nobody knows yet what it is",
            )
            .at(Some(before.at()))
            .seen([before.evidence, after.evidence])
    });
    findings.collect()
}
