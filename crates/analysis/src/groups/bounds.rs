//! From where to where boots can be compared.
//!
//! A target says what *ready* is; a folder of logs from somebody's board does
//! not. Its logs may have been cut at different moments (`dmesg` typed five
//! seconds or five minutes after the boot), so that the time of their last
//! line says nothing. What can be compared ends at a moment that every boot
//! has: ready, else systemd's own *startup finished*, else a target of
//! systemd's, else a prompt, else the last line that all boots print in one order, else the
//! last milestone. It begins at the first such moment.
//!
//! A boot that lacks a milestone which most others of its side pass did not
//! get there: a failure of its side, counted and named. So that one boot that
//! hung does not decide how far the others are looked at.

use std::borrow::Cow;

use bootlap_model::{
    Axis, ClockKind, Evidence, Mark, MarkKind, Milestone, Span, Stamp, Timeline, TrackKind,
};
use serde::Serialize;

use super::Boot;
use crate::compare::place::{Line, common_to_all, lines};
use crate::ends::{TARGETS, reached, shell_prompt};
use crate::stats::median;
use crate::view::View;

/// What the times of all boots count from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// A milestone that all boots passed.
    Milestone(Milestone),
    /// The first line that all boots print.
    Line(String),
    /// The first event of each boot: nothing says that it is the same one.
    First,
}

/// What all boots are followed to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// A milestone.
    Milestone(Milestone),
    /// This unit of systemd's was active.
    Unit(String),
    /// The last line that all boots print in the same order.
    Line(String),
    /// The last event of each boot; such times are not compared.
    Last,
    /// None: of a side it is only known how long things took, and not when.
    Durations,
}

/// The chosen part of one boot, on its axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Window {
    /// The common start; `None` for the boot's own.
    pub from: Option<Stamp>,
    /// The common end; `None` for the boot's own.
    pub to: Option<Stamp>,
}

/// What was chosen for all boots.
pub(super) struct Chosen {
    pub(super) start: Start,
    pub(super) end: End,
    /// By side and boot; `None` for a boot that never got to the end.
    pub(super) windows: [Vec<Option<Window>>; 2],
    /// By side: how many boots go on after the end, and how long at most, ns.
    pub(super) go_on: [(usize, i64); 2],
}

/// Where most boots of a side must have been for the others to have failed.
const MILESTONES: [Milestone; 5] = [
    Milestone::StartupFinished,
    Milestone::ApplicationStart,
    Milestone::ManagerStart,
    Milestone::SwitchRoot,
    Milestone::InitStart,
];

const STARTS: [Milestone; 7] = [
    Milestone::PowerOn,
    Milestone::FirmwareDone,
    Milestone::BootloaderStart,
    Milestone::BootloaderHandover,
    Milestone::KernelImage,
    Milestone::KernelEntry,
    Milestone::KernelClockStart,
];

/// A common line counts as the start if it comes so much before any common
/// milestone, ns.
const EARLIER_NS: i64 = 100_000_000;

/// What comes after a silence that is longer than this and than all before it
/// is no part of the boot (somebody plugged something in), ns.
const LONG_NS: i64 = 20_000_000_000;

/// What the kernel says whenever it happens, however far the boot is.
const WHENEVER: [&str; 12] = [
    "random: ",
    "clocksource: ",
    "audit: ",
    "perf: ",
    "hrtimer: ",
    "sched_clock: ",
    "workqueue: ",
    "tsc: ",
    "watchdog: ",
    "rcu: ",
    "usb ",
    "input: ",
];
const WHENEVER_WITHIN: [&str; 4] = ["link up", "Link is", "link becomes ready", "carrier"];

/// One boot, looked at.
struct Seen<'t> {
    view: View<'t>,
    bounds: Option<(Stamp, Stamp)>,
    awaited: bool,
}

