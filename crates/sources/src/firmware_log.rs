//! Consoles of firmware that puts its own time before each line.
//!
//! ```text
//! [0001.949] I> Welcome to NVDisp-Init            Jetson: MB1, MB2, CBoot; s since reset
//!   5.51410|ISTEP  6. 5 - host_init_fsi           OpenPOWER hostboot; s of the time base
//! [   62.308665629,5] INIT: Waiting for kernel... skiboot: the same, and a level
//! B -      1340 - bootable_media_detect_entry, …  Qualcomm's SBL, XBL: µs since reset
//! [312]BOOT0 commit : 2bf8cd4                     Allwinner's boot0: ms since reset
//! [00.967]CPU:   Allwinner Family                 … and its U-Boot: s of the same
//! [10] welcome to lk                              Little Kernel: ms of its own
//! OK! 252353                                      Rockchip's loaders: µs, here and there
//! start_linux=====281959
//!  2430047 Starting kernel...@0x60808000
//! RunBL31 0x40000 @ 221172 us
//! 00:00:28 Overall: 28129 ms, ubifs = 405 ms      start-up scripts: hours since the boot
//! ```
//!
//! The time is before the text and says when the line began. Lines between have none:
//! what they say is known, but not when. Hostboot's steps are stages, from the line that
//! names one to the next. A kernel whose log begins right behind such a line was started
//! then, as far as anybody can tell.

use bootlap_model::{ClockKind, Evidence, SpanEnd, Stamp, Timeline, TrackKind};

use crate::calendar::Wall;
use crate::console::bootloader::BootLoader;
use crate::console::printk;
use crate::handover;
use crate::stamped::{Of, Stamped};
use crate::steps;
use crate::text::{self, Import, Line, Reader, Skip, resolution_ns, seconds_ns};
use crate::{Hints, Input, Sniff, Source, SourceError};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "firmware-log",
    title: "console of firmware with its own times",
    looks_like: "lines of `[0001.949] I> text` (Jetson), `5.51410|text` (hostboot), `[   62.308665629,5] text` (skiboot) or Rockchip's `OK! 252353`",
    sniff,
    read,
    together: None,
};

/// So many lines with times make such a log.
const ENOUGH: usize = 3;

fn sniff(head: &[u8]) -> Sniff {
    let mut counts = [0_usize; 4];
    let (mut all, mut kernels, mut first) = (0_usize, 0_usize, 0_usize);
    for line in text::head_lines(head).take(2_000) {
        all += 1;
        kernels += usize::from(printk::parse(line).is_some());
        if kernels == 0 {
            first = counts[Form::Vendor as usize];
        }
        if let Some(found) = time(line) {
            counts[found.form as usize] += 1;
        }
    }
    let [vendors, rockchip, clock, bare] = counts;
    // A clock is many programs' prefix: here it stands beside a boot loader's own words.
    let loader = || text::head_lines(head).any(|l| BootLoader::is_banner(l) || is_loader(l));
    // Numbers in brackets are in many logs: here they stand beside one of these loaders.
    if bare >= ENOUGH && text::head_lines(head).any(is_bare_loader) {
        return Sniff::percent(80);
    }
    match (vendors >= ENOUGH, rockchip >= 2, clock >= ENOUGH) {
        _ if first >= ENOUGH => Sniff::percent(85),
        // The kernel's log says more, and its own lines have the better times.
        _ if kernels > vendors + rockchip + clock => Sniff::NO,
        (true, _, _) => Sniff::percent(85),
        (_, true, _) => Sniff::percent(70),
        (_, _, true) if clock * 10 < all * 9 && loader() => Sniff::percent(60),
        _ => Sniff::NO,
    }
}

/// Who puts a number alone in brackets.
fn is_bare_loader(line: &[u8]) -> bool {
    says(line, &["BOOT0 is starting", "welcome to lk", "[LK]"])
}

