//! What GRUB and systemd-boot say while they wait and load.
//!
//! ```text
//!    The highlighted entry will be executed automatically in 5s.
//!    The highlighted entry will be executed automatically in 4s.
//! Booting `Debian GNU/Linux'
//! Loading Linux 6.1.0-57-amd64 ...
//! Loading initial ramdisk ...
//! ```
//!
//! Both draw over what they drew, so a line of theirs can be there twice, or in
//! pieces. systemd-boot writes `Boot in 3 s.` in the place of the time before,
//! and nothing when it has waited.
//!
//! GRUB says nothing when it has read the initramfs, either: the kernel's first
//! line comes after the kernel has unpacked itself. Only a mark of the probe, or
//! the kernel's EFI stub, tells when GRUB was done.

use bootlap_model::{Evidence, Stamp, TrackKind};
use memchr::memmem;

use super::line::Line;
use super::out::Out;

const TRACK: (TrackKind, &str) = (TrackKind::Bootloader, "boot loader");
const SECOND_NS: i64 = 1_000_000_000;

/// What a text of theirs begins, or goes on with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The menu of this loader counts down.
    Countdown(&'static str),
    ReadKernel,
    ReadInitrd,
}

impl Stage {
    fn of(text: &[u8]) -> Option<Self> {
        let has = |what: &[u8]| memmem::find(text, what).is_some();
        if has(b"entry will be executed automatically in ") {
            Some(Self::Countdown("GRUB"))
        } else if counts(text) {
            Some(Self::Countdown("systemd-boot"))
        } else if text.starts_with(b"Loading Linux ") {
            Some(Self::ReadKernel)
        } else if text.starts_with(b"Loading initial ramdisk ") {
            Some(Self::ReadInitrd)
        } else {
            None
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Countdown(_) => "menu countdown",
            Self::ReadKernel => "read kernel",
            Self::ReadInitrd => "read initrd",
        }
    }
}

/// `Boot in 3 s.`, behind the menu's entries.
fn counts(text: &[u8]) -> bool {
    let says = b"Boot in ";
    memmem::find(text, says).is_some_and(|at| {
        let rest = &text[at + says.len()..];
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        digits > 0 && rest[digits..].starts_with(b" s.")
    })
}

/// A stage whose end has not been seen.
struct Open {
    stage: Stage,
    start: Stamp,
    /// When it was said last.
    last: Stamp,
    evidence: Evidence,
}

/// What was understood of them so far.
#[derive(Default)]
pub(crate) struct PcLoader {
    open: Option<Open>,
}

