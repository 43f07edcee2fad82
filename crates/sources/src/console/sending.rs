//! How long a console was busy with an archive's lines: a boot has thousands of
//! them, and nobody reads them, so they are one span up to the next silence or
//! the next line of text.

use bootlap_model::{Evidence, SpanEnd, Stamp};

use super::line::{Line, SILENCE_NS};
use super::out::Out;

/// What such a span is called.
const NAME: &str = "bootlap-archive";

/// What is being sent.
#[derive(Default)]
pub(crate) struct Sending {
    run: Option<Run>,
}

/// Bytes without a silence between them.
struct Run {
    start: Stamp,
    /// When the last byte that shows was sent, if bytes have stamps.
    last: Option<Stamp>,
    /// The same with a line end, if that was the last.
    ended: Option<Stamp>,
    /// As on the wire, with line ends.
    bytes: u64,
    evidence: Evidence,
}

impl Sending {
    /// Takes a line of an archive.
    pub(crate) fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) {
        for burst in line.bursts() {
            let Some(start) = burst.first() else {
                continue;
            };
            let evidence = burst.evidence(out.file);
            if !self.run.as_ref().is_some_and(|run| run.goes_on(start)) {
                self.end(out);
            }
            let run = self.run.get_or_insert(Run {
                start,
                last: None,
                ended: None,
                bytes: 0,
                evidence,
            });
            run.last = burst.last();
            run.ended = burst.ended.or(run.last);
            run.bytes += burst.text.len() as u64;
            run.evidence.end = evidence.end;
        }
        if let Some(run) = &mut self.run {
            run.bytes += LINE_END;
        }
    }

    /// Something else comes, or nothing.
    pub(crate) fn end(&mut self, out: &mut Out<'_>) {
        if let Some(run) = self.run.take() {
            let end = run.last.filter(|last| last.ns >= run.start.ns);
            let end = end.map_or(SpanEnd::Unknown, SpanEnd::At);
            out.data_span(NAME, (run.start, end), run.bytes, run.evidence);
        }
    }
}

/// CR and LF.
const LINE_END: u64 = 2;

impl Run {
    /// Whether what begins then follows without a silence.
    fn goes_on(&self, start: Stamp) -> bool {
        let silence = |ended: Stamp| start.ns.saturating_sub(ended.ns);
        self.ended
            .is_some_and(|ended| (0..=SILENCE_NS).contains(&silence(ended)))
    }
}

#[cfg(test)]
mod tests {
    use bootlap_model::{ClockKind, MarkKind, Milestone, Span, Timeline, TrackKind};
    use regex::bytes::Regex;

    use super::*;
    use crate::Hints;
    use crate::console::Session;

    /// How long a byte takes at 115 200 baud.
    const BYTE_NS: i64 = 86_806;
    const CONSOLE: &str = "started\r\n\
        bootlap-archive 0/6 Ym9v\r\n\
        bootlap-archive 3/6 dGxh\r\n\
        bootlap-archive 3735928559 end\r\n";

    /// A console's timeline; before what stands behind a `~` there is a silence.
    fn timeline(console: &str) -> Timeline {
        let pattern = |text: &str| Regex::new(text).unwrap();
        let hints = Hints {
            ready: Some(pattern(r"bootlap-archive \d+ end")),
            application: Some(pattern("^bootlap-archive 0/")),
            marks: vec![("half".to_owned(), pattern("3/6 "))],
        };
        let mut timeline = Timeline::default();
        let file = timeline.add_file("console", "stamps");
        let clock = timeline.add_clock(ClockKind::HostMonotonic, file);
        let names = ("console", "stamps");
        let mut session = Session::on_clock(&mut timeline, &hints, names, clock);
        let mut ns = 0;
        for byte in console.bytes() {
            match byte {
                b'~' => ns += 2 * SILENCE_NS,
                _ => session.byte(byte, Stamp::new(ns, 0)),
            }
            ns += BYTE_NS;
        }
        session.finish();
        timeline
    }

    /// Name, first and last byte by time, and `bytes` of each console span.
    fn spans(timeline: &Timeline) -> Vec<(&str, i64, i64, Option<&str>)> {
        let row = |span: &Span| {
            let end = span.end.known().unwrap();
            let (first, last) = (span.start.ns / BYTE_NS, end.ns / BYTE_NS);
            (
                timeline.text(span.name),
                first,
                last,
                timeline.arg(span, "bytes"),
            )
        };
        timeline.spans_of(TrackKind::Console).map(row).collect()
    }

    #[test]
    fn lines_of_an_archive_are_one_span_and_can_be_what_is_waited_for() {
        let timeline = timeline(CONSOLE);
        let expected = [
            ("started", 0, 6, None),
            ("bootlap-archive", 9, 90, Some("84")),
        ];
        assert_eq!(spans(&timeline), expected);
        let at = |milestone| timeline.milestone(milestone).unwrap().at.ns / BYTE_NS;
        assert_eq!(at(Milestone::ApplicationStart), 9);
        assert_eq!(at(Milestone::Ready), 90);
        let half = timeline.marks.iter().find(|m| m.kind == MarkKind::Named);
        assert_eq!(half.unwrap().at.ns / BYTE_NS, 54);
    }

    #[test]
    fn a_silence_and_a_line_of_text_are_seen_between_them() {
        let console = CONSOLE.replace("bootlap-archive 3/6", "~bootlap-archive 3/6");
        let console = console.replace("bootlap-archive 37", "hello\r\nbootlap-archive 37");
        let timeline = timeline(&console);
        let names: Vec<_> = spans(&timeline).iter().map(|s| (s.0, s.3)).collect();
        let expected = [
            ("started", None),
            ("bootlap-archive", Some("26")),
            ("bootlap-archive", Some("26")),
            ("hello", None),
            ("bootlap-archive", Some("32")),
        ];
        assert_eq!(names, expected);
    }
}
