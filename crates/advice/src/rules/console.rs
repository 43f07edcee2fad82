//! Printing on a serial line: ten bit times for each character.
//!
//! An emulated console takes no time, so the saving is a prediction for a
//! board, and is labelled so.

use bootlap_model::{Milestone, Span, Timeline, TrackKind};

use super::checks;
use crate::{Boot, Finding};

checks! {
    "cmdline-quiet" => kernel_messages,
    "uboot-silent" => bootloader_messages,
}

/// What records a wire; a kernel's log may never have been printed.
const WIRES: [&str; 5] = ["stamps", "console", "grabserial", "ts", "lava"];

/// Fewer bytes than this are not worth a line.
const WORTH_IT_BYTES: u64 = 256;

fn kernel_messages(boot: &Boot<'_>) -> Option<Finding> {
    let (_, kernel) = printed(boot);
    let recipe = boot.recipe("cmdline-quiet");
    // Quiet already: what it still prints is what is wrong.
    let done = boot.target().is_some() && recipe.is_err();
    if kernel < WORTH_IT_BYTES || done {
        return None;
    }
    Some(
        Finding::new()
            .why(format!("{kernel} bytes, each of which the CPU waits for"))
            .saves_on_board(boot.on_the_line_ns(kernel), on_the_line(boot, kernel))
            .recipe(recipe),
    )
}

fn bootloader_messages(boot: &Boot<'_>) -> Option<Finding> {
    let (bootloader, _) = printed(boot);
    // A log without its banner may be another firmware's.
    let is_uboot = boot.target().is_some() || boot.line("U-Boot").is_some();
    if bootloader < WORTH_IT_BYTES || !is_uboot {
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
            .why(format!("{bootloader} bytes"))
            .saves_on_board(
                boot.on_the_line_ns(bootloader),
                on_the_line(boot, bootloader),
            )
            .fix(fix)
            .recipe(recipe),
    )
}

fn on_the_line(boot: &Boot<'_>, bytes: u64) -> String {
    format!("{bytes} bytes at {} baud, ten bits each", boot.baud())
}

/// Bytes printed before the kernel began, and from there to its first program.
/// What lies at moments that nobody saw is not counted: silence is better than
/// blaming the kernel for what user space printed.
pub(super) fn printed(boot: &Boot<'_>) -> (u64, u64) {
    let (timeline, axis) = (boot.timeline(), boot.axis());
    let starts = [
        Milestone::KernelEntry,
        Milestone::BootloaderHandover,
        Milestone::KernelClockStart,
    ];
    let Some(kernel) = boot.moment(&starts) else {
        return (0, 0);
    };
    let init = boot
        .moment(&[Milestone::UserEntry, Milestone::InitStart])
        .unwrap_or(kernel);
    let mut bytes = (0_u64, 0_u64);
    let spans = timeline.spans_of(TrackKind::Console);
    for span in spans.filter(|span| on_a_wire(timeline, span)) {
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

/// Whether a line was recorded on the wire that it was sent over.
pub(super) fn on_a_wire(timeline: &Timeline, span: &Span) -> bool {
    let source = &timeline.file(span.evidence.file).source;
    WIRES.contains(&source.as_str())
}
