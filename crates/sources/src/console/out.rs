//! Where recognisers put what they found.

use std::borrow::Cow;

use bootlap_model::{
    ClockId, ClockKind, Evidence, FileId, Mark, MarkKind, Milestone, Severity, Span, SpanEnd,
    Stamp, Sym, Timeline, TrackKind,
};

use super::line::Line;
use super::printk;

/// A kernel line's moment: when it was logged, and when it was sent.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    /// When it was logged, on the kernel's clock.
    pub(crate) ns: i64,
    /// When its first byte was sent, on the clock of the stamps.
    pub(crate) first: Option<Stamp>,
    /// When its last byte was sent.
    pub(crate) last: Option<Stamp>,
    /// The task that logged it, if the kernel says so.
    pub(crate) task: Option<u32>,
}

impl Moment {
    /// The moment on the kernel's clock.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp::new(self.ns, printk::RESOLUTION_NS)
    }
}

/// An event of the kernel's clock that could carry the instruction count of
/// its line, if that was sent at once. Known only when all lines were read.
struct Counted {
    place: Place,
    /// From the line's time on the kernel's clock to its first byte.
    delay_ns: i64,
    insns: u64,
}

enum Place {
    Start(usize),
    End(usize),
    Mark(usize),
}

/// A line that was sent within this time after it was logged was sent at
/// once: its instruction count is that of the moment it was logged.
const AT_ONCE_NS: i64 = 50_000;

/// The timeline, as one read of a console sees it.
pub(crate) struct Out<'t> {
    pub(crate) timeline: &'t mut Timeline,
    pub(crate) file: FileId,
    /// The clock of the stamps, if there are any.
    pub(crate) wire: Option<ClockId>,
    /// The kernel's clock, once a line had a time.
    pub(crate) printk: Option<ClockId>,
    counted: Vec<Counted>,
    first_span: usize,
    first_mark: usize,
}

impl<'t> Out<'t> {
    pub(crate) fn new(timeline: &'t mut Timeline, file: FileId, wire: Option<ClockId>) -> Self {
        Self {
            file,
            wire,
            printk: None,
            counted: Vec::new(),
            first_span: timeline.spans.len(),
            first_mark: timeline.marks.len(),
            timeline,
        }
    }

    /// The kernel's clock.
    pub(crate) fn printk_clock(&mut self) -> ClockId {
        let simulated = self.wire.is_some_and(|w| self.timeline.clock(w).simulated);
        *self.printk.get_or_insert_with(|| {
            self.timeline
                .add_clock(ClockKind::KernelPrintk, simulated, self.file)
        })
    }

    /// Whether the stamps are of a host, whose recording can begin late.
    pub(crate) fn is_host_clock(&self) -> bool {
        let kind = |w| self.timeline.clock(w).kind;
        self.wire.map(kind) == Some(ClockKind::HostMonotonic)
    }

    /// Takes back the milestone that the first stamp was taken for.
    pub(crate) fn forget_power_on(&mut self) {
        let power_on = MarkKind::Milestone(Milestone::PowerOn);
        let marks = &self.timeline.marks[self.first_mark..];
        if let Some(i) = marks.iter().position(|m| m.kind == power_on) {
            self.timeline.marks.remove(self.first_mark + i);
        }
    }

    /// Adds a span and says where it is.
    #[expect(clippy::too_many_arguments, reason = "that is what a span is")]
    fn span(
        &mut self,
        clock: ClockId,
        (kind, track): (TrackKind, &str),
        name: &str,
        start: Stamp,
        end: SpanEnd,
        args: &[(&str, &str)],
        evidence: Evidence,
    ) -> usize {
        let track = self.timeline.track(kind, track);
        let name = self.timeline.symbols.intern(name);
        let args = args.iter().map(|(k, v)| self.arg(k, v)).collect();
        self.timeline.add_span(Span {
            track,
            clock,
            start,
            end,
            name,
            args,
            evidence,
        });
        self.timeline.spans.len() - 1
    }

    /// An argument of a span.
    pub(crate) fn arg(&mut self, key: &str, value: &str) -> (Sym, Sym) {
        let symbols = &mut self.timeline.symbols;
        (symbols.intern(key), symbols.intern(value))
    }

    /// Adds a span on the clock of the stamps; nothing if there is none or a
    /// moment is not known.
    pub(crate) fn wire_span(
        &mut self,
        track: (TrackKind, &str),
        name: &str,
        (start, end): (Option<Stamp>, Option<Stamp>),
        args: &[(&str, &str)],
        evidence: Evidence,
    ) {
        let (Some(clock), Some(start), Some(end)) = (self.wire, start, end) else {
            return;
        };
        let mut until = SpanEnd::At(end);
        if end.ns < start.ns {
            until = SpanEnd::Unknown;
            self.notice(
                "stamps-run-backwards",
                Severity::Error,
                evidence,
                "later bytes have earlier stamps: the recording is damaged, record again",
            );
        }
        self.span(clock, track, name, start, until, args, evidence);
    }

    /// Adds a span on the kernel's clock and says where it is, for its end to
    /// be filled in.
    pub(crate) fn printk_span(
        &mut self,
        track: (TrackKind, &str),
        name: &str,
        start: Stamp,
        end: SpanEnd,
        args: &[(&str, &str)],
        evidence: Evidence,
    ) -> usize {
        let clock = self.printk_clock();
        self.span(clock, track, name, start, end, args, evidence)
    }

