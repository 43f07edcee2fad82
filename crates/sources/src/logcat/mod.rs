//! Android's log, as logcat prints it.
//!
//! ```text
//! --------- beginning of events
//! 01-01 03:00:31.590  1520  1520 I boot_progress_start: 8846
//! 01-01 03:00:37.394  1520  1520 I boot_progress_preload_end: 14650
//! 01-01 03:00:49.393  1964  2003 I boot_progress_enable_screen: 26650
//! --------- beginning of main
//! 01-01 03:00:34.982  1520  1520 I Zygote  : ...preloaded 4162 classes in 2113ms.
//! ```
//!
//! Read in every format (`-v brief`, `process`, `tag`, `thread`, `time`,
//! `threadtime`, `long`, with `year`, `zone`, `UTC`, `epoch`, `monotonic`,
//! `usec`, `uid`, `descriptive`), of any buffers.
//!
//! Clocks: the date (`Realtime`; without `-v year` counted as 1970) or
//! `-v monotonic`; and the time since the kernel's start (`Boottime`) that
//! `boot_progress_*` events carry in ms, which ties the date to it. The value
//! is read first and written to the log a little later, so of several events
//! the nearest tells the offset, and their spread is its error. Where the date
//! is set during the boot, what is before and after are clocks of their own:
//! see [`eras`].
//!
//! Each line is on the track `logcat`. The boot's events become marks and the
//! stages between them; messages that say how long something took become
//! spans that end with their line; `am_proc_start` begins a process.

mod date;
mod eras;
mod event;
mod line;
mod message;

use std::collections::HashMap;

use bootlap_model::{
    Anchor, ClockId, Evidence, Milestone, Severity, Span, SpanEnd, Stamp, Sym, Timeline, TrackId,
    TrackKind,
};
use foldhash::fast::FixedState;

use self::date::{Scale, When};
use self::eras::Eras;
use self::line::{Entry, buffer, entry, long_head};
use crate::console::daemons::lifetime;
use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Input, Sniff, Source, SourceError};

/// Lines are shown up to here; a boot has some ten thousand.
const MAX_LINES: usize = 500_000;

/// As all sources of kernel lines.
const MAX_KERNEL_LINES: usize = 16_384;

/// Processes and services are followed up to here.
const MAX_OPEN: usize = 65_536;

const BOOT: (TrackKind, &str) = (TrackKind::Userspace, "android boot");

const UNKNOWN: Skip = Skip::unknown(
    "expected lines of logcat: `01-01 03:00:31.590  1520  1520 I Zygote  : text`; run logcat with -b all -v threadtime",
);

const NO_TIMES: Skip = Skip::lost(
    "no-times",
    "these lines have no times; run logcat with -v threadtime, or better -v monotonic",
);

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "logcat",
    title: "Android's log (logcat)",
    looks_like: "lines of `01-01 03:00:31.590  1520  1520 I Zygote  : text`",
    sniff,
    read,
    together: None,
};

fn sniff(head: &[u8]) -> Sniff {
    let (timed, all) = text::count_lines(head, 200, |l| {
        let line = text::valid(l);
        long_head(line).is_some() || entry(line).is_some_and(|e| e.when.is_some())
    });
    let (buffers, _) = text::count_lines(head, 200, |l| buffer(text::valid(l)).is_some());
    let (short, _) = text::count_lines(head, 200, |l| entry(text::valid(l)).is_some());
    if buffers > 0 && short + buffers > 0 || timed > 0 && timed * 5 >= all * 4 {
        return Sniff::SURE;
    }
    let (long, _) = text::count_lines(head, 200, |l| long_head(text::valid(l)).is_some());
    match short {
        _ if long > 0 && long * 4 >= all => Sniff::SURE,
        3.. if short * 5 >= all * 4 => Sniff::percent(75),
        1.. if timed * 2 >= all => Sniff::percent(70),
        1.. => Sniff::MAYBE,
        0 => Sniff::NO,
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    text::read(input, &SOURCE, out, &mut LogcatReader::new())
}

type ByPid<T> = HashMap<u32, T, FixedState>;

pub(crate) struct LogcatReader {
    eras: Eras,
    /// The last event of the boot: its name and time.
    stage: Option<(String, Stamp)>,
    /// Events that were seen in this boot.
    anchored: Vec<String>,
    /// Which spans are open: of processes by pid, of services by name.
    processes: ByPid<usize>,
    services: HashMap<String, usize, FixedState>,
    /// The last line of the format `long`, whose text is on lines of its own.
    long: Option<LongHead>,
    track: Option<TrackId>,
    lines: usize,
    kernel_lines: usize,
}

/// A line of the format `long` without its text.
struct LongHead {
    line: String,
    at: Evidence,
}

impl Reader for LogcatReader {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        // Binary bytes in messages are common; only they are lost.
        let text = &*String::from_utf8_lossy(line.text);
        if buffer(text).is_some() {
            return Ok(());
        }
        if long_head(text).is_some() {
            self.long = Some(LongHead {
                line: text.to_owned(),
                at: line.at,
            });
            return Ok(());
        }
        if let Some(head) = self.long.take()
            && let Some(entry) = long_head(&head.line)
        {
            let end = line.at.end;
            let at = Evidence { end, ..head.at };
            let done = self.entry(&Entry { text, ..entry }, at, import);
            self.long = Some(head);
            return done;
        }
        let entry = entry(text).ok_or(UNKNOWN)?;
        self.entry(&entry, line.at, import)
    }

    /// Ends a message of the format `long`.
    fn blank(&mut self, _line: &Line<'_>, _sheet: &mut Import<'_>) {
        self.long = None;
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        self.eras.finish(import);
    }
}

