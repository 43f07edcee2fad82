//! What lies between units, where nothing is printed that could be silent: systemd's own
//! account alone, which may be only a chain of them.

use bootlap_model::{Milestone, Stamp, TrackKind};

use super::{Cost, Ledger};
use crate::extent::length_ns;
use crate::gap::Silence;
use crate::known::left_over;
use crate::view::{Seen, View};

/// What is below this share of the boot is no cost.
const SHORT: i64 = 100;

impl Ledger<'_> {
    /// `taken` is what other costs have, in order.
    pub(super) fn of_holes(
        &self,
        view: &View,
        silences: &[Silence],
        taken: &[(Stamp, Stamp)],
    ) -> Vec<Cost> {
        let prints = |kind| matches!(kind, TrackKind::Console | TrackKind::Userspace);
        if view.spans_of(prints).next().is_some() {
            return Vec::new();
        }
        let units = view.spans_of(|kind| kind == TrackKind::Unit);
        let units: Vec<Seen> = units.filter(|u| !view.is_only_a_length(u)).collect();
        let edges = self.edges(view, &units);
        let stretches = edges.windows(2).map(|pair| (pair[0], pair[1]));
        let is_silent = |(start, end): &(Stamp, Stamp)| {
            let mut silences = silences.iter();
            silences.any(|s| s.start.ns < end.ns && s.end.ns > start.ns)
        };
        let least_ns = self.extent.duration_ns() / SHORT;
        let is_hole = |stretch: &(Stamp, Stamp)| {
            let (start, end) = *stretch;
            length_ns(&start, &end) > least_ns && left_over(taken, start, end) == [*stretch]
        };
        let holes = stretches.filter(|s| is_hole(s) && !is_silent(s));
        holes.filter_map(|hole| self.hole(hole, &units)).collect()
    }

    /// The moments at which a unit begins or is active, and where user space and the boot
    /// begin and end, in order.
    fn edges(&self, view: &View, units: &[Seen]) -> Vec<Stamp> {
        let begins = [Milestone::SwitchRoot, Milestone::ManagerStart];
        let Some(begins) = begins.into_iter().find_map(|m| view.milestone(m)) else {
            return Vec::new();
        };
        let starts = units.iter().map(|u| u.start);
        let ends = units.iter().filter_map(|u| u.end);
        let first_ns = begins.ns.max(self.extent.start.ns);
        let inside = first_ns..=self.extent.end.ns;
        let edges = starts.chain(ends).chain([begins, self.extent.end]);
        let mut edges: Vec<Stamp> = edges.filter(|at| inside.contains(&at.ns)).collect();
        edges.sort_by_key(|at| at.ns);
        edges
    }

    fn hole(&self, (start, end): (Stamp, Stamp), units: &[Seen]) -> Option<Cost> {
        let before = units.iter().filter_map(|u| Some((u.end?, u)));
        let before = before.filter(|(at, _)| at.ns <= start.ns);
        let before = before.max_by_key(|(at, _)| at.ns).map(|(_, u)| u);
        let after = units.iter().filter(|u| u.start.ns >= end.ns);
        let after = after.min_by_key(|u| u.start.ns);
        let name = match (before, after) {
            (Some(a), Some(b)) => format!("between {} and {}", a.name(), b.name()),
            (None, Some(b)) => format!("before {}", b.name()),
            (Some(a), None) => format!("after {}", a.name()),
            (None, None) => return None,
        };
        let did = "no unit that the evidence has was starting".to_owned();
        let around = before.into_iter().chain(after);
        let around = around.filter_map(|u| self.timeline.spans.get(u.index));
        self.cost_of(name, &[(start, end)], Some(did), around)
    }
}
