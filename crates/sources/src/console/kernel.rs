//! The kernel's log: moments, and stages with a clear beginning and end.
//!
//! ```text
//! [    0.110140] clocksource: Switched to clocksource arch_sys_counter
//! [    0.150611] Trying to unpack rootfs image as initramfs...
//! [    0.284571] Freeing initrd memory: 964K
//! [    1.699627] Freeing unused kernel memory: 6464K
//! [    1.719385] Checked W+X mappings: passed, no W+X pages found
//! [    1.719428] Run /init as init process
//! [    4.012345] systemd[1]: Switching root.
//! ```

use bootlap_model::{ClockKind, Evidence, Milestone, Severity, Span, SpanEnd};
use memchr::memmem;

use super::clock::KernelClock;
use super::daemons::Daemons;
use super::devices::Devices;
use super::initcall::Initcalls;
use super::out::{Moment, Out, STAGES};
use super::printk::RESOLUTION_NS;

/// Stages that one line begins and another ends: how the lines begin.
const PAIRS: [Stage; 4] = [
    Stage {
        name: Span::UNPACK_INITRAMFS,
        is_repeated: false,
        // "Unpacking initramfs..." is the text of kernels before 5.2.
        begin: &[
            "Trying to unpack rootfs image as initramfs",
            "Unpacking initramfs",
        ],
        end: &["Freeing initrd memory", "Freeing initramfs memory"],
    },
    Stage {
        name: "wait for root device",
        is_repeated: false,
        begin: &["Waiting for root device"],
        end: &["VFS: Mounted root"],
    },
    Stage {
        name: Span::ADDRESS_WAIT,
        // Each request is a line; an answer may not come.
        is_repeated: true,
        begin: &["Sending DHCP requests", "Sending BOOTP requests"],
        end: &[
            "IP-Config: Complete",
            "IP-Config: Auto-configuration of network failed",
        ],
    },
    Stage {
        // mark_readonly(), and with CONFIG_DEBUG_WX a walk of all page tables.
        name: "protect kernel memory",
        // Linux 4.15 to 5.4 says the same of what it frees later.
        is_repeated: true,
        begin: &[
            "Freeing unused kernel memory",
            "Freeing unused kernel image memory",
            "Freeing unused kernel image (initmem)",
        ],
        end: &["Checked W+X mappings", "x86/mm: Checked W+X mappings"],
    },
];

/// A log whose first line is older began before it was recorded.
const BEGAN_NS: i64 = 1_000_000_000;

/// What the kernel frees last before it runs init.
const FREED_LAST: [&[u8]; 4] = [
    b"Freeing unused kernel memory",
    b"Freeing unused kernel image memory",
    b"Freeing unused kernel image (initmem)",
    b"Freeing init memory",
];

/// What else comes between that and init.
const BEFORE_INIT: [&[u8]; 7] = [
    b"Freeing ",
    b"Write protecting ",
    b"rodata_test",
    b"Checked W+X",
    b"x86/mm: Checked",
    b"This architecture does not have kernel memory protection",
    b"Kernel memory protection",
];

/// What a kernel says last; before 3.10 without `reboot: `.
const ENDS: [&[u8]; 6] = [
    b"reboot: Restarting system",
    b"reboot: Power down",
    b"reboot: System halted",
    b"Restarting system.",
    b"Power down.",
    b"System halted.",
];

struct Stage {
    name: &'static str,
    /// It is begun anew as long as it has not ended, and lasts since the first time.
    is_repeated: bool,
    begin: &'static [&'static str],
    end: &'static [&'static str],
}

/// Which log a line is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Log {
    /// The same as the lines before.
    Same,
    /// The same, but from its beginning: a second console registered.
    PrintedAgain,
    /// That of another boot: the first one had run init, or said that it ends.
    OfAnotherBoot,
}

/// A line, and its copies without another line between.
#[derive(Default)]
struct Printed {
    ns: i64,
    body: Vec<u8>,
    first: Option<Repeat>,
    copies: u32,
}

/// The first copy of a line.
#[derive(Clone, Copy)]
struct Repeat {
    at: Evidence,
    /// Whether a notice tells of it.
    is_told: bool,
}