/// Chooses start and end.
pub(super) fn choose(sides: [&[Boot<'_>]; 2]) -> Chosen {
    let seen = sides.map(|boots| {
        let seen = boots.iter().map(|boot| {
            let view = View::of(boot.timeline);
            Seen {
                bounds: view.bounds(),
                awaited: boot.awaited,
                view,
            }
        });
        seen.collect::<Vec<Seen>>()
    });
    let (end, ends) = end(&seen);
    let reached = |side: usize, at: usize| match end {
        End::Last => seen[side][at].bounds.is_some(),
        End::Durations => seen[side][at].tells_durations(),
        _ => ends[side][at].is_some(),
    };
    let (start, starts) = start(&seen, &reached);
    let windows = [0, 1].map(|side| {
        let window = |at: usize| {
            reached(side, at).then(|| Window {
                from: starts[side][at],
                to: ends[side][at],
            })
        };
        (0..seen[side].len()).map(window).collect::<Vec<_>>()
    });
    let go_on = [0, 1].map(|side| {
        let rests = seen[side].iter().zip(&ends[side]).filter_map(|(s, end)| {
            let rest = s.bounds?.1.ns.saturating_sub((*end)?.ns);
            (rest > 0).then_some(rest)
        });
        let rests: Vec<i64> = rests.collect();
        (rests.len(), rests.into_iter().max().unwrap_or(0))
    });
    Chosen {
        start,
        end,
        windows,
        go_on,
    }
}

/// A moment of each boot, by side.
type Moments = [Vec<Option<Stamp>>; 2];

fn moments<'t>(seen: &[Vec<Seen<'t>>; 2], of: impl Fn(&Seen<'t>) -> Option<Stamp>) -> Moments {
    seen.each_ref().map(|side| side.iter().map(&of).collect())
}

/// The end that is taken, and when each boot came to it.
fn end(seen: &[Vec<Seen>; 2]) -> (End, Moments) {
    let milestone = |m: Milestone| moments(seen, |s| s.milestone(m));
    let ready = milestone(Milestone::Ready);
    let named = [0, 1].map(|side| {
        seen[side].iter().any(|s| s.awaited) || ready[side].iter().any(Option::is_some)
    });
    if named == [true; 2] {
        return (End::Milestone(Milestone::Ready), ready);
    }
    let finished = milestone(Milestone::StartupFinished);
    if most(&finished) {
        return (End::Milestone(Milestone::StartupFinished), finished);
    }
    for unit in TARGETS {
        let reached = moments(seen, |s| reached(&s.view, unit));
        if most(&reached) {
            return (End::Unit(unit.to_owned()), reached);
        }
    }
    let login = milestone(Milestone::LoginPrompt);
    if most(&login) {
        return (End::Milestone(Milestone::LoginPrompt), login);
    }
    let shell = moments(seen, |s| shell_prompt(&s.view));
    if most(&shell) {
        return (End::Line(Span::SHELL_PROMPT.to_owned()), shell);
    }
    // With the first moment of all boots nothing would be left of any.
    let begun = moments(seen, |s| s.bounds.map(|bounds| bounds.0));
    let is_behind = |ends: &Moments| {
        let each = ends.iter().flatten().zip(begun.iter().flatten());
        let mut known = each.filter_map(|(end, begun)| Some(((*end)?, (*begun)?)));
        known.any(|(end, begun)| begun.ns < end.ns)
    };
    let mut best = (End::Last, moments(seen, |_| None));
    for m in MILESTONES {
        // Some boots are seen to run their first program, others to say so; of some only
        // the service manager tells, and that they are of several kinds is noted.
        let reached = match m {
            Milestone::InitStart => moments(seen, |s| {
                let others = [m, Milestone::UserEntry, Milestone::ManagerStart];
                others.into_iter().find_map(|m| s.milestone(m))
            }),
            _ => milestone(m),
        };
        if most(&reached) && is_behind(&reached) {
            best = (End::Milestone(m), reached);
            break;
        }
    }
    let only_lasts = |s: &Seen<'_>| s.bounds.is_none() && s.tells_durations();
    if best.0 == End::Last && seen.iter().any(|side| side.iter().all(only_lasts)) {
        return (End::Durations, best.1);
    }
    // Boots that hung before that milestone print nothing of what comes later.
    let got_there = |side: usize, at: usize| match best.0 {
        End::Last => seen[side][at].bounds.is_some(),
        _ => best.1[side][at].is_some(),
    };
    let Some((text, at)) = last_line(seen, &got_there) else {
        return best;
    };
    match is_behind(&at) && middle(&at) > middle(&best.1) {
        true => (End::Line(text), at),
        false => best,
    }
}

/// Whether most boots of either side have it.
fn most(moments: &Moments) -> bool {
    let most_of = |side: &Vec<Option<Stamp>>| {
        let there = side.iter().filter(|m| m.is_some()).count();
        there * 2 > side.len()
    };
    moments.iter().all(most_of)
}

fn middle(moments: &Moments) -> Option<i64> {
    let known = moments.iter().flatten().flatten();
    median(&known.map(|m| m.ns).collect::<Vec<i64>>())
}

/// The last line that all of these boots print once and in the same order, and
/// when each did.
fn last_line(
    seen: &[Vec<Seen>; 2],
    takes_part: &dyn Fn(usize, usize) -> bool,
) -> Option<(String, Moments)> {
    let (lines, chain) = common_lines(seen, takes_part)?;
    let at = |anchor: &Vec<usize>| {
        let times = lines.iter().zip(anchor).map(|(lines, &at)| lines[at].at.ns);
        median(&times.collect::<Vec<i64>>()).unwrap_or(0)
    };
    let opening = at(chain.first()?);
    let silence = chain.windows(2).position(|pair| {
        let (from, to) = (at(&pair[0]), at(&pair[1]));
        let so_far = from.saturating_sub(opening);
        to.saturating_sub(from) > so_far.max(LONG_NS)
    });
    let chain = &chain[..silence.map_or(chain.len(), |at| at + 1)];
    let whenever = |anchor: &&Vec<usize>| {
        let text = lines[0][anchor[0]].text.as_str();
        let within = WHENEVER_WITHIN.iter().any(|w| text.contains(w));
        within || WHENEVER.iter().any(|w| text.starts_with(w))
    };
    let last = chain.iter().rev().find(|anchor| !whenever(anchor))?;
    Some(line_at(seen, takes_part, &lines, last))
}

/// The first line that all of these boots print.
fn first_line(
    seen: &[Vec<Seen>; 2],
    takes_part: &dyn Fn(usize, usize) -> bool,
) -> Option<(String, Moments)> {
    let (lines, chain) = common_lines(seen, takes_part)?;
    Some(line_at(seen, takes_part, &lines, chain.first()?))
}

/// Common lines, each with its place in every boot.
type Chain = Vec<Vec<usize>>;

/// The lines of all boots that take part, and for each common one its places.
fn common_lines(
    seen: &[Vec<Seen>; 2],
    takes_part: &dyn Fn(usize, usize) -> bool,
) -> Option<(Vec<Vec<Line>>, Chain)> {
    let mut all = Vec::new();
    for (side, boots) in seen.iter().enumerate() {
        for (at, boot) in boots.iter().enumerate() {
            if takes_part(side, at) {
                all.push(lines(&boot.view));
            }
        }
    }
    let chain = common_to_all(&all);
    (!chain.is_empty()).then_some((all, chain))
}

fn line_at(
    seen: &[Vec<Seen>; 2],
    takes_part: &dyn Fn(usize, usize) -> bool,
    lines: &[Vec<Line>],
    anchor: &[usize],
) -> (String, Moments) {
    let mut places = lines.iter().zip(anchor).map(|(lines, &at)| lines[at].at);
    let moments = [0, 1].map(|side| {
        let boots = 0..seen[side].len();
        let at = boots.map(|at| takes_part(side, at).then(|| places.next()).flatten());
        at.collect::<Vec<_>>()
    });
    (lines[0][anchor[0]].text.clone(), moments)
}

/// The start that is taken, and when it was in each boot.
fn start(seen: &[Vec<Seen>; 2], takes_part: &dyn Fn(usize, usize) -> bool) -> (Start, Moments) {
    let in_all = |moments: &Moments| {
        let sides = moments.iter().enumerate();
        sides.into_iter().all(|(side, list)| {
            let boots = list.iter().enumerate();
            boots
                .into_iter()
                .all(|(at, m)| m.is_some() || !takes_part(side, at))
        })
    };
    let mut best: Option<(Start, Moments)> = None;
    for m in STARTS {
        let at = moments(seen, |s| s.start(m));
        let earlier = |best: &(Start, Moments)| middle(&at) < middle(&best.1);
        if in_all(&at) && best.as_ref().is_none_or(earlier) {
            best = Some((Start::Milestone(m), at));
        }
    }
    if let Some((text, at)) = first_line(seen, takes_part) {
        let earlier = |best: &(Start, Moments)| {
            let line_ns = middle(&at).unwrap_or(0).saturating_add(EARLIER_NS);
            Some(line_ns) < middle(&best.1)
        };
        if best.as_ref().is_none_or(earlier) {
            best = Some((Start::Line(text), at));
        }
    }
    best.unwrap_or_else(|| (Start::First, moments(seen, |_| None)))
}

impl Seen<'_> {
    /// Whether it says how long anything took.
    fn tells_durations(&self) -> bool {
        !self.view.timeline.spans.is_empty()
    }

    /// A milestone, on the axis.
    fn milestone(&self, milestone: Milestone) -> Option<Stamp> {
        self.view.milestone(milestone)
    }

    /// A milestone that a boot can be counted from. What the kernel's clocks
    /// count from is when the kernel's clock started, said or not.
    fn start(&self, milestone: Milestone) -> Option<Stamp> {
        let implied = || {
            let axis = Axis::of(self.view.timeline);
            let clock = self.view.timeline.clock(axis.reference()?);
            let kernels = matches!(
                clock.kind,
                ClockKind::KernelPrintk | ClockKind::Monotonic | ClockKind::Boottime
            );
            let asked = milestone == Milestone::KernelClockStart;
            (kernels && asked).then_some(Stamp::new(0, 0))
        };
        self.milestone(milestone).or_else(implied)
    }
}

