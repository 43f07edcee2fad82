//! Console logs of which each line begins with a time: `ts` and its likes.
//!
//! ```text
//! Nov 21 13:05:59 U-Boot 2023.01 (Jun 22 2026)                  ts
//! 00:00:02 [    0.000000] Linux version 6.1.0                   ts -s: since the start
//! 00:00:00 [    0.000000] Linux version 6.1.0                   ts -i: since the line before
//! 1700000000.123456 Starting kernel ...                         ts '%.s'
//! 2024-01-01T12:00:00.123456+00:00 Starting kernel ...          loggers; LAVA's plain text
//! [12:00:00.123] Starting kernel ...                            tio -t
//! [2026-11-21 12:00:00.123] Starting kernel ...                 minicom, tio, Tera Term
//! 2026-11-21 12:00:00 --> Starting kernel ...                   others
//! [    1.234567] [    0.000000] Linux version 6.1.0             others
//! ```
//!
//! The clock is the host's: its wall clock, or s since something. A time in
//! brackets was taken when the line began (terminal programs do so), one
//! without when the line was complete (filters such as moreutils' `ts` see
//! nothing earlier); at 115 200 baud that is 4 ms later for 40 bytes. The
//! resolution is that of the last digit: `ts` has whole seconds by default,
//! where the kernel's own times say more and are used.
//!
//! Which clock it is is told by the first lines together: times of day that
//! begin in the first minute count since the start (`ts -s`); times that go
//! back and forth count since the line before (`ts -i`). What comes before
//! every line (`INFO serial: `) is left out.

mod prefix;

use bootlap_model::{ClockKind, Evidence, Severity, Stamp, Timeline};

use self::prefix::{Form, Prefix, parse};
use crate::console::bootloader::BootLoader;
use crate::console::hints::is_login_prompt;
use crate::console::printk;
use crate::stamped::{Of, Stamped};
use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Hints, Input, Sniff, Source, SourceError};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "ts",
    title: "console with a time before each line",
    looks_like: "lines of `2024-01-01T12:00:00.123456 text`, `[12:00:00.123] text` or `12.345678 text`, as ts, tio or minicom write them",
    sniff,
    read,
    together: None,
};

/// How many lines tell what the times count.
const LOOKED_AT: usize = 500;
const MINUTE_NS: i64 = 60_000_000_000;
const DAY_NS: i64 = 86_400_000_000_000;
/// Threads of a logger may be out of order by so much.
const DISORDER_NS: i64 = 1_000_000_000;

fn sniff(head: &[u8]) -> Sniff {
    let (mut all, mut stamped, mut boot, mut syslog) = (0, 0, 0, 0);
    for line in text::head_lines(head).take(2_000) {
        all += 1;
        let Some(prefix) = parse(line) else { continue };
        stamped += 1;
        let text = &line[prefix.text..];
        syslog += usize::from(crate::dmesg::is_syslog(line));
        boot += usize::from(is_of_boot(text));
    }
    if stamped == 0 || stamped * 10 < all * 9 {
        return Sniff::NO;
    }
    if boot == 0 || syslog * 2 > stamped {
        return Sniff::MAYBE;
    }
    Sniff::percent(75)
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    let mut reader = TsReader::new(input.hints);
    text::read(input, &SOURCE, out, &mut reader)
}

/// Whether the text is a boot loader's banner, a firmware's message or a login prompt, or
/// has a kernel line in it.
fn is_of_boot(text: &[u8]) -> bool {
    let firmware: [&[u8]; 4] = [b"NOTICE:  BL", b"INFO:    BL", b"DDR Version", b"I/TC:"];
    BootLoader::is_banner(text.trim_ascii_start())
        || firmware.iter().any(|f| text.starts_with(f))
        || is_login_prompt(text)
        || printk::parse(text).is_some()
        || printk::find_glued(text, 0).is_some()
}

/// A log on the way.
struct TsReader<'h> {
    hints: &'h Hints,
    /// The first lines, until it is known what the times count.
    first: Vec<(Vec<u8>, Evidence)>,
    log: Option<Log<'h>>,
}

