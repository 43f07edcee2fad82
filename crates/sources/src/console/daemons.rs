//! What user space, and the boot stages before it, write into the kernel's log.
//!
//! ```text
//! [    5.632951] init: Starting service 'zygote'...
//! [    9.012345] init: Service 'bootanim' (pid 412) exited with status 0
//! [    3.400000] init: Command 'mount_all /fstab' action=fs (/init.rc:10) took 412ms and succeeded
//! [    1.312345] init: Loaded 312 kernel modules took 840 ms
//! [    2.012345] init: wait for '/dev/block/by-name/misc' took 258ms
//! [    2.412345] init: Wait for property 'ro.cold_boot_done=true' took 958ms
//! [    2.412300] ueventd: Coldboot took 0.95 seconds
//! [    4.012345] systemd[1]: systemd 257.13-1 running in system mode (+PAM …)
//! [    4.212345] systemd[1]: Starting systemd-udevd.service - Rule-based Manager...
//! [    4.000345] systemd-journald[107]: Received SIGTERM from PID 1 (systemd).
//! [    9.512345] systemd[1]: Startup finished in 2.1s (kernel) + 7.2s (userspace) = 9.4s.
//! [    0.000000] [BOOT TRACKER] - ID:300, start_kernel = 1234567
//! [    2.000000] BOOT_METRIC: CLOCK_BRIDGE_GTC_US=3456789
//! [    2.000010] BOOT_METRIC: CLOCK_BRIDGE_MONOTONIC_US=1999980
//! [    1.912345] bootlap: rc S20network start
//! [    2.112345] bootlap: rc S20network end 0
//! ```
//!
//! Android's init writes there always (`init:` in lower or upper case, by
//! version), systemd until the journal runs, and always with
//! `systemd.log_target=kmsg`. The two next are of Texas Instruments' kernels:
//! counts of the SoC's timer, which runs since power-on, in µs; the last are
//! `bootlap-agent rc`'s, of the init scripts that it starts: each ends with its exit
//! code, 128 and a signal, or a word such as `timeout`.

use std::collections::BTreeMap;

use bootlap_model::{
    Anchor, ClockEdge, ClockId, ClockKind, Evidence, How, MarkKind, Milestone, Span, SpanEnd,
    Stamp, TrackKind,
};

use super::out::{Moment, Out, shown};

const SERVICES: (TrackKind, &str) = (TrackKind::Userspace, "init services");
const COMMANDS: (TrackKind, &str) = (TrackKind::Userspace, "init commands");
const WAITS: (TrackKind, &str) = (TrackKind::Userspace, "init waits");
const UEVENTD: (TrackKind, &str) = (TrackKind::Userspace, "ueventd");
const SYSTEMD: (TrackKind, &str) = (TrackKind::Userspace, "systemd");
const RC: (TrackKind, &str) = (TrackKind::Userspace, RC_TRACK);

/// Where init scripts are, whoever tells of them.
pub(crate) const RC_TRACK: &str = "init scripts";

/// No system has more services.
const MAX_RUNNING: usize = 4096;

/// The kernel's clock starts some time after `start_kernel`, when the
/// architecture has found its timer.
const BEFORE_CLOCK_NS: u32 = 100_000_000;

/// How long it takes to print what was measured.
const PRINT_NS: i64 = 1_000_000;

/// How systemd says that a unit is up.
const STARTED: [&[u8]; 6] = [
    b"Started ",
    b"Finished ",
    b"Mounted ",
    b"Activated swap ",
    b"Listening on ",
    b"Reached target ",
];

/// A track, and the name of what runs on it.
type Service = (&'static str, Box<[u8]>);

/// Where its span is, and when it began.
type Running = (usize, i64);

/// What is to be said of a service of Android's init: that its length is how long it lived.
/// init waits for what it calls `exec`, and for nothing else.
pub(crate) fn lifetime(name: &str) -> &'static [(&'static str, &'static str)] {
    match name.starts_with("exec ") {
        true => &[],
        false => &[(Span::LIFETIME, "yes")],
    }
}

/// What was understood so far.
#[derive(Default)]
pub(crate) struct Daemons {
    running: BTreeMap<Service, Running>,
    firmware: Option<ClockId>,
    monotonic: Option<ClockId>,
    /// systemd's first line, unless it says next that it runs in an initramfs.
    manager: Option<(Moment, Evidence)>,
    /// systemd said that it runs in an initramfs, and nothing yet of leaving it.
    in_initramfs: bool,
    /// The SoC's timer, read for a bridge to another clock.
    bridge_us: Option<i64>,
}