/// The timeline with its boot cut to `window`: what it had of power on and
/// ready makes way for the common start and end. Borrowed where these are its
/// own.
pub(super) fn bounded<'t>(
    timeline: &'t Timeline,
    window: &Window,
    (start, end): (&Start, &End),
) -> Cow<'t, Timeline> {
    let own_start = *start == Start::Milestone(Milestone::PowerOn);
    let own_end = *end == End::Milestone(Milestone::Ready);
    let Some(clock) = Axis::of(timeline).reference() else {
        return Cow::Borrowed(timeline);
    };
    if own_start && own_end {
        return Cow::Borrowed(timeline);
    }
    let axis = Axis::of(timeline);
    let mut timeline = timeline.clone();
    let cuts = [Milestone::PowerOn, Milestone::Ready].map(MarkKind::Milestone);
    timeline.marks.retain(|mark| !cuts.contains(&mark.kind));
    if let Some(from) = window.from {
        forget_before(&mut timeline, &axis, from);
    }
    let Some(evidence) = any_evidence(&timeline) else {
        return Cow::Owned(timeline);
    };
    // Where the boot begins there anyway nothing needs to say so.
    let first = View::of(&timeline).bounds().map(|b| b.0.ns);
    let from = window.from.filter(|from| Some(from.ns) != first);
    // Their names say what they are: power was perhaps not seen to come on.
    for (at, milestone, name) in [
        (from, Milestone::PowerOn, "the common start"),
        (window.to, Milestone::Ready, "the common end"),
    ] {
        let Some(at) = at else { continue };
        timeline.add_mark(clock, at, MarkKind::Milestone(milestone), name, evidence);
    }
    Cow::Owned(timeline)
}

