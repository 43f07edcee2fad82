//! The true critical path: what the end of the boot waited for.
//!
//! `systemd-analyze critical-chain` prints a tree of orderings, in which a row
//! need not have held up the row above, and the time between rows is not
//! accounted for. Here the way is walked back in time: from the end to what
//! was active last before it, from there to what *that* was linked after and
//! was done last before it began, and so on. What passes between two steps is
//! stated as a gap: no ordering explains it.
//!
//! Whatever is linked can be on the path: units by what systemd tells of them,
//! processes by who started whom, and what the kernel does one after the other
//! by how it is made (`sequence.rs`).

mod graph;
mod sequence;
#[cfg(test)]
mod tests;

use bootlap_model::{
    Axis, Link, LinkKind, MarkKind, Milestone, SpanId, Stamp, Sym, Timeline, TrackKind,
};
use schemars::JsonSchema;
use serde::Serialize;

use self::graph::Graph;
pub(crate) use self::graph::effective;
use self::sequence::{is_main_call, sequence};

/// Moments that belong together are taken one after the other.
const SLACK_NS: i64 = 1_000_000;

/// What the end of the boot waited for.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "PathJson")]
pub struct CriticalPath {
    /// The milestone that it leads to, e.g. `ready`; null if the boot has none,
    /// and it leads to the end of its last step.
    #[schemars(with = "Option<String>")]
    pub to: Option<Milestone>,
    /// Where the kernel began if initcalls are on the path, else where user space
    /// did; null where that is not known, and the path begins with its first step.
    #[serde(rename = "begin_ns", serialize_with = "crate::as_ns::optional")]
    #[schemars(with = "Option<i64>")]
    pub begin: Option<Stamp>,
    /// When the end was.
    #[serde(rename = "end_ns", serialize_with = "crate::as_ns::moment")]
    #[schemars(with = "i64")]
    pub end: Stamp,
    /// What passed between the last step and the end.
    pub last_gap_ns: i64,
    /// From first to last.
    pub steps: Vec<Step>,
}

/// A step of the path.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "StepJson")]
pub struct Step {
    /// The span.
    #[serde(skip)]
    pub span: SpanId,
    /// What it was.
    pub name: String,
    /// The kind of its lane, e.g. `unit`.
    #[serde(rename = "track")]
    #[schemars(with = "String")]
    pub kind: TrackKind,
    /// When it began.
    #[serde(rename = "start_ns", serialize_with = "crate::as_ns::moment")]
    #[schemars(with = "i64")]
    pub start: Stamp,
    /// When it was done, or had started the next step (of the last one: or the
    /// boot was done).
    #[serde(rename = "end_ns", serialize_with = "crate::as_ns::moment")]
    #[schemars(with = "i64")]
    pub end: Stamp,
    /// What passed since the step before was done, or the path began.
    pub gap_ns: i64,
    /// What took most of that time, if something did, e.g. systemd's own start
    /// before its first unit, or `31 short initcalls`.
    pub during: Option<String>,
    /// How it is tied to the step before, e.g. `waits-on`; null for the first.
    #[schemars(with = "Option<String>")]
    pub link: Option<LinkKind>,
}

impl Step {
    /// How long it took, ns.
    pub fn own_ns(&self) -> i64 {
        self.end.ns.saturating_sub(self.start.ns).max(0)
    }
}

impl CriticalPath {
    /// How much of it was work of its steps, ns.
    pub fn own_ns(&self) -> i64 {
        self.steps
            .iter()
            .map(Step::own_ns)
            .fold(0, i64::saturating_add)
    }

    /// How much of it passed between steps, ns.
    pub fn gaps_ns(&self) -> i64 {
        let gaps = self.steps.iter().map(|s| s.gap_ns);
        gaps.fold(self.last_gap_ns, i64::saturating_add)
    }
}

/// The first mark of a milestone that the axis reaches.
pub(crate) fn moment(timeline: &Timeline, axis: &Axis, milestone: Milestone) -> Option<Stamp> {
    let kind = MarkKind::Milestone(milestone);
    let mut marks = timeline.marks.iter().filter(|m| m.kind == kind);
    marks.find_map(|m| axis.mark(m))
}

/// What held what up: the links that logs tell, and those that follow from how
/// Linux starts (see the first lines of `path/sequence.rs`).
pub fn links(timeline: &Timeline) -> Vec<Link> {
    links_on(timeline, &Axis::of(timeline))
}

fn links_on(timeline: &Timeline, axis: &Axis) -> Vec<Link> {
    let mut links = timeline.links.clone();
    links.extend(sequence(timeline, axis));
    links
}

