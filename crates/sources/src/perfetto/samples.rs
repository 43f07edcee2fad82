//! What Perfetto looked at in intervals (`linux.sys_stats`): memory, and the CPUs' time.

use std::collections::BTreeMap;

use bootlap_model::{ClockId, Evidence};

use super::schema::SysStats;
use crate::cpu_time::{self, Look};
use crate::text::Import;

/// `MeminfoCounters`, and what each is called here.
const MEMORY: [(i32, &str); 9] = [
    (1, "memory total"),
    (2, "memory free"),
    (3, "memory available"),
    (4, "memory buffers"),
    (5, "memory cached"),
    (15, "swap total"),
    (16, "swap free"),
    (17, "memory dirty"),
    (18, "memory being written back"),
];

/// All looks, in the order of the file.
#[derive(Default)]
pub(super) struct Samples {
    /// By counter: ns and kB.
    memory: BTreeMap<i32, Vec<(i64, f64)>>,
    cpu: Vec<Look>,
    first: Option<Evidence>,
}

impl Samples {
    pub(super) fn add(&mut self, ns: i64, stats: &SysStats, at: Evidence) {
        self.first.get_or_insert(at);
        for value in &stats.meminfo {
            if let (Some(key), Some(kb)) = (value.key, value.value) {
                self.memory.entry(key).or_default().push((ns, kb as f64));
            }
        }
        let mut columns = [0_u64; 8];
        for cpu in &stats.cpu_stat {
            let times = [
                cpu.user_ns,
                cpu.user_nice_ns,
                cpu.system_mode_ns,
                cpu.idle_ns,
                cpu.io_wait_ns,
                cpu.irq_ns,
                cpu.softirq_ns,
                cpu.steal_ns,
            ];
            for (column, ns) in columns.iter_mut().zip(times) {
                *column = column.saturating_add(ns.unwrap_or(0));
            }
        }
        if !stats.cpu_stat.is_empty() {
            self.cpu.push((ns, columns));
        }
    }

    pub(super) fn finish(mut self, clock: ClockId, import: &mut Import<'_>) {
        let Some(at) = self.first else {
            return;
        };
        for (key, name) in MEMORY {
            let mut samples = self.memory.remove(&key).unwrap_or_default();
            samples.sort_by_key(|(ns, _)| *ns);
            // A machine without swap says so each time.
            if samples.iter().any(|(_, kb)| *kb > 0.0) {
                import.counter(clock, (name, "kB"), samples, at);
            }
        }
        self.cpu.sort_by_key(|(ns, _)| *ns);
        cpu_time::counters(&self.cpu, clock, at, import);
    }
}
