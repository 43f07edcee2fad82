//! The times of one file on one clock.

use bootlap_model::{ClockId, ClockKind, Severity, Stamp};

use super::line::{Style, Time};
use crate::text::{Import, Line};

const SECOND_NS: i64 = 1_000_000_000;
const HOUR_NS: i64 = 3_600 * SECOND_NS;
const DAY_NS: i64 = 24 * HOUR_NS;

/// Wall clocks that several files of one recording share.
#[derive(Default)]
pub(super) struct Shared {
    epoch: Option<ClockId>,
    day: Option<ClockId>,
}

/// What tells the time of a line.
#[derive(Default)]
pub(super) struct FileClock {
    clock: Option<(ClockId, Style)>,
    /// The latest moment so far; with `-r` that of the last line.
    last_ns: i64,
    /// To add to a time: whole days, and what the clock was set by.
    shift_ns: i64,
    /// The error that deltas have added up to.
    err_ns: u32,
}

impl FileClock {
    /// Which option printed the times; `None` before the first.
    pub(super) fn style(&self) -> Option<Style> {
        Some(self.clock?.1)
    }

    /// The moment of `line`, which is of a process that was last seen at
    /// `own_ns`; `None` if this time is none of this file.
    #[inline]
    pub(super) fn now(
        &mut self,
        time: Time,
        own_ns: Option<i64>,
        line: &Line<'_>,
        shared: &mut Shared,
        import: &mut Import<'_>,
    ) -> Option<(ClockId, Stamp)> {
        let Some((clock, style)) = self.clock else {
            return Some(self.begin(time, line, shared, import));
        };
        if (style == Style::Day) != (time.style == Style::Day) {
            return None;
        }
        let ns = if style == Style::Delta {
            // Each delta was cut to its last digit, so the errors add up.
            self.err_ns = self.err_ns.saturating_add(time.step_ns);
            self.last_ns = self.last_ns.saturating_add(time.ns);
            self.last_ns
        } else {
            self.err_ns = time.step_ns;
            let ns = self.absolute(time.ns, style, own_ns, line, import);
            self.last_ns = self.last_ns.max(ns);
            ns
        };
        Some((clock, Stamp::new(ns, self.err_ns)))
    }

    fn begin(
        &mut self,
        time: Time,
        line: &Line<'_>,
        shared: &mut Shared,
        import: &mut Import<'_>,
    ) -> (ClockId, Stamp) {
        let (timeline, file) = (&mut *import.timeline, import.file);
        let mut add = |kind| timeline.add_clock(kind, file);
        let clock = match time.style {
            Style::Epoch => *shared.epoch.get_or_insert_with(|| add(ClockKind::Realtime)),
            Style::Day => *shared.day.get_or_insert_with(|| add(ClockKind::Realtime)),
            Style::Delta => add(ClockKind::Relative),
        };
        self.clock = Some((clock, time.style));
        self.err_ns = time.step_ns;
        self.last_ns = time.ns;
        match time.style {
            Style::Epoch => {}
            Style::Day => import.notice(
                "times-without-date",
                Severity::Info,
                line.at,
                "timestamps have no date; run strace again with -ttt",
            ),
            Style::Delta => {
                self.last_ns = 0;
                if time.ns != 0 {
                    import.notice(
                        "first-delta-not-zero",
                        Severity::Notice,
                        line.at,
                        "the first time of strace -r is not 0.000000: the beginning is missing, or this is one of several files of -ff, whose times count from lines in the others and so are too short; run strace again with -ttt",
                    );
                }
            }
        }
        (clock, Stamp::new(self.last_ns, self.err_ns))
    }

    /// A wall clock's time, made continuous: over midnight where there is no
    /// date, and where the clock was set.
    fn absolute(
        &mut self,
        ns: i64,
        style: Style,
        own_ns: Option<i64>,
        line: &Line<'_>,
        import: &mut Import<'_>,
    ) -> i64 {
        let mut now = ns.saturating_add(self.shift_ns);
        let far = if style == Style::Day {
            if now < self.last_ns.saturating_sub(DAY_NS / 2) {
                self.shift_ns = self.shift_ns.saturating_add(DAY_NS);
                now = now.saturating_add(DAY_NS);
            }
            DAY_NS / 4
        } else {
            DAY_NS
        };
        let gap = now.saturating_sub(self.last_ns);
        // With -z a call is written when it is over, so times go back from one
        // process to the next, but never within one.
        let back = match own_ns {
            Some(own_ns) => now < own_ns.saturating_sub(SECOND_NS),
            None => gap < -HOUR_NS,
        };
        // A board without a battery boots in 1970 and is set forward by years;
        // no boot is silent for a day.
        if back || gap > far {
            self.shift_ns = self.shift_ns.saturating_sub(gap);
            now = self.last_ns;
            import.notice(
                "clock-was-set",
                Severity::Notice,
                line.at,
                "the wall clock was set while strace ran: what follows is put right behind the line before, as if no time had passed between them",
            );
        }
        now
    }
}