/// What goes on before the runtime's first event: the kernel first, so no phase of user
/// space may have all of it.
const BEFORE: (TrackKind, &str) = (TrackKind::Kernel, "before Android");
const BEFORE_ANDROID: &str = "kernel, init and what starts before the Android runtime";

impl LogcatReader {
    pub(crate) fn new() -> Self {
        let hasher = || FixedState::with_seed(0);
        Self {
            eras: Eras::default(),
            stage: None,
            anchored: Vec::new(),
            processes: HashMap::with_hasher(hasher()),
            services: HashMap::with_hasher(hasher()),
            long: None,
            track: None,
            lines: 0,
            kernel_lines: 0,
        }
    }

    /// For entries that a trace has, on the clock of its events.
    pub(crate) fn on(boottime: ClockId) -> Self {
        Self {
            eras: Eras::of_boot(boottime),
            ..Self::new()
        }
    }

    /// Takes an entry that was logged at `ns` of that clock.
    pub(crate) fn logged(
        &mut self,
        ns: i64,
        [pid, tid]: [Option<u32>; 2],
        (tag, text): (&str, &str),
        at: Evidence,
        import: &mut Import<'_>,
    ) -> Result<(), Skip> {
        let when = When {
            scale: Scale::Boottime,
            ns,
            err_ns: 0,
        };
        let entry = Entry {
            when: Some(when),
            pid,
            tid,
            tag,
            text,
        };
        self.entry(&entry, at, import)
    }

    fn entry(
        &mut self,
        entry: &Entry<'_>,
        at: Evidence,
        import: &mut Import<'_>,
    ) -> Result<(), Skip> {
        let boot_ms = event::boot_ms(entry.tag, entry.text);
        if boot_ms.is_some_and(|ms| self.is_another_boot(entry.tag, ms)) {
            self.reboot(entry, at, import);
        }
        let now = entry.when.map(|when| self.eras.now(when, at, import));
        if let Some(ms) = boot_ms {
            // Before the line itself, which may be the first of a new era.
            if let Some(when) = entry.when {
                self.eras.tie(ms * 1_000_000, when, at, import);
            }
            self.boot_event(entry.tag, ms, at, import);
        }
        let now = match (entry.when, boot_ms, now) {
            (Some(when), Some(_), _) => self.eras.now(when, at, import),
            (_, _, Some(now)) => now,
            (_, Some(_), None) => return Ok(()),
            (_, None, None) => return Err(NO_TIMES),
        };
        self.message(entry, now, at, import);
        self.console(entry, now, at, import);
        Ok(())
    }

    /// The first event comes again, and earlier than the last: the device was
    /// started anew. A restart of the runtime alone keeps counting.
    fn is_another_boot(&self, tag: &str, ms: i64) -> bool {
        let last = self.stage.as_ref().map(|(_, at)| at.ns / 1_000_000);
        tag == "boot_progress_start" && last.is_some_and(|last| ms < last)
    }

    fn reboot(&mut self, entry: &Entry<'_>, at: Evidence, import: &mut Import<'_>) {
        self.stage = None;
        self.anchored.clear();
        self.processes.clear();
        self.services.clear();
        self.eras.reboot(entry.when, at, import);
        import.notice(
            "another-boot",
            Severity::Notice,
            at,
            "the log goes on into another boot, which is on clocks of its own; clear the log before a boot (logcat -c)",
        );
    }

