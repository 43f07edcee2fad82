//! `.folded`: stacks with their own time, as Brendan Gregg's `flamegraph.pl`,
//! inferno, speedscope and others read them.
//!
//! A line is a stack, outermost first, and how many microseconds its innermost
//! frame took itself: `pid 1;do_initcalls;pci_init 1234`. What the stacks are
//! of is chosen by `--by`; without that it is the first of these that the boot
//! has:
//!
//! 1. calls of functions, and initcalls of logs that have no functions; they
//!    nest by time, below the name of their lane;
//! 2. processes, below their parents, with their CPU time; where no evidence
//!    has that, with the time in which none of their children ran;
//! 3. phases and their known parts.
//!
//! A flame graph is of one boot: what it is compared with is not in it. Write
//! a file of each, and give both to `difffolded.pl`.

use std::io::Write;

use bootlap_analysis::{Process, Processes};
use bootlap_model::TrackKind;
use bootlap_report::Report;
use bootlap_report::clean::clean;
use bootlap_report::table::By;
use bootlap_report::{Sink, SinkError};

/// A stack, outermost first, and the ns that its innermost frame took itself.
type Stack = (Vec<String>, i64);

/// The format.
pub(crate) const FOLDED: Sink = Sink {
    name: "folded",
    title: "stacks for flame graphs (flamegraph.pl, speedscope)",
    extensions: &["folded"],
    choices: &[By::Functions, By::Initcalls, By::Processes, By::Phases],
    write,
};

fn write(report: &Report<'_>, by: Option<By>, out: &mut dyn Write) -> Result<(), SinkError> {
    match by {
        Some(by) => write_by(report, by, out),
        None => write_best(report, out),
    }
}

fn write_best(report: &Report<'_>, out: &mut dyn Write) -> Result<(), SinkError> {
    let calls = report.answers.stacks(|_| true);
    if !calls.is_empty() {
        return lines(&calls, out);
    }
    let by_process = of_processes(report);
    if !by_process.is_empty() {
        return lines(&by_process, out);
    }
    lines(&of_phases(report), out)
}

fn write_by(report: &Report<'_>, by: By, out: &mut dyn Write) -> Result<(), SinkError> {
    let of = |kind| report.answers.stacks(|k| k == kind);
    let stacks = match by {
        By::Functions => of(TrackKind::Function),
        By::Initcalls => of(TrackKind::Initcall),
        By::Processes => of_processes(report),
        _ => of_phases(report),
    };
    if stacks.is_empty() {
        return Err(SinkError::Nothing { by });
    }
    lines(&stacks, out)
}

fn lines(stacks: &[Stack], out: &mut dyn Write) -> Result<(), SinkError> {
    for (stack, ns) in stacks {
        let us = ns.saturating_add(500) / 1_000;
        if us > 0 {
            let frames: Vec<String> = stack.iter().map(|name| frame(name)).collect();
            writeln!(out, "{} {us}", frames.join(";"))?;
        }
    }
    Ok(())
}

/// A name that cannot end its frame or its line.
fn frame(name: &str) -> String {
    let name = clean(name).replace(';', ":");
    match name.trim() {
        "" => "(no name)".to_owned(),
        name => name.to_owned(),
    }
}

fn of_processes(report: &Report<'_>) -> Vec<Stack> {
    let found = report.answers.processes(false);
    let rows = &found.rows;
    let counted = rows.iter().any(|p| p.cpu_ns.is_some());
    let own: Vec<i64> = if counted {
        rows.iter().map(|p| p.cpu_ns.unwrap_or(0)).collect()
    } else {
        alone_ns(found)
    };
    let stack = |at: usize| {
        let up = std::iter::successors(Some(at), |at| rows[*at].parent);
        let mut names: Vec<String> = up.map(|at| rows[at].name.clone()).collect();
        names.reverse();
        names
    };
    let spent = (0..rows.len()).filter(|at| own[*at] > 0);
    spent.map(|at| (stack(at), own[at])).collect()
}

/// By process: how long it was there without any child of its own, ns.
fn alone_ns(found: &Processes) -> Vec<i64> {
    let until = found.window.1;
    let end = |p: &Process| p.until_ns(until).unwrap_or(p.start_ns);
    let rows = &found.rows;
    // Children come in the order of their start: for each parent, up to when
    // its time is accounted for, and what of it was its own.
    let mut accounted: Vec<i64> = rows.iter().map(|p| p.start_ns).collect();
    let mut own = vec![0_i64; rows.len()];
    for child in rows {
        let Some(parent) = child.parent else {
            continue;
        };
        let last = end(&rows[parent]);
        let free = child.start_ns.min(last).saturating_sub(accounted[parent]);
        own[parent] = own[parent].saturating_add(free.max(0));
        accounted[parent] = accounted[parent].max(end(child).min(last));
    }
    for (at, process) in rows.iter().enumerate() {
        let rest = end(process).saturating_sub(accounted[at]).max(0);
        own[at] = own[at].saturating_add(rest);
    }
    own
}

fn of_phases(report: &Report<'_>) -> Vec<Stack> {
    let mut stacks = Vec::new();
    for phase in &report.phases {
        let name = phase.name.text().to_owned();
        let parts = phase.parts.iter().map(|p| p.duration_ns());
        let known = parts.fold(0, i64::saturating_add);
        let rest = phase.duration_ns().saturating_sub(known);
        stacks.push((vec![name.clone()], rest.max(0)));
        let part =
            |p: &bootlap_analysis::Part| (vec![name.clone(), p.name.clone()], p.duration_ns());
        stacks.extend(phase.parts.iter().map(part));
    }
    stacks.retain(|(_, ns)| *ns > 0);
    stacks
}
