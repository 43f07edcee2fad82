//! Units, as `systemd-analyze blame` lists them, but all of them: with when
//! they began, what they had to wait for, and what of the time was their own.

use std::collections::HashMap;

use bootlap_model::{
    Axis, ClockKind, LinkKind, Milestone, SpanEnd, SpanId, Stamp, Sym, Timeline, TrackKind,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::path::effective;

/// A unit's start.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "UnitJson")]
pub struct UnitStart {
    /// The unit, or what it calls itself.
    pub name: String,
    /// When it began to be started; null where only lengths are known.
    #[serde(rename = "start_ns", serialize_with = "crate::as_ns::optional")]
    #[schemars(with = "Option<i64>")]
    pub start: Option<Stamp>,
    /// How long it was being started, with the programs that it ran; null if
    /// unknown.
    pub own_ns: Option<i64>,
    /// It was still being started when the recording ended.
    pub open: bool,
    /// How its start went, where not well: `failed`, `exit-code` …
    pub result: Option<String>,
    /// Of what it had to wait for, what was active last.
    pub after: Option<After>,
    /// How long user space had run when it began.
    pub waited_ns: Option<i64>,
}

/// What a unit had to wait for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "AfterJson")]
pub struct After {
    /// The unit that was active last before.
    pub name: String,
    /// Whether it is needed, or only ordered before.
    pub needed: bool,
    /// What passed from there to the start: no ordering explains it.
    pub gap_ns: i64,
}

/// All units, the longest start first; of equal ones what began first.
///
/// A unit that several files tell of is one: the finest times are taken, and
/// the order from whichever file has it. A unit that was started several times
/// counts with its longest start.
pub fn units(timeline: &Timeline) -> Vec<UnitStart> {
    let axis = Axis::of(timeline);
    let begin = [
        Milestone::SwitchRoot,
        Milestone::ManagerStart,
        Milestone::InitStart,
        Milestone::UserEntry,
    ];
    let begin = begin
        .iter()
        .find_map(|m| crate::path::moment(timeline, &axis, *m));
    let after = last_before(timeline, &axis);
    let mut units: Vec<(UnitStart, Rank)> = Vec::new();
    let mut index: HashMap<Sym, usize> = HashMap::new();
    for (id, span) in timeline.span_ids().zip(&timeline.spans) {
        if timeline.kind_of(span) != TrackKind::Unit {
            continue;
        }
        let rank = Rank::of(timeline, &axis, span);
        let mut unit = unit_of(timeline, &axis, id, rank.known);
        unit.after = after.get(&id).map(|a| a.0.clone());
        let waited = unit
            .start
            .zip(begin)
            .map(|(s, b)| s.ns.saturating_sub(b.ns));
        unit.waited_ns = waited.filter(|ns| *ns >= 0);
        match index.get(&span.name) {
            None => {
                index.insert(span.name, units.len());
                units.push((unit, rank));
            }
            Some(&at) => units[at].merge(unit, rank),
        }
    }
    let mut units: Vec<UnitStart> = units.into_iter().map(|(unit, _)| unit).collect();
    units.sort_by_cached_key(|u| {
        let own_ns = if u.open {
            i64::MAX
        } else {
            u.own_ns.unwrap_or(0)
        };
        let start_ns = u.start.map_or(i64::MAX, |s| s.ns);
        (std::cmp::Reverse(own_ns), start_ns, u.name.clone())
    });
    units
}

/// How good a file's times of a unit are, the best largest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Both ends are on the axis.
    whole: bool,
    /// Its start is known.
    known: bool,
    finest: std::cmp::Reverse<u32>,
}

impl Rank {
    fn of(timeline: &Timeline, axis: &Axis, span: &bootlap_model::Span) -> Self {
        let relative = timeline.clock(span.clock).kind == ClockKind::Relative;
        let placed = axis.span(span);
        let told = timeline.arg(span, "start").is_none();
        let known = placed.is_some() && told;
        let ended = placed.is_some_and(|p| p.end.is_some());
        // Where all else is unknown, a length is worth something.
        let length = relative && !told && matches!(span.end, SpanEnd::At(_));
        Self {
            whole: known && ended || length && !known,
            known,
            finest: std::cmp::Reverse(placed.map_or(u32::MAX, |p| p.start.err_ns)),
        }
    }
}

trait Merge {
    fn merge(&mut self, unit: UnitStart, rank: Rank);
}

