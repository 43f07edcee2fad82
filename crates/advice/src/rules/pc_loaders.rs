//! Boot loaders of PCs: GRUB, systemd-boot.

use bootlap_model::Milestone;

use super::stages::{before_kernel, begins, stage};
use super::{Rule, rule};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[&SLOW_LOADER, &GRUB_TIMEOUT, &GRUB_LOAD];

rule! {
    /// The boot loader of a PC takes more than a second.
    ///
    /// **Why.** systemd-boot and GRUB read kernel and initramfs through the firmware's
    /// drivers, which are slow, and may show a menu for some seconds.
    ///
    /// **Evidence.** The loader's part by systemd (`… (loader)`), above 1 s. Nothing is
    /// said of U-Boot and its like, which show more.
    ///
    /// **Fix.** `timeout 0` in `loader.conf`, `GRUB_TIMEOUT=0`; a smaller initramfs; one
    /// unified kernel image.
    ///
    /// **Risk.** Older kernels are harder to choose.
    ///
    /// **Figures.** 3.2 s of loader were reported on a fast SSD, cause open.
    SLOW_LOADER = "loader-slow", Bootloader, slow_loader
}

fn slow_loader(boot: &Boot<'_>) -> Option<Finding> {
    boot.moment(&[Milestone::FirmwareDone])?;
    let begin = boot.moment(&[Milestone::BootloaderStart])?;
    let end = boot.moment(&[Milestone::KernelClockStart])?;
    let ns = end.saturating_sub(begin);
    if ns <= 1_000_000_000 || !before_kernel(boot).is_empty() {
        return None;
    }
    let finding = Finding::new("the boot loader takes more than a second")
        .why(format!("systemd counts {} ms for it", ns / 1_000_000))
        .saves_unknown("a menu's time-out is saved whole; reading kernel and initramfs remains")
        .fix("set `timeout 0` (loader.conf) or GRUB_TIMEOUT=0, and make the initramfs smaller")
        .at(Some([begin, end]));
    Some(finding)
}

rule! {
    /// GRUB counts down at its menu.
    ///
    /// **Why.** `GRUB_TIMEOUT` is 5 s unless somebody changed it.
    ///
    /// **Evidence.** The time of `The highlighted entry will be executed automatically in
    /// 5s.` on a serial console, however often it is printed.
    ///
    /// **Fix.** `GRUB_TIMEOUT=0` and `GRUB_TIMEOUT_STYLE=hidden` in `/etc/default/grub`,
    /// then `update-grub`.
    ///
    /// **Risk.** Another kernel is harder to choose: hold Shift or Esc.
    ///
    /// **Figures.** 6 to 2 s for a firmware's menu (apu2); the time is the stated one.
    GRUB_TIMEOUT = "grub-timeout", Bootloader, grub_timeout
}

fn grub_timeout(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let says = "The highlighted entry will be executed automatically in ";
    let wait = stage(&lines, |t| t.contains(says))?;
    let finding = wait
        .found("GRUB counts down at its menu")
        .why(format!("it waits for {} ms", wait.ms()))
        .saves(wait.ns, "the countdown, as seen on the console")
        .fix("set GRUB_TIMEOUT=0 and GRUB_TIMEOUT_STYLE=hidden, then run `update-grub`");
    Some(finding)
}

rule! {
    /// GRUB takes long to read kernel and initramfs.
    ///
    /// **Why.** GRUB reads through the firmware (or its own simple drivers), far below
    /// what the disk can do; a large initramfs pays most.
    ///
    /// **Evidence.** The time of `Loading Linux …` and `Loading initial ramdisk ...`, above
    /// 1 s together.
    ///
    /// **Fix.** A smaller initramfs (`MODULES=dep`, dracut's `hostonly`), files on a file
    /// system that GRUB reads quickly (FAT, ext4).
    ///
    /// **Risk.** A small initramfs fits this machine only.
    ///
    /// **Figures.** The kernel's part alone fell from 4.24 to 2.24 s with an initramfs of
    /// 0.8 instead of 27 MB (Debian in a virtual machine).
    GRUB_LOAD = "grub-load", Bootloader, grub_load
}

fn grub_load(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let load = stage(&lines, |t| {
        begins(t, &["Loading Linux ", "Loading initial ramdisk"])
    })?;
    let finding = load
        .found("GRUB takes long to read kernel and initramfs")
        .why(format!("it takes {} ms", load.ms()))
        .saves_unknown("bytes that are left out, at this speed; `ls -l /boot` shows the sizes")
        .fix("make the initramfs smaller: `MODULES=dep` (initramfs-tools), `hostonly` (dracut)");
    (load.ns > 1_000_000_000).then_some(finding)
}
