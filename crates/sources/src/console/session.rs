//! One read of a console: lines in, events out.

use bootlap_model::{Evidence, FileId, Milestone, Severity, Stamp, Timeline};

use super::bootloader::BootLoader;
use super::hints::{HintMarks, Matched};
use super::kernel::{Kernel, Log};
use super::line::{Line, Splitter};
use super::out::Out;
use super::printk;
use super::userspace::Userspace;
use crate::Hints;
use crate::stamps::{ProbeMark, StampClock};

/// The recognisers, and what they share.
pub(crate) struct Session<'t> {
    out: Out<'t>,
    splitter: Splitter,
    reading: Reading<'t>,
}

/// What has been understood so far.
struct Reading<'h> {
    hints: HintMarks<'h>,
    boot_loader: BootLoader,
    kernel: Kernel,
    userspace: Userspace,
    /// Another boot began: what follows is not this boot's.
    over: bool,
    total: u64,
    skipped: u64,
}

impl<'t> Session<'t> {
    /// Begins to read the console called `label`, as the source `source`.
    pub(crate) fn new(
        timeline: &'t mut Timeline,
        hints: &'t Hints,
        (label, source): (&str, &str),
        clock: Option<StampClock>,
    ) -> Self {
        let file = timeline.add_file(label, source);
        let wire = clock.map(|c| timeline.add_clock(c.kind(), c.simulated(), file));
        let mut out = Out::new(timeline, file, wire);
        let splitter = Splitter::new();
        if let Some(clock) = clock {
            let zero = clock.stamp(0, 0);
            out.wire_milestone(Milestone::PowerOn, Some(zero), splitter.here(file));
        }
        Self {
            out,
            splitter,
            reading: Reading {
                hints: HintMarks::new(hints),
                boot_loader: BootLoader::default(),
                kernel: Kernel::default(),
                userspace: Userspace::default(),
                over: false,
                total: 0,
                skipped: 0,
            },
        }
    }

    /// The console as evidence.
    pub(crate) fn file(&self) -> FileId {
        self.out.file
    }

    /// Where the next byte goes.
    pub(crate) fn here(&self) -> Evidence {
        self.splitter.here(self.file())
    }

    /// Takes one console byte with its stamp.
    #[inline]
    pub(crate) fn byte(&mut self, byte: u8, at: Stamp) {
        let (reading, out) = (&mut self.reading, &mut self.out);
        let mut each = |line: &Line<'_>, cut| reading.line(line, cut, out);
        self.splitter.push(byte, Some(at), &mut each);
    }

    /// Takes console bytes without stamps.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let (reading, out) = (&mut self.reading, &mut self.out);
        let mut each = |line: &Line<'_>, cut| reading.line(line, cut, out);
        self.splitter.push_all(bytes, &mut each);
    }

    /// Takes a mark of the probe.
    pub(crate) fn probe_mark(&mut self, mark: ProbeMark, at: Stamp) {
        let here = self.here();
        match mark {
            ProbeMark::KernelEntry => {
                self.out
                    .wire_milestone(Milestone::KernelEntry, Some(at), here);
            }
            ProbeMark::UserEntry => {
                self.out
                    .wire_milestone(Milestone::UserEntry, Some(at), here);
            }
            ProbeMark::ImageEntry => {
                self.out
                    .wire_milestone(Milestone::KernelImage, Some(at), here);
            }
            ProbeMark::Other(_) => self.notice(
                "unknown-probe-mark",
                Severity::Notice,
                "the probe made marks that this bootlap does not know: use a newer bootlap",
            ),
        }
    }

    /// Counts trouble at the next byte.
    pub(crate) fn notice(&mut self, code: &str, severity: Severity, remedy: &str) {
        let here = self.here();
        self.out.notice(code, severity, here, remedy);
    }

    /// The console has ended.
    pub(crate) fn finish(mut self) {
        let (reading, out) = (&mut self.reading, &mut self.out);
        let mut each = |line: &Line<'_>, cut| reading.line(line, cut, out);
        self.splitter.finish(&mut each);
        reading.boot_loader.end_open(None, out);
        reading.hints.finish(out);
        reading.kernel.finish(out);
        let file = out.file;
        let usage = out.timeline.usage_mut(file);
        usage.total = reading.total;
        usage.skipped = reading.skipped;
        usage.used = reading.total - reading.skipped;
    }
}

