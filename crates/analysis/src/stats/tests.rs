//! Laws that the statistics keep, and their edges.

use proptest::prelude::*;

use super::*;

fn verdict_of(before: &[i64], after: &[i64], margin_ns: i64) -> Verdict {
    effect(before, after, margin_ns, 1).verdict
}

#[test]
fn four_clear_runs_of_each_side_are_enough_and_three_are_not() {
    assert_eq!(verdict_of(&[9, 8, 9, 8], &[2, 3, 2, 3], 1), Verdict::Faster);
    assert_eq!(verdict_of(&[2, 3, 2, 3], &[9, 8, 9, 8], 1), Verdict::Slower);
    assert_eq!(verdict_of(&[9, 8, 9], &[2, 3, 2], 1), Verdict::Unknown);
}

#[test]
fn equal_boots_are_equivalent_only_within_a_margin() {
    let same = [5_000; 8];
    assert_eq!(verdict_of(&same, &same, 10), Verdict::Equivalent);
    assert_eq!(verdict_of(&same, &same, 0), Verdict::Unknown);
    assert_eq!(effect(&same, &same, 10, 1).p, 1.0);
    assert_eq!(effect(&same, &same, 10, 1).interval_ns, [0, 0]);
}

#[test]
fn a_real_but_small_change_is_equivalent() {
    let after: Vec<i64> = (100..108).map(|v| v - 20).collect();
    let before: Vec<i64> = (100..108).collect();
    assert_eq!(verdict_of(&before, &after, 30), Verdict::Equivalent);
    assert_eq!(verdict_of(&before, &after, 20), Verdict::Faster);
}

#[test]
fn one_run_or_none_says_nothing() {
    for (before, after) in [(&[][..], &[][..]), (&[5], &[]), (&[], &[5]), (&[9], &[2])] {
        let effect = effect(before, after, 1_000, 1);
        assert_eq!(effect.verdict, Verdict::Unknown);
        assert_eq!(effect.p, 1.0);
    }
    assert_eq!(effect(&[9], &[2], 1, 1).shift_ns, -7);
    assert_eq!(median(&[]), None);
    assert_eq!(mad(&[]), None);
    assert_eq!(hodges_lehmann(&[], &[1]), None);
}

#[test]
fn the_ends_of_the_number_line_do_not_overflow() {
    let (low, high) = ([i64::MIN; 4], [i64::MAX; 4]);
    let up = effect(&low, &high, i64::MIN, 1);
    assert_eq!((up.shift_ns, up.interval_ns), (i64::MAX, [i64::MAX; 2]));
    let down = effect(&high, &low, i64::MAX, 1);
    assert_eq!(down.shift_ns, i64::MIN);
    assert_eq!(mad(&[i64::MIN, 0, i64::MAX]), Some(i64::MAX));
}

#[test]
fn large_samples_are_drawn_the_same_way_every_time() {
    let before: Vec<i64> = (0..80).collect();
    let after: Vec<i64> = (10..90).collect();
    let p = rank::two_sided(&before, &after, 7);
    assert_eq!(p, rank::two_sided(&before, &after, 7));
    assert_eq!(p, rank::two_sided(&after, &before, 7));
    assert!(0.0 < p && p < 0.05, "{p}");
}

#[test]
fn holm_multiplies_by_the_number_left_and_never_falls() {
    let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
    let expected = [0.03, 0.06, 0.06, 0.02];
    for (ours, expected) in corrected.iter().zip(expected) {
        assert!((ours - expected).abs() < 1e-12, "{corrected:?}");
    }
    assert!(holm(&[]).is_empty());
    assert_eq!(holm(&[f64::NAN, 0.9]), [1.0, 1.0]);
}

#[test]
fn a_claim_that_does_not_hold_among_many_becomes_unknown() {
    let clear = effect(&[9, 8, 9, 8], &[2, 3, 2, 3], 0, 1);
    assert!(clear.p > 0.025);
    let mut effects = [clear; 3];
    correct(&mut effects);
    assert!(effects.iter().all(|e| e.verdict == Verdict::Unknown));
    let mut alone = [clear];
    correct(&mut alone);
    assert_eq!(alone[0], clear);
}

fn sample() -> impl Strategy<Value = Vec<i64>> {
    // Few distinct values make ties.
    let value = prop_oneof![-20..20i64, -5_000_000..5_000_000i64];
    prop::collection::vec(value, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_interval_contains_the_shift_and_p_is_a_probability(
        a in sample(), b in sample(), margin in 0..1000i64, seed: u64,
    ) {
        let e = effect(&a, &b, margin, seed);
        prop_assert!(e.interval_ns[0] <= e.shift_ns && e.shift_ns <= e.interval_ns[1]);
        prop_assert!(0.0 < e.p && e.p <= 1.0);
        match e.verdict {
            Verdict::Faster => prop_assert!(e.interval_ns[1] < 0),
            Verdict::Slower => prop_assert!(e.interval_ns[0] > 0),
            Verdict::Equivalent => prop_assert!(e.shift_ns.abs() <= margin),
            Verdict::Unknown => {}
        }
    }

    #[test]
    fn swapped_sides_change_the_sign(a in sample(), b in sample(), seed: u64) {
        let (there, back) = (effect(&a, &b, 5, seed), effect(&b, &a, 5, seed));
        prop_assert_eq!(there.shift_ns, -back.shift_ns);
        prop_assert_eq!(there.interval_ns, [-back.interval_ns[1], -back.interval_ns[0]]);
        prop_assert_eq!(there.p, back.p);
        let mirrored = match back.verdict {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            other => other,
        };
        prop_assert_eq!(there.verdict, mirrored);
    }

    #[test]
    fn what_is_added_to_one_side_is_added_to_the_shift(
        a in sample(), b in sample(), by in -1_000_000..1_000_000i64, seed: u64,
    ) {
        let moved: Vec<i64> = b.iter().map(|v| v + by).collect();
        let (plain, moved) = (effect(&a, &b, 5, seed), effect(&a, &moved, 5, seed));
        // Halves of a nanosecond go towards 0, wherever 0 is.
        prop_assert!((moved.shift_ns - plain.shift_ns - by).abs() <= 1);
        if a.len() > 1 && b.len() > 1 {
            prop_assert_eq!(moved.interval_ns, plain.interval_ns.map(|v| v + by));
        }
    }

    #[test]
    fn the_order_of_the_runs_does_not_matter(
        (a, shuffled) in sample().prop_flat_map(|a| (Just(a.clone()), Just(a).prop_shuffle())),
        b in sample(), seed: u64,
    ) {
        prop_assert_eq!(effect(&a, &b, 5, seed), effect(&shuffled, &b, 5, seed));
    }

    #[test]
    fn a_shift_by_bisection_is_that_of_all_differences(a in sample(), b in sample()) {
        let mut all: Vec<i64> = a.iter().flat_map(|x| b.iter().map(move |y| y - x)).collect();
        all.sort_unstable();
        prop_assert_eq!(hodges_lehmann(&a, &b), median(&all));
    }
}