    /// Adds a console span: the text of `burst`.
    pub(crate) fn console_span(&mut self, burst: &Line<'_>, logged: Option<i64>) {
        let track = (TrackKind::Console, "console");
        let evidence = burst.evidence(self.file);
        let text = shown(burst.text);
        if self.wire.is_some() {
            let moments = (burst.first(), burst.last());
            self.wire_span(track, &text, moments, &[], evidence);
        } else if let Some(ns) = logged {
            let start = Stamp::new(ns, printk::RESOLUTION_NS);
            self.printk_span(track, &text, start, SpanEnd::Unknown, &[], evidence);
        }
    }

    /// Adds a mark.
    pub(crate) fn mark(
        &mut self,
        clock: ClockId,
        at: Stamp,
        kind: MarkKind,
        name: &str,
        evidence: Evidence,
    ) {
        let name = self.timeline.symbols.intern(name);
        self.timeline.marks.push(Mark {
            clock,
            at,
            kind,
            name,
            evidence,
        });
    }

    /// Adds a milestone on the clock of the stamps, if there is one, and
    /// unless the milestone was passed before.
    pub(crate) fn wire_milestone(
        &mut self,
        milestone: Milestone,
        at: Option<Stamp>,
        evidence: Evidence,
    ) {
        if let (Some(clock), Some(at)) = (self.wire, at)
            && !self.has(milestone)
        {
            let kind = MarkKind::Milestone(milestone);
            self.mark(clock, at, kind, milestone.text(), evidence);
        }
    }

    /// Adds a milestone on the kernel's clock, unless it was passed before.
    pub(crate) fn kernel_milestone(
        &mut self,
        milestone: Milestone,
        moment: &Moment,
        evidence: Evidence,
    ) {
        if self.has(milestone) {
            return;
        }
        let clock = self.printk_clock();
        let kind = MarkKind::Milestone(milestone);
        self.mark(clock, moment.stamp(), kind, milestone.text(), evidence);
        let place = Place::Mark(self.timeline.marks.len() - 1);
        self.count(place, moment, moment.first);
    }

    /// Whether this read has added `milestone`.
    pub(crate) fn has(&self, milestone: Milestone) -> bool {
        self.timeline.marks[self.first_mark..]
            .iter()
            .any(|m| m.kind == MarkKind::Milestone(milestone))
    }

    /// Counts one case of a kind of trouble.
    pub(crate) fn notice(&mut self, code: &str, severity: Severity, at: Evidence, remedy: &str) {
        self.timeline.notice(code, severity, Some(at), remedy);
    }

    /// Remembers that what a span began with was counted when the line of
    /// `moment` had been sent.
    pub(crate) fn count_start(&mut self, span: usize, moment: &Moment) {
        self.count(Place::Start(span), moment, moment.last);
    }

    /// Remembers that a span ended before the line of `moment` was sent.
    pub(crate) fn count_end(&mut self, span: usize, moment: &Moment) {
        self.count(Place::End(span), moment, moment.first);
    }

    fn count(&mut self, place: Place, moment: &Moment, at: Option<Stamp>) {
        if let (Some(first), Some(insns)) = (moment.first, at.and_then(|a| a.insns)) {
            let delay_ns = first.ns.saturating_sub(moment.ns);
            self.counted.push(Counted {
                place,
                delay_ns,
                insns,
            });
        }
    }

    /// Puts instruction counts on the events of lines that were sent at once,
    /// `offset_ns` being what lies between the two clocks.
    pub(crate) fn apply_counts(&mut self, offset_ns: i64) {
        for counted in std::mem::take(&mut self.counted) {
            if counted.delay_ns.saturating_sub(offset_ns) > AT_ONCE_NS {
                continue;
            }
            let insns = Some(counted.insns);
            match counted.place {
                Place::Start(i) => self.timeline.spans[i].start.insns = insns,
                Place::Mark(i) => self.timeline.marks[i].at.insns = insns,
                Place::End(i) => {
                    if let SpanEnd::At(end) = &mut self.timeline.spans[i].end {
                        end.insns = insns;
                    }
                }
            }
        }
    }

    /// Moves all that is on the kernel's clock so far to another clock: it
    /// turned out to be one. Says which.
    pub(crate) fn split_printk_clock(&mut self) -> ClockId {
        let new = self.printk_clock();
        let simulated = self.timeline.clock(new).simulated;
        let kind = ClockKind::KernelPrintk;
        let old = self.timeline.add_clock(kind, simulated, self.file);
        for span in &mut self.timeline.spans[self.first_span..] {
            if span.clock == new {
                span.clock = old;
            }
        }
        for mark in &mut self.timeline.marks[self.first_mark..] {
            if mark.clock == new {
                mark.clock = old;
            }
        }
        self.counted.clear();
        old
    }
}

/// Console text for people: valid UTF-8 without control characters.
pub(crate) fn shown(text: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(text.trim_ascii_end());
    // Of ASCII the lines have no control bytes left but tabs.
    if text.is_ascii() && memchr::memchr(b'\t', text.as_bytes()).is_none() {
        return text;
    }
    let clean = |c: char| match c {
        '\t' => Some(' '),
        c => (!c.is_control()).then_some(c),
    };
    text.chars().filter_map(clean).collect::<String>().into()
}
