//! Devices that U-Boot starts, scans and waits for, and need not.

use super::stages::{before, begins, contains, loader_span, stage, uboot, until};
use super::{Rule, rule};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[
    &USB,
    &NETWORK,
    &NET_INIT,
    &SATA,
    &PCIE,
    &EMPTY_SLOT,
    &DISTRO_SCAN,
    &UBI,
    &SPL_RETRIES,
    &ENVIRONMENT,
];

rule! {
    /// U-Boot starts the USB host and looks for devices.
    ///
    /// **Why.** Power, reset and a scan of each bus take a second or more, because
    /// the standard makes the host wait, and U-Boot does nothing beside it.
    ///
    /// **Evidence.** The time of `starting USB...`, `Bus usb@…`, `scanning bus …` and
    /// `scanning usb for storage devices...`; without a log, `usb start` in the
    /// variable `preboot`. Nothing is said where the boot then reads from USB.
    ///
    /// **Fix.** Take `usb start` out of `preboot` and `usb` out of `boot_targets`.
    ///
    /// **Risk.** No USB keyboard at U-Boot's prompt, no boot from a stick.
    ///
    /// **Figures.** 1 to 3 s (boards of balenaOS), 5 s (OpenVario; PinePhone, SOPINE).
    USB = "uboot-usb-start", Bootloader, usb
}

fn usb(boot: &Boot<'_>) -> Option<Finding> {
    let fix = "take `usb start` out of `preboot` and `usb` out of `boot_targets`";
    let lines = uboot(boot);
    if lines.is_empty() {
        let preboot = boot.variable("preboot")?;
        let starts = preboot.contains("usb start");
        return starts.then(|| {
            Finding::new("U-Boot starts the USB host at each boot")
                .why("`preboot` holds `usb start`")
                .saves_unknown("how long a scan takes depends on the ports; no boot was seen")
                .fix(fix)
        });
    }
    let scanning = ["starting USB", "scanning bus usb", "scanning usb for"];
    let is_scan = |t: &str| begins(t, &scanning) || t.starts_with("Bus usb");
    let scan = stage(&lines, is_scan)?;
    let used = ["Scanning usb ", "Booting from usb", "Boot from USB"];
    let from_usb = lines.iter().any(|l| {
        contains(l.text, &used) || l.text.contains("Storage Device(s) found") && !is_none(l.text)
    });
    let finding = scan
        .found("U-Boot starts the USB host and looks for devices")
        .why(format!("it takes {} ms", scan.ms()))
        .saves(scan.ns, "the scan, as seen on the console")
        .fix(fix);
    (!from_usb).then_some(finding)
}

/// `0 Storage Device(s) found`
fn is_none(text: &str) -> bool {
    text.contains(" 0 Storage Device") || text.starts_with("0 Storage Device")
}

rule! {
    /// U-Boot tries to boot over the network, in vain.
    ///
    /// **Why.** DHCP, PXE and TFTP are tried with long time-outs, one file name after
    /// the other, although the product boots from its own storage.
    ///
    /// **Evidence.** The time of lines like `BOOTP broadcast 2`, `Retry time exceeded`
    /// and `TFTP error`. Nothing is said where a file came over the network.
    ///
    /// **Fix.** `boot_targets=mmc0` (whatever the product boots from), or a
    /// `bootcmd` that names the one place.
    ///
    /// **Risk.** No network boot as a rescue.
    ///
    /// **Figures.** None is published: seconds where it happens, mostly time-outs.
    NETWORK = "uboot-network-scan", Bootloader, network
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
    let in_vain = lines.iter().any(|l| contains(l.text, &fails));
    let came = lines
        .iter()
        .any(|l| l.text.contains("Bytes transferred = "));
    if came || !in_vain {
        return None;
    }
    let scan = stage(&lines, |t| contains(t, &tries))?;
    let finding = scan
        .found("U-Boot tries to boot over the network, in vain")
        .why(format!("the attempts take {} ms", scan.ms()))
        .saves(scan.ns, "these lines, as seen on the console")
        .fix("set `boot_targets` to what the product boots from, or name it in `bootcmd`");
    Some(finding)
}

rule! {
    /// U-Boot initialises network devices.
    ///
    /// **Why.** Resetting a PHY and waiting for it happens before the countdown, on
    /// boards that never load anything over the network.
    ///
    /// **Evidence.** The time of the line `Net:   eth0: ethernet@…`, from 50 ms on.
    /// Nothing is said where a file came over the network.
    ///
    /// **Fix.** Build without `CONFIG_NET`, or disable the node in U-Boot's own
    /// device tree.
    ///
    /// **Risk.** No network in U-Boot; a kernel driver that relies on the PHY's
    /// reset or the MAC address from U-Boot needs them from elsewhere.
    ///
    /// **Figures.** None is published; it depends on the PHY.
    NET_INIT = "uboot-net-init", Bootloader, net_init
}

