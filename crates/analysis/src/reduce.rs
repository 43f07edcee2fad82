//! The smallest part of a set that still passes a test: delta debugging.
//!
//! Nothing is known of the test but its answers. So what is there is cut into pieces,
//! first halves, then halves of these, and a piece goes for good if the rest passes
//! without it. At the end each member was left out alone, from just that rest, and the
//! test failed: none can go by itself, though another part may be smaller still (Zeller
//! and Hildebrandt call it 1-minimal). Neighbours go together, so whoever orders the set
//! by folders or by subsystems needs fewer tests.

use std::collections::BTreeSet;

/// Members of a set, by their place in it.
pub type Part = BTreeSet<usize>;

/// The smallest part of `0..all` that passes; all of it must.
///
/// `passes` is asked for up to `at_once` parts in one call, and answers in their order.
/// The result does not depend on `at_once`.
///
/// # Errors
/// Those of `passes`.
pub fn reduce<E>(
    all: usize,
    at_once: usize,
    mut passes: impl FnMut(&[Part]) -> Result<Vec<bool>, E>,
) -> Result<Part, E> {
    let mut kept: Part = (0..all).collect();
    if all == 0 || passes(&[Part::new()])?.first() == Some(&true) {
        return Ok(Part::new());
    }
    let mut size = all.div_ceil(2);
    // All of one is not the same question as nothing of it: that was asked.
    while kept.len() > 1 {
        let before = kept.len();
        let members: Vec<usize> = kept.iter().copied().collect();
        let mut pieces: Vec<&[usize]> = members.chunks(size).collect();
        while !pieces.is_empty() {
            let few = &pieces[..pieces.len().min(at_once.max(1))];
            let without = |piece: &&[usize]| -> Part {
                let stays = kept.iter().filter(|member| !piece.contains(member));
                stays.copied().collect()
            };
            let parts: Vec<Part> = few.iter().map(without).collect();
            let first = passes(&parts)?.iter().position(|passes| *passes);
            let asked = match first {
                Some(at) => {
                    kept.clone_from(&parts[at]);
                    at + 1
                }
                None => few.len(),
            };
            pieces.drain(..asked);
        }
        match size {
            1 if kept.len() == before => break,
            1 => {}
            _ => size = size.div_ceil(2),
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    /// What is left of `all`, and how many parts were asked for.
    fn reduced(all: usize, at_once: usize, passes: &dyn Fn(&Part) -> bool) -> (Part, usize) {
        let mut asked = 0;
        let left = reduce(all, at_once, |parts| {
            assert!(parts.len() <= at_once);
            asked += parts.len();
            Ok::<_, Infallible>(parts.iter().map(passes).collect())
        });
        let Ok(left) = left;
        (left, asked)
    }

    #[test]
    fn what_is_needed_is_found_in_few_tests() {
        let needed = Part::from([3, 40, 41, 97]);
        let (left, asked) = reduced(128, 1, &|part| part.is_superset(&needed));
        assert_eq!(left, needed);
        assert!(asked < 60, "{asked}");
        // Each of two alternatives will do: the later one stays.
        let (left, _) = reduced(8, 1, &|part| part.contains(&2) || part.contains(&6));
        assert_eq!(left, Part::from([6]));
        // All is needed: each was left out once at each size of pieces.
        let (left, asked) = reduced(64, 1, &|part| part.len() == 64);
        assert_eq!((left.len(), asked), (64, 127));
    }

    #[test]
    fn nothing_and_all_of_nothing() {
        assert_eq!(reduced(9, 1, &|_| true), (Part::new(), 1));
        assert_eq!(reduced(0, 1, &|_| true), (Part::new(), 0));
        assert_eq!(reduced(1, 1, &|part| !part.is_empty()).0, Part::from([0]));
    }

    proptest! {
        /// Of any test, even one that answers at random: the result passes, none of it can
        /// go alone, and how many are asked at once changes nothing.
        #[test]
        fn the_result_passes_and_none_of_it_can_go(
            all in 1_usize..24,
            salt in any::<u64>(),
            needed in proptest::collection::btree_set(0_usize..24, 0..6),
            at_once in 1_usize..7,
        ) {
            use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
            let hash = BuildHasherDefault::<DefaultHasher>::default();
            let passes = |part: &Part| {
                let whole = part.len() == all;
                let chance = hash.hash_one((salt, part)) % 3 > 0;
                let needs = needed.iter().filter(|n| **n < all).all(|n| part.contains(n));
                whole || (needs && chance)
            };
            let (left, _) = reduced(all, 1, &passes);
            prop_assert!(passes(&left));
            for member in &left {
                let mut rest = left.clone();
                rest.remove(member);
                prop_assert!(!passes(&rest), "{member} of {left:?}");
            }
            prop_assert_eq!(reduced(all, at_once, &passes).0, left);
        }
    }
}
