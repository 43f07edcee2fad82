//! What was looked at in intervals, as quantities over time.

use std::collections::BTreeMap;

use bootlap_model::{ClockId, Evidence};
use bootlap_wire::archive::Sample;

use crate::cpu_time::{self, Look};
use crate::text::Import;

const MEMORY: [&str; 5] = [
    "memory total",
    "memory free",
    "memory available",
    "memory buffers",
    "memory cached",
];
const SECTOR_BYTES: f64 = 512.0;

/// Samples of one quantity that only grows: each rate holds up to the next.
type Growing<const N: usize> = Vec<(i64, [u64; N])>;

/// All of it.
#[derive(Default)]
pub(super) struct Counters {
    cpu: Vec<Look>,
    runnable: Vec<(i64, f64)>,
    blocked: Vec<(i64, f64)>,
    memory: Growing<5>,
    /// By name: sectors read, sectors written, ms busy.
    disks: BTreeMap<String, Growing<3>>,
    pressure: BTreeMap<String, Growing<2>>,
    first: Option<Evidence>,
}

impl Counters {
    pub(super) fn add(&mut self, sample: Sample<'_>, at: Evidence) {
        self.first.get_or_insert(at);
        match sample {
            Sample::Cpu {
                ns,
                ticks,
                running,
                blocked,
            } => {
                self.cpu.push((ns, ticks));
                self.runnable.push((ns, f64::from(running)));
                self.blocked.push((ns, f64::from(blocked)));
            }
            Sample::Disk {
                ns,
                sectors_read,
                sectors_written,
                busy_ms,
                name,
            } => {
                let disk = self.disks.entry(name.into_owned()).or_default();
                disk.push((ns, [sectors_read, sectors_written, busy_ms]));
            }
            Sample::Memory { ns, kib } => self.memory.push((ns, kib)),
            Sample::Pressure {
                ns,
                some_us,
                full_us,
                name,
            } => {
                let pressure = self.pressure.entry(name.into_owned()).or_default();
                pressure.push((ns, [some_us, full_us]));
            }
        }
    }

    pub(super) fn finish(self, clock: ClockId, import: &mut Import<'_>) {
        let Some(at) = self.first else {
            return;
        };
        cpu_time::counters(&self.cpu, clock, at, import);
        import.counter(clock, ("runnable", "processes"), self.runnable, at);
        import.counter(clock, ("blocked", "processes"), self.blocked, at);
        for (column, name) in MEMORY.iter().enumerate() {
            let samples = self
                .memory
                .iter()
                .map(|(ns, kib)| (*ns, kib[column] as f64));
            import.counter(clock, (name, "kB"), samples.collect(), at);
        }
        for (disk, growing) in &self.disks {
            let kb = SECTOR_BYTES / 1000.0;
            let columns = [
                ("read", "kB/s", kb),
                ("write", "kB/s", kb),
                ("busy", "%", 0.1),
            ];
            for (column, (what, unit, factor)) in columns.into_iter().enumerate() {
                let name = format!("{disk} {what}");
                let samples = rates(growing, column, factor);
                import.counter(clock, (&name, unit), samples, at);
            }
        }
        for (name, growing) in &self.pressure {
            for (column, who) in ["some", "full"].into_iter().enumerate() {
                // µs of a second, in per cent.
                let samples = rates(growing, column, 1e-4);
                let name = format!("pressure {name} {who}");
                if samples.iter().any(|(_, share)| *share > 0.0) {
                    import.counter(clock, (&name, "%"), samples, at);
                }
            }
        }
    }
}

/// How much `column` grows in a second, times `factor`.
fn rates<const N: usize>(growing: &Growing<N>, column: usize, factor: f64) -> Vec<(i64, f64)> {
    let rate = |pair: &[(i64, [u64; N])]| {
        let [(from, before), (to, after)] = [pair[0], pair[1]];
        let more = after[column].saturating_sub(before[column]) as f64;
        (
            from,
            more * factor * 1e9 / to.saturating_sub(from).max(1) as f64,
        )
    };
    let mut rates: Vec<_> = growing.windows(2).map(rate).collect();
    // A disk that has nothing more to do is not noted again.
    if let Some((last, _)) = growing.last() {
        rates.push((*last, 0.0));
    }
    rates
}
