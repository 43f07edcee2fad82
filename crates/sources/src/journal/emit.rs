//! Messages of one boot onto the timeline.

use std::collections::{HashMap, HashSet};

use bootlap_model::{
    Anchor, ClockId, ClockKind, Evidence, Milestone, Severity, Span, SpanEnd, Stamp, TrackKind,
};

use super::clocks::{self, Offset};
use super::date;
use super::messages::{What, said};
use super::row::Row;
use crate::cleaner::Cleaner;
use crate::console::{KernelLog, shown};
use crate::systemd::startup::{self, Startup};
use crate::systemd::units::UNITS;
use crate::text::{Import, valid};

/// More kernel lines do not help to join files.
const MAX_ANCHORS: usize = 16_384;

/// No system starts more units at a time.
const MAX_STARTING: usize = 16_384;

/// A kernel whose first message is shown with a later time shows when journald
/// had it.
const FIRST_NS: i64 = 500_000_000;

/// The boot that is put onto the timeline.
pub(crate) struct Emitter {
    /// The clock that messages were received by.
    base: Option<ClockId>,
    kernel: Option<KernelLog>,
    printk: Option<ClockId>,
    /// From printk's clock to the base.
    offset: Option<Offset>,
    starting: HashMap<Box<str>, Starting>,
    /// Units of which only is known that they began before journald did.
    begun_unseen: HashSet<Box<str>>,
    anchors: usize,
    /// The splits that the manager told, and on what clock from where.
    startup: Option<(Startup, ClockId, Stamp, Evidence)>,
}

struct Starting {
    at: Stamp,
    evidence: Evidence,
    description: Box<str>,
    number: usize,
}

/// Puts all rows of a boot onto the timeline.
pub(crate) fn emit(mut rows: Vec<Row>, import: &mut Import<'_>) {
    from_the_first_day(&mut rows);
    let late = sort_out(&mut rows, import);
    let mut emitter = Emitter::new(&rows, import);
    for (i, row) in rows.iter().enumerate() {
        emitter.row(row, i < late, i, import);
    }
    emitter.finish(import);
}

/// Times without a year count from the first day that is told.
fn from_the_first_day(rows: &mut [Row]) {
    let Some(first) = rows.iter().find(|r| r.yearless).and_then(|r| r.real_ns) else {
        return;
    };
    let midnight = date::midnight_ns(first);
    for row in rows.iter_mut().filter(|r| r.yearless) {
        row.real_ns = row.real_ns.map(|ns| ns.saturating_sub(midnight));
    }
}

/// Finds out what the shown times of kernel messages are. Says how many of
/// the first messages are shown when journald had them, long after they were
/// sent.
fn sort_out(rows: &mut [Row], import: &mut Import<'_>) -> usize {
    let first = rows.iter().position(Row::is_kernels);
    let Some(first) = first.filter(|_| rows.iter().all(|r| r.logged_ns.is_none())) else {
        return 0;
    };
    let begins = [
        "Linux version ",
        "Booting Linux on physical ",
        "Command line: ",
    ];
    let from_the_start = rows[first..]
        .iter()
        .take(3)
        .any(|r| begins.iter().any(|b| r.message.starts_with(b.as_bytes())));
    if !from_the_start {
        return 0;
    }
    // journald starts with what the kernel's log has, and says then that it
    // began; some of its own messages went through the kernel's log before.
    let journald = |r: &Row| &*r.ident == "systemd-journald";
    let daemon = rows
        .iter()
        .position(|r| journald(r) && r.message.starts_with(b"Journal started"));
    if rows[first].mono_ns.is_some_and(|ns| ns < FIRST_NS) {
        // `short-monotonic` of systemd up to 253 shows the kernel's own stamps,
        // also those of what the manager wrote into the kernel's log.
        let early = daemon.unwrap_or(0);
        for (i, row) in rows.iter_mut().enumerate() {
            if row.is_kernels() || i < early {
                row.logged_ns = row.mono_ns.take();
                row.kernel = true;
            }
        }
        return 0;
    }
    let other = rows
        .iter()
        .position(|r| !r.is_kernels() && !r.is_managers() && !journald(r));
    let late = daemon.or(other).unwrap_or(rows.len());
    if let Some(at) = rows[first].at {
        import.notice(
            "kernel-messages-late",
            Severity::DataLoss,
            at,
            "this output shows when the journal received the messages of the kernel and of early user space, which is when journald started, not when they were sent: use `journalctl -b -o json`, which has both times, or `dmesg`",
        );
    }
    late
}

