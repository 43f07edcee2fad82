//! Working or waiting: what instruction counts say.

use bootlap_model::{Stamp, Timeline};

use crate::view::View;

/// Intervals of fewer instructions say too little about the rate: the probe
/// counts by translation block, so both ends are off by up to a few hundred.
const LONG_INSNS: u64 = 100_000;

/// An estimate is given only if it is known to this share of the interval.
const TOLERANCE: f64 = 0.02;

/// Tells work from waiting within one boot.
///
/// Only in simulated time does an instruction take a fixed time; on any other
/// clock the share of waiting stays unknown.
#[derive(Clone, Debug)]
pub struct Meter {
    ns_per_insn: Option<u64>,
    /// Counted moments as `(ns, instructions)`, both growing.
    counted: Vec<(i64, u64)>,
}

impl Meter {
    /// A meter that reads the rate off the data (see [`ns_per_insn`]).
    pub fn of(timeline: &Timeline) -> Self {
        Self::in_view(&View::of(timeline))
    }

    /// A meter for a machine that was told to take `ns_per_insn` (QEMU's
    /// `-icount shift=N` takes 2^N).
    pub fn with_rate(timeline: &Timeline, ns_per_insn: u64) -> Self {
        Self {
            ns_per_insn: Some(ns_per_insn).filter(|&n| n > 0),
            counted: counted(&View::of(timeline)),
        }
    }

    pub(crate) fn in_view(view: &View) -> Self {
        let counted = counted(view);
        let ns_per_insn = if view.simulated() {
            rate(&counted)
        } else {
            None
        };
        Self {
            ns_per_insn,
            counted,
        }
    }

    /// Nanoseconds that one instruction takes, if that is known.
    pub fn ns_per_insn(&self) -> Option<u64> {
        self.ns_per_insn
    }

    /// Instructions executed from `start` to `end`: counted where both ends
    /// were counted, else estimated where the counted moments around leave
    /// less than 2 % of doubt.
    pub fn instructions(&self, start: &Stamp, end: &Stamp) -> Option<u64> {
        self.instructions_in(&[(*start, *end)])
    }

    /// Instructions executed in several stretches together.
    pub(crate) fn instructions_in(&self, stretches: &[(Stamp, Stamp)]) -> Option<u64> {
        let counted = stretches.iter().map(|(start, end)| start.insns_until(end));
        if let Some(counted) = counted.sum::<Option<u64>>() {
            return Some(counted);
        }
        let (mut least, mut most, mut duration_ns) = (0.0, 0.0, 0.0);
        for (start, end) in stretches {
            let (from, to) = (self.bounds(start)?, self.bounds(end)?);
            least += (to.0 - from.1).max(0.0);
            most += (to.1 - from.0).max(0.0);
            duration_ns += end.ns.saturating_sub(start.ns) as f64;
        }
        let doubt_ns = (most - least) / 2.0 * self.ns_per_insn? as f64;
        let sure = duration_ns > 0.0 && doubt_ns <= TOLERANCE * duration_ns;
        sure.then(|| f64::midpoint(least, most).round() as u64)
    }

    /// How much of `start..end` the machine waited, 0 to 1.
    pub fn idle_share(&self, start: &Stamp, end: &Stamp) -> Option<f64> {
        let duration_ns = end.ns.saturating_sub(start.ns);
        self.share(self.instructions(start, end)?, duration_ns)
    }

    /// The share of waiting in `duration_ns` that saw `instructions`.
    pub(crate) fn share(&self, instructions: u64, duration_ns: i64) -> Option<f64> {
        let busy_ns = instructions as f64 * self.ns_per_insn? as f64;
        (duration_ns > 0).then(|| (1.0 - busy_ns / duration_ns as f64).clamp(0.0, 1.0))
    }

    /// The least and the most that the count can have been at `at`: between
    /// two counted moments the machine worked at most at its full rate.
    fn bounds(&self, at: &Stamp) -> Option<(f64, f64)> {
        if let Some(insns) = at.insns {
            return Some((insns as f64, insns as f64));
        }
        let rate = self.ns_per_insn? as f64;
        let err_ns = f64::from(at.err_ns);
        let later = self.counted.partition_point(|c| c.0 <= at.ns);
        let (before, after) = (
            *self.counted.get(later.checked_sub(1)?)?,
            *self.counted.get(later)?,
        );
        let since_ns = at.ns.saturating_sub(before.0) as f64 + err_ns;
        let until_ns = after.0.saturating_sub(at.ns) as f64 + err_ns;
        let least = (after.1 as f64 - until_ns / rate).max(before.1 as f64);
        let most = (before.1 as f64 + since_ns / rate).min(after.1 as f64);
        Some((least.min(most), most.max(least)))
    }
}

