//! Console bytes cut into lines of clean text.
//!
//! What real consoles contain besides text, and what becomes of it:
//!
//! | bytes | from | here |
//! | --- | --- | --- |
//! | CR LF, CR CR LF, LF CR | UART drivers, terminal servers | one line end |
//! | a lone CR | progress displays (`\r 10%\r 20%`) | a line end |
//! | NUL, BEL, DEL … | power-up glitches, padding | dropped |
//! | BS | U-Boot's countdown (`2 \b\b\b 1`) | dropped; the digits stay |
//! | ESC sequences | systemd's colours, BusyBox asking for the cursor | dropped |
//!
//! Each byte of clean text keeps its stamp and its offset in the console.

use std::ops::Range;

use bootlap_model::{Evidence, FileId, Stamp};

use crate::cleaner::Cleaner;
use crate::colours::bare_colours;

/// Longer lines are kept up to here: no message is, a flood without line ends is.
const MAX_TEXT: usize = 16 * 1024;

/// A silence inside a line that is longer cuts the line into two bursts. At
/// 115 200 baud a byte takes 0.087 ms, at 9600 baud 1.04 ms.
pub(crate) const SILENCE_NS: i64 = 1_000_000;

/// One line of clean text, or a part of one.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    /// The text, without line end and control bytes (a tab is kept).
    pub(crate) text: &'a [u8],
    /// The line number, from 1.
    pub(crate) number: u32,
    /// When the line end was sent, if it was and had a stamp.
    pub(crate) ended: Option<Stamp>,
    stamps: Stamps<'a>,
    place: Place<'a>,
    /// Where `text` begins in the whole line's text.
    base: usize,
}

/// What is known of when a line was sent.
#[derive(Clone, Copy)]
enum Stamps<'a> {
    /// By byte of `text`; empty for a console without stamps.
    Each(&'a [Stamp]),
    /// When the line began.
    Begins(Stamp),
    /// When the line was complete, and the line before it.
    Ends { before: Option<Stamp>, at: Stamp },
}

/// Where a line is.
#[derive(Clone, Copy)]
enum Place<'a> {
    /// Where text and console bytes run in step: `(index in the whole line's
    /// text, offset)`, at least one.
    Steps(&'a [(usize, u64)]),
    /// All of a line of a file that has more in it than the console's text.
    Whole(Evidence),
}

/// When what lies between two bytes of a line happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Between {
    /// From here to there, if the console has stamps.
    Moments(Option<Stamp>, Option<Stamp>),
    /// From here, until the next line at the latest.
    UntilNext(Stamp),
}

impl<'a> Line<'a> {
    /// A line that was stamped as a whole: with its first byte, or, where
    /// that was stamped `before`, when it was complete.
    pub(crate) fn stamped(
        text: &'a [u8],
        evidence: Evidence,
        at: Stamp,
        ends: Option<Option<Stamp>>,
    ) -> Self {
        let stamps = match ends {
            None => Stamps::Begins(at),
            Some(before) => Stamps::Ends { before, at },
        };
        Self {
            stamps,
            ..Self::unstamped(text, evidence)
        }
    }

    /// A line without a stamp.
    pub(crate) fn unstamped(text: &'a [u8], evidence: Evidence) -> Self {
        Self {
            text,
            number: evidence.line,
            ended: None,
            stamps: Stamps::Each(&[]),
            place: Place::Whole(evidence),
            base: 0,
        }
    }

    /// When byte `i` was sent; where only the line has a stamp, that.
    pub(crate) fn at(&self, i: usize) -> Option<Stamp> {
        match self.stamps {
            Stamps::Each(stamps) => stamps.get(i).copied(),
            Stamps::Begins(at) | Stamps::Ends { at, .. } => Some(at),
        }
    }

    /// When that happened which took from byte `from` to byte `to`.
    pub(crate) fn between(&self, from: usize, to: usize) -> Between {
        match self.stamps {
            Stamps::Each(_) => Between::Moments(self.at(from), self.at(to)),
            Stamps::Begins(at) => Between::UntilNext(at),
            Stamps::Ends { before, at } => {
                // It began after the line before, nobody knows when.
                let since = |s: Stamp| Stamp::new(s.ns, apart(s, at));
                Between::Moments(before.map(since), Some(at))
            }
        }
    }

    /// When the first byte was sent.
    pub(crate) fn first(&self) -> Option<Stamp> {
        self.at(0)
    }

    /// When the last byte was sent, if it has a stamp of its own.
    pub(crate) fn last(&self) -> Option<Stamp> {
        match self.stamps {
            Stamps::Each(stamps) => stamps.last().copied(),
            _ => None,
        }
    }

    /// Whether bytes have no stamps of their own.
    pub(crate) fn is_stamped_as_a_whole(&self) -> bool {
        matches!(self.place, Place::Whole(_))
    }

    /// Whether the stamp is that of the complete line.
    pub(crate) fn is_stamped_at_end(&self) -> bool {
        matches!(self.stamps, Stamps::Ends { .. })
    }