impl Merge for (UnitStart, Rank) {
    fn merge(&mut self, mut unit: UnitStart, rank: Rank) {
        let (known, known_rank) = self;
        let better = (rank.known, rank.whole) > (known_rank.known, known_rank.whole);
        let same = (rank.known, rank.whole) == (known_rank.known, known_rank.whole);
        let longer = unit.own_ns > known.own_ns;
        if better
            || same
                && (rank.finest > known_rank.finest || rank.finest == known_rank.finest && longer)
        {
            std::mem::swap(known, &mut unit);
            *known_rank = rank;
        }
        known.own_ns = known.own_ns.or(unit.own_ns);
        known.result = known.result.take().or(unit.result);
        known.after = known.after.take().or(unit.after);
    }
}

fn unit_of(timeline: &Timeline, axis: &Axis, id: SpanId, known: bool) -> UnitStart {
    let span = timeline.span(id);
    let placed = axis.span(span);
    let told = timeline.arg(span, "start").is_none();
    let length = match span.end {
        SpanEnd::At(end) => Some(end.ns.saturating_sub(span.start.ns).max(0)),
        SpanEnd::OpenAtCut | SpanEnd::Unknown => None,
    };
    let lengths_only = timeline.clock(span.clock).kind == ClockKind::Relative;
    UnitStart {
        name: timeline.text(span.name).to_owned(),
        start: placed.filter(|_| known).map(|p| p.start),
        own_ns: length.filter(|_| told || lengths_only),
        open: span.end == SpanEnd::OpenAtCut,
        result: timeline.arg(span, "result").map(str::to_owned),
        after: None,
        waited_ns: None,
    }
}

/// By span: what it was linked after and that was active last before it
/// began, and when that was.
fn last_before(timeline: &Timeline, axis: &Axis) -> HashMap<SpanId, (After, i64)> {
    let mut last: HashMap<SpanId, (After, i64)> = HashMap::new();
    for link in &timeline.links {
        let Some((end, start)) = effective(timeline, axis, link) else {
            continue;
        };
        if last.get(&link.to).is_some_and(|(_, ns)| *ns >= end.ns) {
            continue;
        }
        let after = After {
            name: timeline.text(timeline.span(link.from).name).to_owned(),
            needed: link.kind != LinkKind::After,
            gap_ns: start.ns.saturating_sub(end.ns).max(0),
        };
        last.insert(link.to, (after, end.ns));
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Boot;

    #[test]
    fn no_row_is_lost_and_files_complete_each_other() {
        let mut boot = Boot::board();
        boot.mark(Milestone::InitStart, 1_000);
        boot.span(TrackKind::Unit, 2_000, 2_000, "a.target");
        boot.span(TrackKind::Unit, 3_500, 9_000, "b.service");
        let ids: Vec<SpanId> = boot.timeline.span_ids().collect();
        boot.timeline.link(ids[0], ids[1], LinkKind::WaitsOn);
        // Lengths without a beginning, of a unit that is known and of another.
        let file = boot.timeline.files.len();
        let lengths = boot.timeline.add_file("blame", "test");
        assert_eq!(file, 1);
        let clock = boot.timeline.add_clock(ClockKind::Relative, lengths);
        for (name, ns) in [("b.service", 5_000), ("c.service", 7_000)] {
            let end = SpanEnd::At(Stamp::new(ns, 0));
            boot.span_on(clock, TrackKind::Unit, Stamp::new(0, 0), end, name);
            boot.arg("start", "unknown");
        }
        let units = units(&boot.timeline);
        let row = |u: &UnitStart| (u.name.clone(), u.start.map(|s| s.ns), u.own_ns, u.waited_ns);
        let rows: Vec<_> = units.iter().map(row).collect();
        let named = |n: &str| n.to_owned();
        assert_eq!(
            rows,
            [
                (named("c.service"), None, Some(7_000), None),
                (named("b.service"), Some(3_500), Some(5_500), Some(2_500)),
                (named("a.target"), Some(2_000), Some(0), Some(1_000)),
            ]
        );
        let after = units[1].after.as_ref().unwrap();
        assert_eq!(
            (after.name.as_str(), after.needed, after.gap_ns),
            ("a.target", true, 1_500)
        );
    }

    #[test]
    fn what_is_still_starting_comes_first() {
        let mut boot = Boot::board();
        let clock = boot.timeline.clock_ids().next().unwrap();
        boot.span(TrackKind::Unit, 0, 50, "a.service");
        boot.span_on(
            clock,
            TrackKind::Unit,
            Stamp::new(9, 0),
            SpanEnd::OpenAtCut,
            "b.service",
        );
        let units = units(&boot.timeline);
        assert_eq!((units[0].name.as_str(), units[0].open), ("b.service", true));
        assert_eq!(units[0].own_ns, None);
    }
}
