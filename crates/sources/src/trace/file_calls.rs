//! System calls as what programs do with files: [`crate::accesses`].
//!
//! ```text
//! openat: (syscalls.sys_enter_openat) dfd=0xffffff9c path="/etc/passwd" flags=0x80000    bootlap-agent's probe
//! sys_openat(dfd: ffffff9c, filename: 7f44de68e0b1, flags: 80000, mode: 0)               before Linux 6.19
//! getname: (do_filp_open+0x0/0x160) path="/etc/passwd"                                   its other probe
//! getname: (do_sys_openat2+0x90/0x160 <- getname) path="/etc/passwd"                     and where that fails
//! sys_openat(dfd: ffffff9c, filename: 0x7f44de68e0b1 "/etc/passwd", flags: 80000, mode: 0)
//! sys_openat -> 0x3
//! ```
//!
//! The agent leaves out what a call returned that only looked for a file and found it: that is
//! known when the thread does something else, or has been silent for long.

use std::borrow::Cow;
use std::collections::HashMap;

use bootlap_model::Timeline;

use super::event::{Moment, Task};
use crate::accesses::{Accesses, Arg, Args, Call, is_of_files, only_looks, path_place};

/// Calls that run at the same time are kept up to here.
const MAX_RUNNING: usize = 65_536;

/// A look that has not failed by then, ns, is taken for one that found its file.
const LONGEST_LOOK_NS: i64 = 1_000_000_000;

/// Calls by which files are opened and read.
#[derive(Default)]
pub(super) struct FileCalls {
    accesses: Accesses,
    running: HashMap<u32, Running>,
    /// Calls that look for a file and do not say that they failed have found it.
    pub(super) found_if_silent: bool,
}

struct Running {
    comm: String,
    name: String,
    args: String,
    begun: Moment,
}

impl FileCalls {
    /// `task` calls `name`.
    pub(super) fn enter(&mut self, task: Task<'_>, (name, args): (&str, &str), now: &Moment) {
        if !is_of_files(name) {
            return;
        }
        self.settle(task);
        if tells_all(name) {
            // It may be that nobody records what it returns.
            self.call(task, (name, args), (now, None, None));
        } else if self.running.len() < MAX_RUNNING || self.running.contains_key(&task.pid) {
            let running = Running {
                comm: task.comm.to_owned(),
                name: name.to_owned(),
                args: args.to_owned(),
                begun: *now,
            };
            self.running.insert(task.pid, running);
        }
    }

    /// The kernel has read the path of the call that `pid` is in: the first of some calls.
    pub(super) fn path(&mut self, pid: u32, path: &str) {
        let Some(running) = self.running.get_mut(&pid) else {
            return;
        };
        let Some(place) = path_place(&running.name) else {
            return;
        };
        if running.args.contains('"') {
            return;
        }
        let ends = running.args.match_indices(", ").map(|(at, _)| at);
        let end = ends.chain([running.args.len()]).nth(place);
        running
            .args
            .insert_str(end.unwrap_or(running.args.len()), &format!(" \"{path}\""));
    }

    /// What `task` did before is over.
    fn settle(&mut self, task: Task<'_>) {
        let looked = |running: &Running| only_looks(&running.name);
        if !self.found_if_silent || !self.running.get(&task.pid).is_some_and(looked) {
            return;
        }
        if let Some(running) = self.running.remove(&task.pid) {
            let (name, args) = (&*running.name, &*running.args);
            self.call(task, (name, args), (&running.begun, Some(0), None));
        }
    }

    /// `task`'s call has returned.
    pub(super) fn exit(&mut self, task: Task<'_>, (name, ret): (&str, &str), now: &Moment) {
        let is_it = |running: &Running| running.name == name;
        if !self.running.get(&task.pid).is_some_and(is_it) {
            return;
        }
        let Some(Running { args, begun, .. }) = self.running.remove(&task.pid) else {
            return;
        };
        let took_ns = now.at.ns.saturating_sub(begun.at.ns);
        self.call(task, (name, &args), (&begun, returned(ret), Some(took_ns)));
    }

    fn call(
        &mut self,
        task: Task<'_>,
        (name, args): (&str, &str),
        (begun, ret, took_ns): (&Moment, Option<i64>, Option<i64>),
    ) {
        self.accesses.call(&Call {
            pid: task.pid,
            comm: task.comm,
            name,
            args: &Fields(args),
            ret,
            took_ns,
            clock: begun.clock,
            at: begun.at,
            evidence: begun.evidence,
        });
    }

    pub(super) fn fork(&mut self, parent: u32, child: u32, shares: bool) {
        self.accesses.fork(parent, child, shares);
    }

    pub(super) fn exec(&mut self, pid: u32, program: &str) {
        self.accesses.exec(pid, program);
    }

    pub(super) fn ended(&mut self, task: Task<'_>) {
        self.settle(task);
        self.running.remove(&task.pid);
        self.accesses.exit(task.pid);
    }

    /// The recording has ended; its last event came at `last_ns`.
    pub(super) fn finish(&mut self, last_ns: i64, out: &mut Timeline) {
        let settled =
            |running: &Running| last_ns.saturating_sub(running.begun.at.ns) >= LONGEST_LOOK_NS;
        let silent = self.running.iter().filter(|(_, running)| settled(running));
        let mut silent: Vec<(u32, String)> =
            silent.map(|(pid, r)| (*pid, r.comm.clone())).collect();
        silent.sort_unstable();
        for (pid, comm) in silent {
            self.settle(Task { comm: &comm, pid });
        }
        std::mem::take(&mut self.accesses).finish(out);
    }
}

