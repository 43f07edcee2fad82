//! The dates of a log: stretches between which the clock was set.
//!
//! A device without a battery boots in 1970 (or on the day its system was
//! built) and gets the date from the network or the modem a minute later;
//! and the time zone is set during the boot. Within an era all times can be
//! compared. `boot_progress_*` events, which carry the time since the kernel's
//! start, tie an era to the boot.

use bootlap_model::{ClockEdge, ClockId, ClockKind, Evidence, How, Severity, Stamp};

use super::date::{Scale, When};
use crate::text::Import;

const SECOND_NS: i64 = 1_000_000_000;
const HOUR_NS: i64 = 3_600 * SECOND_NS;
const DAY_NS: i64 = 24 * HOUR_NS;

/// Values and dates that differ so much more than before tell that the clock
/// was set. Events are written a few milliseconds after their value was read.
const SET_NS: i64 = SECOND_NS;

/// More eras than any log has.
const MAX_ERAS: usize = 64;

/// All eras of a log.
#[derive(Default)]
pub(super) struct Eras {
    all: Vec<Era>,
    current: usize,
    /// The boot's own clock, once an event has told its time.
    boot: Option<ClockId>,
    /// The widest silence since the last tie, and what was known before it.
    silence: Option<Silence>,
}

struct Era {
    clock: ClockId,
    first_ns: i64,
    last_ns: i64,
    /// What was read when the era began.
    at: Evidence,
    /// The boot's time less the date, by each event.
    ties: Option<Ties>,
    /// Where the era before ended, if that was when this one began.
    after: Option<(ClockId, i64)>,
}

struct Ties {
    boot: ClockId,
    least_ns: i64,
    most_ns: i64,
    n: usize,
    err_ns: u32,
    at: Evidence,
}

struct Silence {
    gap_ns: i64,
    from_ns: i64,
    to_ns: i64,
    spans: usize,
    marks: usize,
    anchors: usize,
    at: Evidence,
}

impl Eras {
    /// The moment of a line.
    pub(super) fn now(
        &mut self,
        when: When,
        at: Evidence,
        import: &mut Import<'_>,
    ) -> (ClockId, Stamp) {
        let ns = when.ns;
        let fits = |era: &Era| {
            ns >= era.first_ns.saturating_sub(HOUR_NS)
                && ns <= era.last_ns.saturating_add(DAY_NS / 2)
        };
        if self.all.is_empty() {
            self.begin(when, at, import);
        } else if !fits(&self.all[self.current]) {
            // Logs of several buffers, one after the other, go back in time.
            match self.all.iter().position(fits) {
                Some(known) => self.current = known,
                None if self.all.len() < MAX_ERAS => {
                    let last = &self.all[self.current];
                    let after = Some((last.clock, last.last_ns));
                    self.begin(when, at, import);
                    self.all[self.current].after = after;
                    clock_was_set(at, import);
                }
                None => {}
            }
        }
        self.listen(ns, at, import);
        let era = &mut self.all[self.current];
        era.last_ns = era.last_ns.max(ns);
        era.first_ns = era.first_ns.min(ns);
        (era.clock, Stamp::new(ns, when.err_ns))
    }

    fn begin(&mut self, when: When, at: Evidence, import: &mut Import<'_>) {
        let clock = match when.scale {
            Scale::Boottime => self.boot(import),
            Scale::Monotonic => import.timeline.add_clock(ClockKind::Monotonic, import.file),
            Scale::NoYear | Scale::Epoch => {
                import.timeline.add_clock(ClockKind::Realtime, import.file)
            }
        };
        if when.scale == Scale::NoYear && self.all.is_empty() {
            import.notice(
                "dates-without-year",
                Severity::Info,
                at,
                "dates have no year and are counted as 1970; run logcat with -v year -v UTC",
            );
        }
        self.current = self.all.len();
        self.silence = None;
        self.all.push(Era {
            clock,
            first_ns: when.ns,
            last_ns: when.ns,
            at,
            ties: None,
            after: None,
        });
    }

    /// Remembers where the log was silent for longest.
    fn listen(&mut self, ns: i64, at: Evidence, import: &Import<'_>) {
        let era = &self.all[self.current];
        let gap_ns = ns.saturating_sub(era.last_ns);
        if gap_ns < SET_NS || self.silence.as_ref().is_some_and(|s| s.gap_ns >= gap_ns) {
            return;
        }
        self.silence = Some(Silence {
            gap_ns,
            from_ns: era.last_ns,
            to_ns: ns,
            spans: import.timeline.spans.len(),
            marks: import.timeline.marks.len(),
            anchors: import.timeline.anchors.len(),
            at,
        });
    }

