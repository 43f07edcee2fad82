//! From where to where a boot was seen.
//!
//! What *ready* looks like only its owner can say. Where nobody did, much evidence knows
//! an end of its own, which is far from its last line: systemd has started all, somebody
//! can log in, Android shows its home screen. What follows is no part of the boot.

use bootlap_model::{Mark, MarkKind, Milestone, Span, Stamp, Timeline, TrackKind};

use crate::extent::{Ends, Extent, length_ns};
use crate::message::message;
use crate::view::{Seen, View};

/// What is active when all is that the machine was booted for.
pub(crate) const TARGETS: [&str; 2] = ["graphical.target", "multi-user.target"];

/// A kernel that says nothing for longer has booted, ns: what it logs later, for hours, is of
/// a machine at work.
const SILENCE_NS: i64 = 30_000_000_000;

/// No kernel waits so long before its first program, ns.
const HANGS_NS: i64 = 300_000_000_000;

/// Where the boot begins and ends, on the axis; `None` for a timeline without
/// events.
///
/// A ready mark before the start is no end of this boot (a log that begins in
/// the middle of an earlier one) and does not count.
pub fn extent(timeline: &Timeline) -> Option<Extent> {
    extent_of(&View::of(timeline))
}

/// The same, once for each view: all analyses ask for it.
pub(crate) fn extent_of(view: &View) -> Option<Extent> {
    *view.extent.get_or_init(|| find(view))
}

fn find(view: &View) -> Option<Extent> {
    let (first, last) = view.bounds()?;
    let start = view.milestone(Milestone::PowerOn).unwrap_or(first);
    let (end, ends) = end_of(view, &start).unwrap_or((last, Ends::Last));
    Some(Extent {
        start,
        end,
        ends,
        last,
    })
}

/// Where the boot ended, and what that is; `None` if nothing knows.
fn end_of(view: &View, start: &Stamp) -> Option<(Stamp, Ends)> {
    let milestone = |m: Milestone| view.milestone(m).filter(|at| at.ns > start.ns);
    let ready = view.milestone(Milestone::Ready);
    if let Some(ready) = ready.filter(|r| r.ns >= start.ns) {
        return Some((ready, Ends::Ready));
    }
    if view.timeline.awaited {
        return None;
    }
    let finished = Milestone::StartupFinished;
    let finished = milestone(finished).map(|at| (at, Ends::Milestone(finished)));
    let active = || {
        let mut targets = TARGETS.into_iter();
        targets.find_map(|unit| Some((reached(view, unit)?, Ends::Unit(unit))))
    };
    let login = Milestone::LoginPrompt;
    let login = || milestone(login).map(|at| (at, Ends::Milestone(login)));
    let shell = || Some((shell_prompt(view)?, Ends::Shell));
    let silence = || Some((long_silence(view)?, Ends::Silence));
    let known = finished.or_else(active).or_else(login).or_else(shell);
    let known = known.or_else(silence);
    let panic = said(view, Span::KERNEL_PANIC).map(|at| (at, Ends::Panic));
    let known = known.into_iter().chain(panic).min_by_key(|(at, _)| at.ns);
    known.filter(|(at, _)| at.ns > start.ns)
}

/// When this target of systemd's was reached, as it says itself or on a console.
pub(crate) fn reached(view: &View, target: &str) -> Option<Stamp> {
    active(view, target).or_else(|| said(view, target))
}

/// When a shell waited for commands, to which nobody had to log in.
pub(crate) fn shell_prompt(view: &View) -> Option<Stamp> {
    // Behind a log that was printed at a prompt there is one, too, hours later.
    said(view, Span::SHELL_PROMPT).filter(|at| !is_silent_before(view, at))
}

/// When systemd said on a console that this was reached.
fn said(view: &View, unit: &str) -> Option<Stamp> {
    let timeline = view.timeline;
    let is_one = |m: &&Mark| m.kind == MarkKind::Named && timeline.text(m.name) == unit;
    let mut marks = timeline.marks.iter().filter(is_one);
    marks.find_map(|m| view.at(m.clock, m.at))
}

/// Whether nothing was said for long, at some time before this.
fn is_silent_before(view: &View, at: &Stamp) -> bool {
    let before = view.spans().take_while(|s| s.start.ns <= at.ns);
    silence(before, SILENCE_NS).is_some()
}

