//! Boot loaders of PCs: GRUB, systemd-boot.

use bootlap_model::Milestone;

use super::checks;
use super::stages::{before_kernel, stage};
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
    let lines = before_kernel(boot);
    let says = "The highlighted entry will be executed automatically in ";
    let wait = stage(lines, says)?;
    // Between two numbers GRUB moves the cursor, by empty lines: these are its wait, too.
    let ns = wait.at[1].saturating_sub(wait.at[0]);
    Some(
        wait.found()
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

fn systemd_boot_timeout(boot: &Boot<'_>) -> Option<Finding> {
    const SECOND: i64 = 1_000_000_000;
    let counts = |text: &str| {
        let (_, rest) = text.split_once("Boot in ").unwrap_or_default();
        let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        behind.len() < rest.len() && behind.starts_with(" s.")
    };
    let says = ("Boot in ", counts);
    let lines = before_kernel(boot);
    let wait = stage(lines, says)?;
    let last = lines.all(says).last()?;
    // Behind its last second the kernel is loaded.
    let end = last.start_ns.saturating_add(last.ns().min(SECOND));
    let ns = end.saturating_sub(wait.at[0]);
    Some(
        wait.found()
            .at(Some([wait.at[0], end]))
            .why(format!("it waits for {} ms", ns / 1_000_000))
            .saves(ns, "the countdown, as seen on the console")
            .recipe(boot.recipe("loader-timeout")),
    )
}
