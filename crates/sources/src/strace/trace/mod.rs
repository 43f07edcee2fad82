//! What the lines of a trace add up to.

mod lives;

use std::collections::{BTreeSet, HashMap};

use bootlap_model::{Anchor, ClockId, Evidence, Stamp};
use foldhash::fast::FixedState;

use super::calls::{Kind, Names};
use super::files::{self, Printed};
use super::line::{self, CallEnd, Rest};
use super::process::{End, Process, string};
use super::record::{Call, Exec, Fork, Takeover, Took, Written};
use crate::accesses::{self, Accesses, is_of_files};

/// Processes and threads are kept up to here.
const MAX_PROCESSES: usize = 65_536;
/// A line is on the wire a little after the call that writes it began.
const WRITE_ERR_NS: u32 = 1_000_000;

/// Calls are kept one by one up to here; then only longer ones are.
const MAX_CALLS: usize = 100_000;

/// By number, with a hash that is the same on each run.
pub(super) type ByPid<T> = HashMap<u32, T, FixedState>;

/// What the only process is called until its number is known.
const NUMBERLESS: u32 = 0;

fn number_of(process: &Process) -> u32 {
    process.pid.unwrap_or(NUMBERLESS)
}

/// All that is known so far.
pub(super) struct Trace {
    pub(super) processes: Vec<Process>,
    /// Who has this number now.
    by_pid: ByPid<u32>,
    alive: BTreeSet<u32>,
    pub(super) names: Names,
    pub(super) forks: Vec<Fork>,
    pub(super) execs: Vec<Exec>,
    pub(super) lines: Vec<Written>,
    pub(super) takeovers: Vec<Takeover>,
    pub(super) calls: Vec<Call>,
    pub(super) accesses: Accesses,
    /// Calls that lasted so long are kept one by one.
    pub(super) worth_ns: i64,
    /// Calls that waited so long are.
    pub(super) worth_wait_ns: i64,
}

/// A call that is over.
struct Done<'a> {
    name: u16,
    start: Stamp,
    args: &'a [u8],
    ret: &'a [u8],
    took_ns: Option<i64>,
    at: Evidence,
}

impl Trace {
    pub(super) fn new() -> Self {
        let hasher = FixedState::with_seed(0);
        Self {
            processes: Vec::new(),
            by_pid: HashMap::with_hasher(hasher),
            alive: BTreeSet::new(),
            names: Names::new(),
            forks: Vec::new(),
            execs: Vec::new(),
            lines: Vec::new(),
            takeovers: Vec::new(),
            calls: Vec::new(),
            accesses: Accesses::default(),
            worth_ns: super::WORTH_NS,
            worth_wait_ns: super::WORTH_WAIT_NS,
        }
    }

    /// The process that has the number `pid`.
    pub(super) fn of_pid(&self, pid: u32) -> Option<u32> {
        self.by_pid.get(&pid).copied()
    }

    /// Who lives, if it is one alone.
    pub(super) fn only_one(&self) -> Option<u32> {
        let mut alive = self.alive.iter();
        alive.next().copied().filter(|_| alive.next().is_none())
    }

    /// Who is in a call of this name, of the first few.
    pub(super) fn in_call(&self, name: &[u8]) -> Option<u32> {
        let mut some = self.alive.iter().copied().take(64);
        some.find(|p| {
            let open = &self.processes[*p as usize].open;
            open.on && self.names.bytes(open.name) == name
        })
    }

    /// When `process` was last seen.
    pub(super) fn last_ns(&self, process: Option<u32>) -> Option<i64> {
        let process = process.filter(|p| self.lives(*p))?;
        Some(self.processes[process as usize].last.ns)
    }

    pub(super) fn lives(&self, process: u32) -> bool {
        self.processes[process as usize].lives()
    }

    /// A new process; `None` if there are too many.
    pub(super) fn add(
        &mut self,
        pid: Option<u32>,
        (clock, now): (ClockId, Stamp),
        at: Evidence,
    ) -> Option<u32> {
        if self.processes.len() >= MAX_PROCESSES {
            return None;
        }
        let id = self.processes.len() as u32;
        self.processes.push(Process::new(pid, clock, now, at));
        self.alive.insert(id);
        if let Some(pid) = pid {
            self.by_pid.insert(pid, id);
            self.inherits(pid);
        }
        Some(id)
    }

    /// Its first line may come before that of the call that made it has an end.
    fn inherits(&mut self, pid: u32) {
        let calls: [&[u8]; 4] = [b"clone", b"clone3", b"vfork", b"fork"];
        let Some(parent) = calls.iter().find_map(|name| self.in_call(name)) else {
            return;
        };
        let parent = &self.processes[parent as usize];
        let thread = memchr::memmem::find(&parent.open.args, b"CLONE_THREAD").is_some();
        self.accesses.fork(number_of(parent), pid, thread);
    }

