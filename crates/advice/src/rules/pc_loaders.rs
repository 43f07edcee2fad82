//! Boot loaders of PCs: GRUB, systemd-boot.

use bootlap_model::{Milestone, TrackKind};

use super::checks;
use super::stages::{before_kernel, stage};
use crate::boot::{evidence, total_ns};
use crate::lines::Begin;
use crate::{Boot, Finding};

checks! {
    "loader-slow" => slow_loader,
    "grub-timeout" => grub_timeout,
    "grub-load" => grub_load,
    "systemd-boot-timeout" => systemd_boot_timeout,
}

fn slow_loader(boot: &Boot<'_>) -> Option<Finding> {
    boot.moment(&[Milestone::FirmwareDone])?;
    let begin = boot.moment(&[Milestone::BootloaderStart])?;
    let end = boot.moment(&[Milestone::KernelClockStart])?;
    let ns = end.saturating_sub(begin);
    if ns <= 1_000_000_000 || !before_kernel(boot).is_empty() {
        return None;
    }
    Some(
        Finding::new()
            .why(format!("systemd counts {} ms for it", ns / 1_000_000))
            .saves_unknown("a menu's time-out is saved whole; reading kernel and initramfs remains")
            .at(Some([begin, end])),
    )
}

fn grub_timeout(boot: &Boot<'_>) -> Option<Finding> {
    countdown(boot, "GRUB")
}

fn systemd_boot_timeout(boot: &Boot<'_>) -> Option<Finding> {
    countdown(boot, "systemd-boot")
}

fn countdown(boot: &Boot<'_>, loader: &str) -> Option<Finding> {
    let mut spans = boot.spans(TrackKind::Bootloader, "menu countdown");
    spans.retain(|span| span.arg("loader") == Some(loader));
    let ns = total_ns(&spans);
    let (first, last) = (spans.first()?, spans.last()?);
    Some(
        Finding::new()
            .seen(evidence(&spans))
            .at(Some([first.start_ns, last.end_ns]))
            .why(format!("it waits for {} ms", ns / 1_000_000))
            .saves(ns, "the countdown, as seen on the console")
            .recipe(boot.recipe("loader-timeout")),
    )
}

fn grub_load(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let load = stage(lines, Begin(["Loading Linux ", "Loading initial ramdisk"]))?;
    let finding = load
        .found()
        .why(format!("it takes {} ms", load.ms()))
        .saves_unknown("bytes that are left out, at this speed; `ls -l /boot` shows the sizes");
    (load.ns > 1_000_000_000).then_some(finding)
}
