//! What CPUs and disks did, as the numbers that only grow in `/proc/stat` and
//! `/proc/diskstats`.
//!
//! Counters of a timeline are rates, each up to the next; here they are summed up
//! to each sample. A boot of which nobody counted the CPUs shows what its processes
//! used, and has no disks.

use std::fmt::Write;

use bootlap_model::{Axis, Stamp, Timeline};

use super::JIFFY_NS;
use super::samples::Samples;
use super::tasks::Tasks;

/// What a machine has that does not say.
const ONE_CPU: f64 = 1.0;
/// A sector is 512 bytes, a kB 1000.
const SECTORS_A_KB: f64 = 1000.0 / 512.0;
/// Sums over all disks stand for this one, as tools look for known names.
const ALL_DISKS: &str = "sda";

/// By sample: the lines of `/proc/stat`. `used` is what the processes used up to
/// each, jiffies.
pub(super) fn cpus(rates: &Rates<'_>, tasks: &Tasks, used: &[i64]) -> Vec<String> {
    let samples = rates.samples;
    let number = tasks.facts.get("cpus").and_then(|n| n.parse::<f64>().ok());
    let number = number.filter(|n| (1.0..=65536.0).contains(n));
    let number = number.unwrap_or(ONE_CPU);
    // Per cent of a second are hundredths of it.
    let column = |name| rates.sums(name, "%", number);
    let names = [
        "cpu user",
        "cpu system",
        "cpu idle",
        "cpu iowait",
        "cpu stolen",
    ];
    let columns = names.map(column);
    let counted = columns.iter().any(Option::is_some);
    let columns = columns.map(|column| column.unwrap_or_else(|| vec![0; used.len()]));
    let idle = idle(samples, used, number as i64);
    let running = rates.values("runnable");
    let blocked = rates.values("blocked");
    let text = |at: usize| {
        let [user, system, idle, iowait, stolen] = match counted {
            true => columns.each_ref().map(|column| column[at]),
            false => [used[at], 0, idle[at], 0, 0],
        };
        let mut text = format!("cpu  {user} 0 {system} {idle} {iowait} 0 0 {stolen}\n");
        for (name, values) in [("procs_running", &running), ("procs_blocked", &blocked)] {
            if let Some(values) = values {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{name} {}", values[at]);
            }
        }
        text
    };
    (0..samples.times.len()).map(text).collect()
}

/// By sample: what is left of the CPUs' time, jiffies.
fn idle(samples: &Samples, used: &[i64], cpus: i64) -> Vec<i64> {
    let mut idle = 0_i64;
    let mut before: Option<(i64, i64)> = None;
    let at = |(time, used): (&i64, &i64)| {
        if let Some((then, before)) = before {
            let all = (time - then).saturating_mul(cpus);
            idle = idle.saturating_add(all.saturating_sub(used - before).max(0));
        }
        before = Some((*time, *used));
        idle
    };
    samples.times.iter().zip(used).map(at).collect()
}

/// By sample: the lines of `/proc/diskstats`.
pub(super) fn disks(rates: &Rates<'_>) -> Vec<String> {
    let (timeline, samples) = (rates.timeline, rates.samples);
    let counters = timeline.counters.iter();
    let names = counters.filter(|c| timeline.text(c.unit) == "kB/s");
    let names = names.filter_map(|c| timeline.text(c.name).strip_suffix(" read"));
    let mut texts = vec![String::new(); samples.times.len()];
    let mut seen = Vec::new();
    for disk in names {
        if seen.contains(&disk) {
            continue;
        }
        seen.push(disk);
        // Per cent of a second are ten ms.
        let sums = |what: &str, unit: &str, factor: f64| {
            let sums = rates.sums(&format!("{disk} {what}"), unit, factor);
            sums.unwrap_or_else(|| vec![0; samples.times.len()])
        };
        let read = sums("read", "kB/s", SECTORS_A_KB);
        let written = sums("write", "kB/s", SECTORS_A_KB);
        let busy = sums("busy", "%", 10.0);
        let name = match disk {
            "disk" => ALL_DISKS.to_owned(),
            name => name.replace(|c: char| c.is_whitespace() || c.is_control(), "_"),
        };
        for (at, text) in texts.iter_mut().enumerate() {
            let (read, written, busy) = (read[at], written[at], busy[at]);
            let _ = writeln!(
                text,
                "   8       0 {name} 0 0 {read} 0 0 0 {written} 0 0 {busy} {busy}"
            );
        }
    }
    texts
}

/// The counters of a timeline, up to each sample.
pub(super) struct Rates<'a> {
    pub(super) timeline: &'a Timeline,
    pub(super) axis: &'a Axis,
    pub(super) samples: &'a Samples,
    /// When the last value of each ends.
    pub(super) end_ns: i64,
}

impl Rates<'_> {
    /// The values of a counter, on the reference clock and in its order.
    fn placed(&self, name: &str, unit: &str) -> Option<Vec<(i64, f64)>> {
        let text = |sym| self.timeline.text(sym);
        let mut counters = self.timeline.counters.iter();
        let counter = counters.find(|c| text(c.name) == name && text(c.unit) == unit)?;
        let at = |(ns, value): &(i64, f64)| {
            let at = self.axis.at(counter.clock, Stamp::new(*ns, 0))?;
            value.is_finite().then_some((at.ns, value.max(0.0)))
        };
        let mut placed: Vec<_> = counter.samples.iter().filter_map(at).collect();
        placed.sort_by_key(|(ns, _)| *ns);
        (!placed.is_empty()).then_some(placed)
    }

    /// How much of it there was up to each sample: rate times seconds times
    /// `factor`.
    fn sums(&self, name: &str, unit: &str, factor: f64) -> Option<Vec<i64>> {
        let placed = self.placed(name, unit)?;
        let ends = placed.iter().skip(1).map(|(ns, _)| *ns);
        let ends = ends.chain([self.end_ns]);
        let mut steps = placed.iter().zip(ends).peekable();
        let mut whole = 0.0;
        let mut sums = Vec::with_capacity(self.samples.times.len());
        for time in &self.samples.times {
            let now = time.saturating_mul(JIFFY_NS);
            let seconds = |from: i64, to: i64| to.saturating_sub(from).max(0) as f64 / 1e9;
            while let Some(((from, rate), end)) = steps.next_if(|(_, end)| *end <= now) {
                whole += rate * seconds(*from, end);
            }
            let part = steps
                .peek()
                .map_or(0.0, |((from, rate), _)| rate * seconds(*from, now));
            sums.push(((whole + part) * factor).round() as i64);
        }
        Some(sums)
    }

    /// What it was at each sample; 0 before the first.
    fn values(&self, name: &str) -> Option<Vec<i64>> {
        let placed = self.placed(name, "processes")?;
        let value = |time: &i64| {
            let now = time.saturating_mul(JIFFY_NS);
            let next = placed.partition_point(|(ns, _)| *ns <= now);
            next.checked_sub(1)
                .map_or(0, |at| placed[at].1.round() as i64)
        };
        Some(self.samples.times.iter().map(value).collect())
    }
}
