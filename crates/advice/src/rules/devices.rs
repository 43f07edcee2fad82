//! Waits for hardware, seen as silences in the kernel's log.

use super::seen::{ms, of_initcalls, steps};
use super::{Rule, rule};
use crate::lines::{Line, number_after};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[&TIMEOUT, &FIRMWARE, &USB_STORAGE, &MMC_ERROR, &TPM, &LINK];

/// A silence that is worth a look.
const WAIT_NS: i64 = 100_000_000;

/// A finding about the silence between a line and the one behind it.
fn silence(title: &str, before: &Line<'_>, shown: &Line<'_>) -> Finding {
    Finding::new(title)
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

rule! {
    /// A device does not answer, and the kernel waits for it.
    ///
    /// **Why.** A driver that gets no answer waits as long as the worst device may take:
    /// 100 ms on I2C, seconds elsewhere, often several times. It is nearly always an
    /// error: a chip that is not fitted, a missing clock, a wrong pin.
    ///
    /// **Evidence.** A line of the kernel that says `timed out` or `timeout` behind 100 ms
    /// and more of silence, before the first program; the five longest.
    ///
    /// **Fix.** Disable the device in the device tree (`status = "disabled"`) if it is not
    /// fitted; else find why it does not answer.
    ///
    /// **Risk.** None, if it does not work anyway.
    ///
    /// **Figures.** 1.1 s for an IDE port without a drive (PPC 405GP: 1.3 s to 0.23 s).
    TIMEOUT = "device-timeout", Kernel, timeout
}

fn timeout(boot: &Boot<'_>) -> Vec<Finding> {
    let says = |text: &str| {
        let lower = text.to_ascii_lowercase();
        let waited = lower.contains("timed out") || lower.contains("timeout");
        // `Watchdog timeout: 60 s` and the like set one, and do not meet it.
        let sets = [
            "timeout=",
            "timeout:",
            "timeout is",
            "timeout set",
            "timeout value",
        ];
        waited && !sets.iter().any(|s| lower.contains(s))
    };
    let is_others = |text: &str| OTHERS.iter().any(|other| text.contains(other));
    let found = steps(boot).filter(|(before, after)| {
        before.ns() >= WAIT_NS && says(after.text) && !is_others(after.text)
    });
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|(before, _)| std::cmp::Reverse(before.ns()));
    found.truncate(5);
    let title = "a device does not answer, and the kernel waits for it";
    let findings = found.iter().map(|(before, after)| {
        silence(title, before, after).fix(
            "disable the device in the device tree or the kernel's configuration if it is not \
             fitted; else find out why it does not answer",
        )
    });
    findings.collect()
}

rule! {
    /// A built-in driver waits for firmware that is not there yet.
    ///
    /// **Why.** Before the root filesystem is mounted nobody can read `/lib/firmware`. With
    /// `CONFIG_FW_LOADER_USER_HELPER_FALLBACK` the kernel then asks user space, which does
    /// not run yet, and waits 60 s for it.
    ///
    /// **Evidence.** The time behind `Falling back to sysfs fallback for: FILE` (`...
    /// syfs fallback` since 5.17), before the first program.
    ///
    /// **Fix.** `CONFIG_FW_LOADER_USER_HELPER_FALLBACK=n`; and the driver as a module, or
    /// its firmware in the initramfs or in `CONFIG_EXTRA_FIRMWARE`.
    ///
    /// **Risk.** User space that does load firmware for the kernel (old Android) needs it.
    ///
    /// **Figures.** 60 s is the kernel's default (`/sys/class/firmware/timeout`).
    FIRMWARE = "config-firmware-fallback", Kernel, firmware
}

fn firmware(boot: &Boot<'_>) -> Option<Finding> {
    let waits = steps(boot).filter(|(before, _)| {
        let text = before.text;
        text.contains("Falling back to sys") || text.contains("Falling back to syfs")
    });
    let (line, _) = waits.max_by_key(|(before, _)| before.ns())?;
    let title = "a built-in driver waits for firmware that is not there yet";
    Some(silence(title, &line, &line).fix(
        "build with CONFIG_FW_LOADER_USER_HELPER_FALLBACK=n, and the driver as a module or its \
         firmware in CONFIG_EXTRA_FIRMWARE",
    ))
}

rule! {
    /// A USB disk is given time to settle.
    ///
    /// **Why.** The driver waits `usb-storage.delay_use` seconds, 1 by default (5 before
    /// 2.6.39), before it scans a disk; modern ones need none.
    ///
    /// **Evidence.** The time from `scsi hostN: usb-storage` to the disk's
    /// `Direct-Access` line. It counts where the boot waits for that disk; that part
    /// cannot be seen, so it is the most that can be saved.
    ///
    /// **Fix.** `usb-storage.delay_use=0` on the command line, or as a module's option.
    ///
    /// **Risk.** Some old sticks are not found when asked too early.
    ///
    /// **Figures.** 1 s, the default.
    USB_STORAGE = "cmdline-usb-storage-delay", Kernel, usb_storage
}

fn usb_storage(boot: &Boot<'_>) -> Option<Finding> {
    let host = boot
        .lines()
        .iter()
        .find(|l| l.text.starts_with("scsi host") && l.text.contains(": usb-storage "))?;
    let number = number_after(host.text, "scsi host")?;
    let disk = format!("scsi {number}:0:0:0: ");
    let behind = boot.lines().iter().filter(|l| l.start_ns > host.start_ns);
    let found = behind.clone().find(|l| l.text.starts_with(&disk))?;
    let ns = found.start_ns.saturating_sub(host.start_ns);
    // With no delay a scan takes some ms.
    if ns < WAIT_NS {
        return None;
    }
    let finding = Finding::new("a USB disk is given time to settle")
        .why(format!(
            "{} from `{}` to `{}`",
            ms(ns),
            host.text,
            found.text
        ))
        .saves(ns, "at most: what of it the boot waits for this disk")
        .fix("add `usb-storage.delay_use=0` to the command line")
        .at(Some([host.start_ns, found.start_ns]))
        .seen([host.evidence, found.evidence]);
    Some(finding)
}