    /// The number of a process that was only known as *the* process.
    pub(super) fn name_pid(&mut self, process: u32, pid: u32) {
        let known = &mut self.processes[process as usize].pid;
        if known.is_none() {
            *known = Some(pid);
            self.by_pid.insert(pid, process);
            self.accesses.rename(NUMBERLESS, pid);
        }
    }

    /// A line of `process` at `now`: what it did before ended by then.
    #[inline]
    pub(super) fn seen(&mut self, process: u32, now: Stamp) {
        let p = &mut self.processes[process as usize];
        p.last = now;
        if p.untimed.on {
            self.settle(process, now);
        }
    }

    /// The call before lasted until `now` at most.
    fn settle(&mut self, process: u32, now: Stamp) {
        let p = &mut self.processes[process as usize];
        p.untimed.on = false;
        let gap = now.ns.saturating_sub(p.untimed.start.ns);
        if gap < self.worth_ns {
            return;
        }
        let u = &p.untimed;
        let call = Call {
            process,
            name: u.name,
            start: u.start,
            took: Took::AtMost(gap),
            waits: self.names.kind(u.name) == Kind::Wait,
            args: super::process::shown(&u.args),
            ret: super::process::shown(&u.ret),
            at: u.at,
        };
        self.keep(call);
    }

    /// `name(args…` at `now`.
    #[inline]
    pub(super) fn call(
        &mut self,
        process: u32,
        name: &[u8],
        rest: Rest<'_>,
        now: Stamp,
        at: Evidence,
    ) -> bool {
        let name = self.names.id(name);
        let CallEnd::Returned { ret, took_ns } = rest.end else {
            let open = &mut self.processes[process as usize].open;
            let lost = open.on;
            open.set(name, now, rest.args, at);
            return !lost;
        };
        self.done(
            process,
            Done {
                name,
                start: now,
                args: rest.args,
                ret,
                took_ns,
                at,
            },
        );
        true
    }

    /// The rest of a call: of this name, if the line says which, and at this
    /// moment, if the line says when. Says whether its beginning is known.
    pub(super) fn resumed(
        &mut self,
        process: u32,
        name: Option<&[u8]>,
        rest: Rest<'_>,
        now: Option<Stamp>,
        at: Evidence,
    ) -> bool {
        let named = name.map(|name| self.names.id(name));
        if !self.processes[process as usize].open.on
            && let Some(thread) = self.executing_thread(process, named)
        {
            self.take_over(process, thread, now.unwrap_or(Stamp::new(0, 0)));
        }
        let open = &mut self.processes[process as usize].open;
        let known = open.on && named.is_none_or(|n| n == open.name);
        let CallEnd::Returned { ret, took_ns } = rest.end else {
            return known;
        };
        if !known {
            let Some(name) = named else { return false };
            let back = |now: Stamp| Some(Stamp::new(now.ns.saturating_sub(took_ns?), now.err_ns));
            let last = self.processes[process as usize].last;
            let start = now.and_then(back).unwrap_or(last);
            let args = rest.args;
            self.done(
                process,
                Done {
                    name,
                    start,
                    args,
                    ret,
                    took_ns,
                    at,
                },
            );
            // Where that is known from another file, it is not missing.
            return self.takeovers.iter().any(|t| t.process == process);
        }
        open.on = false;
        open.more(rest.args);
        let args = std::mem::take(&mut open.args);
        let (start, name, begun_at) = (open.start, open.name, open.at);
        let until = |now: Stamp| now.ns.saturating_sub(start.ns).max(0);
        let took_ns = took_ns.or_else(|| now.map(until));
        self.done(
            process,
            Done {
                name,
                start,
                args: &args,
                ret,
                took_ns,
                at: begun_at,
            },
        );
        self.processes[process as usize].open.args = args;
        true
    }

