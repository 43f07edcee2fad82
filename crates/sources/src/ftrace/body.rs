//! What an event says, after who, where and when.
//!
//! ```text
//! vfs_open <-path_openat                                              function tracer
//! sched_switch: prev_comm=init prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=wc next_pid=9 next_prio=120
//! sched_switch:         init:1 [120] S ==> wc:9 [120]                 trace-cmd report
//! initcall_finish: func=fuse_len_args+0x0/0x30 [fuse] ret=0
//! sys_openat(dfd: ffffff9c, filename: 7f44de68e0b1, flags: 80000, mode: 0)
//! sys_openat -> 0x3
//! syscalls:sys_exit_openat: 0x3                                       perf script
//! funcgraph_entry:        0.123 us   |          _raw_spin_lock();     trace-cmd report
//! tracing_mark_write: app ready
//! ```

use memchr::memmem::find;

use super::graph_line::{self, Shape};
use crate::text;
use crate::trace::{Function, Task, What};

/// What `body` says.
pub(crate) fn parse(body: &str) -> What<'_> {
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'.';
    let len = body.bytes().position(|b| !is_name(b)).unwrap_or(body.len());
    let (name, rest) = body.split_at(len);
    match rest.as_bytes().first() {
        Some(b':') => event(name, rest[1..].trim_ascii_start()),
        Some(b'(' | b' ' | b'+') => bare(name, rest, body),
        _ if body.starts_with("<stack trace>") || body.starts_with("<user stack trace>") => {
            What::Nothing
        }
        _ => What::Other {
            name: "event",
            fields: body,
        },
    }
}

/// Without a colon: calls of functions, system calls.
fn bare<'a>(name: &'a str, rest: &'a str, body: &'a str) -> What<'a> {
    if rest.contains("<-") {
        return What::Enter { name };
    }
    if let Some(call) = name.strip_prefix("sys_") {
        if let Some(ret) = rest.trim_ascii().strip_prefix("-> ") {
            return What::SysExit { name: call, ret };
        }
        let args = rest.trim_ascii();
        if let Some(args) = args.strip_prefix('(') {
            let args = args.strip_suffix(')').unwrap_or(args);
            return What::SysEnter { name: call, args };
        }
    }
    What::Other {
        name: "event",
        fields: body,
    }
}

/// An event of this name, with these fields.
pub(crate) fn event<'a>(name: &'a str, fields: &'a str) -> What<'a> {
    let other = What::Other { name, fields };
    let known = match name {
        "function" => {
            let end = fields.find([' ', '(']).unwrap_or(fields.len());
            Some(What::Enter {
                name: &fields[..end],
            })
        }
        "funcgraph_entry" | "funcgraph_exit" => graph(fields),
        "sched_switch" => switch(fields),
        "sched_wakeup" | "sched_wakeup_new" | "sched_waking" => {
            one_task(fields).map(|task| What::Wakeup { task })
        }
        "sched_process_fork" => fork(fields),
        "sched_process_exec" => exec(fields),
        "sched_process_exit" => one_task(fields).map(|task| What::Exit { task }),
        "task_newtask" => new_task(fields),
        "task_rename" => {
            let comm = between(fields, "newcomm=", " oom_score_adj=");
            task(comm, number(fields, "pid=")).map(|task| What::Rename { task })
        }
        "initcall_level" => value(fields, "level=").map(|level| What::InitcallLevel { level }),
        "initcall_start" => function(fields).map(|(function, _)| What::InitcallStart { function }),
        "initcall_finish" => function(fields).and_then(|(function, rest)| {
            let ret = value(rest, "ret=")?;
            Some(What::InitcallFinish { function, ret })
        }),
        "module_load" => Some(What::ModuleLoad {
            module: first_word(fields),
        }),
        "module_request" => Some(What::ModuleRequest {
            module: first_word(fields),
        }),
        // Nothing that the others do not say too.
        "module_free" | "module_get" | "module_put" | "sched_migrate_task"
        | "sched_process_wait" | "sched_process_free" | "sched_prepare_exec"
        | "sched_process_hang" => Some(What::Nothing),
        _ if name.starts_with("sched_stat_") => Some(What::Nothing),
        "cpu_frequency" => frequency(fields),
        "console" => Some(What::Printk { text: fields }),
        "tracing_mark_write" | "print" | "bprint" | "bputs" | "trace_marker" => Some(What::Note {
            text: fields
                .strip_prefix("tracing_mark_write: ")
                .unwrap_or(fields),
        }),
        "sys_enter" | "sys_exit" => raw_syscall(fields),
        _ => probed(name, fields).or_else(|| syscall(name, fields)),
    };
    known.unwrap_or(other)
}