    fn boot_event(&mut self, tag: &str, ms: i64, evidence: Evidence, import: &mut Import<'_>) {
        let clock = self.eras.boot(import);
        let at = Stamp::new(ms * 1_000_000, 1_000_000);
        if self.anchored.iter().any(|known| known == tag) {
            // Once from each buffer, or the runtime restarted.
            let repeated = self
                .stage
                .as_ref()
                .is_some_and(|(_, last)| last.ns >= at.ns);
            if repeated {
                return;
            }
        } else if self.anchored.len() < 64 {
            self.anchored.push(tag.to_owned());
            let key = Anchor::key("android", tag.as_bytes());
            import.anchor(clock, at, key, evidence);
        }
        import.mark(clock, at, tag, evidence);
        let shown = matches!(tag, "boot_progress_enable_screen" | "sf_stop_bootanim");
        if shown
            && import
                .timeline
                .milestone(Milestone::StartupFinished)
                .is_none()
        {
            import.milestone(clock, at, Milestone::StartupFinished, evidence);
        }
        let before = self.stage.take();
        if before.is_none() && tag == "boot_progress_start" {
            // The events count from the kernel's start.
            let times = (Stamp::new(0, 1_000_000), SpanEnd::At(at));
            import.span(
                clock,
                BEFORE,
                BEFORE_ANDROID,
                times,
                &[("to", tag)],
                evidence,
            );
        }
        if let Some((from, start)) = before
            && start.ns <= at.ns
            // It begins anew: the runtime was restarted.
            && tag != "boot_progress_start"
        {
            let name = event::stage(&from, tag);
            let args = [("from", &from[..]), ("to", tag)];
            import.span(
                clock,
                BOOT,
                &name,
                (start, SpanEnd::At(at)),
                &args,
                evidence,
            );
        }
        self.stage = Some((tag.to_owned(), at));
    }

    /// What a line says besides its text.
    fn message(
        &mut self,
        entry: &Entry<'_>,
        (clock, now): (ClockId, Stamp),
        at: Evidence,
        import: &mut Import<'_>,
    ) {
        match entry.tag {
            "am_activity_launch_time" | "wm_activity_launch_time" => {
                if let Some((name, ns)) = event::launch(entry.text) {
                    let track = (TrackKind::Userspace, "activities");
                    let start = Stamp::new(now.ns.saturating_sub(ns), now.err_ns);
                    let name = format!("launch {name}");
                    import.span(clock, track, &name, (start, SpanEnd::At(now)), &[], at);
                }
            }
            "am_proc_start" => self.process_starts(entry.text, (clock, now), at, import),
            "am_proc_bound" => {
                if let Some(pid) = event::of_process(entry.text)
                    && let Some(index) = self.processes.get(&pid)
                {
                    bound(*index, clock, now, import);
                }
            }
            "am_proc_died" | "am_kill" => {
                if let Some(pid) = event::of_process(entry.text)
                    && let Some(index) = self.processes.remove(&pid)
                {
                    end(index, clock, now, import.timeline);
                }
            }
            "init" => self.service(entry.text, (clock, now), at, import),
            _ => {}
        }
        if let Some(took) = message::took(entry.tag, entry.text) {
            let err_ns = now.err_ns.saturating_add(took.err_ns);
            let start = Stamp::new(now.ns.saturating_sub(took.ns), err_ns);
            let pid = entry.pid.map(|pid| pid.to_string());
            let pid = pid.as_deref().map(|pid| ("pid", pid));
            let count = took.count.map(|count| ("count", count));
            let args: Vec<_> = pid.into_iter().chain(count).collect();
            let track = (TrackKind::Userspace, took.track);
            let times = (start, SpanEnd::At(now));
            import.span(clock, track, &took.name, times, &args, at);
        }
        // From the kernel's buffer: logcat takes a tag off its lines.
        if (entry.pid, entry.tid) == (Some(0), Some(0)) && self.kernel_lines < MAX_KERNEL_LINES {
            self.kernel_lines += 1;
            let body = if entry.tag.is_empty() {
                entry.text.to_owned()
            } else {
                format!("{}: {}", entry.tag, entry.text)
            };
            import.anchor(clock, now, Anchor::kernel_line(body.as_bytes()), at);
        }
    }

    fn process_starts(
        &mut self,
        text: &str,
        (clock, now): (ClockId, Stamp),
        at: Evidence,
        import: &mut Import<'_>,
    ) {
        let Some(p) = event::started(text).filter(|_| self.processes.len() < MAX_OPEN) else {
            return;
        };
        let pid = p.pid.to_string();
        let args = [
            ("pid", &pid[..]),
            ("uid", p.uid),
            ("why", p.why),
            ("component", p.component),
            (Span::LIFETIME, "yes"),
        ];
        let args: Vec<_> = args.into_iter().filter(|(_, v)| !v.is_empty()).collect();
        let track = (TrackKind::Process, "processes");
        let times = (now, SpanEnd::OpenAtCut);
        self.processes.insert(p.pid, import.timeline.spans.len());
        import.span(clock, track, p.name, times, &args, at);
    }

