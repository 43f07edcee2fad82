//! SATA and SCSI: links, empty ports, disks that spin up.

use super::checks;
use super::root_wait::is_nfs;
use super::seen::{init_ns, is_kernels, is_off, ms, value};
use crate::lines::{Begin, Line, number_after};
use crate::{Boot, Finding};

checks! {
    "cmdline-no-spinup-stagger" => staggered,
    "device-ata-empty-port" => empty_port,
    "device-ata-slow-link" => slow_link,
    "cmdline-scsi-scan-async" => scsi_scan,
    "device-disk-spinup" => spin_up,
}

/// `ata3: SATA link up 6.0 Gbps (SStatus 133 SControl 300)`: the port's number.
fn port<'a>(line: &Line<'a>) -> Option<&'a str> {
    let number = number_after(line.text, "ata")?;
    let (before, _) = line.text.split_once("ata")?;
    before.is_empty().then_some(number)
}

/// The lines that say how it went with a port's link.
fn links<'a>(boot: &Boot<'a>) -> Vec<Line<'a>> {
    let lines = boot.lines().all(": SATA link ").copied();
    lines.filter(|l| port(l).is_some()).collect()
}

/// Less than this is no wait.
const EMPTY_NS: i64 = 10_000_000;

/// A port gives up in less than this.
const LONGEST_LINK_NS: i64 = 30_000_000_000;

/// The same for the first time that it is said of each: not when a machine wakes up, or a
/// disk is plugged in.
fn first_links<'a>(boot: &Boot<'a>) -> Vec<Line<'a>> {
    let mut first: Vec<Line<'a>> = Vec::new();
    for link in links(boot) {
        let apart = first
            .last()
            .map_or(0, |l| link.start_ns.saturating_sub(l.start_ns));
        if apart > LONGEST_LINK_NS || first.iter().any(|l| port(l) == port(&link)) {
            break;
        }
        first.push(link);
    }
    first
}

/// Ports of one controller in parallel end this close together.
const APART_NS: i64 = 100_000_000;

fn staggered(boot: &Boot<'_>) -> Option<Finding> {
    let flags = boot.line((" stag ", |t: &str| t.contains("flags: ")))?;
    if !flags.text.contains("ahci") || boot.parameter("libahci.ignore_sss").is_some() {
        return None;
    }
    let links = first_links(boot);
    let (first, last) = (links.first()?, links.last()?);
    let pairs = links.iter().zip(links.iter().skip(1));
    let apart = pairs.filter(|(a, b)| b.start_ns.saturating_sub(a.start_ns) >= APART_NS);
    if apart.count() == 0 {
        return None;
    }
    let ns = last.start_ns.saturating_sub(first.start_ns);
    Some(
        Finding::new()
            .why(format!(
                "{} links, {} from the first to the last",
                links.len(),
                ms(ns)
            ))
            .saves(
                ns,
                "at most: from the first link to the last, if they come up together",
            )
            .recipe(boot.recipe("cmdline-no-spinup-stagger"))
            .at(Some([first.start_ns, last.start_ns]))
            .seen([flags.evidence, first.evidence, last.evidence]),
    )
}

fn empty_port(boot: &Boot<'_>) -> Option<Finding> {
    if is_nfs(boot) {
        return None;
    }
    let links = first_links(boot);
    let is_up = |l: &Line<'_>| l.text.contains("SATA link up");
    let up = links.iter().rfind(|l| is_up(l))?;
    let down = links
        .iter()
        .filter(|l| !is_up(l) && l.start_ns > up.start_ns);
    let down: Vec<&Line<'_>> = down.filter(|l| is_kernels(boot, l)).collect();
    let last = down.last()?;
    let ports: Vec<&str> = down.iter().filter_map(|l| port(l)).collect();
    let force: Vec<String> = ports.iter().map(|p| format!("{p}:disable")).collect();
    // Ports are asked beside all else: only where nothing else is said can anybody wait.
    let lines = boot.lines();
    let is_down = |l: &Line<'_>| down.iter().any(|d| d.evidence == l.evidence);
    let places = lines.places(": SATA link ").filter(|at| *at > 0);
    let silent = places.filter(|at| is_down(&lines[*at]));
    let silent_ns: i64 = silent.map(|at| lines[at - 1].ns()).sum();
    if silent_ns < EMPTY_NS {
        return None;
    }
    let ns = last.start_ns.saturating_sub(up.start_ns);
    let [are, end] = match ports.len() {
        1 => ["port", "ends"],
        _ => ["ports", "end"],
    };
    let finding = Finding::new()
        .why(format!(
            "{are} {} {end} {} after the last disk",
            ports.join(", "),
            ms(ns)
        ))
        .saves(
            silent_ns.min(ns),
            "at most: the silences before these lines, if something waits for all ports",
        )
        .fix(format!(
            "switch the ports off in the firmware, or add `libata.force={}` to the command line",
            force.join(",")
        ))
        .at(Some([up.start_ns, last.start_ns]))
        .seen(down.iter().map(|l| l.evidence));
    Some(finding)
}

fn slow_link(boot: &Boot<'_>) -> Option<Finding> {
    let complaints = ["link is slow to respond", "SRST failed", "COMRESET failed"];
    let mut slow = boot.lines().all(complaints);
    let slow = slow.find(|l| port(l).is_some())?;
    let number = port(slow)?;
    let end = links(boot)
        .into_iter()
        .find(|l| l.start_ns > slow.start_ns && port(l) == Some(number))?;
    let ns = end.start_ns.saturating_sub(slow.start_ns);
    Some(
        Finding::new()
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
            .seen([slow.evidence, end.evidence]),
    )
}

fn scsi_scan(boot: &Boot<'_>) -> Option<Finding> {
    let is_numbered = |t: &str| number_after(t, "scsi host").is_some();
    let hosts = boot.lines().all((Begin("scsi host"), is_numbered));
    let hosts: Vec<&Line<'_>> = hosts.filter(|l| is_kernels(boot, l)).collect();
    let shown = match value(boot, "scsi_mod.scan") {
        Some("sync") => "`scsi_mod.scan=sync` is on the command line".to_owned(),
        None if is_off(boot, "SCSI_SCAN_ASYNC") && hosts.len() > 1 => format!(
            "{} hosts, and the kernel is built without CONFIG_SCSI_SCAN_ASYNC",
            hosts.len()
        ),
        _ => return None,
    };
    Some(
        Finding::new()
            .why(shown)
            .saves_unknown("it depends on how long each bus takes; try it")
            .seen(hosts.iter().take(3).map(|l| l.evidence)),
    )
}

fn spin_up(boot: &Boot<'_>) -> Option<Finding> {
    let line = boot.line("Spinning up disk")?;
    if !is_kernels(boot, &line) && init_ns(boot).is_some() {
        return None;
    }
    Some(
        Finding::new()
            .why(format!("`{}` takes {}", line.text, ms(line.ns())))
            .saves(
                line.ns(),
                "at most: from that line to the next, if the boot needs that disk",
            )
            .at(Some(line.at()))
            .seen([line.evidence]),
    )
}
