//! SATA and SCSI: links, empty ports, disks that spin up.

use super::seen::{init_ns, is_kernels, is_off, ms, value};
use super::{Rule, rule};
use crate::lines::{Line, number_after};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[&STAGGERED, &EMPTY_PORT, &SLOW_LINK, &SCSI_SCAN, &SPIN_UP];

/// `ata3: SATA link up 6.0 Gbps (SStatus 133 SControl 300)`: the port's number.
fn port<'a>(line: &Line<'a>) -> Option<&'a str> {
    let number = number_after(line.text, "ata")?;
    let (before, _) = line.text.split_once("ata")?;
    before.is_empty().then_some(number)
}

/// The lines that say how it went with a port's link.
fn links<'a>(boot: &Boot<'a>) -> Vec<Line<'a>> {
    let lines = boot.lines().iter().copied();
    let lines = lines.filter(|l| port(l).is_some() && l.text.contains(": SATA link "));
    lines.collect()
}

/// Ports of one controller in parallel end this close together.
const APART_NS: i64 = 100_000_000;

rule! {
    /// Disks are spun up one after the other.
    ///
    /// **Why.** A controller that says it supports staggered spin-up is obeyed: port after
    /// port, although most have one disk, or disks without motors.
    ///
    /// **Evidence.** `ahci ... flags: ... stag ...` and links that come up 100 ms and more
    /// apart.
    ///
    /// **Fix.** `libahci.ignore_sss=1`.
    ///
    /// **Risk.** All disks draw their starting current at once: mind the power supply.
    ///
    /// **Figures.** None is published; systemd's documentation recommends it.
    STAGGERED = "cmdline-no-spinup-stagger", Kernel, staggered
}

fn staggered(boot: &Boot<'_>) -> Option<Finding> {
    let is_flag = |l: &&Line<'_>| l.text.contains("flags: ") && l.text.contains(" stag ");
    let flags = boot.lines().iter().find(is_flag)?;
    if !flags.text.contains("ahci") || boot.parameter("libahci.ignore_sss").is_some() {
        return None;
    }
    let links = links(boot);
    let (first, last) = (links.first()?, links.last()?);
    let pairs = links.iter().zip(links.iter().skip(1));
    let apart = pairs.filter(|(a, b)| b.start_ns.saturating_sub(a.start_ns) >= APART_NS);
    if apart.count() == 0 {
        return None;
    }
    let ns = last.start_ns.saturating_sub(first.start_ns);
    let finding = Finding::new("disks are spun up one after the other")
        .why(format!(
            "{} links, {} from the first to the last",
            links.len(),
            ms(ns)
        ))
        .saves(
            ns,
            "at most: from the first link to the last, if they come up together",
        )
        .fix("add `libahci.ignore_sss=1` to the command line, if the power supply can bear it")
        .recipe(boot.recipe("cmdline-no-spinup-stagger"))
        .at(Some([first.start_ns, last.start_ns]))
        .seen([flags.evidence, first.evidence, last.evidence]);
    Some(finding)
}

rule! {
    /// The boot waits for SATA ports without a disk.
    ///
    /// **Why.** A port without a disk is asked for some 100 ms before it is given up; what
    /// waits for all devices (`md`, an initramfs, `udevadm settle`) waits for that.
    ///
    /// **Evidence.** `ataN: SATA link down` that comes after the last link that is up. How
    /// much later is the most that can be saved.
    ///
    /// **Fix.** Switch the port off in the firmware or the device tree; or
    /// `libata.force=N:disable`.
    ///
    /// **Risk.** A disk that is put there later is not seen.
    ///
    /// **Figures.** 1.1 s for an IDE port without a drive (PPC 405GP: 1.3 s to 0.23 s).
    EMPTY_PORT = "device-ata-empty-port", Kernel, empty_port
}

fn empty_port(boot: &Boot<'_>) -> Option<Finding> {
    let links = links(boot);
    let is_up = |l: &Line<'_>| l.text.contains("SATA link up");
    let up = links.iter().rfind(|l| is_up(l))?;
    let down = links
        .iter()
        .filter(|l| !is_up(l) && l.start_ns > up.start_ns);
    let down: Vec<&Line<'_>> = down.filter(|l| is_kernels(boot, l)).collect();
    let last = down.last()?;
    let ports: Vec<&str> = down.iter().filter_map(|l| port(l)).collect();
    let force: Vec<String> = ports.iter().map(|p| format!("{p}:disable")).collect();
    let ns = last.start_ns.saturating_sub(up.start_ns);
    let finding = Finding::new("the boot waits for SATA ports without a disk")
        .why(format!(
            "ports {} end {} after the last disk",
            ports.join(", "),
            ms(ns)
        ))
        .saves(
            ns,
            "at most: from the last link that is up, if something waits for all ports",
        )
        .fix(format!(
            "switch the ports off in the firmware, or add `libata.force={}` to the command line",
            force.join(",")
        ))
        .at(Some([up.start_ns, last.start_ns]))
        .seen(down.iter().map(|l| l.evidence));
    Some(finding)
}