/// The first two neighbours that begin further apart than this.
fn silence<'t>(
    mut spans: impl Iterator<Item = Seen<'t>>,
    longest_ns: i64,
) -> Option<[Seen<'t>; 2]> {
    let mut last = spans.next()?;
    spans.find_map(|next| {
        let before = std::mem::replace(&mut last, next);
        (length_ns(&before.start, &next.start) > longest_ns).then_some([before, next])
    })
}

/// The last line before a kernel that has run its first program is silent for long, where
/// nothing but its log is there: a console would show what user space does meanwhile.
fn long_silence(view: &View) -> Option<Stamp> {
    if !view.timeline.files.iter().all(|f| f.source == "dmesg") {
        return None;
    }
    let starts = [
        Milestone::InitStart,
        Milestone::UserEntry,
        Milestone::ManagerStart,
    ];
    let begun = starts.iter().find_map(|&m| view.milestone(m));
    // Where no program was seen, the kernel itself may be what waits.
    let (from_ns, longest) = match begun {
        Some(begun) => (begun.ns, SILENCE_NS),
        None => (i64::MIN, HANGS_NS),
    };
    let lines = view.spans().skip_while(|s| s.start.ns < from_ns);
    let pause = silence(lines, longest)?;
    // Who gives up waiting says so at the end of such a silence, and the boot goes on.
    let boots = ["systemd", "dracut", "init: ", "Run "];
    let told = message(pause[1].name());
    let goes_on = boots.iter().any(|b| told.starts_with(b));
    let later = [Milestone::SwitchRoot, Milestone::ManagerStart].map(|m| view.milestone(m));
    let later = later.iter().flatten().any(|at| at.ns > pause[0].start.ns);
    (!goes_on && !later).then_some(pause[0].start)
}

/// When this unit of systemd's was active, if its start was told.
fn active(view: &View, unit: &str) -> Option<Stamp> {
    let span = view.first(TrackKind::Unit, unit)?;
    let told = view.arg(&span, "start").is_none();
    span.end.filter(|_| told)
}

/// Time from power-on (or the first event, where power-on was not seen) to
/// ready, ns; `None` if the boot never got ready.
pub fn ready_ns(timeline: &Timeline) -> Option<i64> {
    // Most logs say nothing of it, and where they end is long to find.
    timeline.milestone(Milestone::Ready)?;
    let extent = extent(timeline)?;
    extent.is_ready().then(|| extent.duration_ns())
}

#[cfg(test)]
mod tests {
    use bootlap_model::{ClockKind, TimeKind};

    use super::*;
    use crate::build::Boot;

    #[test]
    fn a_boot_ends_at_ready_whatever_comes_later() {
        let mut boot = Boot::sim();
        boot.mark(Milestone::PowerOn, 0)
            .mark(Milestone::Ready, 70)
            .text(10, 20, "hello")
            .text(80, 90, "login:");
        assert_eq!(ready_ns(&boot.timeline), Some(70));
    }

    #[test]
    fn a_shells_prompt_is_an_end_unless_the_log_was_printed_there() {
        const S: i64 = 1_000_000_000;
        let ends = |last: i64| {
            let mut boot = Boot::sim();
            boot.text(S, S + 1, "a").text(last, last + 1, "b");
            let timeline = &mut boot.timeline;
            let (clock, evidence) = (timeline.spans[0].clock, timeline.spans[0].evidence);
            let at = Stamp::new(last, 0);
            timeline.add_mark(clock, at, MarkKind::Named, Span::SHELL_PROMPT, evidence);
            boot.text(last + S, last + S + 1, "c");
            extent(&boot.timeline).unwrap().ends
        };
        assert_eq!(ends(20 * S), Ends::Shell);
        assert_eq!(ends(3600 * S), Ends::Last);
    }

    #[test]
    fn a_kernel_that_gives_up_ends_the_boot_unless_it_was_over() {
        let ends = |panic: i64| {
            let mut boot = Boot::sim();
            boot.mark(Milestone::LoginPrompt, 50).text(10, 20, "a");
            let timeline = &mut boot.timeline;
            let (clock, evidence) = (timeline.spans[0].clock, timeline.spans[0].evidence);
            let (at, what) = (Stamp::new(panic, 0), Span::KERNEL_PANIC);
            timeline.add_mark(clock, at, MarkKind::Named, what, evidence);
            boot.text(90, 91, "b");
            let extent = extent(&boot.timeline).unwrap();
            (extent.ends, extent.end.ns)
        };
        assert_eq!(ends(30), (Ends::Panic, 30));
        assert_eq!(ends(80), (Ends::Milestone(Milestone::LoginPrompt), 50));
    }

