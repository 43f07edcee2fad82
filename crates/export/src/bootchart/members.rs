//! The members of an archive as text.

use std::fmt::Write;

use bootlap_report::Report;
use bootlap_report::clean::clean;

use super::samples::Samples;
use super::tasks::{Task, Tasks};

/// `PF_KTHREAD` among a process's flags.
const KERNEL_THREAD: u32 = 0x0020_0000;

/// `proc_ps.log`, and by sample what all processes had used up to it, jiffies.
pub(super) struct Listed {
    pub(super) text: String,
    pub(super) used: Vec<i64>,
}

/// A process that is there, and what it had used in the last sample.
struct Alive<'t> {
    task: &'t Task,
    /// The last sample that it is in.
    last: i64,
    used: i64,
}

/// Lists the processes of each sample, by pid.
pub(super) fn list(tasks: &Tasks, samples: &Samples) -> Listed {
    let mut listed = Listed {
        text: String::new(),
        used: Vec::with_capacity(samples.times.len()),
    };
    let mut coming = tasks.all.iter().peekable();
    let mut alive: Vec<Alive<'_>> = Vec::new();
    let mut gone = 0_i64;
    for &time in &samples.times {
        alive.retain(|a| {
            let stays = a.task.to > time;
            gone = gone.saturating_add(if stays { 0 } else { a.used });
            stays
        });
        while let Some(task) = coming.next_if(|task| task.from <= time) {
            let within = samples.within(task.from, task.to);
            if task.to > time && !within.is_empty() {
                let last = samples.times[within.end - 1];
                alive.push(Alive {
                    task,
                    last,
                    used: 0,
                });
            }
        }
        alive.sort_by_key(|a| a.task.pid);
        let _ = writeln!(listed.text, "{}", samples.shown(time));
        let mut used = gone;
        for a in &mut alive {
            let before = std::mem::replace(&mut a.used, used_at(a.task, a.last, time));
            used = used.saturating_add(a.used);
            let state = if a.used > before { 'R' } else { 'S' };
            row(a, state, samples.shown(a.task.from), &mut listed.text);
        }
        listed.text.push('\n');
        listed.used.push(used);
    }
    listed
}

/// What `task` has used at `time`: it grows evenly, and in its `last` sample it has
/// used all.
fn used_at(task: &Task, last: i64, time: i64) -> i64 {
    if time >= last {
        return task.cpu;
    }
    let part = i128::from(task.cpu) * i128::from(time - task.from);
    (part / i128::from(last - task.from)) as i64
}

/// A line of `/proc/PID/stat`: up to the start, its 22nd field, and two after it.
fn row(alive: &Alive<'_>, state: char, start: i64, text: &mut String) {
    let Task {
        pid, ppid, name, ..
    } = alive.task;
    let flags = if alive.task.is_kernel() {
        KERNEL_THREAD
    } else {
        0
    };
    let user = alive.used;
    let _ = writeln!(
        text,
        "{pid} ({name}) {state} {ppid} {pid} {pid} 0 -1 {flags} 0 0 0 0 {user} 0 0 0 20 0 1 0 {start} 0 0"
    );
}

/// A block for each sample.
pub(super) fn blocks(samples: &Samples, texts: &[String]) -> String {
    let mut blocks = String::new();
    for (time, text) in samples.times.iter().zip(texts) {
        let _ = writeln!(blocks, "{}\n{text}", samples.shown(*time));
    }
    blocks
}

/// `header`: what machine it was, as far as the evidence says.
pub(super) fn header(report: &Report<'_>, tasks: &Tasks, samples: &Samples) -> String {
    let about = &report.about;
    let name = [&about.target, &about.run];
    let name = name.into_iter().find(|name| !name.is_empty());
    let name = name.and_then(|name| name.rsplit('/').find(|part| !part.is_empty()));
    let mut title = format!("Boot chart for {}", name.unwrap_or("a boot"));
    if !about.time.is_empty() {
        title = format!("{title}, in {} time", about.time);
    }
    if samples.moved_s > 0 {
        title = format!("{title}, {} s later than there", samples.moved_s);
    }
    if samples.left_out > 0 {
        title = format!("{title}, without {} short processes", samples.left_out);
    }
    let mut header = "version = 0.8\n".to_owned();
    let mut line = |key: &str, value: &str| {
        let _ = writeln!(header, "{key} = {}", clean(value));
    };
    line("title", &title);
    for (key, fact) in [
        ("system.uname", "kernel"),
        ("system.release", "release"),
        ("system.cpu", "cpu_model"),
        ("system.cpu.num", "cpus"),
        ("system.kernel.options", "kernel_options"),
    ] {
        if let Some(value) = tasks.facts.get(fact) {
            line(key, value);
        }
    }
    header
}
