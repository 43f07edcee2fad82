//! Lines of a kernel log, whatever program printed it.

use bootlap_model::{ClockKind, Evidence, Severity, Stamp};

use super::prefix::{self, Time};
use crate::Hints;
use crate::console::hints::HintMarks;
use crate::console::kernel::{Kernel, Log, is_first_line};
use crate::console::line::Line as ConsoleLine;
use crate::console::out::{Kept, Moment, Out};
use crate::console::printk;
use crate::text::{Import, Line, Reader, Skip};

/// A kernel log on the way.
pub(crate) struct DmesgReader<'h> {
    hints: HintMarks<'h>,
    kernel: Kernel,
    kept: Option<Kept>,
    /// What the times count, once there was one.
    counts: Option<Counts>,
    /// When the last line was logged, on the log's clock.
    now: Option<Stamp>,
    /// The minute that `dmesg -e` began with, and what it is on the log's clock.
    minute: Option<i64>,
    first: Option<(i64, Evidence)>,
    over: bool,
}

/// What the times of a log count. All lines of a log are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    Kernel,
    Wall,
    Since,
}

impl<'h> DmesgReader<'h> {
    /// A log that begins.
    pub(crate) fn new(hints: &'h Hints) -> Self {
        Self {
            hints: HintMarks::new(hints),
            kernel: Kernel::default(),
            kept: None,
            counts: None,
            now: None,
            minute: None,
            first: None,
            over: false,
        }
    }

    /// The times are those of the kernel's clock.
    pub(crate) fn count_kernel(&mut self) {
        self.counts = Some(Counts::Kernel);
    }

    /// Takes the text of one line, of which the prefix says when it was
    /// logged.
    #[inline]
    pub(crate) fn logged(
        &mut self,
        text: &[u8],
        body: usize,
        (stamp, task): (Stamp, Option<u32>),
        at: Evidence,
        import: &mut Import<'_>,
    ) -> Result<(), Skip> {
        let kept = self
            .kept
            .get_or_insert_with(|| Kept::new(import.timeline, import.file, None));
        if self.first.is_none() {
            self.first = Some((stamp.ns, at));
            kept.printk_kind = match (self.counts, is_first_line(&text[body..])) {
                (Some(Counts::Wall), _) => ClockKind::Realtime,
                (Some(Counts::Since), false) => ClockKind::Relative,
                _ => ClockKind::KernelPrintk,
            };
        }
        let mut out = Out::new(import.timeline, kept);
        match self.kernel.log_of(&text[body..], stamp.ns) {
            Log::Same => {}
            Log::PrintedAgain => self.kernel.clock.replay(),
            Log::OfAnotherBoot => self.over = true,
        }
        if self.over {
            return Err(ANOTHER_BOOT);
        }
        self.now = Some(stamp);
        let moment = Moment {
            ns: stamp.ns,
            err_ns: stamp.err_ns,
            first: None,
            last: None,
            task,
        };
        if !self.hints.is_done() {
            let line = ConsoleLine::unstamped(text, at);
            self.hints.line(&line, Some(stamp), &mut out);
        }
        self.kernel.look_for_step(stamp.ns, at, &mut out);
        // Only in text as the kernel printed it there can be glue.
        let own = body > 0 && self.counts == Some(Counts::Kernel);
        match printk::find_glued(text, body).filter(|_| own) {
            None => {
                match self.kernel.is_past(stamp.ns) {
                    true => out.untimed_line(),
                    false => out.logged_span(text, stamp, at),
                }
                let body = text[body..].trim_ascii_end();
                self.kernel.line(body, &moment, true, at, &mut out);
            }
            Some(glued) => {
                out.logged_span(&text[..glued], stamp, at);
                let before = text.get(body..glued).unwrap_or_default();
                let before = before.trim_ascii_end();
                self.kernel.line(before, &moment, false, at, &mut out);
                self.glued(&text[glued..], at, import);
            }
        }
        Ok(())
    }

    /// Takes what another CPU wrote into a line.
    fn glued(&mut self, text: &[u8], at: Evidence, import: &mut Import<'_>) {
        let Some(kept) = &mut self.kept else { return };
        let mut out = Out::new(import.timeline, kept);
        let mut rest = text;
        while let Some(prefix) = printk::parse(rest) {
            let end = printk::find_glued(rest, prefix.body);
            let part = &rest[..end.unwrap_or(rest.len())];
            let moment = Moment {
                ns: prefix.ns,
                err_ns: printk::RESOLUTION_NS,
                first: None,
                last: None,
                task: prefix.task,
            };
            out.logged_span(part, moment.stamp(), at);
            let body = part.get(prefix.body..).unwrap_or_default();
            let body = body.trim_ascii_end();
            self.kernel.line(body, &moment, end.is_none(), at, &mut out);
            self.now = Some(moment.stamp());
            rest = &rest[part.len()..];
        }
    }

