//! grabserial: a console of which each line begins with the host's time.
//!
//! ```text
//! [0.000001 0.000001] U-Boot 2023.01 (Jun 22 2026 - 08:38:07 +0000)      -t: since the base, since the line before
//! [2.391972 2.384627] [    0.378676] omap2_mbox_probe: platform not supported
//! [2.391972] Starting kernel ...                                         -t -n
//! [13:05:59.123456 0.007345] Starting kernel ...                         -T, or another form by -F
//! [13:05:59.123456 2.391972 0.007345] Starting kernel ...                -t -T, since 2023-11
//! lab3 [2.391972 0.007345] Starting kernel ...                           --label lab3
//! The inlinepat: "login:" was matched at 7.120001
//! ```
//!
//! Printed by `grabserial` (Python) when the first byte of a line comes: s
//! since the base, or the host's wall clock, in µs; the host sees bytes as its
//! serial driver hands them out (USB adapters: every 1 to 16 ms), so the
//! resolution is better than the truth. The base is the first byte, with `-l`
//! the program's start, and with `-m` the line that matched: the next line is
//! counted from there, and because its own delta says so, the times before and
//! after it are joined exactly. With `-a` the program starts again: its times
//! are on a clock of their own, which kernel lines join to the first.
//!
//! A file that `-o` wrote has no `\r`, the screen's text has the program's own
//! lines above it, and either may end in the middle of a line.

use bootlap_model::{ClockKind, Severity, Stamp, Timeline};

use crate::calendar::Wall;
use crate::console::bootloader::BootLoader;
use crate::console::printk;
use crate::stamped::{Of, Stamped};
use crate::text::{self, Import, Line, Reader, Skip, resolution_ns, seconds_ns};
use crate::{Hints, Input, Sniff, Source, SourceError};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "grabserial",
    title: "console recorded by grabserial",
    looks_like: "lines of `[2.391972 0.007345] text`",
    sniff,
    read,
    together: None,
};

const SECOND_NS: u64 = 1_000_000_000;
const DAY_NS: i64 = 86_400_000_000_000;
/// A byte takes longer at any rate that is used; what is below is the
/// program's first line.
const FIRST_BYTE_NS: i64 = 50_000;
/// What rounding makes of two equal times.
const ROUNDED_NS: i64 = 2_000;