    /// Whether it shows nothing.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.iter().all(u8::is_ascii_whitespace)
    }

    /// A part of it; the line end belongs to the last part.
    pub(crate) fn part(&self, range: Range<usize>) -> Line<'a> {
        let ended = self.ended.filter(|_| range.end == self.text.len());
        let stamps = match self.stamps {
            Stamps::Each(each) => Stamps::Each(each.get(range.clone()).unwrap_or_default()),
            of_the_line => of_the_line,
        };
        Line {
            text: &self.text[range.clone()],
            stamps,
            base: self.base + range.start,
            ended,
            ..*self
        }
    }

    /// A part that somebody else wrote into the line, later than it began.
    pub(crate) fn glued(&self, range: Range<usize>) -> Line<'a> {
        let mut part = self.part(range);
        if let Stamps::Begins(_) = part.stamps {
            part.stamps = Stamps::Each(&[]);
        }
        part
    }

    /// Where it is in the console.
    pub(crate) fn evidence(&self, file: FileId) -> Evidence {
        let steps = match self.place {
            Place::Steps(steps) => steps,
            Place::Whole(evidence) => return evidence,
        };
        let start = self.offset(steps, 0);
        let end = match self.text.len() {
            0 => start,
            n => self.offset(steps, n - 1) + 1,
        };
        Evidence {
            file,
            start,
            end,
            line: self.number,
        }
    }

    fn offset(&self, steps: &[(usize, u64)], i: usize) -> u64 {
        let i = self.base + i;
        let after = steps.partition_point(|&(at, _)| at <= i);
        let (at, offset) = steps[after.saturating_sub(1)];
        offset + (i - at) as u64
    }

    /// The parts between silences; the whole line without stamps.
    pub(crate) fn bursts(&self) -> impl Iterator<Item = Line<'a>> {
        let line = *self;
        let mut from = 0;
        std::iter::from_fn(move || {
            if from >= line.text.len() {
                return None;
            }
            let to = line.silence_after(from).unwrap_or(line.text.len());
            let burst = line.part(from..to);
            from = to;
            Some(burst)
        })
    }

    /// The first byte after `from` that a silence came before.
    pub(crate) fn silence_after(&self, from: usize) -> Option<usize> {
        let Stamps::Each(stamps) = self.stamps else {
            return None;
        };
        let stamps = stamps.get(from..)?;
        let gap = |w: &[Stamp]| w[1].ns.saturating_sub(w[0].ns) > SILENCE_NS;
        Some(from + 1 + stamps.windows(2).position(gap)?)
    }
}

/// How far apart two stamps are, as an error.
pub(crate) fn apart(from: Stamp, to: Stamp) -> u32 {
    let ns = to.ns.saturating_sub(from.ns).unsigned_abs();
    u32::try_from(ns).unwrap_or(u32::MAX).max(to.err_ns)
}

/// Collects bytes and hands out lines.
pub(crate) struct Splitter {
    text: Vec<u8>,
    stamps: Vec<Stamp>,
    steps: Vec<(usize, u64)>,
    cleaner: Cleaner,
    /// Offset of the next byte.
    offset: u64,
    /// Number of the line that is being collected.
    number: u32,
    /// A LF that comes now belongs to the CR before it.
    after_cr: bool,
    /// Bytes came since the last line end.
    begun: bool,
    /// Text bytes that did not fit into [`MAX_TEXT`].
    dropped: u64,
}

impl Splitter {
    pub(crate) fn new() -> Self {
        Self {
            text: Vec::with_capacity(256),
            stamps: Vec::new(),
            steps: vec![(0, 0)],
            cleaner: Cleaner::new(),
            offset: 0,
            number: 1,
            after_cr: false,
            begun: false,
            dropped: 0,
        }
    }

    /// An empty place at the next byte, for what is no text.
    pub(crate) fn here(&self, file: FileId) -> Evidence {
        Evidence {
            file,
            start: self.offset,
            end: self.offset,
            line: self.number,
        }
    }