impl Daemons {
    /// Looks at one kernel line.
    pub(crate) fn line(&mut self, body: &[u8], moment: &Moment, at: Evidence, out: &mut Out<'_>) {
        if body == b"procd: - init complete -" {
            // OpenWrt's.
            out.kernel_milestone(Milestone::StartupFinished, moment, at);
        } else if let Some(rest) = body.strip_prefix(b"init: ") {
            self.init(rest, moment, at, out);
        } else if let Some(rest) = body.strip_prefix(b"ueventd: Coldboot took ") {
            took(UEVENTD, "coldboot", rest, moment, at, out);
        } else if let Some(rest) = body.strip_prefix(b"systemd[1]: ") {
            self.systemd(rest, moment, at, out);
        } else if is_end_of_initramfs(body) {
            self.leaves_initramfs(moment, at, out);
        } else if let Some(rest) = body.strip_prefix(b"[BOOT TRACKER]") {
            self.boot_tracker(rest, at, out);
        } else if let Some(rest) = body.strip_prefix(b"BOOT_METRIC: ") {
            self.bridge(rest, moment, at, out);
        } else if let Some(rest) = body.strip_prefix(b"bootlap: rc ") {
            self.rc(rest, moment, at, out);
        }
    }

    /// `NAME start` or `NAME end STATUS`.
    fn rc(&mut self, text: &[u8], moment: &Moment, at: Evidence, out: &mut Out<'_>) {
        let mut words = text.split(|b| *b == b' ');
        let (name, what) = (words.next().unwrap_or_default(), words.next());
        match (what, words.next(), words.next()) {
            (Some(b"start"), None, _) if !name.is_empty() => {
                self.starts(RC, name, moment, at, out);
            }
            (Some(b"end"), Some(status), None) => {
                let status = shown(status);
                self.ends(RC, name, ("status", &status), moment, at, out);
            }
            _ => {}
        }
    }