fn says(line: &[u8], words: &[&str]) -> bool {
    let mut words = words.iter().map(|word| word.as_bytes());
    words.any(|word| memchr::memmem::find(line, word).is_some())
}

/// What boot loaders say that have no banner of U-Boot's kind.
fn is_loader(line: &[u8]) -> bool {
    says(
        line,
        &["RedBoot", "Now booting linux kernel", "Stage 1 booted"],
    )
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    let mut log = Log::new(input.hints);
    text::read(input, &SOURCE, out, &mut log)
}

/// Whose times they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Jetson, hostboot, skiboot, SBL: no other line looks so.
    Vendor,
    /// A number of µs among the words.
    Rockchip,
    /// `00:00:28 `.
    Clock,
    /// `[312]` or `[00.967]`.
    Bare,
}

/// A line's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Found {
    form: Form,
    at: Stamp,
    /// Where the text begins.
    text: usize,
}

fn time(line: &[u8]) -> Option<Found> {
    jetson(line)
        .or_else(|| hostboot(line))
        .or_else(|| skiboot(line))
        .or_else(|| qualcomm(line))
        .or_else(|| rockchip(line))
        .or_else(|| clock(line))
        .or_else(|| bare(line))
}

/// A number of seconds with so many digits behind the point.
fn seconds(number: &[u8], places: usize) -> Option<Stamp> {
    let dot = memchr::memchr(b'.', number)?;
    let whole = number[..dot].trim_ascii_start();
    let digits = |t: &[u8]| !t.is_empty() && t.iter().all(u8::is_ascii_digit);
    if number.len() - dot - 1 != places || !digits(whole) || !digits(&number[dot + 1..]) {
        return None;
    }
    let trimmed = number.trim_ascii_start();
    let ns = seconds_ns(trimmed)?;
    Some(Stamp::new(ns, resolution_ns(trimmed, 1_000_000_000).max(1)))
}

/// `[0001.949] I> `.
fn jetson(line: &[u8]) -> Option<Found> {
    let end = memchr::memchr(b']', line.get(..24.min(line.len()))?)?;
    let at = seconds(line.strip_prefix(b"[")?.get(..end - 1)?, 3)?;
    match line.get(end + 1..)? {
        [b' ', level, b'>', ..] if level.is_ascii_uppercase() => Some(Found {
            form: Form::Vendor,
            at,
            text: (end + 5).min(line.len()),
        }),
        _ => None,
    }
}

/// `  5.51410|`.
fn hostboot(line: &[u8]) -> Option<Found> {
    let end = memchr::memchr(b'|', line.get(..20.min(line.len()))?)?;
    Some(Found {
        form: Form::Vendor,
        at: seconds(&line[..end], 5)?,
        text: end + 1,
    })
}

/// `[   62.308665629,5] `.
fn skiboot(line: &[u8]) -> Option<Found> {
    let end = memchr::memchr(b']', line.get(..32.min(line.len()))?)?;
    let inside = line.strip_prefix(b"[")?.get(..end - 1)?;
    let (number, level) = inside.split_at(memchr::memchr(b',', inside)?);
    let is_level = matches!(level, [b',', d] if d.is_ascii_digit());
    let at = seconds(number, 9).filter(|_| is_level)?;
    let text = end + 1 + usize::from(line.get(end + 1) == Some(&b' '));
    Some(Found {
        form: Form::Vendor,
        at,
        text,
    })
}

/// `B -      1340 - bootable_media_detect_entry, Start`.
fn qualcomm(line: &[u8]) -> Option<Found> {
    let number = line.strip_prefix(b"B - ")?;
    let end = memchr::memmem::find(number, b" - ").filter(|end| *end <= 16)?;
    let us: i64 = text::valid(&number[..end]).trim().parse().ok()?;
    (0..1_000_000_000_000).contains(&us).then_some(Found {
        form: Form::Vendor,
        at: Stamp::new(us * 1_000, 1_000),
        text: 4 + end + 3,
    })
}

