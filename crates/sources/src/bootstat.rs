//! ChromeOS' bootstat: the uptime, and what the disk did, at named events.
//!
//! ```text
//! $ cat /run/bootstat/uptime-login-prompt-visible
//! 8.17 25.72
//! $ cat /run/bootstat/disk-login-prompt-visible
//!    12297     5871   724362     5230     2051     1743    57544     1460        0     3020     6670
//! $ bootstat_summary
//!     time %cpu       dt  %dt  event
//!      560  53%      560  53%  pre-startup
//!     8170  39%      210  71%  login-prompt-visible
//! ```
//!
//! `uptime-EVENT` is a line of `/proc/uptime` (s since the kernel started its
//! clock, and s that all CPUs together were idle, both in 10 ms), `disk-EVENT`
//! a line of `/sys/block/DISK/stat` (11 numbers, 15 and 17 in later kernels;
//! the third and the seventh are sectors of 512 bytes). An event that happens
//! again gets one more line. Only the name of a file tells its event.
//! `bootstat_summary` has ms.

use std::collections::BTreeMap;
use std::io;

use bootlap_model::{
    ClockId, ClockKind, Evidence, Milestone, Severity, Stamp, Timeline, TrackKind,
};

use crate::parts::{self, Part, Parts, base};
use crate::steps::{self, Step};
use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Input, Sniff, Source, SourceError, together};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "bootstat",
    title: "ChromeOS' boot statistics",
    looks_like: "lines of /proc/uptime or of a disk's stat, one for an event, or bootstat_summary's table",
    sniff,
    read,
    together: together(is_part, read_parts),
};

const TICK_NS: u32 = 10_000_000;
const SECTOR: u64 = 512;

/// An event happens some times, a disk's line is 200 letters long.
const MAX_ROWS: usize = 100_000;

fn sniff(head: &[u8]) -> Sniff {
    let of = |is: fn(&str) -> bool| text::count_lines(head, 200, |l| is(text::valid(l)));
    let (headings, all) = of(is_heading);
    let (summary, _) = of(|l| summary(l).is_some());
    let (uptimes, _) = of(|l| uptime(l).is_some());
    let (disks, _) = of(|l| disk(l).is_some());
    if headings > 0 && (headings + summary) * 2 >= all {
        Sniff::percent(95)
    } else if all > 0 && uptimes == all {
        Sniff::percent(75)
    } else if all > 0 && disks == all {
        Sniff::percent(70)
    } else {
        Sniff::NO
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    parts::read_one(input, &SOURCE, out, Events::default())
}

fn is_part(name: &str, head: &[u8]) -> bool {
    let file = base(name);
    let of_numbers = |b: &u8| matches!(b, b'0'..=b'9' | b'.' | b' ' | b'\n' | b'\r');
    (file.starts_with("uptime-") || file.starts_with("disk-")) && head.iter().all(of_numbers)
}

fn read_parts(parts: Vec<Input<'_>>, out: &mut Timeline) -> Result<(), SourceError> {
    parts::read_all(parts, &SOURCE, out, Events::default())
}

/// What was read of one boot. The first line of an event's disk belongs to
/// the first of its uptimes, and so on.
#[derive(Default)]
struct Events {
    /// By event: uptime and idle time in ns.
    uptimes: BTreeMap<String, Vec<(i64, i64, Evidence)>>,
    /// By event: sectors read and written.
    disks: BTreeMap<String, Vec<([u64; 2], Evidence)>>,
    /// Uptime, CPU use since the start in %, event.
    summary: Vec<(i64, i64, String, Evidence)>,
    rows: usize,
    headings: u32,
}

struct Rows<'a> {
    event: &'a str,
    events: &'a mut Events,
}

