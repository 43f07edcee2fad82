//! Devices that U-Boot starts, scans and waits for, and need not.

use super::checks;
use super::stages::{before, loader_span, stage, uboot, until};
use crate::lines::{Begin, Said};
use crate::{Boot, Finding};

checks! {
    "uboot-usb-start" => usb,
    "uboot-network-scan" => network,
    "uboot-net-init" => net_init,
    "uboot-sata-scan" => sata,
    "uboot-pcie-link" => pcie,
    "uboot-empty-slot" => empty_slot,
    "uboot-distro-scan" => distro_scan,
    "uboot-ubi-attach" => ubi,
    "uboot-spl-boot-order" => spl_retries,
    "uboot-environment" => environment,
}

fn usb(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    if lines.is_empty() {
        let preboot = boot.variable("preboot")?;
        let starts = preboot.contains("usb start");
        return starts.then(|| {
            Finding::new()
                .titled("U-Boot starts the USB host at each boot")
                .why("`preboot` holds `usb start`")
                .saves_unknown("how long a scan takes depends on the ports; no boot was seen")
        });
    }
    let lines = Said::from(&lines);
    let scans = [
        "starting USB",
        "scanning bus usb",
        "scanning usb for",
        "Bus usb",
    ];
    let scan = stage(lines, Begin(scans))?;
    let used = ["Scanning usb ", "Booting from usb", "Boot from USB"];
    let is_one = |t: &str| !is_none(t);
    let from_usb = lines.has(used) || lines.has(("Storage Device(s) found", is_one));
    let finding = scan
        .found()
        .why(format!("it takes {} ms", scan.ms()))
        .saves(scan.ns, "the scan, as seen on the console");
    (!from_usb).then_some(finding)
}

/// `0 Storage Device(s) found`
fn is_none(text: &str) -> bool {
    text.contains(" 0 Storage Device") || text.starts_with("0 Storage Device")
}

fn network(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let tries = [
        "BOOTP broadcast",
        "DHCP client bound",
        "TFTP from server",
        "Filename '",
        "Load address:",
        "Loading: ",
        "TFTP error",
        "Retry time exceeded",
        "Retry count exceeded",
        "Waiting for PHY auto negotiation",
        "missing environment variable: pxeuuid",
        "Retrieving file: pxelinux",
    ];
    let fails = ["TFTP error", "Retry time exceeded", "Retry count exceeded"];
    let lines = Said::from(&lines);
    if lines.has("Bytes transferred = ") || !lines.has(fails) {
        return None;
    }
    let scan = stage(lines, tries)?;
    Some(
        scan.found()
            .why(format!("the attempts take {} ms", scan.ms()))
            .saves(scan.ns, "these lines, as seen on the console"),
    )
}

fn net_init(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let lines = Said::from(&lines);
    if lines.has(["Bytes transferred = ", "TFTP from server"]) {
        return None;
    }
    let init = stage(lines, Begin("Net:"))?;
    let finding = init
        .found()
        .why(format!("`Net:` takes {} ms", init.ms()))
        .saves(init.ns, "from that line to the next");
    (init.ns >= 50_000_000).then_some(finding)
}

fn sata(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let timeout = ("SATA link", |t: &str| t.contains("timeout"));
    let wait = before(Said::from(&lines), timeout)?;
    let links = Said::from(&lines).all(timeout).count();
    Some(
        wait.found()
            .why(format!("{links} links time out, in {} ms", wait.ms()))
            .saves(wait.ns, "the silence before each time-out"),
    )
}

fn pcie(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let of_pci = |t: &str| t.to_ascii_lowercase().starts_with("pci");
    let wait = before(Said::from(&lines), ("ink down", of_pci))?;
    Some(
        wait.found()
            .why(format!("the link is given up after {} ms", wait.ms()))
            .saves(wait.ns, "the silence before that line"),
    )
}

fn empty_slot(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let says = ["Card did not respond to voltage select", "no card present"];
    let wait = before(Said::from(&lines), says)?;
    Some(
        wait.found()
            .why(format!("giving up takes {} ms", wait.ms()))
            .saves(wait.ns, "the silence before that line"),
    )
}

fn distro_scan(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let scans = (Begin("Scanning "), |t: &str| t.ends_with("..."));
    let found = [
        "Found ",
        "Retrieving file:",
        "BootOrder not defined",
        "** Booting bootflow",
    ];
    let scan = until(Said::from(&lines), scans, Begin(found))?;
    Some(
        scan.found()
            .why(format!("it takes {} ms until it finds it", scan.ms()))
            .saves(scan.ns, "at most, from `Scanning …` to what was found")
            .recipe(boot.recipe("uboot-flat-bootcmd")),
    )
}

fn ubi(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let is_its = |t: &str| t.contains("ubi0:");
    let (from, to) = (("attaching mtd", is_its), ("attached mtd", is_its));
    let attach = until(Said::from(&lines), from, to)?;
    Some(
        attach
            .found()
            .why(format!(
                "it takes {} ms, and Linux does it again",
                attach.ms()
            ))
            .saves(
                attach.ns,
                "at most: a small device of its own still takes its share",
            ),
    )
}

fn spl_retries(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let tries = Said::from(&lines).all(Begin("Trying to boot from "));
    let tries: Vec<_> = tries.collect();
    let [first, .., last] = tries.as_slice() else {
        return None;
    };
    let ns = last.start_ns.saturating_sub(first.start_ns);
    Some(
        Finding::new()
            .why(format!("{} attempts; the last one works", tries.len()))
            .saves(ns, "from the first attempt to the last")
            .at(Some([first.start_ns, last.start_ns]))
            .seen(tries.iter().map(|l| l.evidence)),
    )
}

fn environment(boot: &Boot<'_>) -> Option<Finding> {
    let load = loader_span(boot, "load environment")?;
    let bad = boot.line("using default environment").is_some();
    let why = match bad {
        true => format!(
            "reading it takes {} ms, and it is not even valid",
            load.ms()
        ),
        false => format!("reading it takes {} ms", load.ms()),
    };
    let finding = load
        .found()
        .why(why)
        .saves(load.ns, "the load, as seen on the console");
    (load.ns >= 20_000_000).then_some(finding)
}
