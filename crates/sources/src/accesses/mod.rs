//! Which program does what with which file, from system calls, whoever recorded these:
//! strace ([`crate::strace`]), or the kernel's own trace ([`crate::trace`]).
//!
//! A call that reads names a number; which file that is, the call tells that opened it,
//! perhaps in another process: children have their parent's open files, threads share
//! them, `dup` and `fcntl` give them further numbers, a program that is executed loses
//! those that were to be closed then. A number that nobody was seen to open is no file
//! here: it may be a socket, a pipe, or a file that was open before the recording began.

mod call;
mod resolve;

use std::collections::HashMap;

use bootlap_model::{ClockId, Evidence, FileUse, Severity, Stamp, Sym, Symbols, Timeline};
use foldhash::fast::FixedState;

pub(crate) use self::call::{Arg, Args, is_of_files, only_looks, path_place};

use self::call::{Kind, kind};
use self::resolve::{AT_CWD, joined, program};

/// Rows, open files and processes are kept up to here, whatever a recording says.
const MAX_USES: usize = 500_000;
const MAX_OPEN: usize = 1_000_000;
const MAX_PROCESSES: usize = 65_536;
/// A folder that is entered makes all paths in it longer, so names are bounded by themselves.
const MAX_NAMES_BYTES: usize = 64 << 20;

/// What a path is called that could not be read.
const NAMELESS: &str = "(its name could not be read)";

/// One call that is over; or one of which only the beginning is recorded, but which does
/// what it does.
pub(crate) struct Call<'a> {
    pub(crate) pid: u32,
    /// The name of its thread; empty if it is not known.
    pub(crate) comm: &'a str,
    pub(crate) name: &'a str,
    pub(crate) args: &'a dyn Args,
    /// What it returned, an error as a negative number.
    pub(crate) ret: Option<i64>,
    pub(crate) took_ns: Option<i64>,
    pub(crate) clock: ClockId,
    pub(crate) at: Stamp,
    pub(crate) evidence: Evidence,
}

/// An open file.
#[derive(Clone, Copy)]
struct Open {
    path: Sym,
    /// It is closed when a program is executed.
    until_exec: bool,
}

/// What belongs to a process, its threads included.
#[derive(Clone)]
struct Process {
    pid: u32,
    program: Sym,
    /// It is only known by the name of its thread, which may change.
    by_comm: bool,
    open: HashMap<i32, Open, FixedState>,
    folder: Option<Sym>,
}

/// All files that are used, so far.
pub(crate) struct Accesses {
    names: Symbols,
    names_bytes: usize,
    processes: Vec<Process>,
    of: HashMap<u32, usize, FixedState>,
    open: usize,
    /// With whose they are.
    uses: Vec<(usize, FileUse)>,
    rows: HashMap<(usize, Sym, Sym), usize, FixedState>,
    full: Option<Evidence>,
}

impl Default for Accesses {
    fn default() -> Self {
        let hasher = || FixedState::with_seed(0);
        Self {
            names: Symbols::default(),
            names_bytes: 0,
            processes: Vec::new(),
            of: HashMap::with_hasher(hasher()),
            open: 0,
            uses: Vec::new(),
            rows: HashMap::with_hasher(hasher()),
            full: None,
        }
    }
}

impl Accesses {
    /// The process that was known by `before` has the number `pid`.
    pub(crate) fn rename(&mut self, before: u32, pid: u32) {
        if let Some(at) = self.of.remove(&before) {
            self.of.insert(pid, at);
            self.processes[at].pid = pid;
        }
    }

    /// `parent` makes `child`, if that is not known yet; `shares` if they have the same
    /// open files from then on, as threads do.
    pub(crate) fn fork(&mut self, parent: u32, child: u32, shares: bool) {
        if self.of.contains_key(&child) {
            return;
        }
        let Some(from) = self.process(parent, "") else {
            return;
        };
        if shares {
            self.of.insert(child, from);
            return;
        }
        let many = self.open + self.processes[from].open.len() > MAX_OPEN;
        if many || self.processes.len() >= MAX_PROCESSES {
            return;
        }
        let made = Process {
            pid: child,
            ..self.processes[from].clone()
        };
        self.open += made.open.len();
        self.of.insert(child, self.processes.len());
        self.processes.push(made);
    }

