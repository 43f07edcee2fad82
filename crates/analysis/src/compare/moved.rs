//! Squeeze a tube of toothpaste and it moves elsewhere.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::{Delta, Moved};

/// The part of a saving that must have come back is 1 in this.
const PART: i64 = 10;

/// What is left of one place's change.
struct Rest<'d> {
    name: &'d str,
    whole_ns: i64,
    left_ns: i64,
}

/// Pairs savings with growth: always the largest saving left with the largest
/// growth left, until one side is used up or what is left is noise. A saving
/// of which less than a tenth came back is a saving, and the growth another
/// matter.
pub(super) fn pair(deltas: &[Delta], noise_ns: i64) -> Vec<Moved> {
    let mut saved: Vec<Rest> = deltas.iter().filter_map(|d| rest_of(d, -1)).collect();
    let mut grew: Vec<Rest> = deltas.iter().filter_map(|d| rest_of(d, 1)).collect();
    let mut moved: Vec<Moved> = Vec::new();
    while let (Some(from), Some(to)) = (largest(&mut saved), largest(&mut grew)) {
        let ns = from.left_ns.min(to.left_ns);
        if ns < noise_ns.max(1) {
            break;
        }
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
    let came_back = |r: &&Rest| r.whole_ns - r.left_ns >= r.whole_ns / PART;
    let came_back: BTreeSet<&str> = saved.iter().filter(came_back).map(|r| r.name).collect();
    moved.retain(|m| came_back.contains(m.from.as_str()));
    moved.sort_by_key(|m| Reverse(m.ns));
    moved
}

fn rest_of(delta: &Delta, sign: i64) -> Option<Rest<'_>> {
    let ns = delta.delta_ns.saturating_mul(sign);
    (ns > 0).then_some(Rest {
        name: &delta.name,
        whole_ns: ns,
        left_ns: ns,
    })
}

/// The largest that is left; of equals the first by name.
fn largest<'a, 'd>(rests: &'a mut [Rest<'d>]) -> Option<&'a mut Rest<'d>> {
    rests
        .iter_mut()
        .min_by_key(|r| (Reverse(r.left_ns), r.name))
}
