//! The lines of a boot's text, which most rules go by.

use bootlap_model::{Axis, Evidence, Timeline, TrackKind};

/// One line: of a console, a kernel log, a journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// Without the kernel's time in front.
    pub(crate) text: &'a str,
    /// When it came: ns on the axis.
    pub(crate) start_ns: i64,
    /// When the next one came; the same moment if there is none.
    pub(crate) next_ns: i64,
    /// Where it stands.
    pub(crate) evidence: Evidence,
}

impl Line<'_> {
    /// How long nothing was said after it, its own printing included.
    pub(crate) fn ns(&self) -> i64 {
        self.next_ns.saturating_sub(self.start_ns)
    }

    pub(crate) fn at(&self) -> [i64; 2] {
        [self.start_ns, self.next_ns]
    }
}

/// All lines that are on the axis, by time.
pub(crate) fn lines<'a>(timeline: &'a Timeline, axis: &Axis) -> Vec<Line<'a>> {
    let console = timeline.spans_of(TrackKind::Console);
    let placed = console.filter_map(|span| {
        let placed = axis.span(span)?;
        Some(Line {
            text: message(timeline.text(span.name)),
            start_ns: placed.start.ns,
            next_ns: placed.start.ns,
            evidence: span.evidence,
        })
    });
    let mut lines: Vec<Line<'a>> = placed.collect();
    lines.sort_by_key(|l| l.start_ns);
    for at in 1..lines.len() {
        lines[at - 1].next_ns = lines[at].start_ns;
    }
    lines
}

/// A console line without the kernel's time in front.
pub(crate) fn message(line: &str) -> &str {
    let timed = line.strip_prefix('[').and_then(|l| l.split_once("] "));
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