    #[test]
    fn a_kernel_that_says_nothing_for_long_has_booted() {
        const S: i64 = 1_000_000_000;
        let ends = |source: &str, last: i64| {
            let mut boot = Boot::on(ClockKind::KernelPrintk, TimeKind::Measured);
            boot.timeline.files[0].source = source.into();
            boot.mark(Milestone::InitStart, 2 * S)
                .text(S, S + 1, "driver")
                .text(9 * S, 9 * S + 1, "link is up")
                .text(last, last + 1, "usb 1-1: USB disconnect");
            let seen = extent(&boot.timeline).unwrap();
            (seen.ends, seen.end.ns)
        };
        assert_eq!(ends("dmesg", 100 * S), (Ends::Silence, 9 * S));
        assert_eq!(ends("dmesg", 38 * S).0, Ends::Last);
        let mut boot = Boot::on(ClockKind::KernelPrintk, TimeKind::Measured);
        boot.timeline.files[0].source = "dmesg".into();
        boot.mark(Milestone::InitStart, 2 * S)
            .text(9 * S, 9 * S + 1, "link is up")
            .text(99 * S, 100 * S, "[   99.000000] systemd[1]: x: timed out");
        assert_eq!(extent(&boot.timeline).unwrap().ends, Ends::Last);
        // A kernel may wait for its root for a minute, and not for an hour.
        let mut boot = Boot::on(ClockKind::KernelPrintk, TimeKind::Measured);
        boot.timeline.files[0].source = "dmesg".into();
        boot.text(S, S + 1, "a").text(90 * S, 91 * S, "b");
        assert_eq!(extent(&boot.timeline).unwrap().ends, Ends::Last);
        boot.text(3690 * S, 3691 * S, "c");
        assert_eq!(extent(&boot.timeline).unwrap().end.ns, 90 * S);
        // There user space would be heard.
        assert_eq!(ends("console", 100 * S).0, Ends::Last);
    }

    #[test]
    fn without_ready_the_last_event_is_only_a_bound() {
        let mut boot = Boot::sim();
        boot.text(10, 20, "hello").text(80, 90, "login:");
        let extent = extent(&boot.timeline).unwrap();
        assert_eq!(
            (extent.start.ns, extent.end.ns, extent.ends),
            (10, 90, Ends::Last)
        );
        assert_eq!(ready_ns(&boot.timeline), None);
        assert_eq!(super::extent(&Timeline::default()), None);
    }

    #[test]
    fn an_end_that_the_evidence_knows_is_taken_where_nobody_says_what_ready_is() {
        let mut boot = Boot::sim();
        boot.text(10, 20, "hello")
            .span(TrackKind::Unit, 20, 60_000_000, "graphical.target")
            .text(80_000_000, 90_000_000, "someone plugs something in");
        let seen = extent(&boot.timeline).unwrap();
        assert_eq!(seen.ends, Ends::Unit("graphical.target"));
        assert_eq!(
            (seen.end.ns, seen.goes_on_ns()),
            (60_000_000, Some(30_000_000))
        );
        assert_eq!(ready_ns(&boot.timeline), None);

        boot.mark(Milestone::LoginPrompt, 50_000_000);
        assert_eq!(extent(&boot.timeline).unwrap().ends, seen.ends);
        boot.mark(Milestone::StartupFinished, 70_000_000);
        let seen = extent(&boot.timeline).unwrap();
        assert_eq!(seen.ends, Ends::Milestone(Milestone::StartupFinished));
        // Somebody waits for something else.
        boot.timeline.awaited = true;
        let seen = extent(&boot.timeline).unwrap();
        assert_eq!((seen.ends, seen.end.ns), (Ends::Last, 90_000_000));
        assert_eq!(seen.goes_on_ns(), None);
    }

    #[test]
    fn a_ready_before_power_on_belongs_to_another_boot() {
        let mut boot = Boot::sim();
        boot.mark(Milestone::PowerOn, 50)
            .mark(Milestone::Ready, 40)
            .text(60, 90, "x");
        assert_eq!(ready_ns(&boot.timeline), None);
        assert_eq!(extent(&boot.timeline).unwrap().duration_ns(), 40);
    }
}
