//! The lines of a boot's text, which most rules go by.

mod index;
mod said;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use bootlap_model::{
    Axis, ClockKind, Evidence, FileId, Placed, Span, TimeKind, Timeline, TrackKind, line_bytes,
};

pub(crate) use said::{Begin, Said, Wanted, begins, contains};

use index::Index;

/// One line: of a console, a kernel log, a journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// Without the kernel's time in front.
    pub(crate) text: &'a str,
    /// Whether it had one.
    pub(crate) timed: bool,
    /// When it came: ns on the axis.
    pub(crate) start_ns: i64,
    /// When it was sent, where that was seen or follows from a console's rate; else the
    /// same moment.
    pub(crate) end_ns: i64,
    /// When the next one came; the same moment if there is none.
    pub(crate) next_ns: i64,
    /// From when to when it was printed: ns on the axis; an empty stretch where that is
    /// not known.
    pub(crate) printed: [i64; 2],
    /// Lines follow of which nobody knows when they came: no silence does.
    pub(crate) goes_on: bool,
    /// How it was sent.
    pub(crate) sent: Sent,
    /// How many bytes it was on the wire, if it was on one.
    pub(crate) bytes: u64,
    /// Where it stands.
    pub(crate) evidence: Evidence,
}

/// The source whose evidence is each byte of the wire, and nothing else.
const BYTES: &str = "stamps";

/// Sources that record what comes over a wire.
const WIRES: [&str; 4] = [BYTES, "grabserial", "ts", "lava"];

/// How a line was sent, as far as anybody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// Its log shows how long that took.
    Timed,
    /// It was recorded on the wire.
    Recorded,
    /// Nobody knows whether it was.
    Unknown,
}

impl Sent {
    pub(crate) fn of(timeline: &Timeline, span: &Span) -> Self {
        let source = &timeline.file(span.evidence.file).source;
        let clock = timeline.clock(span.clock);
        let logged = clock.kind == ClockKind::KernelPrintk;
        // In modelled time the stamps have the pace of the line.
        let paced = logged || clock.time == TimeKind::Modelled;
        match paced && span.end.known().is_some() {
            true => Sent::Timed,
            // With the kernel's time instead of the wire's it may have been read later.
            false if !logged && WIRES.contains(&source.as_str()) => Sent::Recorded,
            false => Sent::Unknown,
        }
    }
}

impl Line<'_> {
    /// How long nothing was said after it: what a serial console took for it is none of
    /// what came next.
    pub(crate) fn ns(&self) -> i64 {
        self.next_ns.saturating_sub(self.end_ns).max(0)
    }

    pub(crate) fn at(&self) -> [i64; 2] {
        [self.end_ns, self.next_ns.max(self.end_ns)]
    }
}

/// All lines of a boot, by time.
pub(crate) struct Lines<'a> {
    all: Vec<Line<'a>>,
    index: Index,
}

impl<'a> Lines<'a> {
    /// Those that are on the axis, up to this moment of it.
    pub(crate) fn of(timeline: &'a Timeline, axis: &Axis, end_ns: i64) -> Self {
        let all = lines(timeline, axis, end_ns);
        let index = Index::of(&all);
        Self { all, index }
    }

    pub(crate) fn said(&self) -> Said<'_, 'a> {
        Said::new(&self.all, &self.index)
    }
}

fn lines<'a>(timeline: &'a Timeline, axis: &Axis, end_ns: i64) -> Vec<Line<'a>> {
    let console = timeline.spans_of(TrackKind::Console);
    let mut lines = Vec::with_capacity(timeline.spans_of(TrackKind::Console).count());
    let placed = console.filter_map(|span| {
        let placed = axis.span(span).filter(|p| p.start.ns <= end_ns)?;
        let printed = printed(timeline, span, &placed);
        let whole = timeline.text(span.name);
        let text = message(whole);
        let timed = text.len() < whole.trim().len();
        let sent = Sent::of(timeline, span);
        let is_exact = timeline.file(span.evidence.file).source == BYTES;
        Some(Line {
            text,
            timed,
            start_ns: placed.start.ns,
            end_ns: printed[1],
            printed,
            goes_on: timeline.arg(span, Span::UNTIMED).is_some(),
            sent,
            bytes: match is_exact {
                true => span.evidence.end.saturating_sub(span.evidence.start),
                false => line_bytes(whole, sent == Sent::Timed && !timed),
            },
            next_ns: placed.start.ns,
            evidence: span.evidence,
        })
    });
    lines.extend(placed);
    told_once(timeline, &mut lines);
    // One log's lines are in order, and there may be a million.
    if !lines.is_sorted_by_key(|l| l.start_ns) {
        lines.sort_by_key(|l| l.start_ns);
    }
    for together in lines.chunk_by_mut(|a, b| a.start_ns == b.start_ns) {
        share_printing(together);
    }
    for [start_ns, end_ns] in flushes(timeline, axis) {
        let first = lines.partition_point(|l| l.start_ns < start_ns);
        let during = lines[first..].iter_mut();
        for line in during.take_while(|l| l.start_ns < end_ns) {
            line.end_ns = end_ns;
        }
    }
    for at in 1..lines.len() {
        lines[at - 1].next_ns = lines[at].start_ns;
    }
    for line in lines.iter_mut().filter(|l| l.goes_on) {
        line.end_ns = line.next_ns;
    }
    lines
}