/// Whether it does what it does without saying how it went.
fn tells_all(name: &str) -> bool {
    matches!(
        name,
        "mmap" | "mmap_pgoff" | "close" | "close_range" | "fchdir"
    )
}

/// `0x3`, `0xfffffffffffffffe`, of 32 bits `0xfffffffe`, of perf `-2`.
fn returned(text: &str) -> Option<i64> {
    let text = text.trim_ascii();
    let Some(hex) = text.strip_prefix("0x") else {
        return text.parse().ok();
    };
    let value = u64::from_str_radix(hex, 16).ok()?;
    Some(match u32::try_from(value) {
        Ok(short) if (-4095..0).contains(&(short as i32)) => i64::from(short as i32),
        _ => value as i64,
    })
}

/// Arguments as the kernel prints them, numbers in hexadecimal.
struct Fields<'a>(&'a str);

impl Args for Fields<'_> {
    fn get(&self, place: usize) -> Arg<'_> {
        let text = self.0;
        // There is one string at most, and anything may be in it.
        let quoted = text
            .find('"')
            .zip(text.rfind('"'))
            .filter(|(from, to)| from < to);
        let Some((from, to)) = quoted else {
            return field(text, place).map_or(Arg::Unknown, value);
        };
        let before = fields(&text[..from]).count();
        match place + 1 {
            n if n < before => field(&text[..from], place).map_or(Arg::Unknown, value),
            n if n == before => Arg::Path(Cow::Borrowed(&text[from + 1..to])),
            n => field(&text[to + 1..], n - before - 1).map_or(Arg::Unknown, value),
        }
    }
}

fn field(text: &str, place: usize) -> Option<&str> {
    fields(text).nth(place)
}

/// `dfd=0x6 path=…` of a probe, `dfd: ffffff9c, filename: …` of an event.
fn fields(text: &str) -> impl Iterator<Item = &str> {
    let between = |c: char| c == ',' || c == ' ';
    let named = text.contains(": ");
    let split = text.split(move |c: char| if named { c == ',' } else { c == ' ' });
    split
        .map(move |field| field.trim_matches(between))
        .filter(|field| !field.is_empty())
}

fn value(field: &str) -> Arg<'_> {
    let text = field.rsplit([' ', '=', ':']).next().unwrap_or(field);
    let hex = text.strip_prefix("0x").unwrap_or(text);
    match u64::from_str_radix(hex, 16) {
        Ok(value) => Arg::Number {
            value: value as i64,
            path: None,
        },
        Err(_) => Arg::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use bootlap_model::{ClockKind, Evidence, Stamp};

    use super::*;

    #[test]
    fn a_thread_that_says_nothing_more_has_found_what_it_looked_for() {
        let mut out = Timeline::default();
        let file = out.add_file("boot.trace", "ftrace");
        let clock = out.add_clock(ClockKind::Monotonic, file);
        let moment = |ns| Moment {
            clock,
            at: Stamp::new(ns, 0),
            evidence: Evidence::whole(file, 1),
        };
        for (found_if_silent, last_ns, looks) in [
            (true, LONGEST_LOOK_NS + 7, 1),
            (true, LONGEST_LOOK_NS + 6, 0),
            (false, LONGEST_LOOK_NS + 7, 0),
        ] {
            let mut calls = FileCalls {
                found_if_silent,
                ..FileCalls::default()
            };
            let cron = Task {
                comm: "cron",
                pid: 259,
            };
            calls.enter(cron, ("access", "path=\"/etc/cron.d/job\""), &moment(7));
            out.file_uses.clear();
            calls.finish(last_ns, &mut out);
            let found: u64 = out.file_uses.iter().map(|row| u64::from(row.looks)).sum();
            assert_eq!(found, looks, "{found_if_silent} {last_ns}");
        }
    }

    fn number(value: i64) -> Arg<'static> {
        Arg::Number { value, path: None }
    }

    #[test]
    fn fields_of_all_printers() {
        let probe = Fields("dfd=0xffffff9c path=\"/a \"b=1, c\" flags=0x80000");
        let path = |p: &'static str| Arg::Path(Cow::Borrowed(p));
        assert_eq!(probe.get(0), number(0xffff_ff9c));
        assert_eq!(probe.get(1), path("/a \"b=1, c"));
        assert_eq!(probe.get(2), number(0x8_0000));
        let event = Fields("dfd: ffffff9c, filename: 7f44, flags: 80000, mode: 0");
        assert_eq!(event.get(1), number(0x7f44));
        assert_eq!(event.get(3), number(0));
        assert_eq!(event.get(4), Arg::Unknown);
        let newer = Fields("dfd: 0xffffff9c, filename: 0x7f44 \"/etc/x\", flags: 0x80000");
        assert_eq!(newer.get(0), number(0xffff_ff9c));
        assert_eq!(newer.get(1), path("/etc/x"));
        assert_eq!(newer.get(2), number(0x8_0000));
        assert_eq!(Fields("path=(fault) flags=0x0").get(0), Arg::Unknown);
        assert_eq!(Fields("path=\"\"").get(0), path(""));
    }

    #[test]
    fn results_of_all_printers() {
        for text in ["0xfffffffffffffffe", "0xfffffffe", "-2", " 0xfffffffe\n"] {
            assert_eq!(returned(text), Some(-2), "{text}");
        }
        assert_eq!(returned("0x340"), Some(0x340));
        assert_eq!(returned("0x7f0012345678"), Some(0x7f00_1234_5678));
        assert_eq!(returned("?"), None);
    }
}
