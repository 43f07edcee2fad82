//! Overlapping intervals made disjoint: the innermost one wins.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use bootlap_model::Stamp;

/// An interval that wants its time shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    pub(crate) start: Stamp,
    pub(crate) end: Stamp,
    /// A lower rank wins over a higher one, whatever is innermost.
    pub(crate) rank: u8,
}

/// A stretch that belongs to one claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) start: Stamp,
    pub(crate) end: Stamp,
    /// The index of the claim.
    pub(crate) claim: usize,
}

/// Gives each moment to the claim of the lowest rank, of these to the one that
/// began last (the innermost of nested ones), of these to the one that ends
/// first. Pieces come in order, and together cover what the claims cover.
pub(crate) fn flatten(claims: &[Claim]) -> Vec<Piece> {
    let mut turns: Vec<Turn> = Vec::with_capacity(2 * claims.len());
    for (claim, Claim { start, end, .. }) in claims.iter().enumerate() {
        if start.ns < end.ns {
            let claim = claim as u32;
            turns.extend(
                [(start.ns, true), (end.ns, false)].map(|(ns, begins)| Turn { ns, claim, begins }),
            );
        }
    }
    turns.sort_unstable_by_key(|turn| (turn.ns, turn.claim));
    let moments = || turns.chunk_by(|a, b| a.ns == b.ns);
    let key = |i: usize| {
        let claim = &claims[i];
        (claim.rank, Reverse(claim.start.ns), claim.end.ns, i)
    };
    let mut active = BTreeSet::new();
    let mut pieces: Vec<Piece> = Vec::new();
    for (now, next) in moments().zip(moments().skip(1)) {
        for turn in now.iter().filter(|turn| !turn.begins) {
            active.remove(&key(turn.claim as usize));
        }
        let begun = now.iter().filter(|turn| turn.begins);
        active.extend(begun.map(|turn| key(turn.claim as usize)));
        let Some(&(.., claim)) = active.first() else {
            continue;
        };
        let (start, end) = (best(claims, now), best(claims, next));
        match pieces.last_mut() {
            Some(last) if last.claim == claim && last.end.ns == start.ns => last.end = end,
            _ => pieces.push(Piece { start, end, claim }),
        }
    }
    pieces
}

/// Where a claim begins or ends. There are as many as initcalls, so each is small.
struct Turn {
    ns: i64,
    claim: u32,
    begins: bool,
}

/// Of the stamps of a moment the one that knows most, of these the first.
fn best(claims: &[Claim], moment: &[Turn]) -> Stamp {
    let stamps = moment.iter().map(|turn| {
        let claim = &claims[turn.claim as usize];
        if turn.begins { claim.start } else { claim.end }
    });
    let best = stamps.min_by_key(|s| (s.insns.is_none(), s.err_ns));
    best.expect("a moment has a turn")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn claims(list: &[(i64, i64, u8)]) -> Vec<Claim> {
        let claim = |&(start, end, rank)| Claim {
            start: Stamp::counted(start, start.unsigned_abs()),
            end: Stamp::counted(end, end.unsigned_abs()),
            rank,
        };
        list.iter().map(claim).collect()
    }

    fn flat(list: &[(i64, i64, u8)]) -> Vec<(i64, i64, usize)> {
        let pieces = flatten(&claims(list));
        pieces
            .iter()
            .map(|p| (p.start.ns, p.end.ns, p.claim))
            .collect()
    }

    #[test]
    fn the_innermost_has_the_time() {
        assert_eq!(
            flat(&[(0, 100, 0), (20, 50, 0), (30, 40, 0)]),
            [
                (0, 20, 0),
                (20, 30, 1),
                (30, 40, 2),
                (40, 50, 1),
                (50, 100, 0)
            ]
        );
    }

    #[test]
    fn a_lower_rank_wins_over_what_is_inside_it() {
        assert_eq!(flat(&[(0, 100, 0), (20, 50, 1)]), [(0, 100, 0)]);
        assert_eq!(flat(&[(0, 40, 0), (20, 50, 1)]), [(0, 40, 0), (40, 50, 1)]);
    }

    #[test]
    fn ends_keep_their_instruction_counts() {
        for piece in flatten(&claims(&[(0, 100, 0), (20, 50, 0), (50, 60, 0)])) {
            assert_eq!(piece.start.insns, Some(piece.start.ns as u64));
            assert_eq!(piece.end.insns, Some(piece.end.ns as u64));
        }
    }

    #[test]
    fn nothing_comes_of_empty_or_reversed_claims() {
        assert_eq!(flat(&[(5, 5, 0), (9, 3, 0)]), []);
    }

    proptest! {
        #[test]
        fn pieces_are_disjoint_and_cover_the_union(
            list in prop::collection::vec((0..60i64, 0..60i64, 0..3u8), 0..12),
        ) {
            let pieces = flat(&list);
            for pair in pieces.windows(2) {
                prop_assert!(pair[0].1 <= pair[1].0);
            }
            let covered = (0..60).filter(|&t| list.iter().any(|c| c.0 <= t && t < c.1)).count();
            let sum: i64 = pieces.iter().map(|p| p.1 - p.0).sum();
            prop_assert_eq!(sum, covered as i64);
            for (start, end, claim) in pieces {
                prop_assert!(list[claim].0 <= start && start < end && end <= list[claim].1);
            }
        }
    }
}
