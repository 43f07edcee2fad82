//! Consoles of which each line has a stamp: what grabserial, LAVA, `ts` and
//! system loggers write, once their prefix is off.

use bootlap_model::{ClockId, ClockKind, Evidence, Stamp};

use crate::Hints;
use crate::colours::clean_line;
use crate::console::Reading;
use crate::console::line::Line;
use crate::console::out::{Kept, Out, shown};
use crate::text::Import;

/// Which moment of its line a stamp is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// When its first byte came.
    Begin,
    /// When it was complete.
    End,
}

/// One console on the way.
pub(crate) struct Stamped<'h> {
    reading: Reading<'h>,
    kept: Option<Kept>,
    kind: ClockKind,
    of: Of,
    before: Option<Stamp>,
    clean: Vec<u8>,
}

impl<'h> Stamped<'h> {
    /// A console whose lines have stamps of this kind.
    pub(crate) fn new(hints: &'h Hints, kind: ClockKind, of: Of) -> Self {
        Self {
            reading: Reading::new(hints),
            kept: None,
            kind,
            of,
            before: None,
            clean: Vec::new(),
        }
    }

    /// The clock of the stamps, once a line has one.
    pub(crate) fn wire(&self) -> Option<ClockId> {
        self.kept.as_ref()?.wire
    }

    /// The kernel's clock, once a line has its time.
    pub(crate) fn kernel(&self) -> Option<ClockId> {
        self.kept.as_ref()?.kernel()
    }

    /// Takes one line; one without a stamp has at most the kernel's time.
    pub(crate) fn line(
        &mut self,
        text: &[u8],
        stamp: Option<Stamp>,
        at: Evidence,
        import: &mut Import<'_>,
    ) {
        let kept = self.kept.get_or_insert_with(|| {
            let wire = import.timeline.add_clock(self.kind, import.file);
            Kept::new(import.timeline, import.file, Some(wire))
        });
        let mut out = Out::new(import.timeline, kept);
        let line = match (stamp, self.of) {
            (None, _) => Line::unstamped(text, at),
            (Some(stamp), Of::Begin) => Line::stamped(text, at, stamp, None),
            (Some(stamp), Of::End) => Line::stamped(text, at, stamp, Some(self.before)),
        };
        self.before = stamp.or(self.before);
        self.reading.line(&line, false, &mut out);
    }

    /// The same for text that may have control bytes in it.
    pub(crate) fn raw(
        &mut self,
        text: &[u8],
        stamp: Option<Stamp>,
        at: Evidence,
        import: &mut Import<'_>,
    ) {
        let mut clean = std::mem::take(&mut self.clean);
        clean_line(text, &mut clean);
        self.line(&clean, stamp, at, import);
        self.clean = clean;
    }

    /// Adds a moment that the recording program names.
    pub(crate) fn mark(
        &mut self,
        name: &[u8],
        at: Stamp,
        place: Evidence,
        import: &mut Import<'_>,
    ) {
        if let Some(wire) = self.wire() {
            import.mark(wire, at, &shown(name), place);
        }
    }

    /// The stamps count anew from here: they are of another clock.
    pub(crate) fn restart(&mut self, import: &mut Import<'_>) {
        let Some(kept) = &mut self.kept else { return };
        self.reading.wire_ends(&mut Out::new(import.timeline, kept));
        kept.wire = Some(import.timeline.add_clock(self.kind, import.file));
        self.before = None;
    }

    /// There are no more lines.
    pub(crate) fn finish(&mut self, import: &mut Import<'_>) {
        if let Some(kept) = &mut self.kept {
            let (archive, analysed) = self.reading.finish(&mut Out::new(import.timeline, kept));
            let label = import.timeline.file(import.file).name.clone();
            archive.finish(&label, import.timeline);
            analysed.finish(&label, import.timeline);
        }
        import.were_skipped(self.reading.skipped);
    }
}

#[cfg(test)]
mod tests {
    use bootlap_model::Timeline;

    use super::*;

    #[test]
    fn an_archive_among_the_lines_is_read() {
        let hints = Hints::default();
        let mut timeline = Timeline::default();
        let mut import = Import::new(&mut timeline, "log", "grabserial");
        let mut console = Stamped::new(&hints, ClockKind::HostElapsed, Of::Begin);
        for (n, line) in ["hello", "bootlap-archive 0/8 Ym9vdGxhcAE="]
            .iter()
            .enumerate()
        {
            let at = Evidence::whole(import.file, 1);
            let stamp = Stamp::new(n as i64, 0);
            console.line(line.as_bytes(), Some(stamp), at, &mut import);
        }
        console.finish(&mut import);
        let files: Vec<_> = timeline.files.iter().map(|f| &*f.source).collect();
        assert_eq!(files, ["grabserial", "agent"]);
        let spans = timeline.spans.iter().map(|s| timeline.text(s.name));
        assert_eq!(spans.collect::<Vec<_>>(), ["hello", "bootlap-archive"]);
    }
}