/// Several files can have one kernel's log, each with what printing took. It was printed
/// once: the bytes of the wire count, else those of the file with most of it.
fn told_once(timeline: &Timeline, lines: &mut [Line<'_>]) {
    let mut files: BTreeMap<FileId, usize> = BTreeMap::new();
    for line in lines.iter().filter(|l| l.sent == Sent::Timed) {
        *files.entry(line.evidence.file).or_default() += 1;
    }
    let is_exact = |file: &FileId| timeline.file(*file).source == BYTES;
    let most = |(file, lines): &(FileId, usize)| (is_exact(file), *lines, Reverse(*file));
    let Some((told, _)) = files.into_iter().max_by_key(most) else {
        return;
    };
    let others = lines.iter_mut().filter(|l| l.evidence.file != told);
    for line in others.filter(|l| l.sent == Sent::Timed) {
        line.sent = Sent::Unknown;
        line.printed = [line.start_ns; 2];
        line.end_ns = line.start_ns;
    }
}

/// What was logged with one stamp was printed one after the other; only the last of it
/// has an end.
fn share_printing(together: &mut [Line<'_>]) {
    let Some(last) = together.iter().rposition(|l| l.sent == Sent::Timed) else {
        return;
    };
    let file = together[last].evidence.file;
    let is_kernels = |l: &Line<'_>| (l.timed || l.sent == Sent::Timed) && l.evidence.file == file;
    let together = &mut together[..=last];
    let [start, end] = together[last].printed;
    let size = |l: &Line<'_>| if is_kernels(l) { l.bytes } else { 0 };
    let own: Vec<i128> = together.iter().map(|l| size(l).into()).collect();
    let all = own.iter().sum::<i128>().max(1);
    let mut before = 0;
    let at = |bytes: i128| {
        let ns = i128::from(end.saturating_sub(start)) * bytes / all;
        start.saturating_add(i64::try_from(ns).unwrap_or(0))
    };
    for (line, bytes) in together.iter_mut().zip(own) {
        if is_kernels(line) {
            line.sent = Sent::Timed;
            line.printed = [at(before), at(before + bytes)];
            line.end_ns = line.printed[1];
        }
        before += bytes;
    }
}

/// From when to when a line was printed, by a kernel's log or in modelled time. (What was
/// stamped on a real wire can have stopped within a line: `Calibrating delay loop... ` waits
/// for the rest.)
fn printed(timeline: &Timeline, span: &Span, placed: &Placed) -> [i64; 2] {
    let start_ns = placed.start.ns;
    let clock = timeline.clock(span.clock);
    let end_ns = placed.end.map_or(start_ns, |end| end.ns.max(start_ns));
    if clock.kind == ClockKind::KernelPrintk {
        return [start_ns, end_ns];
    }
    if clock.time != TimeKind::Modelled {
        return [start_ns; 2];
    }
    // A stamp is the end of a byte: the first one began as much earlier.
    let more = span
        .evidence
        .end
        .saturating_sub(span.evidence.start)
        .saturating_sub(1);
    let byte_ns = (end_ns - start_ns) / i64::try_from(more).unwrap_or(i64::MAX).max(1);
    [start_ns.saturating_sub(byte_ns), end_ns]
}

/// When serial consoles printed what was logged before them.
fn flushes(timeline: &Timeline, axis: &Axis) -> Vec<[i64; 2]> {
    let stages = timeline.spans_of(TrackKind::Kernel);
    let flushes = stages.filter(|s| timeline.text(s.name) == Span::LOG_FLUSH);
    let placed = flushes.filter_map(|s| axis.span(s));
    placed
        .filter_map(|p| Some([p.start.ns, p.end?.ns]))
        .collect()
}

/// A console line without the kernel's time in front.
pub(crate) fn message(line: &str) -> &str {
    let inside = line.strip_prefix('[');
    let empty = || Some((inside?.trim_end().strip_suffix(']')?, ""));
    let timed = inside.and_then(|l| l.split_once("] ")).or_else(empty);
    let is_time = |t: &str| t.trim_start().starts_with(|c: char| c.is_ascii_digit());
    let timed = timed.filter(|(time, _)| is_time(time));
    timed.map_or(line, |(_, message)| message).trim()
}

/// The decimal digits right after `key`.
pub(crate) fn number_after<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(key)?;
    let end = rest.bytes().take_while(u8::is_ascii_digit).count();
    (end > 0).then(|| &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_no_time_in_front_and_can_be_empty() {
        assert_eq!(message("[    1.234567] Run /init"), "Run /init");
        assert_eq!(message("[    1.234567][    T1] Run /init"), "Run /init");
        assert_eq!(message("[    5.946267] "), "");
        assert_eq!(message("[  OK  ] Started x"), "[  OK  ] Started x");
        assert_eq!(message("[ a ]"), "[ a ]");
    }
}
