//! What a system logger wrote of the kernel's log, and of other programs.
//!
//! Two clocks on one line: when the kernel logged it, and when the logger got
//! it. The early lines are received late, all at once; the line that was
//! received soonest joins the clocks. The wall clock can be set while the
//! system starts (by NTP, from a clock chip): then it counts anew.
//!
//! rsyslog since 8.2504 drops the kernel's time (Debian 13). The time of
//! receipt says nothing of when an early line was logged, so such lines are
//! shown, and nothing is made of them.

use bootlap_model::{ClockKind, Severity, Stamp};

use super::prefix::{self, Syslog};
use crate::Hints;
use crate::console::printk;
use crate::stamped::{Of, Stamped};
use crate::text::{Import, Line, Reader, Skip};

/// The wall clock does not go forward by so much between two lines of a boot …
const SET_FORWARD_NS: i64 = 3_600_000_000_000;
/// … nor back by so much.
const SET_BACK_NS: i64 = 2_000_000_000;

/// A log on the way.
pub(crate) struct SyslogReader<'h> {
    console: Stamped<'h>,
    latest: Option<Stamp>,
}

impl<'h> SyslogReader<'h> {
    /// A log that begins.
    pub(crate) fn new(hints: &'h Hints) -> Self {
        Self {
            console: Stamped::new(hints, ClockKind::Realtime, Of::Begin),
            latest: None,
        }
    }
}

impl Reader for SyslogReader<'_> {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        let Some(syslog) = prefix::syslog(line.text) else {
            return Err(Skip::unknown(
                "expected a logger's lines: `Nov 21 13:05:59 host kernel: [    0.123456] text`",
            ));
        };
        let stamp = Stamp::new(syslog.received.ns, syslog.received.err_ns);
        let was_set = self.latest.is_some_and(|latest| {
            let step = stamp.ns.saturating_sub(latest.ns);
            !(-SET_BACK_NS..SET_FORWARD_NS).contains(&step)
        });
        self.latest = Some(stamp);
        if was_set {
            self.console.restart(import);
            import.notice(
                "wall-clock-set",
                Severity::Info,
                line.at,
                "the wall clock was set here, or another boot begins: the lines before and behind are on clocks of their own, joined by the kernel's",
            );
        }
        let text = &line.text[begin(&syslog)..];
        // BusyBox's klogd says of itself that it has started.
        let by_kernel = syslog.kernel && !text.starts_with(b"klogd started");
        if by_kernel && printk::parse(text).is_none() {
            import.notice(
                "time-of-receipt",
                Severity::DataLoss,
                line.at,
                "these kernel lines have only the time at which the logger got them, which for early ones is when it started, so nothing was made of them but text: use dmesg or journalctl -o json, which have the kernel's own times",
            );
        }
        self.console.line(text, Some(stamp), line.at, import);
        Ok(())
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        self.console.finish(import);
    }
}

/// Where the text of a line begins: with the program's name, if it is not
/// the kernel's.
fn begin(syslog: &Syslog) -> usize {
    if syslog.kernel {
        syslog.body
    } else {
        syslog.tag
    }
}
