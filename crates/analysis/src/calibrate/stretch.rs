//! What two boots of one target have in common, cut at the lines of both.

use bootlap_model::{ClockKind, Milestone, Stamp, TrackKind};
use schemars::JsonSchema;
use serde::Serialize;

use super::NotCalibrated;
use crate::compare::common_texts;
use crate::extent::length_ns;
use crate::gap::label;
use crate::phase::{Phase, PhaseName, phase_of, phases_in};
use crate::predict::{Waits, bytes_ns, console_bytes, timer_loops};
use crate::view::View;

/// From one line to the next that both boots print.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "StretchJson")]
pub struct Stretch {
    /// The phase that most of it belongs to.
    #[schemars(with = "String")]
    pub phase: PhaseName,
    /// The line that it begins with.
    pub from: String,
    /// The line that ends it.
    pub to: String,
    /// Instructions that it took in the lab, without loops that wait.
    pub instructions: u64,
    /// Bytes that the board printed in it.
    #[serde(rename = "console_bytes")]
    pub bytes: u64,
    /// What takes as long on any machine.
    pub wait_ns: i64,
    /// How long it took on the board.
    #[serde(rename = "measured_ns")]
    pub board_ns: i64,
    /// What it took on the board without console and waits, ns: the CPU's own time, and
    /// that of hardware.
    #[serde(skip)]
    pub work_ns: i64,
    /// What the model makes of it: in the last boot in its time, where there was one, else by
    /// arithmetic.
    pub predicted_ns: i64,
    /// Whether such a boot had it.
    #[serde(skip)]
    pub lived: bool,
    /// Whether the board's speed does not rest on it.
    pub left_out: bool,
}

impl Stretch {
    pub(super) fn ns_per_insn(&self) -> f64 {
        self.work_ns as f64 / self.instructions.max(1) as f64
    }
}

/// A line of a boot.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) at: Stamp,
    /// Bytes that the console took before it.
    pub(super) bytes_before: u64,
}

/// From one line that two boots print to the next such line.
pub(super) struct Pair {
    /// The lines of the lab's boot.
    pub(super) ours: [Line; 2],
    /// Those of the board's.
    pub(super) theirs: [Line; 2],
}

/// What two boots have in common, in order.
pub(super) fn pairs(lab: &View, board: &View) -> Result<Vec<Pair>, NotCalibrated> {
    let logged = is_kernel_log(board);
    let theirs = lines(board, logged);
    if theirs.is_empty() {
        return Err(NotCalibrated::NotMeasured);
    }
    let ours = if logged {
        logged_lines(lab)
    } else {
        lines(lab, false)
    };
    let texts = |lines: &[Line]| lines.iter().map(|l| l.text.clone()).collect::<Vec<_>>();
    let common = common_texts(&texts(&ours), &texts(&theirs));
    let pairs = common.windows(2).map(|ends| Pair {
        ours: [0, 1].map(|end| ours[ends[end].0].clone()),
        theirs: [0, 1].map(|end| theirs[ends[end].1].clone()),
    });
    Ok(pairs.collect())
}

/// The stretches that both boots have; those without work are left away.
pub(super) fn common(lab: &View, board: &View, baud: u32) -> Result<Vec<Stretch>, NotCalibrated> {
    let waits = Waits::of(lab).ok_or(NotCalibrated::NotCounted)?;
    let phases = phases_in(lab);
    let (lab_loops, board_loops) = (timer_loops(lab), timer_loops(board));
    let mut stretches = Vec::new();
    for Pair { ours, theirs } in pairs(lab, board)? {
        let lab_ends = (ours[0].at, ours[1].at);
        let board_ends = (theirs[0].at, theirs[1].at);
        let Some((instructions, wait_ns)) = waits.between(&lab_ends.0, &lab_ends.1) else {
            continue;
        };
        // The board's own loops may wait longer (another bootdelay).
        let wait_ns = match loops_ns(&board_loops, board_ends) {
            0 => wait_ns,
            own_ns => wait_ns
                .saturating_sub(loops_ns(&lab_loops, lab_ends))
                .saturating_add(own_ns),
        };
        let bytes = theirs[1].bytes_before - theirs[0].bytes_before;
        let board_ns = length_ns(&board_ends.0, &board_ends.1);
        let line_ns = bytes_ns(bytes, baud) as i64;
        stretches.push(Stretch {
            phase: phase(&phases, lab_ends),
            from: ours[0].text.clone(),
            to: ours[1].text.clone(),
            instructions,
            bytes,
            wait_ns,
            board_ns,
            work_ns: board_ns.saturating_sub(line_ns).saturating_sub(wait_ns),
            predicted_ns: 0,
            lived: false,
            left_out: false,
        });
    }
    if stretches.is_empty() {
        return Err(NotCalibrated::NothingInCommon);
    }
    Ok(stretches)
}

