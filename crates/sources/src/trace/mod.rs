//! What is common to all recordings of the kernel's trace events: ftrace's
//! text, `trace-cmd`'s file, `perf script`'s text.
//!
//! Each of them makes [`Event`]s; a [`Recording`] makes of these
//!
//! - function calls, nested by thread ([`calls`]), and from those of
//!   `do_one_initcall` the initcalls ([`named_initcalls`]),
//! - initcalls ([`initcalls`]), processes ([`tasks`]), system calls
//!   ([`syscalls`]), and what these do with files ([`file_calls`]),
//! - what Android's programs say that they do ([`atrace`]),
//! - counts of samples ([`samples`]),
//! - what was read of disks ([`page_cache`]), how fast the CPUs ran ([`frequencies`]),
//! - marks of what is rare, counts of what is not ([`others`]).

mod atrace;
mod calls;
mod event;
mod file_calls;
mod frequencies;
mod initcalls;
mod lane;
mod named_initcalls;
mod nested;
mod others;
mod page_cache;
mod samples;
mod syscalls;
mod tally;
mod tasks;

use std::borrow::Cow;

use bootlap_model::{ClockId, ClockKind, Evidence, Stamp};

pub(crate) use self::event::{Event, Function, Task, What};
pub(crate) use self::nested::Nested;
pub(crate) use self::tasks::comm_of;

use self::atrace::Slices;
use self::calls::Calls;
use self::event::Moment;
use self::file_calls::FileCalls;
use self::frequencies::Frequencies;
use self::initcalls::Initcalls;
use self::lane::Returned;
use self::others::Others;
use self::page_cache::PageCache;
use self::samples::Programs;
use self::syscalls::Syscalls;
use self::tasks::Tasks;
use crate::text::Import;

/// The events of one recording, on one clock.
pub(crate) struct Recording {
    kind: ClockKind,
    clock: Option<ClockId>,
    calls: Calls,
    initcalls: Initcalls,
    tasks: Tasks,
    syscalls: Syscalls,
    file_calls: FileCalls,
    only_files: bool,
    slices: Slices,
    others: Others,
    pages: PageCache,
    frequencies: Frequencies,
    programs: Programs,
    last_ns: i64,
}

impl Recording {
    /// A recording whose times are of a clock of this kind.
    pub(crate) fn new(kind: ClockKind) -> Self {
        Self {
            kind,
            clock: None,
            calls: Calls::default(),
            initcalls: Initcalls::default(),
            tasks: Tasks::default(),
            syscalls: Syscalls::default(),
            file_calls: FileCalls::default(),
            only_files: false,
            slices: Slices::default(),
            others: Others::default(),
            pages: PageCache::default(),
            frequencies: Frequencies::default(),
            programs: Programs::default(),
            last_ns: i64::MIN,
        }
    }

    /// A recording whose times are of a clock that others of its file have too.
    pub(crate) fn on(clock: ClockId) -> Self {
        let mut recording = Self::new(ClockKind::Boottime);
        recording.clock = Some(clock);
        recording
    }

    /// The times turn out to be of another clock; before the first event.
    pub(crate) fn is_on(&mut self, kind: ClockKind) {
        if self.clock.is_none() {
            self.kind = kind;
        }
    }

    /// System calls were recorded for what they do with files, and single ones are of no
    /// interest.
    pub(crate) fn is_of_files(&mut self) {
        self.only_files = true;
        self.file_calls.found_if_silent = true;
    }

    /// The machine's pages are so large, bytes.
    pub(crate) fn page_is(&mut self, bytes: u64) {
        self.pages.page_is(bytes);
    }

    /// The clock of the times.
    pub(crate) fn clock(&mut self, import: &mut Import<'_>) -> ClockId {
        let (timeline, file) = (&mut *import.timeline, import.file);
        *self
            .clock
            .get_or_insert_with(|| timeline.add_clock(self.kind, file))
    }

    /// Takes one event.
    pub(crate) fn event(&mut self, event: &Event<'_>, evidence: Evidence, import: &mut Import<'_>) {
        let Some(at) = event.at else {
            // Only function calls are of use without a time; their clock is
            // another one, so this one is not needed.
            return self.call(event, self.clock, evidence, import);
        };
        self.last_ns = self.last_ns.max(at.ns);
        let clock = self.clock(import);
        if matches!(
            event.what,
            What::Call { .. } | What::Leaf { .. } | What::Return { .. }
        ) {
            return self.call(event, Some(clock), evidence, import);
        }
        let now = Moment {
            clock,
            at,
            evidence,
        };
        if let Some(pid) = event.pid {
            let comm = event.comm;
            self.tasks.named(Task { comm, pid }, import);
        }
        self.timed(event, at, &now, import);
    }

