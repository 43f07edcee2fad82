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
        if kernel < WORTH_IT_BYTES {
            return;
        }
        out.push(Finding {
            rule: self.meta().name.into(),
            title: "the kernel prints its log on the serial console".into(),
            why: format!("{kernel} bytes, each of which the CPU waits for"),
            saving: on_the_line(boot, kernel),
            fix: "add `quiet` to the command line; `dmesg` still shows everything".into(),
            recipe: boot.recipe("cmdline-quiet").ok(),
            at_ns: None,
            evidence: Vec::new(),
        });
    }
}

/// The boot loader prints what it does.
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
            Ok(_) => "set `silent=1` in U-Boot's environment".to_owned(),
            Err(why) => format!("set `silent=1` in U-Boot's environment; here {why}"),
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

/// Bytes printed before and after the kernel began, up to its first program.
fn printed(timeline: &Timeline) -> (u64, u64) {
    let axis = Axis::of(timeline);
    let at = |milestones: &[Milestone]| {
        let mark = milestones.iter().find_map(|m| timeline.milestone(*m))?;
        Some(axis.mark(mark)?.ns)
    };
    let handover = at(&[Milestone::KernelEntry, Milestone::BootloaderHandover]);
    let init = at(&[Milestone::UserEntry, Milestone::InitStart]).unwrap_or(i64::MAX);
    let mut bytes = (0, 0);
    for span in timeline.spans_of(TrackKind::Console) {
        let Some(placed) = axis.span(span) else {
            continue;
        };
        let n = span.evidence.end.saturating_sub(span.evidence.start);
        if handover.is_some_and(|h| placed.start.ns < h) {
            bytes.0 += n;
        } else if placed.start.ns < init {
            bytes.1 += n;
        }
    }
    bytes
}
