//! One read of a console: lines in, events out.

use bootlap_model::{ClockId, Evidence, FileId, Milestone, Severity, Stamp, Timeline};

use super::line::{Line, Splitter};
use super::out::{Kept, Out};
use super::reading::Reading;
use crate::Hints;
use crate::stamps::{ProbeMark, StampClock};

/// The recognisers, and what they share.
pub(crate) struct Session<'t> {
    timeline: &'t mut Timeline,
    kept: Kept,
    splitter: Splitter,
    reading: Reading<'t>,
}

impl<'t> Session<'t> {
    /// Begins to read the console called `label`, as the source `source`.
    pub(crate) fn new(
        timeline: &'t mut Timeline,
        hints: &'t Hints,
        (label, source): (&str, &str),
        clock: Option<StampClock>,
    ) -> Self {
        let file = timeline.add_file(label, source);
        let wire = clock.map(|c| timeline.add_clock(c.kind(), c.simulated(), file));
        let mut session = Self::start(timeline, hints, file, wire);
        if let Some(clock) = clock {
            let (here, zero) = (session.here(), clock.stamp(0, 0));
            let mut out = Out::new(session.timeline, &mut session.kept);
            out.wire_milestone(Milestone::PowerOn, Some(zero), here);
        }
        session
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
        let mut out = Out::new(self.timeline, &mut self.kept);
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
            ProbeMark::Other(_) => self.notice(
                "unknown-probe-mark",
                Severity::Notice,
                "the probe made marks that this bootlap does not know: use a newer bootlap",
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
        reading.finish(&mut out);
        let (file, total, skipped) = (out.file, reading.total, reading.skipped);
        let usage = out.timeline.usage_mut(file);
        usage.total = total;
        usage.skipped = skipped;
        usage.used = total - skipped;
    }
}
