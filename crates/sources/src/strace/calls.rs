//! Names of system calls, what each means for time, and sums.

use std::collections::HashMap;

use foldhash::fast::FixedState;

/// What is worth knowing of a call by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It works, as long as it takes.
    Plain,
    /// It waits for somebody: a child, a timer, a file descriptor.
    Wait,
    /// It waits if it takes long ([`super::WORTH_NS`]): reading, accepting.
    Slow,
    /// It waits if its operation is to wait.
    Futex,
    /// Opens a file.
    Open,
    /// Executes a program.
    Exec,
    /// Makes a process or a thread.
    Fork,
    /// Makes a process and waits until that executes a program.
    Vfork,
    /// Does not return.
    Exit,
    /// Returns the number of the thread that calls it.
    OwnPid,
    /// Writes, perhaps a line to the console.
    Write,
    /// Perhaps names its thread.
    Prctl,
}

fn kind(name: &[u8]) -> Kind {
    match name {
        b"wait4"
        | b"waitid"
        | b"waitpid"
        | b"poll"
        | b"ppoll"
        | b"ppoll_time64"
        | b"select"
        | b"_newselect"
        | b"pselect6"
        | b"pselect6_time64"
        | b"epoll_wait"
        | b"epoll_pwait"
        | b"epoll_pwait2"
        | b"nanosleep"
        | b"clock_nanosleep"
        | b"clock_nanosleep_time64"
        | b"pause"
        | b"rt_sigsuspend"
        | b"sigsuspend"
        | b"rt_sigtimedwait"
        | b"rt_sigtimedwait_time64"
        | b"io_getevents"
        | b"io_pgetevents"
        | b"io_uring_enter"
        | b"restart_syscall"
        | b"futex_wait"
        | b"futex_waitv"
        | b"semtimedop"
        | b"semtimedop_time64" => Kind::Wait,
        b"read" | b"readv" | b"pread64" | b"recv" | b"recvfrom" | b"recvmsg" | b"recvmmsg"
        | b"recvmmsg_time64" | b"accept" | b"accept4" | b"connect" | b"flock" | b"fcntl"
        | b"fcntl64" | b"msgrcv" | b"mq_timedreceive" | b"semop" | b"fsync" | b"fdatasync"
        | b"syncfs" | b"sync" | b"sync_file_range" => Kind::Slow,
        b"futex" | b"futex_time64" => Kind::Futex,
        b"open" | b"openat" | b"openat2" | b"creat" => Kind::Open,
        b"execve" | b"execveat" => Kind::Exec,
        b"vfork" => Kind::Vfork,
        b"clone" | b"clone3" | b"clone2" | b"fork" => Kind::Fork,
        b"exit" | b"exit_group" => Kind::Exit,
        b"set_tid_address" | b"gettid" => Kind::OwnPid,
        b"write" => Kind::Write,
        b"prctl" => Kind::Prctl,
        _ => Kind::Plain,
    }
}

/// Different names are kept up to here; Linux has under 500 calls.
const MAX_NAMES: usize = 2_000;

/// The names met, by number.
pub(super) struct Names {
    ids: HashMap<Box<[u8]>, u16, FixedState>,
    all: Vec<(Box<[u8]>, Kind)>,
}

impl Names {
    pub(super) fn new() -> Self {
        Self {
            ids: HashMap::with_hasher(FixedState::with_seed(0)),
            all: Vec::new(),
        }
    }

    /// The number of `name`; names beyond reason share one.
    pub(super) fn id(&mut self, name: &[u8]) -> u16 {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let name: &[u8] = if self.all.len() < MAX_NAMES {
            name
        } else {
            b"other"
        };
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = self.all.len() as u16;
        self.ids.insert(name.into(), id);
        self.all.push((name.into(), kind(name)));
        id
    }

    pub(super) fn kind(&self, id: u16) -> Kind {
        self.all[usize::from(id)].1
    }

    pub(super) fn bytes(&self, id: u16) -> &[u8] {
        &self.all[usize::from(id)].0
    }

    pub(super) fn text(&self, id: u16) -> &str {
        crate::text::valid(self.bytes(id))
    }
}

/// All calls of one name by one process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    pub(super) name: u16,
    pub(super) count: u64,
    pub(super) took_ns: i64,
}

/// All calls of one process.
#[derive(Debug, Default)]
pub(super) struct Sums {
    by_name: Vec<Sum>,
    /// How many.
    pub(super) count: u64,
    /// Time in all of them, as far as it is known.
    pub(super) took_ns: i64,
    /// The part of it in calls that waited.
    pub(super) wait_ns: i64,
    /// Of how many the time is known.
    pub(super) timed: u64,
    /// Files that were opened, and that could not be.
    pub(super) opens: u64,
    pub(super) failed_opens: u64,
    /// Calls that failed because there is no such file.
    pub(super) enoent: u64,
}

impl Sums {
    pub(super) fn add(&mut self, name: u16, took_ns: Option<i64>) {
        let found = self.by_name.iter_mut().find(|s| s.name == name);
        let sum = match found {
            Some(sum) => sum,
            None => {
                self.by_name.push(Sum {
                    name,
                    ..Sum::default()
                });
                self.by_name.last_mut().expect("just added")
            }
        };
        sum.count += 1;
        self.count += 1;
        if let Some(ns) = took_ns {
            sum.took_ns = sum.took_ns.saturating_add(ns);
            self.took_ns = self.took_ns.saturating_add(ns);
            self.timed += 1;
        }
    }

    /// The `n` names that took longest, or were called most.
    pub(super) fn top(&self, n: usize) -> Vec<Sum> {
        let mut all = self.by_name.clone();
        all.sort_by_key(|s| (-s.took_ns, std::cmp::Reverse(s.count)));
        all.truncate(n);
        all
    }
}

/// `12us`, `4.5ms`, `1.2s`.
pub(super) fn short(ns: i64) -> String {
    let tenths = |unit: i64| format!("{}.{}", ns / unit, ns % unit / (unit / 10));
    if ns < 1_000_000 {
        format!("{}us", ns / 1_000)
    } else if ns < 1_000_000_000 {
        format!("{}ms", tenths(1_000_000))
    } else {
        format!("{}s", tenths(1_000_000_000))
    }
}
