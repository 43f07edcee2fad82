//! `proc_ps.log` and `taskstats.log`: the processes, sampled.
//!
//! ```text
//! 263                                                        proc_ps.log
//! 1 (init) S 0 1 1 0 -1 4194560 107 0 0 0 7 113 0 0 20 0 1 0 26 512000 58 …
//! 57 (sh (x) y) R 1 57 57 0 -1 4194304 80 0 0 0 1 2 0 0 20 0 1 0 261 …
//!
//! 310                                                        taskstats.log
//! 57 1 sh 31870412 0 0
//! 58 57 Web Content 1203991 250311 0
//! ```
//!
//! `proc_ps.log` has `/proc/PID/stat`: the name in parentheses may hold
//! spaces and parentheses; the fields after it are state, parent, …, with
//! times in jiffies: CPU of user and system (12th and 13th field), the same of
//! children waited for, and the start since the kernel's (20th). Android puts
//! the whole command line in place of the name. A name may be a number: what
//! is executed through a file descriptor is called by it, as systemd 254 and
//! later do with each service (`(16)`) until its own program runs.
//!
//! `taskstats.log` (bootchart2) has pid, parent, name and ns of CPU time, of
//! waiting for disks, and of waiting for swap; a row only where one of them
//! grew, so a process that has no row may be asleep or gone.

use super::blocks::{Blocks, Row, count, number, words};
use super::family::pid;
use super::table::{Seen, State, Table, jiffies_ns};
use crate::text::{Import, Line, Reader, Skip};

/// `PF_KTHREAD` among the flags.
const KERNEL_THREAD: i64 = 0x0020_0000;

const FULL: Skip = Skip::lost(
    "too-many-processes",
    "more processes are named here than any boot has: the rest was not read; is the file whole?",
);

/// Reads `proc_ps.log`.
#[derive(Default)]
pub(super) struct Ps {
    pub(super) blocks: Blocks,
    pub(super) table: Table,
}

impl Reader for Ps {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        let Row::Of(block) = self.blocks.row(line)? else {
            return Ok(());
        };
        let row = PsRow::parse(line.text).ok_or(Skip::lost(
            "bootchart-process-cut",
            "these lines are no whole /proc/PID/stat (a process name with a line break in it, or the recording was stopped within one): the other samples of these processes are used",
        ))?;
        let name = import.sym(&row.name());
        let seen = Seen {
            pid: row.pid,
            ppid: row.ppid,
            name,
            start_ns: Some(row.start_ns),
            state: Some(row.state),
            cpu_ns: row.cpu_ns,
            children_ns: row.children_ns,
            io_ns: row.io_ns,
            threads: row.threads,
            kernel: row.kernel,
            at: line.at,
        };
        let room = self.table.see(&seen, block, &self.blocks);
        room.then_some(()).ok_or(FULL)
    }

    fn blank(&mut self, _line: &Line<'_>, _sheet: &mut Import<'_>) {
        self.blocks.blank();
    }
}

/// One line of `/proc/PID/stat`.
#[derive(Debug)]
struct PsRow<'a> {
    pid: u32,
    comm: &'a [u8],
    state: State,
    ppid: u32,
    kernel: bool,
    cpu_ns: i64,
    children_ns: i64,
    threads: u32,
    start_ns: i64,
    io_ns: i64,
}

impl<'a> PsRow<'a> {
    fn parse(line: &'a [u8]) -> Option<Self> {
        let line = line.trim_ascii();
        let open = memchr::memchr(b'(', line)?;
        let close = memchr::memrchr(b')', line)?;
        let pid = pid(line[..open].trim_ascii())?;
        let comm = line.get(open + 1..close)?;
        let mut fields = words(&line[close + 1..]);
        let state = match fields.next()? {
            b"R" => State::Running,
            b"D" => State::Disk,
            b"Z" | b"X" | b"x" => State::Gone,
            [letter] if letter.is_ascii_alphabetic() => State::Sleeping,
            _ => return None,
        };
        // Values may be negative (priority) or need all 64 bits (addresses).
        let mut values = [0; 42];
        let mut seen = 0;
        for (to, field) in values.iter_mut().zip(fields) {
            *to = signed(field)?;
            seen += 1;
        }
        // The start is whole if something follows it.
        if seen < 20 {
            return None;
        }
        let field = |number: usize| values[number - 4].max(0);
        Some(Self {
            pid,
            comm,
            state,
            ppid: u32::try_from(field(4)).ok()?,
            kernel: field(9) & KERNEL_THREAD != 0,
            cpu_ns: jiffies_ns(field(14).saturating_add(field(15))),
            children_ns: jiffies_ns(field(16).saturating_add(field(17))),
            threads: u32::try_from(field(20)).unwrap_or(u32::MAX),
            start_ns: jiffies_ns(field(22)),
            // The last field may be cut.
            io_ns: if seen > 39 { jiffies_ns(field(42)) } else { 0 },
        })
    }

    /// Its name. Kernel workers have that of what they work on after theirs,
    /// which changes: `kworker/0:1-events`.
    fn name(&self) -> std::borrow::Cow<'a, str> {
        let mut comm = self.comm;
        if comm.starts_with(b"kworker/")
            && let Some(colon) = memchr::memchr(b':', comm)
            && let Some(work) = memchr::memchr2(b'-', b'+', &comm[colon..])
        {
            comm = &comm[..colon + work];
        }
        // Android of before 2013 has its own parentheses within.
        let inner = comm.strip_prefix(b"(").and_then(|c| c.strip_suffix(b")"));
        String::from_utf8_lossy(inner.unwrap_or(comm))
    }
}

