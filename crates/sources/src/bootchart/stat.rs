//! `proc_stat.log`: `/proc/stat`, sampled.
//!
//! ```text
//! 263
//! cpu  29 0 156 28 0 0 0 0 0
//! cpu0 29 0 156 28 0 0 0 0 0
//! btime 1349355680
//! processes 45
//! procs_running 7
//! procs_blocked 0
//! ```
//!
//! Columns of `cpu`, in jiffies since the start, summed over all CPUs: user,
//! nice, system, idle, iowait, irq, softirq, steal (kernels before 2.6 have
//! four). Shares are of the time between two samples; iowait may fall, and
//! then counts as none.

use bootlap_model::{ClockId, Evidence};

use super::blocks::{Blocks, Row, number, per_second, words};
use crate::text::{Import, Line, Reader, Skip};

/// The columns of the `cpu` line that are used.
const COLUMNS: usize = 8;
const USER: usize = 0;
const NICE: usize = 1;
const SYSTEM: usize = 2;
const IDLE: usize = 3;
const IOWAIT: usize = 4;
const IRQ: usize = 5;
const SOFTIRQ: usize = 6;
const STEAL: usize = 7;

#[derive(Default)]
pub(super) struct Stat {
    pub(super) blocks: Blocks,
    cpu: Vec<(usize, [i64; COLUMNS])>,
    running: Vec<(usize, i64)>,
    blocked: Vec<(usize, i64)>,
    forks: Vec<(usize, i64)>,
    /// When the kernel started, s since 1970 by its own wall clock; the first
    /// and the last answer differ if somebody set the clock.
    booted: Option<(i64, i64)>,
    at: Option<Evidence>,
}

impl Reader for Stat {
    fn line(&mut self, line: &Line<'_>, _sheet: &mut Import<'_>) -> Result<(), Skip> {
        let Row::Of(block) = self.blocks.row(line)? else {
            return Ok(());
        };
        let mut words = words(line.text);
        let key = words.next().unwrap_or_default();
        let list = match key {
            b"cpu" => {
                self.at.get_or_insert(line.at);
                return self.cpu(block, words);
            }
            b"btime" => {
                let booted = words.next().and_then(number).ok_or(UNKNOWN)?;
                let (first, _) = self.booted.unwrap_or((booted, booted));
                self.booted = Some((first, booted));
                return Ok(());
            }
            b"procs_running" => &mut self.running,
            b"procs_blocked" => &mut self.blocked,
            b"processes" => &mut self.forks,
            _ if key[0].is_ascii_lowercase() && words.next().is_some() => return Ok(()),
            _ => return Err(UNKNOWN),
        };
        let value = words.next().and_then(number).ok_or(UNKNOWN)?;
        list.push((block, value));
        Ok(())
    }

    fn blank(&mut self, _line: &Line<'_>, _sheet: &mut Import<'_>) {
        self.blocks.blank();
    }
}

const UNKNOWN: Skip = Skip::unknown("expected lines of /proc/stat: `cpu  29 0 156 28 …`");

impl Stat {
    /// Whether a line begins like one of `/proc/stat`.
    pub(super) fn is_row(line: &[u8]) -> bool {
        let mut words = words(line);
        words.next() == Some(b"cpu") && words.take(4).filter_map(number).count() == 4
    }

    fn cpu<'a>(
        &mut self,
        block: usize,
        columns: impl Iterator<Item = &'a [u8]>,
    ) -> Result<(), Skip> {
        let mut row = [0; COLUMNS];
        let mut seen = 0;
        for (to, column) in row.iter_mut().zip(columns) {
            *to = number(column).ok_or(UNKNOWN)?;
            seen += 1;
        }
        if seen <= IDLE {
            return Err(UNKNOWN);
        }
        if self.cpu.last().is_none_or(|(last, _)| *last < block) {
            self.cpu.push((block, row));
        }
        Ok(())
    }

    /// The second in which the kernel started, if its wall clock was not set
    /// meanwhile.
    pub(super) fn booted_s(&self) -> Option<i64> {
        let (first, last) = self.booted?;
        // The kernel derives it anew each time, so it may wobble.
        ((first - last).abs() <= 1).then_some(first)
    }

    pub(super) fn counters(&self, clock: ClockId, import: &mut Import<'_>) {
        self.blocks.say_if_cut(import);
        let Some(at) = self.at else {
            return;
        };
        let whole = self.blocks.whole();
        let shares: [(&str, &[usize]); 5] = [
            ("cpu user", &[USER, NICE]),
            ("cpu system", &[SYSTEM, IRQ, SOFTIRQ]),
            ("cpu iowait", &[IOWAIT]),
            ("cpu idle", &[IDLE]),
            ("cpu stolen", &[STEAL]),
        ];
        for (name, columns) in shares {
            let samples = self.shares(columns);
            // Only a guest of a busy host has any.
            if columns != [STEAL] || samples.iter().any(|(_, share)| *share > 0.0) {
                import.counter(clock, (name, "%"), samples, at);
            }
        }
        for (name, list) in [("runnable", &self.running), ("blocked", &self.blocked)] {
            let samples = list.iter().filter(|(block, _)| *block < whole);
            let samples = samples.map(|(block, n)| (self.blocks.times[*block], *n as f64));
            import.counter(clock, (name, "processes"), samples.collect(), at);
        }
        import.counter(clock, ("forks", "per second"), self.fork_rate(whole), at);
    }

    /// The share of some columns in each time between two samples, in %.
    fn shares(&self, columns: &[usize]) -> Vec<(i64, f64)> {
        let mut samples = Vec::new();
        for pair in self.cpu.windows(2) {
            let ((from, before), (to, after)) = (&pair[0], &pair[1]);
            if *to >= self.blocks.whole() {
                continue;
            }
            let spent = |column: usize| after[column].saturating_sub(before[column]).max(0);
            let all = (0..COLUMNS).map(spent).fold(0, i64::saturating_add);
            if all > 0 {
                let part = columns.iter().map(|c| spent(*c));
                let part = part.fold(0, i64::saturating_add);
                let share = part as f64 * 100.0 / all as f64;
                samples.push((self.blocks.times[*from], share));
            }
        }
        samples
    }

    fn fork_rate(&self, whole: usize) -> Vec<(i64, f64)> {
        let mut samples = Vec::new();
        for pair in self.forks.windows(2) {
            let ((from, before), (to, after)) = (pair[0], pair[1]);
            let (start, end) = (self.blocks.times[from], self.blocks.times[to]);
            if to < whole && start < end && before <= after {
                samples.push((start, per_second((after - before) as f64, start, end)));
            }
        }
        samples
    }
}