/// Nanoseconds per instruction of a simulated boot, read off its counted
/// stamps; `None` if it is not simulated or too little was counted.
///
/// A machine that works all the time takes exactly 2^shift ns per instruction,
/// one that waits takes more. So: the ratio of the busiest intervals (the
/// busiest that hold 1 % of all instructions, so that one bad stamp does not
/// decide), down to a power of two.
pub fn ns_per_insn(timeline: &Timeline) -> Option<u64> {
    Meter::of(timeline).ns_per_insn()
}

/// The counted moments, by time; counts that fall are left out.
pub(crate) fn counted(view: &View) -> Vec<(i64, u64)> {
    let mut counted = view.counted();
    counted.sort_unstable();
    counted.dedup_by_key(|c| c.0);
    let mut most = 0;
    counted.retain(|c| {
        let grows = c.1 >= most;
        most = most.max(c.1);
        grows
    });
    counted
}

fn rate(counted: &[(i64, u64)]) -> Option<u64> {
    let mut ratios: Vec<(f64, u64)> = Vec::new();
    let mut from = *counted.first()?;
    for &to in counted {
        let insns = to.1 - from.1;
        if insns >= LONG_INSNS {
            let duration_ns = to.0.saturating_sub(from.0);
            ratios.push((duration_ns as f64 / insns as f64, insns));
            from = to;
        }
    }
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: u64 = ratios.iter().map(|r| r.1).sum();
    let mut seen = 0;
    let busiest = ratios.iter().find(|r| {
        seen += r.1;
        seen >= all / 100
    })?;
    // 1 % of slack: the ends of an interval are not read at the same instant.
    let shift = (busiest.0 * 1.01).log2().floor();
    (0.0..=20.0).contains(&shift).then(|| 1 << shift as u32)
}

#[cfg(test)]
mod tests {
    use bootlap_model::TrackKind;

    use super::*;
    use crate::build::Boot;

    /// 2 ns per instruction; waits from 3 ms to 8 ms.
    fn boot() -> Boot {
        let mut boot = Boot::sim();
        let at = [
            (0, 0),
            (3_000_000, 1_500_000),
            (8_000_000, 1_500_010),
            (9_000_000, 2_000_010),
        ];
        for pair in at.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            boot.span_at(
                TrackKind::Console,
                Stamp::counted(from.0, from.1),
                Stamp::counted(to.0, to.1),
                "x",
            );
        }
        boot
    }

    #[test]
    fn the_rate_is_that_of_the_busiest_intervals() {
        assert_eq!(ns_per_insn(&boot().timeline), Some(2));
        let mut jitter = Boot::sim();
        jitter.span_at(
            TrackKind::Console,
            Stamp::counted(0, 0),
            Stamp::counted(3_999_000, 1_000_000),
            "x",
        );
        assert_eq!(ns_per_insn(&jitter.timeline), Some(4));
    }

    #[test]
    fn waiting_is_time_without_instructions() {
        let meter = Meter::of(&boot().timeline);
        let idle = |a: (i64, u64), b: (i64, u64)| {
            meter.idle_share(&Stamp::counted(a.0, a.1), &Stamp::counted(b.0, b.1))
        };
        assert_eq!(idle((0, 0), (3_000_000, 1_500_000)), Some(0.0));
        let share = idle((3_000_000, 1_500_000), (8_000_000, 1_500_010)).unwrap();
        assert!(share > 0.999, "{share}");
    }

    #[test]
    fn where_the_machine_only_worked_or_only_waited_a_count_can_be_told() {
        let meter = Meter::of(&boot().timeline);
        let insns = |a, b| meter.instructions(&Stamp::new(a, 0), &Stamp::new(b, 0));
        assert_eq!(insns(1_000_000, 2_000_000), Some(500_000));
        assert_eq!(insns(4_000_000, 7_000_000), Some(5));
        assert_eq!(insns(-5, 7_000_000), None, "nothing was counted before 0");
    }

    #[test]
    fn a_board_has_no_fixed_rate() {
        let mut boot = Boot::board();
        boot.span_at(
            TrackKind::Console,
            Stamp::counted(0, 0),
            Stamp::counted(4_000_000, 1_000_000),
            "x",
        );
        assert_eq!(ns_per_insn(&boot.timeline), None);
        let idle =
            Meter::of(&boot.timeline).idle_share(&Stamp::counted(0, 0), &Stamp::counted(9, 1));
        assert_eq!(idle, None);
    }
}
