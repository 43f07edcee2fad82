//! The places that boots are compared by: two of them, or two groups.

use std::collections::{BTreeMap, BTreeSet};

use bootlap_model::{Stamp, Timeline, TrackKind};

pub(crate) use super::anchor::Line;
use super::anchor::common;
use super::{Delta, largest_first};
use crate::cost::silence_name;
use crate::ends::extent_of;
use crate::extent::{Extent, clip, length_ns};
use crate::gap::{Silence, label, silences};
use crate::known::{Known, known, left_over, taken};
use crate::phase::{Phase, PhaseName, phases};
use crate::stats::median;
use crate::view::View;

/// What initcalls are called that hardly changed.
const OTHER_CALLS: &str = "other initcalls";
/// How the name begins of what has no other.
const REST: &str = "rest";

/// A boot, taken apart.
struct Half<'t> {
    extent: Extent,
    phases: Vec<Phase>,
    known: Vec<Known<'t>>,
    taken: Vec<(Stamp, Stamp)>,
    silences: Vec<Silence<'t>>,
    lines: Vec<Line>,
}

/// What all boots have between two cuts that all have.
struct Region {
    phase: Option<PhaseName>,
    /// In each boot.
    windows: Vec<(Stamp, Stamp)>,
}

/// Where in a boot a place is, so that near ones can be told from far ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) phase: Option<PhaseName>,
    /// From the beginning of the phase, ns.
    pub(crate) offset_ns: i64,
}

/// A place with its time in each boot of either side, ns; `None` where a boot
/// does not have it. In each boot the times of all places add up to that of
/// the boot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) spot: Spot,
    pub(crate) ns: [Vec<Option<i64>>; 2],
    /// Whether it stands for many, each of which hardly changed.
    pub(crate) is_sum: bool,
}

impl Place {
    /// The place with the medians of either side; in a boot that does not have
    /// it, it took no time.
    pub(crate) fn delta(&self) -> Delta {
        let [before_ns, after_ns] = self.ns.each_ref().map(|ns| middle(ns));
        Delta::new(self.name.clone(), before_ns, after_ns)
    }
}

/// Every place with its time in either boot, the largest change first. Nothing
/// if one of the boots has no events: there is nothing to compare with.
pub(super) fn deltas(before: &Timeline, after: &Timeline, noise_ns: i64) -> Vec<(Delta, Spot)> {
    let places = places([&[before], &[after]], [0, 0], noise_ns).into_iter();
    let mut deltas: Vec<(Delta, Spot)> = places.map(|p| (p.delta(), p.spot)).collect();
    deltas.sort_by(|(a, _), (b, _)| largest_first(a, b));
    deltas
}

/// Every place with its time in all boots of both sides, by name. `typical`
/// says which boot of either side gives places their names.
pub(crate) fn places(sides: [&[&Timeline]; 2], typical: [usize; 2], noise_ns: i64) -> Vec<Place> {
    let timelines: Vec<&Timeline> = sides.iter().flat_map(|s| s.iter().copied()).collect();
    let Some(halves) = take_apart(&timelines) else {
        return Vec::new();
    };
    let boots = Boots {
        halves,
        first: sides[0].len(),
        typical: [typical[0], sides[0].len() + typical[1]],
    };
    let mut places = Places::default();
    add_known(&mut places, &boots, noise_ns);
    for region in regions(&boots.halves) {
        add_unknown(&mut places, &boots, &region, noise_ns);
    }
    let places = places.times.into_iter();
    let place = |(name, (spot, mut ns)): (String, InAll)| {
        let after = ns.split_off(boots.first);
        Place {
            is_sum: name == OTHER_CALLS || name.starts_with(REST),
            name,
            spot,
            ns: [ns, after],
        }
    };
    places.map(place).collect()
}

/// The boots of both sides, those of the first one first.
struct Boots<'t> {
    halves: Vec<Half<'t>>,
    /// How many are of the first side.
    first: usize,
    /// One boot of either side that the others are like.
    typical: [usize; 2],
}

impl Boots<'_> {
    /// The medians of either side.
    fn middles(&self, ns: &[Option<i64>]) -> [Option<i64>; 2] {
        let (before, after) = ns.split_at(self.first);
        [middle(before), middle(after)]
    }

    /// By how much the medians differ.
    fn change_ns(&self, ns: &[Option<i64>]) -> u64 {
        let [before, after] = self.middles(ns);
        after.unwrap_or(0).abs_diff(before.unwrap_or(0))
    }
}

