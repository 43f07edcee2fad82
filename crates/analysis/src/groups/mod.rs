//! Two groups of boots: what changed, and whether that can be believed.
//!
//! The boots may come from anywhere, also from logs that no target describes.
//! So first the moments are chosen that all of them have in common
//! (`groups/bounds.rs`); only what lies between is compared. Everything that is said of
//! a group is said of all its boots: a total, a phase, a span and a place of
//! the account each have one value a boot, and their medians and effects come
//! from these. Nothing rests on one boot that is called typical; such a boot
//! only gives stretches their names, and is the one to look at.

use std::borrow::Cow;
use std::cmp::Reverse;

use bootlap_model::{Milestone, TimeKind, Timeline, TrackKind};
use serde::Serialize;

use crate::compare::place::{Place, Spot, places};
use crate::compare::{Delta, Moved, moved, noise_ns};
use crate::ends::extent;
use crate::phase::{PhaseName, phases};
use crate::stats::Effect;

mod bounds;
mod sample;
mod span;
#[cfg(test)]
mod tests;

pub use crate::stats::{Mode, Shape};
pub use bounds::{End, Start, Window};

/// A boot of a group.
#[derive(Clone, Copy)]
pub struct Boot<'t> {
    /// All that is known of it.
    pub timeline: &'t Timeline,
    /// Whether somebody said what ready looks like. Without that, a boot that
    /// shows no ready is one of which nobody knows, not one that failed.
    pub awaited: bool,
    /// When it was made, ns since 1970, if that is on record.
    pub made_ns: Option<i64>,
    /// Its perturbation: boots of both sides with the same one are pairs.
    pub perturbation: Option<u32>,
}

/// What counts as no difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Margin {
    /// This part of what is compared.
    Share(f64),
    /// So much time, ns.
    Ns(i64),
}

impl Margin {
    /// The margin of something that lasts `ns`.
    pub fn of(self, ns: i64) -> i64 {
        match self {
            Margin::Share(share) => (ns.saturating_abs() as f64 * share) as i64,
            Margin::Ns(ns) => ns.saturating_abs(),
        }
    }
}

/// One group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// From the common start to the common end, ns, by boot; `None` for one
    /// that never got there.
    pub totals_ns: Vec<Option<i64>>,
    /// The boot that the others are most like.
    pub typical: Option<usize>,
    /// The part of that boot that is compared.
    pub window: Option<Window>,
    /// What its times are made of; `None` if not of one kind.
    pub time: Option<TimeKind>,
    /// Boots of the lab that took the same time to the nanosecond: however many
    /// there are, they are one boot.
    pub identical: bool,
    /// Boots whose log goes on after the common end, and the longest such
    /// rest, ns.
    pub go_on: (usize, i64),
    /// How the totals lie.
    pub shape: Shape,
}

impl Side {
    /// How many boots were given.
    pub fn boots(&self) -> usize {
        self.totals_ns.len()
    }

    /// Those that never got to the end.
    pub fn failed(&self) -> impl Iterator<Item = usize> {
        let totals = self.totals_ns.iter().enumerate();
        totals.filter_map(|(at, ns)| ns.is_none().then_some(at))
    }
}

/// A duration in both groups.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What lasted.
    pub name: String,
    /// Its median before, ns; `None` if no boot has it.
    pub before_ns: Option<i64>,
    /// Its median after, ns.
    pub after_ns: Option<i64>,
    /// How it changed; `None` if only one side has it.
    pub effect: Option<Effect>,
    /// How the values of either side lie.
    pub shapes: [Shape; 2],
    /// The values of either side, ns: a boot's each, in the boots' order; `None` where it has none.
    pub values_ns: [Vec<Option<i64>>; 2],
}

impl Row {
    /// Its medians and their change.
    pub fn delta(&self) -> Delta {
        let mut delta = Delta::new(self.name.clone(), self.before_ns, self.after_ns);
        delta.delta_ns = self.shift_ns();
        delta
    }

    /// The change: the effect's, where both sides have it.
    pub fn shift_ns(&self) -> i64 {
        match &self.effect {
            Some(effect) => effect.shift_ns,
            None => self
                .after_ns
                .unwrap_or(0)
                .saturating_sub(self.before_ns.unwrap_or(0)),
        }
    }
}

