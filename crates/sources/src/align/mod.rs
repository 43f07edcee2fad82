//! Joins the clocks of several files of one boot.
//!
//! Every file comes with clocks of its own. What shows how two of them lie is,
//! best first:
//!
//! 1. what the user declares;
//! 2. **anchors**: one event that both have a stamp of (the same kernel line
//!    in console, dmesg and journal; a program's first exec in a trace and in
//!    a bootchart; a `boot_progress` of Android). One anchor gives an offset,
//!    several give an offset that most of them agree on, and an error: how far
//!    those that agree lie apart; anchors far apart in time give the drift too;
//! 3. **milestones** that both passed, which are anchors of a coarser kind: a
//!    program that says it was started says so later than the one that
//!    starts it;
//! 4. clocks that **count the same thing** by definition: the kernel's log,
//!    `CLOCK_MONOTONIC`, uptime and the tracing clock all begin where the
//!    kernel does. They differ by what lies between (some ms, a second on slow
//!    machines), so this is only *assumed*, and every report says so.
//!
//! What nothing joins stays apart, and a notice says so. Where two ways lead
//! from one clock to another and disagree by more than their errors, a notice
//! says that too: it is the sign of evidence of two different boots.

mod declared;
mod matched;

use bootlap_model::{
    Axis, ClockEdge, ClockId, ClockKind, How, MarkKind, Milestone, Severity, Stamp, Timeline,
};

pub use declared::{Declared, Place};
use matched::{Match, best};

use crate::{boot_data, bug_report, commands};

/// How far the kernel's log clock, monotonic clock, uptime and trace clock
/// may lie apart: seen were 0.2 ms (arm64) to 0.4 s (x86 with a late TSC).
const SAME_ZERO_ERR_NS: u32 = 500_000_000;

/// The same event is recorded by different programs at slightly different
/// moments; fewer pairs of them do not show by how much.
const SURE_PAIRS: usize = 3;
const FEW_ERR_NS: u32 = 5_000_000;

/// Puts edges between the clocks of `timeline` that belong together.
///
/// # Errors
/// If what the user declared names no event of the timeline.
pub fn align(timeline: &mut Timeline, declared: &[Declared]) -> Result<(), String> {
    let fixed = declared::apply(timeline, declared)?;
    let anchors = matched::by_clock(timeline);
    let clocks: Vec<ClockId> = timeline.clock_ids().collect();
    let may_join = |t: &Timeline, a: ClockId, b: ClockId| {
        let (of_a, of_b) = (t.clock(a).file, t.clock(b).file);
        // One file that holds what several programs printed is as good as several.
        let several = [
            boot_data::SOURCE.name,
            bug_report::SOURCE.name,
            commands::SOURCE.name,
        ];
        let apart = of_a != of_b || several.contains(&&*t.file(of_a).source);
        apart && !fixed.contains(&of_a) && !fixed.contains(&of_b)
    };
    for (i, &a) in clocks.iter().enumerate() {
        for &b in &clocks[i + 1..] {
            if may_join(timeline, a, b) {
                join_by_anchors(timeline, a, b, &anchors);
            }
        }
    }
    join_by_milestones(timeline, &may_join);
    join_by_kind(timeline, &may_join);
    check(timeline);
    Ok(())
}

fn join_by_anchors(timeline: &mut Timeline, a: ClockId, b: ClockId, anchors: &[matched::Anchors]) {
    let of = |c: ClockId| anchors.iter().find(|x| x.clock == c);
    let (Some(of_a), Some(of_b)) = (of(a), of(b)) else {
        return;
    };
    let pairs = matched::pairs(of_a, of_b);
    if pairs.is_empty() {
        return;
    }
    match best(&pairs) {
        Match::Agreed(fit) => {
            let why = match fit.agreed {
                1 => "one event that both have".to_owned(),
                n => format!("{n} events that both have"),
            };
            let kinds = [a, b].map(|c| timeline.clock(c).kind);
            let mut fit = fit;
            if fit.agreed < SURE_PAIRS && kinds[0] != kinds[1] {
                fit.err_ns = fit.err_ns.saturating_add(FEW_ERR_NS);
            }
            let edge = ClockEdge {
                drift_ppm: fit.drift_ppm,
                pivot_ns: fit.pivot_ns,
                ..ClockEdge::offset(a, b, fit.offset_ns, fit.err_ns, How::SharedEvent)
            };
            let edge = edge.because(why, Some(fit.evidence));
            timeline.edges.push(edge);
        }
        Match::Contradictory(evidence) => timeline.notice(
            "clocks-do-not-match",
            Severity::Error,
            Some(evidence),
            "events that this evidence shares with other evidence lie differently apart in the two: is it of the same boot? If it is, say how they lie with --align",
        ),
    }
}