/// `[312]BOOT0 commit`, `[00.967]CPU`, `[10] welcome to lk`.
fn bare(line: &[u8]) -> Option<Found> {
    let end = memchr::memchr(b']', line.get(..12.min(line.len()))?)?;
    let number = line.strip_prefix(b"[")?.get(..end - 1)?;
    let at = seconds(number, 3).or_else(|| {
        let digits = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
        let ms: i64 = text::valid(number).parse().ok().filter(|_| digits)?;
        Some(Stamp::new(ms * 1_000_000, 1_000_000))
    })?;
    Some(Found {
        form: Form::Bare,
        at,
        text: end + 1 + usize::from(line.get(end + 1) == Some(&b' ')),
    })
}

/// `OK! 252353`, `start_linux=====281959`, ` 2430047 Starting kernel...@0x60808000`,
/// `RunBL31 0x40000 @ 221172 us`.
fn rockchip(line: &[u8]) -> Option<Found> {
    let text = text::valid(line).trim();
    let number = if let Some(rest) = text.strip_prefix("OK! ") {
        rest
    } else if let Some(rest) = text.strip_prefix("start_linux=") {
        rest.trim_start_matches('=')
    } else if let Some((number, _)) = text.split_once(" Starting kernel...@") {
        number
    } else {
        text.strip_prefix("Run")?
            .rsplit_once(" @ ")?
            .1
            .strip_suffix(" us")?
    };
    let digits = (4..=12).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    let us: i64 = number.parse().ok().filter(|_| digits)?;
    Some(Found {
        form: Form::Rockchip,
        at: Stamp::new(us * 1_000, 1_000),
        text: 0,
    })
}

/// `00:00:28 Overall: `; a time of day is none since the boot.
fn clock(line: &[u8]) -> Option<Found> {
    const HOUR_NS: i64 = 3_600_000_000_000;
    let wall = Wall::parse(line).filter(|w| !w.dated && w.ns < HOUR_NS)?;
    (line.get(wall.len) == Some(&b' ')).then(|| Found {
        form: Form::Clock,
        at: Stamp::new(wall.ns, wall.err_ns),
        text: wall.len + 1,
    })
}

/// A log on the way.
struct Log<'h> {
    console: Stamped<'h>,
    /// Whether a time was seen.
    begun: bool,
    /// The last time.
    last: Option<Found>,
    /// The time of the line before, if it has one.
    before: Option<(Stamp, Evidence)>,
    /// One of the loaders prints that put a number alone in brackets; shells do, too.
    bare: bool,
    /// Whether it is known where the kernel began.
    handed_over: bool,
    /// Hostboot's step that runs.
    step: Option<(String, Stamp, Evidence)>,
}

impl<'h> Log<'h> {
    fn new(hints: &'h Hints) -> Self {
        Self {
            console: Stamped::new(hints, ClockKind::Firmware, Of::Begin),
            begun: false,
            last: None,
            before: None,
            bare: false,
            handed_over: false,
            step: None,
        }
    }

    /// A line without the firmware's time, perhaps the kernel's first.
    fn other(&mut self, line: &Line<'_>, import: &mut Import<'_>) {
        self.console.raw(line.text, None, line.at, import);
        if line.text.trim_ascii().is_empty() {
            return;
        }
        let before = self.before.take().filter(|_| !self.handed_over);
        let clocks = self.console.kernel().zip(self.console.wire());
        let first = printk::parse(line.text).zip(before).zip(clocks);
        if let Some(((first, (last, at)), (kernel, loader))) = first {
            let last = (loader, last, at);
            self.handed_over = handover::assume(import.timeline, (kernel, first.ns), last);
        }
    }

