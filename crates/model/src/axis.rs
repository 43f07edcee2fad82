//! One reference clock for all events, found along the best-known edges.

use crate::{
    ClockEdge, ClockId, ClockKind, How, Mark, MarkKind, Milestone, Span, Stamp, TimeKind, Timeline,
};

/// A view of a timeline on one reference clock.
#[derive(Clone, Debug)]
pub struct Axis {
    reference: Option<ClockId>,
    /// By clock: how to get to the reference, if there is a way.
    ways: Vec<Option<Way>>,
}

/// From a clock to the reference, within `err_ns`.
#[derive(Clone, Debug, PartialEq)]
struct Way {
    steps: Vec<Step>,
    err_ns: u32,
    /// The weakest edge on the way.
    how: How,
}

impl Way {
    /// To the reference.
    fn lead(&self, stamp: Stamp) -> Stamp {
        Stamp {
            ns: self.steps.iter().fold(stamp.ns, |ns, step| step.apply(ns)),
            err_ns: stamp.err_ns.saturating_add(self.err_ns),
            insns: stamp.insns,
        }
    }
}

/// `later = earlier + offset_ns + rate · (earlier − pivot_ns)`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    offset_ns: i64,
    rate: f64,
    pivot_ns: i64,
}

impl Step {
    /// Along an edge: from its `from` to its `to`.
    fn along(edge: &ClockEdge) -> Self {
        Self {
            offset_ns: edge.offset_ns,
            rate: f64::from(edge.drift_ppm) / 1e6,
            pivot_ns: edge.pivot_ns,
        }
    }

    /// The way back: `e = p + (l − p − o) / (1 + r)`, which is a step whose
    /// pivot is where the edge's pivot arrives.
    fn back(self) -> Self {
        Self {
            offset_ns: self.offset_ns.saturating_neg(),
            rate: 1.0 / (1.0 + self.rate) - 1.0,
            pivot_ns: self.pivot_ns.saturating_add(self.offset_ns),
        }
    }

    fn apply(self, ns: i64) -> i64 {
        let moved = ns.saturating_add(self.offset_ns);
        if self.rate == 0.0 {
            return moved;
        }
        let drift = ns.saturating_sub(self.pivot_ns) as f64 * self.rate;
        moved.saturating_add(drift as i64)
    }
}

/// A span on the reference clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// When it began.
    pub start: Stamp,
    /// When it ended; `None` if that is unknown.
    pub end: Option<Stamp>,
    /// How the conversion is known; `Measured` where none was needed.
    pub how: How,
}

impl Placed {
    /// How long it lasted, in ns, if its end is known.
    pub fn duration_ns(&self) -> Option<i64> {
        Some(self.end?.ns.saturating_sub(self.start.ns))
    }
}

impl Axis {
    /// The axis of the best clock of `timeline`: the one that sees most of a
    /// boot ([`crate::ClockKind`]'s order) of those that most events can be
    /// put on. Events that count from nobody knows when, and that nothing
    /// joins to another clock, have a say only where there are no others.
    pub fn of(timeline: &Timeline) -> Self {
        if let [only] = timeline.clock_ids().collect::<Vec<_>>()[..] {
            return Self::on(timeline, Some(only));
        }
        let mut events = vec![0usize; timeline.clocks.len()];
        let spans = timeline.spans.iter().map(|s| s.clock);
        let marks = timeline.marks.iter().map(|m| m.clock);
        for clock in spans.chain(marks) {
            events[clock.index()] += 1;
        }
        let mut best: Option<((bool, usize), Self)> = None;
        let mut clocks: Vec<ClockId> = timeline.clock_ids().collect();
        clocks.sort_by_key(|c| timeline.clock(*c).kind);
        for clock in clocks {
            // What one clock reaches all of its group reach, so the best of
            // each group speaks for it.
            let is_spoken_for = |(_, axis): &(_, Self)| axis.way(clock).is_some();
            if best.as_ref().is_some_and(is_spoken_for) {
                continue;
            }
            let axis = Self::on(timeline, Some(clock));
            let group = || timeline.clock_ids().filter(|c| axis.way(*c).is_some());
            let count: usize = group().map(|c| events[c.index()]).sum();
            let placed = group().any(|c| timeline.clock(c).kind != ClockKind::Relative);
            let reached = (placed && count > 0, count);
            if best.as_ref().is_none_or(|(most, _)| reached > *most) {
                best = Some((reached, axis));
            }
        }
        best.map_or_else(|| Self::on(timeline, None), |(_, axis)| axis)
    }

