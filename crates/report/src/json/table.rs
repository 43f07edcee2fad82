//! `show --by … --json`: the rows of one table.

use bootlap_analysis::processes::Hidden;
use bootlap_analysis::unit::After;
use bootlap_analysis::{
    CallStats, CriticalPath, Process, UnitStart, critical_path, functions, processes, units,
};
use bootlap_model::{Axis, Stamp, TrackKind};
use schemars::JsonSchema;
use serde::Serialize;

use super::EvidenceJson;
use super::boot::{phase, span};
use super::evidence::evidence;
use super::id::id;
use super::model::{GapJson, PhaseJson, SpanJson};
use super::outcome::gap;
use crate::Report;
use crate::select::Rows;
use crate::select::{self, ConsoleLine, Selected};
use crate::text::By;

/// The rows of a table about one boot.
///
/// All times are integer nanoseconds; moments are on the boot's reference
/// clock and may be negative.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TableJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// How many rows there are without `--limit`.
    pub all: usize,
    /// What the rows are, and the rows.
    #[serde(flatten)]
    pub table: RowsJson,
}

/// The rows, by what was asked for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum RowsJson {
    /// Phases and their parts, in the order of the boot.
    Phases {
        /// The phases.
        rows: Vec<PhaseJson>,
    },
    /// What lasted, the longest first; what has no known end before all.
    Spans {
        /// The spans.
        rows: Vec<SpanJson>,
    },
    /// Kernel initcalls, the longest first.
    Initcalls {
        /// The initcalls.
        rows: Vec<SpanJson>,
    },
    /// Units of systemd, the longest start first.
    Units {
        /// The units.
        rows: Vec<UnitJson>,
        /// What the end of the boot waited for; null if nothing tells.
        path: Option<PathJson>,
    },
    /// Processes, parents before their children.
    Processes {
        /// The processes.
        rows: Vec<ProcessJson>,
        /// How many were left out by `--prune`, and why.
        hidden: Hidden,
        /// When the first began, and when the last was seen.
        window_ns: [i64; 2],
    },
    /// Functions, the most time first.
    Functions {
        /// The functions.
        rows: Vec<FunctionJson>,
    },
    /// Silences of the console, the longest first.
    Gaps {
        /// The silences.
        rows: Vec<GapJson>,
    },
    /// Console lines in order; with a limit those after the longest silences.
    Deltas {
        /// The lines.
        rows: Vec<LineJson>,
    },
}

/// A unit's start.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UnitJson {
    /// The unit, or what it calls itself.
    pub name: String,
    /// When it began to be started; null where only lengths are known.
    pub start_ns: Option<i64>,
    /// How long it was being started; null if unknown.
    pub own_ns: Option<i64>,
    /// It was still being started when the recording ended.
    pub open: bool,
    /// How its start went, where not well.
    pub result: Option<String>,
    /// Of what it had to wait for, what was active last.
    pub after: Option<After>,
    /// How long user space had run when it began.
    pub waited_ns: Option<i64>,
}

/// What the end of the boot waited for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PathJson {
    /// The milestone that it leads to, e.g. `ready`; null if the boot has none.
    pub to: Option<String>,
    /// Where user space began, if that is known.
    pub begin_ns: Option<i64>,
    /// When the end was.
    pub end_ns: i64,
    /// What passed between the last step and the end.
    pub last_gap_ns: i64,
    /// From first to last.
    pub steps: Vec<StepJson>,
}

/// A step of the path.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StepJson {
    /// What it was.
    pub name: String,
    /// The kind of its lane: `unit`; more may come.
    pub track: String,
    /// When it began.
    pub start_ns: i64,
    /// When it was done.
    pub end_ns: i64,
    /// What passed since the step before was done.
    pub gap_ns: i64,
    /// What took most of that, if something did.
    pub during: Option<String>,
    /// How it is tied to the step before, e.g. `waits-on`; null for the first.
    pub link: Option<String>,
}

/// A process, or several that `--prune` made one.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProcessJson {
    /// The program's name.
    pub name: String,
    /// Its pid, if known.
    pub pid: Option<u32>,
    /// The index of its parent in these rows.
    pub parent: Option<usize>,
    /// How deep it is in the tree; 0 has no parent.
    pub depth: usize,
    /// When it began.
    pub start_ns: i64,
    /// When it ended; null if unknown.
    pub end_ns: Option<i64>,
    /// It was still there when the recording ended.
    pub open: bool,
    /// When it was last seen, where that is all that is known of its end.
    pub seen_ns: Option<i64>,
    /// CPU time of its own, if known.
    pub cpu_ns: Option<i64>,
    /// How many processes this row stands for.
    pub count: usize,
    /// By how much its ends may be wrong.
    pub err_ns: u32,
}

/// What all calls of one function cost.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FunctionJson {
    /// `function` or `initcall`.
    pub track: String,
    /// The function.
    pub name: String,
    /// How often it was called.
    pub count: u64,
    /// Calls of which no end is known: they have no time.
    pub endless: u64,
    /// How long it ran, callees and sleep included, recursion once.
    pub time_ns: i64,
    /// The mean of its calls.
    pub average_ns: Option<i64>,
    /// Its shortest and its longest call.
    pub range_ns: Option<[i64; 2]>,
    /// Spent in itself.
    pub local_ns: i64,
    /// Spent in what it called.
    pub sub_ns: i64,
    /// Of its time: asleep or idle.
    pub sleep_ns: i64,
    /// The callee that took most.
    pub max_sub: Option<CalleeJson>,
}

