//! The places that two boots are compared by.

use std::collections::{BTreeMap, BTreeSet};

use bootlap_model::{Stamp, Timeline, TrackKind};

use super::anchor::{Line, common};
use super::{Delta, largest_first};
use crate::cost::silence_name;
use crate::extent::{Extent, clip, extent_of};
use crate::gap::{Silence, label, silences};
use crate::known::{Known, known, left_over, taken};
use crate::phase::{Phase, PhaseName, phases};
use crate::view::{View, length_ns};

/// One of the boots, taken apart.
struct Half<'t> {
    extent: Extent,
    phases: Vec<Phase>,
    known: Vec<Known<'t>>,
    taken: Vec<(Stamp, Stamp)>,
    silences: Vec<Silence<'t>>,
    lines: Vec<Line>,
}

/// What both boots have between two cuts that both have.
struct Region {
    phase: Option<PhaseName>,
    /// In the first and in the second boot.
    window: [(Stamp, Stamp); 2],
}

/// Where in a boot a place is, so that near ones can be told from far ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) phase: Option<PhaseName>,
    /// From the beginning of the phase, ns.
    pub(super) offset_ns: i64,
}

/// Every place with its time in either boot, the largest change first. Nothing
/// if one of the boots has no events: there is nothing to compare with.
pub(super) fn deltas(before: &Timeline, after: &Timeline, noise_ns: i64) -> Vec<(Delta, Spot)> {
    let Some(halves) = take_apart(before, after) else {
        return Vec::new();
    };
    let mut places = Places::default();
    add_known(&mut places, &halves, noise_ns);
    for region in regions(&halves) {
        add_unknown(&mut places, &halves, &region, noise_ns);
    }
    let deltas = places.times.into_iter();
    let mut deltas: Vec<(Delta, Spot)> = deltas
        .map(|(name, (spot, [before_ns, after_ns]))| (Delta::new(name, before_ns, after_ns), spot))
        .collect();
    deltas.sort_by(|(a, _), (b, _)| largest_first(a, b));
    deltas
}

/// Where a place is, and its time in the first and in the second boot.
type InBoth = (Spot, [Option<i64>; 2]);

/// Times by place in the first and the second boot.
#[derive(Default)]
struct Places {
    times: BTreeMap<String, InBoth>,
}

impl Places {
    fn add(&mut self, name: &str, spot: Spot, ns: [Option<i64>; 2]) {
        let place = self.times.entry(name.to_owned());
        let (_, times) = place.or_insert((spot, [None; 2]));
        for (sum, ns) in times.iter_mut().zip(ns) {
            if let Some(ns) = ns {
                *sum = Some(sum.unwrap_or(0).saturating_add(ns));
            }
        }
    }
}

impl Half<'_> {
    fn spot_of(&self, known: &Known) -> Spot {
        let Some((start, _)) = known.own.first() else {
            return Spot::default();
        };
        let mut phases = self.phases.iter().rev();
        let phase = phases.find(|p| p.start.ns <= start.ns);
        Spot {
            phase: phase.map(|p| p.name),
            offset_ns: phase.map_or(0, |p| length_ns(&p.start, start)),
        }
    }
}

fn take_apart<'t>(before: &'t Timeline, after: &'t Timeline) -> Option<[Half<'t>; 2]> {
    let views = [View::of(before), View::of(after)];
    // What only one boot logged (initcall_debug, or no `quiet`) would look like
    // time that moved into it.
    let kinds = views.each_ref().map(|v| {
        let spans = v.spans().iter();
        spans.map(|s| s.kind).collect::<BTreeSet<TrackKind>>()
    });
    let initcalls = kinds.iter().all(|k| k.contains(&TrackKind::Initcall));
    let in_both = |kind: TrackKind| kinds.iter().all(|k| k.contains(&kind));
    let [first, second] = views.each_ref().map(|view| {
        let extent = extent_of(view)?;
        Some(Half {
            extent,
            phases: phases(view.timeline),
            known: known(view, &extent, in_both),
            taken: Vec::new(),
            silences: silences(view),
            lines: lines(view),
        })
    });
    let mut halves = [first?, second?];
    let stages = halves.each_ref().map(|h| {
        let stages = h.known.iter().filter(|k| is_stage(k));
        stages.map(|k| k.name.clone()).collect::<BTreeSet<String>>()
    });
    let in_both = |name: &str| stages.iter().all(|s| s.contains(name));
    for half in &mut halves {
        half.known.retain(|k| !is_stage(k) || in_both(&k.name));
        // Such a wait is logged with initcalls, and lies within one.
        half.known.retain(|k| initcalls || k.name != "async wait");
        half.taken = taken(&half.known);
    }
    Some(halves)
}

/// Whether it is a stage between milestones, which only some boots show: a
/// quiet one tells no clock.
fn is_stage(known: &Known) -> bool {
    known.span.is_none()
}

/// All lines of console text; those of a burst share its time.
fn lines(view: &View) -> Vec<Line> {
    let bursts = view.spans().iter();
    let bursts = bursts.filter(|s| s.kind == TrackKind::Console);
    bursts
        .flat_map(|burst| {
            let texts = burst.name.split(['\n', '\r']).map(label);
            texts.filter(|t| !t.is_empty()).map(move |text| Line {
                text,
                at: burst.start,
            })
        })
        .collect()
}