impl Reader for Rows<'_> {
    fn line(&mut self, line: &Line<'_>, _sheet: &mut Import<'_>) -> Result<(), Skip> {
        let text = line.str();
        let (event, events) = (self.event.to_owned(), &mut *self.events);
        events.rows += 1;
        if events.rows > MAX_ROWS {
            return Err(Skip::lost(
                "too-many-events",
                "only the first 100000 lines were read: is the file what it seems to be?",
            ));
        }
        if is_heading(text) {
            events.headings += 1;
        } else if let Some((ns, cpu, event)) = summary(text) {
            if events.headings > 1 {
                return Err(Skip::lost(
                    "another-boot",
                    "the table is there again, and only the first was read: `FILE#2` names the second",
                ));
            }
            events.summary.push((ns, cpu, event.to_owned(), line.at));
        } else if let Some((up, idle)) = uptime(text) {
            let rows = events.uptimes.entry(event).or_default();
            rows.push((up, idle, line.at));
        } else if let Some(sectors) = disk(text) {
            events
                .disks
                .entry(event)
                .or_default()
                .push((sectors, line.at));
        } else {
            return Err(Skip::unknown(
                "expected a line of /proc/uptime (`8.17 25.72`) or of a disk's stat",
            ));
        }
        Ok(())
    }
}

impl Parts for Events {
    fn part(&mut self, file: Part<'_>, import: &mut Import<'_>) -> io::Result<()> {
        let Part { name, bytes } = file;
        let kinds = ["uptime-", "disk-"];
        let event = kinds.iter().find_map(|k| name.strip_prefix(k));
        let event = event.unwrap_or(name);
        let events = self;
        import.read(bytes, &mut Rows { event, events })
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        let clock = import.clock(ClockKind::Boottime);
        let mut moments: Vec<(i64, String, Evidence)> = Vec::new();
        for (event, rows) in &self.uptimes {
            for (up, _, at) in rows {
                moments.push((*up, event.clone(), *at));
            }
        }
        for (ns, _, event, at) in &self.summary {
            moments.push((*ns, event.clone(), *at));
        }
        moments.sort_by(|a, b| (a.0, &a.1, a.2.start).cmp(&(b.0, &b.1, b.2.start)));
        for (ns, event, at) in &moments {
            let stamp = Stamp::new(*ns, TICK_NS);
            if event.is_empty() {
                import.notice(
                    "which-event",
                    Severity::Notice,
                    *at,
                    "only the name of a file tells its event: keep the names, and give the files of one folder together",
                );
            }
            let shown = if event.is_empty() { "event" } else { event };
            import.mark(clock, stamp, shown, *at);
        }
        let step = |ns: i64, name: &str, at: Evidence| Step {
            ns,
            name: name.to_owned(),
            id: String::new(),
            at,
        };
        // Uptime counts from there.
        let zero = moments
            .first()
            .map(|(.., at)| step(0, "kernel's start", *at));
        let events = moments.iter().map(|(ns, event, at)| step(*ns, event, *at));
        let steps: Vec<Step> = zero.into_iter().chain(events).collect();
        steps::lengths(
            import,
            clock,
            (TrackKind::Signal, "events"),
            TICK_NS,
            &steps,
        );
        let login = |(_, event, _): &&(i64, String, Evidence)| event == "login-prompt-visible";
        if let Some((ns, _, at)) = moments.iter().find(login) {
            let stamp = Stamp::new(*ns, TICK_NS);
            import.milestone(clock, stamp, Milestone::StartupFinished, *at);
        }
        self.idle(clock, import);
        self.sectors(clock, import);
    }
}

impl Events {
    /// How busy the CPUs were. `/proc/uptime` does not tell how many there
    /// are, so the idle time is kept as it is.
    fn idle(&self, clock: ClockId, import: &mut Import<'_>) {
        let mut idle: Vec<(i64, f64, Evidence)> = Vec::new();
        for (up, ns, at) in self.uptimes.values().flatten() {
            idle.push((*up, *ns as f64 / 1e9, *at));
        }
        counter(idle, clock, ("cpu idle, all CPUs", "s"), import);
        let busy = self.summary.iter();
        let busy = busy.map(|(ns, cpu, _, at)| (*ns, *cpu as f64, *at));
        counter(busy.collect(), clock, ("cpu use since start", "%"), import);
    }

