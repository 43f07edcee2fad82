//! What a boot would gain if one unit were not started.
//!
//! Units start side by side, so a slow one costs nothing where something else
//! takes as long. The boot is replayed: every unit begins when all that it
//! waited for is done, after the same pause as it was seen to make, and takes
//! as long as it took; the one in question takes no time. What the end comes
//! earlier is the saving.

use std::collections::HashMap;

use bootlap_analysis::critical_path;
use bootlap_model::{Axis, LinkKind, Milestone, SpanId, Timeline, TrackKind};

/// Units and what they waited for.
pub(crate) struct Chain {
    nodes: Vec<Node>,
    /// Node after node: the second waited for the first.
    edges: Vec<(usize, usize)>,
    /// What the end of the boot waited for, where that is one unit.
    last: Option<usize>,
    /// What ended later was not part of the boot.
    end_ns: i64,
    /// The units of the critical path, from first to last.
    path: Vec<String>,
}

struct Node {
    name: String,
    start_ns: i64,
    end_ns: i64,
}

/// Moments that belong together are taken one after the other.
const SLACK_NS: i64 = 1_000_000;

/// Orderings lie in a few dozen layers; cycles of a damaged file end here.
const MAX_PASSES: usize = 64;

impl Chain {
    /// The chain of a boot; `None` where nothing is linked.
    pub(crate) fn of(timeline: &Timeline, axis: &Axis) -> Option<Self> {
        if timeline.links.is_empty() {
            return None;
        }
        let path = critical_path(timeline)?;
        let (mut nodes, mut known) = (Vec::new(), HashMap::new());
        let mut node = |id: SpanId| -> Option<usize> {
            let span = timeline.span(id);
            let placed = axis.span(span)?;
            let told = timeline.arg(span, "start").is_none();
            let is_unit = timeline.kind_of(span) == TrackKind::Unit;
            let end_ns = placed.end?.ns;
            if !told || !is_unit {
                return None;
            }
            let at = *known.entry(id).or_insert_with(|| {
                nodes.push(Node {
                    name: timeline.text(span.name).to_owned(),
                    start_ns: placed.start.ns,
                    end_ns: end_ns.max(placed.start.ns),
                });
                nodes.len() - 1
            });
            Some(at)
        };
        let mut edges = Vec::new();
        for link in &timeline.links {
            if link.kind != LinkKind::Spawns
                && let (Some(from), Some(to)) = (node(link.from), node(link.to))
            {
                edges.push((from, to));
            }
        }
        // What was over only after the other began held nobody up.
        edges.retain(|(from, to)| match (nodes.get(*from), nodes.get(*to)) {
            (Some(from), Some(to)) => from.end_ns <= to.start_ns.saturating_add(SLACK_NS),
            _ => false,
        });
        let last = path.steps.last()?;
        // At ready, one unit counts; otherwise whatever is done last.
        let by_name = |n: &Node| n.name == last.name;
        let last = match path.to {
            Some(Milestone::Ready) => Some(nodes.iter().position(by_name)?),
            _ => None,
        };
        (!edges.is_empty()).then(|| Self {
            nodes,
            edges,
            last,
            end_ns: path.end.ns.saturating_add(SLACK_NS),
            path: path.steps.into_iter().map(|s| s.name).collect(),
        })
    }

    /// The units of the critical path.
    pub(crate) fn path(&self) -> &[String] {
        &self.path
    }

