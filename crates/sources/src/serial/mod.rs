//! What a serial console costs a kernel, by the times in the kernel's log alone.
//!
//! A kernel that prints on a UART waits until each byte is sent: after a line of *n*
//! bytes the next stamp comes no sooner than *n* × 10 ÷ baud. So where many gaps are
//! just as long as the lines before them, that ratio is the rate, and those gaps are no
//! silences: the lines were still being printed. And a console that is enabled late
//! first gets all that was logged before:
//!
//! ```text
//! [    0.417170] 2500000.serial: ttyS0 at MMIO 0x2500000 (irq = 204) is a 16550A
//! [    1.326330] printk: console [ttyS0] enabled          10 416 bytes = 0.904 s
//! ```
//!
//! [`charge`] gives such lines their ends, and names the flush. Nothing happens to a
//! log that shows no rate: its console was fast, quiet, or printed in a thread.

use std::ops::{Range, RangeInclusive};

use bootlap_model::{
    BAUD_RATES, BITS_PER_BYTE, ClockId, ClockKind, Span, SpanEnd, SpanId, Stamp, Timeline,
    TrackKind, line_bytes,
};

use crate::console::out::STAGES;
use crate::console::printk;

/// A gap that the line before it explains is this long, in percent of its time on the
/// wire: not shorter, and longer by what the kernel does besides.
const EXPLAINED: Range<i64> = 98..110;

/// As wide, just below: at a true rate hardly any line is followed so soon.
const TOO_SOON: Range<i64> = 86..98;

/// So many gaps, and one in so many, make a rate.
const LEAST_GAPS: usize = 12;
const LEAST_SHARE: usize = 10;

/// How far a log's times may go back, ns: two CPUs log at once, and one that is in an
/// oops may stamp all of it with the time at which that began.
const OUT_OF_ORDER_NS: i64 = 5_000_000_000;

/// How long a flush is at least, ns: below this nobody looks.
const FLUSH_NS: i64 = 20_000_000;

/// What of the log so far a console prints, in percent of its bytes: debug messages are
/// not for consoles, so it can be less; and the rate is known to some percent.
const FLUSHED: RangeInclusive<i64> = 70..=108;

/// Gives the lines of each kernel log their ends and adds the flushes.
pub(crate) fn charge(timeline: &mut Timeline) {
    let logs: Vec<ClockId> = timeline
        .clock_ids()
        .filter(|id| timeline.clock(*id).kind == ClockKind::KernelPrintk)
        .collect();
    for clock in logs {
        let log = Log::of(timeline, clock);
        if let Some(rate) = log.rate() {
            log.charge(rate, timeline);
        }
    }
}

/// What a kernel printed with one stamp, or with one before it that came late.
struct Printed {
    at_ns: i64,
    bytes: i64,
    /// The last line with that stamp, which has the end.
    last: SpanId,
}

/// `printk: legacy bootconsole [uart8250] enabled`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Enabled<'t> {
    name: &'t str,
    /// A boot console printed from the beginning, so what follows it flushes nothing.
    early: bool,
}

/// A kernel's log, in order.
struct Log {
    clock: ClockId,
    lines: Vec<Printed>,
    /// Where the first serial console is enabled, which prints that line and what follows; the
    /// log's first line if none is.
    live: usize,
    /// And by which line.
    enabling: Option<SpanId>,
}

/// Time on the wire: ns for so many bytes, as measured.
#[derive(Clone, Copy)]
struct Rate {
    ns: i128,
    bytes: i128,
}

impl Rate {
    fn of(self, bytes: i64) -> i64 {
        i64::try_from(i128::from(bytes) * self.ns / self.bytes).unwrap_or(i64::MAX)
    }

    /// Bits per second.
    fn baud(self) -> i128 {
        self.bytes * i128::from(BITS_PER_BYTE) * 1_000_000_000 / self.ns
    }
}

impl Log {
    fn of(timeline: &Timeline, clock: ClockId) -> Self {
        let mut lines: Vec<Printed> = Vec::new();
        let (mut live, mut enabling) = (0, None);
        for id in timeline.span_ids() {
            let span = timeline.span(id);
            if span.clock != clock || timeline.kind_of(span) != TrackKind::Console {
                continue;
            }
            let text = timeline.text(span.name);
            let bytes = on_the_wire(text);
            match lines.last_mut() {
                // Printed again for another console, or by another boot.
                Some(last) if span.start.ns < last.at_ns - OUT_OF_ORDER_NS => break,
                Some(last) if span.start.ns <= last.at_ns => {
                    last.bytes += bytes;
                    if span.start.ns == last.at_ns {
                        last.last = id;
                    }
                }
                _ => lines.push(Printed {
                    at_ns: span.start.ns,
                    bytes,
                    last: id,
                }),
            }
            if enabling.is_none() && enabled(text).is_some() {
                (live, enabling) = (lines.len() - 1, Some(id));
            }
        }
        Self {
            clock,
            lines,
            live,
            enabling,
        }
    }

    /// Each line that was printed when it was logged, with the ns to the next one.
    fn gaps(&self) -> impl Iterator<Item = (&Printed, i64)> {
        let live = self.lines.get(self.live..).unwrap_or_default();
        let pairs = live.iter().zip(live.iter().skip(1));
        pairs.map(|(line, next)| (line, next.at_ns.saturating_sub(line.at_ns)))
    }