fn sniff(head: &[u8]) -> Sniff {
    let (mut all, mut with_delta, mut elapsed, mut wall, mut boot) = (0, 0, 0, 0, false);
    for line in text::head_lines(head).take(2_000) {
        if is_trailer(line) {
            return Sniff::SURE;
        }
        if is_chatter(line) {
            continue;
        }
        all += 1;
        let Some(prefix) = parse(line) else { continue };
        match (prefix.time, prefix.delta_ns) {
            (_, Some(_)) => with_delta += 1,
            (Time::Elapsed(_), None) => elapsed += 1,
            (Time::Wall(_), None) => wall += 1,
        }
        let text = &line[prefix.text..];
        boot |= printk::parse(text).is_some() || BootLoader::is_banner(text);
    }
    let most = |n: usize| n > 0 && n * 10 >= all * 9;
    match boot {
        _ if most(with_delta) => Sniff::SURE,
        true if most(elapsed) => Sniff::percent(78),
        true if most(wall) => Sniff::percent(62),
        _ if most(elapsed) => Sniff::MAYBE,
        _ => Sniff::NO,
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    let mut reader = GrabserialReader::new(input.hints);
    text::read(input, &SOURCE, out, &mut reader)?;
    Ok(())
}

/// What a line begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Prefix {
    time: Time,
    err_ns: u32,
    /// Since the line before.
    delta_ns: Option<i64>,
    /// Where the label ends.
    label: usize,
    /// Where the console's text begins.
    text: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Time {
    /// Since the base.
    Elapsed(i64),
    /// Since 1970, or since midnight.
    Wall(Wall),
}

/// The prefix at the start of `line`, perhaps after a label.
fn parse(line: &[u8]) -> Option<Prefix> {
    let label = memchr::memchr(b'[', &line[..line.len().min(64)])?;
    if label > 0 && line[label - 1] != b' ' {
        return None;
    }
    let rest = &line[label + 1..];
    let len = memchr::memchr(b']', &rest[..rest.len().min(96)])?;
    let inner = &rest[..len];
    let mut text = label + 1 + len + 1;
    match line.get(text) {
        Some(b' ') => text += 1,
        None => {}
        Some(_) => return None,
    }
    let (time, err_ns, numbers) = match Wall::parse(inner) {
        Some(wall) => (Time::Wall(wall), wall.err_ns, &inner[wall.len..]),
        None => {
            let end = memchr::memchr(b' ', inner).unwrap_or(len);
            let ns = number(&inner[..end])?;
            let err_ns = resolution_ns(&inner[..end], SECOND_NS);
            (Time::Elapsed(ns), err_ns, &inner[end..])
        }
    };
    let mut delta_ns = None;
    let mut count = 0;
    let numbers = numbers.split(|b| *b == b' ').skip(1);
    for text in numbers {
        delta_ns = Some(number(text)?);
        count += 1;
    }
    let most = if matches!(time, Time::Wall(_)) { 2 } else { 1 };
    (count <= most).then_some(Prefix {
        time,
        err_ns,
        delta_ns,
        label,
        text,
    })
}

/// `2.391972`: Python's `%4.6f`, which never begins with a space.
fn number(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let dot = memchr::memchr(b'.', digits)?;
    let fine = dot > 0 && (3..=9).contains(&(digits.len() - dot - 1));
    fine.then(|| seconds_ns(text))?
}

/// What the program says of itself.
fn is_chatter(line: &[u8]) -> bool {
    let begins: [&[u8]; 19] = [
        b"Opening serial port ",
        b"Program set to ",
        b"Printing timing information",
        b"Printing absolute timing",
        b"Using pattern '",
        b"Using inline pattern '",
        b"Skipping check of serial device",
        b"Setting basetime to ",
        b"Saving data to '",
        b"Appending data to '",
        b"Rotate output file every",
        b"Keeping quiet on stdout",
        b"Use Control-C to stop",
        b"Executing command '",
        b"Closing output file: '",
        b"Opening new output file: '",
        b"Time for log rotation",
        b"grabserial stopped ",
        b"Restarting ",
    ];
    begins.iter().any(|b| line.starts_with(b)) || is_port(line)
}

/// `115200:8N1:xonxoff=0:rtscts=0`
fn is_port(line: &[u8]) -> bool {
    memchr::memmem::find(line, b":xonxoff=").is_some()
        && line.first().is_some_and(u8::is_ascii_digit)
}

/// `The inlinepat: "login:" was matched at 7.120001`
fn trailer(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = line.strip_prefix(b"The in")?;
    let rest = rest
        .strip_prefix(b"linepat: \"")
        .or(rest.strip_prefix(b"stantpat: \""))?;
    let middle = b"\" was matched at ";
    let at = memchr::memmem::rfind(rest, middle)?;
    Some((&rest[..at], rest[at + middle.len()..].trim_ascii()))
}

fn is_trailer(line: &[u8]) -> bool {
    trailer(line).is_some()
}

struct GrabserialReader<'h> {
    console: Option<Stamped<'h>>,
    hints: &'h Hints,
    label: Option<Vec<u8>>,
    /// The line before: its time as printed, and on the console's clock.
    before: Option<(i64, i64)>,
    /// What the base was set forward by.
    base_ns: i64,
}

impl<'h> GrabserialReader<'h> {
    fn new(hints: &'h Hints) -> Self {
        Self {
            console: None,
            hints,
            label: None,
            before: None,
            base_ns: 0,
        }
    }

    /// The time of a line on the console's clock.
    fn place(&mut self, prefix: &Prefix, line: &Line<'_>, import: &mut Import<'_>) -> i64 {
        let (printed, wraps) = match prefix.time {
            Time::Elapsed(ns) => (ns, false),
            Time::Wall(wall) => (wall.ns, !wall.dated),
        };
        if let Some((before, latest)) = self.before {
            let step = printed.saturating_sub(before);
            let same = |a: i64, b: i64| a.abs_diff(b) <= ROUNDED_NS as u64;
            // What `-m` did: the line is counted from the one before, which
            // matched, and its delta from nothing.
            let new_base = prefix.delta_ns.is_some_and(|delta| {
                same(delta, printed) && !same(delta, step) && printed > FIRST_BYTE_NS
            });
            if !wraps && new_base {
                self.base_ns = latest;
                import.notice(
                    "base-was-set",
                    Severity::Info,
                    line.at,
                    "grabserial's base pattern (-m) matched the line before: the times from here on count from it, and were joined to those before",
                );
            } else if wraps && step < -DAY_NS / 2 {
                self.base_ns = self.base_ns.saturating_add(DAY_NS);
            } else if step < 0 {
                self.restart(line, import);
            }
        }
        let ns = printed.saturating_add(self.base_ns);
        self.before = Some((printed, ns));
        ns
    }

