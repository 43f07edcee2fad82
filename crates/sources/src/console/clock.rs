//! The kernel's log clock, and how it lies to the clock of the stamps.
//!
//! A line is sent after it was logged, never before. So for every line
//!
//! ```text
//! first byte sent − time logged = offset + delay,  delay ≥ 0
//! ```
//!
//! and the smallest difference is the best estimate of the offset. Averages
//! would be wrong: the lines before the console driver registers are flushed
//! late (0.24 s for Debian's arm64 kernel, all at once), and on a real UART a
//! burst of messages queues up after 87 µs per byte.
//!
//! The error that is stated: 1 µs, because times are cut to µs, and as far as
//! the eighth smallest difference lies above the smallest. If eight lines
//! agree within 1 µs, the smallest was hardly late. A log of fewer than 32
//! lines goes by its first quarter; one of fewer than eight adds 1 ms. A host's
//! clock and a board's drift apart by up to 100 ppm.

use std::ops::RangeInclusive;

use bootlap_model::{ClockEdge, ClockKind, Evidence, How, MarkKind, Milestone, Severity, Stamp};

use super::late::Reader;
use super::out::{Moment, Out};

/// How many of the smallest differences are kept.
const NEAREST: usize = 8;
/// How many lines tell how even the kernel's clock runs.
const WINDOW: usize = 32;
/// Between two lines of a backlog there is no such pause.
const PAUSE_NS: i64 = 1_000_000;
/// If the differences are larger than before by more than this, the lines came
/// later: it is not the kernel's clock that ran unevenly.
const UNEVEN_NS: i64 = 50_000_000;
/// What a log of fewer lines adds to the error.
const FEW_LINES_ERR_NS: i64 = 1_000_000;
/// What it takes at 115 200 baud to send a short line; a stamp of a complete
/// line is so much later than that of its first byte, at least.
const LINE_NS: i64 = 3_000_000;
/// Two quartz clocks differ by less than 1 in this.
const DRIFT: i64 = 10_000;
/// Lines of different CPUs can be out of order by a little.
const DISORDER_NS: i64 = 10_000_000;
/// When the kernel's clock steps back, it does so to near its zero.
const STEPPED_BELOW_NS: i64 = 100_000_000;
/// Lines that lie further back are a log that somebody printed again.
const REPRINTED_NS: i64 = 1_000_000_000;

/// A log with more of them is not damaged, it is something else.
const MAX_LEAPS: usize = 64;

/// The kernel's clock may be ahead by so much: 222 ms passed on it in 110 ms while a PC's kernel
/// calibrated its timer, before it switched to another clock source.
const AHEAD_NS: i64 = 250_000_000;

/// What the lines so far say of the kernel's clock.
#[derive(Default)]
pub(crate) struct KernelClock {
    /// The smallest differences, in order, and where they are from.
    nearest: Vec<(i64, Evidence)>,
    /// The smallest differences before the clock source was switched.
    older: Vec<(i64, Evidence)>,
    /// When it was switched last.
    switched_ns: Option<i64>,
    /// How even the clock runs: the smallest difference of each few lines.
    windows: Windows,
    lines: usize,
    first: Option<Evidence>,
    earliest_ns: i64,
    latest_ns: i64,
    /// The latest time before the last line, if that lies far ahead of it.
    before_leap: Option<i64>,
    /// Lines that lay far ahead of the next one, each alone.
    leaps: Vec<Leap>,
    /// The coarsest of the times that were compared.
    err_ns: u32,
    /// The stamps are those of complete lines.
    at_end: bool,
    /// When kernel lines were read and logged, where a program read complete lines: it
    /// may have read them late.
    read: Vec<[i64; 2]>,
    stepped: bool,
    /// The log is printed again from its beginning, up to here.
    replay_until: Option<i64>,
}

/// A line whose time lies far ahead of the next one's, and whose digits may have come wrong. CPUs
/// write into each other's messages, so it may be right, too: if a later line comes near it.
struct Leap {
    /// Its span.
    span: usize,
    ns: i64,
    next_ns: i64,
}

/// Whether a time could be one of these if one of its digits were another; they are printed in µs.
fn is_one_digit_off(ns: i64, between: RangeInclusive<i64>) -> bool {
    let value = ns / 1_000;
    let places = (0..12).map(|place| 10_i64.pow(place));
    let mut others = places.flat_map(|place| {
        let digit = value / place % 10;
        (0..10).map(move |other| value + (other - digit) * place)
    });
    others.any(|other| between.contains(&other.saturating_mul(1_000)))
}