rule! {
    /// An SD or MMC slot is tried again and again.
    ///
    /// **Why.** A slot without a card, or a Wi-Fi chip without power, is asked at four
    /// clock rates, with a timeout each.
    ///
    /// **Evidence.** `mmcN: error -110 whilst initialising ...`, `mmcN: Timeout waiting for
    /// hardware ...`, `mmcN: Card stuck being busy!` or `mmcN: tried to HW reset card`
    /// behind 20 ms and more of silence, before the first program.
    ///
    /// **Fix.** Disable the slot in the device tree; name its card detection (`cd-gpios`)
    /// if it is a slot, `non-removable` and its regulators if it is soldered.
    ///
    /// **Risk.** None, if nothing is fitted.
    ///
    /// **Figures.** None is published; the silence is what can be saved at most.
    MMC_ERROR = "device-mmc-error", Kernel, mmc_error
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
    let title = "an SD or MMC slot is tried again and again";
    Some(silence(title, &before, &after).fix(
        "disable the slot in the device tree if nothing is fitted; else name `cd-gpios` or \
         `non-removable`, and its regulators",
    ))
}

rule! {
    /// The kernel waits for a TPM.
    ///
    /// **Why.** A TPM tests itself before it answers; on SPI or I2C that is some 100 ms, in
    /// which the driver does nothing but wait.
    ///
    /// **Evidence.** A silence of 20 ms and more between two `tpm_tis`, `tpm_crb` or
    /// `tpm tpm0:` lines before the first program; or the drivers' initcalls in a boot with
    /// `initcall_debug`.
    ///
    /// **Fix.** The driver as a module, loaded after the application; or
    /// `driver_async_probe=tpm_tis_spi`. Let the firmware start the TPM.
    ///
    /// **Risk.** IMA and disk keys need the TPM before the root filesystem.
    ///
    /// **Figures.** None is published; the boot itself tells.
    TPM = "device-tpm", Kernel, tpm
}

fn tpm(boot: &Boot<'_>) -> Option<Finding> {
    let title = "the kernel waits for a TPM";
    let fix = "build the TPM's driver as a module and load it after the application, unless IMA or \
               a disk key needs it";
    let calls = [
        "init_tis",
        "tpm_tis_spi_driver_init",
        "tpm_tis_i2c_driver_init",
        "crb_acpi_driver_init",
        "tpm_cr50_i2c_driver_init",
    ];
    let calls = super::seen::built_in(boot, &calls);
    if let Some(finding) = of_initcalls(boot, &calls, title) {
        return Some(finding.fix(fix));
    }
    let begins = ["tpm_tis", "tpm_crb", "tpm tpm0:"];
    let is_tpms = |l: &Line<'_>| begins.iter().any(|b| l.text.starts_with(b));
    // Behind the last of its lines, and before the first, is others' time, too.
    let waits = steps(boot)
        .filter(|(before, after)| is_tpms(before) && is_tpms(after) && before.ns() >= MMC_NS);
    let (before, _) = waits.max_by_key(|(before, _)| before.ns())?;
    Some(silence(title, &before, &before).fix(fix))
}

rule! {
    /// The network's link is negotiated while the boot waits for it.
    ///
    /// **Why.** Gigabit Ethernet negotiates for 2 to 3 s after its driver opened it; the
    /// later that is, the later the network works.
    ///
    /// **Evidence.** The time from a driver's `configuring for phy/...` to its `Link is Up`,
    /// 500 ms and more. Whether the boot waits for it the log does not say, so how much
    /// it would save is unknown.
    ///
    /// **Fix.** Open the interface as early as possible (first in user space), so that
    /// negotiating runs beside the rest; with a known partner a fixed link (`fixed-link` in
    /// the device tree) or 100 Mbit/s.
    ///
    /// **Risk.** A fixed speed needs the same at the other end.
    ///
    /// **Figures.** 1–3 s are typical for negotiation and DHCP; none is published alone.
    LINK = "device-ethernet-link", Kernel, link
}

fn link(boot: &Boot<'_>) -> Option<Finding> {
    let opened = boot.line(": configuring for phy/")?;
    let (device, _) = opened.text.split_once(": configuring for phy/")?;
    let behind = boot.lines().iter().filter(|l| l.start_ns > opened.start_ns);
    let up = behind.clone().find(|l| {
        l.text
            .strip_prefix(device)
            .is_some_and(|rest| rest.starts_with(": Link is Up"))
    })?;
    let ns = up.start_ns.saturating_sub(opened.start_ns);
    if ns < WAIT_NS * 5 {
        return None;
    }
    let finding = Finding::new("the network's link is negotiated while the boot goes on")
        .why(format!(
            "{} from `{}` to `{}`",
            ms(ns),
            opened.text,
            up.text
        ))
        .saves_unknown("nothing says whether the boot waits for it; if so, all of it at most")
        .fix(
            "open the interface as the first thing in user space; between two known ends use a \
             `fixed-link`",
        )
        .at(Some([opened.start_ns, up.start_ns]))
        .seen([opened.evidence, up.evidence]);
    Some(finding)
}
