//! The true critical path: what the end of the boot waited for.
//!
//! `systemd-analyze critical-chain` prints a tree of orderings, in which a row
//! need not have held up the row above, and the time between rows is not
//! accounted for. Here the way is walked back in time: from the end to what
//! was active last before it, from there to what *that* was linked after and
//! was done last before it began, and so on. What passes between two steps is
//! stated as a gap: no ordering explains it.
//!
//! Nothing in here knows of units: whatever is linked can be on the path.

use std::collections::{HashMap, HashSet};

use bootlap_model::{
    Axis, Link, LinkKind, MarkKind, Milestone, SpanId, Stamp, Timeline, TrackKind,
};
use schemars::JsonSchema;
use serde::Serialize;

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
    /// Where user space began, if that is known; else the path begins with its
    /// first step.
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
    /// The kind of its lane: `unit`; more may come.
    #[serde(rename = "track")]
    #[schemars(with = "String")]
    pub kind: TrackKind,
    /// When it began.
    #[serde(rename = "start_ns", serialize_with = "crate::as_ns::moment")]
    #[schemars(with = "i64")]
    pub start: Stamp,
    /// When it was done (of the last step: or the boot was).
    #[serde(rename = "end_ns", serialize_with = "crate::as_ns::moment")]
    #[schemars(with = "i64")]
    pub end: Stamp,
    /// What passed since the step before was done, or user space began.
    pub gap_ns: i64,
    /// What took most of that time, if something did: systemd's own start,
    /// before its first unit.
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

/// The end of what a link comes from and the beginning of what it leads to,
/// if the first was over when the second began: else it held nobody up.
pub(crate) fn effective(timeline: &Timeline, axis: &Axis, link: &Link) -> Option<(Stamp, Stamp)> {
    let (from, to) = (timeline.span(link.from), timeline.span(link.to));
    let unknown = |s| timeline.arg(s, "start").is_some();
    if unknown(from) || unknown(to) {
        return None;
    }
    let (start, end) = match link.kind {
        // What was started ran on: it is tied at its beginning.
        LinkKind::Spawns => (axis.span(to)?.start, axis.span(from)?.start),
        LinkKind::WaitsOn | LinkKind::After => (axis.span(to)?.start, axis.span(from)?.end?),
    };
    let slack = i64::from(end.err_ns.max(start.err_ns)).max(SLACK_NS);
    (end.ns <= start.ns.saturating_add(slack)).then_some((end, start))
}

/// What the ready moment waited for; where there is none, the moment at which
/// startup was finished; where that is not known either, what was done last.
/// `None` where nothing is linked to anything.
pub fn critical_path(timeline: &Timeline) -> Option<CriticalPath> {
    let axis = Axis::of(timeline);
    let graph = Graph::of(timeline, &axis);
    let to = [Milestone::Ready, Milestone::StartupFinished];
    let to = to
        .into_iter()
        .find_map(|m| Some((m, moment(timeline, &axis, m)?)));
    let (last, until) = graph.last(to.map(|(_, at)| at))?;
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
    ];
    let first = steps.first()?.start;
    let begin = begin.iter().find_map(|m| {
        let at = moment(timeline, &axis, *m)?;
        let slack = i64::from(at.err_ns).saturating_add(SLACK_NS);
        (at.ns <= first.ns.saturating_add(slack)).then_some(at)
    });
    let mut done = begin;
    for step in &mut steps {
        step.gap_ns = done.map_or(0, |d| step.start.ns.saturating_sub(d.ns).max(0));
        done = Some(step.end);
    }
    if let (Some(begin), Some(first)) = (begin, steps.first_mut()) {
        first.during = filled(timeline, &axis, begin.ns, first.start.ns);
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

/// The stage of user space that took at least half of the time between two
/// moments.
fn filled(timeline: &Timeline, axis: &Axis, from_ns: i64, to_ns: i64) -> Option<String> {
    let gap_ns = to_ns.saturating_sub(from_ns);
    let stages = timeline.spans_of(TrackKind::Userspace).filter_map(|s| {
        let placed = axis.span(s)?;
        let (start, end) = (placed.start.ns.max(from_ns), placed.end?.ns.min(to_ns));
        Some((end.saturating_sub(start), s.name))
    });
    let longest = stages.max_by_key(|(ns, _)| *ns)?;
    let name = || timeline.text(longest.1).to_owned();
    (gap_ns > SLACK_NS && longest.0 >= gap_ns / 2).then(name)
}

/// Where each span was held up last.
struct Graph<'t> {
    timeline: &'t Timeline,
    axis: &'t Axis,
    /// By span: what it was tied to that was over last, when, and how.
    held: HashMap<SpanId, (SpanId, i64, LinkKind)>,
    /// All that is linked, in order.
    linked: Vec<SpanId>,
}

impl<'t> Graph<'t> {
    fn of(timeline: &'t Timeline, axis: &'t Axis) -> Self {
        let mut held: HashMap<SpanId, (SpanId, i64, LinkKind)> = HashMap::new();
        let mut linked = Vec::new();
        for link in &timeline.links {
            let Some((end, _)) = effective(timeline, axis, link) else {
                continue;
            };
            linked.extend([link.from, link.to]);
            // Of two that were over at once, the one that is needed counts.
            let rank = |ns: i64, kind| (ns, kind != LinkKind::After);
            let known = held.get(&link.to).map(|(_, ns, kind)| rank(*ns, *kind));
            if known.is_none_or(|known| known < rank(end.ns, link.kind)) {
                held.insert(link.to, (link.from, end.ns, link.kind));
            }
        }
        linked.sort_unstable();
        linked.dedup();
        Self {
            timeline,
            axis,
            held,
            linked,
        }
    }

