//! Events of the kernel's trace, as Perfetto keeps them.
//!
//! A bundle has what one CPU wrote since it was last read. `sched_switch` can be in columns
//! that leave out who ran before: whoever the CPU went to last.

use std::collections::HashMap;

use bootlap_model::{Evidence, Severity, Stamp, Sym};
use prost::Message;
use prost::bytes::Bytes;

use super::schema::{FtraceEvent, FtraceEventBundle, FtraceTime, ProcessTree};
use crate::text::Import;
use crate::trace::{Event, Recording, Task, What, comm_of, is_asleep, readable};

/// One event, not looked into yet: there can be millions, which have to be put in order.
pub(super) enum Raw {
    /// Where it stands in its packet.
    Event { from: u32, len: u32 },
    /// Who ran before goes to sleep, or could go on; who runs next.
    Switch { asleep: bool, next: u32, comm: Sym },
}

/// When each event of a bundle was, ns of `CLOCK_BOOTTIME`, and what; `packet` holds the
/// bundle. `None` if its times are of a clock that nothing relates to that.
pub(super) fn events(
    bundle: FtraceEventBundle,
    packet: &Bytes,
    import: &mut Import<'_>,
) -> Option<impl Iterator<Item = (i64, Raw)> + use<>> {
    let offset_ns = match (
        bundle.ftrace_clock,
        bundle.ftrace_timestamp,
        bundle.boot_timestamp,
    ) {
        (None | Some(0), ..) => 0,
        (_, Some(ftrace), Some(boot)) => boot.checked_sub(ftrace)?,
        _ => return None,
    };
    let sched = bundle.compact_sched.unwrap_or_default();
    let mut ns = 0u64;
    let switches: Vec<_> = (sched.switch_timestamp.iter().enumerate())
        .filter_map(|(i, since)| {
            ns = ns.wrapping_add(*since);
            let comm = *sched.switch_next_comm_index.get(i)? as usize;
            let comm = readable(sched.intern_table.get(comm)?);
            let switch = Raw::Switch {
                asleep: is_asleep(*sched.switch_prev_state.get(i)?),
                next: u32::try_from(*sched.switch_next_pid.get(i)?).unwrap_or(0),
                comm: import.sym(&comm),
            };
            Some((ns, switch))
        })
        .collect();
    let begin = packet.as_ptr() as usize;
    let single = bundle.event.into_iter().filter_map(move |event| {
        let from = (event.as_ptr() as usize).checked_sub(begin)?;
        let raw = Raw::Event {
            from: u32::try_from(from).ok()?,
            len: u32::try_from(event.len()).ok()?,
        };
        Some((FtraceTime::decode(event).ok()?.timestamp?, raw))
    });
    let boot_ns = move |ns: u64| i64::try_from(ns).ok()?.checked_add(offset_ns);
    let all = single.chain(switches);
    Some(all.filter_map(move |(ns, raw)| Some((boot_ns(ns)?, raw))))
}

/// The kernel's events of a whole trace, in order of time.
pub(super) struct Kernel {
    recording: Recording,
    /// What threads are called, as far as was told.
    names: HashMap<u32, String>,
    /// What processes were started as.
    programs: HashMap<u32, String>,
    /// By CPU: who runs there.
    running: HashMap<u32, u32>,
    /// Events of other kinds: how many, and where the first is.
    others: Option<(u64, Evidence)>,
}

fn pid(pid: Option<i32>) -> Option<u32> {
    u32::try_from(pid?).ok()
}

impl Kernel {
    pub(super) fn of(recording: Recording) -> Self {
        Self {
            recording,
            names: HashMap::new(),
            programs: HashMap::new(),
            running: HashMap::new(),
            others: None,
        }
    }

    /// What ran when somebody looked: how it is called.
    pub(super) fn tree(&mut self, tree: ProcessTree) {
        for process in tree.processes {
            let program = process.cmdline.into_iter().next();
            if let (Some(pid), Some(program)) = (pid(process.pid), program) {
                let name = program.rsplit('/').next().unwrap_or(&program);
                self.programs.insert(pid, name.to_owned());
            }
        }
        for thread in tree.threads {
            if let (Some(tid), Some(name)) = (pid(thread.tid), thread.name) {
                self.names.entry(tid).or_insert(name);
            }
        }
    }