    /// `pid` runs the program at `path` from now on; BusyBox runs its applets as
    /// `/proc/self/exe`, and then their names follow.
    pub(crate) fn exec(&mut self, pid: u32, path: &str) {
        let Some(at) = self.process(pid, "") else {
            return;
        };
        let name = self.name(program(path));
        let process = &mut self.processes[at];
        process.program = name;
        process.by_comm = path.starts_with("/proc/");
        let before = process.open.len();
        process.open.retain(|_, open| !open.until_exec);
        self.open -= before - process.open.len();
    }

    /// `pid` has ended: its number may come again.
    pub(crate) fn exit(&mut self, pid: u32) {
        let Some(at) = self.of.remove(&pid) else {
            return;
        };
        let process = &mut self.processes[at];
        if process.pid == pid {
            self.open -= process.open.len();
            process.open = HashMap::with_hasher(FixedState::with_seed(0));
        }
    }

    /// Takes a call; those that do nothing with files are passed over.
    pub(crate) fn call(&mut self, call: &Call<'_>) {
        let Some(kind) = kind(call.name) else {
            return;
        };
        let Some(at) = self.process(call.pid, call.comm) else {
            self.full.get_or_insert(call.evidence);
            return;
        };
        match kind {
            Kind::Open { dir, flags } => self.opened(at, call, dir, flags),
            Kind::Look { dir } => {
                if let Some(path) = self.path(at, call, dir) {
                    self.looked(at, path, call);
                }
            }
            Kind::Exec { dir } => {
                if let Some(path) = self.path(at, call, dir) {
                    match call.ret {
                        Some(ret) if ret < 0 => self.looked(at, path, call),
                        _ => {
                            let path = self.names.text(path).to_owned();
                            self.exec(call.pid, &path);
                            if let Arg::List(name) = call.args.get(dir.map_or(1, |dir| dir + 2))
                                && path.starts_with("/proc/")
                            {
                                self.processes[at].program = self.name(program(&name));
                            }
                        }
                    }
                }
            }
            Kind::Read { fd } => {
                if let (Some(path), Some(bytes)) = (self.file(at, call, fd), call.ret)
                    && bytes >= 0
                    && let Some(row) = self.row(at, path, call)
                {
                    row.reads = row.reads.saturating_add(1);
                    row.bytes = row.bytes.saturating_add(bytes.unsigned_abs());
                }
            }
            Kind::Map { fd } => {
                if call.ret.is_none_or(|ret| !(-4095..0).contains(&ret))
                    && !call.args.get(fd - 1).has(0x20, "MAP_ANON")
                    && let Some(path) = self.file(at, call, fd)
                    && let Some(row) = self.row(at, path, call)
                {
                    row.maps = row.maps.saturating_add(1);
                }
            }
            Kind::Close => {
                if let Arg::Number { value, .. } = call.args.get(0) {
                    self.close(at, value as i32);
                }
            }
            Kind::CloseRange => self.close_range(at, call),
            Kind::Dup => self.dup(at, call),
            Kind::Folder => {
                if call.ret.is_none_or(|ret| ret >= 0)
                    && let Some(path) = self.path(at, call, None)
                {
                    self.processes[at].folder = Some(path);
                }
            }
            Kind::FolderOf => {
                if call.ret.is_none_or(|ret| ret >= 0)
                    && let Some(path) = self.file(at, call, 0)
                {
                    self.processes[at].folder = Some(path);
                }
            }
        }
    }

