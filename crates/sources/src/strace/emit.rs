//! The trace as events of a timeline.

use std::collections::HashMap;

use bootlap_model::{
    Anchor, ClockId, Evidence, LinkKind, Severity, SpanEnd, SpanId, Stamp, Timeline, TrackKind,
};
use foldhash::fast::FixedState;

use super::calls::{Kind, short};
use super::process::{End, Process};
use super::record::{Call, Fork, Took};
use super::trace::{ByPid, Trace};
use crate::text::valid;

const DAY_NS: i64 = 86_400_000_000_000;

/// How many system calls a process's `syscalls` names.
const TOP: usize = 5;

/// Where a process comes from.
#[derive(Clone, Default)]
struct Origin {
    /// Which of the forks made it.
    fork: Option<usize>,
    thread: bool,
    name: String,
    /// Whole days that its times lack: its file began after midnight.
    shift_ns: i64,
}

/// Adds all that `trace` knows; `split` if each process had a file of its own.
pub(super) fn emit(mut trace: Trace, split: bool, out: &mut Timeline) {
    trace.finish();
    late_takeovers(&mut trace);
    let origins = origins(&mut trace, split, out);
    let spans = processes(&trace, &origins, out);
    for (child, origin) in origins.iter().enumerate() {
        if let Some(fork) = origin.fork {
            let parent = trace.forks[fork].parent as usize;
            out.link(spans[parent], spans[child], LinkKind::Spawns);
        }
    }
    for call in &trace.calls {
        syscall(&trace, call, &origins, out);
    }
    for exec in &trace.execs {
        let p = &trace.processes[exec.process as usize];
        let shift = origins[exec.process as usize].shift_ns;
        let program = p.programs.first().map_or(&b""[..], |p| &p.path);
        if !program.is_empty() {
            out.anchors.push(Anchor {
                clock: p.clock,
                at: moved(exec.at, shift),
                key: Anchor::exec(program),
                evidence: exec.evidence,
            });
        }
    }
    for line in &trace.lines {
        let shift = origins[line.process as usize].shift_ns;
        out.anchors.push(Anchor {
            clock: trace.processes[line.process as usize].clock,
            at: moved(line.at, shift),
            key: line.key,
            evidence: line.evidence,
        });
    }
    counted(&trace, out);
    trace.accesses.finish(out);
}

/// With a file for each process, the program that a thread executed is found
/// only when all files are read.
fn late_takeovers(trace: &mut Trace) {
    for takeover in std::mem::take(&mut trace.takeovers) {
        let Some(thread) = trace.of_pid(takeover.thread) else {
            continue;
        };
        if thread == takeover.process {
            continue;
        }
        let t = &mut trace.processes[thread as usize];
        t.end = End::Gone(takeover.at);
        if t.open.on && trace.names.kind(t.open.name) == Kind::Exec {
            t.open.on = false;
            let args = std::mem::take(&mut t.open.args);
            trace
                .calls
                .retain(|c| c.process != thread || !matches!(c.took, Took::AtLeast(_)));
            let p = &mut trace.processes[takeover.process as usize];
            if let Some(nameless) = p.programs.iter().position(|p| p.path.is_empty()) {
                let last = p.programs.len() - 1;
                p.execute(&args);
                let program = p.programs.pop().expect("just added");
                p.programs.truncate(last + 1);
                p.programs[nameless] = program;
            }
        }
    }
}

/// Who made whom. Children that have no lines become processes too.
fn origins(trace: &mut Trace, split: bool, out: &mut Timeline) -> Vec<Origin> {
    let mut of_pid: ByPid<Vec<u32>> = HashMap::with_hasher(FixedState::with_seed(0));
    for (i, p) in trace.processes.iter().enumerate() {
        if let Some(pid) = p.pid {
            of_pid.entry(pid).or_default().push(i as u32);
        }
    }
    // Numbers are used again, so the first that is free and not older fits.
    let mut next: ByPid<usize> = HashMap::with_hasher(FixedState::with_seed(0));
    let mut origins = vec![Origin::default(); trace.processes.len()];
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); trace.processes.len()];
    for i in 0..trace.forks.len() {
        let fork = &trace.forks[i];
        let all = of_pid.get(&fork.child).map_or(&[][..], |all| all);
        let from = next.entry(fork.child).or_default();
        while let Some(p) = all.get(*from)
            && !split
            && trace.processes[*p as usize].first.ns < fork.start.ns
        {
            *from += 1;
        }
        let child = match all.get(*from) {
            Some(child) if *child != fork.parent => {
                *from += 1;
                *child
            }
            Some(_) => continue,
            None => match unseen(trace, i, out) {
                Some(child) => {
                    origins.push(Origin::default());
                    children.push(Vec::new());
                    child
                }
                None => continue,
            },
        };
        origins[child as usize].fork = Some(i);
        origins[child as usize].thread = trace.forks[i].thread;
        children[trace.forks[i].parent as usize].push(child);
    }
    inherit(trace, &mut origins, &children);
    origins
}