    /// Takes one byte and hands out the line that it ends, if it does; `true`
    /// comes with a line of which the end was dropped.
    #[inline]
    pub(crate) fn push(
        &mut self,
        byte: u8,
        at: Option<Stamp>,
        each: &mut impl FnMut(&Line<'_>, bool),
    ) {
        let offset = self.offset;
        self.offset += 1;
        match byte {
            b'\n' if self.after_cr => self.after_cr = false,
            b'\n' => self.end(at, each),
            b'\r' if !self.text.is_empty() => {
                self.end(at, each);
                self.after_cr = true;
            }
            b'\r' | 0 => {}
            _ => {
                self.after_cr = false;
                self.begun = true;
                if self.cleaner.is_text(byte) {
                    self.keep(byte, at, offset);
                }
            }
        }
    }

    /// Takes bytes without stamps; the same as byte by byte, but faster.
    pub(crate) fn push_all(&mut self, mut bytes: &[u8], each: &mut impl FnMut(&Line<'_>, bool)) {
        while let Some(&byte) = bytes.first() {
            let run = self.cleaner.run_len(bytes);
            // `keep` sees to what the first byte of a run may need.
            if run < 2 {
                self.push(byte, None, each);
                bytes = &bytes[1..];
                continue;
            }
            self.push(byte, None, each);
            let room = MAX_TEXT - self.text.len();
            self.text.extend_from_slice(&bytes[1..run.min(room + 1)]);
            self.dropped += (run - 1).saturating_sub(room) as u64;
            self.offset += (run - 1) as u64;
            bytes = &bytes[run..];
        }
    }

    /// Hands out a last line that has no end.
    pub(crate) fn finish(&mut self, each: &mut impl FnMut(&Line<'_>, bool)) {
        if self.begun {
            self.end(None, each);
        }
    }

    fn end(&mut self, at: Option<Stamp>, each: &mut impl FnMut(&Line<'_>, bool)) {
        let colours: Vec<Range<usize>> = bare_colours(&self.text).collect();
        if !colours.is_empty() {
            self.leave_out(&colours);
        }
        let line = Line {
            text: &self.text,
            number: self.number,
            ended: at,
            stamps: Stamps::Each(&self.stamps),
            place: Place::Steps(&self.steps),
            base: 0,
        };
        each(&line, self.dropped > 0);
        self.text.clear();
        self.stamps.clear();
        self.steps.clear();
        self.steps.push((0, self.offset));
        self.cleaner.line_ends();
        self.number = self.number.saturating_add(1);
        self.begun = false;
        self.dropped = 0;
    }

    /// Keeps what is left of the line without these parts, with its stamps and offsets.
    fn leave_out(&mut self, parts: &[Range<usize>]) {
        let text = std::mem::take(&mut self.text);
        let stamps = std::mem::take(&mut self.stamps);
        let steps = std::mem::replace(&mut self.steps, vec![(0, 0)]);
        for (i, byte) in text.into_iter().enumerate() {
            if parts.iter().any(|part| part.contains(&i)) {
                continue;
            }
            let step = steps.partition_point(|&(at, _)| at <= i).saturating_sub(1);
            let (at, offset) = steps[step];
            self.keep(byte, stamps.get(i).copied(), offset + (i - at) as u64);
        }
    }

    #[inline]
    fn keep(&mut self, byte: u8, at: Option<Stamp>, offset: u64) {
        let i = self.text.len();
        if i >= MAX_TEXT {
            self.dropped += 1;
            return;
        }
        if let Some((index, at)) = self.steps.last_mut()
            && *at + (i - *index) as u64 != offset
        {
            if *index == i {
                *at = offset;
            } else {
                self.steps.push((i, offset));
            }
        }
        self.text.push(byte);
        self.stamps.extend(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<(u32, u64, String)> {
        let file = bootlap_model::Timeline::default().add_file("x", "console");
        let mut out = Vec::new();
        let mut splitter = Splitter::new();
        let mut each = |line: &Line<'_>, _: bool| {
            let text = String::from_utf8_lossy(line.text).into_owned();
            out.push((line.number, line.evidence(file).start, text));
        };
        for &b in bytes {
            splitter.push(b, None, &mut each);
        }
        splitter.finish(&mut each);
        out
    }

    fn texts(bytes: &[u8]) -> Vec<String> {
        lines(bytes).into_iter().map(|l| l.2).collect()
    }

    #[test]
    fn colours_without_their_esc_are_no_text() {
        let line = lines(b"[[0;32m  OK  [0m] Started x.\n[5m] y\n");
        assert_eq!(
            line,
            [
                (1, 0, "[  OK  ] Started x.".to_owned()),
                (2, 29, "[5m] y".to_owned())
            ]
        );
    }

    #[test]
    fn every_line_end_ends_one_line() {
        for end in ["\n", "\r\n", "\r\r\n", "\n\r"] {
            let bytes = format!("a{end}{end}b");
            assert_eq!(texts(bytes.as_bytes()), ["a", "", "b"], "{end:?}");
        }
        assert_eq!(texts(b"10%\r20%\rdone\n"), ["10%", "20%", "done"]);
    }

    #[test]
    fn control_bytes_are_dropped_and_offsets_kept() {
        let bytes = b"\0\0\x1b[0;32mok\x1b[0m 2 \x08\x08\x08 1\tx\x1b]0;title\x07y\x1b(Bz\n";
        assert_eq!(lines(bytes), [(1, 9, "ok 2  1\txyz".to_owned())]);
    }

    #[test]
    fn an_unfinished_escape_ends_with_its_line() {
        assert_eq!(texts(b"a\x1b]0;never closed\nb\n"), ["a", "b"]);
    }

    #[test]
    fn a_flood_without_line_ends_is_cut() {
        let mut cut = Vec::new();
        let mut splitter = Splitter::new();
        let mut each = |line: &Line<'_>, dropped: bool| cut.push((line.text.len(), dropped));
        for _ in 0..MAX_TEXT + 10 {
            splitter.push(b'x', None, &mut each);
        }
        splitter.finish(&mut each);
        assert_eq!(cut, [(MAX_TEXT, true)]);
    }
}