/// What the ready moment waited for; where there is none, the moment at which
/// startup was finished; where that is not known either, what was done last.
/// `None` where nothing is linked to anything.
pub fn critical_path(timeline: &Timeline) -> Option<CriticalPath> {
    let axis = Axis::of(timeline);
    let graph = Graph::of(timeline, &axis, &links_on(timeline, &axis));
    let mut ends = vec![Milestone::Ready, Milestone::StartupFinished];
    let is_kernel = graph.is_of_kernel();
    if is_kernel {
        ends.push(Milestone::InitStart);
    }
    let to = ends
        .into_iter()
        .find_map(|m| Some((m, moment(timeline, &axis, m)?)));
    let (last, until) = graph.last(to.map(|(_, at)| at))?;
    // The last initcall of a log that goes no further waited for all before it: no news. And the
    // process that ends last, a person's `ls`, is not what a boot waits for.
    let is_process = timeline.kind_of(timeline.span(last)) == TrackKind::Process;
    if to.is_none() && (is_kernel || is_process) {
        return None;
    }
    let end = to.map_or(until, |(_, at)| at);
    let mut steps = graph.back(last);
    if let Some(step) = steps.last_mut()
        && step.end.ns > end.ns
    {
        step.end = end;
    }
    let begin = [
        Milestone::SwitchRoot,
        Milestone::ManagerStart,
        Milestone::InitStart,
        Milestone::UserEntry,
        Milestone::KernelEntry,
        Milestone::KernelClockStart,
    ];
    let first = steps.first()?.start;
    let begin = begin.iter().find_map(|m| {
        let at = moment(timeline, &axis, *m)?;
        let slack = i64::from(at.err_ns).saturating_add(SLACK_NS);
        (at.ns <= first.ns.saturating_add(slack)).then_some(at)
    });
    let fillers = Fillers::of(timeline, &axis);
    let mut done = begin;
    let mut before = TrackKind::Initcall;
    for step in &mut steps {
        if let Some(done) = done {
            step.gap_ns = step.start.ns.saturating_sub(done.ns).max(0);
            step.during = match before {
                TrackKind::Initcall | TrackKind::Kernel => fillers.most(done.ns, step.start.ns),
                // What else ran between two units ran beside them.
                _ => None,
            };
        }
        (done, before) = (Some(step.end), step.kind);
    }
    let last_gap_ns = done.map_or(0, |d| end.ns.saturating_sub(d.ns).max(0));
    Some(CriticalPath {
        to: to.map(|(milestone, _)| milestone),
        end,
        begin,
        steps,
        last_gap_ns,
    })
}

/// What can have taken the time between two steps.
struct Fillers<'t> {
    timeline: &'t Timeline,
    /// Begin, end and name of stages of user space.
    stages: Vec<(i64, i64, Sym)>,
    /// Begin and end of initcalls; none of those that are steps lies between two.
    calls: Vec<(i64, i64)>,
}

impl<'t> Fillers<'t> {
    fn of(timeline: &'t Timeline, axis: &Axis) -> Self {
        let (mut stages, mut calls) = (Vec::new(), Vec::new());
        for span in &timeline.spans {
            let is_call = is_main_call(timeline, span);
            if !is_call && timeline.kind_of(span) != TrackKind::Userspace {
                continue;
            }
            let Some(placed) = axis.span(span) else {
                continue;
            };
            match placed.end.map(|end| (placed.start.ns, end.ns)) {
                Some((start, end)) if is_call => calls.push((start, end)),
                Some((start, end)) => stages.push((start, end, span.name)),
                None => {}
            }
        }
        Self {
            timeline,
            stages,
            calls,
        }
    }

    /// What took at least half of the time from `from_ns` to `to_ns`.
    fn most(&self, from_ns: i64, to_ns: i64) -> Option<String> {
        let gap_ns = to_ns.saturating_sub(from_ns);
        if gap_ns <= SLACK_NS {
            return None;
        }
        let within = |start: i64, end: i64| end.min(to_ns).saturating_sub(start.max(from_ns));
        let stages = self
            .stages
            .iter()
            .map(|(s, e, name)| (within(*s, *e), *name));
        if let Some((ns, name)) = stages.max()
            && ns >= gap_ns / 2
        {
            return Some(self.timeline.text(name).to_owned());
        }
        let calls = self
            .calls
            .iter()
            .map(|(s, e)| within(*s, *e))
            .filter(|ns| *ns > 0);
        let (count, ns) = calls.fold((0, 0_i64), |(n, sum), ns| (n + 1, sum.saturating_add(ns)));
        (ns >= gap_ns / 2).then(|| match count {
            1 => "a short initcall".to_owned(),
            n => format!("{n} short initcalls"),
        })
    }
}