/// Known parts by name. Initcalls whose change is noise are summed up.
fn add_known(places: &mut Places, halves: &[Half; 2], noise_ns: i64) {
    let mut by_name: BTreeMap<(&str, bool), InBoth> = BTreeMap::new();
    for (side, half) in halves.iter().enumerate() {
        for known in &half.known {
            let is_call = known.kind() == Some(TrackKind::Initcall);
            let place = by_name.entry((&known.name, is_call));
            let (_, sums) = place.or_insert_with(|| (half.spot_of(known), [None; 2]));
            sums[side] = Some(sums[side].unwrap_or(0).saturating_add(known.own_ns()));
        }
    }
    for ((name, is_call), (spot, ns)) in by_name {
        let is_noise = change_ns(ns) < noise_ns.unsigned_abs();
        places.add(
            if is_call && is_noise {
                "other initcalls"
            } else {
                name
            },
            spot,
            ns,
        );
    }
}

fn change_ns(ns: [Option<i64>; 2]) -> u64 {
    ns[1].unwrap_or(0).abs_diff(ns[0].unwrap_or(0))
}

/// The boots cut at the phases that both have; a phase of one boot only goes
/// to the region before it.
fn regions(halves: &[Half; 2]) -> Vec<Region> {
    let [first, second] = halves;
    let start_in = |half: &Half, name| {
        let phase = half.phases.iter().find(|p| p.name == name);
        phase.map(|p| p.start)
    };
    let in_both = first.phases.iter().filter_map(|p| {
        let other = start_in(second, p.name)?;
        Some((Some(p.name), [p.start, other]))
    });
    let mut starts: Vec<(Option<PhaseName>, [Stamp; 2])> = in_both.collect();
    let begin = [first.extent.start, second.extent.start];
    match starts.first_mut() {
        Some(opening) => opening.1 = begin,
        None => starts.push((None, begin)),
    }
    let end = [first.extent.end, second.extent.end];
    let ends = starts.iter().skip(1).map(|s| s.1).chain([end]);
    let regions = starts.iter().zip(ends).map(|((phase, from), to)| Region {
        phase: *phase,
        window: [(from[0], to[0]), (from[1], to[1])],
    });
    regions.collect()
}

/// The time of a region that no known part covers, told apart by the lines
/// that both boots print in it.
fn add_unknown(places: &mut Places, halves: &[Half; 2], region: &Region, noise_ns: i64) {
    let lines = [0, 1].map(|side| {
        let (from, to) = region.window[side];
        let all = halves[side].lines.iter();
        let inside = all.filter(|l| from.ns <= l.at.ns && l.at.ns < to.ns);
        inside.cloned().collect::<Vec<Line>>()
    });
    let anchors = common(&lines[0], &lines[1]);
    let cuts = anchors.iter().map(|&(i, j)| {
        let (line, other) = (&lines[0][i], &lines[1][j]);
        (Some(line.text.as_str()), [line.at, other.at])
    });
    let rest = region
        .phase
        .map_or("rest".to_owned(), |p| format!("rest of {}", p.text()));
    let begin = [region.window[0].0, region.window[1].0];
    let end = [region.window[0].1, region.window[1].1];
    let mut from = (None, begin);
    for to in cuts.chain([(None, end)]) {
        let window = [0, 1].map(|side| (from.1[side], to.1[side]));
        let ns = [0, 1].map(|side| Some(left_ns(&halves[side], window[side])));
        let spot = Spot {
            phase: region.phase,
            offset_ns: length_ns(&begin[0], &from.1[0]),
        };
        if change_ns(ns) < noise_ns.unsigned_abs() {
            places.add(&rest, spot, ns);
        } else {
            let name = silence_in(halves, window, ns);
            places.add(
                &name.unwrap_or_else(|| stretch(region, from.0, to.0)),
                spot,
                ns,
            );
        }
        from = to;
    }
}

/// How much of `window` no known part covers, ns.
fn left_ns(half: &Half, window: (Stamp, Stamp)) -> i64 {
    let left = left_over(&half.taken, window.0, window.1);
    let lengths = left.iter().map(|(a, b)| length_ns(a, b));
    lengths.fold(0, i64::saturating_add)
}

/// Names a stretch by the silence that is most of it, if one is.
fn silence_in(
    halves: &[Half; 2],
    window: [(Stamp, Stamp); 2],
    ns: [Option<i64>; 2],
) -> Option<String> {
    let longer = usize::from(ns[1] > ns[0]);
    let half = &halves[longer];
    let inside = half.silences.iter().filter_map(|s| {
        let (start, end) = clip(window[longer], s.start, s.end)?;
        Some((left_ns(half, (start, end)), s))
    });
    let (silent_ns, silence) = inside.max_by_key(|s| s.0)?;
    let is_most = silent_ns >= ns[longer]? / 5 * 4;
    is_most.then(|| silence_name(silence.before))
}

/// Names a stretch by the lines that it lies between.
fn stretch(region: &Region, from: Option<&str>, to: Option<&str>) -> String {
    let phase = region.phase.map_or("the boot", PhaseName::text);
    let from = from.map_or(format!("start of {phase}"), |l| format!("\"{l}\""));
    let to = to.map_or(format!("end of {phase}"), |l| format!("\"{l}\""));
    format!("from {from} to {to}")
}