/// What was understood of the kernel's log so far.
#[derive(Default)]
pub(crate) struct Kernel {
    pub(crate) clock: KernelClock,
    initcalls: Initcalls,
    daemons: Daemons,
    devices: Devices,
    /// When the last memory was freed, and whether other lines came later.
    freed: Option<(Moment, Evidence, bool)>,
    began: [Option<(Moment, Evidence)>; PAIRS.len()],
    version_seen: bool,
    init_seen: bool,
    ends: bool,
    /// The last line, to know its copies.
    last: Printed,
    /// The copy of the line before it, if that came exactly twice.
    before: Option<Repeat>,
    /// The beginning of a line that the next one interrupted.
    torn: Option<(Vec<u8>, Moment, Evidence)>,
}

/// How a line of `bootlap-agent mark` begins.
const MARK: &[u8] = b"bootlap: ";

impl Kernel {
    /// What this line says of the log that it is in.
    pub(crate) fn log_of(&self, body: &[u8], ns: i64) -> Log {
        // A console that is told not to print much (`quiet`) leaves out the first lines.
        if self.ends && self.clock.is_past(ns) {
            return Log::OfAnotherBoot;
        }
        if !is_first_line(body) {
            return Log::Same;
        }
        let again = self.version_seen || self.clock.latest_ns() > ns;
        match again {
            false => Log::Same,
            true if self.init_seen || self.ends || !self.began() => Log::OfAnotherBoot,
            true => Log::PrintedAgain,
        }
    }

    /// Whether the log was seen from its beginning, or nearly so.
    pub(crate) fn began(&self) -> bool {
        self.version_seen || self.clock.earliest_ns() < BEGAN_NS
    }

    /// Whether the log's first line was seen.
    pub(crate) fn version_seen(&self) -> bool {
        self.version_seen
    }

    /// Whether a line of this time is of the past: see [`KernelClock::is_past`].
    pub(crate) fn is_past(&self, ns: i64) -> bool {
        self.clock.is_past(ns)
    }

    /// A line has this time: see [`KernelClock::look_for_step`].
    pub(crate) fn look_for_step(&mut self, ns: i64, at: Evidence, out: &mut Out<'_>) {
        self.clock.look_for_step(ns, !self.init_seen, at, out);
    }

    /// Looks at the text of one line, without prefix and white space after
    /// it; `whole` if nothing interrupted it. `false` if it is a copy.
    pub(crate) fn line(
        &mut self,
        body: &[u8],
        moment: &Moment,
        whole: bool,
        at: Evidence,
        out: &mut Out<'_>,
    ) -> bool {
        if !self.clock.see(moment, at, out) || self.is_copy(moment, body, at, out) {
            return false;
        }
        if whole {
            out.kernel_line(body, moment, at);
        }
        if !self.initcalls.line(body, moment, at, out) {
            if whole {
                self.message(body, moment, at, out);
            } else if body.starts_with(b"calling ") || body.starts_with(b"initcall ") {
                self.torn = Some((body.to_vec(), *moment, at));
            }
        }
        true
    }

    /// Whether the line is the one before once more. Two consoles on one UART print *each*
    /// line twice; a driver that says one thing twice is followed by a line that came once.
    fn is_copy(&mut self, moment: &Moment, body: &[u8], at: Evidence, out: &mut Out<'_>) -> bool {
        // Two equal messages within a µs are one, within a second they are not.
        if moment.err_ns > RESOLUTION_NS {
            return false;
        }
        let last = &mut self.last;
        if last.ns != moment.ns || last.body != body || body.is_empty() {
            self.before = last.first.filter(|_| last.copies == 1);
            (last.ns, last.copies, last.first) = (moment.ns, 0, None);
            last.body.clear();
            last.body.extend_from_slice(body);
            return false;
        }
        last.copies += 1;
        let first = last.first.get_or_insert(Repeat { at, is_told: false });
        if let Some(before) = self.before.filter(|_| last.copies == 1) {
            first.is_told = true;
            let untold = (!before.is_told).then_some(before.at);
            for at in untold.into_iter().chain([at]) {
                out.notice(
                    "line-printed-twice",
                    Severity::Info,
                    at,
                    "these kernel lines came twice, and count once: two consoles share one line (keep_bootcon, or console= given twice), which also costs twice the time",
                );
            }
        }
        true
    }

    /// Looks at text without a time: the rest of an interrupted line?
    pub(crate) fn rest_of_torn(&mut self, text: &[u8], end: Evidence, out: &mut Out<'_>) -> bool {
        let Some((mut body, moment, mut at)) = self.torn.take() else {
            return false;
        };
        body.extend_from_slice(text.trim_ascii_end());
        at.end = end.end;
        self.initcalls.line(&body, &moment, at, out)
    }