/// A process that is only known because it was made.
fn unseen(trace: &mut Trace, fork: usize, out: &mut Timeline) -> Option<u32> {
    let Fork {
        parent,
        child,
        start,
        end,
        thread,
        at,
        ..
    } = trace.forks[fork];
    let (code, what) = if thread {
        (
            "threads-not-followed",
            "threads were started that were not traced; run strace again with -f",
        )
    } else {
        (
            "children-not-followed",
            "processes were started that were not traced, so only their beginning is known; run strace again with -f",
        )
    };
    out.notice(code, Severity::Info, Some(at), what);
    if thread {
        return None;
    }
    let clock = trace.processes[parent as usize].clock;
    let id = trace.add(Some(child), (clock, end.unwrap_or(start)), at)?;
    trace.processes[id as usize].end = End::Unseen;
    Some(id)
}

/// From parents to children: names, and the day.
fn inherit(trace: &Trace, origins: &mut [Origin], children: &[Vec<u32>]) {
    let roots = (0..origins.len()).filter(|i| origins[*i].fork.is_none());
    let mut todo: Vec<usize> = roots.collect();
    while let Some(i) = todo.pop() {
        let p = &trace.processes[i];
        let own = p.programs.iter().rev().map(|p| p.name());
        let own = own.chain([&p.comm[..]]).find(|name| !name.is_empty());
        let own = if p.comm.is_empty() {
            own
        } else {
            Some(&p.comm[..])
        };
        if let Some(own) = own {
            origins[i].name = valid(own).to_owned();
        } else if let Some(fork) = origins[i].fork {
            let fork = &trace.forks[fork];
            let parent = fork.parent as usize;
            let programs = &trace.processes[parent].programs;
            let then = fork.programs.checked_sub(1).and_then(|n| programs.get(n));
            origins[i].name = match then.filter(|p| !p.name().is_empty()) {
                Some(program) => valid(program.name()).to_owned(),
                None => origins[parent].name.clone(),
            };
        }
        if origins[i].name.is_empty() {
            origins[i].name = p.pid.map_or("process".into(), |pid| format!("pid {pid}"));
        }
        if let Some(fork) = origins[i].fork {
            let fork = &trace.forks[fork];
            let parent_ns = origins[fork.parent as usize].shift_ns;
            let lacks = p.first.ns < fork.start.ns.saturating_sub(DAY_NS / 2);
            origins[i].shift_ns = parent_ns + if lacks { DAY_NS } else { 0 };
        }
        todo.extend(children[i].iter().map(|c| *c as usize));
    }
}

fn processes(trace: &Trace, origins: &[Origin], out: &mut Timeline) -> Vec<SpanId> {
    let mut ids = Vec::with_capacity(origins.len());
    for (i, p) in trace.processes.iter().enumerate() {
        let origin = &origins[i];
        let fork = origin.fork.map(|f| &trace.forks[f]);
        let born = fork.and_then(|f| {
            let end = f.end?;
            Some(moved(end, origins[f.parent as usize].shift_ns))
        });
        let first = moved(p.first, origin.shift_ns);
        let start = born.filter(|b| b.ns < first.ns).unwrap_or(first);
        let end = match p.end {
            End::Running => SpanEnd::OpenAtCut,
            End::Unseen => SpanEnd::Unknown,
            End::Exiting(at) | End::Gone(at) => SpanEnd::At(moved(at, origin.shift_ns)),
        };
        let track = if origin.thread {
            "threads"
        } else {
            "processes"
        };
        let parent = fork.and_then(|f| trace.processes[f.parent as usize].pid);
        let args = facts(trace, p, parent, origin.thread);
        ids.push(span(
            out,
            p.clock,
            (TrackKind::Process, track),
            &origin.name,
            (start, end),
            &args,
            p.at,
        ));
    }
    ids
}

