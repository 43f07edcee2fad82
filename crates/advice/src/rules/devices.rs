//! Waits for hardware, seen as silences in the kernel's log.

use bootlap_model::TrackKind;

use super::checks;
use super::root_wait::address_wait;
use super::seen::{from_to, ms, of_initcalls, steps, within};
use crate::boot::Found;
use crate::lines::{Begin, Line, number_after};
use crate::{Boot, Finding};

checks! {
    "device-timeout" => timeout,
    "device-missing" => missing,
    "config-firmware-fallback" => firmware,
    "cmdline-usb-storage-delay" => usb_storage,
    "device-mmc-error" => mmc_error,
    "device-tpm" => tpm,
    "device-ethernet-link" => link,
}

/// A silence that is worth a look.
const WAIT_NS: i64 = 100_000_000;

/// A finding about the silence between a line and the one after it.
fn silence(before: &Line<'_>, shown: &Line<'_>) -> Finding {
    Finding::new()
        .why(format!(
            "{} of silence at `{}`",
            ms(before.ns()),
            shown.text
        ))
        .saves(
            before.ns(),
            "at most: the silence at that line, which other work may fill",
        )
        .at(Some(before.at()))
        .seen([shown.evidence])
}

/// What other rules of this and other families say more of.
const OTHERS: [&str; 12] = [
    "random:",
    "i8042:",
    "mmc",
    "ata",
    "tpm",
    "clocksource:",
    "IP-Config",
    "DHCP",
    "deferred probe",
    "_TIMER",
    "watchdog",
    "soft lockup",
];

fn timeout(boot: &Boot<'_>) -> Vec<Finding> {
    let says = |text: &str| {
        let lower = text.to_ascii_lowercase();
        // `Watchdog timeout: 60 s` and the like set one, and do not meet it.
        let sets = [
            "timeout=",
            "timeout:",
            "timeout is",
            "timeout set",
            "timeout value",
        ];
        says_timeout(text) && !sets.iter().any(|s| lower.contains(s))
    };
    let is_others = |text: &str| OTHERS.iter().any(|other| text.contains(other));
    // `..... timed out!`: no device, but a server that gives no address.
    let address = address_wait(boot).unwrap_or_default();
    let found = steps(boot).filter(|(before, after)| {
        before.ns() >= WAIT_NS
            && says(after.text)
            && !is_others(after.text)
            && !within(before, address)
    });
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|(before, _)| std::cmp::Reverse(before.ns()));
    found.truncate(5);
    let findings = found.iter().map(|(before, after)| silence(before, after));
    findings.collect()
}

/// From here on the silence behind a device that is not there is worth a look, ns.
const MISSING_NS: i64 = 500_000_000;

/// Whether a line complains that something is not there.
pub(super) fn says_missing(text: &str) -> bool {
    const COMPLAINTS: [&str; 6] = [
        "not found",
        "no phy",
        "not detected",
        "no device found",
        "not responding",
        "no response",
    ];
    let lower = text.to_ascii_lowercase();
    COMPLAINTS.iter().any(|c| lower.contains(c))
}

/// Whether a line tells that time ran out.
pub(super) fn says_timeout(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.contains("timed out") || lower.contains("timeout")
}

fn missing(boot: &Boot<'_>) -> Option<Finding> {
    let is_others = |text: &str| OTHERS.iter().any(|other| text.contains(other));
    let waits = steps(boot).filter(|(before, after)| {
        before.ns() >= MISSING_NS
            && says_missing(before.text)
            && !is_others(before.text)
            && !says_timeout(after.text)
    });
    let (line, _) = waits.max_by_key(|(before, _)| before.ns())?;
    Some(silence(&line, &line))
}

fn firmware(boot: &Boot<'_>) -> Option<Finding> {
    let waits = steps(boot).filter(|(before, _)| {
        let text = before.text;
        text.contains("Falling back to sys") || text.contains("Falling back to syfs")
    });
    let (line, _) = waits.max_by_key(|(before, _)| before.ns())?;
    Some(silence(&line, &line))
}