    /// What the boot would gain without the starts of these units, ns.
    pub(crate) fn saved_without(&self, is_gone: impl Fn(&str) -> bool) -> i64 {
        let length = |n: &Node| match is_gone(&n.name) {
            true => 0,
            false => n.end_ns.saturating_sub(n.start_ns),
        };
        let lengths: Vec<i64> = self.nodes.iter().map(length).collect();
        let mut starts: Vec<i64> = self.nodes.iter().map(|n| n.start_ns).collect();
        for _ in 0..MAX_PASSES {
            let next = self.pass(&starts, &lengths);
            let settled = next == starts;
            starts = next;
            if settled {
                break;
            }
        }
        let ends = |starts: &[i64]| -> Vec<i64> {
            let ends = starts.iter().zip(&lengths);
            ends.map(|(s, l)| s.saturating_add(*l)).collect()
        };
        let now = ends(&starts);
        let saved = match self.last {
            Some(at) => self
                .nodes
                .get(at)
                .zip(now.get(at))
                .map(|(n, end)| n.end_ns.saturating_sub(*end)),
            None => {
                let in_boot = |n: &&Node| n.end_ns <= self.end_ns;
                let before = self.nodes.iter().filter(in_boot).map(|n| n.end_ns);
                let after = self.nodes.iter().zip(&now);
                let after = after.filter(|(n, _)| in_boot(n)).map(|(_, end)| *end);
                let both = before.max().zip(after.max());
                both.map(|(b, a)| b.saturating_sub(a))
            }
        };
        saved.unwrap_or(0).max(0)
    }

    /// When units begin, if those that they wait for began at `starts`.
    fn pass(&self, starts: &[i64], lengths: &[i64]) -> Vec<i64> {
        // What they were seen to wait for last, and what that is now.
        let mut waits: Vec<Option<(i64, i64)>> = vec![None; self.nodes.len()];
        for (from, to) in &self.edges {
            let seen = self.nodes.get(*from).map(|n| n.end_ns);
            let now = starts.get(*from).zip(lengths.get(*from));
            if let (Some(seen), Some((start, length)), Some(wait)) = (seen, now, waits.get_mut(*to))
            {
                let now = start.saturating_add(*length);
                let (s, n) = wait.unwrap_or((i64::MIN, i64::MIN));
                *wait = Some((seen.max(s), now.max(n)));
            }
        }
        let shifted = self.nodes.iter().zip(waits).map(|(node, wait)| {
            let earlier = wait.map_or(0, |(seen, now)| seen.saturating_sub(now).max(0));
            node.start_ns.saturating_sub(earlier)
        });
        shifted.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bootlap_model::{ClockKind, Evidence, SpanEnd, Stamp};

    /// Units `(name, start, end)` in ms, and which waited for which.
    fn chain(units: &[(&str, i64, i64)], links: &[(usize, usize)]) -> Chain {
        let mut timeline = Timeline::default();
        let file = timeline.add_file("show", "test");
        let clock = timeline.add_clock(ClockKind::Monotonic, file);
        for (name, start, end) in units {
            let at = |ms: i64| Stamp::new(ms * 1_000_000, 0);
            let times = (at(*start), SpanEnd::At(at(*end)));
            let evidence = Evidence::whole(file, 0);
            timeline.add_named(
                clock,
                (TrackKind::Unit, "units"),
                name,
                times,
                &[],
                evidence,
            );
        }
        let ids: Vec<SpanId> = timeline.span_ids().collect();
        for (from, to) in links {
            timeline.link(ids[*from], ids[*to], LinkKind::After);
        }
        Chain::of(&timeline, &Axis::of(&timeline)).unwrap()
    }

    fn saved_ms(chain: &Chain, name: &str) -> i64 {
        chain.saved_without(|n| n == name) / 1_000_000
    }

    #[test]
    fn what_runs_beside_limits_the_saving() {
        let units = [
            ("base", 0, 100),
            ("slow", 100, 1_100),
            ("beside", 100, 700),
            ("app", 1_120, 1_200),
        ];
        let chain = chain(&units, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
        assert_eq!(saved_ms(&chain, "slow"), 400, "then `beside` is the last");
        assert_eq!(saved_ms(&chain, "beside"), 0);
        assert_eq!(saved_ms(&chain, "base"), 100, "both begin earlier");
        assert_eq!(saved_ms(&chain, "app"), 80, "its own time, not the pause");
        assert_eq!(chain.saved_without(|_| false), 0);
        assert_eq!(saved_ms(&chain, "nothing"), 0);
    }

    #[test]
    fn cycles_of_a_damaged_file_end() {
        let chain = chain(&[("a", 5, 5), ("b", 5, 5)], &[(0, 1), (1, 0)]);
        assert_eq!(saved_ms(&chain, "a"), 0);
    }
}