/// The callee that a function spent most time in.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CalleeJson {
    /// The callee.
    pub name: String,
    /// How often it was called from there.
    pub count: u64,
    /// How long it took when called from there.
    pub time_ns: i64,
}

/// A line of the console.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LineJson {
    /// When it was written.
    pub at_ns: i64,
    /// What had passed since the line before; 0 for the first.
    pub since_ns: i64,
    /// The line.
    pub text: String,
    /// Where it was read.
    pub evidence: EvidenceJson,
}

/// What `show --by … --json` prints: the rows that the table has.
///
/// # Errors
/// None for any report.
pub fn table(report: &Report<'_>, by: By, rows: &Rows<'_>) -> Result<String, serde_json::Error> {
    let (all, table) = of(report, by, rows);
    super::line(&TableJson {
        format: super::FORMAT,
        tool: report.about.tool.clone(),
        all,
        table,
    })
}

fn of(report: &Report<'_>, by: By, wanted: &Rows<'_>) -> (usize, RowsJson) {
    let timeline = report.timeline;
    let limit = wanted.limit;
    let spans = |of: &dyn Fn(TrackKind) -> bool| {
        let axis = Axis::of(timeline);
        select::longest(timeline, wanted, of).map(|(s, _)| span(report, &axis, s))
    };
    match by {
        By::Phases => {
            let rows: Vec<_> = report.phases.iter().map(phase).collect();
            (rows.len(), RowsJson::Phases { rows })
        }
        By::Spans => {
            let Selected { rows, all } = spans(&|kind| kind != TrackKind::Console);
            (all, RowsJson::Spans { rows })
        }
        By::Initcalls => {
            let Selected { rows, all } = spans(&|kind| kind == TrackKind::Initcall);
            (all, RowsJson::Initcalls { rows })
        }
        By::Units => {
            let Selected { rows, all } = Selected::first(units(timeline), limit).map(unit);
            let path = critical_path(timeline).as_ref().map(path);
            (all, RowsJson::Units { rows, path })
        }
        By::Processes => tree(report, wanted),
        By::Functions => {
            let found = Selected::first(functions(timeline), limit);
            let Selected { rows, all } = found.map(function);
            (all, RowsJson::Functions { rows })
        }
        By::Gaps => {
            let found = select::silences(timeline, limit);
            let Selected { rows, all } = found.map(|found| gap(&found));
            (all, RowsJson::Gaps { rows })
        }
        By::Deltas => {
            let found = select::console(timeline, wanted);
            let Selected { rows, all } = found.map(|found| line(report, &found));
            (all, RowsJson::Deltas { rows })
        }
    }
}

fn unit(unit: UnitStart) -> UnitJson {
    UnitJson {
        name: unit.name,
        start_ns: unit.start.map(|start| start.ns),
        own_ns: unit.own_ns,
        open: unit.open,
        result: unit.result,
        after: unit.after,
        waited_ns: unit.waited_ns,
    }
}

fn path(path: &CriticalPath) -> PathJson {
    let ns = |at: &Stamp| at.ns;
    let steps = path.steps.iter().map(|step| StepJson {
        name: step.name.clone(),
        track: id(&step.kind),
        start_ns: step.start.ns,
        end_ns: step.end.ns,
        gap_ns: step.gap_ns,
        during: step.during.clone(),
        link: step.link.as_ref().map(id),
    });
    PathJson {
        to: path.to.as_ref().map(id),
        begin_ns: path.begin.as_ref().map(ns),
        end_ns: path.end.ns,
        last_gap_ns: path.last_gap_ns,
        steps: steps.collect(),
    }
}

fn tree(report: &Report<'_>, wanted: &Rows<'_>) -> (usize, RowsJson) {
    let found = processes(report.timeline, wanted.prune);
    let shown = select::busiest(&found.rows, wanted.limit, found.window.1);
    let place = |at: usize| shown.binary_search(&at).ok();
    let process = |process: &Process| ProcessJson {
        name: process.name.clone(),
        pid: process.pid,
        parent: process.parent.and_then(place),
        depth: process.depth,
        start_ns: process.start_ns,
        end_ns: process.end_ns,
        open: process.open,
        seen_ns: process.seen_ns,
        cpu_ns: process.cpu_ns,
        count: process.count,
        err_ns: process.err_ns,
    };
    let rows = RowsJson::Processes {
        rows: shown.iter().map(|at| process(&found.rows[*at])).collect(),
        hidden: found.hidden,
        window_ns: [found.window.0, found.window.1],
    };
    (found.rows.len(), rows)
}

fn function(of: CallStats) -> FunctionJson {
    FunctionJson {
        track: id(&of.kind),
        name: of.name,
        count: of.count,
        endless: of.endless,
        time_ns: of.time_ns,
        average_ns: of.average_ns,
        range_ns: of.range_ns.map(|(least, most)| [least, most]),
        local_ns: of.local_ns,
        sub_ns: of.sub_ns,
        sleep_ns: of.sleep_ns,
        max_sub: of.max_sub.map(|most| CalleeJson {
            name: most.name,
            count: most.count,
            time_ns: most.time_ns,
        }),
    }
}

fn line(report: &Report<'_>, line: &ConsoleLine<'_>) -> LineJson {
    LineJson {
        at_ns: line.at_ns,
        since_ns: line.since_ns,
        text: report.timeline.text(line.span.name).to_owned(),
        evidence: evidence(report, &line.span.evidence),
    }
}