rule! {
    /// A SATA disk is slow to answer.
    ///
    /// **Why.** `link is slow to respond` and resets that fail cost seconds each; a bad
    /// cable, a disk that is not ready, or a controller that needs a quirk.
    ///
    /// **Evidence.** The time from `ataN: link is slow to respond`, `ataN: SRST failed` or
    /// `ataN: COMRESET failed` to that port's `SATA link` line.
    ///
    /// **Fix.** Cable, power, firmware of the disk; for a fixed speed
    /// `libata.force=N:3.0Gbps`; `libata.force=N:nohrst` or `:nosrst` skips resets.
    ///
    /// **Risk.** A lower speed is slower afterwards.
    ///
    /// **Figures.** None is published; the boot itself tells.
    SLOW_LINK = "device-ata-slow-link", Kernel, slow_link
}

fn slow_link(boot: &Boot<'_>) -> Option<Finding> {
    let complaints = ["link is slow to respond", "SRST failed", "COMRESET failed"];
    let is_slow = |l: &&Line<'_>| complaints.iter().any(|c| l.text.contains(c));
    let slow = boot
        .lines()
        .iter()
        .filter(is_slow)
        .find(|l| port(l).is_some())?;
    let number = port(slow)?;
    let end = links(boot)
        .into_iter()
        .find(|l| l.start_ns > slow.start_ns && port(l) == Some(number))?;
    let ns = end.start_ns.saturating_sub(slow.start_ns);
    let finding = Finding::new("a SATA disk is slow to answer")
        .why(format!(
            "`{}`, and {} later `{}`",
            slow.text,
            ms(ns),
            end.text
        ))
        .saves(ns, "at most: from the complaint to the link")
        .fix(format!(
            "check cable, power and the disk's firmware; then try \
             `libata.force={number}:3.0Gbps` or `libata.force={number}:nosrst`"
        ))
        .at(Some([slow.start_ns, end.start_ns]))
        .seen([slow.evidence, end.evidence]);
    Some(finding)
}

rule! {
    /// SCSI buses are scanned one after the other.
    ///
    /// **Why.** A synchronous scan waits for each target of each bus before the next
    /// driver is initialised.
    ///
    /// **Evidence.** `scsi_mod.scan=sync` on the command line; or `CONFIG_SCSI_SCAN_ASYNC`
    /// off in the `.config`, without the parameter, and two or more SCSI hosts in the log.
    ///
    /// **Fix.** `scsi_mod.scan=async`, or `CONFIG_SCSI_SCAN_ASYNC=y`.
    ///
    /// **Risk.** Disks may be named in another order: mount by UUID.
    ///
    /// **Figures.** None is published; it depends on the number of buses and targets.
    SCSI_SCAN = "cmdline-scsi-scan-async", Kernel, scsi_scan
}

fn scsi_scan(boot: &Boot<'_>) -> Option<Finding> {
    let is_host = |l: &&Line<'_>| {
        let number = number_after(l.text, "scsi host");
        number.is_some() && l.text.starts_with("scsi host") && is_kernels(boot, l)
    };
    let hosts: Vec<&Line<'_>> = boot.lines().iter().filter(is_host).collect();
    let shown = match value(boot, "scsi_mod.scan") {
        Some("sync") => "`scsi_mod.scan=sync` is on the command line".to_owned(),
        None if is_off(boot, "SCSI_SCAN_ASYNC") && hosts.len() > 1 => format!(
            "{} hosts, and the kernel is built without CONFIG_SCSI_SCAN_ASYNC",
            hosts.len()
        ),
        _ => return None,
    };
    let finding = Finding::new("SCSI buses are scanned one after the other")
        .why(shown)
        .saves_unknown("it depends on how long each bus takes; try it")
        .fix(
            "add `scsi_mod.scan=async` to the command line, or build with CONFIG_SCSI_SCAN_ASYNC=y",
        )
        .seen(hosts.iter().take(3).map(|l| l.evidence));
    Some(finding)
}

rule! {
    /// The boot waits for a disk to spin up.
    ///
    /// **Why.** A disk that stands still needs seconds to turn.
    ///
    /// **Evidence.** The time behind `sd H:C:T:L: [sdX] Spinning up disk...` before the
    /// first program, or before user space finds the disk.
    ///
    /// **Fix.** A disk without a motor for the system; mount the others when they are
    /// needed; `PUIS` off in the disk, so that it starts with the power.
    ///
    /// **Risk.** None.
    ///
    /// **Figures.** None is published; the boot itself tells.
    SPIN_UP = "device-disk-spinup", Kernel, spin_up
}

fn spin_up(boot: &Boot<'_>) -> Option<Finding> {
    let line = boot.line("Spinning up disk")?;
    if !is_kernels(boot, &line) && init_ns(boot).is_some() {
        return None;
    }
    let finding = Finding::new("the boot waits for a disk to spin up")
        .why(format!("`{}` takes {}", line.text, ms(line.ns())))
        .saves(
            line.ns(),
            "at most: from that line to the next, if the boot needs that disk",
        )
        .fix("mount that disk when it is needed, or let it start with the power (PUIS off)")
        .at(Some(line.at()))
        .seen([line.evidence]);
    Some(finding)
}
