//! Printing on a serial line: ten bit times for each character.
//!
//! An emulated console takes no time, so the saving is a prediction for a
//! board, and is labelled so.

use bootlap_model::{Axis, Milestone, Timeline, TrackKind};

use super::{Rule, RuleMeta};
use crate::{Boot, Finding, Saving, SavingKind};

/// Start bit, eight data bits, stop bit.
const BITS_PER_BYTE: u64 = 10;

/// Fewer bytes than this are not worth a line.
const WORTH_IT_BYTES: u64 = 256;

/// The kernel prints its log on the serial console.
///
/// **Why.** Each character costs ten bit times, 86.8 us at 115 200 baud, and the
/// CPU that prints waits for it. A usual log of 30 KB is 2.6 s.
///
/// **Evidence.** The bytes that the console shows between the kernel's start and
/// its first program. An emulated console takes no time, so the saving is a
/// prediction for a board, from the speed that `console=` names.
///
/// **Fix.** `quiet` on the command line; `dmesg` still shows everything.
///
/// **Risk.** A kernel that hangs early says less about where.
pub(super) struct KernelMessages;

impl Rule for KernelMessages {
    fn meta(&self) -> &'static RuleMeta {
        &RuleMeta {
            name: "cmdline-quiet",
            title: "the kernel prints its log on the serial console",
        }
    }

    fn check(&self, boot: &Boot<'_>, out: &mut Vec<Finding>) {
        let (_, kernel) = printed(boot.timeline);
        let recipe = boot.recipe("cmdline-quiet").ok();
        // Quiet already: what it still prints is what is wrong.
        let done = boot.target.is_some() && recipe.is_none();
        if kernel < WORTH_IT_BYTES || done {
            return;
        }
        out.push(Finding {
            rule: self.meta().name.into(),
            title: "the kernel prints its log on the serial console".into(),
            why: format!("{kernel} bytes, each of which the CPU waits for"),
            saving: on_the_line(boot, kernel),
            fix: "add `quiet` to the command line; `dmesg` still shows everything".into(),
            recipe,
            at_ns: None,
            evidence: Vec::new(),
        });
    }
}

/// The boot loader prints what it does.
///
/// **Why.** As for the kernel: ten bit times for each character.
///
/// **Evidence.** The bytes on the console before the kernel starts; the saving
/// is a prediction for a board.
///
/// **Fix.** `silent=1` in U-Boot's environment, which needs a U-Boot with
/// `CONFIG_SILENT_CONSOLE`; and `silent_linux=no`, or U-Boot takes the console
/// from the kernel, too.
///
/// **Risk.** No messages when U-Boot itself fails.
pub(super) struct BootloaderMessages;

impl Rule for BootloaderMessages {
    fn meta(&self) -> &'static RuleMeta {
        &RuleMeta {
            name: "uboot-silent",
            title: "the boot loader prints what it does",
        }
    }

    fn check(&self, boot: &Boot<'_>, out: &mut Vec<Finding>) {
        let (bootloader, _) = printed(boot.timeline);
        if bootloader < WORTH_IT_BYTES {
            return;
        }
        let recipe = boot.recipe("uboot-silent");
        let fix = match &recipe {
            Err(why) if boot.target.is_some() => {
                format!("set `silent=1` in U-Boot's environment; here {why}")
            }
            _ => "set `silent=1` in U-Boot's environment".to_owned(),
        };
        out.push(Finding {
            rule: self.meta().name.into(),
            title: "U-Boot prints what it does on the serial console".into(),
            why: format!("{bootloader} bytes"),
            saving: on_the_line(boot, bootloader),
            fix,
            recipe: recipe.ok(),
            at_ns: None,
            evidence: Vec::new(),
        });
    }
}

fn on_the_line(boot: &Boot<'_>, bytes: u64) -> Saving {
    let baud = boot.baud();
    let ns = u128::from(bytes) * u128::from(BITS_PER_BYTE) * 1_000_000_000 / u128::from(baud);
    Saving {
        ns: i64::try_from(ns).unwrap_or(i64::MAX),
        kind: SavingKind::PredictedBoard,
        basis: format!("{bytes} bytes at {baud} baud, ten bits each"),
    }
}

/// Bytes printed before the kernel began, and from there to its first program.
/// What lies at moments that nobody saw is not counted: silence is better than
/// blaming the kernel for what user space printed.
fn printed(timeline: &Timeline) -> (u64, u64) {
    let axis = Axis::of(timeline);
    let at = |milestones: &[Milestone]| {
        let mark = milestones.iter().find_map(|m| timeline.milestone(*m))?;
        Some(axis.mark(mark)?.ns)
    };
    let starts = [
        Milestone::KernelEntry,
        Milestone::BootloaderHandover,
        Milestone::KernelClockStart,
    ];
    let Some(kernel) = at(&starts) else {
        return (0, 0);
    };
    let init = at(&[Milestone::UserEntry, Milestone::InitStart]).unwrap_or(kernel);
    let mut bytes = (0_u64, 0_u64);
    for span in timeline.spans_of(TrackKind::Console) {
        let Some(placed) = axis.span(span) else {
            continue;
        };
        let n = span.evidence.end.saturating_sub(span.evidence.start);
        if placed.start.ns < kernel {
            bytes.0 = bytes.0.saturating_add(n);
        } else if placed.start.ns < init {
            bytes.1 = bytes.1.saturating_add(n);
        }
    }
    bytes
}
