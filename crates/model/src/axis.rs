//! One reference clock for all events, found along the best-known edges.

use crate::{ClockId, ClockKind, How, Mark, Span, SpanEnd, Stamp, Timeline};

/// A view of a timeline on one reference clock.
#[derive(Clone, Debug)]
pub struct Axis {
    reference: Option<ClockId>,
    /// By clock: how to get to the reference, if there is a way.
    ways: Vec<Option<Way>>,
}

/// `reference = clock + offset_ns`, within `err_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    offset_ns: i64,
    err_ns: u32,
    /// The weakest edge on the way.
    how: How,
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
    /// The axis of the best clock that `timeline` has: the one that sees most
    /// of a boot (from power-on) comes first.
    pub fn of(timeline: &Timeline) -> Self {
        let preference = [
            ClockKind::QemuVirtual,
            ClockKind::HostMonotonic,
            ClockKind::KernelPrintk,
        ];
        let reference = preference.iter().find_map(|kind| {
            let at = timeline.clocks.iter().position(|c| c.kind == *kind)?;
            Some(ClockId(at as u16))
        });
        Self::on(timeline, reference)
    }

    fn on(timeline: &Timeline, reference: Option<ClockId>) -> Self {
        let mut ways = vec![None; timeline.clocks.len()];
        if let Some(r) = reference {
            ways[usize::from(r.0)] = Some(Way {
                offset_ns: 0,
                err_ns: 0,
                how: How::Measured,
            });
        }
        // Bellman-Ford on (how, error): a handful of clocks, so simple wins.
        for _ in 0..timeline.clocks.len() {
            for edge in &timeline.edges {
                let (from, to) = (usize::from(edge.from.0), usize::from(edge.to.0));
                relax(&mut ways, from, to, edge.offset_ns, edge.err_ns, edge.how);
                let back = edge.offset_ns.saturating_neg();
                relax(&mut ways, to, from, back, edge.err_ns, edge.how);
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

    /// A time of `clock` on the axis; `None` if nothing relates the two.
    pub fn at(&self, clock: ClockId, stamp: Stamp) -> Option<Stamp> {
        let way = self.way(clock)?;
        Some(Stamp {
            ns: stamp.ns.saturating_add(way.offset_ns),
            err_ns: stamp.err_ns.saturating_add(way.err_ns),
            insns: stamp.insns,
        })
    }

    /// A mark's moment on the axis.
    pub fn mark(&self, mark: &Mark) -> Option<Stamp> {
        self.at(mark.clock, mark.at)
    }

    /// A span on the axis.
    pub fn span(&self, span: &Span) -> Option<Placed> {
        let end = match span.end {
            SpanEnd::At(end) => self.at(span.clock, end),
            SpanEnd::OpenAtCut | SpanEnd::Unknown => None,
        };
        Some(Placed {
            start: self.at(span.clock, span.start)?,
            end,
            how: self.how(span.clock)?,
        })
    }

    fn way(&self, clock: ClockId) -> Option<&Way> {
        self.ways.get(usize::from(clock.0))?.as_ref()
    }
}

/// Tries to reach clock `from` through its edge to clock `to`.
fn relax(ways: &mut [Option<Way>], from: usize, to: usize, offset_ns: i64, err_ns: u32, how: How) {
    let Some(Some(next)) = ways.get(to) else {
        return;
    };
    let way = Way {
        offset_ns: next.offset_ns.saturating_add(offset_ns),
        err_ns: next.err_ns.saturating_add(err_ns),
        how: next.how.max(how),
    };
    let better = match &ways[from] {
        None => true,
        Some(old) => (way.how, way.err_ns) < (old.how, old.err_ns),
    };
    if better {
        ways[from] = Some(way);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, ClockEdge};

    fn timeline(edges: &[(u16, u16, i64, u32, How)]) -> Timeline {
        let mut t = Timeline::default();
        for kind in [
            ClockKind::KernelPrintk,
            ClockKind::HostMonotonic,
            ClockKind::QemuVirtual,
        ] {
            t.add_clock(Clock {
                kind,
                simulated: false,
            });
        }
        for &(from, to, offset_ns, err_ns, how) in edges {
            t.edges.push(ClockEdge {
                from: ClockId(from),
                to: ClockId(to),
                offset_ns,
                err_ns,
                how,
                evidence: None,
            });
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
        assert_eq!(
            Axis::of(&timeline(&[])).at(ClockId(0), Stamp::new(0, 0)),
            None
        );
    }
}
