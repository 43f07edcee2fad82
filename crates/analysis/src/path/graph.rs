//! What held each span up last, and the way back along that.

use std::collections::{HashMap, HashSet};

use bootlap_model::{Axis, Link, LinkKind, Span, SpanId, Stamp, Timeline, TrackKind};

use super::{SLACK_NS, Step};

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

/// Where each span was held up last.
pub(super) struct Graph<'t> {
    timeline: &'t Timeline,
    axis: &'t Axis,
    /// By span: what it was tied to that was over last, when, and how.
    held: HashMap<SpanId, (SpanId, i64, LinkKind)>,
    /// All that is linked, in order.
    linked: Vec<SpanId>,
}

impl<'t> Graph<'t> {
    pub(super) fn of(timeline: &'t Timeline, axis: &'t Axis, links: &[Link]) -> Self {
        let mut held: HashMap<SpanId, (SpanId, i64, LinkKind)> = HashMap::new();
        let mut linked = Vec::new();
        for link in links {
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

    /// Whether all that is linked is the kernel's.
    pub(super) fn is_of_kernel(&self) -> bool {
        let mut kinds = self
            .linked
            .iter()
            .map(|id| self.timeline.kind_of(self.timeline.span(*id)));
        kinds.all(|kind| matches!(kind, TrackKind::Initcall | TrackKind::Kernel))
    }

    /// What the end waited for last: what was being done then and had begun
    /// last, else what was over last before it. And when it was over.
    pub(super) fn last(&self, end: Option<Stamp>) -> Option<(SpanId, Stamp)> {
        // Who started whom tells a way, but not that the boot waited for a process: where there
        // are units, it waited for one of them.
        let of = |kind| move |s: &Span| self.timeline.kind_of(s) == kind;
        let by_units = self.timeline.spans.iter().any(of(TrackKind::Unit));
        let placed = self.linked.iter().filter_map(|id| {
            let span = self.timeline.span(*id);
            if by_units && of(TrackKind::Process)(span) {
                return None;
            }
            let placed = self.axis.span(span)?;
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
    pub(super) fn back(&self, last: SpanId) -> Vec<Step> {
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
        // What starts another runs on beside it: until then it held it up.
        for at in 1..steps.len() {
            if steps[at].link == Some(LinkKind::Spawns) && steps[at].start.ns < steps[at - 1].end.ns
            {
                steps[at - 1].end = steps[at].start;
            }
        }
        steps
    }
}