/// `        0.123 us   |          f();`
fn graph(fields: &str) -> Option<What<'_>> {
    let bar = fields.find('|')?;
    let cell = fields[..bar].trim_ascii();
    let duration = graph_line::duration(cell);
    match graph_line::function(&fields[bar + 1..], duration)? {
        Shape::Call(what) => Some(what),
        _ => Some(What::Nothing),
    }
}

/// `state=1800000 cpu_id=0`
fn frequency(fields: &str) -> Option<What<'_>> {
    Some(What::Frequency {
        cpu: number(fields, "cpu_id=")?,
        khz: number(fields, "state=")?,
    })
}

fn switch(fields: &str) -> Option<What<'_>> {
    let (from, to) = match find(fields.as_bytes(), b" ==> ") {
        Some(arrow) => (&fields[..arrow], &fields[arrow + 5..]),
        // `trace-cmd report -R` prints fields as they are.
        None => fields.split_at(find(fields.as_bytes(), b" next_comm=")?),
    };
    if from.starts_with("prev_comm=") {
        return Some(What::Switch {
            from: task(
                between(from, "prev_comm=", " prev_pid="),
                number(from, " prev_pid="),
            )?,
            asleep: is_asleep(value(from, " prev_state=")?),
            to: task(
                between(to, "next_comm=", " next_pid="),
                number(to, " next_pid="),
            )?,
        });
    }
    // `task bash:123 [120] (S)` was the kernel's form before 2.6.35.
    let from = from.strip_prefix("task ").unwrap_or(from);
    let to = to.strip_prefix("task ").unwrap_or(to);
    let (from, state) = short_task(from)?;
    Some(What::Switch {
        from,
        asleep: is_asleep(state.trim_matches(['(', ')', ' '])),
        to: short_task(to)?.0,
    })
}

/// `bash:123 [120] rest`
fn short_task(text: &str) -> Option<(Task<'_>, &str)> {
    let (who, rest) = text.split_once(" [")?;
    let (comm, pid) = who.rsplit_once(':')?;
    let (_prio, rest) = rest.split_once(']')?;
    Some((task(Some(comm), pid.parse().ok())?, rest.trim_ascii()))
}

/// Runnable is `R`, with a `+` if it was pushed away; `0` and `0x100` as
/// numbers.
fn is_asleep(state: &str) -> bool {
    match state.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).is_ok_and(|state| state & 0xff != 0),
        None => !state.starts_with('R') && state != "0",
    }
}

/// `comm=bash pid=123 …`, or `bash:123 [120] …`.
fn one_task(fields: &str) -> Option<Task<'_>> {
    match between(fields, "comm=", " pid=") {
        Some(comm) => task(Some(comm), number(fields, " pid=")),
        None => Some(short_task(fields.strip_prefix("task ").unwrap_or(fields))?.0),
    }
}