    /// Adds the rows to `out`.
    pub(crate) fn finish(self, out: &mut Timeline) {
        for (process, mut row) in self.uses {
            row.pid = self.processes[process].pid;
            row.program = match self.names.text(row.program) {
                "" => out.symbols.intern(&format!("pid {}", row.pid)),
                name => out.symbols.intern(name),
            };
            row.path = out.symbols.intern(self.names.text(row.path));
            out.file_uses.push(row);
        }
        if let Some(at) = self.full {
            out.notice(
                "too-many-files",
                Severity::DataLoss,
                Some(at),
                "only the first 65536 processes, and 500000 pairs of a process and a file, are counted: record a part of the boot",
            );
        }
    }

    /// The symbol of a name, or of one for all if there are too many.
    fn name(&mut self, name: &str) -> Sym {
        if let Some(known) = self.names.find(name) {
            return known;
        }
        if self.names_bytes + name.len() > MAX_NAMES_BYTES {
            return self.names.intern(NAMELESS);
        }
        self.names_bytes += name.len();
        self.names.intern(name)
    }

    /// The process that `pid` belongs to.
    fn process(&mut self, pid: u32, comm: &str) -> Option<usize> {
        if let Some(&at) = self.of.get(&pid) {
            let known = &self.processes[at];
            if known.by_comm && known.pid == pid && !comm.is_empty() {
                self.processes[at].program = self.name(comm);
            }
            return Some(at);
        }
        if self.processes.len() >= MAX_PROCESSES {
            return None;
        }
        let program = self.name(comm);
        self.of.insert(pid, self.processes.len());
        self.processes.push(Process {
            pid,
            program,
            by_comm: true,
            open: HashMap::with_hasher(FixedState::with_seed(0)),
            folder: None,
        });
        Some(self.processes.len() - 1)
    }

    fn opened(&mut self, at: usize, call: &Call<'_>, dir: Option<usize>, flags: Option<usize>) {
        let path = match self.path(at, call, dir) {
            Some(path) => path,
            None => self.name(NAMELESS),
        };
        let Some(fd) = call.ret.filter(|ret| *ret >= 0) else {
            return self.looked(at, path, call);
        };
        if let Some(row) = self.row(at, path, call) {
            row.opens = row.opens.saturating_add(1);
        }
        let until_exec = flags.is_some_and(|flags| call.args.get(flags).has(0x8_0000, "O_CLOEXEC"));
        self.set(at, fd as i32, Open { path, until_exec });
    }

    /// A call that only looks whether something is there.
    fn looked(&mut self, at: usize, path: Sym, call: &Call<'_>) {
        const ENOENT: i64 = -2;
        const ENOTDIR: i64 = -20;
        let Some(ret) = call.ret else {
            return;
        };
        let missing = matches!(ret, ENOENT | ENOTDIR);
        if ret < 0 && !missing {
            return;
        }
        if let Some(row) = self.row(at, path, call) {
            let count = if missing {
                &mut row.missing
            } else {
                &mut row.looks
            };
            *count = count.saturating_add(1);
        }
    }

    fn set(&mut self, at: usize, fd: i32, open: Open) {
        if self.open >= MAX_OPEN {
            return;
        }
        if self.processes[at].open.insert(fd, open).is_none() {
            self.open += 1;
        }
    }

    fn close(&mut self, at: usize, fd: i32) {
        if self.processes[at].open.remove(&fd).is_some() {
            self.open -= 1;
        }
    }

    fn close_range(&mut self, at: usize, call: &Call<'_>) {
        const CLOEXEC: (i64, &str) = (4, "CLOSE_RANGE_CLOEXEC");
        let (Arg::Number { value: from, .. }, Arg::Number { value: to, .. }) =
            (call.args.get(0), call.args.get(1))
        else {
            return;
        };
        let only_marks = call.args.get(2).has(CLOEXEC.0, CLOEXEC.1);
        let within = |fd: i32| i64::from(fd) >= from && (to < 0 || i64::from(fd) <= to);
        let process = &mut self.processes[at];
        let before = process.open.len();
        if only_marks {
            for (_, open) in process.open.iter_mut().filter(|(fd, _)| within(**fd)) {
                open.until_exec = true;
            }
        } else {
            process.open.retain(|fd, _| !within(*fd));
        }
        self.open -= before - process.open.len();
    }

