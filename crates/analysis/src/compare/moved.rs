//! Squeeze a tube of toothpaste and it moves elsewhere.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::place::Spot;
use super::{Delta, Moved};

/// The part of a saving that must have come back is 1 in this.
const PART: i64 = 10;
/// The part that must have come back in another phase is 1 in this: what is
/// far away is more likely to be another matter.
const PART_ELSEWHERE: i64 = 2;

/// What is left of one place's change.
struct Rest<'d> {
    name: &'d str,
    spot: Spot,
    whole_ns: i64,
    left_ns: i64,
}

/// Pairs growth, the largest first, with the savings that are nearest: in the
/// same phase the nearest in time, else the largest. What is left goes to the
/// next, until it is noise. A saving of which little came back is a saving,
/// and the growth another matter.
pub(crate) fn pair(deltas: &[(Delta, Spot)], noise_ns: i64) -> Vec<Moved> {
    let noise_ns = noise_ns.max(1);
    let mut saved: Vec<Rest> = deltas.iter().filter_map(|d| rest_of(d, -1)).collect();
    let mut grew: Vec<Rest> = deltas.iter().filter_map(|d| rest_of(d, 1)).collect();
    grew.sort_by_key(|r| (Reverse(r.whole_ns), r.name));
    let mut moved: Vec<Moved> = Vec::new();
    for to in &mut grew {
        while to.left_ns >= noise_ns {
            let Some(from) = nearest(&mut saved, to, noise_ns) else {
                break;
            };
            let ns = from.left_ns.min(to.left_ns);
            moved.push(Moved {
                from: from.name.to_owned(),
                to: to.name.to_owned(),
                ns,
                saved_ns: from.whole_ns,
                grew_ns: to.whole_ns,
            });
            from.left_ns -= ns;
            to.left_ns -= ns;
        }
    }
    let came_back = |r: &&Rest| r.whole_ns - r.left_ns >= r.whole_ns / PART;
    let came_back: BTreeSet<&str> = saved.iter().filter(came_back).map(|r| r.name).collect();
    moved.retain(|m| came_back.contains(m.from.as_str()));
    moved.sort_by_key(|m| Reverse(m.ns));
    moved
}

fn rest_of((delta, spot): &(Delta, Spot), sign: i64) -> Option<Rest<'_>> {
    let ns = delta.delta_ns.saturating_mul(sign);
    (ns > 0).then_some(Rest {
        name: &delta.name,
        spot: *spot,
        whole_ns: ns,
        left_ns: ns,
    })
}

/// The saving that `to` most likely came from, if one is near enough.
fn nearest<'a, 'd>(
    saved: &'a mut [Rest<'d>],
    to: &Rest<'_>,
    noise_ns: i64,
) -> Option<&'a mut Rest<'d>> {
    let near = |from: &Rest| from.spot.phase == to.spot.phase;
    let could_be = |from: &Rest| {
        let ns = from.left_ns.min(to.left_ns);
        ns >= noise_ns && (near(from) || ns >= from.whole_ns / PART_ELSEWHERE)
    };
    saved
        .iter_mut()
        .filter(|from| could_be(from))
        .min_by_key(|from| {
            let far = !near(from);
            let distance = from.spot.offset_ns.abs_diff(to.spot.offset_ns);
            let size = Reverse(from.left_ns);
            (far, if far { 0 } else { distance }, size, from.name)
        })
}
