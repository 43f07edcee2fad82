//! Text formats: bytes → clean lines → a [`Reader`] per format.
//!
//! What is common to all of them is done here: line ends of any kind, NULs
//! and colours in the text, a byte order mark, a last line without an end, a
//! flood without line ends; the count of lines used and skipped; and that no
//! line is skipped without a notice.

use std::io::{self, BufRead};

use bootlap_model::{
    ClockId, ClockKind, Evidence, FileId, Mark, MarkKind, Milestone, Severity, SpanEnd, SpanId,
    Stamp, Sym, Timeline, TrackKind,
};

use crate::cleaner::Cleaner;
use crate::{Input, Source, SourceError};

/// Longer lines are kept up to here.
const MAX_LINE: usize = 256 * 1024;

/// One line of clean text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// The text without line end, control bytes (a tab is kept) and escape
    /// sequences. Not trimmed, and not always UTF-8.
    pub(crate) text: &'a [u8],
    /// Where it is.
    pub(crate) at: Evidence,
}

impl<'a> Line<'a> {
    /// The text up to the first byte that is no UTF-8.
    pub(crate) fn str(&self) -> &'a str {
        valid(self.text)
    }

    /// Whether it shows nothing.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.iter().all(u8::is_ascii_whitespace)
    }
}

/// `text` up to the first byte that is no UTF-8.
pub(crate) fn valid(text: &[u8]) -> &str {
    match std::str::from_utf8(text) {
        Ok(text) => text,
        Err(e) => std::str::from_utf8(&text[..e.valid_up_to()]).unwrap_or_default(),
    }
}

/// Why a line was not used: what the notice says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skip {
    /// Stable kebab-case name.
    pub(crate) code: &'static str,
    /// How bad it is.
    pub(crate) severity: Severity,
    /// What happened and what to do next.
    pub(crate) remedy: &'static str,
}

impl Skip {
    /// Nobody knows what these lines are; `remedy` says what was expected.
    pub(crate) const fn unknown(remedy: &'static str) -> Self {
        Self {
            code: "unknown-line",
            severity: Severity::Notice,
            remedy,
        }
    }

    /// These lines cannot be used, and something is lost.
    pub(crate) const fn lost(code: &'static str, remedy: &'static str) -> Self {
        Self {
            code,
            severity: Severity::DataLoss,
            remedy,
        }
    }
}

/// What a format does with its lines.
pub(crate) trait Reader {
    /// Takes one line that is not blank; a line that it cannot use is skipped
    /// with a notice.
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip>;

    /// Takes a blank line; it counts as used.
    fn blank(&mut self, _line: &Line<'_>, _import: &mut Import<'_>) {}

    /// There are no more lines.
    fn finish(&mut self, _import: &mut Import<'_>) {}
}

/// Reads all of `input` as one text file of the format `source`.
pub(crate) fn read(
    input: Input<'_>,
    source: &Source,
    out: &mut Timeline,
    reader: &mut dyn Reader,
) -> Result<(), SourceError> {
    let mut import = Import::new(out, input.label, source.name);
    import.read(input.bytes, reader)?;
    import.finish();
    Ok(())
}

/// Hands each line of `bytes` to `each`; `true` comes with one of which the
/// end was dropped.
///
/// # Errors
/// If the bytes cannot be read.
fn lines(
    bytes: &mut dyn BufRead,
    file: FileId,
    mut each: impl FnMut(&Line<'_>, bool),
) -> io::Result<()> {
    let mut lines = Lines {
        file,
        offset: 0,
        number: 0,
        clean: Vec::new(),
    };
    // The beginning of a line whose end is not read yet, and its real length.
    let mut begun: Vec<u8> = Vec::new();
    let mut begun_len = 0;
    loop {
        let chunk = bytes.fill_buf()?;
        if chunk.is_empty() {
            break;
        }
        let mut rest = chunk;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, next) = rest.split_at(end + 1);
            if begun_len == 0 {
                let kept = &line[..end.min(MAX_LINE)];
                lines.hand_out(kept, line.len(), &mut each);
            } else {
                keep(&mut begun, &line[..end]);
                lines.hand_out(&begun, begun_len + line.len(), &mut each);
                begun.clear();
                begun_len = 0;
            }
            rest = next;
        }
        keep(&mut begun, rest);
        begun_len += rest.len();
        let n = chunk.len();
        bytes.consume(n);
    }
    if begun_len > 0 {
        lines.hand_out(&begun, begun_len, &mut each);
    }
    Ok(())
}