    fn message(&mut self, body: &[u8], moment: &Moment, at: Evidence, out: &mut Out<'_>) {
        match body.first() {
            Some(b'R') if body.starts_with(b"Run ") && body.ends_with(b" as init process") => {
                self.init_seen = true;
                out.kernel_milestone(Milestone::InitStart, moment, at);
            }
            Some(b'K') if body.starts_with(b"Kernel panic") => {
                self.ends = true;
                out.kernel_mark(Span::KERNEL_PANIC.as_bytes(), moment, at);
            }
            Some(b'r' | b'R' | b'P' | b'S') if ENDS.iter().any(|e| body.starts_with(e)) => {
                self.ends = true;
            }
            Some(b'L') if body.starts_with(b"Linux version ") => {
                self.version_seen = true;
                // The first line is logged when the kernel's clock is zero.
                if out.printk_kind != ClockKind::KernelPrintk {
                    out.kernel_milestone(Milestone::KernelClockStart, moment, at);
                }
            }
            Some(b's') if is_sched_clock(body) => out.kernel_mark(body, moment, at),
            Some(b's' | b'i' | b'u' | b'[' | b'B') => self.daemons.line(body, moment, at, out),
            Some(b'b') if body.starts_with(b"bootlap: rc ") => {
                self.daemons.line(body, moment, at, out);
            }
            // `bootlap-agent mark`, or what anybody wrote to /dev/kmsg like it.
            Some(b'b') if body.starts_with(MARK) && body.len() > MARK.len() => {
                out.kernel_mark(&body[MARK.len()..], moment, at);
            }
            Some(b'c' | b'S') if memmem::find(body, b"Switched to clocksource ").is_some() => {
                self.initcalls.switched();
                self.clock.switched(moment.ns);
            }
            Some(b'T' | b'U' | b'F' | b'W' | b'V' | b'C' | b'x' | b'S' | b'I') => {
                self.stage(body, moment, at, out);
            }
            _ => {}
        }
        if matches!(body.first(), Some(b'X' | b'u' | b'U')) {
            self.devices.line(body, moment, at, out);
        }
        self.look_for_init(body, moment, at);
    }

    /// Kernels before 5.0 do not say that they run init; what they free last
    /// they free right before. It counts if the log goes on after it.
    fn look_for_init(&mut self, body: &[u8], moment: &Moment, at: Evidence) {
        let any = |lines: &[&[u8]]| lines.iter().any(|l| body.starts_with(l));
        if body.first() == Some(&b'F') && any(&FREED_LAST) {
            self.freed = Some((*moment, at, false));
        } else if let Some((.., false)) = self.freed
            && !any(&BEFORE_INIT)
            && let Some((.., later)) = &mut self.freed
        {
            *later = true;
        }
    }

    fn stage(&mut self, body: &[u8], moment: &Moment, at: Evidence, out: &mut Out<'_>) {
        let begins = |with: &[&str]| with.iter().any(|w| body.starts_with(w.as_bytes()));
        for (stage, began) in PAIRS.iter().zip(&mut self.began) {
            if begins(stage.begin) {
                if began.is_none() || !stage.is_repeated {
                    *began = Some((*moment, at));
                }
            } else if begins(stage.end)
                && let Some((began, mut evidence)) = began.take()
                && moment.ns >= began.ns
            {
                evidence.end = at.end;
                let end = SpanEnd::At(moment.stamp());
                let (start, name) = (began.stamp(), stage.name);
                let span = out.printk_span(STAGES, name, start, end, &[], evidence);
                out.count_start(span, &began);
                out.count_end(span, moment);
            }
        }
    }

    /// The log has ended.
    pub(crate) fn finish(&mut self, out: &mut Out<'_>) {
        if let (Some((moment, at, true)), false) = (self.freed, self.init_seen) {
            out.kernel_milestone(Milestone::InitStart, &moment, at);
            self.init_seen = true;
        }
        let user_space = self.init_seen || out.has(Milestone::UserEntry);
        self.initcalls.finish(user_space, out);
        self.daemons.finish(out);
        self.clock.finish(out);
    }
}

/// Whether a kernel's log begins with this line.
pub(crate) fn is_first_line(body: &[u8]) -> bool {
    matches!(body.first(), Some(b'L' | b'B'))
        && (body.starts_with(b"Linux version ") || body.starts_with(b"Booting Linux on physical"))
}

/// `sched_clock: 56 bits at 19MHz, …`: what the log's clock counts.
fn is_sched_clock(body: &[u8]) -> bool {
    body.starts_with(b"sched_clock: ") && memmem::find(body, b" bits at ").is_some()
}