    fn done(&mut self, process: u32, call: Done<'_>) {
        let kind = self.names.kind(call.name);
        let p = &mut self.processes[process as usize];
        p.sums.add(call.name, call.took_ns);
        let name = self.names.text(call.name);
        if is_of_files(name) {
            self.accesses.call(&accesses::Call {
                pid: number_of(p),
                comm: crate::text::valid(&p.comm),
                name,
                args: &Printed(call.args),
                ret: files::returned(call.ret),
                took_ns: call.took_ns,
                clock: p.clock,
                at: call.start,
                evidence: call.at,
            });
        }
        let failed = call.ret.starts_with(b"-1 ");
        if failed && call.ret.starts_with(b"-1 ENOENT") {
            p.sums.enoent += 1;
        }
        let mut waits = false;
        match kind {
            Kind::Plain => {}
            Kind::Wait => waits = true,
            Kind::Slow => waits = call.took_ns.is_some_and(|ns| ns >= super::WORTH_NS),
            Kind::Futex => {
                let has = |what: &[u8]| memchr::memmem::find(call.args, what).is_some();
                waits = has(b"FUTEX_WAIT") || has(b"FUTEX_LOCK");
            }
            Kind::Open if failed => p.sums.failed_opens += 1,
            Kind::Open => p.sums.opens += 1,
            Kind::Exec if failed => p.failed_execs += 1,
            Kind::Exec => self.executed(process, &call),
            Kind::Fork => self.forked(process, &call),
            Kind::Vfork => {
                waits = call.took_ns.is_some_and(|ns| ns >= super::WORTH_NS);
                self.forked(process, &call);
            }
            Kind::Exit => {
                p.end = End::Exiting(call.start);
                self.alive.remove(&process);
                return;
            }
            Kind::OwnPid => {
                if let Some(pid) = line::returned_pid(call.ret) {
                    self.name_pid(process, pid);
                }
            }
            Kind::Write => self.written(process, &call),
            Kind::Prctl => {
                if call.args.starts_with(b"PR_SET_NAME, ")
                    && let Some((name, _)) = string(call.args)
                {
                    p.comm = name;
                }
            }
        }
        let Some(ns) = call.took_ns else {
            let p = &mut self.processes[process as usize];
            let (args, at) = (call.args, call.at);
            p.untimed.set(call.name, call.start, args, at);
            p.untimed.ret.extend_from_slice(call.ret);
            return;
        };
        let least = if waits {
            let p = &mut self.processes[process as usize];
            p.sums.wait_ns = p.sums.wait_ns.saturating_add(ns);
            self.worth_wait_ns
        } else {
            self.worth_ns
        };
        if ns >= least {
            self.keep(Call {
                process,
                name: call.name,
                start: call.start,
                took: Took::For(ns),
                waits,
                args: super::process::shown(call.args),
                ret: super::process::shown(call.ret),
                at: call.at,
            });
        }
    }

    /// Calls that last longer push shorter ones out: of too many, the longer
    /// half stays.
    fn keep(&mut self, call: Call) {
        self.calls.push(call);
        if self.calls.len() < MAX_CALLS {
            return;
        }
        // A wait counts as the plain call that would be as much worth showing.
        const WAIT: i64 = super::WORTH_NS / super::WORTH_WAIT_NS;
        let worth = |c: &Call| c.took.ns().saturating_mul(if c.waits { WAIT } else { 1 });
        let mut all: Vec<i64> = self.calls.iter().map(worth).collect();
        let (_, &mut middle, _) = all.select_nth_unstable(MAX_CALLS / 2);
        let mut room = MAX_CALLS / 2;
        self.calls.retain(|c| {
            let stays = worth(c) >= middle && room > 0;
            room -= usize::from(stays);
            stays
        });
        self.worth_ns = self.worth_ns.max(middle);
        self.worth_wait_ns = self.worth_wait_ns.max(middle / WAIT);
    }

    fn executed(&mut self, process: u32, call: &Done<'_>) {
        let p = &mut self.processes[process as usize];
        if p.programs.is_empty() && self.execs.len() < MAX_PROCESSES {
            let ns = call.start.ns.saturating_add(call.took_ns.unwrap_or(0));
            self.execs.push(Exec {
                process,
                at: Stamp::new(ns, call.start.err_ns),
                evidence: call.at,
            });
        }
        p.execute(call.args);
    }

    /// A line on standard output or error can be on the console that somebody
    /// else records.
    fn written(&mut self, process: u32, call: &Done<'_>) {
        let to = call.args.first();
        let is_output =
            matches!(to, Some(b'1' | b'2')) && matches!(call.args.get(1), Some(b',' | b'<'));
        if !is_output || self.lines.len() >= MAX_PROCESSES {
            return;
        }
        let Some((text, _)) = string(call.args) else {
            return;
        };
        if let Some(key) = Anchor::line(&text) {
            let at = Stamp::new(call.start.ns, call.start.err_ns.max(WRITE_ERR_NS));
            self.lines.push(Written {
                process,
                at,
                key,
                evidence: call.at,
            });
        }
    }

    /// There are no more lines: what lasts is kept.
    pub(super) fn finish(&mut self) {
        for process in 0..self.processes.len() as u32 {
            let p = &self.processes[process as usize];
            let last = p.last;
            if p.open.on && self.names.kind(p.open.name) != Kind::Exit {
                let so_far = last.ns.saturating_sub(p.open.start.ns).max(0);
                self.keep_open(process, Took::AtLeast(so_far));
            }
        }
        self.calls
            .sort_by_key(|c| (c.process, c.start.ns, c.at.line));
    }

    fn keep_open(&mut self, process: u32, took: Took) {
        let p = &self.processes[process as usize];
        let waits = self.names.kind(p.open.name) == Kind::Wait;
        let open = matches!(took, Took::AtLeast(_));
        if !open && took.ns() < self.worth_ns {
            return;
        }
        self.keep(Call {
            process,
            name: p.open.name,
            start: p.open.start,
            took,
            waits,
            args: super::process::shown(&p.open.args),
            ret: "".into(),
            at: p.open.at,
        });
    }
}