impl Emitter {
    fn new(rows: &[Row], import: &mut Import<'_>) -> Self {
        let mono = rows.iter().any(|r| r.mono_ns.is_some());
        let real = rows.iter().any(|r| r.real_ns.is_some());
        let logged = rows.iter().any(|r| r.logged_ns.is_some());
        let (timeline, file) = (&mut *import.timeline, import.file);
        let mut kernel = logged.then(|| KernelLog::new(timeline, file));
        let printk = kernel.as_mut().map(|k| k.clock(timeline));
        let mut clock = |kind| timeline.add_clock(kind, file);
        let mono = mono.then(|| clock(ClockKind::Monotonic));
        let real = real.then(|| clock(ClockKind::Realtime));
        let base = mono.or(real);
        let offset = match (logged, mono) {
            (false, _) => None,
            (true, Some(_)) => Some(clocks::printk_to_monotonic(rows)),
            (true, None) => clocks::printk_to_wall(rows),
        };
        if let (Some(offset), Some(from), Some(to)) = (offset, printk, base) {
            offset.join(from, to, import);
        }
        if let (Some(mono), Some(real)) = (mono, real) {
            clocks::join_wall(rows, mono, real, import);
        }
        Self {
            base,
            kernel,
            printk,
            offset: offset.filter(|_| base.is_some()),
            starting: HashMap::new(),
            begun_unseen: HashSet::new(),
            anchors: 0,
            startup: None,
        }
    }

    /// When a message was sent, on its own clock.
    fn stamp(&self, row: &Row) -> Option<(ClockId, Stamp)> {
        if let (Some(ns), Some(clock)) = (row.logged_ns, self.printk) {
            return Some((clock, Stamp::new(ns, row.err_ns)));
        }
        // journald has a message a little after it was sent.
        let delay = row
            .real_ns
            .zip(row.sent_ns)
            .map(|(had, sent)| had.saturating_sub(sent));
        let delay = delay
            .filter(|d| (0..1_000_000_000).contains(d))
            .unwrap_or(0);
        let ns = match row.mono_ns {
            Some(ns) => ns.saturating_sub(delay),
            None => row.real_ns?,
        };
        Some((self.base?, Stamp::new(ns, row.err_ns)))
    }

    /// The same on the clock that all of user space is put on.
    fn common(&self, row: &Row) -> Option<(ClockId, Stamp)> {
        let (clock, at) = self.stamp(row)?;
        let (Some(base), Some(offset)) = (self.base, self.offset) else {
            return Some((clock, at));
        };
        if clock == base {
            return Some((clock, at));
        }
        let err_ns = at.err_ns.saturating_add(offset.err_ns);
        Some((base, Stamp::new(at.ns.saturating_add(offset.ns), err_ns)))
    }

    fn row(&mut self, row: &Row, late: bool, number: usize, import: &mut Import<'_>) {
        let (Some((clock, mut stamp)), Some(at)) = (self.stamp(row), row.at) else {
            return;
        };
        if late {
            stamp.err_ns = u32::try_from(stamp.ns).unwrap_or(u32::MAX);
        }
        console(row, clock, stamp, at, import);
        if late {
            if let Some(begun) = said(row).filter(|s| row.is_managers() && s.what == What::Begins)
                && self.begun_unseen.len() < MAX_STARTING
            {
                self.begun_unseen.insert(begun.name().into());
            }
            return;
        }
        if let (Some(ns), Some(kernel)) = (row.logged_ns, &mut self.kernel) {
            let body = row.body();
            kernel.line(ns, &body, at, import.timeline);
            self.anchors += 1;
            if self.anchors <= MAX_ANCHORS {
                import.anchor(clock, stamp, Anchor::kernel_line(&body), at);
            }
        }
        if row.is_managers() {
            self.manager(row, (clock, stamp), number, import);
        }
    }