fn keep(begun: &mut Vec<u8>, more: &[u8]) {
    let room = MAX_LINE - begun.len();
    begun.extend_from_slice(&more[..more.len().min(room)]);
}

struct Lines {
    file: FileId,
    offset: u64,
    number: u32,
    clean: Vec<u8>,
}

impl Lines {
    /// `raw` is the line without its LF, `len` its length in the file.
    fn hand_out(&mut self, raw: &[u8], len: usize, each: &mut impl FnMut(&Line<'_>, bool)) {
        let cut = len > raw.len() + 1;
        let (mut text, mut start) = (raw, self.offset);
        let mark = "\u{feff}".as_bytes();
        if self.number == 0
            && let Some(rest) = text.strip_prefix(mark)
        {
            (text, start) = (rest, mark.len() as u64);
        }
        while let Some((b'\r', rest)) = text.split_last() {
            text = rest;
        }
        let end = start + text.len() as u64;
        if has_control_bytes(text) {
            let mut cleaner = Cleaner::new();
            self.clean.clear();
            let is_text = |b: &&u8| cleaner.is_text(**b);
            self.clean.extend(text.iter().filter(is_text));
            text = &self.clean;
        }
        self.offset += len as u64;
        self.number = self.number.saturating_add(1);
        let at = Evidence {
            file: self.file,
            start,
            end,
            line: self.number,
        };
        each(&Line { text, at }, cut);
    }
}

/// Whether bytes are in `text` that are no text. In chunks without an early
/// end, which the compiler makes vectors of; the last one overlaps.
fn has_control_bytes(text: &[u8]) -> bool {
    let odd = |b: &u8| (*b < b' ') & (*b != b'\t') | (*b == 0x7f);
    let any = |chunk: &[u8; 32]| chunk.iter().fold(false, |any, b| any | odd(b));
    let Some(last) = text.last_chunk() else {
        return text.iter().any(odd);
    };
    any(last) || text.as_chunks().0.iter().any(any)
}

/// The timeline as one read of a text file sees it.
pub(crate) struct Import<'t> {
    pub(crate) timeline: &'t mut Timeline,
    pub(crate) file: FileId,
    total: u64,
    skipped: u64,
    clock: Option<ClockId>,
    /// Milestones that this file is known to have passed.
    passed: Vec<Milestone>,
}

impl<'t> Import<'t> {
    /// A import for the file called `label` of the format `source`.
    pub(crate) fn new(timeline: &'t mut Timeline, label: &str, source: &str) -> Self {
        let file = timeline.add_file(label, source);
        Self {
            timeline,
            file,
            total: 0,
            skipped: 0,
            clock: None,
            passed: Vec::new(),
        }
    }

    /// Hands all lines of `bytes` to the reader.
    pub(crate) fn read(
        &mut self,
        bytes: &mut dyn BufRead,
        reader: &mut dyn Reader,
    ) -> io::Result<()> {
        lines(bytes, self.file, |line, cut| self.take(line, cut, reader))?;
        reader.finish(self);
        Ok(())
    }

    /// Counts a line and hands it to the reader.
    fn take(&mut self, line: &Line<'_>, cut: bool, reader: &mut dyn Reader) {
        self.total += 1;
        if cut {
            self.notice(
                "line-too-long",
                Severity::DataLoss,
                line.at,
                "only the first 256 KiB of these lines were read: is the file what it seems to be?",
            );
        }
        if line.is_blank() {
            reader.blank(line, self);
        } else if let Err(skip) = reader.line(line, self) {
            self.skip(line.at, skip);
        }
    }

    /// Counts a line that was taken before as skipped after all.
    pub(crate) fn skip(&mut self, at: Evidence, skip: Skip) {
        self.skipped += 1;
        self.notice(skip.code, skip.severity, at, skip.remedy);
    }

    /// Counts lines that were taken before as skipped after all; a notice has
    /// said why.
    pub(crate) fn were_skipped(&mut self, lines: u64) {
        self.skipped += lines;
    }