    fn sectors(&self, clock: ClockId, import: &mut Import<'_>) {
        let mut moved: [Vec<(i64, f64, Evidence)>; 2] = [Vec::new(), Vec::new()];
        for (event, rows) in &self.disks {
            let ups = self.uptimes.get(event).map(Vec::as_slice);
            let ups = ups.unwrap_or_default();
            for (i, (sectors, at)) in rows.iter().enumerate() {
                let Some((up, ..)) = ups.get(i) else {
                    import.notice(
                        "disk-without-uptime",
                        Severity::DataLoss,
                        *at,
                        "nothing tells when the disk had done this: give the uptime-EVENT file with the disk-EVENT file",
                    );
                    continue;
                };
                for (samples, sectors) in moved.iter_mut().zip(sectors) {
                    let kilobytes = sectors.saturating_mul(SECTOR) as f64 / 1000.0;
                    samples.push((*up, kilobytes, *at));
                }
            }
        }
        let [read, written] = moved;
        counter(read, clock, ("disk read in all", "kB"), import);
        counter(written, clock, ("disk written in all", "kB"), import);
    }
}

fn counter(
    mut samples: Vec<(i64, f64, Evidence)>,
    clock: ClockId,
    name: (&str, &str),
    import: &mut Import<'_>,
) {
    samples.sort_by_key(|(ns, _, at)| (*ns, at.file, at.start));
    if let Some((.., at)) = samples.first() {
        let at = *at;
        let samples = samples.into_iter().map(|(ns, value, _)| (ns, value));
        import.counter(clock, name, samples.collect(), at);
    }
}

fn is_heading(line: &str) -> bool {
    let columns = ["time", "%cpu", "dt", "%dt", "event"];
    line.split_whitespace().eq(columns)
}

/// ns, % and event of `     560  53%      560  53%  pre-startup`.
fn summary(line: &str) -> Option<(i64, i64, &str)> {
    let mut words = line.split_whitespace();
    let time = text::decimal(words.next()?.as_bytes(), 6)?;
    let percent = |word: &str| word.strip_suffix('%')?.parse::<i64>().ok();
    let cpu = percent(words.next()?)?;
    text::decimal(words.next()?.as_bytes(), 6)?;
    percent(words.next()?)?;
    let event = words.next()?;
    words.next().is_none().then_some((time, cpu, event))
}

/// Uptime and idle time in ns.
fn uptime(line: &str) -> Option<(i64, i64)> {
    let (up, idle) = line.trim().split_once(' ')?;
    let hundredths = |text: &str| text.split_once('.').is_some_and(|(_, f)| f.len() == 2);
    let seconds = |text: &str| {
        let ns = text::seconds_ns(text.as_bytes())?;
        (ns >= 0 && hundredths(text)).then_some(ns)
    };
    Some((seconds(up)?, seconds(idle)?))
}

/// Sectors read and written.
fn disk(line: &str) -> Option<[u64; 2]> {
    let numbers: Option<Vec<u64>> = line
        .split_ascii_whitespace()
        .take(20)
        .map(|w| w.parse().ok())
        .collect();
    let numbers = numbers?;
    [11, 15, 17]
        .contains(&numbers.len())
        .then(|| [numbers[2], numbers[6]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows() {
        assert_eq!(uptime("8.17 25.72"), Some((8_170_000_000, 25_720_000_000)));
        for bad in ["8.17", "8.175 25.72", "-1.00 2.00", "8 25", "8.17 25.72 x"] {
            assert_eq!(uptime(bad), None, "{bad}");
        }
        let row = "   12297     5871   724362     5230     2051     1743    57544     1460        0     3020     6670";
        assert_eq!(disk(row), Some([724_362, 57_544]));
        assert_eq!(disk("1 2 3"), None);
        assert_eq!(
            summary("    8170  39%      210  71%  login-prompt-visible"),
            Some((8_170_000_000, 39, "login-prompt-visible"))
        );
    }
}