fn fork(fields: &str) -> Option<What<'_>> {
    let named = fields.strip_prefix("parent_").unwrap_or(fields);
    if let Some(rest) = named.strip_prefix("comm=") {
        let child = find(rest.as_bytes(), b" child_comm=")?;
        let (parent, child) = (&rest[..child], &rest[child + 12..]);
        let key = if named.len() < fields.len() {
            " parent_pid="
        } else {
            " pid="
        };
        let at = find(parent.as_bytes(), key.as_bytes())?;
        let pid = find(child.as_bytes(), b" child_pid=")?;
        return Some(What::Fork {
            parent: task(Some(&parent[..at]), number(parent, key))?,
            child: task(Some(&child[..pid]), number(child, " child_pid="))?,
        });
    }
    // `parent bash:12  child bash:13`, before 2.6.35.
    let rest = fields.strip_prefix("parent ")?;
    let (parent, child) = rest.split_once("  child ")?;
    let of = |text: &'_ str| -> Option<(usize, u32)> {
        let colon = text.rfind(':')?;
        Some((colon, text[colon + 1..].trim_ascii().parse().ok()?))
    };
    let ((p, ppid), (c, cpid)) = (of(parent)?, of(child)?);
    Some(What::Fork {
        parent: task(Some(&parent[..p]), Some(ppid))?,
        child: task(Some(&child[..c]), Some(cpid))?,
    })
}

fn exec(fields: &str) -> Option<What<'_>> {
    Some(What::Exec {
        program: between(fields, "filename=", " pid=")?,
        pid: number(fields, " pid=")?,
    })
}

fn new_task(fields: &str) -> Option<What<'_>> {
    const CLONE_THREAD: u64 = 0x0001_0000;
    let flags = value(fields, "clone_flags=")?;
    let flags = u64::from_str_radix(flags.trim_start_matches("0x"), 16).ok()?;
    let comm = between(fields, "comm=", " clone_flags=");
    Some(What::New {
        task: task(comm, number(fields, "pid="))?,
        is_thread: flags & CLONE_THREAD != 0,
    })
}

/// `func=name+0x0/0x30 [module] rest`
fn function(fields: &str) -> Option<(Function<'_>, &str)> {
    let text = fields.strip_prefix("func=")?;
    let (symbol, mut rest) = text.split_once(' ').unwrap_or((text, ""));
    let mut module = None;
    if let Some((inner, after)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
        (module, rest) = (Some(inner), after);
    }
    let name = symbol.rfind("+0x").map_or(symbol, |plus| &symbol[..plus]);
    let function = Function {
        name,
        module,
        args: "",
    };
    (!name.is_empty()).then_some((function, rest))
}

/// `NR 33 (4, 1, …)` or `NR 33 = 1`.
fn raw_syscall(fields: &str) -> Option<What<'_>> {
    let digits = fields.strip_prefix("NR ")?;
    let len = 3 + digits
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b'-')
        .count();
    let (name, rest) = fields.split_at(len);
    let rest = rest.trim_ascii();
    if let Some(ret) = rest.strip_prefix("= ") {
        return Some(What::SysExit { name, ret });
    }
    let args = rest.trim_start_matches('(').trim_end_matches(')');
    Some(What::SysEnter { name, args })
}

/// `openat: (syscalls.sys_enter_openat) dfd=0x6 path="…"`: a probe on that event.
/// `getname: (do_filp_open+0x0/0x160) path="…"`: one on that function; of a path that is
/// the kernel's own, `path=(fault)`.
fn probed<'a>(name: &'a str, fields: &'a str) -> Option<What<'a>> {
    if matches!(name, "getname" | "getname_flags") {
        let (_, path) = fields.split_once(") path=")?;
        let path = path.trim_ascii().strip_prefix('"');
        let path = path.and_then(|path| path.strip_suffix('"'));
        return Some(path.map_or(What::Nothing, |path| What::Path { path }));
    }
    let rest = fields.strip_prefix("(syscalls.sys_enter_")?;
    let args = rest.strip_prefix(name)?.strip_prefix(')')?.trim_ascii();
    Some(What::SysEnter { name, args })
}

