//! Which track a slice goes to: on one Perfetto track slices either nest or
//! do not touch. What overlaps without nesting goes to a sibling track.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// How something that began goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It ended then, not before it began. Ns.
    At(i64),
    /// It was still running when the recording stopped.
    Open,
    /// It has no length, or none that is known.
    Instant,
}

/// What happens on a track, by the index of the item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Begin(u32),
    End(u32),
    Instant(u32),
}

impl Step {
    pub(super) fn item(self) -> usize {
        match self {
            Step::Begin(item) | Step::End(item) | Step::Instant(item) => item as usize,
        }
    }
}

/// Distributes `items`, each a start (ns) and its end, over as many tracks as
/// it takes. Steps are in order of time.
///
/// With `nests` the first track takes all that nests there (of equal items the
/// one given first is the outer one); other tracks hold one item at a time.
pub(super) fn pack(items: &[(i64, End)], nests: bool) -> Vec<Vec<Step>> {
    let mut order: Vec<u32> = (0..items.len() as u32).collect();
    order.sort_by_key(|&i| {
        let (start, end) = items[i as usize];
        (start, Reverse(last(start, end)))
    });
    let mut tracks = Vec::new();
    if nests {
        let (first, rest) = nest(items, &order);
        tracks.push(first);
        order = rest;
    }
    tracks.extend(side_by_side(items, &order));
    tracks
}

/// Until when it needs its track to itself, for comparing.
fn last(start: i64, end: End) -> i128 {
    match end {
        End::At(end) => end.into(),
        End::Open => i128::MAX,
        End::Instant => start.into(),
    }
}

/// One track of nested items, and what does not nest with them.
fn nest(items: &[(i64, End)], order: &[u32]) -> (Vec<Step>, Vec<u32>) {
    let (mut steps, mut rest) = (Vec::with_capacity(order.len() * 2), Vec::new());
    let mut open: Vec<(i128, u32)> = Vec::new();
    for &item in order {
        let (start, end) = items[item as usize];
        while let Some((_, over)) = open.pop_if(|(end, _)| *end <= start.into()) {
            steps.push(Step::End(over));
        }
        let until = last(start, end);
        match end {
            _ if open.last().is_some_and(|(outer, _)| *outer < until) => rest.push(item),
            End::Instant => steps.push(Step::Instant(item)),
            End::At(_) | End::Open => {
                steps.push(Step::Begin(item));
                open.push((until, item));
            }
        }
    }
    let ending = open.into_iter().rev().filter(|(end, _)| *end != i128::MAX);
    steps.extend(ending.map(|(_, item)| Step::End(item)));
    (steps, rest)
}

/// Tracks of one item at a time, the lowest free one first.
fn side_by_side(items: &[(i64, End)], order: &[u32]) -> Vec<Vec<Step>> {
    let mut tracks: Vec<Vec<Step>> = Vec::new();
    let mut free = BTreeSet::new();
    let mut busy: BinaryHeap<Reverse<(i128, usize)>> = BinaryHeap::new();
    for &item in order {
        let (start, end) = items[item as usize];
        while let Some(&Reverse((until, track))) = busy.peek()
            && until <= start.into()
        {
            busy.pop();
            free.insert(track);
        }
        let track = free.pop_first().unwrap_or_else(|| {
            tracks.push(Vec::new());
            tracks.len() - 1
        });
        busy.push(Reverse((last(start, end), track)));
        match end {
            End::Instant => tracks[track].push(Step::Instant(item)),
            End::At(_) => tracks[track].extend([Step::Begin(item), Step::End(item)]),
            End::Open => tracks[track].push(Step::Begin(item)),
        }
    }
    tracks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is on each track, as `(start, end)`.
    fn packed(items: &[(i64, End)], nests: bool) -> Vec<Vec<(i64, End)>> {
        let begun = |step: &Step| match step {
            Step::Begin(i) | Step::Instant(i) => Some(items[*i as usize]),
            Step::End(_) => None,
        };
        let tracks = pack(items, nests);
        tracks
            .iter()
            .map(|t| t.iter().filter_map(begun).collect())
            .collect()
    }

    #[test]
    fn what_nests_stays_together() {
        let items = [(0, End::At(9)), (1, End::At(4)), (4, End::At(9))];
        assert_eq!(packed(&items, true), [items.to_vec()]);
        assert_eq!(
            pack(&items, true)[0],
            [
                Step::Begin(0),
                Step::Begin(1),
                Step::End(1),
                Step::Begin(2),
                Step::End(2),
                Step::End(0)
            ]
        );
        let [outer, first, second] = items;
        let side_by_side = packed(&items, false);
        assert_eq!(side_by_side, [vec![outer], vec![first, second]]);
    }

    #[test]
    fn what_crosses_goes_beside() {
        let items = [(0, End::At(5)), (3, End::At(8)), (4, End::Open)];
        let [a, b, c] = items;
        assert_eq!(packed(&items, true), [vec![a], vec![b], vec![c]]);
    }

    #[test]
    fn nothing_is_put_behind_an_open_end_as_if_that_had_ended() {
        let items = [(0, End::Open), (5, End::At(6)), (7, End::Instant)];
        let [open, slice, instant] = items;
        let beside = packed(&items, false);
        assert_eq!(beside, [vec![open], vec![slice, instant]]);
        assert_eq!(packed(&items, true), [items.to_vec()]);
        let open_inside = [(0, End::At(9)), (5, End::Open)];
        assert_eq!(packed(&open_inside, true).len(), 2);
    }

    #[test]
    fn what_has_no_length_shares_a_track() {
        let items = [(2, End::At(2)), (2, End::At(2)), (2, End::Instant)];
        assert_eq!(packed(&items, false), [items.to_vec()]);
    }
}