/// The smallest difference in each [`WINDOW`] lines that were sent when they
/// were logged.
#[derive(Default)]
struct Windows {
    /// `(time of the first line, smallest difference)`
    all: Vec<(i64, i64)>,
    /// Lines in the last one.
    lines: usize,
    /// When the line before was sent; the backlog that a console prints when
    /// it registers ends with the first pause.
    sent: Option<Stamp>,
    live: bool,
}

impl Windows {
    fn see(&mut self, moment: &Moment, difference: i64) {
        let paused = |sent: Stamp| {
            let first = moment.first.map_or(sent.ns, |f| f.ns);
            first.saturating_sub(sent.ns) > PAUSE_NS
        };
        self.live |= self.sent.is_some_and(paused);
        self.sent = moment.last;
        if !self.live {
            return;
        }
        match self.all.last_mut().filter(|_| self.lines < WINDOW) {
            Some((_, least)) => *least = difference.min(*least),
            None => {
                self.all.push((moment.ns, difference));
                self.lines = 0;
            }
        }
        self.lines += 1;
    }

    /// How far the kernel's clock was from `offset_ns` at `ns`.
    fn apart(&self, ns: i64, offset_ns: i64) -> i64 {
        let after = self.all.partition_point(|(from, _)| *from <= ns);
        let window = self.all.get(after.saturating_sub(1));
        window.map_or(0, |(_, least)| {
            least.saturating_sub(offset_ns).saturating_abs()
        })
    }

    /// How far the differences since `from_ns` lie above `offset_ns`, but for
    /// a quarter of them: those lines may have been late.
    fn typical(&self, from_ns: i64, offset_ns: i64) -> i64 {
        // A few lines may all have been late.
        let whole = self.all.len() - usize::from(self.lines < WINDOW).min(self.all.len());
        let since = self.all[..whole].iter().filter(|w| w.0 >= from_ns);
        let mut above: Vec<i64> = since.map(|w| w.1.saturating_sub(offset_ns)).collect();
        above.sort_unstable();
        let typical = above.get(above.len() * 3 / 4).or(above.last());
        typical.copied().unwrap_or(0).max(0)
    }
}

impl KernelClock {
    /// The latest time so far.
    pub(crate) fn latest_ns(&self) -> i64 {
        self.latest_ns
    }

    /// The time of the first line.
    pub(crate) fn earliest_ns(&self) -> i64 {
        self.earliest_ns
    }

    /// The stamps are those of complete lines: later than the first byte.
    pub(crate) fn stamped_at_end(&mut self) {
        self.at_end = true;
    }

    /// Whether there was any line with a time.
    pub(crate) fn running(&self) -> bool {
        self.first.is_some()
    }

    /// The log is being printed again: a console that registers prints all
    /// lines, also those that the early console (`earlycon` with
    /// `keep_bootcon`) has printed before.
    pub(crate) fn replay(&mut self) {
        self.replay_until = Some(self.latest_ns);
    }

    /// Whether a line of this time is of the past, without the log being printed again from
    /// its start: an excerpt of this log or of another one, nobody knows which.
    pub(crate) fn is_past(&self, ns: i64) -> bool {
        self.replay_until.is_none() && self.latest_ns.saturating_sub(ns) > REPRINTED_NS
    }

    /// A line has this time: does the clock step back? `early`: user space
    /// has not begun. To be called before anything is made of the line.
    pub(crate) fn look_for_step(&mut self, ns: i64, early: bool, at: Evidence, out: &mut Out<'_>) {
        let goes_on = 0..REPRINTED_NS;
        let garbled =
            |before: &i64| ns < self.latest_ns && goes_on.contains(&ns.saturating_sub(*before));
        if let Some(before) = self.before_leap.filter(garbled) {
            let odd = is_one_digit_off(self.latest_ns, before..=ns);
            let room = odd && self.leaps.len() < MAX_LEAPS;
            if let Some(span) = out.last_text().filter(|_| room) {
                let leap = Leap {
                    span,
                    ns: self.latest_ns,
                    next_ns: ns,
                };
                self.leaps.push(leap);
            }
            self.latest_ns = before;
        }
        let back = self.latest_ns.saturating_sub(ns);
        let early = early && self.replay_until.is_none();
        if early && !self.stepped && back > DISORDER_NS && ns < STEPPED_BELOW_NS {
            self.step(ns, at, out);
        }
    }