    /// The axis of one clock.
    pub fn on(timeline: &Timeline, reference: Option<ClockId>) -> Self {
        let mut ways: Vec<Option<Way>> = vec![None; timeline.clocks.len()];
        if let Some(r) = reference {
            ways[r.index()] = Some(Way {
                steps: Vec::new(),
                err_ns: 0,
                how: How::Measured,
            });
        }
        // Bellman-Ford on (how, error): a handful of clocks, so simple wins.
        for _ in 0..timeline.clocks.len() {
            let mut better = false;
            for edge in &timeline.edges {
                let step = Step::along(edge);
                better |= relax(&mut ways, (edge.from, edge.to), edge, step);
                better |= relax(&mut ways, (edge.to, edge.from), edge, step.back());
            }
            if !better {
                break;
            }
        }
        Self { reference, ways }
    }

    /// The reference clock; `None` for a timeline without any clock.
    pub fn reference(&self) -> Option<ClockId> {
        self.reference
    }

    /// How times of `clock` get onto the axis, if they can.
    pub fn how(&self, clock: ClockId) -> Option<How> {
        Some(self.way(clock)?.how)
    }

    /// The bound of the error that getting from `clock` to the axis adds, ns.
    pub fn err_ns(&self, clock: ClockId) -> Option<u32> {
        Some(self.way(clock)?.err_ns)
    }

    /// A time of `clock` on the axis; `None` if nothing relates the two.
    pub fn at(&self, clock: ClockId, stamp: Stamp) -> Option<Stamp> {
        Some(self.way(clock)?.lead(stamp))
    }

    /// A mark's moment on the axis.
    pub fn mark(&self, mark: &Mark) -> Option<Stamp> {
        self.at(mark.clock, mark.at)
    }

    /// The first mark of a milestone that the axis reaches.
    pub fn milestone(&self, timeline: &Timeline, milestone: Milestone) -> Option<Stamp> {
        let kind = MarkKind::Milestone(milestone);
        let mut marks = timeline.marks.iter().filter(|m| m.kind == kind);
        marks.find_map(|m| self.mark(m))
    }

    /// A span on the axis.
    pub fn span(&self, span: &Span) -> Option<Placed> {
        let way = self.way(span.clock)?;
        Some(Placed {
            start: way.lead(span.start),
            end: span.end.known().map(|end| way.lead(end)),
            how: way.how,
        })
    }

    /// The same, and of what is only a length a place of that length, which is no time of it.
    pub fn span_or_length(&self, timeline: &Timeline, span: &Span) -> Option<Placed> {
        self.span(span).or_else(|| {
            timeline.is_only_a_length(span).then(|| Placed {
                start: span.start,
                end: span.end.known(),
                how: How::Assumed,
            })
        })
    }

    fn way(&self, clock: ClockId) -> Option<&Way> {
        self.ways.get(clock.index())?.as_ref()
    }
}

impl Timeline {
    /// What the time of the reference clock is made of.
    pub fn time(&self) -> TimeKind {
        let reference = Axis::of(self).reference();
        reference.map_or(TimeKind::Measured, |clock| self.clock(clock).time)
    }
}