    /// What the end waited for last: what was being done then and had begun
    /// last, else what was over last before it. And when it was over.
    fn last(&self, end: Option<Stamp>) -> Option<(SpanId, Stamp)> {
        let placed = self.linked.iter().filter_map(|id| {
            let placed = self.axis.span(self.timeline.span(*id))?;
            Some((*id, placed.start, placed.end?))
        });
        let spans: Vec<(SpanId, Stamp, Stamp)> = placed.collect();
        let Some(at) = end else {
            let last = spans.iter().max_by_key(|(id, _, end)| (end.ns, *id))?;
            return Some((last.0, last.2));
        };
        let slack = i64::from(at.err_ns).max(SLACK_NS);
        let around = |(_, start, end): &&(SpanId, Stamp, Stamp)| {
            start.ns < at.ns && end.ns > at.ns.saturating_add(slack)
        };
        let before = |(_, _, end): &&(SpanId, Stamp, Stamp)| end.ns <= at.ns.saturating_add(slack);
        let running = spans
            .iter()
            .filter(around)
            .max_by_key(|(id, start, _)| (start.ns, *id));
        let done = spans
            .iter()
            .filter(before)
            .max_by_key(|(id, _, end)| (end.ns, *id));
        running.or(done).map(|(id, _, end)| (*id, *end))
    }

    /// The way back from `last`, from first to last.
    fn back(&self, last: SpanId) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut seen = HashSet::new();
        let mut next = Some(last);
        while let Some(id) = next.filter(|id| seen.insert(*id)) {
            let span = self.timeline.span(id);
            let Some(placed) = self.axis.span(span) else {
                break;
            };
            let held = self.held.get(&id);
            steps.push(Step {
                span: id,
                name: self.timeline.text(span.name).to_owned(),
                kind: self.timeline.kind_of(span),
                start: placed.start,
                end: placed.end.unwrap_or(placed.start),
                gap_ns: 0,
                during: None,
                link: held.map(|(_, _, kind)| *kind),
            });
            next = held.map(|(from, ..)| *from);
        }
        steps.reverse();
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Boot;
    use bootlap_model::SpanEnd;

    fn linked(boot: &mut Boot, links: &[(usize, usize)]) {
        let ids: Vec<SpanId> = boot.timeline.span_ids().collect();
        for (from, to) in links {
            boot.timeline.link(ids[*from], ids[*to], LinkKind::After);
        }
    }

    fn ms(ns: i64) -> i64 {
        ns * 1_000_000
    }

    fn unit(boot: &mut Boot, start_ms: i64, end_ms: i64, name: &str) {
        boot.span(TrackKind::Unit, ms(start_ms), ms(end_ms), name);
    }

    #[test]
    fn the_way_back_goes_by_what_was_over_last() {
        let mut boot = Boot::board();
        boot.mark(Milestone::InitStart, ms(100));
        boot.mark(Milestone::StartupFinished, ms(1_000));
        unit(&mut boot, 150, 200, "early");
        unit(&mut boot, 150, 400, "slow");
        unit(&mut boot, 450, 950, "app");
        // It was ordered before `app`, but was over only later: no cause.
        unit(&mut boot, 300, 940, "odd");
        unit(&mut boot, 1_200, 1_300, "after the boot");
        linked(&mut boot, &[(0, 2), (1, 2), (3, 2), (0, 1), (2, 4)]);
        let path = critical_path(&boot.timeline).unwrap();
        let steps: Vec<_> = path
            .steps
            .iter()
            .map(|s| {
                (
                    s.name.as_str(),
                    s.own_ns() / 1_000_000,
                    s.gap_ns / 1_000_000,
                )
            })
            .collect();
        assert_eq!(steps, [("slow", 250, 50), ("app", 500, 50)]);
        assert_eq!(path.to, Some(Milestone::StartupFinished));
        assert_eq!(path.last_gap_ns, ms(50));
        assert_eq!(path.own_ns() + path.gaps_ns(), ms(900));
    }

    #[test]
    fn ready_within_a_unit_ends_that_unit_s_step() {
        let mut boot = Boot::board();
        boot.mark(Milestone::Ready, ms(600));
        boot.mark(Milestone::StartupFinished, ms(2_000));
        unit(&mut boot, 100, 300, "before");
        unit(&mut boot, 300, 700, "app");
        unit(&mut boot, 710, 1_900, "late");
        linked(&mut boot, &[(0, 1), (1, 2)]);
        let path = critical_path(&boot.timeline).unwrap();
        assert_eq!(path.steps.len(), 2);
        assert_eq!(path.steps[1].own_ns(), ms(300));
        assert_eq!((path.last_gap_ns, path.begin), (0, None));
    }

    #[test]
    fn cycles_end_and_nothing_linked_is_no_path() {
        let mut boot = Boot::board();
        unit(&mut boot, 5, 5, "a");
        unit(&mut boot, 5, 5, "b");
        assert_eq!(critical_path(&boot.timeline), None);
        linked(&mut boot, &[(0, 1), (1, 0)]);
        let path = critical_path(&boot.timeline).unwrap();
        assert_eq!((path.steps.len(), path.to), (2, None));
        let clock = boot.timeline.clock_ids().next().unwrap();
        let at = Stamp::new(i64::MIN, 3);
        boot.span_on(clock, TrackKind::Unit, at, SpanEnd::Unknown, "c");
        linked(&mut boot, &[(2, 0), (0, 2)]);
        assert!(critical_path(&boot.timeline).is_some());
    }
}