/// How exactly a milestone is the same moment in different evidence: ns, and
/// whether that is known. `None`: it is a different moment in each.
fn milestone_err_ns(milestone: Milestone) -> Option<(u32, How)> {
    Some(match milestone {
        // Printed by the one, recorded by the other, within a line's time.
        Milestone::BootloaderHandover => (20_000_000, How::SharedEvent),
        Milestone::StartupFinished => (20_000_000, How::SharedEvent),
        Milestone::Ready => (100_000_000, How::SharedEvent),
        // The kernel says that it runs init; init says that it runs.
        Milestone::InitStart
        | Milestone::UserEntry
        | Milestone::SwitchRoot
        | Milestone::ManagerStart => (500_000_000, How::Assumed),
        Milestone::PowerOn
        | Milestone::FirmwareDone
        | Milestone::BootloaderStart
        | Milestone::KernelEntry => (500_000_000, How::Assumed),
        Milestone::KernelImage
        | Milestone::KernelClockStart
        | Milestone::LoginPrompt
        | Milestone::ApplicationStart => {
            return None;
        }
    })
}

/// Joins what is still apart by the milestones that both passed, the most
/// exact first. Clocks that begin where the kernel does lie nearer to each other than
/// what two programs call one moment.
fn join_by_milestones(
    timeline: &mut Timeline,
    may_join: &impl Fn(&Timeline, ClockId, ClockId) -> bool,
) {
    let from_zero = from_kernel_start(timeline);
    let mut passed = Vec::new();
    for mark in &timeline.marks {
        if let MarkKind::Milestone(milestone) = mark.kind
            && let Some((err_ns, how)) = milestone_err_ns(milestone)
        {
            passed.push((how, err_ns, milestone, mark.clock, mark.at, mark.evidence));
        }
    }
    passed.sort_by_key(|p| (p.0, p.1, p.2));
    for (i, &(how, err_ns, milestone, a, at_a, evidence)) in passed.iter().enumerate() {
        for &(.., other, b, at_b, _) in &passed[i + 1..] {
            if other != milestone {
                break;
            }
            if !may_join(timeline, a, b) || are_joined(timeline, a, b) {
                continue;
            }
            if how == How::Assumed && [a, b].iter().all(|c| from_zero.contains(c)) {
                continue;
            }
            let offset_ns = at_b.ns.saturating_sub(at_a.ns);
            let err_ns = err_ns
                .saturating_add(at_a.err_ns)
                .saturating_add(at_b.err_ns);
            let edge = ClockEdge::offset(a, b, offset_ns, err_ns, how);
            let why = format!("both have “{}”", milestone.text());
            timeline.edges.push(edge.because(why, Some(evidence)));
        }
    }
}

/// Joins clocks that begin where the kernel does, as long as they are apart.
fn join_by_kind(timeline: &mut Timeline, may_join: &impl Fn(&Timeline, ClockId, ClockId) -> bool) {
    let mut clocks = from_kernel_start(timeline);
    let dated = dated_clocks(timeline);
    clocks.extend(dated.iter().copied());
    clocks.sort_by_key(|c| (timeline.clock(*c).kind, *c));
    for (i, &a) in clocks.iter().enumerate() {
        for &b in &clocks[i + 1..] {
            if !may_join(timeline, a, b) || are_joined(timeline, a, b) {
                continue;
            }
            let same = timeline.clock(a).kind == timeline.clock(b).kind;
            if !same && (dated.contains(&a) || dated.contains(&b)) {
                continue;
            }
            let err_ns = if same { 0 } else { SAME_ZERO_ERR_NS };
            let why = if same {
                "both are the same clock, if both are of one boot"
            } else {
                "both begin where the kernel begins"
            };
            let edge = ClockEdge::offset(b, a, 0, err_ns, How::Assumed);
            timeline.edges.push(edge.because(why, None));
        }
    }
}