/// A matched span: one name of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpanRow {
    /// Initcall, unit, process, function …
    pub kind: TrackKind,
    /// In how many boots of either side it is.
    pub boots: [usize; 2],
    /// Its time.
    pub row: Row,
}

/// Two groups side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Groups {
    /// The first and the second group.
    pub sides: [Side; 2],
    /// What all times count from.
    pub start: Start,
    /// What all boots are followed to.
    pub end: End,
    /// From start to end; `None` if the boots have no such moments in common.
    pub total: Option<Row>,
    /// By phase, in the order of a boot.
    pub phases: Vec<Row>,
    /// Spans that both sides have and that are long enough to matter, the
    /// largest change first. Total, phases and spans share one error.
    pub spans: Vec<SpanRow>,
    /// Spans that both sides have, but too short to be tested.
    pub short: usize,
    /// Spans that at least half of the boots after have, and none before; the
    /// longest first.
    pub appeared: Vec<SpanRow>,
    /// The other way round.
    pub disappeared: Vec<SpanRow>,
    /// Where the time between start and end went: disjoint places, with the
    /// medians of either side, the largest change first. In each single boot
    /// they add up to its total; their medians do so nearly.
    pub places: Vec<Delta>,
    /// Savings that came back elsewhere, from places whose change is sure.
    pub moved: Vec<Moved>,
}

impl Groups {
    /// The typical boot of a side between the common start and the common end,
    /// which stand in it as power on and ready. `timeline` is that boot's.
    pub fn shown(&self, side: usize, timeline: &Timeline) -> Timeline {
        let window = self.sides.get(side).and_then(|s| s.window);
        let Some(window) = window else {
            return timeline.clone();
        };
        bounds::bounded(timeline, &window, (&self.start, &self.end)).into_owned()
    }
}

/// A boot between the common start and the common end.
struct Cut<'t> {
    timeline: Cow<'t, Timeline>,
    phases: Vec<(PhaseName, i64)>,
    total_ns: i64,
}

/// Compares two groups of boots; `None` if one of them has none.
pub fn groups(before: &[Boot<'_>], after: &[Boot<'_>], margin: Margin) -> Option<Groups> {
    if before.is_empty() || after.is_empty() {
        return None;
    }
    let chosen = bounds::choose([before, after]);
    let cuts: [Vec<Option<Cut>>; 2] = [0, 1].map(|side| {
        let boots = [before, after][side].iter().zip(&chosen.windows[side]);
        let cut = boots.map(|(boot, window)| cut(boot.timeline, (*window)?, &chosen));
        cut.collect()
    });
    let there = cuts.each_ref().map(|side| {
        let there = side.iter().flatten();
        there.collect::<Vec<&Cut>>()
    });
    let comparable = !matches!(chosen.end, End::Last | End::Durations);
    let identical = there.each_ref().map(|side| {
        let same = side.windows(2).all(|w| w[0].total_ns == w[1].total_ns);
        let repeats = side.iter().all(|cut| cut.timeline.time().repeats());
        side.len() > 1 && same && repeats
    });
    let totals = there.each_ref().map(|side| {
        let totals: Vec<i64> = side.iter().map(|cut| cut.total_ns).collect();
        totals
    });
    let single = identical.contains(&true);
    let arrived: [Vec<Boot<'_>>; 2] = [0, 1].map(|side| {
        let boots = [before, after][side].iter().zip(&cuts[side]);
        boots
            .filter_map(|(boot, cut)| cut.as_ref().map(|_| *boot))
            .collect()
    });
    let test = sample::Test {
        margin,
        design: sample::Design::of([&arrived[0], &arrived[1]]),
    };
    let each = totals
        .each_ref()
        .map(|side| side.iter().copied().map(Some).collect());
    let mut total = test.row("total", &each).filter(|_| comparable);
    let mut phases = phase_rows(&there, &test, comparable);
    let whole = matches!(
        chosen.end,
        End::Unit(_) | End::Milestone(Milestone::StartupFinished)
    );
    // Nothing tells where user space began: then this is not the kernel's.
    let one_phase = whole && phases.len() == 1;
    if one_phase {
        phases.clear();
    }
    let mut spans = span::rows(&there.each_ref().map(|side| timelines(side)), &test);
    let others = phases
        .iter_mut()
        .chain(spans.tested.iter_mut().map(|s| &mut s.row));
    sample::share_error(total.as_mut(), others);
    if single {
        // However often one boot is copied, it stays one.
        let rows = total.iter_mut().chain(&mut phases);
        rows.chain(spans.tested.iter_mut().map(|s| &mut s.row))
            .for_each(sample::distrust);
    }
    let typical = there.each_ref().map(|side| typical(side));
    let mut all: Vec<Place> = Vec::new();
    if let ([Some(_), Some(_)], true) = (typical, comparable) {
        let medians = totals
            .each_ref()
            .map(|t| crate::stats::median(t).unwrap_or(0));
        let noise_ns = noise_ns(medians[0], medians[1]);
        let lists = there.each_ref().map(|side| timelines(side));
        let named_after = typical.map(Option::unwrap_or_default);
        all = places([&lists[0], &lists[1]], named_after, noise_ns);
    }
    if one_phase {
        for place in &mut all {
            if place
                .spot
                .phase
                .is_some_and(|phase| phase.text() == place.name)
            {
                "rest".clone_into(&mut place.name);
            }
        }
    }
    let moved = movement(&all, &totals, &test);
    let mut places: Vec<Delta> = all.iter().map(Place::delta).collect();
    places.sort_by(|a, b| {
        let key = |d: &Delta| Reverse(d.delta_ns.unsigned_abs());
        key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
    });
    let sides = [0, 1].map(|side| {
        let index: Vec<usize> = positions(&cuts[side]);
        let totals_ns: Vec<Option<i64>> = match comparable {
            true => cuts[side]
                .iter()
                .map(|c| Some(c.as_ref()?.total_ns))
                .collect(),
            false => cuts[side].iter().map(|c| c.as_ref().map(|_| 0)).collect(),
        };
        Side {
            totals_ns,
            typical: typical[side].map(|at| index[at]),
            window: typical[side].and_then(|at| chosen.windows[side][index[at]]),
            time: time([before, after][side]),
            identical: identical[side],
            go_on: chosen.go_on[side],
            shape: match comparable {
                true => Shape::of(&totals[side]),
                false => Shape::default(),
            },
        }
    });
    Some(Groups {
        sides,
        start: chosen.start,
        end: chosen.end,
        total,
        phases,
        spans: spans.tested,
        short: spans.short,
        appeared: spans.appeared,
        disappeared: spans.disappeared,
        places,
        moved,
    })
}

