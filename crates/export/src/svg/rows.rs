//! What has a row of its own in a chart, and what is only part of the crowd.

use std::cmp::Reverse;
use std::collections::HashSet;

use bootlap_analysis::{PhaseName, Process, UnitStart};
use bootlap_model::{Axis, SpanEnd, TrackKind};
use bootlap_report::Report;
use bootlap_report::format::duration;
use bootlap_report::table::By;
use bootlap_report::table::busiest;

use super::palette::Ink;
use super::scale::Window;

/// A row: one bar and its label.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) name: String,
    /// What stands behind the name: how long it took.
    pub(super) said: String,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) ink: Ink,
    /// A bar half as high: a part of the row above, or what merely stays there.
    pub(super) thin: bool,
    /// The row that it came from, drawn as a line.
    pub(super) parent: Option<usize>,
    /// How far the label is from the margin in a tree; only for its tip.
    pub(super) order: usize,
}

/// What a chart shows of one boot.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) rows: Vec<Row>,
    /// What has no row: from when to when.
    pub(super) rest: Vec<(i64, i64)>,
    /// What the rows are.
    pub(super) caption: String,
    /// What the rest is.
    pub(super) rest_caption: String,
    /// What the colours mean, if that is not plain.
    pub(super) legend: Option<(Ink, &'static str)>,
}

impl Rows {
    /// At most `limit` rows of what `by` says, within `window`.
    pub(super) fn of(report: &Report<'_>, by: By, window: Window, limit: usize) -> Self {
        match by {
            By::Units => of_units(report, window, limit),
            By::Processes => of_processes(report, window, limit),
            By::Initcalls => of_initcalls(report, window, limit),
            _ => of_phases(report, window, limit),
        }
    }
}

/// What of a boot is worth a chart, the most telling first.
pub(super) fn best(report: &Report<'_>) -> By {
    let all = [By::Units, By::Processes, By::Initcalls];
    let has = |by: &By| {
        !Rows::of(report, *by, window(report, *by), 1)
            .rows
            .is_empty()
    };
    all.into_iter().find(has).unwrap_or(By::Phases)
}

/// From when to when a chart shows the boot: all of it, but of initcalls the
/// kernel's phase. Those of modules come later, when a program loads them, and
/// there is little else to see.
pub(super) fn window(report: &Report<'_>, by: By) -> Window {
    let whole = Window::of(&report.answers);
    if by != By::Initcalls {
        return whole;
    }
    let mut phases = report.phases.iter();
    let kernel = phases.find(|p| p.name == PhaseName::Kernel);
    kernel.map_or(whole, |p| whole.within(p.start.ns, p.end.ns))
}

/// Something that wants a row.
struct Candidate {
    row: Row,
    /// It gets one before all others.
    chosen: bool,
    /// How long it was, ns: the longest get rows.
    length: i64,
}

/// Gives rows to the most important, in the order of time.
fn pick(mut all: Vec<Candidate>, limit: usize, what: &str) -> Rows {
    all.sort_by_key(|c| {
        (
            Reverse(c.chosen),
            Reverse(c.length),
            c.row.start,
            c.row.order,
        )
    });
    let count = all.len();
    let rest = all.split_off(limit.min(count));
    let longest = rest.iter().map(|c| c.length).max().unwrap_or(0);
    let mut rows: Vec<Row> = all.into_iter().map(|c| c.row).collect();
    rows.sort_by_key(|r| (r.start, Reverse(r.end), r.order));
    let shown = rows.len();
    Rows {
        caption: match count {
            n if n > shown => format!("{what}: the longest {shown} of {n}"),
            _ => what.to_owned(),
        },
        rest_caption: format!(
            "the other {}, at most {} each",
            rest.len(),
            duration(longest)
        ),
        rest: rest.iter().map(|c| (c.row.start, c.row.end)).collect(),
        rows,
        legend: None,
    }
}

/// Whether any of `start..end` is in the picture.
fn inside(window: Window, start: i64, end: i64) -> bool {
    start <= window.end && end >= window.start
}

fn of_phases(report: &Report<'_>, window: Window, limit: usize) -> Rows {
    let mut rows = Vec::new();
    let whole = window.end.saturating_sub(window.start);
    // Of the parts those that can be seen, and not more than there is room for.
    let parts = report.phases.iter().flat_map(|p| &p.parts);
    let mut lengths: Vec<i64> = parts.map(|p| p.duration_ns()).collect();
    lengths.sort_unstable_by_key(|ns| Reverse(*ns));
    let room = limit.saturating_sub(report.phases.len());
    let least = lengths.get(room).map_or(0, |ns| ns.saturating_add(1));
    let least = least.max(whole / 500);
    for phase in &report.phases {
        let ns = phase.duration_ns();
        rows.push(Row {
            name: phase.name.text().to_owned(),
            said: format!(
                "{}, {}",
                duration(ns),
                bootlap_report::format::share(ns, whole)
            ),
            start: phase.start.ns,
            end: phase.end.ns,
            ink: Ink::Phase(phase.name),
            thin: false,
            parent: None,
            order: rows.len(),
        });
        for part in phase.parts.iter().filter(|p| p.duration_ns() >= least) {
            rows.push(Row {
                name: part.name.clone(),
                said: duration(part.duration_ns()),
                start: part.start.ns,
                end: part.end.ns,
                ink: Ink::Phase(phase.name),
                thin: true,
                parent: None,
                order: rows.len(),
            });
        }
    }
    Rows {
        rows,
        caption: "phases and their largest parts".to_owned(),
        ..Rows::default()
    }
}