    /// The rate that explains most gaps, if it explains enough of them.
    fn rate(&self) -> Option<Rate> {
        let all = self.gaps().count();
        let fit = |baud: &u32| {
            let byte_ns = i64::from(BITS_PER_BYTE) * 1_000_000_000 / i64::from(*baud);
            let mut rate = Rate { ns: 0, bytes: 0 };
            let (mut explained, mut too_soon) = (0, 0);
            for (line, gap) in self.gaps() {
                let wire_ns = line.bytes.saturating_mul(byte_ns).max(1);
                // Without a division: that is done for each line and each rate.
                let is_share = |percent: Range<i64>| {
                    let bound = |percent: i64| wire_ns.saturating_mul(percent);
                    let gap = gap.saturating_mul(100);
                    bound(percent.start) <= gap && gap < bound(percent.end)
                };
                if is_share(EXPLAINED) {
                    explained += 1;
                    rate.ns += i128::from(gap);
                    rate.bytes += i128::from(line.bytes);
                }
                too_soon += usize::from(is_share(TOO_SOON));
            }
            (explained, too_soon, rate)
        };
        let fits = BAUD_RATES.iter().map(fit);
        let (explained, too_soon, rate) = fits.max_by_key(|f| f.0)?;
        let is_rate = explained >= LEAST_GAPS
            && explained * LEAST_SHARE >= all
            && explained >= 2 * too_soon + 3;
        is_rate.then_some(rate)
    }

    fn charge(&self, rate: Rate, timeline: &mut Timeline) {
        let mut ends: Vec<(SpanId, Stamp)> = Vec::new();
        for (line, gap) in self.gaps() {
            let wire_ns = rate.of(line.bytes);
            let share = gap.saturating_mul(100) / wire_ns.max(1);
            // What came sooner did not wait: another CPU printed, or nobody did.
            if share < 95 {
                continue;
            }
            let took_ns = match share < EXPLAINED.end {
                true => gap,
                false => wire_ns,
            };
            let err_ns = u32::try_from(wire_ns / 20).unwrap_or(u32::MAX);
            let end = Stamp::new(line.at_ns.saturating_add(took_ns), err_ns);
            ends.push((line.last, end));
        }
        for (id, end) in ends {
            timeline.span_mut(id).end = SpanEnd::At(end);
        }
        self.flush(rate, timeline);
    }

    /// The first serial console prints what was logged before it.
    fn flush(&self, rate: Rate, timeline: &mut Timeline) {
        let Some(by) = self.enabling.map(|id| timeline.span(id)) else {
            return;
        };
        let Some(console) = enabled(timeline.text(by.name)).filter(|c| !c.early) else {
            return;
        };
        let at = self.live;
        let line = timeline.span(self.lines[at].last);
        let begun = |at: usize| Some(timeline.span(self.lines.get(at)?.last).start);
        let bytes = self.lines[..at].iter().fold(0, |sum, l| sum + l.bytes);
        let wire_ns = rate.of(bytes);
        // The line itself comes after the flush; newer kernels print it first.
        let before = at.checked_sub(1).and_then(begun);
        let before = before.map(|start| (start, line.start));
        let sent = line.end.known().unwrap_or(line.start);
        let after = begun(at + 1).map(|end| (sent, end));
        let is_flush = |(start, end): &(Stamp, Stamp)| {
            let took = end.ns.saturating_sub(start.ns);
            let share = took.saturating_mul(100) / wire_ns.max(1);
            took >= FLUSH_NS && FLUSHED.contains(&share)
        };
        let Some((start, end)) = before.into_iter().chain(after).find(is_flush) else {
            return;
        };
        let (name, evidence) = (console.name.to_owned(), by.evidence);
        let (bytes, baud) = (bytes.to_string(), rate.baud().to_string());
        // For which console, how many bytes, and at what rate.
        let args = [
            ("console", name.as_str()),
            ("bytes", &bytes),
            ("baud", &baud),
        ];
        timeline.add_named(
            self.clock,
            STAGES,
            Span::LOG_FLUSH,
            (start, SpanEnd::At(end)),
            &args,
            evidence,
        );
    }
}

/// How many bytes a line is on the wire, its time and its end included.
fn on_the_wire(text: &str) -> i64 {
    let lost_time = printk::parse(text.as_bytes()).is_none();
    i64::try_from(line_bytes(text, lost_time)).unwrap_or(i64::MAX / 2)
}

/// Whether a line says that a serial console is enabled.
fn enabled(text: &str) -> Option<Enabled<'_>> {
    // Nearly no line has one, and there may be a million lines.
    let at = memchr::memmem::find(text.as_bytes(), b"console [")?;
    let (before, rest) = (&text[..at], &text[at + "console [".len()..]);
    let (name, rest) = rest.split_once(']')?;
    let is_on = rest.trim() == "enabled";
    (is_on && is_serial(name)).then(|| Enabled {
        name,
        early: before.ends_with("boot"),
    })
}

/// Whether a console of this name sends its bytes over a wire, one by one.
fn is_serial(name: &str) -> bool {
    const ELSEWHERE: [&str; 10] = [
        "netcon",
        "ramoops",
        "pstore",
        "ram-",
        "efifb",
        "earlyvga",
        "simplefb",
        "hvc",
        "xen",
        "lat_console",
    ];
    let is_screen = |rest: &str| rest.bytes().all(|b| b.is_ascii_digit());
    !name.strip_prefix("tty").is_some_and(is_screen)
        && !ELSEWHERE.iter().any(|e| name.starts_with(e))
}

#[cfg(test)]
mod tests;
