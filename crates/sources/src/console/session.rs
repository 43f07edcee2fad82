//! One read of a console: lines in, events out.

use bootlap_model::{ClockId, Evidence, FileId, MarkKind, Milestone, Severity, Stamp, Timeline};
use bootlap_wire::stamps::{Begun, Event, ProbeMark, StampClock, Zero};

use super::line::{Line, Splitter};
use super::out::{Kept, Out, shown};
use super::reading::Reading;
use crate::Hints;

/// The recognisers, and what they share.
pub(crate) struct Session<'t> {
    timeline: &'t mut Timeline,
    kept: Kept,
    splitter: Splitter,
    reading: Reading<'t>,
    /// A request that details are awaited of.
    asked: Option<Begun>,
}

impl<'t> Session<'t> {
    /// Begins to read the console called `label`, as the source `source`.
    pub(crate) fn new(
        timeline: &'t mut Timeline,
        hints: &'t Hints,
        (label, source): (&str, &str),
        clock: Option<(StampClock, Zero)>,
    ) -> Self {
        let file = timeline.add_file(label, source);
        let wire = clock.map(|(c, _)| timeline.add_lab_clock(c.kind(), c.time(), file));
        let mut session = Self::start(timeline, hints, file, wire);
        if let Some((clock, zero)) = clock {
            session.zero(zero, clock.stamp(0, 0));
        }
        session
    }

    fn zero(&mut self, zero: Zero, at: Stamp) {
        let here = self.here();
        let mut out = Out::new(self.timeline, &mut self.kept);
        match zero {
            Zero::PowerOn => out.wire_milestone(Milestone::PowerOn, Some(at), here),
            Zero::Pattern => out.notice(
                "begins-at-a-pattern",
                Severity::Info,
                here,
                "the times begin with the line that --from met, not with power-on: what the board did before it printed that is not in them",
            ),
            Zero::FirstByte => out.notice(
                "begins-at-the-first-byte",
                Severity::Info,
                here,
                "the times begin with the first byte, not with power-on: `bootlap capture --power-cmd` switches the board on itself and counts from there",
            ),
        }
    }

    /// Begins to read a console that other evidence contains, with stamps on a
    /// clock of that evidence, whose zero is not power-on.
    pub(crate) fn on_clock(
        timeline: &'t mut Timeline,
        hints: &'t Hints,
        (label, source): (&str, &str),
        wire: ClockId,
    ) -> Self {
        let file = timeline.add_file(label, source);
        Self::start(timeline, hints, file, Some(wire))
    }

    fn start(
        timeline: &'t mut Timeline,
        hints: &'t Hints,
        file: FileId,
        wire: Option<ClockId>,
    ) -> Self {
        Self {
            kept: Kept::new(timeline, file, wire),
            timeline,
            splitter: Splitter::new(),
            reading: Reading::new(hints),
            asked: None,
        }
    }

    /// The console as evidence.
    pub(crate) fn file(&self) -> FileId {
        self.kept.file
    }

    /// Where the next byte goes.
    pub(crate) fn here(&self) -> Evidence {
        self.splitter.here(self.file())
    }

    /// Takes one console byte with its stamp.
    #[inline]
    pub(crate) fn byte(&mut self, byte: u8, at: Stamp) {
        let (reading, mut out) = (&mut self.reading, Out::new(self.timeline, &mut self.kept));
        let mut each = |line: &Line<'_>, cut| reading.line(line, cut, &mut out);
        self.splitter.push(byte, Some(at), &mut each);
    }