    fn dup(&mut self, at: usize, call: &Call<'_>) {
        let Arg::Number { value: from, .. } = call.args.get(0) else {
            return;
        };
        let Some(to) = call.ret.filter(|ret| *ret >= 0) else {
            return;
        };
        let mut until_exec = call.name == "dup3" && call.args.get(2).has(0x8_0000, "O_CLOEXEC");
        if call.name.starts_with("fcntl") {
            const F_DUPFD_CLOEXEC: i64 = 1030;
            let what = call.args.get(1);
            until_exec = what.is(F_DUPFD_CLOEXEC, "F_DUPFD_CLOEXEC");
            if !until_exec && !what.is(0, "F_DUPFD") {
                if what.is(2, "F_SETFD")
                    && let Some(open) = self.processes[at].open.get_mut(&(from as i32))
                {
                    open.until_exec = call.args.get(2).has(1, "FD_CLOEXEC");
                }
                return;
            }
        }
        match self.processes[at].open.get(&(from as i32)).copied() {
            Some(open) => self.set(at, to as i32, Open { until_exec, ..open }),
            // What is no file takes the number of one that was.
            None => self.close(at, to as i32),
        }
    }

    /// The file that a call names by number.
    fn file(&mut self, at: usize, call: &Call<'_>, fd: usize) -> Option<Sym> {
        let Arg::Number { value, path } = call.args.get(fd) else {
            return None;
        };
        // strace -y says it itself; `socket:[12]` and `pipe:[7]` are no paths.
        if let Some(path) = path {
            return path.starts_with('/').then(|| self.name(path));
        }
        Some(self.processes[at].open.get(&(value as i32))?.path)
    }

    /// The file that a call names by path, which is behind that of a folder if there is one.
    fn path(&mut self, at: usize, call: &Call<'_>, dir: Option<usize>) -> Option<Sym> {
        let Arg::Path(path) = call.args.get(dir.map_or(0, |dir| dir + 1)) else {
            return None;
        };
        if path.is_empty() {
            return None;
        }
        if path.starts_with('/') {
            return Some(self.name(&joined("", &path)));
        }
        let folder = match dir.map(|dir| call.args.get(dir)) {
            Some(Arg::Number { value, path }) if value as i32 != AT_CWD || path.is_some() => {
                self.file(at, call, dir?)
            }
            _ => self.processes[at].folder,
        };
        let folder = folder.map_or("", |folder| self.names.text(folder));
        let whole = joined(folder, &path);
        Some(self.name(&whole))
    }

    /// The row of this file; `None` if there are too many.
    fn row(&mut self, at: usize, path: Sym, call: &Call<'_>) -> Option<&mut FileUse> {
        let program = self.processes[at].program;
        let full = self.uses.len() >= MAX_USES;
        let row = match self.rows.get(&(at, program, path)) {
            Some(&row) => row,
            None if full => {
                self.full.get_or_insert(call.evidence);
                return None;
            }
            None => {
                self.rows.insert((at, program, path), self.uses.len());
                let row = FileUse {
                    pid: 0,
                    program,
                    path,
                    opens: 0,
                    missing: 0,
                    looks: 0,
                    reads: 0,
                    bytes: 0,
                    maps: 0,
                    took_ns: 0,
                    clock: call.clock,
                    first: call.at,
                    evidence: call.evidence,
                };
                self.uses.push((at, row));
                self.uses.len() - 1
            }
        };
        let row = &mut self.uses[row].1;
        let took = call.took_ns.and_then(|ns| u64::try_from(ns).ok());
        row.took_ns = row.took_ns.saturating_add(took.unwrap_or(0));
        Some(row)
    }
}

#[cfg(test)]
mod tests;