struct Log<'h> {
    console: Stamped<'h>,
    counts: Counts,
    /// How long what comes before every line's text is.
    noise: Vec<u8>,
    /// The time of the line before, as printed, and on the console's clock.
    before: Option<(i64, i64)>,
    base_ns: i64,
}

/// What the times of a log count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    form: Form,
    bracketed: bool,
    /// Since the line before.
    since_before: bool,
    kind: ClockKind,
}

impl Counts {
    /// What most of `prefixes` tell.
    fn of(prefixes: &[Prefix]) -> Option<Self> {
        let first = prefixes.first()?;
        let alike = |p: &&Prefix| p.form == first.form && p.bracketed == first.bracketed;
        // A line of another form may come first (`Epoch` does not end soon).
        let lead = if prefixes.iter().filter(alike).count() * 2 >= prefixes.len() {
            first
        } else {
            prefixes.last()?
        };
        let of_form = prefixes.iter().filter(|p| p.form == lead.form);
        let times: Vec<i64> = of_form.map(|p| p.ns).collect();
        let steps = times.windows(2).filter(|w| w[0] != w[1]).count();
        let back = times.windows(2).filter(|w| w[1] < w[0]).count();
        let from_zero = times.first().is_some_and(|t| *t < MINUTE_NS);
        let since_before = matches!(lead.form, Form::Clock | Form::Seconds)
            && from_zero
            && back >= 2
            && back * 4 >= steps;
        let kind = match lead.form {
            Form::Dated | Form::Epoch => ClockKind::HostRealtime,
            Form::Clock if !from_zero => ClockKind::HostRealtime,
            Form::Clock | Form::Seconds => ClockKind::HostElapsed,
        };
        Some(Self {
            form: lead.form,
            bracketed: lead.bracketed,
            since_before,
            kind,
        })
    }
}

impl<'h> TsReader<'h> {
    fn new(hints: &'h Hints) -> Self {
        Self {
            hints,
            first: Vec::new(),
            log: None,
        }
    }

    /// The first lines are all there: reads them.
    fn begin(&mut self, import: &mut Import<'_>) {
        let lines = std::mem::take(&mut self.first);
        let prefixes: Vec<Prefix> = lines.iter().filter_map(|l| parse(&l.0)).collect();
        let Some(counts) = Counts::of(&prefixes) else {
            for (_, at) in lines {
                import.skip(at, NO_STAMP);
            }
            return;
        };
        let texts = lines.iter().filter_map(|(line, _)| {
            let prefix = parse(line)?;
            Some(&line[prefix.text..])
        });
        let of = if counts.bracketed { Of::Begin } else { Of::End };
        let mut log = Log {
            console: Stamped::new(self.hints, counts.kind, of),
            counts,
            noise: noise(texts).to_vec(),
            before: None,
            base_ns: 0,
        };
        for (line, at) in &lines {
            if let Err(skip) = log.line(line, *at, import) {
                import.skip(*at, skip);
            }
        }
        self.log = Some(log);
    }
}

const NO_STAMP: Skip = Skip::lost(
    "line-without-stamp",
    "these lines have no time, so they are on no timeline: record the console through `ts '%.s'`, or with bootlap, which stamps each byte",
);

impl Reader for TsReader<'_> {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        if let Some(log) = &mut self.log {
            return log.line(line.text, line.at, import);
        }
        // A skip of a line that waits here is counted when it is read.
        self.first.push((line.text.to_vec(), line.at));
        if self.first.len() >= LOOKED_AT {
            self.begin(import);
        }
        Ok(())
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        self.begin_or_not(import);
        if let Some(log) = &mut self.log {
            log.console.finish(import);
        }
    }
}

impl TsReader<'_> {
    fn begin_or_not(&mut self, import: &mut Import<'_>) {
        if self.log.is_none() && !self.first.is_empty() {
            self.begin(import);
        }
    }
}