/// Drops what tells of firmware and boot loader before the start, so that the
/// boot does not seem to begin with them.
fn forget_before(timeline: &mut Timeline, axis: &Axis, from: Stamp) {
    let is_before = |mark: &Mark| axis.mark(mark).is_some_and(|at| at.ns < from.ns);
    timeline
        .marks
        .retain(|mark| !is_before(mark) || mark.kind == MarkKind::Named);
    let early: Vec<bool> = (timeline.spans.iter())
        .map(|span| {
            let kind = timeline.kind_of(span);
            let start = axis.span(span).map(|placed| placed.start.ns);
            matches!(kind, TrackKind::Firmware | TrackKind::Bootloader)
                && start.is_some_and(|ns| ns < from.ns)
        })
        .collect();
    if early.contains(&true) {
        let mut early = early.into_iter();
        timeline.spans.retain(|_| early.next() != Some(true));
        // They name spans by their number.
        timeline.links.clear();
    }
}

fn any_evidence(timeline: &Timeline) -> Option<Evidence> {
    let spans = timeline.spans.iter().map(|s| s.evidence);
    let marks = timeline.marks.iter().map(|m| m.evidence);
    let files = timeline.file_ids().map(|file| Evidence::whole(file, 0));
    spans.chain(marks).chain(files).next()
}