/// What is known of a process besides its times.
fn facts(
    trace: &Trace,
    p: &Process,
    parent: Option<u32>,
    thread: bool,
) -> Vec<(&'static str, String)> {
    let mut args = Vec::new();
    let mut some = |key, value: String| args.push((key, value));
    if let Some(pid) = p.pid {
        some("pid", pid.to_string());
    }
    if let Some(parent) = parent {
        some(if thread { "made_by" } else { "ppid" }, parent.to_string());
    }
    if let Some((last, before)) = p.programs.split_last() {
        some("program", valid(&last.path).to_owned());
        some("cmdline", valid(&last.cmdline).to_owned());
        if !before.is_empty() {
            let names: Vec<&str> = before.iter().map(|p| valid(p.name())).collect();
            some("before", names.join(" → "));
        }
    }
    if let Some(exit) = p.exit.as_ref().filter(|e| *e != "exited with 0") {
        some("exit", exit.clone());
    }
    if let Some(ticks) = p.cpu_ticks.filter(|t| *t > 0) {
        some("cpu_us", ticks.saturating_mul(10_000).to_string());
    }
    let sums = &p.sums;
    if sums.count == 0 {
        return args;
    }
    let timed = sums.timed > 0 && sums.timed * 2 >= sums.count;
    let top = sums.top(TOP);
    let top = top.iter().map(|s| {
        let name = trace.names.text(s.name);
        let took = format!(" {}", short(s.took_ns));
        format!("{name} {}{}", s.count, if timed { &took } else { "" })
    });
    some("syscalls", top.collect::<Vec<_>>().join(", "));
    some("calls", sums.count.to_string());
    if timed {
        some("syscall_us", (sums.took_ns / 1_000).to_string());
        some("wait_us", (sums.wait_ns / 1_000).to_string());
    }
    for (key, n) in [
        ("opens", sums.opens),
        ("failed_opens", sums.failed_opens),
        ("enoent", sums.enoent),
        ("failed_execs", p.failed_execs),
    ] {
        if n > 0 {
            some(key, n.to_string());
        }
    }
    args
}

fn syscall(trace: &Trace, call: &Call, origins: &[Origin], out: &mut Timeline) {
    let process = call.process as usize;
    let p = &trace.processes[process];
    let origin = &origins[process];
    let start = moved(call.start, origin.shift_ns);
    let mut args = vec![("args", call.args.to_string())];
    if !call.ret.is_empty() {
        args.push(("ret", call.ret.to_string()));
    }
    if call.waits {
        args.push(("waits", "yes".to_owned()));
    }
    let end = match call.took {
        Took::For(ns) => SpanEnd::At(moved(start, ns)),
        Took::AtLeast(_) => SpanEnd::OpenAtCut,
        Took::AtMost(ns) => {
            args.push(("until_next_us", (ns / 1_000).to_string()));
            SpanEnd::Unknown
        }
    };
    let track = match p.pid {
        Some(pid) if !origin.name.starts_with("pid ") => format!("{} {pid}", origin.name),
        _ => origin.name.clone(),
    };
    span(
        out,
        p.clock,
        (TrackKind::Syscall, &track),
        trace.names.text(call.name),
        (start, end),
        &args,
        call.at,
    );
}

/// How many calls are not shown one by one, and why.
fn counted(trace: &Trace, out: &mut Timeline) {
    let all: u64 = trace.processes.iter().map(|p| p.sums.count).sum();
    let timed: u64 = trace.processes.iter().map(|p| p.sums.timed).sum();
    let summed = all.saturating_sub(trace.calls.len() as u64);
    if summed > 0 {
        let (plain, wait) = (short(trace.worth_ns), short(trace.worth_wait_ns));
        let code = "short-calls-summed";
        let text = format!(
            "system calls shorter than {plain}, or that waited shorter than {wait}, are summed for each process and not shown one by one"
        );
        let at = trace.calls.first().map(|c| c.at);
        let at = at.or(trace.processes.first().map(|p| p.at));
        out.notice(code, Severity::Info, at, &text);
        if let Some(notice) = out.notices.iter_mut().rfind(|n| n.code == code) {
            notice.count += summed - 1;
        }
    }
    if timed * 2 < all {
        out.notice(
            "no-durations",
            Severity::Info,
            None,
            "most calls do not say how long they took, so waiting cannot be told from working; run strace again with -T",
        );
    }
}

fn moved(at: Stamp, ns: i64) -> Stamp {
    Stamp::new(at.ns.saturating_add(ns), at.err_ns)
}

/// An end before the start is unknown: the clock was set.
fn span(
    out: &mut Timeline,
    clock: ClockId,
    track: (TrackKind, &str),
    name: &str,
    (start, end): (Stamp, SpanEnd),
    args: &[(&str, String)],
    evidence: Evidence,
) -> SpanId {
    let args: Vec<_> = args.iter().map(|(k, v)| (*k, &**v)).collect();
    let end = match end {
        SpanEnd::At(end) if end.ns < start.ns => SpanEnd::Unknown,
        end => end,
    };
    out.add_named(clock, track, name, (start, end), &args, evidence)
}
