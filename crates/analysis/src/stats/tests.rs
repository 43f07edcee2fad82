//! Laws that the statistics keep, and their edges.

use proptest::prelude::*;

use super::*;

fn once(before: &[i64], after: &[i64], margin_ns: i64) -> Effect {
    effect(before, after, &Question::once(margin_ns))
}

fn verdict_of(before: &[i64], after: &[i64], margin_ns: i64) -> Verdict {
    effect(before, after, &Question::once(margin_ns)).verdict
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
    assert_eq!(once(&same, &same, 10).p, 1.0);
    assert_eq!(once(&same, &same, 10).interval_ns, [0, 0]);
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
        let effect = once(before, after, 1_000);
        assert_eq!(effect.verdict, Verdict::Unknown);
        assert_eq!(effect.p, 1.0);
    }
    assert_eq!(once(&[9], &[2], 1).shift_ns, -7);
    assert_eq!(median(&[]), None);
    assert_eq!(mad(&[]), None);
    assert_eq!(hodges_lehmann(&[], &[1]), None);
}

#[test]
fn the_ends_of_the_number_line_do_not_overflow() {
    let (low, high) = ([i64::MIN; 4], [i64::MAX; 4]);
    let up = once(&low, &high, i64::MIN);
    assert_eq!((up.shift_ns, up.interval_ns), (i64::MAX, [i64::MAX; 2]));
    let down = once(&high, &low, i64::MAX);
    assert_eq!(down.shift_ns, i64::MIN);
    assert_eq!(mad(&[i64::MIN, 0, i64::MAX]), Some(i64::MAX));
}

#[test]
fn too_few_boots_say_so_by_their_confidence() {
    let three = once(&[9, 8, 9], &[2, 3, 2], 1);
    assert_eq!(
        (three.interval_ns, three.verdict),
        ([-7, -5], Verdict::Unknown)
    );
    assert!((three.confidence - 0.9).abs() < 1e-9 && (three.p - 0.1).abs() < 1e-9);
    assert_eq!(once(&[9], &[2], 1).confidence, 0.0);
    let eight = once(&[1; 8], &[2; 8], 0);
    assert!((0.95..0.96).contains(&eight.confidence));
}

#[test]
fn ties_between_the_sides_count_against_a_claim() {
    // 4 and 4: apart but for one tie. Either order of the tie is possible; the
    // worse one has a U of 1.
    let tie = once(&[1, 2, 3, 4], &[4, 5, 6, 7], 0);
    assert!((tie.p - 4.0 / 70.0).abs() < 1e-12, "{}", tie.p);
    // Ties within a side say nothing.
    assert!((once(&[1; 4], &[2; 4], 0).p - 2.0 / 70.0).abs() < 1e-12);
}

#[test]
fn large_samples_take_no_time() {
    let before: Vec<i64> = (0..3000).collect();
    let after: Vec<i64> = (100..3100).collect();
    let large = once(&before, &after, 0);
    assert_eq!((large.shift_ns, large.verdict), (100, Verdict::Slower));
    assert!(0.0 < large.p && large.p < 0.001);
}

#[test]
fn drift_from_round_to_round_hides_nothing_in_rounds() {
    // 10 ns faster, while the machine warms up by 1000 ns a round.
    let round = |n: i64| Round {
        before: vec![1000 * n, 1000 * n + 3],
        after: vec![1000 * n - 10, 1000 * n - 7],
    };
    let rounds: Vec<Round> = (0..4).map(round).collect();
    let question = Question::once(1);
    let in_rounds = effect_in_blocks(&rounds, &question);
    assert_eq!(
        (in_rounds.shift_ns, in_rounds.verdict),
        (-10, Verdict::Faster)
    );
    let all = blocks(&rounds, 4).remove(0);
    assert_eq!(
        effect(&all.before, &all.after, &question).verdict,
        Verdict::Unknown
    );
    assert_eq!(in_rounds.samples, [8, 8]);
}

