//! What the clocks of a trace have to do with each other: `ClockSnapshot`s read all of them
//! at one moment, every few seconds.
//!
//! Everything is put on `CLOCK_BOOTTIME`, which is the trace's own. Clocks with numbers from
//! 64 to 127 are of one sequence of packets; of an *incremental* one each time counts from
//! the one before.

use std::collections::HashMap;

use super::schema::{ClockSnapshot, SnapshotClock};

pub(super) const REALTIME: u32 = 1;
pub(super) const BOOTTIME: u32 = 6;

/// Clocks with these numbers are of one sequence.
const OF_SEQUENCE: std::ops::Range<u32> = 64..128;

/// Sequences that have clocks of their own are threads of programs.
const MAX_CLOCKS: usize = 65_536;

/// Which clock: its sequence, if it is one's own, and its number.
type Id = (u32, u32);

/// What the snapshots so far say.
#[derive(Default)]
pub(super) struct Clocks {
    known: HashMap<Id, Known>,
}

struct Known {
    /// The same moment: in units of the clock, and ns of `CLOCK_BOOTTIME`.
    at: u64,
    boot_ns: i64,
    unit_ns: u64,
    /// The last time that was told, where each counts from the one before.
    last: Option<u64>,
}

fn id(sequence: u32, clock: u32) -> Id {
    (
        if OF_SEQUENCE.contains(&clock) {
            sequence
        } else {
            0
        },
        clock,
    )
}

impl Clocks {
    /// Takes a snapshot that `sequence` wrote.
    pub(super) fn snapshot(&mut self, sequence: u32, snapshot: &ClockSnapshot) {
        // A program's own snapshot has its clocks and one that the service relates to all.
        let related = |clock: &SnapshotClock| {
            let (number, at) = (clock.clock_id?, clock.timestamp?);
            (number < OF_SEQUENCE.start).then(|| self.boot_ns(sequence, number, at))?
        };
        // Its own is the nearest.
        let mut clocks: Vec<&SnapshotClock> = snapshot.clocks.iter().collect();
        clocks.sort_by_key(|clock| clock.clock_id != Some(BOOTTIME));
        let Some(boot_ns) = clocks.into_iter().find_map(related) else {
            return;
        };
        for clock in &snapshot.clocks {
            let (Some(number), Some(at)) = (clock.clock_id, clock.timestamp) else {
                continue;
            };
            let id = id(sequence, number);
            if self.known.len() < MAX_CLOCKS || self.known.contains_key(&id) {
                let known = Known {
                    at,
                    boot_ns,
                    unit_ns: clock.unit_multiplier_ns.unwrap_or(1).max(1),
                    last: clock.is_incremental().then_some(at),
                };
                self.known.insert(id, known);
            }
        }
    }

    /// `time` of this clock as ns of `CLOCK_BOOTTIME`; `None` if nothing relates the two.
    pub(super) fn boot_ns(&mut self, sequence: u32, clock: u32, time: u64) -> Option<i64> {
        if clock == BOOTTIME {
            return i64::try_from(time).ok();
        }
        let known = self.known.get_mut(&id(sequence, clock))?;
        let time = match &mut known.last {
            Some(last) => {
                *last = last.wrapping_add(time);
                *last
            }
            None => time,
        };
        let since = i128::from(time) - i128::from(known.at);
        let ns = i128::from(known.boot_ns) + since * i128::from(known.unit_ns);
        i64::try_from(ns).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(id: u32, at: u64) -> SnapshotClock {
        SnapshotClock {
            clock_id: Some(id),
            timestamp: Some(at),
            ..SnapshotClock::default()
        }
    }

    #[test]
    fn times_of_other_clocks_are_put_on_the_traces_own() {
        let mut clocks = Clocks::default();
        let micros = SnapshotClock {
            is_incremental: Some(true),
            unit_multiplier_ns: Some(1_000),
            ..clock(64, 50)
        };
        let read = vec![clock(REALTIME, 1_000_000), clock(BOOTTIME, 400), micros];
        clocks.snapshot(3, &ClockSnapshot { clocks: read });
        assert_eq!(clocks.boot_ns(3, BOOTTIME, 7), Some(7));
        assert_eq!(clocks.boot_ns(9, REALTIME, 999_900), Some(300));
        assert_eq!(clocks.boot_ns(3, 64, 5), Some(5_400));
        assert_eq!(clocks.boot_ns(3, 64, 5), Some(10_400));
        // Another sequence's, and what no snapshot has.
        assert_eq!(
            (clocks.boot_ns(4, 64, 5), clocks.boot_ns(3, 2, 5)),
            (None, None)
        );
        assert_eq!(clocks.boot_ns(3, BOOTTIME, u64::MAX), None);
    }

    #[test]
    fn a_programs_clock_is_known_by_one_that_the_service_read() {
        let mut clocks = Clocks::default();
        let read = vec![clock(3, 1_000), clock(BOOTTIME, 5_000)];
        clocks.snapshot(1, &ClockSnapshot { clocks: read });
        let own = vec![clock(3, 1_100), clock(65, 7)];
        clocks.snapshot(2, &ClockSnapshot { clocks: own });
        assert_eq!(clocks.boot_ns(2, 65, 9), Some(5_102));
        // What the service read later is nearer; what a program did relates no others.
        assert_eq!(clocks.boot_ns(1, 3, 1_200), Some(5_200));
    }

    #[test]
    fn a_snapshot_without_the_traces_clock_relates_nothing() {
        let mut clocks = Clocks::default();
        let read = vec![clock(REALTIME, 1_000_000)];
        clocks.snapshot(1, &ClockSnapshot { clocks: read });
        assert_eq!(clocks.boot_ns(1, REALTIME, 5), None);
    }
}