    fn call(
        &mut self,
        event: &Event<'_>,
        clock: Option<ClockId>,
        evidence: Evidence,
        import: &mut Import<'_>,
    ) {
        match event.what {
            What::Call { function, depth } => {
                self.calls
                    .call(event, (&function, depth), clock, evidence, import);
            }
            What::Leaf {
                function,
                depth,
                duration_ns,
                value,
            } => {
                let returned = Returned {
                    name: None,
                    depth,
                    duration_ns,
                    value,
                };
                self.calls
                    .leaf(event, &function, returned, clock, evidence, import);
            }
            What::Return {
                name,
                depth,
                duration_ns,
                value,
            } => {
                let returned = Returned {
                    name,
                    depth,
                    duration_ns,
                    value,
                };
                self.calls
                    .returned(event, returned, clock, evidence, import);
            }
            _ => {}
        }
    }

    fn timed(&mut self, event: &Event<'_>, at: Stamp, now: &Moment, import: &mut Import<'_>) {
        let this = Task {
            comm: event.comm,
            pid: event.pid.unwrap_or_default(),
        };
        match event.what {
            What::Switch { from, asleep, to } => {
                self.calls.switch(from.pid, asleep, to.pid, at);
                self.tasks.switch(event.cpu, from, to, now, import);
            }
            What::Wakeup { task } | What::Rename { task } => self.tasks.named(task, import),
            What::Fork { parent, child } => {
                self.file_calls.fork(parent.pid, child.pid, false);
                self.tasks.fork(parent, child, now, import);
            }
            What::New { task, is_thread } => {
                self.file_calls.fork(this.pid, task.pid, is_thread);
                self.tasks.fork(this, task, now, import);
                if is_thread {
                    self.tasks.is_thread(task.pid, import);
                }
            }
            What::Exec { program, pid } => {
                let comm = if event.pid == Some(pid) {
                    event.comm
                } else {
                    ""
                };
                self.file_calls.exec(pid, program);
                self.tasks.exec(program, Task { comm, pid }, now, import);
            }
            What::Exit { task } => {
                self.file_calls.ended(task);
                self.tasks.exit(task, now, import);
            }
            What::Gone { pid } => self.tasks.gone(pid, import),
            What::Fact { key, value, pid } => self.tasks.fact((key, value), pid, import),
            What::Used { task, cpu_ns } => self.tasks.used(task, cpu_ns, import),
            What::InitcallLevel { level } => {
                self.tasks.boots = true;
                self.initcalls.level(level);
            }
            What::InitcallStart { function } => {
                self.tasks.boots = true;
                self.initcalls.start(&function, event.pid, now, import);
            }
            What::InitcallFinish { function, ret } => {
                self.initcalls
                    .finish_one(&function, ret, event.pid, now, import);
            }
            What::SysEnter { name, args } => {
                self.file_calls.enter(this, (name, args), now);
                if !self.only_files {
                    self.syscalls.enter(this, (name, args), now, import);
                }
            }
            What::Path { path } => self.file_calls.path(this.pid, path),
            What::SysExit { name, ret } => {
                self.file_calls.exit(this, (name, ret), now);
                if !self.only_files {
                    self.syscalls.exit(this, (name, ret), now, import);
                }
            }
            What::Sample { symbol } => {
                self.programs.add(this.comm, now);
                self.tasks.sampled(this, symbol, now, import);
            }
            What::Frequency { cpu, khz } => self.frequencies.add(cpu, khz, now),
            What::Printk { text } => self.others.printk(text, now, import),
            What::Note { text } => {
                if let Some(note) = self.slices.note(text, this, now, import) {
                    self.others.note(note, now, import);
                }
            }
            What::Enter { name } => self.others.enter(name, now, import),
            What::Other { name, fields } => {
                if name == page_cache::NAME {
                    self.pages.add(fields, now, import);
                }
                self.others.event(name, fields, now, import);
            }
            What::ModuleLoad { module } => {
                self.others.event("module_load", module, now, import);
            }
            What::ModuleRequest { module } => {
                self.others.event("module_request", module, now, import)
            }
            What::Call { .. } | What::Leaf { .. } | What::Return { .. } | What::Nothing => {}
        }
    }

    /// There are no more events.
    pub(crate) fn finish(&mut self, import: &mut Import<'_>) {
        self.calls.finish(import);
        if !self.initcalls.seen {
            self.calls.initcalls.finish(import);
        }
        self.initcalls.finish(import);
        self.tasks.finish(self.last_ns, import);
        self.syscalls.finish(import);
        self.file_calls.finish(self.last_ns, import.timeline);
        self.slices.finish(import);
        self.others.finish(import);
        self.pages.finish(import);
        self.frequencies.finish(import);
        self.programs.finish(import);
    }
}

/// Whether a thread that was switched away from with this state waits for something: 0 is
/// running; 0x100 (`TASK_REPORT_MAX` and above) was pushed away.
pub(crate) fn is_asleep(state: i64) -> bool {
    state & 0xff != 0
}

/// A line as text; the kernel cuts names at 15 bytes, which may be in the
/// middle of a character.
pub(crate) fn readable(line: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(line) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(line),
    }
}

/// The first `max` bytes of `text`, or fewer: whole characters.
fn cut(text: &str, max: usize) -> &str {
    let mut len = text.len().min(max);
    while !text.is_char_boundary(len) {
        len -= 1;
    }
    &text[..len]
}
