//! What is changed of the events of a read when later lines, or all of them,
//! are known: counts of instructions, clocks and errors, or that they belong to
//! another boot.

use bootlap_model::{ClockId, Evidence, Severity, Span, SpanEnd, Stamp, Timeline};

use super::super::late::Reader;
use super::{Moment, Out};

/// An event of the kernel's clock that could carry the instruction count of
/// its line, if that was sent at once. Known only when all lines were read.
pub(super) struct Counted {
    place: Place,
    /// From the line's time on the kernel's clock to its first byte.
    delay_ns: i64,
    insns: u64,
}

pub(super) enum Place {
    Start(usize),
    End(usize),
    Mark(usize),
}

/// A line that was sent within this time after it was logged was sent at
/// once: its instruction count is that of the moment it was logged.
const AT_ONCE_NS: i64 = 50_000;

/// A clock that ran uneven by less than this is as good as even.
const MUCH_NS: i64 = 1_000_000;

impl Out<'_> {
    /// Remembers that what a span began with was counted when the line of
    /// `moment` had been sent.
    pub(crate) fn count_start(&mut self, span: usize, moment: &Moment) {
        self.count(Place::Start(span), moment, moment.last);
    }

    /// Remembers that a span ended before the line of `moment` was sent.
    pub(crate) fn count_end(&mut self, span: usize, moment: &Moment) {
        self.count(Place::End(span), moment, moment.first);
    }

    pub(super) fn count(&mut self, place: Place, moment: &Moment, at: Option<Stamp>) {
        if let (Some(first), Some(insns)) = (moment.first, at.and_then(|a| a.insns)) {
            let delay_ns = first.ns.saturating_sub(moment.ns);
            self.counted.push(Counted {
                place,
                delay_ns,
                insns,
            });
        }
    }

    /// The place of the last text.
    pub(crate) fn last_text(&self) -> Option<usize> {
        self.kept.last_text
    }

    /// A text has a time that its log never came near: it was logged before `ns`.
    pub(crate) fn move_garbled(&mut self, span: usize, ns: i64) {
        let Some(span) = self.timeline.spans.get_mut(span) else {
            return;
        };
        if Some(span.clock) == self.kept.printk && span.start.ns > ns {
            span.start.ns = ns;
            let at = span.evidence;
            self.notice(
                "time-garbled",
                Severity::Notice,
                at,
                "each of these lines has a time that no later line reaches, and that of its neighbours but for one digit: it stands where the next line does; is the serial line noisy?",
            );
        }
    }

    /// Puts instruction counts on the events of lines that were sent at once,
    /// `offset_ns` being what lies between the two clocks.
    pub(crate) fn apply_counts(&mut self, offset_ns: i64) {
        for counted in std::mem::take(&mut self.kept.counted) {
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
        let time = self.timeline.clock(new).time;
        let (kind, file) = (self.printk_kind, self.file);
        let old = self.timeline.add_lab_clock(kind, time, file);
        let Self { timeline, kept } = self;
        let from = &kept.from;
        let spans = timeline.spans[from.span..].iter_mut();
        let marks = timeline.marks[from.mark..].iter_mut();
        let anchors = timeline.anchors[from.anchor..].iter_mut();
        let edges = timeline.edges[from.edge..].iter_mut();
        let clocks = spans.map(|s| &mut s.clock);
        let clocks = clocks.chain(marks.map(|m| &mut m.clock));
        let clocks = clocks.chain(anchors.map(|a| &mut a.clock));
        let clocks = clocks.chain(edges.flat_map(|e| [&mut e.from, &mut e.to]));
        clocks.filter(|c| **c == new).for_each(|c| *c = old);
        kept.counted.clear();
        old
    }

    /// Puts what was read late where it was sent, as far as the kernel's times tell.
    pub(crate) fn read_late(&mut self, reader: &Reader, at: Evidence) {
        let Some(wire) = self.kept.wire else { return };
        let sent = |stamp: &mut Stamp| {
            let (ns, err_ns) = reader.sent(stamp.ns);
            stamp.err_ns = stamp.err_ns.max(err_ns);
            stamp.ns = ns;
        };
        let Timeline { spans, symbols, .. } = &mut *self.timeline;
        for span in &mut spans[self.kept.from.span..] {
            if span.clock != wire {
                continue;
            }
            let began = span.start.ns;
            sent(&mut span.start);
            if let SpanEnd::At(end) = &mut span.end {
                let ran = end.ns.saturating_sub(began);
                sent(end);
                // How long such a job had run was said at its end, and no line began it.
                if symbols.text(span.name).starts_with(Span::START_JOB) {
                    span.start = Stamp::new(end.ns.saturating_sub(ran), end.err_ns);
                }
            }
        }
        let marks = self.timeline.marks[self.kept.from.mark..].iter_mut();
        let marks = marks.filter(|m| m.clock == wire).map(|m| &mut m.at);
        let anchors = self.timeline.anchors[self.kept.from.anchor..].iter_mut();
        let anchors = anchors.filter(|a| a.clock == wire).map(|a| &mut a.at);
        marks.chain(anchors).for_each(sent);
        let latest = reader.latest() / 1_000_000;
        self.notice(
            "console-read-late",
            Severity::Info,
            at,
            &format!(
                "this console was read up to {latest} ms after it was sent, as the kernel's own times show: lines stand where those allow, and how long a line without such a time took is not known to better than that"
            ),
        );
    }

    /// Puts the kernel's marks where their lines were read, as nothing tells more of them.
    /// `offset_ns` is what the reader took to lie between the clocks.
    pub(crate) fn mark_as_read(&mut self, reader: &Reader, offset_ns: i64) {
        let (Some(wire), Some(printk)) = (self.kept.wire, self.kept.printk) else {
            return;
        };
        let marks = self.timeline.marks[self.kept.from.mark..].iter_mut();
        for mark in marks.filter(|mark| mark.clock == printk) {
            if let Some(read) = reader.read(mark.at.ns.saturating_add(offset_ns)) {
                (mark.clock, mark.at) = (wire, Stamp::new(read, mark.at.err_ns));
            }
        }
    }

    /// Widens the error of what happened before `until_ns` of the kernel's
    /// clock to what `apart` says of it, if that is much.
    pub(crate) fn widen(&mut self, until_ns: i64, apart: impl Fn(i64) -> i64) {
        let Some(printk) = self.kept.printk else {
            return;
        };
        let widen = |stamp: &mut Stamp| {
            let apart = apart(stamp.ns);
            if stamp.ns < until_ns && apart > MUCH_NS {
                stamp.err_ns = stamp.err_ns.max(u32::try_from(apart).unwrap_or(u32::MAX));
            }
        };
        for span in &mut self.timeline.spans[self.kept.from.span..] {
            if span.clock != printk {
                continue;
            }
            widen(&mut span.start);
            if let SpanEnd::At(end) = &mut span.end {
                widen(end);
            }
        }
        for mark in &mut self.timeline.marks[self.kept.from.mark..] {
            if mark.clock == printk {
                widen(&mut mark.at);
            }
        }
        for anchor in &mut self.timeline.anchors[self.kept.from.anchor..] {
            if anchor.clock == printk {
                widen(&mut anchor.at);
            }
        }
    }

    /// Takes back the marks of these names.
    pub(crate) fn forget_marks(&mut self, names: &[&str]) {
        let Self { timeline, kept } = self;
        let mut later = timeline.marks.split_off(kept.from.mark);
        later.retain(|mark| !names.contains(&timeline.text(mark.name)));
        timeline.marks.append(&mut later);
    }

    /// Takes back all events (of which there are no links): they turned out
    /// to be of an earlier boot.
    pub(crate) fn discard(&mut self) {
        let Self { timeline, kept } = self;
        timeline.spans.truncate(kept.from.span);
        kept.last_text = None;
        timeline.marks.truncate(kept.from.mark);
        timeline.anchors.truncate(kept.from.anchor);
        timeline.edges.truncate(kept.from.edge);
        kept.counted.clear();
        kept.passed.clear();
        kept.kernel_lines = 0;
    }
}