    /// For formats that are not text: what counts as their lines.
    pub(crate) fn count_lines(&mut self, n: u64) {
        self.total += n;
    }

    /// Writes down how much was used.
    pub(crate) fn finish(self) {
        let usage = self.timeline.usage_mut(self.file);
        usage.total = self.total;
        usage.skipped = self.skipped;
        usage.used = self.total - self.skipped;
    }

    /// The file's clock: of this kind when it is first asked for. For formats
    /// with one clock; others add theirs to the timeline.
    pub(crate) fn clock(&mut self, kind: ClockKind) -> ClockId {
        let (timeline, file) = (&mut *self.timeline, self.file);
        *self
            .clock
            .get_or_insert_with(|| timeline.add_clock(kind, file))
    }

    /// The symbol of `name`.
    pub(crate) fn sym(&mut self, name: &str) -> Sym {
        self.timeline.symbols.intern(name)
    }

    /// Adds a span on `clock`. An end before the start is unknown, and said.
    pub(crate) fn span(
        &mut self,
        clock: ClockId,
        track: (TrackKind, &str),
        name: &str,
        (start, end): (Stamp, SpanEnd),
        args: &[(&str, &str)],
        evidence: Evidence,
    ) -> SpanId {
        let mut until = end;
        if let SpanEnd::At(end) = end
            && end.ns < start.ns
        {
            until = SpanEnd::Unknown;
            self.notice(
                "ends-before-it-starts",
                Severity::Notice,
                evidence,
                "by their own times these events end before they begin: their end is not known",
            );
        }
        self.timeline
            .add_named(clock, track, name, (start, until), args, evidence)
    }

    /// Adds a mark that the evidence names.
    pub(crate) fn mark(&mut self, clock: ClockId, at: Stamp, name: &str, evidence: Evidence) {
        self.timeline
            .add_mark(clock, at, MarkKind::Named, name, evidence);
    }

    /// Adds a milestone, unless this file has passed it before.
    pub(crate) fn milestone(
        &mut self,
        clock: ClockId,
        at: Stamp,
        milestone: Milestone,
        evidence: Evidence,
    ) {
        if self.passed.contains(&milestone) {
            return;
        }
        self.passed.push(milestone);
        let kind = MarkKind::Milestone(milestone);
        // A kernel log within the file may have passed it too.
        let marks = &self.timeline.marks;
        let known = |m: &Mark| m.kind == kind && m.evidence.file == self.file;
        if !marks.iter().any(known) {
            self.timeline
                .add_mark(clock, at, kind, milestone.text(), evidence);
        }
    }

    /// Adds a moment that other evidence may know too.
    pub(crate) fn anchor(&mut self, clock: ClockId, at: Stamp, key: u64, evidence: Evidence) {
        self.timeline.add_anchor(clock, at, key, evidence);
    }

    /// Adds a quantity over time; nothing if there are no samples.
    pub(crate) fn counter(
        &mut self,
        clock: ClockId,
        name_and_unit: (&str, &str),
        samples: Vec<(i64, f64)>,
        evidence: Evidence,
    ) {
        if !samples.is_empty() {
            self.timeline
                .add_counter(clock, name_and_unit, samples, evidence);
        }
    }

    /// Counts one case of a kind of trouble.
    pub(crate) fn notice(&mut self, code: &str, severity: Severity, at: Evidence, remedy: &str) {
        self.notice_times(1, code, severity, at, remedy);
    }

    /// Counts `times` cases that one place tells of.
    pub(crate) fn notice_times(
        &mut self,
        times: u64,
        code: &str,
        severity: Severity,
        at: Evidence,
        remedy: &str,
    ) {
        self.timeline
            .notice_times(times, code, severity, Some(at), remedy);
    }
}

/// The lines of a file's head, without the last if it may be cut.
pub(crate) fn head_lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let head = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head);
    let whole = match memchr::memrchr(b'\n', head) {
        Some(end) if head.len() >= crate::HEAD_LEN => &head[..end],
        _ => head,
    };
    let lines = whole.split(|b| *b == b'\n');
    lines.map(|l| l.trim_ascii_end()).filter(|l| !l.is_empty())
}

