//! What a system logger wrote of the kernel's log, and of other programs.
//!
//! Two clocks on one line: when the kernel logged it, and when the logger got
//! it. The early lines are received late, all at once; the line that was
//! received soonest joins the clocks. The wall clock can be set while the
//! system starts (by NTP, from a clock chip): then it counts anew.

use bootlap_model::{ClockKind, Severity, Stamp};

use super::prefix::{self, Syslog};
use super::reader::DmesgReader;
use crate::Hints;
use crate::stamped::{Of, Stamped};
use crate::text::{Line, Reader, Sheet, Skip};

/// The wall clock does not go forward by so much between two lines of a boot …
const SET_FORWARD_NS: i64 = 3_600_000_000_000;
/// … nor back by so much.
const SET_BACK_NS: i64 = 2_000_000_000;

/// A log on the way.
pub(crate) struct SyslogReader<'h> {
    to: To<'h>,
    latest: Option<Stamp>,
}

enum To<'h> {
    /// With both clocks.
    Console(Box<Stamped<'h>>),
    /// The logger's time is all there is.
    Log(Box<DmesgReader<'h>>),
}

impl<'h> SyslogReader<'h> {
    /// A log whose kernel lines have the kernel's time.
    pub(crate) fn new(hints: &'h Hints) -> Self {
        Self {
            to: To::Console(Box::new(Stamped::new(
                hints,
                ClockKind::Realtime,
                Of::Begin,
            ))),
            latest: None,
        }
    }

    /// A log in which the kernel's time was dropped.
    pub(crate) fn by_receipt(mut log: DmesgReader<'h>) -> Self {
        log.count_wall();
        Self {
            to: To::Log(Box::new(log)),
            latest: None,
        }
    }
}

impl Reader for SyslogReader<'_> {
    fn line(&mut self, line: &Line<'_>, sheet: &mut Sheet<'_>) -> Result<(), Skip> {
        let Some(syslog) = prefix::syslog(line.text) else {
            return Err(Skip::unknown(
                "expected a logger's lines: `Nov 21 13:05:59 host kernel: [    0.123456] text`",
            ));
        };
        let stamp = Stamp::new(syslog.received.ns, syslog.received.err_ns);
        let text = &line.text[if_kernel(&syslog)..];
        let was_set = self.latest.is_some_and(|latest| {
            let step = stamp.ns.saturating_sub(latest.ns);
            !(-SET_BACK_NS..SET_FORWARD_NS).contains(&step)
        });
        self.latest = Some(stamp);
        match &mut self.to {
            To::Console(console) => {
                if was_set {
                    console.restart(sheet);
                    sheet.notice(
                        "wall-clock-set",
                        Severity::Info,
                        line.at,
                        "the wall clock was set here, or another boot begins: the lines before and behind are on clocks of their own, joined by the kernel's",
                    );
                }
                console.line(text, Some(stamp), line.at, sheet);
                Ok(())
            }
            To::Log(log) => {
                let body = line.text.len() - text.len();
                sheet.notice(
                    "time-of-receipt",
                    Severity::Notice,
                    line.at,
                    "these lines have only the time at which the logger got them, and it got the early ones all at once: use dmesg, which prints the kernel's own",
                );
                log.logged(line.text, body, (stamp, None), line.at, sheet)
            }
        }
    }

    fn finish(&mut self, sheet: &mut Sheet<'_>) {
        match &mut self.to {
            To::Console(console) => console.finish(sheet),
            To::Log(log) => log.finish(sheet),
        }
    }
}

/// Where the text of a line begins: with the program's name, if it is not
/// the kernel's.
fn if_kernel(syslog: &Syslog) -> usize {
    if syslog.kernel {
        syslog.body
    } else {
        syslog.tag
    }
}