    fn restart(&mut self, line: &Line<'_>, import: &mut Import<'_>) {
        self.base_ns = 0;
        if let Some(console) = &mut self.console {
            console.restart(import);
        }
        import.notice(
            "clock-restarted",
            Severity::Notice,
            line.at,
            "the times go back here: grabserial was started again (-a), or the host's clock was set; the times before and behind are on clocks of their own, which only kernel lines can join",
        );
    }

    fn trailer(&mut self, (what, at): (&[u8], &[u8]), line: &Line<'_>, import: &mut Import<'_>) {
        if let (Some(console), Some(ns)) = (&mut self.console, seconds_ns(at)) {
            let stamp = Stamp::new(
                ns.saturating_add(self.base_ns),
                resolution_ns(at, SECOND_NS),
            );
            console.mark(what, stamp, line.at, import);
        }
    }
}

impl Reader for GrabserialReader<'_> {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        if let Some(trailer) = trailer(line.text) {
            self.trailer(trailer, line, import);
            return Ok(());
        }
        let labelled = |p: &Prefix| match &self.label {
            Some(label) => line.text[..p.label] == **label,
            None => true,
        };
        let Some(prefix) = parse(line.text).filter(labelled) else {
            if is_chatter(line.text) {
                return Ok(());
            }
            return self.unstamped(line, import);
        };
        if self.label.is_none() {
            self.label = Some(line.text[..prefix.label].to_vec());
        }
        let ns = self.place(&prefix, line, import);
        let console = self.console.get_or_insert_with(|| {
            let kind = match prefix.time {
                Time::Elapsed(_) => ClockKind::HostElapsed,
                Time::Wall(_) => ClockKind::HostRealtime,
            };
            Stamped::new(self.hints, kind, Of::Begin)
        });
        let stamp = Stamp::new(ns, prefix.err_ns);
        console.line(&line.text[prefix.text..], Some(stamp), line.at, import);
        Ok(())
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        if let Some(console) = &mut self.console {
            console.finish(import);
        }
    }
}

impl GrabserialReader<'_> {
    /// A line without a stamp has at most the kernel's time.
    fn unstamped(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        match &mut self.console {
            Some(console) if printk::parse(line.text).is_some() => {
                console.line(line.text, None, line.at, import);
                Ok(())
            }
            _ => Err(Skip::lost(
                "line-without-stamp",
                "these lines have no stamp, so they are on no timeline: run grabserial with -t (or -T) and without --hex-output",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Option<(i64, u32, Option<i64>, &str)> {
        let p = parse(line.as_bytes())?;
        let ns = match p.time {
            Time::Elapsed(ns) => ns,
            Time::Wall(wall) => wall.ns,
        };
        Some((ns, p.err_ns, p.delta_ns, &line[p.text..]))
    }

    #[test]
    fn prefixes() {
        let (ns, delta) = (2_391_972_000, Some(7_345_000));
        assert_eq!(
            parsed("[2.391972 0.007345] a"),
            Some((ns, 1_000, delta, "a"))
        );
        assert_eq!(parsed("[2.391972] a"), Some((ns, 1_000, None, "a")));
        assert_eq!(
            parsed("lab3 [2.391972 0.007345] a"),
            Some((ns, 1_000, delta, "a"))
        );
        let day = 47_159_123_456_000;
        for line in [
            "[13:05:59.123456 0.007345] a",
            "[13:05:59.123456 2.391972 0.007345] a",
        ] {
            assert_eq!(parsed(line), Some((day, 1_000, delta, "a")));
        }
        assert_eq!(parsed("[13:05:59.123456]"), Some((day, 1_000, None, "")));
        assert_eq!(
            parsed("[2.000000 -0.500000] [    0.1"),
            Some((2_000_000_000, 1_000, Some(-500_000_000), "[    0.1"))
        );
    }

    #[test]
    fn others() {
        for line in [
            "[    0.378676] omap2",
            "[2.391972 2.384627 1.000000] a",
            "[  OK  ] a",
            "[1 2] a",
            "x[2.391972 2.384627] a",
            "[2.391972 2.384627]a",
            "[",
            "",
        ] {
            assert_eq!(parsed(line), None, "{line}");
        }
    }
}