    /// What the service manager says.
    fn manager(
        &mut self,
        row: &Row,
        (clock, stamp): (ClockId, Stamp),
        number: usize,
        import: &mut Import<'_>,
    ) {
        let (Some(at), Some((base, moment))) = (row.at, self.common(row)) else {
            return;
        };
        let text = valid(&row.message).trim();
        if text.starts_with("systemd ") && text.contains(" running in system mode") {
            import.anchor(clock, stamp, Anchor::key("systemd", b"running"), at);
        } else if text.starts_with("Switching root") && row.logged_ns.is_none() {
            import.milestone(base, moment, Milestone::SwitchRoot, at);
        } else if let Some(startup) = Startup::parse(text) {
            self.finished(startup, (base, moment), at, import);
        } else if let Some(said) = said(row) {
            let name = said.name();
            match said.what {
                What::Begins => {
                    if self.starting.len() < MAX_STARTING {
                        let starting = Starting {
                            at: moment,
                            evidence: at,
                            description: said.description.into(),
                            number,
                        };
                        self.starting.insert(name.into(), starting);
                    }
                }
                What::Active | What::Failed(_) => {
                    let began = self.starting.remove(name);
                    let began = began.or_else(|| self.starting.remove(said.description));
                    let mut args = Vec::new();
                    if began.is_none() && self.begun_unseen.contains(name) {
                        args.push(("start", "unknown"));
                    }
                    if said.description != name {
                        args.push(("description", said.description));
                    }
                    if let What::Failed(how) = said.what {
                        args.push(("result", how));
                    } else {
                        import.anchor(base, moment, startup::unit_key(name), at);
                    }
                    let mut place = began.as_ref().map_or(at, |b| b.evidence);
                    place.end = place.end.max(at.end);
                    let start = began.map_or(moment, |b| b.at);
                    let times = (start, SpanEnd::At(moment));
                    import.span(base, UNITS, name, times, &args, place);
                }
            }
        }
    }

    /// `Startup finished in …`.
    fn finished(
        &mut self,
        mut startup: Startup,
        (base, moment): (ClockId, Stamp),
        at: Evidence,
        import: &mut Import<'_>,
    ) {
        let told = startup.finish_ns();
        // A wall clock of seconds knows less than the message itself, which counts from
        // the kernel's zero.
        let printk = self
            .printk
            .filter(|_| moment.err_ns >= COARSE_NS && startup.kernel.is_some());
        let (base, end) = match (printk, told) {
            (Some(printk), Some((ns, err_ns))) => (printk, Stamp::new(ns, err_ns.max(1_000_000))),
            _ => (base, Stamp::new(moment.ns, moment.err_ns.max(1_000_000))),
        };
        startup::finished(base, end, at, import);
        let Some((finish_ns, err_ns)) = told else {
            return;
        };
        let zero = match import.timeline.clock(base).kind {
            ClockKind::Monotonic | ClockKind::KernelPrintk if startup.kernel.is_some() => {
                Stamp::new(0, 0)
            }
            _ => Stamp::new(
                end.ns.saturating_sub(finish_ns),
                end.err_ns.saturating_add(err_ns),
            ),
        };
        // The end was told by the message itself.
        (startup.total, startup.userspace) = (None, None);
        self.startup.get_or_insert((startup, base, zero, at));
    }

    fn finish(mut self, import: &mut Import<'_>) {
        if let Some(kernel) = &mut self.kernel {
            kernel.finish(import.timeline);
        }
        // What the kernel said of its own is better, so it comes first.
        if let Some((startup, clock, zero, at)) = self.startup.take() {
            startup.place(clock, zero, at, import);
        }
        let Some(clock) = self.base.or(self.printk) else {
            return;
        };
        let mut open: Vec<(Box<str>, Starting)> = self.starting.into_iter().collect();
        open.sort_by_key(|(_, s)| s.number);
        for (name, starting) in open {
            let times = (starting.at, SpanEnd::OpenAtCut);
            let mut args = Vec::new();
            if starting.description != name {
                args.push(("description", &*starting.description));
            }
            import.span(clock, UNITS, &name, times, &args, starting.evidence);
            import.notice(
                "unit-still-starting",
                Severity::Info,
                starting.evidence,
                "these units were still being started when the journal ends, or what became of them is not in it: take the journal later",
            );
        }
    }
}

/// Times that are known no better are of a clock that shows seconds.
const COARSE_NS: u32 = 100_000_000;

/// One line of console text, the kernel's as it logged it. Lines are many and differ, so
/// their text is not looked up.
fn console(row: &Row, clock: ClockId, start: Stamp, evidence: Evidence, import: &mut Import<'_>) {
    let name = import.timeline.symbols.add(&one_line(&row.body()));
    let track = import.timeline.track(TrackKind::Console, "journal");
    import.timeline.add_span(Span {
        track,
        clock,
        start,
        end: SpanEnd::Unknown,
        name,
        args: Vec::new(),
        evidence,
    });
}

/// A message as one line of clean text.
fn one_line(message: &[u8]) -> String {
    let mut cleaner = Cleaner::new();
    let mut text = Vec::with_capacity(message.len());
    for &byte in message.trim_ascii_end() {
        match byte {
            b'\n' | b'\r' | b'\t' => text.push(b' '),
            _ if cleaner.is_text(byte) => text.push(byte),
            _ => {}
        }
    }
    shown(&text).into_owned()
}
