//! What led to what, as Perfetto's flows: arrows from slice to slice.
//!
//! A flow goes from the event that Perfetto meets first (by time, then by
//! place in the file) to the one that it meets next, so the ends of the slices
//! that carry it are chosen to give it the right direction.

use std::collections::{HashMap, HashSet};

use bootlap_model::{Link, LinkKind, SpanId, Timeline};

use super::lanes::{Lane, What};
use super::pack::{End, Step};

/// Names of causes that an event gives at most, for each kind of link.
const MOST: usize = 20;

/// A moment, in the order in which Perfetto reads: time, and place in the file.
type Moment = (i64, u64);

/// When a span begins and ends.
#[derive(Clone, Copy)]
struct Ends {
    begin: Moment,
    end: Option<Moment>,
}

/// The flows of a boot.
#[derive(Default)]
pub(super) struct Flows {
    /// By event, counted as they are written: flows that begin, and that end.
    by_event: HashMap<u64, (Vec<u64>, Vec<u64>)>,
    /// By span: what led to it.
    causes: HashMap<SpanId, Vec<Link>>,
    /// Links whose spans are not there, or are in an order that no arrow has.
    pub(super) not_drawn: usize,
}

impl Flows {
    /// The links of `timeline` over `lanes`, numbered from `first` on.
    pub(super) fn of(timeline: &Timeline, lanes: &[Lane<'_>], first: u64) -> Self {
        let mut flows = Self::default();
        if timeline.links.is_empty() {
            return flows;
        }
        let ends = ends(timeline, lanes);
        for (link, id) in timeline.links.iter().zip(first..) {
            let causes = flows.causes.entry(link.to).or_default();
            let of_kind = causes.iter().filter(|c| c.kind == link.kind);
            if of_kind.count() < MOST {
                causes.push(*link);
            }
            let pair = ends.get(&link.from).zip(ends.get(&link.to));
            let pair = pair.and_then(|(from, to)| arrow(link.kind, from, to));
            let Some((from, to)) = pair else {
                flows.not_drawn += 1;
                continue;
            };
            flows.by_event.entry(from).or_default().0.push(id);
            flows.by_event.entry(to).or_default().1.push(id);
        }
        flows
    }

    /// The flows that begin and end with an event.
    pub(super) fn take(&mut self, event: u64) -> (Vec<u64>, Vec<u64>) {
        self.by_event.remove(&event).unwrap_or_default()
    }

    /// The spans that led to `span` by links of `kind`.
    pub(super) fn causes(&self, span: SpanId, kind: LinkKind) -> impl Iterator<Item = SpanId> {
        let all = self.causes.get(&span).map_or(&[][..], |all| all);
        all.iter().filter(move |l| l.kind == kind).map(|l| l.from)
    }
}

/// The places in the file of what the links speak of.
fn ends(timeline: &Timeline, lanes: &[Lane<'_>]) -> HashMap<SpanId, Ends> {
    let spoken_of = timeline.links.iter().flat_map(|l| [l.from, l.to]);
    let spoken_of: HashSet<SpanId> = spoken_of.collect();
    let mut ends: HashMap<SpanId, Ends> = HashMap::new();
    for (event, (lane, step)) in (0..).zip(events(lanes)) {
        let What::Span(id) = lane.what[step.item()] else {
            continue;
        };
        if !spoken_of.contains(&id) {
            continue;
        }
        let (start, end) = lane.times[step.item()];
        match (step, end) {
            (Step::End(_), End::At(end)) => {
                ends.entry(id).and_modify(|e| e.end = Some((end, event)));
            }
            (Step::End(_), _) => {}
            (Step::Begin(_) | Step::Instant(_), _) => {
                let begin = (start, event);
                ends.insert(id, Ends { begin, end: None });
            }
        }
    }
    ends
}

/// All events of `lanes`, in the order in which they are written.
pub(super) fn events<'l, 'r>(lanes: &'l [Lane<'r>]) -> impl Iterator<Item = (&'l Lane<'r>, Step)> {
    lanes.iter().flat_map(|lane| {
        let steps = lane.tracks.iter().flat_map(|(_, steps)| steps);
        steps.map(move |step| (lane, *step))
    })
}

/// The two events that show a link; `None` if the later one is the cause.
fn arrow(kind: LinkKind, from: &Ends, to: &Ends) -> Option<(u64, u64)> {
    let (begins, ends) = (Some(from.begin), from.end);
    let (to_begins, to_ends) = (Some(to.begin), to.end);
    let both_begin = (begins, to_begins);
    let best = match kind {
        LinkKind::Spawns => [both_begin, (begins, to_ends), (ends, to_ends)],
        // What waited may have begun to wait before its cause ended, or began.
        LinkKind::WaitsOn | LinkKind::After => [(ends, to_begins), both_begin, (ends, to_ends)],
    };
    let [first, second, third] = best;
    let tries = [first, second, third, (begins, to_ends)];
    let mut pairs = tries.into_iter().filter_map(|(from, to)| from.zip(to));
    let ((_, from), (_, to)) = pairs.find(|(from, to)| from < to)?;
    Some((from, to))
}
