//! Which functions sleep, and when they did.

/// Functions whose time is not work: their task is off the CPU, or the CPU has
/// nothing to do. Whoever calls them waits.
const SLEEPS: [&str; 42] = [
    "schedule",
    "__schedule",
    "do_schedule",
    "__cond_resched",
    "_cond_resched",
    "cond_resched",
    "switch_to",
    "__switch_to",
    "yield",
    "sleep_on",
    "interruptible_sleep_on",
    "sleep_on_timeout",
    "interruptible_sleep_on_timeout",
    "fsleep",
    "ssleep",
    "do_nanosleep",
    "hrtimer_nanosleep",
    "nanosleep",
    "wait_for_common",
    "__wait_for_common",
    "wait_on_page_bit",
    "__wait_on_buffer",
    "__wait_on_bit",
    "__wait_on_bit_lock",
    "out_of_line_wait_on_bit",
    "__lock_page",
    "bit_wait",
    "bit_wait_io",
    "wait_woken",
    "wait_rcu_gp",
    "__wait_rcu_gp",
    "synchronize_rcu",
    "synchronize_rcu_expedited",
    "cpu_idle",
    "cpu_idle_loop",
    "do_idle",
    "default_idle",
    "arch_cpu_idle",
    "default_idle_call",
    "mwait_idle",
    "poll_idle",
    "cpu_startup_entry",
];

/// What names of more of them begin with.
const FAMILIES: [&str; 14] = [
    "schedule_timeout",
    "schedule_hrtimeout",
    "schedule_preempt",
    "preempt_schedule",
    "io_schedule",
    "msleep",
    "usleep_range",
    "wait_for_completion",
    "wait_event",
    "wait_on_bit",
    "rwsem_down_",
    "__mutex_lock_slowpath",
    "cpuidle_enter",
    "async_synchronize_",
];

/// Whether a function's time is sleep.
pub(super) fn is_sleep(name: &str) -> bool {
    // The compiler's copies: `schedule_timeout.part.0`, `schedule.isra.1`.
    let name = name.split('.').next().unwrap_or(name);
    SLEEPS.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family))
}

/// When a task slept: intervals in order, apart from each other.
#[derive(Default)]
pub(super) struct Asleep {
    /// Start, end, and how long it slept up to the end.
    naps: Vec<(i64, i64, i64)>,
}

impl FromIterator<(i64, i64)> for Asleep {
    /// From intervals in order of start.
    fn from_iter<I: IntoIterator<Item = (i64, i64)>>(intervals: I) -> Self {
        let mut naps: Vec<(i64, i64, i64)> = Vec::new();
        for (start, end) in intervals {
            match naps.last_mut() {
                Some((_, until, sum)) if start <= *until => {
                    let more = end.saturating_sub(*until).max(0);
                    *sum = sum.saturating_add(more);
                    *until = end.max(*until);
                }
                last => {
                    let before = last.map_or(0, |(.., sum)| *sum);
                    let long = end.saturating_sub(start);
                    naps.push((start, end, before.saturating_add(long)));
                }
            }
        }
        Self { naps }
    }
}

impl Asleep {
    /// How much of `from_ns..to_ns` it slept.
    pub(super) fn between(&self, from_ns: i64, to_ns: i64) -> i64 {
        self.until(to_ns).saturating_sub(self.until(from_ns)).max(0)
    }

    /// How long it slept before `ns`.
    fn until(&self, ns: i64) -> i64 {
        let begun = self.naps.partition_point(|(start, ..)| *start < ns);
        let Some((_, end, sum)) = begun.checked_sub(1).map(|at| self.naps[at]) else {
            return 0;
        };
        sum.saturating_sub(end.saturating_sub(ns).max(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_sleeps() {
        for sleeps in [
            "schedule",
            "schedule_timeout.part.0",
            "wait_for_completion_killable",
            "msleep",
        ] {
            assert!(is_sleep(sleeps), "{sleeps}");
        }
        for works in [
            "schedule_work",
            "sched_init",
            "__delay",
            "udelay",
            "wake_up_process",
        ] {
            assert!(!is_sleep(works), "{works}");
        }
    }

    #[test]
    fn naps_are_cut() {
        let asleep: Asleep = [(10, 20), (15, 18), (30, 40), (35, 50)]
            .into_iter()
            .collect();
        assert_eq!(asleep.between(0, 100), 30);
        assert_eq!(asleep.between(12, 32), 10);
        assert_eq!(asleep.between(20, 30), 0);
        assert_eq!(asleep.between(i64::MIN, 11), 1);
    }
}