    /// `Starting service 'x'...`, `starting service 'x'...`, `Service 'x' (pid
    /// 123) exited with status 0`, `… killed by signal 9`: lines of init.
    fn service(
        &mut self,
        text: &str,
        (clock, now): (ClockId, Stamp),
        at: Evidence,
        import: &mut Import<'_>,
    ) {
        let quoted = |text: &str| Some(text.split('\'').nth(1)?.to_owned());
        let Some(name) = quoted(text) else {
            return;
        };
        if text
            .get(1..)
            .is_some_and(|t| t.starts_with("tarting service '"))
        {
            if self.services.len() < MAX_OPEN {
                let track = (TrackKind::Userspace, "android services");
                let times = (now, SpanEnd::OpenAtCut);
                let index = import.timeline.spans.len();
                import.span(clock, track, &name, times, lifetime(&name), at);
                self.services.insert(name, index);
            }
        } else if text.starts_with("Service '")
            && (text.contains(" exited with ") || text.contains("killed by signal"))
            && let Some(index) = self.services.remove(&name)
        {
            end(index, clock, now, import.timeline);
        }
    }

    fn console(
        &mut self,
        entry: &Entry<'_>,
        (clock, now): (ClockId, Stamp),
        evidence: Evidence,
        import: &mut Import<'_>,
    ) {
        self.lines += 1;
        if self.lines > MAX_LINES {
            import.notice(
                "many-lines",
                Severity::Info,
                evidence,
                "only the first 500000 lines are shown one by one; boot events and durations are read from all",
            );
            return;
        }
        let track = *self
            .track
            .get_or_insert_with(|| import.timeline.track(TrackKind::Console, "logcat"));
        let name = match (entry.tag, entry.text) {
            ("", text) => import.timeline.symbols.add(text),
            (tag, text) => import.timeline.symbols.add(&format!("{tag}: {text}")),
        };
        import.timeline.add_span(Span {
            track,
            clock,
            start: now,
            end: SpanEnd::At(now),
            name,
            args: Vec::new(),
            evidence,
        });
    }
}

/// A process is ready to be used: how long that took.
fn bound(index: usize, clock: ClockId, now: Stamp, import: &mut Import<'_>) {
    let span = &import.timeline.spans[index];
    if span.clock != clock || now.ns < span.start.ns {
        return;
    }
    let us = (now.ns.saturating_sub(span.start.ns) / 1_000).to_string();
    let arg: (Sym, Sym) = (import.sym("bound_us"), import.sym(&us));
    let args = &mut import.timeline.spans[index].args;
    if args.iter().all(|(key, _)| *key != arg.0) {
        args.push(arg);
    }
}

/// Something is over, unless the clock was set meanwhile.
fn end(index: usize, clock: ClockId, now: Stamp, timeline: &mut Timeline) {
    let span = &mut timeline.spans[index];
    span.end = if span.clock == clock && span.start.ns <= now.ns {
        SpanEnd::At(now)
    } else {
        SpanEnd::Unknown
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::tried::survives;

    /// Pieces that make sense together now and then.
    const PIECES: &[&str] = &[
        "\n",
        "\n",
        "\r\n",
        "01-01 00:00:05.000 ",
        "11-21 13:40:00.000001 ",
        "2026-11-21 13:40:00.000 +0100 ",
        "9223372036.8 ",
        "   5.100 ",
        " 1520  1521 I ",
        "I/",
        "I( 15) ",
        "[ 01-01 00:00:05.000  1: 2 I/boot_progress_start ]",
        "boot_progress_start: ",
        "boot_progress_ams_ready: ",
        "boot_progress_enable_screen: ",
        "8846",
        "9223372036854",
        "[5]",
        "Zygote  : ...preloaded 1 classes in ",
        "99999999999ms.",
        "5ms.",
        "am_proc_start: [0,5,1,a]",
        "am_proc_died: [0,5,a]",
        "am_proc_bound: [0,5,a]",
        "init    : starting service 'x'...",
        "init    : Service 'x' (pid 1) exited with status 0",
        "--------- beginning of main",
        "\u{fffd}",
        "ActivityManager: Displayed a/.B: +",
        "1s5ms",
    ];

    proptest! {
        #[test]
        fn whatever_the_lines(picks in prop::collection::vec(0..PIECES.len(), 0..120)) {
            let text: String = picks.iter().map(|i| PIECES[*i]).collect();
            survives(&SOURCE, text.as_bytes());
        }
    }
}