/// `sys_enter_openat: dfd: …`, `sys_exit_openat: 0x3`: perf and trace-cmd.
fn syscall<'a>(name: &'a str, fields: &'a str) -> Option<What<'a>> {
    if let Some(name) = name.strip_prefix("sys_enter_") {
        let args = fields.trim_ascii();
        return Some(What::SysEnter { name, args });
    }
    let name = name.strip_prefix("sys_exit_")?;
    let ret = fields.trim_ascii();
    let ret = ret.strip_prefix("ret=").unwrap_or(ret);
    Some(What::SysExit { name, ret })
}

fn task(comm: Option<&str>, pid: Option<u32>) -> Option<Task<'_>> {
    Some(Task {
        comm: comm?,
        pid: pid?,
    })
}

/// What is between `key` and the next `end`.
fn between<'a>(text: &'a str, key: &str, end: &str) -> Option<&'a str> {
    let from = find(text.as_bytes(), key.as_bytes())? + key.len();
    let len = find(&text.as_bytes()[from..], end.as_bytes())?;
    Some(&text[from..from + len])
}

/// The word after `key`.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let from = find(text.as_bytes(), key.as_bytes())? + key.len();
    Some(first_word(&text[from..]))
}

fn number(text: &str, key: &str) -> Option<u32> {
    let ns = text::decimal(value(text, key)?.as_bytes(), 0)?;
    u32::try_from(ns).ok()
}

fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(comm: &str, pid: u32) -> Task<'_> {
        Task { comm, pid }
    }

    #[test]
    fn switches_of_any_program() {
        for text in [
            "sched_switch: prev_comm=a b prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=c:d next_pid=2 next_prio=120",
            "sched_switch:         a b:1 [120] S ==> c:d:2 [120]",
            "sched_switch: prev_comm=a b prev_pid=1 prev_prio=120 prev_state=0x1 next_comm=c:d next_pid=2 next_prio=120",
            "sched_switch: task a b:1 [120] (S) ==> c:d:2 [120]",
        ] {
            let (from, to) = (name("a b", 1), name("c:d", 2));
            let asleep = true;
            assert_eq!(parse(text), What::Switch { from, asleep, to }, "{text}");
        }
        assert!(!is_asleep("R+") && !is_asleep("0x100") && is_asleep("D"));
    }

    #[test]
    fn forks_of_any_program() {
        for text in [
            "sched_process_fork: comm=a pid=1 child_comm=b c child_pid=2",
            "sched_process_fork: parent_comm=a parent_pid=1 child_comm=b c child_pid=2",
            "sched_process_fork: parent a:1  child b c:2",
        ] {
            let (parent, child) = (name("a", 1), name("b c", 2));
            assert_eq!(parse(text), What::Fork { parent, child }, "{text}");
        }
    }

    #[test]
    fn events_of_other_shapes() {
        let enter = What::Enter { name: "f" };
        assert_eq!(parse("f <-g"), enter);
        assert_eq!(parse("f [ext4] <-g"), enter);
        assert_eq!(parse("function:             f <-- g"), enter);
        assert_eq!(parse("function:             f"), enter);
        let note = What::Note { text: "app ready" };
        assert_eq!(parse("tracing_mark_write: app ready"), note);
        assert_eq!(
            parse("print:                tracing_mark_write: app ready"),
            note
        );
        assert_eq!(parse("sys_dup2 -> 0x1"), parse("sys_exit_dup2: 0x1"));
        assert_eq!(parse("sys_dup2(a: 1)"), parse("sys_enter_dup2: a: 1"));
        assert_eq!(
            parse("sys_exit: NR -1 = 3"),
            What::SysExit {
                name: "NR -1",
                ret: "3"
            }
        );
        assert_eq!(parse("<stack trace>"), What::Nothing);
        let fields = "prev_comm=torn";
        let name = "sched_switch";
        assert_eq!(
            parse("sched_switch: prev_comm=torn"),
            What::Other { name, fields }
        );
    }
}