/// How many of the first `limit` lines of a head fulfil `is`, and of how many.
pub(crate) fn count_lines(head: &[u8], limit: usize, is: impl Fn(&[u8]) -> bool) -> (usize, usize) {
    let mut all = 0;
    let found = head_lines(head).take(limit);
    let found = found.inspect(|_| all += 1).filter(|l| is(l)).count();
    (found, all)
}

/// A decimal number of seconds (`12`, `-0.5`, `1.234567890`) as ns; further
/// digits are cut. `None` if it is none, or does not fit.
pub(crate) fn seconds_ns(text: &[u8]) -> Option<i64> {
    decimal(text, 9)
}

/// `text` · 10^`places` for a decimal number: `decimal(b"1.5", 3)` is 1500.
pub(crate) fn decimal(text: &[u8], places: u32) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        all => (false, all),
    };
    let dot = memchr::memchr2(b'.', b',', digits).unwrap_or(digits.len());
    let (whole, fraction) = (&digits[..dot], digits.get(dot + 1..).unwrap_or_default());
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0i64;
    for &digit in whole {
        value = push_digit(value, digit)?;
    }
    for i in 0..places as usize {
        value = push_digit(value, fraction.get(i).copied().unwrap_or(b'0'))?;
    }
    if !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(if negative { -value } else { value })
}

fn push_digit(value: i64, digit: u8) -> Option<i64> {
    if !digit.is_ascii_digit() {
        return None;
    }
    value.checked_mul(10)?.checked_add(i64::from(digit - b'0'))
}

/// What one unit of the last digit of `text` is worth, if it counts
/// `unit_ns`: the resolution of a stamp (`1.25` s has 10 ms).
pub(crate) fn resolution_ns(text: &[u8], unit_ns: u64) -> u32 {
    let fraction = memchr::memchr2(b'.', b',', text).map_or(0, |dot| text.len() - dot - 1);
    let step = (0..fraction).fold(unit_ns, |step, _| step / 10);
    u32::try_from(step).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn of(bytes: &[u8], chunk: usize) -> Vec<(u32, u64, u64, String)> {
        let file = Timeline::default().add_file("x", "test");
        let mut out = Vec::new();
        let mut reader = BufReader::with_capacity(chunk, bytes);
        lines(&mut reader, file, |line, cut| {
            assert!(!cut);
            let text = String::from_utf8_lossy(line.text).into_owned();
            out.push((line.at.line, line.at.start, line.at.end, text));
        })
        .unwrap();
        out
    }

    #[test]
    fn lines_are_the_same_in_any_chunks() {
        let bytes = b"\xef\xbb\xbfa b\r\n\n\x1b[1mc\0\x1b[0m\r\r\nlast";
        let expected = [
            (1, 3, 6, "a b".to_owned()),
            (2, 8, 8, String::new()),
            (3, 9, 19, "c".to_owned()),
            (4, 22, 26, "last".to_owned()),
        ];
        for chunk in [1, 2, 5, 100] {
            assert_eq!(of(bytes, chunk), expected, "{chunk}");
        }
    }

    #[test]
    fn a_flood_is_cut() {
        let bytes = vec![b'x'; MAX_LINE + 5];
        let file = Timeline::default().add_file("x", "test");
        let mut seen = Vec::new();
        lines(&mut &bytes[..], file, |l, cut| {
            seen.push((l.text.len(), cut))
        })
        .unwrap();
        assert_eq!(seen, [(MAX_LINE, true)]);
    }

    #[test]
    fn decimals() {
        let s = |text: &str| seconds_ns(text.as_bytes());
        assert_eq!(s("1.25"), Some(1_250_000_000));
        assert_eq!(s("-0.000000001"), Some(-1));
        assert_eq!(s("12"), Some(12_000_000_000));
        assert_eq!(s("1,5"), Some(1_500_000_000));
        assert_eq!(s(".1234567899"), Some(123_456_789));
        for bad in ["", ".", "-", "1.2.3", "1x", "99999999999999999999", "1.x"] {
            assert_eq!(s(bad), None, "{bad}");
        }
        assert_eq!(decimal(b"3325.948", 3), Some(3_325_948));
        assert_eq!(resolution_ns(b"1.234567", 1_000_000_000), 1_000);
        assert_eq!(resolution_ns(b"7", 1_000_000_000), 1_000_000_000);
    }
}
