//! Times that cannot be: a clock that jumped.
//!
//! ```text
//! [    0.100000] sched_clock: 56 bits at 50MHz, resolution 20ns
//! [94369913.000000] clocksource: Switched to clocksource arch_sys_counter
//! [94369913.200000] Run /sbin/init as init process
//!   2y 11month 3w 5d 4h 12.5s foo.service
//! ```
//!
//! A kernel's clock can change its source, begin at what a counter happened to hold, or be
//! set. No kernel takes a day to its first program, and no unit to start. What is left of
//! such a log is right from line to line, so the jump alone is left out, and said.

use bootlap_model::{
    ClockId, ClockKind, Evidence, MarkKind, Milestone, Severity, SpanEnd, Stamp, Timeline,
    TrackKind,
};

/// What no kernel and no unit takes, ns: a day.
const IMPOSSIBLE_NS: i64 = 86_400_000_000_000;

/// Takes jumps out of kernels' clocks, and lengths that cannot be off units.
pub(crate) fn mend(timeline: &mut Timeline) {
    let is_kernels = |id: &ClockId| timeline.clock(*id).kind == ClockKind::KernelPrintk;
    let logs: Vec<ClockId> = timeline.clock_ids().filter(is_kernels).collect();
    for clock in logs {
        if let Some(jump) = Jump::of(timeline, clock) {
            jump.leave_out(timeline);
        }
    }
    units(timeline);
}

/// Where a kernel's clock jumped before the first program ran.
struct Jump {
    clock: ClockId,
    /// The first time behind it.
    to_ns: i64,
    ns: i64,
    seen: Evidence,
}

impl Jump {
    fn of(timeline: &Timeline, clock: ClockId) -> Option<Self> {
        let first = [Milestone::InitStart, Milestone::ManagerStart].map(MarkKind::Milestone);
        let is_init = |kind| first.contains(&kind);
        let mut marks = timeline.marks.iter();
        let init = marks.find(|m| m.clock == clock && is_init(m.kind))?.at;
        if init.ns < IMPOSSIBLE_NS {
            return None;
        }
        let console = timeline.spans_of(TrackKind::Console);
        let before_init = console.filter(|s| s.clock == clock && s.start.ns <= init.ns);
        let mut lines: Vec<(i64, Evidence)> =
            before_init.map(|s| (s.start.ns, s.evidence)).collect();
        lines.sort_by_key(|(ns, _)| *ns);
        let mut last_ns = 0;
        let mut jumps: Vec<Self> = Vec::new();
        for (ns, seen) in lines {
            jumps.push(Self {
                clock,
                to_ns: ns,
                ns: ns.saturating_sub(last_ns),
                seen,
            });
            last_ns = ns;
        }
        jumps
            .into_iter()
            .max_by_key(|j| j.ns)
            .filter(|j| j.ns >= IMPOSSIBLE_NS)
    }

    /// Moves all that came behind it to where it began.
    fn leave_out(&self, timeline: &mut Timeline) {
        let moved = |stamp: Stamp| match stamp.ns >= self.to_ns {
            true => Stamp::new(stamp.ns.saturating_sub(self.ns), stamp.err_ns),
            false => stamp,
        };
        for span in timeline.spans.iter_mut().filter(|s| s.clock == self.clock) {
            span.start = moved(span.start);
            if let SpanEnd::At(end) = span.end {
                span.end = SpanEnd::At(moved(end));
            }
        }
        for mark in timeline.marks.iter_mut().filter(|m| m.clock == self.clock) {
            mark.at = moved(mark.at);
        }
        let anchors = timeline.anchors.iter_mut();
        for anchor in anchors.filter(|a| a.clock == self.clock) {
            anchor.at = moved(anchor.at);
        }
        timeline.notice(
            "clock-jumped",
            Severity::Notice,
            Some(self.seen),
            &format!(
                "no kernel takes {} s to here: its clock jumped. The jump is left out, so how long \
                 this stretch took is not known",
                self.ns / 1_000_000_000
            ),
        );
    }
}

/// A unit's own time that cannot be is not known.
fn units(timeline: &mut Timeline) {
    let lasts = |start: Stamp, end: SpanEnd| Some(end.known()?.ns.saturating_sub(start.ns));
    let of_units = timeline.span_ids().filter(|id| {
        let span = timeline.span(*id);
        timeline.kind_of(span) == TrackKind::Unit
            && lasts(span.start, span.end).is_some_and(|ns| ns >= IMPOSSIBLE_NS)
    });
    for id in of_units.collect::<Vec<_>>() {
        timeline.span_mut(id).end = SpanEnd::Unknown;
        let seen = timeline.span(id).evidence;
        timeline.notice(
            "time-cannot-be",
            Severity::Notice,
            Some(seen),
            "no unit takes a day to start: the clock was set meanwhile, so how long it took is \
             not known",
        );
    }
}

#[cfg(test)]
mod tests {
    use bootlap_model::{Span, TrackKind};

    use super::*;
    use crate::{Hints, Input};

    fn read(source: &str, text: &str) -> Timeline {
        let mut timeline = Timeline::default();
        let hints = Hints::default();
        let mut bytes = text.as_bytes();
        let input = Input {
            label: "log",
            bytes: &mut bytes,
            hints: &hints,
        };
        let source = crate::named(source).unwrap();
        source.read(input, &mut timeline).unwrap();
        mend(&mut timeline);
        timeline
    }

    fn init_ms(timeline: &Timeline) -> i64 {
        timeline.milestone(Milestone::InitStart).unwrap().at.ns / 1_000_000
    }

    fn codes(timeline: &Timeline) -> Vec<&str> {
        timeline.notices.iter().map(|n| &*n.code).collect()
    }

    #[test]
    fn a_jump_of_the_kernels_clock_is_left_out() {
        let log = "[    0.000000] Linux version 6.1.0\n[    0.100000] a\n\
                   [94369913.000000] b\n[94369913.200000] Run /sbin/init as init process\n\
                   [94369914.200000] c\n";
        let timeline = read("dmesg", log);
        assert_eq!(init_ms(&timeline), 300);
        assert_eq!(codes(&timeline), ["clock-jumped"]);
        assert_eq!(timeline.notices[0].first[0].line, 3);
        let console = timeline.spans_of(TrackKind::Console);
        let starts: Vec<i64> = console.map(|s: &Span| s.start.ns / 1_000_000).collect();
        assert_eq!(starts, [0, 100, 100, 300, 1300]);
        // It began at what a counter held.
        let log = "[94369913.000000] Linux version 6.1.0\n\
                   [94369913.200000] Run /sbin/init as init process\n";
        assert_eq!(init_ms(&read("dmesg", log)), 200);
    }

    #[test]
    fn a_machine_that_runs_for_days_has_no_jump() {
        let log = "[    0.000000] Linux version 6.1.0\n\
                   [    0.200000] Run /sbin/init as init process\n\
                   [94369914.200000] usb 1-1: USB disconnect, device number 2\n";
        let timeline = read("dmesg", log);
        assert_eq!((init_ms(&timeline), codes(&timeline).len()), (200, 0));
    }

    #[test]
    fn a_units_time_that_cannot_be_is_none() {
        let blame = "2y 11month 3w 5d 4h 12.5s foo.service\n1.200s bar.service\n\
                     300ms baz.service\n100ms b2.service\n";
        let timeline = read("systemd", blame);
        assert!(codes(&timeline).contains(&"time-cannot-be"));
        let units = timeline.spans_of(TrackKind::Unit);
        let known = units.filter(|s| s.end.known().is_some());
        assert_eq!(known.count(), 3);
    }
}