/// The median, if a boot has the place at all; the others then spent no time
/// there.
fn middle(ns: &[Option<i64>]) -> Option<i64> {
    ns.iter().find(|ns| ns.is_some())?;
    median(&ns.iter().map(|ns| ns.unwrap_or(0)).collect::<Vec<i64>>())
}

/// Where a place is, and its time in each boot.
type InAll = (Spot, Vec<Option<i64>>);

/// Times by place in all boots.
#[derive(Default)]
struct Places {
    times: BTreeMap<String, InAll>,
}

impl Places {
    fn add(&mut self, name: &str, spot: Spot, ns: &[Option<i64>]) {
        let place = self.times.entry(name.to_owned());
        let (_, times) = place.or_insert((spot, vec![None; ns.len()]));
        for (sum, ns) in times.iter_mut().zip(ns) {
            if let Some(ns) = ns {
                *sum = Some(sum.unwrap_or(0).saturating_add(*ns));
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

fn take_apart<'t>(timelines: &[&'t Timeline]) -> Option<Vec<Half<'t>>> {
    let views: Vec<View> = timelines.iter().map(|t| View::of(t)).collect();
    // What only some boots logged (initcall_debug, or no `quiet`) would look
    // like time that moved into it.
    let kinds = views.iter().map(|v| {
        let spans = v.spans();
        spans.map(|s| s.kind).collect::<BTreeSet<TrackKind>>()
    });
    let kinds: Vec<BTreeSet<TrackKind>> = kinds.collect();
    let in_all = |kind: TrackKind| kinds.iter().all(|k| k.contains(&kind));
    let initcalls = in_all(TrackKind::Initcall);
    let halves = views.iter().map(|view| {
        let extent = extent_of(view)?;
        Some(Half {
            extent,
            phases: phases(view.timeline),
            known: known(view, &extent, in_all),
            taken: Vec::new(),
            silences: silences(view).collect(),
            lines: lines(view),
        })
    });
    let mut halves = halves.collect::<Option<Vec<Half>>>()?;
    // Only some boots show a stage between milestones: a quiet one tells no clock.
    let stages = halves.iter().map(|h| {
        let stages = h.known.iter().filter_map(Known::stage);
        stages.collect::<BTreeSet<&str>>()
    });
    let stages: Vec<BTreeSet<&str>> = stages.collect();
    let in_all = |name: &str| stages.iter().all(|s| s.contains(name));
    for half in &mut halves {
        half.known.retain(|k| k.stage().is_none_or(in_all));
        // Such a wait is logged with initcalls, and lies within one.
        half.known
            .retain(|k| initcalls || k.text() != Some("async wait"));
        half.taken = taken(&half.known);
    }
    Some(halves)
}

/// All lines of console text; those of a burst share its time.
pub(crate) fn lines(view: &View) -> Vec<Line> {
    let bursts = view.spans();
    let bursts = bursts.filter(|s| s.kind == TrackKind::Console);
    bursts
        .flat_map(|burst| {
            let texts = burst.name().split(['\n', '\r']).map(label);
            texts.filter(|t| !t.is_empty()).map(move |text| Line {
                text,
                at: burst.start,
            })
        })
        .collect()
}

/// Known parts by name. Initcalls whose change is noise are summed up.
fn add_known(places: &mut Places, boots: &Boots, noise_ns: i64) {
    let count = boots.halves.len();
    let mut by_name: BTreeMap<(String, bool), InAll> = BTreeMap::new();
    for (at, half) in boots.halves.iter().enumerate() {
        for known in &half.known {
            let is_call = known.kind() == Some(TrackKind::Initcall);
            let place = by_name.entry((known.name(), is_call));
            let (_, sums) = place.or_insert_with(|| (half.spot_of(known), vec![None; count]));
            sums[at] = Some(sums[at].unwrap_or(0).saturating_add(known.own_ns()));
        }
    }
    for ((name, is_call), (spot, ns)) in by_name {
        let is_noise = boots.change_ns(&ns) < noise_ns.unsigned_abs();
        places.add(
            if is_call && is_noise {
                OTHER_CALLS
            } else {
                &name
            },
            spot,
            &ns,
        );
    }
}

/// The boots cut at the phases that all have; a phase of some boots only goes
/// to the region before it.
fn regions(halves: &[Half]) -> Vec<Region> {
    let Some(first) = halves.first() else {
        return Vec::new();
    };
    let start_in = |half: &Half, name| {
        let phase = half.phases.iter().find(|p| p.name == name);
        phase.map(|p| p.start)
    };
    let in_all = first.phases.iter().filter_map(|p| {
        let starts = halves.iter().map(|half| start_in(half, p.name));
        Some((Some(p.name), starts.collect::<Option<Vec<Stamp>>>()?))
    });
    let mut starts: Vec<(Option<PhaseName>, Vec<Stamp>)> = in_all.collect();
    let begin = halves.iter().map(|h| h.extent.start).collect();
    match starts.first_mut() {
        Some(opening) => opening.1 = begin,
        None => starts.push((None, begin)),
    }
    let end: Vec<Stamp> = halves.iter().map(|h| h.extent.end).collect();
    let ends = starts.iter().skip(1).map(|s| &s.1).chain([&end]);
    let regions = starts.iter().zip(ends).map(|((phase, from), to)| Region {
        phase: *phase,
        windows: from.iter().copied().zip(to.iter().copied()).collect(),
    });
    regions.collect()
}

/// Lines that all boots print once and in the same order: for each its place
/// in every boot.
pub(crate) fn common_to_all(lines: &[Vec<Line>]) -> Vec<Vec<usize>> {
    let Some((first, others)) = lines.split_first() else {
        return Vec::new();
    };
    let mut chain: Vec<Vec<usize>> = (0..first.len()).map(|i| vec![i]).collect();
    for other in others {
        let so_far: Vec<Line> = chain.iter().map(|c| first[c[0]].clone()).collect();
        let kept = common(&so_far, other).into_iter().map(|(i, j)| {
            let mut places = std::mem::take(&mut chain[i]);
            places.push(j);
            places
        });
        chain = kept.collect();
    }
    chain
}

/// The time of a region that no known part covers, told apart by the lines
/// that all boots print in it.
fn add_unknown(places: &mut Places, boots: &Boots, region: &Region, noise_ns: i64) {
    let inside = boots.halves.iter().zip(&region.windows);
    let inside = inside.map(|(half, (from, to))| {
        let all = half.lines.iter();
        let inside = all.filter(|l| from.ns <= l.at.ns && l.at.ns < to.ns);
        inside.cloned().collect::<Vec<Line>>()
    });
    let lines: Vec<Vec<Line>> = inside.collect();
    let anchors = common_to_all(&lines);
    let cuts = anchors.iter().map(|anchor| {
        let at = lines.iter().zip(anchor).map(|(lines, &i)| lines[i].at);
        let text = lines[0][anchor[0]].text.as_str();
        (Some(text), at.collect::<Vec<Stamp>>())
    });
    let rest = region
        .phase
        .map_or(REST.to_owned(), |p| format!("{REST} of {}", p.text()));
    let (begin, end): (Vec<Stamp>, Vec<Stamp>) = region.windows.iter().copied().unzip();
    let opening = begin[0];
    let mut from = (None, begin);
    for to in cuts.chain([(None, end)]) {
        let pairs = from.1.iter().copied().zip(to.1.iter().copied());
        let windows: Vec<(Stamp, Stamp)> = pairs.collect();
        let left = boots.halves.iter().zip(&windows);
        let ns: Vec<Option<i64>> = left.map(|(half, w)| Some(left_ns(half, *w))).collect();
        let spot = Spot {
            phase: region.phase,
            offset_ns: length_ns(&opening, &from.1[0]),
        };
        if boots.change_ns(&ns) < noise_ns.unsigned_abs() {
            places.add(&rest, spot, &ns);
        } else {
            let name = silence_in(boots, &windows, &ns);
            places.add(
                &name.unwrap_or_else(|| stretch(region, from.0, to.0)),
                spot,
                &ns,
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

/// Names a stretch by the silence that is most of it, if one is, in a typical
/// boot of the side where it is longer.
fn silence_in(boots: &Boots, windows: &[(Stamp, Stamp)], ns: &[Option<i64>]) -> Option<String> {
    let [before_ns, after_ns] = boots.middles(ns);
    let longer = boots.typical[usize::from(after_ns > before_ns)];
    let half = &boots.halves[longer];
    let inside = half.silences.iter().filter_map(|s| {
        let (start, end) = clip(windows[longer], s.start, s.end)?;
        Some((left_ns(half, (start, end)), s))
    });
    let (silent_ns, silence) = inside.max_by_key(|s| s.0)?;
    let is_most = silent_ns >= ns[longer]? / 5 * 4;
    is_most.then(|| silence_name(silence.before))
}

/// Names a stretch by the lines that it lies between.
fn stretch(region: &Region, from: Option<&str>, to: Option<&str>) -> String {
    let phase = region.phase.map_or("the boot", PhaseName::text);
    if from.is_none() && to.is_none() {
        return phase.to_owned();
    }
    let from = from.map_or(format!("start of {phase}"), |l| format!("\"{l}\""));
    let to = to.map_or(format!("end of {phase}"), |l| format!("\"{l}\""));
    format!("from {from} to {to}")
}