/// The clocks that begin where the kernel does, as far as they say so.
fn from_kernel_start(timeline: &Timeline) -> Vec<ClockId> {
    let begins = |c: &ClockId| {
        matches!(
            timeline.clock(*c).kind,
            ClockKind::KernelPrintk | ClockKind::Monotonic | ClockKind::Boottime | ClockKind::Trace
        )
    };
    timeline.clock_ids().filter(begins).collect()
}

/// Wall clocks of the target that show a date: since 1970, not since midnight
/// or an unknown year.
fn dated_clocks(timeline: &Timeline) -> Vec<ClockId> {
    let year_2001_ns = 1_000_000_000_000_000_000;
    let is_dated = |c: &ClockId| {
        let mut spans = timeline.spans.iter().filter(|s| s.clock == *c);
        let mut marks = timeline.marks.iter().filter(|m| m.clock == *c);
        let mut anchors = timeline.anchors.iter().filter(|a| a.clock == *c);
        timeline.clock(*c).kind == ClockKind::Realtime
            && (spans.any(|s| s.start.ns > year_2001_ns)
                || marks.any(|m| m.at.ns > year_2001_ns)
                || anchors.any(|a| a.at.ns > year_2001_ns))
    };
    timeline.clock_ids().filter(is_dated).collect()
}

fn are_joined(timeline: &Timeline, a: ClockId, b: ClockId) -> bool {
    Axis::on(timeline, Some(a)).how(b).is_some()
}

/// Says which clocks are apart, and which edges contradict each other.
fn check(timeline: &mut Timeline) {
    let axis = Axis::of(timeline);
    let Some(reference) = axis.reference() else {
        return;
    };
    let mut contradictions = Vec::new();
    for edge in timeline.edges.iter().filter(|e| e.how < How::Assumed) {
        let zero = Stamp::new(edge.pivot_ns, 0);
        let arrived = Stamp::new(edge.pivot_ns.saturating_add(edge.offset_ns), 0);
        let (Some(from), Some(to)) = (axis.at(edge.from, zero), axis.at(edge.to, arrived)) else {
            continue;
        };
        let allowed = i64::from(from.err_ns) + i64::from(to.err_ns) + i64::from(edge.err_ns);
        let apart = from.ns.saturating_sub(to.ns).saturating_abs();
        if apart > allowed.saturating_add(1_000_000) {
            contradictions.push(edge.evidence);
        }
    }
    for evidence in contradictions {
        timeline.notice(
            "clocks-disagree",
            Severity::Error,
            evidence,
            "two ways to place this evidence's clock lead to different times: look at `bootlap inspect`, and leave out what is not of this boot",
        );
    }
    let apart: Vec<ClockId> = timeline
        .clock_ids()
        .filter(|c| *c != reference && axis.how(*c).is_none())
        .filter(|c| has_times(timeline, *c))
        .collect();
    for clock in apart {
        let at = timeline.marks.iter().find(|m| m.clock == clock);
        let at = at.map(|m| m.evidence);
        let first = timeline.spans.iter().find(|s| s.clock == clock);
        if let Some(at) = at.or(first.map(|s| s.evidence)) {
            let seen = seen(timeline, clock);
            timeline.notice(
                "clock-apart",
                Severity::Notice,
                Some(at),
                &format!("this is {seen} on a clock of its own, and nothing shows how that lies to the others, so it is on no common timeline: give evidence that shares an event with both, or say --align FILE:LINE=FILE:LINE or --offset FILE=SECONDS"),
            );
        }
    }
}

/// How long evidence was seen on `clock`, for people: `2.385 s`.
fn seen(timeline: &Timeline, clock: ClockId) -> String {
    let spans = timeline.spans.iter().filter(|s| s.clock == clock);
    let spans = spans.flat_map(|s| [Some(s.start), s.end.known()]).flatten();
    let marks = timeline.marks.iter().filter(|m| m.clock == clock);
    let times = spans.chain(marks.map(|m| m.at)).map(|at| at.ns);
    let first = times.clone().min().unwrap_or_default();
    let last = times.max().unwrap_or_default();
    format!("{:.3} s", last.saturating_sub(first) as f64 / 1e9)
}

fn has_times(timeline: &Timeline, clock: ClockId) -> bool {
    let mut spans = timeline.spans.iter().filter(|s| s.clock == clock);
    spans.any(|s| !timeline.is_only_a_length(s)) || timeline.marks.iter().any(|m| m.clock == clock)
}

#[cfg(test)]
mod tests;