    fn init(&mut self, text: &[u8], moment: &Moment, at: Evidence, out: &mut Out<'_>) {
        if text.starts_with(b"processing action (sys.boot_completed=1") {
            out.kernel_milestone(Milestone::StartupFinished, moment, at);
            return;
        }
        let quoted = |text: &'_ [u8]| -> Option<(usize, usize)> {
            let from = memchr::memchr(b'\'', text)? + 1;
            let len = memchr::memchr(b'\'', &text[from..])?;
            Some((from, from + len))
        };
        let Some((from, to)) = quoted(text) else {
            let stage = text.starts_with(b"init ") && text.ends_with(b"started!");
            if stage {
                out.kernel_mark(text, moment, at);
            } else if text.starts_with(b"Loaded ")
                && let Some(rest) = after(text, b" kernel modules took ")
            {
                took(COMMANDS, "load kernel modules", rest, moment, at, out);
            }
            return;
        };
        let (name, rest) = (&text[from..to], &text[to..]);
        if matches!(&text[..from], b"Starting service '" | b"starting service '") {
            self.starts(SERVICES, name, moment, at, out);
        } else if matches!(&text[..from], b"Service '" | b"service '") {
            let ended = [
                &b" exited with status "[..],
                b" killed by signal ",
                b" received signal ",
            ];
            let status = ended.iter().find_map(|e| after(rest, e));
            if let Some(status) = status {
                let status = shown(number(status)).into_owned();
                self.ends(SERVICES, name, ("status", &status), moment, at, out);
            }
        } else if let Some(rest) = after(rest, b" took ") {
            let track = match &text[..from] {
                b"Command '" | b"command '" => COMMANDS,
                b"wait for '" | b"Wait for property '" => WAITS,
                _ => return,
            };
            took(track, &shown(name), rest, moment, at, out);
        }
    }

    fn systemd(&mut self, text: &[u8], moment: &Moment, at: Evidence, out: &mut Out<'_>) {
        if text.starts_with(b"systemd ") && after(text, b" running in ").is_some() {
            out.anchor(moment, Anchor::key("systemd", b"running"), at);
            let name = text.split(|b| *b == b'(').next().unwrap_or(text);
            out.kernel_mark(name, moment, at);
            self.leaves_initramfs(moment, at, out);
            // It says so again when it is updated.
            self.manager.get_or_insert((*moment, at));
        } else if Span::IN_INITRAMFS
            .iter()
            .any(|said| text.starts_with(said.as_bytes()))
        {
            self.manager = None;
            self.in_initramfs = true;
        } else if text.starts_with(b"Startup finished in ") {
            out.anchor(moment, Anchor::key("systemd", b"finished"), at);
            out.kernel_milestone(Milestone::StartupFinished, moment, at);
        } else if text.starts_with(b"Switching root") || text.starts_with(b"Switching to root") {
            self.in_initramfs = false;
            out.kernel_milestone(Milestone::SwitchRoot, moment, at);
        } else if let Some(unit) = text.strip_prefix(b"Starting ") {
            let unit = unit.strip_suffix(b"...").unwrap_or(unit);
            let unit = unit.strip_suffix("…".as_bytes()).unwrap_or(unit);
            self.starts(SYSTEMD, unit, moment, at, out);
        } else if let Some(unit) = STARTED.iter().find_map(|s| text.strip_prefix(*s)) {
            let unit = unit.strip_suffix(b".").unwrap_or(unit);
            let key = Anchor::key("unit-started", unit_name(unit));
            out.anchor(moment, key, at);
            self.ends(SYSTEMD, unit, ("result", "started"), moment, at, out);
        } else if let Some(unit) = text.strip_prefix(b"Failed to start ") {
            let unit = unit.strip_suffix(b".").unwrap_or(unit);
            self.ends(SYSTEMD, unit, ("result", "failed"), moment, at, out);
        }
    }

    /// systemd's `Switching root.` goes to the journal alone: most logs have only what happens
    /// because of it.
    fn leaves_initramfs(&mut self, moment: &Moment, at: Evidence, out: &mut Out<'_>) {
        if std::mem::take(&mut self.in_initramfs) {
            out.kernel_milestone(Milestone::SwitchRoot, moment, at);
        }
    }

    fn starts(
        &mut self,
        track: (TrackKind, &'static str),
        name: &[u8],
        moment: &Moment,
        at: Evidence,
        out: &mut Out<'_>,
    ) {
        if self.running.len() >= MAX_RUNNING {
            return;
        }
        let start = moment.stamp();
        let shown = shown(name);
        let args = match track == SERVICES {
            true => lifetime(&shown),
            false => &[],
        };
        let span = out.printk_span(track, &shown, start, SpanEnd::Unknown, args, at);
        // A service that starts again has ended, unseen.
        self.running
            .insert((track.1, name.into()), (span, moment.ns));
    }

    fn ends(
        &mut self,
        track: (TrackKind, &'static str),
        name: &[u8],
        (key, value): (&'static str, &str),
        moment: &Moment,
        at: Evidence,
        out: &mut Out<'_>,
    ) {
        let Some((span, began_ns)) = self.running.remove(&(track.1, name.into())) else {
            return;
        };
        let arg = out.arg(key, value);
        let span = &mut out.timeline.spans[span];
        span.args.push(arg);
        span.evidence.end = at.end.max(span.evidence.end);
        if moment.ns >= began_ns {
            span.end = SpanEnd::At(moment.stamp());
        }
    }

    /// ` - ID:300, start_kernel = 1234567`
    fn boot_tracker(&mut self, text: &[u8], at: Evidence, out: &mut Out<'_>) {
        let Some((what, us)) = after(text, b", ").and_then(|t| {
            let equals = memchr::memchr(b'=', t)?;
            Some((t[..equals].trim_ascii(), micros(&t[equals + 1..])?))
        }) else {
            return;
        };
        let firmware = self.firmware(out);
        let stamp = Stamp::new(us, 1_000);
        out.mark(firmware, stamp, MarkKind::Named, &shown(what), at);
        if what == b"start_kernel" {
            let printk = out.printk_clock();
            let edge = ClockEdge::offset(printk, firmware, us, BEFORE_CLOCK_NS, How::Measured);
            let why = "the boot tracker read its timer in start_kernel";
            out.edge(edge.because(why, Some(at)));
        }
    }

    /// `CLOCK_BRIDGE_GTC_US=… CLOCK_BRIDGE_MONOTONIC_US=…`, in one line or two.
    fn bridge(&mut self, text: &[u8], moment: &Moment, at: Evidence, out: &mut Out<'_>) {
        let value = |key: &[u8]| after(text, key).and_then(micros);
        self.bridge_us = value(b"CLOCK_BRIDGE_GTC_US=").or(self.bridge_us);
        let Some(monotonic_ns) = value(b"CLOCK_BRIDGE_MONOTONIC_US=") else {
            return;
        };
        let Some(firmware_ns) = self.bridge_us.take() else {
            return;
        };
        let file = out.file;
        let (firmware, printk) = (self.firmware(out), out.printk_clock());
        let monotonic = *self
            .monotonic
            .get_or_insert_with(|| out.timeline.add_clock(ClockKind::Monotonic, file));
        let offset_ns = firmware_ns.saturating_sub(monotonic_ns);
        let edge = ClockEdge::offset(monotonic, firmware, offset_ns, 1_000, How::Measured);
        out.edge(edge.because("the clock bridge read both clocks", Some(at)));
        // Printed when it was read, or later: the two start together, nearly.
        let late_ns = moment.ns.saturating_sub(monotonic_ns);
        let err_ns = late_ns.saturating_abs().saturating_add(PRINT_NS);
        let err_ns = u32::try_from(err_ns).unwrap_or(u32::MAX);
        let edge = ClockEdge::offset(monotonic, printk, late_ns, err_ns, How::SharedEvent);
        out.edge(edge.because("the clock bridge was printed then", Some(at)));
    }

    fn firmware(&mut self, out: &mut Out<'_>) -> ClockId {
        let file = out.file;
        *self
            .firmware
            .get_or_insert_with(|| out.timeline.add_clock(ClockKind::Firmware, file))
    }

    /// The log has ended: what runs has no end.
    pub(crate) fn finish(&mut self, out: &mut Out<'_>) {
        for (span, _) in std::mem::take(&mut self.running).into_values() {
            out.timeline.spans[span].end = SpanEnd::OpenAtCut;
        }
        if let Some((moment, at)) = self.manager.take() {
            out.kernel_milestone(Milestone::ManagerStart, &moment, at);
        }
    }
}

/// `systemd-journald[107]: Received SIGTERM from PID 1 (systemd).`: systemd ends what runs in
/// the initramfs right before it switches to the real root.
fn is_end_of_initramfs(body: &[u8]) -> bool {
    body.starts_with(b"systemd-journald[")
        && after(body, b"]: Received SIGTERM from PID 1 (").is_some()
}

/// `a.service` of `a.service - What it is`, else all of it.
fn unit_name(unit: &[u8]) -> &[u8] {
    match memchr::memmem::find(unit, b" - ") {
        Some(end) if unit[..end].contains(&b'.') && !unit[..end].contains(&b' ') => &unit[..end],
        _ => unit,
    }
}

/// Something that took so long until now.
fn took(
    track: (TrackKind, &'static str),
    name: &str,
    time: &[u8],
    moment: &Moment,
    at: Evidence,
    out: &mut Out<'_>,
) {
    if let Some((took_ns, err_ns)) = duration(time) {
        let start = Stamp::new(moment.ns.saturating_sub(took_ns), err_ns);
        let end = SpanEnd::At(moment.stamp());
        out.printk_span(track, name, start, end, &[], at);
    }
}

/// What comes after `what` in `text`.
fn after<'t>(text: &'t [u8], what: &[u8]) -> Option<&'t [u8]> {
    Some(&text[memchr::memmem::find(text, what)? + what.len()..])
}

/// The digits that `text` begins with.
fn number(text: &[u8]) -> &[u8] {
    let n = text.iter().take_while(|b| b.is_ascii_digit()).count();
    &text[..n]
}

/// A number of µs as ns.
fn micros(text: &[u8]) -> Option<i64> {
    crate::text::decimal(number(text.trim_ascii_start()), 3)
}

/// `412ms and …`, `0.05s` or `5.01 s`: ns, and how exact that is.
fn duration(text: &[u8]) -> Option<(i64, u32)> {
    let is_number = |b: &&u8| b.is_ascii_digit() || **b == b'.';
    let n = text.iter().take_while(is_number).count();
    let (value, unit) = (&text[..n], text[n..].trim_ascii_start());
    let places: u32 = match unit {
        [b'm', b's', ..] => 6,
        [b's', ..] => 9,
        _ => return None,
    };
    let ns = crate::text::decimal(value, places)?;
    Some((ns, crate::text::resolution_ns(value, 10u64.pow(places))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration(b"412ms and"), Some((412_000_000, 1_000_000)));
        assert_eq!(duration(b"0.05s"), Some((50_000_000, 10_000_000)));
        assert_eq!(duration(b"soon"), None);
    }

    #[test]
    fn units() {
        assert_eq!(unit_name(b"a.service - Some Thing"), b"a.service");
        assert_eq!(unit_name(b"Some - Thing"), b"Some - Thing");
    }
}
