//! `bootlap rc`: in which order init scripts start, and how fast that can be.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bootlap_engine::evidence::ReadOptions;
use bootlap_engine::evidence::{self, TOOL};
use bootlap_engine::output::write_text;
use bootlap_engine::{Exit, Failure};
use bootlap_model::{SpanEnd, Timeline, TrackKind};
use bootlap_report::FORMAT;
use bootlap_report::rc::{self, RcLeftOut, RcReport, RcScript, RcTimes, RcWait};
use bootlap_rootfs::RootfsError;
use bootlap_rootfs::init_scripts::{
    Folder, Order, Plan, Planned, Schedule, Script, Task, order, schedule,
};

use crate::args::Rc;
use crate::ui::Ui;

/// Where the agent's evidence has init scripts.
const TRACK: &str = "init scripts";

pub(crate) fn run(args: &Rc, ui: &Ui) -> Result<Exit, Failure> {
    let mut folder = Folder::read(&args.dir).map_err(|e| match e {
        RootfsError::Io { .. } => Failure::new(Exit::Usage, e),
        e => e.into(),
    })?;
    if let Some(dir) = &args.on_target {
        folder.on_target.clone_from(dir);
    }
    if folder.scripts.is_empty() {
        let why = format!("{}: nothing in it starts at a boot", args.dir.display());
        let hint = match folder.left_out.first() {
            Some((name, why)) => format!("{name}, for one: {why}"),
            None => "name a folder of init scripts, such as rootfs/etc/init.d".to_owned(),
        };
        return Err(Failure::new(Exit::NothingUsable, why).hint(hint));
    }
    let order = order(&folder).map_err(|e| {
        let why = format!("{}: {e}", args.dir.display());
        Failure::new(Exit::Usage, why).hint(e.hint())
    })?;
    let seen = match args.times.is_empty() {
        true => None,
        false => Some(Seen::read(&args.times, &args.evidence.options())?),
    };
    let tasks = tasks(&folder.scripts, &order, seen.as_ref());
    let schedule = schedule(&tasks, usize::from(args.cpus))
        .ok_or_else(|| Failure::new(Exit::Internal, "the order has a circle"))?;
    if let Some(path) = &args.out {
        let plan = plan(&folder, &order, &schedule).to_text();
        let plan = plan.map_err(|e| Failure::new(Exit::Usage, e))?;
        write_text(path, &plan)?;
    }
    let report = report(args, folder, order, &schedule, seen.as_ref());
    ui.show(
        args.json,
        || rc::json(&report),
        |style| rc::text(&report, style),
    )?;
    Ok(Exit::Ok)
}

/// What evidence says of scripts.
struct Seen {
    /// How long each took, ns.
    ns: BTreeMap<String, i64>,
    /// From the first start to the last end, ns.
    all_ns: Option<i64>,
}

impl Seen {
    fn read(paths: &[PathBuf], how: &ReadOptions) -> Result<Self, Failure> {
        let recorded = evidence::read(paths, how)?;
        let seen = Self::of(&recorded.timeline);
        if seen.ns.is_empty() {
            let why = "--times: the evidence has no init scripts";
            let hint =
                "`bootlap-agent rc PLAN --log FILE` and the kernel's log that it writes to have";
            return Err(Failure::new(Exit::NothingUsable, why).hint(hint));
        }
        Ok(seen)
    }

    fn of(timeline: &Timeline) -> Self {
        let mut ns: BTreeMap<String, i64> = BTreeMap::new();
        let mut ends: Option<(i64, i64)> = None;
        let track = |span: &bootlap_model::Span| {
            let track = timeline.tracks.get(span.track.index());
            track.is_some_and(|t| timeline.text(t.name) == TRACK)
        };
        let mut spans = timeline
            .spans_of(TrackKind::Userspace)
            .filter(|s| track(s))
            .peekable();
        let clock = spans.peek().map(|span| span.clock);
        for span in spans {
            let SpanEnd::At(end) = span.end else {
                continue;
            };
            let took = end.ns.saturating_sub(span.start.ns);
            let name = timeline.text(span.name).to_owned();
            // Several logs of one boot tell of it; one that began twice, anew.
            let known = ns.entry(name).or_insert(took);
            *known = took.max(*known);
            if Some(span.clock) != clock {
                continue;
            }
            let (first, last) = ends.unwrap_or((span.start.ns, end.ns));
            ends = Some((first.min(span.start.ns), last.max(end.ns)));
        }
        Self {
            ns,
            all_ns: ends.map(|(first, last)| last.saturating_sub(first)),
        }
    }
}