fn net_init(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let used = ["Bytes transferred = ", "TFTP from server"];
    if lines.iter().any(|l| contains(l.text, &used)) {
        return None;
    }
    let init = stage(&lines, |t| t.starts_with("Net:"))?;
    let finding = init
        .found("U-Boot initialises network devices that the boot does not use")
        .why(format!("`Net:` takes {} ms", init.ms()))
        .saves(init.ns, "from that line to the next")
        .fix("build U-Boot without CONFIG_NET, or disable the device in its device tree");
    (init.ns >= 50_000_000).then_some(finding)
}

rule! {
    /// U-Boot scans SATA or SCSI ports with nothing on them.
    ///
    /// **Why.** Each empty link is waited for until a time-out.
    ///
    /// **Evidence.** The time of `SATA link 0 timeout.` and the silence before it.
    ///
    /// **Fix.** Take `scsi` out of `boot_targets`; drop `CONFIG_SATA` or `scsi scan`
    /// from `preboot`.
    ///
    /// **Risk.** No boot from a disk in U-Boot.
    ///
    /// **Figures.** None is published: "seconds when it triggers".
    SATA = "uboot-sata-scan", Bootloader, sata
}

fn sata(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let is_timeout = |t: &str| t.contains("SATA link") && t.contains("timeout");
    let wait = before(&lines, is_timeout)?;
    let links = lines.iter().filter(|l| is_timeout(l.text)).count();
    let finding = wait
        .found("U-Boot waits for SATA links with nothing on them")
        .why(format!("{links} links time out, in {} ms", wait.ms()))
        .saves(wait.ns, "the silence before each time-out")
        .fix("take `scsi` and `sata` out of `boot_targets` and `preboot`, or build without them");
    Some(finding)
}

rule! {
    /// U-Boot waits for a PCI Express link that stays down.
    ///
    /// **Why.** Link training is polled until a time-out where nothing is plugged in.
    ///
    /// **Evidence.** A line of U-Boot like `PCIe-0: Link down`, and the silence
    /// before it.
    ///
    /// **Fix.** Drop `CONFIG_PCI` and `pci enum`, or disable the controller's node in
    /// U-Boot's own device tree.
    ///
    /// **Risk.** No NVMe or PCI network card in U-Boot; Linux finds them by itself.
    ///
    /// **Figures.** None is published; the time-out is the driver's.
    PCIE = "uboot-pcie-link", Bootloader, pcie
}

fn pcie(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let is_down = |t: &str| t.to_ascii_lowercase().starts_with("pci") && t.contains("ink down");
    let wait = before(&lines, is_down)?;
    let finding = wait
        .found("U-Boot waits for a PCI Express link that stays down")
        .why(format!("the link is given up after {} ms", wait.ms()))
        .saves(wait.ns, "the silence before that line")
        .fix("build U-Boot without CONFIG_PCI, or disable the controller in its device tree");
    Some(finding)
}

rule! {
    /// U-Boot probes a card slot with no card in it.
    ///
    /// **Why.** A slot without card detection is asked and waited for until a time-out,
    /// often because `boot_targets` names it first.
    ///
    /// **Evidence.** `Card did not respond to voltage select!` and its like, and the
    /// silence before it.
    ///
    /// **Fix.** Put what the product boots from first in `boot_targets`, or drop the
    /// slot.
    ///
    /// **Risk.** No boot from a card in that slot.
    ///
    /// **Figures.** None is published; about a second per attempt by the standard.
    EMPTY_SLOT = "uboot-empty-slot", Bootloader, empty_slot
}

fn empty_slot(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let says = ["Card did not respond to voltage select", "no card present"];
    let wait = before(&lines, |t| contains(t, &says))?;
    let finding = wait
        .found("U-Boot probes a card slot with no card in it")
        .why(format!("giving up takes {} ms", wait.ms()))
        .saves(wait.ns, "the silence before that line")
        .fix("put the product's own storage first in `boot_targets`, or drop the slot from it");
    Some(finding)
}

rule! {
    /// U-Boot looks through partitions for something to boot.
    ///
    /// **Why.** `distro_bootcmd` and `bootflow scan` try each device, partition, folder
    /// and file name in turn; a product knows where its kernel lies.
    ///
    /// **Evidence.** The time from the first `Scanning mmc 0:1...` to `Found …` or to
    /// the first `Retrieving file:`.
    ///
    /// **Fix.** A `bootcmd` that loads the files by name.
    ///
    /// **Risk.** Media of another layout do not boot any more.
    ///
    /// **Figures.** None is published; -56 ms (ARM9, 400 MHz) for flattening scripts alone.
    DISTRO_SCAN = "uboot-distro-scan", Bootloader, distro_scan
}