fn usb_storage(boot: &Boot<'_>) -> Option<Finding> {
    let host = boot.line((": usb-storage ", |t: &str| t.starts_with("scsi host")))?;
    let number = number_after(host.text, "scsi host")?;
    let disk = format!("scsi {number}:0:0:0: ");
    let mut disks = boot.lines().all(Begin(disk.as_str()));
    let found = disks.find(|l| l.start_ns > host.start_ns)?;
    let ns = found.start_ns.saturating_sub(host.start_ns);
    // With no delay a scan takes some ms. And a stick that is not the root delays nobody.
    let waits = boot.spans(TrackKind::Kernel, "wait for root device");
    let shared = |wait: &Found<'_>| {
        let until = wait.end_ns.min(found.start_ns);
        until.saturating_sub(wait.start_ns.max(host.start_ns))
    };
    let waited_ns = waits.iter().map(shared).max().unwrap_or(0);
    if ns < WAIT_NS || waited_ns < WAIT_NS {
        return None;
    }
    Some(
        Finding::new()
            .why(from_to(ns, host.text, found.text))
            .saves(
                waited_ns,
                "at most: what of it the kernel waits for its root",
            )
            .at(Some([host.start_ns, found.start_ns]))
            .seen([host.evidence, found.evidence]),
    )
}

/// From here on a slot's errors are worth a line.
const MMC_NS: i64 = 20_000_000;

fn mmc_error(boot: &Boot<'_>) -> Option<Finding> {
    let says = |text: &str| {
        let complaints = [
            "whilst initialising",
            "Timeout waiting for",
            "stuck being busy",
            "HW reset",
        ];
        text.starts_with("mmc") && complaints.iter().any(|c| text.contains(c))
    };
    let waits = steps(boot).filter(|(before, after)| says(after.text) && before.ns() >= MMC_NS);
    let (before, after) = waits.max_by_key(|(before, _)| before.ns())?;
    Some(silence(&before, &after))
}

fn tpm(boot: &Boot<'_>) -> Option<Finding> {
    let calls = [
        "init_tis",
        "tpm_tis_spi_driver_init",
        "tpm_tis_i2c_driver_init",
        "crb_acpi_driver_init",
        "tpm_cr50_i2c_driver_init",
    ];
    let calls = super::seen::built_in(boot, &calls);
    if let Some(finding) = of_initcalls(boot, &calls) {
        return Some(finding);
    }
    let begins = ["tpm_tis", "tpm_crb", "tpm tpm0:"];
    let is_tpms = |l: &Line<'_>| begins.iter().any(|b| l.text.starts_with(b));
    // Behind the last of its lines, and before the first, is others' time, too.
    let waits = steps(boot)
        .filter(|(before, after)| is_tpms(before) && is_tpms(after) && before.ns() >= MMC_NS);
    let (before, _) = waits.max_by_key(|(before, _)| before.ns())?;
    Some(silence(&before, &before))
}

fn link(boot: &Boot<'_>) -> Option<Finding> {
    let opened = boot.line(": configuring for phy/")?;
    let (device, _) = opened.text.split_once(": configuring for phy/")?;
    let up = format!("{device}: Link is Up");
    let mut up = boot.lines().all(Begin(up.as_str()));
    let up = up.find(|l| l.start_ns > opened.start_ns)?;
    let ns = up.start_ns.saturating_sub(opened.start_ns);
    if ns < WAIT_NS * 5 {
        return None;
    }
    Some(
        Finding::new()
            .why(from_to(ns, opened.text, up.text))
            .saves_unknown("nothing says whether the boot waits for it; if so, all of it at most")
            .at(Some([opened.start_ns, up.start_ns]))
            .seen([opened.evidence, up.evidence]),
    )
}