fn of_initcalls(report: &Report<'_>, window: Window, limit: usize) -> Rows {
    let timeline = report.timeline;
    let axis = Axis::of(timeline);
    let mut all = Vec::new();
    let mut outside = 0;
    for span in timeline.spans_of(TrackKind::Initcall) {
        let Some(placed) = axis.span(span) else {
            continue;
        };
        let start = placed.start.ns;
        let ended = placed.end.map(|end| end.ns.max(start));
        let open = span.end == SpanEnd::OpenAtCut;
        let end = ended.unwrap_or(if open { window.end.max(start) } else { start });
        if !inside(window, start, end) {
            outside += 1;
            continue;
        }
        let name = timeline.text(span.name);
        let probe = timeline.text(timeline.track_of(span).name) == "device probes";
        let length = end.saturating_sub(start);
        all.push(Candidate {
            row: Row {
                name: match timeline.arg(span, "module") {
                    _ if probe => format!("probe of {name}"),
                    Some(module) => format!("{name} [{module}]"),
                    None => name.to_owned(),
                },
                said: ended.map_or("no end".to_owned(), |_| duration(length)),
                start,
                end,
                ink: if ended.is_none() { Ink::Open } else { Ink::Bar },
                thin: false,
                parent: None,
                order: all.len(),
            },
            chosen: open,
            length,
        });
    }
    let mut rows = pick(all, limit, "initcalls");
    if outside > 0 {
        rows.caption += &format!(" ({outside} outside of this phase are not shown)");
    }
    rows
}

fn of_units(report: &Report<'_>, window: Window, limit: usize) -> Rows {
    let path = report.answers.critical_path();
    let steps = path.iter().flat_map(|p| &p.steps);
    let on_path: HashSet<&str> = steps.map(|s| s.name.as_str()).collect();
    let mut all = Vec::new();
    for unit in report.answers.units() {
        let Some(start) = unit.start.map(|s| s.ns) else {
            continue;
        };
        let length = match (unit.open, unit.own_ns) {
            (true, _) => window.end.saturating_sub(start).max(0),
            (false, own_ns) => own_ns.unwrap_or(0),
        };
        let end = start.saturating_add(length);
        if !inside(window, start, end) {
            continue;
        }
        // Targets and the like are active at once: they only pass waits on.
        if length == 0 && unit.result.is_none() {
            continue;
        }
        let chosen = on_path.contains(unit.name.as_str());
        all.push(Candidate {
            row: Row {
                said: said_of_unit(unit),
                start,
                end,
                ink: match &unit.result {
                    Some(_) => Ink::Bad,
                    None if chosen => Ink::Path,
                    None if unit.open => Ink::Open,
                    None => Ink::Bar,
                },
                thin: false,
                parent: None,
                order: all.len(),
                name: unit.name.clone(),
            },
            chosen,
            length,
        });
    }
    let mut rows = pick(all, limit, "units");
    let last = match path.and_then(|p| p.to) {
        Some(bootlap_model::Milestone::Ready) => "what ready waited for",
        _ => "what the end of the startup waited for",
    };
    if rows.rows.iter().any(|r| r.ink == Ink::Path) {
        rows.legend = Some((Ink::Path, last));
    }
    rows
}

fn said_of_unit(unit: &UnitStart) -> String {
    let time = match (unit.open, unit.own_ns) {
        (true, _) => "not active".to_owned(),
        (false, Some(ns)) => duration(ns),
        (false, None) => "no end".to_owned(),
    };
    match &unit.result {
        Some(result) => format!("{time}, {result}"),
        None => time,
    }
}

fn of_processes(report: &Report<'_>, window: Window, limit: usize) -> Rows {
    let found = report.answers.processes(false);
    let last = found.window.1.min(window.end);
    let end = |p: &Process| p.until_ns(last).unwrap_or(p.start_ns).max(p.start_ns);
    let mut place = vec![None; found.rows.len()];
    let mut rows = Vec::new();
    for at in busiest(&found.rows, limit, last) {
        let process = &found.rows[at];
        if !inside(window, process.start_ns, end(process)) {
            continue;
        }
        place[at] = Some(rows.len());
        rows.push(Row {
            name: match process.pid {
                Some(pid) => format!("{} {pid}", process.name),
                None => process.name.clone(),
            },
            said: said_of_process(process, last),
            start: process.start_ns,
            end: end(process),
            ink: if process.open { Ink::Open } else { Ink::Bar },
            thin: process.open,
            parent: process.parent.and_then(|parent| place[parent]),
            order: rows.len(),
        });
    }
    let rest = found.rows.iter().enumerate();
    let rest = rest.filter(|(at, p)| place[*at].is_none() && !p.open);
    let rest = rest.map(|(_, p)| (p.start_ns, end(p)));
    let rest: Vec<(i64, i64)> = rest.filter(|(a, b)| inside(window, *a, *b)).collect();
    let (shown, all) = (rows.len(), found.rows.len());
    Rows {
        caption: match all {
            n if n > shown => {
                format!("processes: the {shown} of {n} with most CPU time, and their parents")
            }
            _ => "processes".to_owned(),
        },
        rest_caption: format!("{} more that came and went", rest.len()),
        rest,
        rows,
        legend: Some((Ink::Open, "still there at the end")),
    }
}

fn said_of_process(process: &Process, until: i64) -> String {
    let lasted = match process.lasted_ns(until) {
        Some(_) if process.open => String::new(),
        Some(ns) => duration(ns),
        None => "no end".to_owned(),
    };
    let cpu = process.cpu_ns.filter(|ns| *ns > 0);
    let cpu = cpu.map(|ns| format!("CPU {}", duration(ns)));
    let both: Vec<String> = [Some(lasted).filter(|l| !l.is_empty()), cpu]
        .into_iter()
        .flatten()
        .collect();
    both.join(", ")
}