    /// A line whose prefix is not the kernel's own.
    fn unusual(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        let Some(prefix) = prefix::parse(line.text) else {
            return self.without_prefix(line, import);
        };
        let first = is_first_line(&line.text[prefix.body..]);
        let Some((counts, stamp)) = self.stamp(&prefix, line.at, first, import) else {
            return self.without_prefix(line, import);
        };
        if *self.counts.get_or_insert(counts) != counts {
            return Err(Skip::lost(
                "mixed-times",
                "the times of these lines count something else than those before: use the log as one program printed it",
            ));
        }
        self.logged(
            line.text,
            prefix.body,
            (stamp, prefix.task),
            line.at,
            import,
        )
    }

    fn stamp(
        &mut self,
        prefix: &prefix::Prefix,
        at: Evidence,
        first: bool,
        import: &mut Import<'_>,
    ) -> Option<(Counts, Stamp)> {
        let since = |ns: i64, more: i64| ns.saturating_add(more);
        Some(match prefix.time {
            Time::Kernel(ns) => (Counts::Kernel, Stamp::new(ns, prefix.err_ns)),
            Time::Wall(ns) => (Counts::Wall, Stamp::new(ns, prefix.err_ns)),
            Time::Since(ns) => {
                let now = self.now.unwrap_or(Stamp::new(0, prefix.err_ns));
                let ns = since(now.ns, ns);
                (Counts::Since, Stamp::new(ns, now.err_ns))
            }
            Time::Minute(minute) => {
                let Some((now, began)) = self.now.zip(self.minute).filter(|_| !first) else {
                    self.minute = Some(minute);
                    return Some((Counts::Since, Stamp::new(0, printk::RESOLUTION_NS)));
                };
                import.notice(
                    "new-minute",
                    Severity::Notice,
                    at,
                    "`dmesg -e` and `-H` print only the minute of these lines, so the times from here on may be up to a minute late or early: run dmesg without -e and -H",
                );
                // It is of that minute, but nobody knows where in it the
                // log's first line was.
                let since = minute.saturating_sub(began).saturating_sub(MINUTE_NS);
                let ns = now.ns.max(since);
                (Counts::Since, Stamp::new(ns, u32::MAX))
            }
            Time::None => (self.counts?, self.now?),
        })
    }

    /// A line without a prefix: the rest of a message of several lines, or of
    /// one that another CPU interrupted.
    fn without_prefix(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        let (Some(kept), Some(now)) = (&mut self.kept, self.now) else {
            return Err(Skip::unknown(
                "expected kernel log lines, such as `[    0.123456] Run /init as init process`",
            ));
        };
        if self.over {
            return Err(ANOTHER_BOOT);
        }
        if is_property(line.text) {
            return Ok(());
        }
        let mut out = Out::new(import.timeline, kept);
        if !self.hints.is_done() {
            let line = ConsoleLine::unstamped(line.text, line.at);
            self.hints.line(&line, Some(now), &mut out);
        }
        out.logged_span(line.text, now, line.at);
        if !self.kernel.rest_of_torn(line.text, line.at, &mut out) {
            out.notice(
                "line-without-time",
                Severity::Info,
                line.at,
                "these lines have no time of their own and are shown at that of the line before, as the rest of its message; if this is a console's text, read it with --as console",
            );
        }
        Ok(())
    }
}

/// ` SUBSYSTEM=pci`: a property of a `/dev/kmsg` record.
fn is_property(text: &[u8]) -> bool {
    text.strip_prefix(b" ").is_some_and(|rest| {
        let key = rest.iter().take_while(|b| b.is_ascii_uppercase()).count();
        key > 0 && rest.get(key) == Some(&b'=')
    })
}

const MINUTE_NS: i64 = 60_000_000_000;

const ANOTHER_BOOT: Skip = Skip::lost(
    "another-boot",
    "the machine booted again here, and only the first boot was read: `FILE#2` names the second",
);

impl Reader for DmesgReader<'_> {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        if matches!(self.counts, None | Some(Counts::Kernel))
            && let Some(prefix) = printk::parse(line.text)
            && !prefix::has_another(&line.text[prefix.body..])
        {
            self.counts = Some(Counts::Kernel);
            let stamp = Stamp::new(prefix.ns, printk::RESOLUTION_NS);
            return self.logged(
                line.text,
                prefix.body,
                (stamp, prefix.task),
                line.at,
                import,
            );
        }
        self.unusual(line, import)
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        let Some(kept) = &mut self.kept else { return };
        let mut out = Out::new(import.timeline, kept);
        self.hints.finish(None, &mut out);
        self.kernel.finish(&mut out);
        if let (Some((ns, at)), false, Some(Counts::Kernel)) =
            (self.first, self.kernel.version_seen(), self.counts)
            && ns > 0
        {
            out.notice(
                "log-without-its-start",
                Severity::DataLoss,
                at,
                "the log begins after the kernel did: it is an excerpt, or the kernel's buffer was too small to keep its start; boot with a larger log_buf_len= (such as log_buf_len=4M)",
            );
        }
    }
}
