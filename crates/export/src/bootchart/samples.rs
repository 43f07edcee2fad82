//! When the samples are: as often as the evidence looked, else every 200 ms.
//!
//! A process that began and ended between two of them gets one more sample, at its
//! begin; so each is listed at least once. Very long or very full boots are looked
//! at less often, so that the file stays of a size that tools can read.

use std::collections::BTreeSet;

use bootlap_model::{Axis, Stamp, Timeline};

use super::JIFFY_NS;
use super::tasks::Tasks;

/// 200 ms, as bootchart did it.
const STEP: i64 = 20;
const MAX_SAMPLES: i64 = 10_000;
/// Lines in all; each has some 80 bytes.
const MAX_ROWS: i64 = 2_000_000;
/// Readers take a recording that begins earlier for one that counts from its own
/// start, as nothing runs so early in a kernel.
const EARLIEST: i64 = 6;

/// The samples of an archive.
pub(super) struct Samples {
    /// Jiffies on the reference clock, rising.
    pub(super) times: Vec<i64>,
    /// What is added to them in the archive, s.
    pub(super) moved_s: i64,
    /// How many processes were too short for any of them.
    pub(super) left_out: usize,
}

/// When the evidence itself looked at the CPUs, jiffies on the reference clock.
pub(super) fn own(timeline: &Timeline, axis: &Axis) -> Vec<i64> {
    let mut counters = timeline.counters.iter();
    let cpu = counters.find(|c| timeline.text(c.name) == "cpu idle");
    let samples = cpu.into_iter().flat_map(|c| {
        let at = |(ns, _): &(i64, f64)| axis.at(c.clock, Stamp::new(*ns, 0));
        c.samples.iter().filter_map(at)
    });
    samples.map(|at| at.ns.div_euclid(JIFFY_NS)).collect()
}

impl Samples {
    pub(super) fn of(tasks: &Tasks, own: &[i64]) -> Self {
        let (first, last) = (tasks.first, tasks.last);
        let length = (last - first).max(1);
        let lives = tasks.all.iter().map(|task| task.to - task.from);
        let lives = lives.fold(0, i64::saturating_add);
        let step = STEP.max(length / MAX_SAMPLES + 1).max(lives / MAX_ROWS + 1);
        let mut times: BTreeSet<i64> = own.iter().copied().collect();
        times.retain(|time| (first..last).contains(time));
        let count = times.len() as i64;
        if step > STEP || count > MAX_SAMPLES || lives / length * count > MAX_ROWS {
            times.clear();
        }
        let begin = times.first().copied().unwrap_or(last);
        let end = times.last().copied().unwrap_or(last);
        let every = |from: i64, to: i64| (from..to).step_by(step as usize).skip(1);
        times.extend(every(first, begin).chain(every(end, last)));
        times.insert(last);
        if times.len() == 1 {
            times.insert(first);
        }
        let mut room = MAX_SAMPLES.min(MAX_ROWS / (lives / length + 1));
        let mut left_out = 0;
        for task in &tasks.all {
            if times.range(task.from..task.to).next().is_none() {
                match room {
                    0 => left_out += 1,
                    _ => {
                        times.insert(task.from);
                        room -= 1;
                    }
                }
            }
        }
        let first_sample = times.first().copied().unwrap_or(last);
        let early = first.min(first_sample - EARLIEST);
        Self {
            times: times.into_iter().collect(),
            moved_s: (-early).max(0).saturating_add(99) / 100,
            left_out,
        }
    }

    /// A time as the archive has it.
    pub(super) fn shown(&self, time: i64) -> i64 {
        time + self.moved_s * 100
    }

    /// The places of the samples that are in these jiffies.
    pub(super) fn within(&self, from: i64, to: i64) -> std::ops::Range<usize> {
        let place = |time: i64| self.times.partition_point(|t| *t < time);
        place(from)..place(to)
    }
}