impl PcLoader {
    /// Looks at one line of a boot loader.
    pub(crate) fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) {
        for burst in line.bursts() {
            self.burst(&burst, out);
        }
    }

    fn burst(&mut self, burst: &Line<'_>, out: &mut Out<'_>) {
        let text = burst.text.trim_ascii();
        let Some(at) = burst.first() else { return };
        // The rest of `...`, and what is left of a frame around the menu.
        if !text.iter().any(u8::is_ascii_alphanumeric) {
            return;
        }
        let stage = Stage::of(text);
        if let (Some(open), Some(stage)) = (&mut self.open, stage)
            && open.stage == stage
        {
            open.last = at;
            open.evidence.end = burst.evidence(out.file).end;
            return;
        }
        self.end(at, out);
        self.open = stage.map(|stage| Open {
            stage,
            start: at,
            last: at,
            evidence: burst.evidence(out.file),
        });
    }

    /// The kernel runs, or something else does.
    pub(crate) fn end(&mut self, at: Stamp, out: &mut Out<'_>) {
        let Some(open) = self.open.take() else { return };
        let mut end = at;
        let mut args = Vec::new();
        if let Stage::Countdown(loader) = open.stage {
            args.push(("loader", loader));
            if loader == "systemd-boot" {
                // What it loads behind its last second, it does not tell.
                end = end.min(Stamp::new(
                    open.last.ns.saturating_add(SECOND_NS),
                    open.last.err_ns,
                ));
            }
        }
        let moments = (Some(open.start), Some(end));
        out.wire_span(TRACK, open.stage.name(), moments, &args, open.evidence);
    }

    /// The kernel has said its first line, and nobody saw when it began.
    pub(crate) fn kernel_speaks(&mut self, at: Option<Stamp>, out: &mut Out<'_>) {
        // It unpacked itself before, for as long as nobody knows.
        self.open
            .take_if(|open| !matches!(open.stage, Stage::Countdown("systemd-boot")));
        if let Some(at) = at {
            self.end(at, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use bootlap_model::{ClockKind, Timeline};
    use bootlap_wire::stamps::ProbeMark;

    use super::*;
    use crate::Hints;
    use crate::console::Session;

    const MS: i64 = 1_000_000;

    /// What bytes at these ms say, with the probe's mark at the first text that is empty.
    fn timeline(said: &[(i64, &str)]) -> Timeline {
        let mut timeline = Timeline::default();
        let file = timeline.add_file("console", "stamps");
        let clock = timeline.add_clock(ClockKind::HostMonotonic, file);
        let hints = Hints::default();
        let mut session = Session::on_clock(&mut timeline, &hints, ("console", "stamps"), clock);
        for (ms, text) in said {
            let at = Stamp::new(ms * MS, 0);
            if text.is_empty() {
                session.probe_mark(ProbeMark::ImageEntry, at);
            }
            text.bytes().for_each(|byte| session.byte(byte, at));
        }
        session.finish();
        timeline
    }

    /// Name, loader, first and last ms of each stage.
    fn stages(timeline: &Timeline) -> Vec<(&str, Option<&str>, i64, i64)> {
        let row = |span: &bootlap_model::Span| {
            let end = span.end.known().unwrap();
            let loader = timeline.arg(span, "loader");
            let name = timeline.text(span.name);
            (name, loader, span.start.ns / MS, end.ns / MS)
        };
        timeline.spans_of(TrackKind::Bootloader).map(row).collect()
    }

    const LINUX: &str = "[    0.000000] Linux version 6.1.0-57-amd64 (gcc)\r\n";

    #[test]
    fn grub_draws_over_what_it_drew() {
        let count = |n| {
            let text = format!(
                "\n   The highlighted entry will be executed automatically in {n}s.   \x1b[22;1H   \
                 The highlighted entry will be executed automatically in {n}s.   \x1b[05;78H\r"
            );
            text
        };
        let counts = [count(2), count(1), count(0)];
        let kernel =
            "Loading Linux 6.1.0-57-amd64 ...'\n\n\nLoading Linux 6.1.0-57-amd64 ..\r\n.\r\n";
        let initrd = "Loading initial ramdisk ...Loading initial ramdisk ..\r\n.\r\n";
        let said = [
            (100, "Welcome to GRUB!\r\n"),
            (200, &*counts[0]),
            (1_200, &counts[1]),
            (2_200, &counts[2]),
            (
                2_210,
                "\x1b[2J   Booting `Debian GNU/Linux' Booting `Debian GNU/Linux\n",
            ),
            (2_300, kernel),
            (2_600, initrd),
            (3_700, ""),
            (9_000, LINUX),
        ];
        let mut expected = vec![
            ("menu countdown", Some("GRUB"), 200, 2_210),
            ("read kernel", None, 2_300, 2_600),
            ("read initrd", None, 2_600, 3_700),
        ];
        assert_eq!(stages(&timeline(&said)), expected);

        // Without the probe, nobody knows when the kernel began to unpack itself.
        let unseen: Vec<_> = said.into_iter().filter(|(_, t)| !t.is_empty()).collect();
        expected.pop();
        assert_eq!(stages(&timeline(&unseen)), expected);
    }

    #[test]
    fn systemd_boot_waits_for_a_second_behind_each_number() {
        let said = [
            (0, "Debian GNU/Linux 12 (bookworm)\x1b[12;1HBoot in 2 s."),
            (1_000, "\x1b[14;1H   Boot in 1 s."),
            (3_500, LINUX),
        ];
        let expected = [("menu countdown", Some("systemd-boot"), 0, 2_000)];
        assert_eq!(stages(&timeline(&said)), expected);
        let chosen = [said[0], (700, "\r\nEFI stub: Loaded initrd\r\n"), said[2]];
        let expected = [("menu countdown", Some("systemd-boot"), 0, 700)];
        assert_eq!(stages(&timeline(&chosen)), expected);
        let no = [(0, "Boot in progress, 3 s.\r\nBoot in s.\r\n"), said[2]];
        assert_eq!(stages(&timeline(&no)), []);
    }
}
