//! Stages of a boot that lines of text delimit.
//!
//! A program says what it is about to do and then does it, so the time of a
//! line is what passes until the next; of an error that is told at the end of
//! a wait, it is what passed since the line before.

use bootlap_model::{Evidence, Milestone, TrackKind};

use crate::lines::{Line, Said, Wanted};
use crate::{Boot, Finding};

/// What some lines show.
pub(super) struct Stage {
    /// How long it took.
    pub(super) ns: i64,
    /// From its first line to its last.
    pub(super) at: [i64; 2],
    /// The lines.
    pub(super) seen: Vec<Evidence>,
}

impl Stage {
    pub(super) fn ms(&self) -> i64 {
        self.ns / 1_000_000
    }

    /// A finding that points at it.
    pub(super) fn found(&self) -> Finding {
        let finding = Finding::new().at(Some(self.at));
        finding.seen(self.seen.iter().copied())
    }
}

/// The lines that are wanted, each until the next one.
pub(super) fn stage(lines: Said<'_, '_>, wanted: impl Wanted) -> Option<Stage> {
    let found: Vec<&Line<'_>> = lines.all(wanted).collect();
    let (first, last) = (found.first()?, found.last()?);
    Some(Stage {
        ns: found.iter().fold(0, |ns, l| ns.saturating_add(l.ns())),
        at: [first.start_ns, last.next_ns],
        seen: found.iter().map(|l| l.evidence).collect(),
    })
}

/// From the first line that is wanted as `from` to the first one after it as `to`.
pub(super) fn until(lines: Said<'_, '_>, from: impl Wanted, to: impl Wanted) -> Option<Stage> {
    let at = lines.places(from).next()?;
    let (first, last) = (lines[at], lines.since(at + 1).find(to)?);
    Some(Stage {
        ns: last.start_ns.saturating_sub(first.start_ns),
        at: [first.start_ns, last.start_ns],
        seen: vec![first.evidence, last.evidence],
    })
}

/// The silence in front of each line that is wanted.
pub(super) fn before(lines: Said<'_, '_>, wanted: impl Wanted) -> Option<Stage> {
    let places = lines.places(wanted).filter(|at| *at > 0);
    let found: Vec<_> = places.map(|at| (lines[at - 1], lines[at])).collect();
    let (first, last) = (found.first()?, found.last()?);
    Some(Stage {
        ns: found.iter().fold(0, |ns, (l, _)| ns.saturating_add(l.ns())),
        at: [first.0.start_ns, last.1.start_ns],
        seen: found.iter().map(|(_, line)| line.evidence).collect(),
    })
}

/// When the kernel took over, ns; where nobody saw it, never.
fn kernel_ns(boot: &Boot<'_>) -> i64 {
    let starts = [
        Milestone::KernelEntry,
        Milestone::BootloaderHandover,
        Milestone::KernelClockStart,
    ];
    boot.moment(&starts).unwrap_or(i64::MAX)
}

/// What was said before the kernel took over.
pub(super) fn before_kernel<'b, 'a>(boot: &'b Boot<'a>) -> Said<'b, 'a> {
    let kernel = kernel_ns(boot);
    let lines = boot.lines();
    lines.until(lines.partition_point(|l| l.start_ns < kernel))
}

/// What was said from then on; everything where nobody saw it.
pub(super) fn since_kernel<'b, 'a>(boot: &'b Boot<'a>) -> Said<'b, 'a> {
    let kernel = kernel_ns(boot);
    let lines = boot.lines();
    match kernel {
        i64::MAX => lines,
        _ => lines.since(lines.partition_point(|l| l.start_ns < kernel)),
    }
}

/// What U-Boot said, from its first banner (SPL's) to the kernel; nothing
/// where another boot loader ran.
///
/// Some tools stamp a line at its end. Then the wait for a key, which is inside
/// of its line, passes after the line before: it is taken away from that.
pub(super) fn uboot<'a>(boot: &Boot<'a>) -> Vec<Line<'a>> {
    let lines = before_kernel(boot);
    let Some(banner) = lines.places(("U-Boot ", is_banner)).next() else {
        return Vec::new();
    };
    let mut lines = lines[banner..].to_vec();
    for wait in boot.spans(TrackKind::Bootloader, "autoboot wait") {
        let others = lines.iter_mut().filter(|l| !l.text.contains("autoboot"));
        for line in others.filter(|l| l.start_ns <= wait.start_ns && l.next_ns > wait.start_ns) {
            line.next_ns = wait.start_ns;
        }
    }
    lines
}

/// `U-Boot 2023.01 (Jan 22 2023 …)`, `U-Boot SPL 2023.01 …`.
fn is_banner(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("U-Boot ") else {
        return false;
    };
    let stages = ["SPL ", "TPL ", "VPL "];
    let stage = stages.iter().find_map(|s| rest.strip_prefix(s));
    let digit = |c: char| c.is_ascii_digit();
    stage.unwrap_or(rest).starts_with(digit)
}

/// The ended boot loader spans of this name, as one stage.
pub(super) fn loader_span(boot: &Boot<'_>, name: &str) -> Option<Stage> {
    let spans = boot.spans(TrackKind::Bootloader, name);
    let (first, last) = (spans.first()?, spans.last()?);
    Some(Stage {
        ns: crate::boot::total_ns(&spans),
        at: [first.start_ns, last.end_ns],
        seen: crate::boot::evidence(&spans),
    })
}