fn signed(text: &[u8]) -> Option<i64> {
    match text.strip_prefix(b"-") {
        Some(digits) => number(digits).map(|n| -n),
        None => count(text).map(|n| i64::try_from(n).unwrap_or(i64::MAX)),
    }
}

/// Reads `taskstats.log`.
#[derive(Default)]
pub(super) struct Tasks {
    pub(super) blocks: Blocks,
    pub(super) table: Table,
}

impl Reader for Tasks {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        let Row::Of(block) = self.blocks.row(line)? else {
            return Ok(());
        };
        let row = TaskRow::parse(line.text).ok_or(Skip::unknown(
            "expected pid, parent, name and three times in ns: `57 1 sh 31870412 0 0`",
        ))?;
        let seen = Seen {
            pid: row.pid,
            ppid: row.ppid,
            name: import.sym(&String::from_utf8_lossy(row.name)),
            start_ns: None,
            state: None,
            cpu_ns: row.cpu_ns,
            children_ns: 0,
            io_ns: row.io_ns,
            threads: 0,
            kernel: row.pid == 2 || row.ppid == 2,
            at: line.at,
        };
        let room = self.table.see(&seen, block, &self.blocks);
        room.then_some(()).ok_or(FULL)
    }

    fn blank(&mut self, _line: &Line<'_>, _sheet: &mut Import<'_>) {
        self.blocks.blank();
    }
}

/// One row of `taskstats.log`.
struct TaskRow<'a> {
    pid: u32,
    ppid: u32,
    name: &'a [u8],
    cpu_ns: i64,
    io_ns: i64,
}

impl<'a> TaskRow<'a> {
    /// The name is what is left between two numbers and three.
    fn parse(line: &'a [u8]) -> Option<Self> {
        let (id, rest) = first(line.trim_ascii())?;
        let (parent, rest) = first(rest)?;
        let (rest, swap) = last(rest)?;
        let (rest, disk) = last(rest)?;
        let (name, cpu) = last(rest)?;
        // A counter that went below zero says nothing.
        let ns = |text| signed(text).map(|ns| ns.max(0));
        let io_ns = ns(disk)?.saturating_add(ns(swap)?);
        let name = name.strip_prefix(b"(").unwrap_or(name);
        Some(Self {
            pid: pid(id)?,
            ppid: pid(parent)?,
            name: name.strip_suffix(b")").unwrap_or(name),
            cpu_ns: ns(cpu)?,
            io_ns,
        })
    }
}

fn first(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(b' ', text)?;
    Some((&text[..end], text[end..].trim_ascii_start()))
}

fn last(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = memchr::memrchr(b' ', text)?;
    Some((text[..start].trim_ascii_end(), &text[start + 1..]))
}

/// Whether a line is a `/proc/PID/stat`.
pub(super) fn is_ps_row(line: &[u8]) -> bool {
    PsRow::parse(line).is_some()
}

/// Whether a line is one of `taskstats.log`.
pub(super) fn is_task_row(line: &[u8]) -> bool {
    TaskRow::parse(line).is_some_and(|row| !row.name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAIL: &str = "R 1 5 5 0 -1 4194304 80 0 0 0 1 2 3 4 20 0 3 0 261 512000 58";

    #[test]
    fn names_end_at_the_last_parenthesis() {
        for (comm, name) in [
            ("sh", "sh"),
            ("a) S 1 (b", "a) S 1 (b"),
            ("Web Content", "Web Content"),
            ("", ""),
            ("(/init)", "/init"),
            ("kworker/u4:0-events_unbound", "kworker/u4:0"),
            ("kworker/R-rcu_g", "kworker/R-rcu_g"),
        ] {
            let line = format!("57 ({comm}) {TAIL}");
            let row = PsRow::parse(line.as_bytes()).unwrap();
            assert_eq!((row.pid, &*row.name()), (57, name));
            assert_eq!((row.ppid, row.threads, row.start_ns), (1, 3, 2_610_000_000));
            assert_eq!((row.cpu_ns, row.children_ns), (30_000_000, 70_000_000));
        }
    }

    #[test]
    fn a_cut_row_says_nothing() {
        let line = format!("57 (sh) {TAIL}");
        for end in 0..line.len() - " 512000 58".len() {
            assert!(PsRow::parse(&line.as_bytes()[..end]).is_none(), "{end}");
        }
    }

    #[test]
    fn names_of_tasks_may_have_spaces_and_numbers() {
        let row = |text: &'static str| {
            let row = TaskRow::parse(text.as_bytes())?;
            Some((row.pid, row.ppid, row.name, row.cpu_ns, row.io_ns))
        };
        assert_eq!(row("57 1 sh 31 2 3"), Some((57, 1, &b"sh"[..], 31, 5)));
        let spaces = row("58 57 Web Content 2 1203 -4 0");
        assert_eq!(spaces, Some((58, 57, &b"Web Content 2"[..], 1203, 0)));
        assert_eq!(row("58 57 sh 1203 250"), None);
    }
}
