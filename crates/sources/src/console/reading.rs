//! What a console says, line by line: whose boot it is, and which of the
//! recognisers a line, or a part of one, is for.

use std::mem;

use bootlap_model::{Severity, Stamp};

use super::analysed::Analysed;
use super::bootloader::BootLoader;
use super::hints::{HintMarks, Matched};
use super::jobs::Jobs;
use super::kernel::{Kernel, Log};
use super::line::Line;
use super::out::{Moment, Out, STAGES};
use super::pc_loader::PcLoader;
use super::printk;
use super::sending::Sending;
use super::uptime::{self, uptime};
use super::userspace::Userspace;
use crate::Hints;
use crate::agent::Printed;
use crate::bootstage::report::Report;
use crate::calendar::time_of_day;
use crate::handover;
use crate::text;

/// What has been understood so far.
pub(crate) struct Reading<'h> {
    wanted: &'h Hints,
    hints: HintMarks<'h>,
    boot_loader: BootLoader,
    pc_loader: PcLoader,
    kernel: Kernel,
    userspace: Userspace,
    jobs: Jobs,
    archive: Printed,
    analysed: Analysed,
    sending: Sending,
    /// Of the boot loader's stages.
    report: Report,
    /// When the first line with the kernel's time was logged, ns.
    first_ns: Option<i64>,
    /// What user space said last of how long the machine is up, ns.
    up_ns: i64,
    /// Another boot began: what follows is not this boot's.
    over: bool,
    /// The line with the first heading, in a log that has one for each boot.
    headed: Option<u64>,
    /// Lines so far.
    pub(crate) total: u64,
    /// Lines that could not be used.
    pub(crate) skipped: u64,
}

impl<'h> Reading<'h> {
    /// Nothing yet.
    pub(crate) fn new(hints: &'h Hints) -> Self {
        Self {
            wanted: hints,
            hints: HintMarks::new(hints),
            boot_loader: BootLoader::default(),
            pc_loader: PcLoader::default(),
            kernel: Kernel::default(),
            userspace: Userspace::default(),
            jobs: Jobs::default(),
            archive: Printed::default(),
            analysed: Analysed::default(),
            sending: Sending::default(),
            report: Report::default(),
            first_ns: None,
            up_ns: 0,
            over: false,
            headed: None,
            total: 0,
            skipped: 0,
        }
    }