    /// Eras of a log whose boot's clock is this one.
    pub(super) fn of_boot(clock: ClockId) -> Self {
        Self {
            boot: Some(clock),
            ..Self::default()
        }
    }

    /// The boot's own clock.
    pub(super) fn boot(&mut self, import: &mut Import<'_>) -> ClockId {
        let kind = ClockKind::Boottime;
        *self
            .boot
            .get_or_insert_with(|| import.timeline.add_clock(kind, import.file))
    }

    /// A new boot: its times are on a clock of their own, and so are dates.
    pub(super) fn reboot(&mut self, when: Option<When>, at: Evidence, import: &mut Import<'_>) {
        self.boot = None;
        if let Some(when) = when.filter(|_| self.all.len() < MAX_ERAS) {
            self.begin(when, at, import);
        }
    }

    /// An event written at `date_ns` tells the boot's time.
    pub(super) fn tie(&mut self, boot_ns: i64, when: When, at: Evidence, import: &mut Import<'_>) {
        let boot = self.boot(import);
        if when.scale == Scale::Boottime {
            return;
        }
        let offset = boot_ns.saturating_sub(when.ns);
        let stepped = self.all[self.current].ties.as_ref().is_some_and(|t| {
            offset < t.least_ns.saturating_sub(SET_NS) || offset > t.most_ns.saturating_add(SET_NS)
        });
        if stepped {
            self.split(when, at, import);
        }
        let era = &mut self.all[self.current];
        // The value has ms, too.
        let err_ns = when.err_ns.max(1_000_000);
        let ties = era.ties.get_or_insert(Ties {
            boot,
            least_ns: offset,
            most_ns: offset,
            n: 0,
            err_ns,
            at,
        });
        ties.least_ns = ties.least_ns.min(offset);
        ties.most_ns = ties.most_ns.max(offset);
        ties.n += 1;
        self.silence = None;
    }

    /// The clock was set by less than a jump shows: at the widest silence
    /// since the event before, most likely.
    fn split(&mut self, when: When, at: Evidence, import: &mut Import<'_>) {
        if self.all.len() >= MAX_ERAS {
            return;
        }
        let old = self.all[self.current].clock;
        let silence = self.silence.take();
        let at = silence.as_ref().map_or(at, |s| s.at);
        self.begin(when, at, import);
        let new = self.all[self.current].clock;
        if let Some(s) = silence {
            self.all[self.current].first_ns = s.to_ns.min(when.ns);
            if let Some(era) = self.all.iter_mut().find(|e| e.clock == old) {
                era.last_ns = s.from_ns;
            }
            let timeline = &mut *import.timeline;
            let spans = timeline.spans[s.spans..].iter_mut().map(|s| &mut s.clock);
            let marks = timeline.marks[s.marks..].iter_mut().map(|m| &mut m.clock);
            let anchors = timeline.anchors[s.anchors..].iter_mut();
            let anchors = anchors.map(|a| &mut a.clock);
            let later = spans.chain(marks).chain(anchors);
            later.filter(|c| **c == old).for_each(|c| *c = new);
        }
        clock_was_set(at, import);
    }

    /// Says how the eras relate.
    pub(super) fn finish(&mut self, import: &mut Import<'_>) {
        let tied = |clock: ClockId| {
            let mut eras = self.all.iter();
            eras.any(|e| e.clock == clock && e.ties.is_some())
        };
        for era in &self.all {
            if let Some(t) = &era.ties {
                import.timeline.edges.push(t.edge(era.clock));
            }
            if let Some((before, last_ns)) = era.after
                && !(era.ties.is_some() && tied(before))
            {
                let offset = last_ns.saturating_sub(era.first_ns);
                let err_ns = SECOND_NS as u32;
                let edge = ClockEdge::offset(era.clock, before, offset, err_ns, How::Assumed);
                let why = "no time passed while the clock was set";
                import.timeline.edges.push(edge.because(why, Some(era.at)));
            }
        }
    }
}

impl Ties {
    fn edge(&self, date: ClockId) -> ClockEdge {
        // What is written late makes the difference smaller.
        let spread = self.most_ns.saturating_sub(self.least_ns);
        let spread = u32::try_from(spread).unwrap_or(u32::MAX);
        let err_ns = spread.saturating_add(self.err_ns.saturating_mul(2));
        let why = match self.n {
            1 => "one boot_progress event".to_owned(),
            n => format!("{n} boot_progress events"),
        };
        ClockEdge::offset(date, self.boot, self.most_ns, err_ns, How::SharedEvent)
            .because(why, Some(self.at))
    }
}

fn clock_was_set(at: Evidence, import: &mut Import<'_>) {
    import.notice(
        "clock-was-set",
        Severity::Notice,
        at,
        "the date was set here: before and after it are clocks of their own, which the events of -b events join; logcat -v monotonic has no such steps",
    );
}