/// The scripts as tasks; without times each takes as long as another.
fn tasks(scripts: &[Script], order: &Order, seen: Option<&Seen>) -> Vec<Task> {
    let tasks = scripts
        .iter()
        .zip(&order.waits)
        .map(|(script, waits)| Task {
            ns: match seen {
                Some(seen) => seen.ns.get(&script.name).copied().unwrap_or(0),
                None => 1,
            },
            waits: waits.iter().map(|wait| wait.on).collect(),
            alone: is_alone(script),
        });
    tasks.collect()
}

fn is_alone(script: &Script) -> bool {
    script.header.as_ref().is_some_and(|h| h.interactive)
}

fn plan(folder: &Folder, order: &Order, schedule: &Schedule) -> Plan {
    let place: BTreeMap<usize, usize> = (0..).zip(&schedule.order).map(|(p, s)| (*s, p)).collect();
    let planned = |at: &usize| {
        let script = folder.scripts.get(*at)?;
        let waits = order.waits.get(*at)?.iter();
        let mut after: Vec<usize> = waits.filter_map(|w| place.get(&w.on).copied()).collect();
        after.sort_unstable();
        Some(Planned {
            name: script.name.clone(),
            alone: is_alone(script),
            after,
        })
    };
    Plan {
        dir: folder.on_target.clone(),
        scripts: schedule.order.iter().filter_map(planned).collect(),
    }
}

fn report(
    args: &Rc,
    folder: Folder,
    order: Order,
    schedule: &Schedule,
    seen: Option<&Seen>,
) -> RcReport {
    let name = |at: usize| folder.scripts.get(at).map_or("", |s| &*s.name).to_owned();
    let mut waves: BTreeMap<usize, usize> = BTreeMap::new();
    let mut scripts = Vec::new();
    for at in schedule.order.iter().copied() {
        let (Some(script), Some(waits)) = (folder.scripts.get(at), order.waits.get(at)) else {
            continue;
        };
        let before = waits.iter().filter_map(|wait| waves.get(&wait.on));
        let wave = before.max().copied().unwrap_or(0) + 1;
        waves.insert(at, wave);
        scripts.push(RcScript {
            name: script.name.clone(),
            wave,
            alone: is_alone(script),
            header: script.header.is_some(),
            waits: waits
                .iter()
                .map(|w| RcWait {
                    on: name(w.on),
                    why: w.why.to_string(),
                })
                .collect(),
            ns: seen.and_then(|seen| seen.ns.get(&script.name).copied()),
            critical: seen.is_some() && schedule.critical.contains(&at),
        });
    }
    let unknown = scripts.iter().filter(|s| s.ns.is_none());
    let times = seen.map(|seen| RcTimes {
        work_ns: schedule.work_ns,
        seen_ns: seen.all_ns,
        critical: schedule.critical.iter().copied().map(name).collect(),
        critical_ns: schedule.critical_ns,
        cpus: usize::from(args.cpus),
        bound_ns: schedule.bound_ns,
        found_ns: schedule.found_ns,
        is_best: schedule.is_best,
        unknown: unknown.map(|s| s.name.clone()).collect(),
    });
    let left_out = folder.left_out.into_iter();
    RcReport {
        format: FORMAT,
        dir: args.dir.display().to_string(),
        notes: notes(&folder.scripts, order.notes),
        on_target: folder.on_target,
        left_out: left_out
            .map(|(file, why)| RcLeftOut { file, why })
            .collect(),
        scripts,
        times,
        plan: args.out.as_ref().map(|p| p.display().to_string()),
        tool: TOOL.to_owned(),
    }
}

/// What the order took for granted, and which headers should be better.
fn notes(scripts: &[Script], mut notes: Vec<String>) -> Vec<String> {
    let named = |is: &dyn Fn(&Script) -> bool| {
        let names = scripts.iter().filter(|s| is(s)).map(|s| s.name.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    let bare = named(&|s| s.header.is_none());
    if !bare.is_empty() {
        notes.push(format!(
            "without a header, so all with another number wait for them or they for those: {bare}"
        ));
    }
    let open = named(&|s| s.header.as_ref().is_some_and(|h| h.open));
    if !open.is_empty() {
        notes.push(format!("a header without `### END INIT INFO`: {open}"));
    }
    notes
}