impl Reading<'_> {
    fn line(&mut self, line: &Line<'_>, cut: bool, out: &mut Out<'_>) {
        self.total += 1;
        if cut {
            out.notice(
                "line-too-long",
                Severity::DataLoss,
                line.evidence(out.file),
                "only the first 16 KiB of these lines were read: is the console's baud rate right?",
            );
        }
        if line.is_blank() {
            return;
        }
        let matched = self.look_for_hints(line, out);
        if self.parts(line, out) || matched == Matched::Placed {
            return;
        }
        self.skipped += 1;
        if self.over {
            another_boot(line, out);
        } else if matched == Matched::Unplaced {
            self.hints.was_skipped();
        } else {
            out.notice(
                "no-time",
                Severity::DataLoss,
                line.evidence(out.file),
                "these lines have no time, so they are on no timeline: record with `bootlap boot` or `bootlap capture`, which stamp each byte",
            );
        }
    }

    /// Looks for what the user described; in whole lines, as
    /// [`crate::ReadyWatch`] does while the machine runs.
    fn look_for_hints(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Matched {
        let prefix = self.begins(line, out);
        if self.over && out.wire.is_none() {
            return Matched::No;
        }
        self.hints.line(line, prefix.map(|p| p.ns), out)
    }

    /// What has to be known before any event of a line is added: whose boot it
    /// is, and which clock.
    fn begins(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Option<printk::Prefix> {
        let prefix = printk::parse(line.text);
        self.look_for_another_boot(line, prefix.as_ref(), out);
        if let (Some(prefix), false) = (prefix, self.over) {
            let clock = &self.kernel.clock;
            let before = clock.running().then(|| clock.latest_ns());
            self.skipped -= self.hints.place_between(before, prefix.ns, out);
            let at = line.evidence(out.file);
            self.kernel.look_for_step(prefix.ns, at, out);
        }
        prefix
    }

    /// Takes a line apart where kernel lines are glued into it; says whether
    /// any of it was used.
    fn parts(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> bool {
        let mut used = false;
        let mut from = 0;
        while from < line.text.len() {
            let rest = line.part(from..line.text.len());
            let glued = printk::find_glued(rest.text);
            let len = glued.unwrap_or(rest.text.len());
            used |= self.part(&rest.part(0..len), glued.is_none(), out);
            from += len;
        }
        used
    }

    fn part(&mut self, line: &Line<'_>, whole: bool, out: &mut Out<'_>) -> bool {
        let prefix = self.begins(line, out);
        if self.over && out.wire.is_none() {
            return false;
        }
        let logged = prefix.map(|p| p.ns);
        for burst in line.bursts() {
            out.console_span(&burst, logged);
        }
        let mut used = out.wire.is_some() || logged.is_some();
        if !self.over {
            match prefix {
                Some(prefix) => {
                    self.boot_loader.end_open(line.first(), out);
                    self.kernel.line(line, &prefix, whole, out);
                }
                None => used |= self.text(line, out),
            }
        }
        used
    }

    /// Looks at a line without a kernel time; says whether that used it.
    fn text(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> bool {
        if self.kernel.rest_of_torn(line, out) {
            return true;
        }
        if !self.kernel.clock.running() && !self.boot_loader.handed_over {
            self.boot_loader.line(line, out);
        }
        if self.kernel.clock.running() || self.boot_loader.handed_over || !self.boot_loader.seen {
            self.userspace.line(line, out);
        }
        false
    }

    /// A boot loader or a kernel that starts again, behind a first boot.
    fn look_for_another_boot(
        &mut self,
        line: &Line<'_>,
        prefix: Option<&printk::Prefix>,
        out: &mut Out<'_>,
    ) {
        let another = match prefix {
            Some(prefix) => {
                let log = self.kernel.log_of(line, prefix);
                if log == Log::PrintedAgain {
                    self.kernel.clock.replay();
                }
                log == Log::OfAnotherBoot
            }
            None => {
                let booted = self.kernel.clock.running() || self.boot_loader.handed_over;
                booted && BootLoader::is_banner(line.text)
            }
        };
        if another && !self.over {
            self.over = true;
            self.boot_loader.end_open(line.first(), out);
            if out.wire.is_some() {
                another_boot(line, out);
            }
        }
    }
}

fn another_boot(line: &Line<'_>, out: &mut Out<'_>) {
    out.notice(
        "another-boot",
        Severity::DataLoss,
        line.evidence(out.file),
        "the machine booted again here (or its log was printed again), and only the first boot was read: cut the file here to see the second",
    );
}