impl Log<'_> {
    fn line(&mut self, line: &[u8], at: Evidence, import: &mut Import<'_>) -> Result<(), Skip> {
        let alike = |p: &Prefix| p.form == self.counts.form;
        let Some(prefix) = parse(line).filter(alike) else {
            if printk::parse(line).is_some() {
                self.console.line(line, None, at, import);
                return Ok(());
            }
            return Err(NO_STAMP);
        };
        let text = &line[prefix.text..];
        let text = text.strip_prefix(&self.noise[..]).unwrap_or(text);
        let ns = self.place(prefix.ns, at, import);
        let stamp = Stamp::new(ns, prefix.err_ns);
        self.console.line(text, Some(stamp), at, import);
        Ok(())
    }

    fn place(&mut self, printed: i64, at: Evidence, import: &mut Import<'_>) -> i64 {
        let (before, latest) = self.before.unwrap_or((printed, 0));
        let ns = if self.counts.since_before {
            latest.saturating_add(printed)
        } else {
            let back = before.saturating_sub(printed);
            if self.counts.form == Form::Clock && back > DAY_NS / 2 {
                self.base_ns = self.base_ns.saturating_add(DAY_NS);
            } else if back > DISORDER_NS {
                self.base_ns = 0;
                self.console.restart(import);
                import.notice(
                    "clock-restarted",
                    Severity::Notice,
                    at,
                    "the times go back here: the recording was started again, or the host's clock was set; the times before and behind are on clocks of their own, which only kernel lines can join",
                );
            }
            printed.saturating_add(self.base_ns)
        };
        self.before = Some((printed, ns));
        ns
    }
}

/// What a logger puts before every text: up to the last space that all have
/// in common, if it is no part of a kernel's time.
fn noise<'t>(mut texts: impl Iterator<Item = &'t [u8]>) -> &'t [u8] {
    let Some(mut common) = texts.by_ref().find(|t| !t.is_empty()) else {
        return b"";
    };
    let mut count = 0;
    for text in texts.filter(|t| !t.is_empty()) {
        let same = common.iter().zip(text).take_while(|(a, b)| a == b).count();
        common = &common[..same];
        count += 1;
    }
    let end = memchr::memrchr(b' ', common).map_or(0, |space| space + 1);
    let common = &common[..end];
    let is_words = common.iter().any(u8::is_ascii_alphabetic) && !common.contains(&b'[');
    if is_words && count >= 8 { common } else { b"" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(lines: &[&str]) -> (ClockKind, bool) {
        let prefixes: Vec<Prefix> = lines.iter().filter_map(|l| parse(l.as_bytes())).collect();
        let counts = Counts::of(&prefixes).unwrap();
        (counts.kind, counts.since_before)
    }

    #[test]
    fn what_times_count() {
        use ClockKind::{HostElapsed, HostRealtime};
        assert_eq!(counts(&["00:00:00 a", "00:00:01 a"]), (HostElapsed, false));
        assert_eq!(counts(&["13:00:00 a", "13:00:01 a"]), (HostRealtime, false));
        assert_eq!(counts(&["1700000000.1 a"]), (HostRealtime, false));
        assert_eq!(
            counts(&["0.1 a", "0.2 a", "0.0 b", "0.4 c"]),
            (HostElapsed, false)
        );
        let back_and_forth = ["0.1 a", "0.5 a", "0.0 b", "0.4 c", "0.1 d"];
        assert_eq!(counts(&back_and_forth), (HostElapsed, true));
    }

    #[test]
    fn what_loggers_add() {
        let n = |texts: &[&'static str]| {
            let many = texts.iter().cycle().take(20).map(|t| t.as_bytes());
            String::from_utf8(noise(many).to_vec()).unwrap()
        };
        assert_eq!(
            n(&["INFO serial: a b", "INFO serial: a c", "INFO serial: d"]),
            "INFO serial: "
        );
        assert_eq!(n(&["[    0.1] a", "[    0.2] b"]), "");
        assert_eq!(n(&["a", "b"]), "");
    }
}
