//! What the kernel and the boot loader print on a serial line.

use bootlap_model::Milestone;
use bootlap_product::cmdline;

use super::checks;
use crate::boot::evidence;
use crate::serial::Cost;
use crate::{Boot, Finding, Printer};

checks! {
    "cmdline-quiet" => kernel_messages,
    "uboot-silent" => bootloader_messages,
}

/// Fewer bytes than this are not worth a line.
const WORTH_IT_BYTES: u64 = 256;

fn kernel_messages(boot: &Boot<'_>) -> Option<Finding> {
    let (_, kernel) = printed(boot);
    let recipe = boot.recipe("cmdline-quiet");
    // Quiet already: what it still prints is what is wrong. Or the boot waits for what is
    // printed, which can be changed.
    let waits = recipe
        .as_ref()
        .err()
        .filter(|w| w.contains("ready.pattern"));
    let done = boot.target().is_some() && recipe.is_err() && waits.is_none();
    let words = boot.facts().cmdline.as_deref().map(cmdline::words);
    let words = words.unwrap_or_default();
    // Whatever the level: only without this word do levels count.
    let ignored = words.contains(&"ignore_loglevel");
    let is_quiet = words.contains(&"quiet") && !ignored;
    if kernel.bytes < WORTH_IT_BYTES || done || is_quiet {
        return None;
    }
    let finding = Finding::new()
        .why(format!(
            "{} bytes, each of which the CPU waits for",
            kernel.bytes
        ))
        .saves_printing(boot, Printer::Kernel, kernel);
    let finding = finding.at(boot.flush_at()).seen(evidence(&boot.flushes()));
    if let Some(why) = waits {
        let fix = format!("add `quiet` to the command line; here {why}");
        return Some(finding.fix(fix).recipe(recipe));
    }
    Some(match ignored {
        true => finding.fix(
            "remove `ignore_loglevel` from the command line and add `quiet`; `dmesg` still shows \
             everything",
        ),
        false => finding.recipe(recipe),
    })
}

fn bootloader_messages(boot: &Boot<'_>) -> Option<Finding> {
    let (bootloader, _) = printed(boot);
    // Without its banner it may be GRUB's, or another firmware's.
    let is_uboot = boot.line("U-Boot").is_some();
    if bootloader.bytes < WORTH_IT_BYTES || !is_uboot {
        return None;
    }
    let recipe = boot.recipe("uboot-silent");
    let fix = match &recipe {
        Err(why) if boot.target().is_some() => {
            format!("set `silent=1` in U-Boot's environment; here {why}")
        }
        _ => "set `silent=1` in U-Boot's environment".to_owned(),
    };
    Some(
        Finding::new()
            .why(format!("{} bytes", bootloader.bytes))
            .saves_printing(boot, Printer::Bootloader, bootloader)
            .fix(fix)
            .recipe(recipe),
    )
}

/// What was printed before the kernel began, and from there to its first program.
/// What lies at moments that nobody saw is not counted: silence is better than
/// blaming the kernel for what user space printed.
pub(super) fn printed(boot: &Boot<'_>) -> (Cost, Cost) {
    let starts = [
        Milestone::KernelEntry,
        Milestone::BootloaderHandover,
        Milestone::KernelClockStart,
    ];
    let Some(kernel) = boot.moment(&starts) else {
        return (Cost::default(), Cost::default());
    };
    let init = boot
        .moment(&[
            Milestone::UserEntry,
            Milestone::InitStart,
            Milestone::ManagerStart,
        ])
        .unwrap_or(kernel);
    let lines = boot.lines();
    let before = lines.partition_point(|l| l.start_ns < kernel);
    let until = lines.partition_point(|l| l.start_ns < init).max(before);
    let of_kernel = Cost::of(&lines[before..until]).with(boot.flushed(init));
    (Cost::of(&lines[..before]), of_kernel)
}