    pub(super) fn event(
        &mut self,
        (ns, cpu): (i64, u32),
        raw: &Raw,
        packet: &Bytes,
        evidence: Evidence,
        import: &mut Import<'_>,
    ) {
        match *raw {
            Raw::Switch { asleep, next, comm } => {
                let comm = import.timeline.text(comm).to_owned();
                let from = self.running.insert(cpu, next).unwrap_or(0);
                let from_comm = self.names.get(&from).cloned().unwrap_or_default();
                let what = What::Switch {
                    from: Task {
                        comm: &from_comm,
                        pid: from,
                    },
                    asleep,
                    to: Task {
                        comm: &comm,
                        pid: next,
                    },
                };
                self.take((ns, cpu, Some(from)), what, evidence, import);
                self.names.insert(next, comm);
            }
            Raw::Event { from, len } => {
                let bytes = packet.get(from as usize..from.saturating_add(len) as usize);
                let event = bytes.and_then(|bytes| FtraceEvent::decode(bytes).ok());
                let event = event.unwrap_or_default();
                let at = (ns, cpu, event.pid);
                match self.what(&event, cpu) {
                    Some(what) => self.take(at, what, evidence, import),
                    None => self.others.get_or_insert((0, evidence)).0 += 1,
                }
            }
        }
    }

    fn take(
        &mut self,
        (ns, cpu, pid): (i64, u32, Option<u32>),
        what: What<'_>,
        evidence: Evidence,
        import: &mut Import<'_>,
    ) {
        // Android's runtime calls the first thread of each of its processes `main`.
        let comm = pid.and_then(|pid| match self.names.get(&pid) {
            None => self.programs.get(&pid),
            Some(name) if name == "main" => self.programs.get(&pid).or(Some(name)),
            name => name,
        });
        let event = Event {
            at: Some(Stamp::new(ns, 0)),
            cpu: Some(cpu),
            comm: comm.map_or("", String::as_str),
            pid,
            what,
        };
        self.recording.event(&event, evidence, import);
    }

    /// What an event says, and what threads are called from then on.
    fn what<'e>(&mut self, event: &'e FtraceEvent, cpu: u32) -> Option<What<'e>> {
        let task = |comm: &'e Option<String>, number| {
            let pid = pid(number)?;
            Some(Task {
                comm: comm.as_deref().unwrap_or(""),
                pid,
            })
        };
        let what = if let Some(e) = &event.print {
            What::Note {
                text: e.buf.as_deref()?,
            }
        } else if let Some(e) = &event.sched_switch {
            let to = task(&e.next_comm, e.next_pid)?;
            self.running.insert(cpu, to.pid);
            self.called(to);
            What::Switch {
                from: task(&e.prev_comm, e.prev_pid)?,
                asleep: is_asleep(e.prev_state.unwrap_or(0)),
                to,
            }
        } else if let Some(e) = &event.cpu_frequency {
            What::Frequency {
                cpu: e.cpu_id.unwrap_or(0),
                khz: e.state?,
            }
        } else if let Some(e) = &event.task_newtask {
            let task = task(&e.comm, e.pid)?;
            self.called(task);
            What::New {
                task,
                is_thread: e.clone_flags.unwrap_or(0) & 0x1_0000 != 0,
            }
        } else if let Some(e) = &event.task_rename {
            let task = task(&e.newcomm, e.pid)?;
            self.called(task);
            What::Rename { task }
        } else if let Some(e) = &event.sched_process_exec {
            let (program, pid) = (e.filename.as_deref()?, pid(e.pid)?);
            let comm = comm_of(program);
            self.called(Task { comm, pid });
            What::Exec { program, pid }
        } else if let Some(e) = &event.sched_process_exit {
            What::Exit {
                task: task(&e.comm, e.pid)?,
            }
        } else if let Some(e) = &event.sched_process_fork {
            let child = task(&e.child_comm, e.child_pid)?;
            self.called(child);
            What::Fork {
                parent: task(&e.parent_comm, e.parent_pid)?,
                child,
            }
        } else {
            return None;
        };
        Some(what)
    }

    fn called(&mut self, task: Task<'_>) {
        if !task.comm.is_empty() {
            self.names.insert(task.pid, task.comm.to_owned());
        }
    }

    pub(super) fn finish(mut self, import: &mut Import<'_>) {
        self.recording.finish(import);
        if let Some((count, first)) = self.others {
            import.notice_times(
                count,
                "other-kernel-events",
                Severity::Info,
                first,
                "these events of the kernel are of kinds that are not read; sched_switch, sched_process_*, task_*, cpu_frequency and print are",
            );
        }
    }
}