    /// Takes one line; `cut` if its end was dropped.
    pub(crate) fn line(&mut self, line: &Line<'_>, cut: bool, out: &mut Out<'_>) {
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
        if self.archive.line(line.text, line.evidence(out.file)) {
            self.archive_line(line, out);
            return;
        }
        self.sending.end(out);
        let matched = self.look_for_hints(line, out);
        if self.parts(line, out) || matched == Matched::Placed {
            return;
        }
        self.skipped += 1;
        if !self.over {
            out.untimed_line();
        }
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

    /// A line of an archive is used, but no text. That it was sent can be what
    /// the user waits for, and takes its time.
    fn archive_line(&mut self, line: &Line<'_>, out: &mut Out<'_>) {
        self.look_for_hints(line, out);
        if !self.is_left_out(line, out) {
            self.userspace.end_open(line.first(), out);
            self.sending.line(line, out);
        }
    }

    /// Looks for what the user described; in whole lines, as
    /// [`crate::ReadyWatch`] does while the machine runs.
    fn look_for_hints(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Matched {
        let prefix = self.begins(line, out);
        if self.is_left_out(line, out) {
            return Matched::No;
        }
        let logged = prefix.map(|p| Stamp::new(p.ns, printk::RESOLUTION_NS));
        self.hints.line(line, logged, out)
    }

    /// What has to be known before any event of a line is added: whose boot it
    /// is, and which clock.
    fn begins(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Option<printk::Prefix> {
        let prefix = printk::parse(line.text);
        self.look_for_another_boot(line, prefix.as_ref(), out);
        if let (Some(prefix), false) = (prefix, self.over) {
            self.first_ns.get_or_insert(prefix.ns);
            let before = self.latest_ns(prefix.ns);
            if before.is_none() {
                self.hints.forget_ends(out);
            }
            self.skipped -= self.hints.place_between(before, prefix.ns, out);
            self.jobs.told_by(prefix.ns);
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
            let body = printk::parse(rest.text).map_or(0, |p| p.body);
            let glued = printk::find_glued(rest.text, body);
            let len = glued.unwrap_or(rest.text.len());
            let part = match from {
                0 => rest.part(0..len),
                _ => rest.glued(0..len),
            };
            used |= self.part(&part, glued.is_none(), out);
            from += len;
        }
        used
    }

    fn part(&mut self, line: &Line<'_>, whole: bool, out: &mut Out<'_>) -> bool {
        let prefix = self.begins(line, out);
        if self.is_left_out(line, out) {
            return false;
        }
        let logged = prefix.map(|p| p.ns);
        if out.wire.is_none() && logged.is_some_and(|ns| self.kernel.is_past(ns)) {
            out.untimed_line();
        } else {
            for burst in line.bursts() {
                out.console_span(&burst, logged);
            }
        }
        let mut used = out.wire.is_some() || logged.is_some();
        if !self.over {
            match prefix {
                Some(prefix) => {
                    self.boot_loader.end_open(line.first(), out);
                    self.pc_loader.kernel_speaks(line.first(), out);
                    self.userspace.end_open(line.first(), out);
                    self.kernel_line(line, &prefix, whole, out);
                }
                None => used |= self.text(line, out) || self.uptime(line, out),
            }
        }
        used
    }

    /// The latest time of the kernel's clock that was told; a line of `ns` cannot be before it
    /// because user space cuts what it tells.
    fn latest_ns(&self, ns: i64) -> Option<i64> {
        let clock = &self.kernel.clock;
        let latest = || clock.latest_ns().max(self.up_ns.min(ns));
        clock.running().then(latest)
    }

    /// Looks for how long the machine is up: where nothing else gives a line its time, that does.
    fn uptime(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> bool {
        let latest = self.latest_ns(i64::MAX).filter(|_| out.wire.is_none());
        let Some((ns, latest)) = uptime(line.text).zip(latest) else {
            return false;
        };
        // Of a machine that this one talks to, or that slept, it would be another.
        if latest.saturating_sub(ns) > i64::from(uptime::ERR_NS) {
            return false;
        }
        let ns = ns.max(latest);
        self.skipped -= self.hints.place_between(Some(latest), ns, out);
        self.up_ns = ns;
        self.jobs.told_by(ns);
        let at = line.evidence(out.file);
        out.logged_span(line.text, Stamp::new(ns, uptime::ERR_NS), at);
        true
    }

    /// The kernel begins to run.
    pub(crate) fn kernel_begins(&mut self, at: Stamp, out: &mut Out<'_>) {
        self.pc_loader.end(at, out);
    }

    /// Whether the line is another boot's, and not even shown: where bytes
    /// have stamps of a machine that runs on, its text is.
    fn is_left_out(&self, line: &Line<'_>, out: &Out<'_>) -> bool {
        self.over && (out.wire.is_none() || line.is_stamped_as_a_whole())
    }

    fn kernel_line(
        &mut self,
        line: &Line<'_>,
        prefix: &printk::Prefix,
        whole: bool,
        out: &mut Out<'_>,
    ) {
        let body = line.text[prefix.body..].trim_ascii_end();
        let moment = Moment {
            ns: prefix.ns,
            err_ns: printk::RESOLUTION_NS,
            first: line.first(),
            last: line.ended.or(line.last()),
            task: prefix.task,
        };
        if line.is_stamped_at_end() {
            self.kernel.clock.stamped_at_end();
        }
        let at = line.evidence(out.file);
        let news = self.kernel.line(body, &moment, whole, at, out);
        if news && whole && body.starts_with(b"Calibrating delay loop...") {
            calibration(line, out);
        }
    }

    /// Looks at a line without a kernel time; says whether that used it.
    fn text(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> bool {
        let at = line.evidence(out.file);
        // Where all lines have times, the report says nothing new.
        let is_before = out.wire.is_none() && !self.kernel.clock.running();
        if is_before && self.report.line(text::valid(line.text), at) {
            return true;
        }
        self.userspace.end_open(line.first(), out);
        if self.kernel.rest_of_torn(line.text, at, out) {
            return true;
        }
        if self.kernel.clock.running() && self.analysed.line(line.text) {
            return true;
        }
        if !self.kernel.clock.running() && !self.boot_loader.handed_over {
            self.boot_loader.line(line, out);
            self.pc_loader.line(line, out);
        }
        if self.kernel.clock.running() || self.boot_loader.handed_over || !self.boot_loader.seen {
            self.userspace.line(line, out);
            self.jobs.line(line, self.latest_ns(i64::MAX), out);
            out.written_line(line);
        }
        false
    }

    /// A boot loader or a kernel that starts again, after a first boot.
    fn look_for_another_boot(
        &mut self,
        line: &Line<'_>,
        prefix: Option<&printk::Prefix>,
        out: &mut Out<'_>,
    ) {
        let another = match prefix {
            Some(prefix) => {
                let log = self.kernel.log_of(&line.text[prefix.body..], prefix.ns);
                if log == Log::PrintedAgain {
                    self.kernel.clock.replay();
                }
                log == Log::OfAnotherBoot
            }
            None if is_heading(line.text) => *self.headed.get_or_insert(self.total) != self.total,
            None => {
                let booted = self.kernel.clock.running() || self.boot_loader.handed_over;
                booted && BootLoader::is_banner(line.text)
            }
        };
        if !another || self.over {
            return;
        }
        if self.headed.is_none() && !self.boot_loader.seen && !self.kernel.began() {
            self.begin_anew(line, out);
            return;
        }
        self.over = true;
        self.boot_loader.end_open(line.first(), out);
        if !self.is_left_out(line, out) {
            another_boot(line, out);
        }
    }

    /// What came before this line is the end of an earlier boot: somebody
    /// began to record and then restarted the machine.
    fn begin_anew(&mut self, line: &Line<'_>, out: &mut Out<'_>) {
        out.discard();
        let before = self.total - 1;
        *self = Self {
            total: self.total,
            skipped: before,
            headed: self.headed,
            ..Self::new(self.wanted)
        };
        out.notice(
            "end-of-an-earlier-boot",
            Severity::Info,
            line.evidence(out.file),
            "the lines before this one are the end of an earlier boot, and are left out: the boot that begins here was read",
        );
    }

    /// The clock of the stamps ends here, and another one goes on: the
    /// recording was started again.
    pub(crate) fn wire_ends(&mut self, out: &mut Out<'_>) {
        self.sending.end(out);
        out.untimed_end();
        self.boot_loader.end_open(None, out);
        self.userspace = Userspace::default();
        self.jobs.finish(out);
        self.kernel.clock.join(out);
    }

    /// There are no more lines. What is in them besides the console's is still to be read, as files of
    /// their own.
    #[must_use]
    pub(crate) fn finish(&mut self, out: &mut Out<'_>) -> (Printed, Analysed) {
        self.sending.end(out);
        self.boot_loader.end_open(None, out);
        let last_ns = self.latest_ns(i64::MAX);
        self.skipped -= self.hints.finish(last_ns, out);
        self.jobs.finish(out);
        self.kernel.finish(out);
        let first_ns = self.first_ns.filter(|_| self.kernel.clock.running());
        if let (Some(last), Some(ns)) = (self.report.write(out.timeline), first_ns) {
            let kernel = out.printk_clock();
            handover::assume(out.timeline, (kernel, ns), last);
        }
        (mem::take(&mut self.archive), mem::take(&mut self.analysed))
    }
}

/// `------------ Thu Feb 05 09:40:47 IST 2026 ------------`: Plymouth's `boot.log` has one
/// before the text of each boot.
fn is_heading(text: &[u8]) -> bool {
    let rule = |text: &[u8]| text.len() >= 8 && text.iter().all(|b| *b == b'-');
    let mut words = text.split(|b| *b == b' ').filter(|word| !word.is_empty());
    words.next().is_some_and(rule)
        && words.next_back().is_some_and(rule)
        && words.any(|word| time_of_day(word).is_some())
}

fn another_boot(line: &Line<'_>, out: &mut Out<'_>) {
    out.notice(
        "another-boot",
        Severity::DataLoss,
        line.evidence(out.file),
        "the machine booted again here (or its log was printed again), and only the first boot was read: `FILE#2` names the second",
    );
}

/// `Calibrating delay loop... 1234.94 BogoMIPS`: the number comes when it is
/// known.
fn calibration(line: &Line<'_>, out: &mut Out<'_>) {
    if let Some(after) = line.silence_after(0) {
        let moments = (line.at(after - 1), line.at(after));
        let at = line.evidence(out.file);
        out.wire_span(STAGES, "calibrate delay loop", moments, &[], at);
    }
}
