//! The processes that were sampled: one entry for each, from fork to end.

use std::collections::HashMap;

use bootlap_model::{Evidence, Sym};

use super::blocks::{Blocks, JIFFY_NS};

/// More processes than any boot has.
const MAX_PROCESSES: usize = 1 << 20;
/// Names that one process is remembered by.
const MAX_NAMES: usize = 8;

/// What a process was doing when it was sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Running,
    /// In uninterruptible sleep: mostly waiting for a disk.
    Disk,
    Sleeping,
    /// It has ended, and its parent has not asked how.
    Gone,
}

/// What one sample says of a process.
pub(super) struct Seen {
    pub(super) pid: u32,
    pub(super) ppid: u32,
    pub(super) name: Sym,
    /// When it was forked, ns of uptime.
    pub(super) start_ns: Option<i64>,
    pub(super) state: Option<State>,
    /// CPU time since its start.
    pub(super) cpu_ns: i64,
    /// CPU time of its children that ended and were waited for.
    pub(super) children_ns: i64,
    /// Time that it waited for disks.
    pub(super) io_ns: i64,
    pub(super) threads: u32,
    pub(super) kernel: bool,
    pub(super) at: Evidence,
}

/// A process.
pub(super) struct Process {
    pub(super) pid: u32,
    /// Its parent when it was first seen.
    pub(super) ppid: u32,
    pub(super) start_ns: Option<i64>,
    /// The block in which it was first seen.
    pub(super) first: usize,
    /// The last block in which it was alive; `None` if it never was.
    pub(super) alive: Option<usize>,
    /// The last block in which it was listed.
    pub(super) last: usize,
    /// Its names, and in which block each was first seen.
    pub(super) names: Vec<(Sym, usize)>,
    pub(super) cpu_ns: i64,
    pub(super) children_ns: i64,
    pub(super) io_ns: i64,
    /// Time spent running, waiting for disks and sleeping, by its samples.
    pub(super) states_ns: Option<[i64; 3]>,
    pub(super) threads: u32,
    pub(super) kernel: bool,
    pub(super) at: Evidence,
}

impl Process {
    /// What it is called: the last of its names, as exec replaces them.
    pub(super) fn name(&self) -> Option<Sym> {
        self.names.last().map(|(name, _)| *name)
    }

    /// Whether `seen` is another process to which the kernel gave the pid.
    fn is_other(&self, seen: &Seen) -> bool {
        match (self.start_ns, seen.start_ns) {
            (Some(a), Some(b)) => a != b,
            // Where nothing tells its start: a process does not give back CPU
            // time, unless a thread of it ends.
            _ => seen.cpu_ns < self.cpu_ns && self.name() != Some(seen.name),
        }
    }
}

/// All processes, in the order in which they were first seen.
#[derive(Default)]
pub(super) struct Table {
    pub(super) processes: Vec<Process>,
    /// By pid: who has it now.
    current: HashMap<u32, usize>,
}

impl Table {
    /// Takes a sample; says whether there was room.
    pub(super) fn see(&mut self, seen: &Seen, block: usize, blocks: &Blocks) -> bool {
        let known = self.current.get(&seen.pid).copied();
        let known = known.filter(|at| !self.processes[*at].is_other(seen));
        let at = match known {
            Some(at) => at,
            None if self.processes.len() >= MAX_PROCESSES => return false,
            None => {
                self.processes.push(Process {
                    pid: seen.pid,
                    ppid: seen.ppid,
                    start_ns: seen.start_ns,
                    first: block,
                    alive: None,
                    last: block,
                    names: Vec::new(),
                    cpu_ns: 0,
                    children_ns: 0,
                    io_ns: 0,
                    states_ns: seen.state.map(|_| [0; 3]),
                    threads: 0,
                    kernel: false,
                    at: seen.at,
                });
                self.current.insert(seen.pid, self.processes.len() - 1);
                self.processes.len() - 1
            }
        };
        let process = &mut self.processes[at];
        process.last = block;
        // A zombie keeps no threads and on old kernels no times.
        process.cpu_ns = process.cpu_ns.max(seen.cpu_ns);
        process.children_ns = process.children_ns.max(seen.children_ns);
        process.io_ns = process.io_ns.max(seen.io_ns);
        process.threads = process.threads.max(seen.threads);
        process.kernel |= seen.kernel;
        if process.name() != Some(seen.name) && process.names.len() < MAX_NAMES {
            process.names.push((seen.name, block));
        }
        if seen.state != Some(State::Gone) {
            process.alive = Some(block);
        }
        if let (Some(state), Some(sums)) = (seen.state, &mut process.states_ns) {
            // What it did before the first sample is not known.
            let now = blocks.times[block];
            let before = block
                .checked_sub(1)
                .map_or(now, |block| blocks.times[block]);
            let start = seen.start_ns.filter(|start| *start <= now);
            let spent = now.saturating_sub(start.map_or(before, |start| start.max(before)));
            match state {
                State::Running => sums[0] = sums[0].saturating_add(spent),
                State::Disk => sums[1] = sums[1].saturating_add(spent),
                State::Sleeping => sums[2] = sums[2].saturating_add(spent),
                State::Gone => {}
            }
        }
        true
    }

    /// Whether the pid of a process was used by others too.
    pub(super) fn index(&self) -> ByPid {
        let mut by_pid: HashMap<u32, Vec<usize>> = HashMap::new();
        for (at, process) in self.processes.iter().enumerate() {
            by_pid.entry(process.pid).or_default().push(at);
        }
        ByPid(by_pid)
    }
}

/// Processes by pid, the earlier first.
pub(super) struct ByPid(HashMap<u32, Vec<usize>>);

impl ByPid {
    pub(super) fn of(&self, pid: u32) -> &[usize] {
        self.0.get(&pid).map(Vec::as_slice).unwrap_or_default()
    }

    /// Who had `pid` when process `child` was first seen; not itself.
    pub(super) fn parent(&self, pid: u32, child: usize, processes: &[Process]) -> Option<usize> {
        let all = self.of(pid);
        let block = processes[child].first;
        let later = all.partition_point(|at| processes[*at].first <= block);
        let mut before = all[..later].iter().rev();
        before.find(|at| **at != child).copied()
    }
}

/// Jiffies as ns.
pub(super) fn jiffies_ns(jiffies: i64) -> i64 {
    jiffies.saturating_mul(JIFFY_NS)
}