fn distro_scan(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let is_scan = |t: &str| t.starts_with("Scanning ") && t.ends_with("...");
    let found = [
        "Found ",
        "Retrieving file:",
        "BootOrder not defined",
        "** Booting bootflow",
    ];
    let scan = until(&lines, is_scan, |t| begins(t, &found))?;
    let finding = scan
        .found("U-Boot looks through partitions for something to boot")
        .why(format!("it takes {} ms until it finds it", scan.ms()))
        .saves(scan.ns, "at most, from `Scanning …` to what was found")
        .fix("write a `bootcmd` that loads kernel, device tree and initramfs by name")
        .recipe(boot.recipe("uboot-flat-bootcmd"));
    Some(finding)
}

rule! {
    /// U-Boot attaches a whole UBI device to read the kernel.
    ///
    /// **Why.** Attaching reads the headers of every block; Linux then does it again.
    ///
    /// **Evidence.** U-Boot's `ubi0: attaching mtd…` to `ubi0: attached mtd…`.
    ///
    /// **Fix.** Keep kernel and device tree in a small UBI device (or raw blocks) of
    /// their own: the time grows with the size. U-Boot may use fastmap, too
    /// (`CONFIG_MTD_UBI_FASTMAP`).
    ///
    /// **Risk.** Flash has to be partitioned anew. A UBI device of less than 17
    /// blocks cannot be.
    ///
    /// **Figures.** None in ms; a quarter of the flash attaches in a quarter of the time
    /// (CI20).
    UBI = "uboot-ubi-attach", Bootloader, ubi
}

fn ubi(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let line = |t: &str, what| t.contains("ubi0:") && t.contains(what);
    let attach = until(
        &lines,
        |t| line(t, "attaching mtd"),
        |t| line(t, "attached mtd"),
    )?;
    let finding = attach
        .found("U-Boot attaches a whole UBI device to read the kernel")
        .why(format!(
            "it takes {} ms, and Linux does it again",
            attach.ms()
        ))
        .saves(
            attach.ns,
            "at most: a small device of its own still takes its share",
        )
        .fix("keep the kernel in a small UBI device or raw blocks of its own, or use fastmap");
    Some(finding)
}

rule! {
    /// SPL tries other boot devices first.
    ///
    /// **Why.** SPL goes through a list; each device with nothing to boot on it is
    /// initialised, and often waited for.
    ///
    /// **Evidence.** More than one line `Trying to boot from …` before U-Boot's banner:
    /// the time from the first to the last.
    ///
    /// **Fix.** Name the product's device first: `u-boot,spl-boot-order` in the device
    /// tree's `/chosen`, or `board_boot_order()`.
    ///
    /// **Risk.** Rescue media then come second.
    ///
    /// **Figures.** None is published; it depends on the devices.
    SPL_RETRIES = "uboot-spl-boot-order", Bootloader, spl_retries
}

fn spl_retries(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let tries: Vec<_> = lines
        .iter()
        .filter(|l| l.text.starts_with("Trying to boot from "))
        .collect();
    let [first, .., last] = tries.as_slice() else {
        return None;
    };
    let ns = last.start_ns.saturating_sub(first.start_ns);
    let finding = Finding::new("SPL tries other boot devices before the one it boots from")
        .why(format!("{} attempts; the last one works", tries.len()))
        .saves(ns, "from the first attempt to the last")
        .fix("name the product's device first in `u-boot,spl-boot-order` (/chosen of U-Boot's device tree)")
        .at(Some([first.start_ns, last.start_ns]))
        .seen(tries.iter().map(|l| l.evidence));
    Some(finding)
}

rule! {
    /// U-Boot loads its environment from slow storage.
    ///
    /// **Why.** The environment is read early, from a file system (which has to be
    /// mounted for it) or from SPI flash at a low clock; a product seldom changes it.
    ///
    /// **Evidence.** The time inside of `Loading Environment from FAT... OK`, from
    /// 20 ms on.
    ///
    /// **Fix.** `CONFIG_ENV_IS_NOWHERE` with the variables built in, or a raw partition
    /// of the eMMC.
    ///
    /// **Risk.** What was set with `saveenv` is gone: A/B updates often rely on it.
    ///
    /// **Figures.** None is published; "loading an environment from a file is expensive"
    /// (Bootlin).
    ENVIRONMENT = "uboot-environment", Bootloader, environment
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
        .found("U-Boot loads its environment from slow storage")
        .why(why)
        .saves(load.ns, "the load, as seen on the console")
        .fix("build the variables in (CONFIG_ENV_IS_NOWHERE), or keep them in raw blocks of the eMMC");
    (load.ns >= 20_000_000).then_some(finding)
}