/// Corrects the verdicts on the totals of several comparisons with one
/// baseline.
pub fn correct_totals(all: &mut [Groups]) {
    let totals = all.iter_mut().filter_map(|g| g.total.as_mut());
    sample::share_error(None, totals);
}

fn positions<T>(side: &[Option<T>]) -> Vec<usize> {
    let there = side.iter().enumerate().filter(|(_, cut)| cut.is_some());
    there.map(|(at, _)| at).collect()
}

fn timelines<'c>(side: &[&'c Cut<'_>]) -> Vec<&'c Timeline> {
    side.iter().map(|cut| &*cut.timeline).collect()
}

fn cut<'t>(
    timeline: &'t Timeline,
    window: bounds::Window,
    chosen: &bounds::Chosen,
) -> Option<Cut<'t>> {
    let bounds = (&chosen.start, &chosen.end);
    let timeline = bounds::bounded(timeline, &window, bounds);
    let total_ns = extent(&timeline).map(|extent| extent.duration_ns());
    let phases = match chosen.end {
        // Where the other side knows no moments, this one's tell nothing of the change.
        End::Durations => Vec::new(),
        _ => phases(&timeline),
    };
    Some(Cut {
        phases: phases.iter().map(|p| (p.name, p.duration_ns())).collect(),
        total_ns: match chosen.end {
            End::Durations => 0,
            _ => total_ns?,
        },
        timeline,
    })
}