/// Tries to reach clock `from` through `edge` to clock `to`; says whether
/// that is better than what was known.
fn relax(
    ways: &mut [Option<Way>],
    (from, to): (ClockId, ClockId),
    edge: &ClockEdge,
    step: Step,
) -> bool {
    let (from, to) = (from.index(), to.index());
    let Some(Some(next)) = ways.get(to) else {
        return false;
    };
    let (err_ns, how) = (
        next.err_ns.saturating_add(edge.err_ns),
        next.how.max(edge.how),
    );
    if let Some(old) = &ways[from]
        && (old.how, old.err_ns) <= (how, err_ns)
    {
        return false;
    }
    let steps = std::iter::once(step).chain(next.steps.iter().copied());
    let steps = steps.collect();
    ways[from] = Some(Way { steps, err_ns, how });
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(edges: &[(u16, u16, i64, u32, How)]) -> Timeline {
        let mut t = Timeline::default();
        let file = t.add_file("x", "test");
        for kind in [
            ClockKind::KernelPrintk,
            ClockKind::HostMonotonic,
            ClockKind::QemuVirtual,
        ] {
            t.add_clock(kind, file);
        }
        for &(from, to, offset_ns, err_ns, how) in edges {
            let (from, to) = (ClockId(from), ClockId(to));
            t.edges
                .push(ClockEdge::offset(from, to, offset_ns, err_ns, how));
        }
        t
    }

    #[test]
    fn errors_add_up_along_the_way_in_either_direction() {
        let t = timeline(&[
            (0, 1, 100, 3, How::SharedEvent),
            (2, 1, 40, 5, How::Measured),
        ]);
        let axis = Axis::of(&t);
        assert_eq!(axis.reference(), Some(ClockId(2)));
        let at = axis.at(ClockId(0), Stamp::new(-7, 1)).unwrap();
        assert_eq!((at.ns, at.err_ns), (-7 + 100 - 40, 1 + 3 + 5));
        assert_eq!(axis.how(ClockId(0)), Some(How::SharedEvent));
    }

    #[test]
    fn a_known_edge_beats_an_assumed_one() {
        let t = timeline(&[
            (0, 2, 1, 0, How::Assumed),
            (0, 2, 500, 900, How::SharedEvent),
        ]);
        let at = Axis::of(&t).at(ClockId(0), Stamp::new(0, 0)).unwrap();
        assert_eq!(at.ns, 500);
    }

    #[test]
    fn unrelated_clocks_stay_apart() {
        let t = timeline(&[]);
        let axis = Axis::on(&t, Some(ClockId(2)));
        assert_eq!(axis.at(ClockId(0), Stamp::new(0, 0)), None);
    }

    #[test]
    fn what_counts_from_nowhere_has_no_say() {
        let mut t = timeline(&[]);
        let file = t.add_file("blame", "test");
        let lengths = t.add_clock(ClockKind::Relative, file);
        let name = t.symbols.intern("x");
        let at = Stamp::new(0, 0);
        let evidence = crate::Evidence::whole(file, 0);
        let mark = |clock| Mark {
            clock,
            at,
            kind: MarkKind::Named,
            name,
            evidence,
        };
        t.marks = vec![mark(lengths), mark(lengths)];
        assert_eq!(Axis::of(&t).reference(), Some(lengths));
        t.marks.push(mark(ClockId(0)));
        assert_eq!(Axis::of(&t).reference(), Some(ClockId(0)));
        let how = How::SharedEvent;
        t.edges
            .push(ClockEdge::offset(lengths, ClockId(1), 5, 0, how));
        assert_eq!(Axis::of(&t).reference(), Some(ClockId(1)));
    }

    #[test]
    fn drift_is_undone_on_the_way_back() {
        let mut t = timeline(&[(0, 1, 5_000, 0, How::Measured)]);
        t.edges[0].drift_ppm = 40.0;
        t.edges[0].pivot_ns = 1_000_000_000;
        let there = Axis::on(&t, Some(ClockId(1)));
        let back = Axis::on(&t, Some(ClockId(0)));
        for ns in [-7_000_000_000, 0, 1_000_000_000, 60_000_000_000] {
            let at = there.at(ClockId(0), Stamp::new(ns, 0)).unwrap();
            let expected = ns + 5_000 + (ns - 1_000_000_000) / 25_000;
            assert!((at.ns - expected).abs() <= 1, "{ns}");
            assert!((back.at(ClockId(1), at).unwrap().ns - ns).abs() <= 2);
        }
    }
}