fn phase(phases: &[Phase], (start, end): (Stamp, Stamp)) -> PhaseName {
    phase_of(phases, &start, &end).unwrap_or(PhaseName::Kernel)
}

fn loops_ns(loops: &[(Stamp, Stamp)], (start, end): (Stamp, Stamp)) -> i64 {
    let clipped = loops
        .iter()
        .filter_map(|l| crate::extent::clip((start, end), l.0, l.1));
    let lengths = clipped.map(|(a, b)| length_ns(&a, &b));
    lengths.fold(0, i64::saturating_add)
}

/// Whether the times are those at which the kernel logged, not those at which
/// the console sent.
fn is_kernel_log(view: &View) -> bool {
    let mut clocks = view.timeline.clocks.iter();
    clocks.all(|c| matches!(c.kind, ClockKind::KernelPrintk | ClockKind::Realtime))
}

/// All lines, in order of time.
pub(super) fn lines(view: &View, logged: bool) -> Vec<Line> {
    let spans = view.spans();
    let spans = spans.filter(|s| s.kind == TrackKind::Console);
    let mut printed = Printed::new(view, logged);
    let lines = spans.map(|s| Line {
        text: label(s.name()),
        at: s.start,
        bytes_before: printed.before(s.name(), console_bytes(view, &s)),
    });
    lines.filter(|l| !l.text.is_empty()).collect()
}

/// Counts what the console printed.
struct Printed {
    bytes: u64,
    /// In a kernel's log: what it keeps until there is a console. `None` once
    /// there is one.
    kept: Option<u64>,
    silent: bool,
}

impl Printed {
    fn new(view: &View, logged: bool) -> Self {
        let quiet = |name: &str| {
            let line = name.split_once("ommand line: ");
            line.is_some_and(|(_, line)| line.split_whitespace().any(|w| w == "quiet"))
        };
        let mut spans = view.spans();
        Self {
            bytes: 0,
            kept: logged.then_some(0),
            silent: logged && spans.any(|s| quiet(s.name())),
        }
    }

    /// How many bytes there were before this line, and counts it.
    fn before(&mut self, line: &str, bytes: u64) -> u64 {
        let before = self.bytes;
        let bytes = if self.silent { 0 } else { bytes };
        let opens = line.contains("console [") && line.trim_end().ends_with("] enabled");
        match &mut self.kept {
            // All that it kept is sent now.
            Some(kept) if opens => {
                self.bytes = self.bytes.saturating_add(*kept).saturating_add(bytes);
                self.kept = None;
            }
            Some(kept) => *kept = kept.saturating_add(bytes),
            None => self.bytes = self.bytes.saturating_add(bytes),
        }
        before
    }
}

/// The kernel's lines at the times that they themselves give.
fn logged_lines(lab: &View) -> Vec<Line> {
    let Some(zero) = lab.milestone(Milestone::KernelClockStart) else {
        return Vec::new();
    };
    let spans = lab.spans();
    let kernel = spans.filter(|s| s.kind == TrackKind::Console);
    let line = |name: &str| {
        let ns = printk_ns(name)?;
        Some(Line {
            text: label(name),
            at: Stamp::new(zero.ns.checked_add(ns)?, 1_000),
            bytes_before: 0,
        })
    };
    let mut lines: Vec<Line> = kernel.filter_map(|s| line(s.name())).collect();
    lines.sort_by_key(|l| l.at.ns);
    lines
}

/// `[    1.234567] …`
fn printk_ns(line: &str) -> Option<i64> {
    let (inside, _) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    let (s, us) = inside.trim().split_once('.')?;
    let (s, us): (i64, i64) = (s.parse().ok()?, us.get(..6)?.parse().ok()?);
    s.checked_mul(1_000_000)?
        .checked_add(us)?
        .checked_mul(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_count_as_far_as_they_lie_inside() {
        let at = |ns| Stamp::new(ns, 0);
        let loops = [(at(10), at(30)), (at(50), at(60)), (at(70), at(80))];
        assert_eq!(loops_ns(&loops, (at(20), at(55))), 15);
        assert_eq!(loops_ns(&loops, (at(90), at(95))), 0);
    }
}
