//! `show --by … --json`: the rows of one table.

use bootlap_analysis::disks::FileRead;
use bootlap_analysis::{
    CallStats, CriticalPath, FileAccess, Gap, Hidden, Process, Search, UnitStart,
};
use bootlap_model::{Axis, TrackKind};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Report;
use crate::boot::json::{PhaseJson, SpanJson};
use crate::boot::json::{phase, span};
use crate::evidence::{EvidenceJson, evidence};
use crate::table::select::{ConsoleLine, Rows, Selected};
use crate::table::{By, select};

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
        rows: Vec<UnitStart>,
        /// What the end of the boot waited for; null if nothing tells.
        path: Option<CriticalPath>,
    },
    /// Processes, parents before their children.
    Processes {
        /// The processes.
        rows: Vec<Process>,
        /// How many were left out by `--prune`, and why.
        hidden: Hidden,
        /// When the first began, and when the last was seen.
        window_ns: [i64; 2],
    },
    /// Functions, the most time first.
    Functions {
        /// The functions.
        rows: Vec<CallStats>,
    },
    /// Silences of the console, the longest first.
    Gaps {
        /// The silences.
        rows: Vec<Gap>,
    },
    /// Files that were read from the disk, most bytes first.
    Files {
        /// The files.
        rows: Vec<FileRead>,
    },
    /// What programs did with files, most calls first.
    Reads {
        /// The files.
        rows: Vec<FileAccess>,
        /// What was looked for at several places, most calls first, of all files.
        searches: Vec<Search>,
    },
    /// Console lines in order; with a limit those after the longest silences.
    Deltas {
        /// The lines.
        rows: Vec<LineJson>,
    },
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
pub fn json(report: &Report<'_>, by: By, rows: &Rows<'_>) -> Result<String, serde_json::Error> {
    let (all, table) = of(report, by, rows);
    crate::json::line(&TableJson {
        format: crate::json::FORMAT,
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
            let Selected { rows, all } = Selected::first(report.answers.units().to_vec(), limit);
            let path = report.answers.critical_path().cloned();
            (all, RowsJson::Units { rows, path })
        }
        By::Processes => tree(report, wanted),
        By::Files => {
            let Selected { rows, all } = Selected::first(report.files.clone(), limit);
            (all, RowsJson::Files { rows })
        }
        By::Reads => {
            let found = select::accesses(report.answers.accesses(), wanted);
            let Selected { rows, all } = found.files;
            let searches = found.searches;
            (all, RowsJson::Reads { rows, searches })
        }
        By::Functions => {
            let calls = report.answers.functions().to_vec();
            let Selected { rows, all } = Selected::first(calls, limit);
            (all, RowsJson::Functions { rows })
        }
        By::Gaps => {
            let Selected { rows, all } = Selected::first(report.gaps.clone(), limit);
            (all, RowsJson::Gaps { rows })
        }
        By::Deltas => {
            let found = select::console(timeline, wanted);
            let Selected { rows, all } = found.map(|found| line(report, &found));
            (all, RowsJson::Deltas { rows })
        }
    }
}

fn tree(report: &Report<'_>, wanted: &Rows<'_>) -> (usize, RowsJson) {
    let found = report.answers.processes(wanted.prune);
    let shown = select::busiest(&found.rows, wanted.limit, found.window.1);
    let place = |at: usize| shown.binary_search(&at).ok();
    let process = |process: &Process| Process {
        parent: process.parent.and_then(place),
        ..process.clone()
    };
    let rows = RowsJson::Processes {
        rows: shown.iter().map(|at| process(&found.rows[*at])).collect(),
        hidden: found.hidden,
        window_ns: [found.window.0, found.window.1],
    };
    (found.rows.len(), rows)
}

fn line(report: &Report<'_>, line: &ConsoleLine<'_>) -> LineJson {
    LineJson {
        at_ns: line.at_ns,
        since_ns: line.since_ns,
        text: report.timeline.text(line.span.name).to_owned(),
        evidence: evidence(report, &line.span.evidence),
    }
}