fn time(boots: &[Boot<'_>]) -> Option<TimeKind> {
    let mut kinds = boots.iter().map(|b| b.timeline.time());
    let first = kinds.next()?;
    kinds.all(|kind| kind == first).then_some(first)
}

/// The durations of each phase that a boot has. Where the boots have no end in
/// common, nothing is known of the phase that their logs end in.
fn phase_rows(sides: &[Vec<&Cut>; 2], test: &sample::Test, ended: bool) -> Vec<Row> {
    let of = |cut: &Cut| {
        let known = cut.phases.len() - usize::from(!ended && !cut.phases.is_empty());
        cut.phases[..known].to_vec()
    };
    let of = |side: &Vec<&Cut>| side.iter().map(|cut| of(cut)).collect::<Vec<_>>();
    let sides = sides.each_ref().map(of);
    let all = sides.iter().flatten().flatten();
    let mut names: Vec<PhaseName> = all.map(|p| p.0).collect();
    names.sort_unstable();
    names.dedup();
    let row = |name: PhaseName| {
        let values = sides.each_ref().map(|side| {
            let of_boot =
                |phases: &Vec<(PhaseName, i64)>| Some(phases.iter().find(|p| p.0 == name)?.1);
            side.iter().map(of_boot).collect()
        });
        test.row(name.text(), &values)
    };
    names.into_iter().filter_map(row).collect()
}

/// The boot whose phases are nearest to the medians of its side; of equal ones
/// the first.
fn typical(side: &[&Cut]) -> Option<usize> {
    let mut names: Vec<PhaseName> = side.iter().flat_map(|c| &c.phases).map(|p| p.0).collect();
    names.sort_unstable();
    names.dedup();
    let of = |cut: &Cut, name| {
        let phase = cut.phases.iter().find(|p| p.0 == name);
        phase.map_or(0, |p| p.1)
    };
    let middle = |name| {
        let values: Vec<i64> = side.iter().map(|cut| of(cut, name)).collect();
        (name, crate::stats::median(&values).unwrap_or(0))
    };
    let middles: Vec<(PhaseName, i64)> = names.into_iter().map(middle).collect();
    let totals: Vec<i64> = side.iter().map(|cut| cut.total_ns).collect();
    let total = crate::stats::median(&totals)?;
    let away = |cut: &Cut| {
        let phases = middles
            .iter()
            .map(|(name, ns)| of(cut, *name).abs_diff(*ns));
        phases.fold(cut.total_ns.abs_diff(total), u64::saturating_add)
    };
    (0..side.len()).min_by_key(|&at| away(side[at]))
}

/// What came back in another phase is at least 1 in this of what both phases
/// saved and lost.
const GOOD_PART: i64 = 4;

/// Pairs savings with growth, of the places whose change is no noise: with
/// several boots on each side their effect says so. The sum of many small
/// changes is no place that time moves from.
fn movement(places: &[Place], totals: &[Vec<i64>; 2], test: &sample::Test) -> Vec<Moved> {
    let medians = totals
        .each_ref()
        .map(|t| crate::stats::median(t).unwrap_or(0));
    let noise_ns = noise_ns(medians[0], medians[1]);
    let mut sure: Vec<(Delta, Spot)> = Vec::new();
    for place in places {
        let delta = place.delta();
        if delta.delta_ns.saturating_abs() < noise_ns || place.is_sum {
            continue;
        }
        let values = place
            .ns
            .each_ref()
            .map(|ns| ns.iter().map(|ns| Some(ns.unwrap_or(0))).collect());
        if test.changed(&values) {
            sure.push((delta, place.spot));
        }
    }
    sure.sort_by(|(a, _), (b, _)| {
        let key = |d: &Delta| Reverse(d.delta_ns.unsigned_abs());
        key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
    });
    let mut moved = moved::pair(&sure, noise_ns);
    moved.retain(|m| is_likely(m, &sure));
    moved
}

/// Whether a saving may have come back there. Within a phase it is likely;
/// from one phase to another only where both are a good part of what their
/// phases saved and lost: of the many places of a kernel that got faster, one
/// is always as large as what grew elsewhere.
fn is_likely(moved: &Moved, all: &[(Delta, Spot)]) -> bool {
    let find = |name: &str| all.iter().find(|(delta, _)| delta.name == name);
    let (Some((from, from_at)), Some((to, to_at))) = (find(&moved.from), find(&moved.to)) else {
        return false;
    };
    let good_part = |of: &Delta, at: &Spot| {
        let like = all.iter().filter(|(delta, spot)| {
            spot.phase == at.phase && delta.delta_ns.signum() == of.delta_ns.signum()
        });
        let sum = like.map(|(delta, _)| delta.delta_ns.saturating_abs());
        let sum = sum.fold(0, i64::saturating_add);
        of.delta_ns.saturating_abs() >= sum / GOOD_PART
    };
    from_at.phase == to_at.phase || good_part(from, from_at) && good_part(to, to_at)
}