    /// Takes console bytes without stamps.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let (reading, mut out) = (&mut self.reading, Out::new(self.timeline, &mut self.kept));
        let mut each = |line: &Line<'_>, cut| reading.line(line, cut, &mut out);
        self.splitter.push_all(bytes, &mut each);
    }

    /// Takes a mark of the probe.
    pub(crate) fn probe_mark(&mut self, mark: ProbeMark, at: Stamp) {
        let here = self.here();
        let (reading, mut out) = (&mut self.reading, Out::new(self.timeline, &mut self.kept));
        if let ProbeMark::KernelEntry | ProbeMark::ImageEntry = mark {
            reading.kernel_begins(at, &mut out);
        }
        match mark {
            ProbeMark::KernelEntry => {
                out.wire_milestone(Milestone::KernelEntry, Some(at), here);
            }
            ProbeMark::UserEntry => {
                out.wire_milestone(Milestone::UserEntry, Some(at), here);
            }
            ProbeMark::ImageEntry => {
                out.wire_milestone(Milestone::KernelImage, Some(at), here);
            }
            ProbeMark::LoaderEntry => {
                out.wire_milestone(Milestone::BootloaderStart, Some(at), here);
            }
            ProbeMark::Request => self.asked = out.begun(at),
            // Where a recorder stops; none is in a recording of ours.
            ProbeMark::Limit => {}
            ProbeMark::Other(_) => self.notice(
                "unknown-probe-mark",
                Severity::Notice,
                "the probe made marks that this bootlap does not know: use a newer bootlap",
            ),
        }
    }

    /// Takes a detail of the mark before it.
    pub(crate) fn detail(&mut self, first: u64, second: u64, code: u8) {
        let here = self.here();
        let begun = self.asked.as_mut();
        if let Some(request) = begun.and_then(|b| b.detail((first, second, code), here)) {
            self.asked = None;
            Out::new(self.timeline, &mut self.kept).request(request);
        }
    }

    /// Takes what happened to the recording; `text` is in the recorder's words.
    pub(crate) fn event(&mut self, event: Event, at: Stamp, text: &[u8]) {
        let here = self.here();
        let mut out = Out::new(self.timeline, &mut self.kept);
        let text = shown(text);
        let said = |what: &str| match text.is_empty() {
            true => what.to_owned(),
            false => format!("{what}: {text}"),
        };
        let name = match event {
            Event::Sent => said("sent"),
            Event::Gone => said("console gone"),
            Event::Returned => said("console back"),
            Event::WrongRate => said("garbage"),
            Event::Lost => said("bytes lost"),
            Event::Other(_) => said("event"),
        };
        if let Some(wire) = out.wire {
            out.mark(wire, at, MarkKind::Named, &name, here);
        }
        match event {
            Event::Sent | Event::Returned => {}
            Event::Gone => self.notice(
                "console-gone",
                Severity::DataLoss,
                "the console's device vanished here, and what the board said until it was back is not in the recording: see to the cable and the adapter, and record again",
            ),
            Event::WrongRate => self.notice(
                "wrong-rate",
                Severity::DataLoss,
                "these bytes look as if sent at another rate: record again with the rate that the board uses (--baud)",
            ),
            Event::Lost => self.notice(
                "bytes-lost",
                Severity::DataLoss,
                "the host did not keep up, and bytes of the console are missing here: record on a host that is less busy, or with flow control",
            ),
            Event::Other(_) => self.notice(
                "unknown-event",
                Severity::Notice,
                "the recording tells of events that this bootlap does not know: use a newer bootlap",
            ),
        }
    }

    /// Counts trouble at the next byte.
    pub(crate) fn notice(&mut self, code: &str, severity: Severity, remedy: &str) {
        let here = self.here();
        Out::new(self.timeline, &mut self.kept).notice(code, severity, here, remedy);
    }

    /// The console has ended.
    pub(crate) fn finish(mut self) {
        let (reading, mut out) = (&mut self.reading, Out::new(self.timeline, &mut self.kept));
        let mut each = |line: &Line<'_>, cut| reading.line(line, cut, &mut out);
        self.splitter.finish(&mut each);
        let (archive, analysed) = reading.finish(&mut out);
        let (file, total, skipped) = (out.file, reading.total, reading.skipped);
        let usage = out.timeline.usage_mut(file);
        usage.total = total;
        usage.skipped = skipped;
        usage.used = total - skipped;
        let label = self.timeline.file(file).name.clone();
        archive.finish(&label, self.timeline);
        analysed.finish(&label, self.timeline);
    }
}