#[test]
fn rounds_are_put_together_and_none_is_lost() {
    let round = |n: i64| Round {
        before: vec![n],
        after: vec![-n],
    };
    let rounds: Vec<Round> = (1..=5).map(round).collect();
    let sizes: Vec<usize> = blocks(&rounds, 2).iter().map(|b| b.before.len()).collect();
    assert_eq!(sizes, [2, 3]);
    assert_eq!(blocks(&rounds[..1], 2), rounds[..1]);
    assert_eq!(blocks(&[], 2), [Round::default()]);
    assert_eq!(
        effect_in_rounds(&[], &Question::once(9)).verdict,
        Verdict::Unknown
    );
    // A round whose boots of one side all hung compares nothing.
    let hung = Round {
        before: vec![5, 6],
        after: vec![],
    };
    let with = effect_in_blocks(&[rounds[0].clone(), hung], &Question::once(9));
    assert_eq!((with.shift_ns, with.samples), (-2, [3, 1]));
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
    let clear = once(&[9, 8, 9, 8], &[2, 3, 2, 3], 0);
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

fn stage() -> impl Strategy<Value = Stage> {
    prop::sample::select(vec![Stage::Only, Stage::First, Stage::Second, Stage::Last])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn shift_interval_p_and_verdict_never_contradict_each_other(
        rounds in prop::collection::vec((sample(), sample()), 1..4),
        margin_ns in 0..1000i64, stage in stage(),
    ) {
        let rounds = rounds.into_iter().map(|(before, after)| Round { before, after });
        let rounds: Vec<Round> = rounds.collect();
        let question = Question { margin_ns, alpha: ALPHA, stage };
        let e = effect_in_blocks(&rounds, &question);
        let [low, high] = e.interval_ns;
        prop_assert!(low <= e.shift_ns && e.shift_ns <= high);
        prop_assert!(0.0 < e.p && e.p <= 1.0);
        prop_assert!((0.0..1.0).contains(&e.confidence));
        let holds = e.confidence >= 1.0 - stage.level(ALPHA) - 1e-9;
        let excludes = low > 0 || high < 0;
        prop_assert_eq!(e.p <= ALPHA, holds && excludes);
        let within = -margin_ns < low && high < margin_ns;
        prop_assert_eq!(e.verdict == Verdict::Equivalent, holds && within);
        let claims = holds && excludes && !within;
        prop_assert_eq!(e.verdict == Verdict::Faster, claims && high < 0);
        prop_assert_eq!(e.verdict == Verdict::Slower, claims && low > 0);
    }

    #[test]
    fn the_interval_is_what_the_test_does_not_reject(a in sample(), b in sample()) {
        let e = once(&a, &b, 0);
        if e.confidence >= 0.95 {
            let rejects = |shift: i64| {
                let moved: Vec<i64> = b.iter().map(|v| v - shift).collect();
                rank::two_sided(&a, &moved) <= ALPHA
            };
            let [low, high] = e.interval_ns;
            prop_assert!(!rejects(low) && !rejects(high) && !rejects(e.shift_ns));
            prop_assert!(rejects(low - 1) && rejects(high + 1));
        }
    }

    #[test]
    fn swapped_sides_change_the_sign(a in sample(), b in sample()) {
        let (there, back) = (once(&a, &b, 5), once(&b, &a, 5));
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
        a in sample(), b in sample(), by in -1_000_000..1_000_000i64,
    ) {
        let add = |sample: &[i64]| sample.iter().map(|v| v + by).collect::<Vec<i64>>();
        let (plain, moved) = (once(&a, &b, 5), once(&a, &add(&b), 5));
        // Halves of a nanosecond go towards 0, wherever 0 is.
        prop_assert!((moved.shift_ns - plain.shift_ns - by).abs() <= 1);
        prop_assert_eq!(moved.interval_ns, plain.interval_ns.map(|v| v + by));
        prop_assert_eq!(once(&add(&a), &add(&b), 5), plain);
    }

    #[test]
    fn the_order_of_the_runs_does_not_matter(
        (a, shuffled) in sample().prop_flat_map(|a| (Just(a.clone()), Just(a).prop_shuffle())),
        b in sample(),
    ) {
        prop_assert_eq!(once(&a, &b, 5), once(&shuffled, &b, 5));
    }

    #[test]
    fn a_shift_by_bisection_is_that_of_all_differences(a in sample(), b in sample()) {
        let mut all: Vec<i64> = a.iter().flat_map(|x| b.iter().map(move |y| y - x)).collect();
        all.sort_unstable();
        prop_assert_eq!(hodges_lehmann(&a, &b), median(&all));
    }
}
