//! A guest that nothing will wake again.
//!
//! Where instructions are counted, an idle guest's time jumps to its next timer. So a QEMU
//! that sleeps has no timer left: its guest's time stands still, and waiting for it until
//! the target's timeout tells nobody anything.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long it must sleep.
const AFTER: Duration = Duration::from_secs(10);
/// How often that is looked at.
const LOOKS: Duration = Duration::from_millis(500);

/// Watches a process.
pub(super) struct Idle {
    looked: Instant,
    asleep_since: Instant,
    cpu_ticks: u64,
}

impl Idle {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self {
            looked: now,
            asleep_since: now,
            cpu_ticks: 0,
        }
    }

    /// Whether all threads have slept for so long that nothing will wake them.
    pub(super) fn for_good(&mut self, pid: u32) -> bool {
        let now = Instant::now();
        if now.duration_since(self.looked) < LOOKS {
            return false;
        }
        self.looked = now;
        let process = Path::new("/proc").join(pid.to_string());
        let ticks = stat(&process).map(|stat| stat.cpu_ticks);
        if ticks != Some(self.cpu_ticks) || !all_sleep(&process.join("task")) {
            self.cpu_ticks = ticks.unwrap_or(0);
            self.asleep_since = now;
        }
        now.duration_since(self.asleep_since) >= AFTER
    }
}

/// What `/proc/PID/stat` says.
struct Stat {
    sleeps: bool,
    cpu_ticks: u64,
}

fn stat(process: &Path) -> Option<Stat> {
    let text = fs::read_to_string(process.join("stat")).ok()?;
    // Behind the name, which may hold anything.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Stat {
        sleeps: *fields.first()? == "S",
        cpu_ticks: number(11)? + number(12)?,
    })
}

fn all_sleep(threads: &Path) -> bool {
    let Ok(listed) = fs::read_dir(threads) else {
        return false;
    };
    listed
        .flatten()
        .all(|thread| stat(&thread.path()).is_some_and(|stat| stat.sleeps))
}
