//! How processes come, go on as another and go.

use bootlap_model::Stamp;

use super::super::calls::Kind;
use super::super::line;
use super::super::process::End;
use super::super::record::{Fork, Takeover, Took};
use super::{Done, MAX_PROCESSES, Trace};

impl Trace {
    pub(super) fn forked(&mut self, parent: u32, call: &Done<'_>) {
        let Some(child) = line::returned_pid(call.ret) else {
            return;
        };
        if self.forks.len() >= MAX_PROCESSES * 2 {
            return;
        }
        let thread = memchr::memmem::find(call.args, b"CLONE_THREAD").is_some();
        let by = super::number_of(&self.processes[parent as usize]);
        self.accesses.fork(by, child, thread);
        let end = |ns| Stamp::new(call.start.ns.saturating_add(ns), call.start.err_ns);
        self.forks.push(Fork {
            parent,
            child,
            start: call.start,
            end: call.took_ns.map(end),
            thread,
            programs: self.processes[parent as usize].programs.len(),
            at: call.at,
        });
    }

    /// `--- SIGCHLD {…, si_pid=9412, …, si_utime=1, si_stime=2} ---` tells the
    /// parent how much CPU time a child has used.
    pub(in crate::strace) fn signal(&mut self, text: &[u8]) {
        if !text.starts_with(b"SIGCHLD {") {
            return;
        }
        let field = |key: &[u8]| {
            let at = memchr::memmem::find(text, key)? + key.len();
            Some(line::number(&text[at..]))
        };
        let (Some(pid), Some(user), Some(system)) =
            (field(b"si_pid="), field(b"si_utime="), field(b"si_stime="))
        else {
            return;
        };
        let child = u32::try_from(pid).ok().and_then(|pid| self.of_pid(pid));
        if let Some(child) = child {
            let ticks = user.saturating_add(system);
            self.processes[child as usize].cpu_ticks = Some(ticks);
        }
    }

    /// `exited with 0`, `killed by SIGKILL`, `superseded by execve in pid 7`.
    pub(in crate::strace) fn exit(&mut self, process: u32, text: &[u8], now: Stamp) {
        if let Some(by) = text.strip_prefix(b"superseded by execve in pid ") {
            if let Ok(thread) = u32::try_from(line::number(by)) {
                self.take_over(process, thread, now);
            }
            return;
        }
        let p = &mut self.processes[process as usize];
        p.exit = Some(crate::text::valid(text).to_owned());
        p.end = End::Gone(now);
        self.accesses.exit(super::number_of(p));
        self.alive.remove(&process);
        self.interrupted(process, now);
    }

    /// What it was in did not come to an end.
    fn interrupted(&mut self, process: u32, now: Stamp) {
        let p = &mut self.processes[process as usize];
        let took = now.ns.saturating_sub(p.open.start.ns).max(0);
        if p.open.on && self.names.kind(p.open.name) != Kind::Exit {
            self.keep_open(process, Took::For(took));
        }
        self.processes[process as usize].open.on = false;
    }

    /// The thread of `process` that is in `execve`: where strace is told not
    /// to say so (`-qqq`), that is who the process goes on as.
    pub(super) fn executing_thread(&self, process: u32, name: Option<u16>) -> Option<u32> {
        if name.is_none_or(|n| self.names.kind(n) != Kind::Exec) {
            return None;
        }
        let threads = self
            .forks
            .iter()
            .filter(|f| f.thread && f.parent == process);
        let mut threads = threads.rev().take(1_000).map(|f| f.child);
        threads.find(|pid| {
            self.of_pid(*pid).is_some_and(|t| {
                let open = &self.processes[t as usize].open;
                open.on && Some(open.name) == name
            })
        })
    }

    /// The thread `pid` becomes `process` by executing a program.
    pub(super) fn take_over(&mut self, process: u32, pid: u32, now: Stamp) {
        self.interrupted(process, now);
        if let Some(thread) = self.of_pid(pid).filter(|t| *t != process) {
            let t = &mut self.processes[thread as usize];
            t.end = End::Gone(now);
            if t.open.on {
                let open = std::mem::take(&mut t.open.args);
                t.open.on = false;
                let (name, start, at) = (t.open.name, t.open.start, t.open.at);
                let p = &mut self.processes[process as usize];
                p.open.set(name, start, &open, at);
            }
            self.alive.remove(&thread);
            self.by_pid.remove(&pid);
        } else if self.takeovers.len() < MAX_PROCESSES {
            // Its file is read later (-ff).
            self.takeovers.push(Takeover {
                process,
                thread: pid,
                at: now,
            });
        }
    }

    /// strace lets go of the process.
    pub(in crate::strace) fn detached(&mut self, pid: u32) {
        if let Some(process) = self.of_pid(pid)
            && self.lives(process)
        {
            self.processes[process as usize].end = End::Unseen;
            self.alive.remove(&process);
        }
    }
}