    /// Takes the times of one line; `false` if it is of the past: a log that
    /// was printed again.
    pub(crate) fn see(&mut self, moment: &Moment, at: Evidence, out: &mut Out<'_>) -> bool {
        self.replay_until = self.replay_until.filter(|until| moment.ns <= *until);
        let past = self.is_past(moment.ns);
        let again = match past {
            true => {
                "the times of these kernel lines lie more than a second before those of earlier lines: the log was printed again, or they are another's, or of a CPU whose clock was not set yet; nothing is taken from them"
            }
            false => {
                "the times of these kernel lines lie before those of earlier lines: the log was printed again, and its second copy is shown as text only"
            }
        };
        if self.replay_until.is_some() || past {
            out.notice("log-of-the-past", Severity::Info, at, again);
            return false;
        }
        if self.first.is_none() {
            self.first = Some(at);
            self.earliest_ns = moment.ns;
        }
        self.lines += 1;
        let leap = moment.ns.saturating_sub(self.latest_ns) > REPRINTED_NS;
        self.before_leap = leap.then_some(self.latest_ns);
        self.latest_ns = self.latest_ns.max(moment.ns);
        self.compare(moment, at, out);
        true
    }

    fn compare(&mut self, moment: &Moment, at: Evidence, out: &mut Out<'_>) {
        let Some(sent) = moment.first else { return };
        let difference = sent.ns.saturating_sub(moment.ns);
        // Nothing was logged before a machine was on whose clock counts from there.
        let (difference, ahead_ns) = match out.is_host_clock() {
            true => (difference, 0),
            false => (difference.max(0), difference.saturating_neg().max(0)),
        };
        if ahead_ns > AHEAD_NS {
            out.notice(
                "logged-before-power-on",
                Severity::Notice,
                at,
                "these lines say they were logged longer ago than the machine is on: they are not the kernel's",
            );
            return;
        }
        if self.at_end {
            self.read.push([sent.ns, moment.ns]);
        }
        let err_ns = moment.err_ns.saturating_add(sent.err_ns);
        let ahead_ns = u32::try_from(ahead_ns).unwrap_or(u32::MAX);
        self.err_ns = self.err_ns.max(err_ns.saturating_add(ahead_ns));
        self.windows.see(moment, difference);
        let after = self.nearest.partition_point(|(d, _)| *d <= difference);
        if after < NEAREST {
            self.nearest.truncate(NEAREST - 1);
            self.nearest.insert(after, (difference, at));
        }
    }

    /// The kernel stamps its first lines from the CPU's counter (which runs
    /// since power-on) where it is built with `CONFIG_EARLY_CYCLES_KHZ` or
    /// alike, until its own clock starts near zero. So the two lines around
    /// the step are one moment on two clocks.
    fn step(&mut self, ns: i64, at: Evidence, out: &mut Out<'_>) {
        let old = out.split_printk_clock();
        let to = out.printk_clock();
        let err_ns = ns.saturating_add(1_000_000);
        let offset_ns = ns.saturating_sub(self.latest_ns);
        let err_ns = u32::try_from(err_ns).unwrap_or(u32::MAX);
        let edge = ClockEdge::offset(old, to, offset_ns, err_ns, How::SharedEvent);
        let edge = edge.because("the kernel's clock stepped back here", Some(at));
        out.edge(edge);
        out.notice(
            "kernel-clock-stepped",
            Severity::Info,
            at,
            "the kernel's clock stepped back once: the lines before are on a clock of their own, joined at the step",
        );
        *self = Self {
            stepped: true,
            at_end: self.at_end,
            ..Self::default()
        };
    }

    /// The kernel has switched to another clock source. Until then its log
    /// clock may have run unevenly (by 230 ms within half a second, where it
    /// counted jiffies that came late), so what follows tells more.
    pub(crate) fn switched(&mut self, ns: i64) {
        self.switched_ns = Some(ns);
        let before = std::mem::take(&mut self.nearest);
        self.older.extend(before);
        self.older.sort_by_key(|(d, _)| *d);
        self.older.truncate(NEAREST);
    }