    /// What ran before the first line that has a time, since reset: nobody else tells.
    fn begin(&mut self, found: &Found, at: Evidence, import: &mut Import<'_>) {
        let Some(clock) = self.console.wire().filter(|_| !self.begun) else {
            return;
        };
        self.begun = true;
        // A clock counts from the start of the kernel, or of the script.
        if found.form != Form::Clock && found.at.ns > 0 {
            let track = (TrackKind::Firmware, "before the log");
            let ends = (Stamp::new(0, found.at.err_ns), SpanEnd::At(found.at));
            let name = steps::between("counter's zero", "first line with a time");
            import.span(clock, track, &name, ends, &[], at);
        }
    }
}

impl Reader for Log<'_> {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        self.bare |= is_bare_loader(line.text);
        self.bare &= printk::parse(line.text).is_none();
        let found = time(line.text).filter(|found| found.form != Form::Bare || self.bare);
        let Some(found) = found else {
            self.other(line, import);
            return Ok(());
        };
        let text = &line.text[found.text..];
        // The next program has a counter of its own.
        let is_anew = |last: Found| last.form != found.form && last.at.ns > found.at.ns;
        if self.last.replace(found).is_some_and(is_anew) {
            self.console.restart(import);
            self.begun = true;
        }
        self.console.raw(text, Some(found.at), line.at, import);
        self.before = (found.form != Form::Clock).then_some((found.at, line.at));
        self.begin(&found, line.at, import);
        if found.form == Form::Vendor && text.starts_with(b"ISTEP") {
            let name = text::valid(text).trim().to_owned();
            let before = self.step.replace((name, found.at, line.at));
            if let Some(((name, start, at), clock)) = before.zip(self.console.wire()) {
                let track = (TrackKind::Firmware, "hostboot");
                let ends = (start, SpanEnd::At(found.at));
                import.span(clock, track, &name, ends, &[], at);
            }
        }
        Ok(())
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        self.console.finish(import);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Option<(Form, i64, &str)> {
        let found = time(line.as_bytes())?;
        Some((found.form, found.at.ns / 1_000, &line[found.text..]))
    }

    #[test]
    fn times_of_each_kind() {
        let (vendor, rockchip) = (Form::Vendor, Form::Rockchip);
        for (line, want) in [
            (
                "[0008.125] I> MB2 starts",
                (vendor, 8_125_000, "MB2 starts"),
            ),
            (
                "  5.51410|ISTEP  6. 5 - a",
                (vendor, 5_514_100, "ISTEP  6. 5 - a"),
            ),
            (
                "[   62.308665629,5] INIT: b",
                (vendor, 62_308_665, "INIT: b"),
            ),
            (
                "B -      1340 - detect_entry, Start",
                (vendor, 1_340, "detect_entry, Start"),
            ),
            ("[312]BOOT0 x", (Form::Bare, 312_000, "BOOT0 x")),
            ("[00.967]CPU: d", (Form::Bare, 967_000, "CPU: d")),
            ("[10] welcome", (Form::Bare, 10_000, "welcome")),
            ("OK! 252353", (rockchip, 252_353, "OK! 252353")),
            (
                "start_linux=====281959",
                (rockchip, 281_959, "start_linux=====281959"),
            ),
            (
                "00:00:28 Overall: c",
                (Form::Clock, 28_000_000, "Overall: c"),
            ),
        ] {
            assert_eq!(parsed(line), Some(want), "{line}");
        }
        assert_eq!(parsed("RunBL31 0x40000 @ 221172 us").unwrap().1, 221_172);
        let kernel = " 2430047 Starting kernel...@0x60808000";
        assert_eq!(parsed(kernel).unwrap().1, 2_430_047);
    }

    #[test]
    fn other_lines_have_none() {
        for line in [
            "[    0.123456] Linux version 6.1",
            "B - side - x",
            "[0001.94] starts",
            "[7f] x",
            "[] x",
            "OK! 25",
            "OK! it works",
            "12:34:56 a time of day",
            "5.5|a",
            "",
            "[",
            "]",
            "|",
        ] {
            assert_eq!(parsed(line), None, "{line}");
        }
    }
}