    /// Says when the clock started, and joins it with that of the stamps.
    pub(crate) fn finish(&mut self, out: &mut Out<'_>) {
        let Some(first) = self.first else { return };
        for leap in std::mem::take(&mut self.leaps) {
            if leap.ns > self.latest_ns {
                out.move_garbled(leap.span, leap.next_ns);
            }
        }
        let printk = out.printk_clock();
        if out.timeline.clock(printk).kind == ClockKind::KernelPrintk {
            let zero = Stamp::new(0, 0);
            let kind = MarkKind::Milestone(Milestone::KernelClockStart);
            let name = Milestone::KernelClockStart.text();
            out.mark(printk, zero, kind, name, first);
        }
        self.join(out);
    }

    /// Joins the two clocks, and says what lies between them; the clock of
    /// the stamps ends here.
    pub(crate) fn join(&mut self, out: &mut Out<'_>) {
        let least = |all: &[(i64, Evidence)]| all.first().map_or(i64::MAX, |n| n.0);
        let later = least(&self.nearest).saturating_sub(least(&self.older));
        let few = self.nearest.len() < NEAREST || later > UNEVEN_NS;
        if few {
            self.nearest.append(&mut self.older);
            self.nearest.sort_by_key(|(d, _)| *d);
            self.nearest.truncate(NEAREST);
        }
        let (Some(wire), Some((offset_ns, at))) = (out.wire, self.nearest.first().copied()) else {
            return;
        };
        let printk = out.printk_clock();
        let since = self.switched_ns.filter(|_| !few);
        let uneven = self.windows.typical(since.unwrap_or(i64::MIN), offset_ns);
        let err_ns = self.err_ns(out.is_host_clock()).saturating_add(uneven);
        let err_ns = u32::try_from(err_ns).unwrap_or(u32::MAX);
        if let Some(since) = since {
            let windows = &self.windows;
            out.widen(since, |ns| windows.apart(ns, offset_ns));
        }
        self.nearest.clear();
        let read = std::mem::take(&mut self.read);
        let reader = Reader::of(read, offset_ns);
        if out.is_host_clock() && reader.is_of_two_speeds() {
            out.mark_as_read(&reader, offset_ns);
            out.notice(
                "clocks-of-two-speeds",
                Severity::Notice,
                at,
                "the kernel's clock and the host's are not of one speed, as those of a simulator: nothing says how they lie to each other",
            );
            return;
        }
        let edge = ClockEdge::offset(printk, wire, offset_ns, err_ns, How::SharedEvent);
        let edge = edge.because(
            "the line that was sent soonest after it was logged",
            Some(at),
        );
        out.edge(edge);
        if reader.is_late() {
            out.read_late(&reader, at);
        }
        out.apply_counts(offset_ns);
        if offset_ns < 0 && out.wire_kind() == Some(ClockKind::HostMonotonic) {
            out.forget_power_on();
            out.notice(
                "recording-began-late",
                Severity::DataLoss,
                at,
                "the kernel was running when the recording began, so power-on and the boot loader are not in it: start `bootlap capture` before the board is switched on",
            );
        }
    }

    fn err_ns(&self, host_clock: bool) -> i64 {
        let typical = (self.lines / 4).min(NEAREST - 1);
        let (Some((least, _)), Some((later, _))) = (
            self.nearest.first(),
            self.nearest.get(typical).or(self.nearest.last()),
        ) else {
            return 0;
        };
        let mut err = i64::from(self.err_ns).saturating_add(later.saturating_sub(*least));
        if self.at_end {
            err = err.saturating_add(LINE_NS);
        }
        if self.lines < NEAREST {
            err = err.saturating_add(FEW_LINES_ERR_NS);
        }
        if host_clock {
            let run = self.latest_ns.saturating_sub(self.earliest_ns);
            err = err.saturating_add(run / DRIFT);
        }
        err
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_digit_is_told_from_another_time() {
        // `[  114.461360]` between 14.451213 and 14.466921; `[   90.250000]` behind 0.2.
        let off = is_one_digit_off(114_461_360_000, 14_451_213_000..=14_466_921_000);
        assert!(off && is_one_digit_off(90_250_000_000, 200_000_000..=300_000_000));
        // What another CPU wrote into a dump that has one time.
        assert!(!is_one_digit_off(
            31_244_487_000,
            29_608_372_000..=29_608_372_000
        ));
        assert!(!is_one_digit_off(i64::MAX, 0..=1_000_000_000));
    }
}
