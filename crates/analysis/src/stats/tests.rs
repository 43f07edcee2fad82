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
    assert!((0.999..1.0).contains(&eight.confidence));
    let (among, between) = (
        [0, 17, 37, 52, 71, 90, 107, 131],
        [8, 26, 41, 60, 79, 99, 120, 140],
    );
    assert!((0.95..0.96).contains(&once(&among, &between, 0).confidence));
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
    // Also where one side is far wider.
    let wide: Vec<i64> = (0..3000).map(|i| i * 9).collect();
    assert_eq!(verdict_of(&before, &wide, 0), Verdict::Slower);
}

#[test]
fn what_pairs_have_in_common_hides_nothing() {
    // 10 ns faster, while the machine warms up by 1000 ns a round.
    let pairs: Vec<(i64, i64)> = (0..8).map(|n| (1000 * n, 1000 * n - 10 + n % 3)).collect();
    let question = Question::once(1);
    let paired = effect_of_pairs(&pairs, &question);
    assert_eq!((paired.shift_ns, paired.verdict), (-9, Verdict::Faster));
    assert_eq!(paired.samples, [8, 8]);
    let (before, after): (Vec<i64>, Vec<i64>) = pairs.into_iter().unzip();
    assert_eq!(effect(&before, &after, &question).verdict, Verdict::Unknown);
}

#[test]
fn two_heaps_of_layouts_are_equivalent_to_themselves() {
    let heaps = [1193, 1186, 1193, 1186, 1186, 1193, 1186, 1193].map(|ms| ms * 1_000_000);
    let pairs: Vec<(i64, i64)> = heaps.iter().map(|ns| (*ns, *ns)).collect();
    let margin = Question::once(600_000);
    assert_eq!(
        effect_of_pairs(&pairs, &margin).verdict,
        Verdict::Equivalent
    );
    assert_eq!(effect(&heaps, &heaps, &margin).verdict, Verdict::Unknown);
    // Six say so only by themselves.
    let six = effect_of_pairs_alone(&pairs[..6], &margin);
    assert_eq!(
        (six.verdict, six.interval_ns),
        (Verdict::Equivalent, [0, 0])
    );
    assert_eq!(
        effect_of_pairs(&pairs[..6], &margin).verdict,
        Verdict::Unknown
    );
}

#[test]
fn few_pairs_are_two_samples() {
    let pairs = [(9, 2), (8, 3), (9, 2), (8, 3)];
    let paired = effect_of_pairs(&pairs, &Question::once(1));
    assert_eq!(paired, once(&[9, 8, 9, 8], &[2, 3, 2, 3], 1));
    assert_eq!(paired.verdict, Verdict::Faster);
    assert_eq!(
        effect_of_pairs(&[], &Question::once(9)).verdict,
        Verdict::Unknown
    );
}

#[test]
fn a_side_that_varies_far_more_is_counted_by_its_own_boots() {
    // Seven of eight above a side that hardly varies: heads in seven of eight.
    let narrow = [100, 101, 100, 102, 101, 100, 101, 102];
    let wide = [60, 130, 150, 180, 140, 160, 190, 170];
    let coin = once(&narrow, &wide, 0);
    assert_eq!(coin.verdict, Verdict::Unknown);
    assert!((coin.p - 18.0 / 256.0).abs() < 1e-9, "{}", coin.p);
    // Few, beside many, must be farther off than they are from each other.
    let many: Vec<i64> = (0..30).map(|i| 100 + i % 5).collect();
    assert_eq!(
        verdict_of(&many, &[110, 125, 120, 140], 0),
        Verdict::Unknown
    );
    assert_eq!(verdict_of(&many, &[150, 155, 160, 151], 0), Verdict::Slower);
    assert_eq!(verdict_of(&many, &[150, 155, 160], 0), Verdict::Unknown);
}

#[test]
fn what_two_sessions_may_differ_by_is_no_change() {
    let day = [1000, 1010, 990, 1005, 995, 1008, 992, 1001];
    let other = |by: i64| day.map(|v| v + by);
    let of_sessions = |by: i64| once(&day, &other(by), 0).of_sessions(&day, &other(by));
    // In turns it would be a change; after each other it may be the day.
    assert_eq!(verdict_of(&day, &other(18), 0), Verdict::Slower);
    let little = of_sessions(18);
    assert_eq!(little.verdict, Verdict::Unknown);
    assert_eq!(
        little.sessions,
        Some(Sessions {
            apart_ns: 11,
            drift_ns: 0
        })
    );
    assert_eq!(little.interval_ns, once(&day, &other(18), 0).interval_ns);
    assert_eq!(of_sessions(60).verdict, Verdict::Slower);
    // A board that gets slower all the time would have gone on to.
    let warm: Vec<i64> = (0..8).map(|i| 1000 + 10 * i + i * i % 3).collect();
    let warmer: Vec<i64> = (8..16).map(|i| 1000 + 10 * i + i * i % 3).collect();
    let drifting = once(&warm, &warmer, 0).of_sessions(&warm, &warmer);
    assert_eq!(drifting.verdict, Verdict::Unknown);
    assert!(drifting.sessions.unwrap().drift_ns >= 75);
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
        before in sample(), after in sample(), paired in any::<bool>(),
        margin_ns in 0..1000i64, stage in stage(),
    ) {
        let question = Question { margin_ns, alpha: ALPHA, stage };
        let e = match paired {
            true => {
                let pairs = before.iter().copied().zip(after.iter().copied());
                effect_of_pairs(&pairs.collect::<Vec<(i64, i64)>>(), &question)
            }
            false => effect(&before, &after, &question),
        };
        let [low, high] = e.interval_ns;
        prop_assert!(low <= e.shift_ns && e.shift_ns <= high);
        prop_assert!(0.0 < e.p && e.p <= 1.0);
        prop_assert!((0.0..1.0).contains(&e.confidence));
        let holds = e.confidence >= 1.0 - stage.level(ALPHA) - 1e-9
            && e.samples.iter().all(|n| *n >= FEWEST);
        let excludes = low > 0 || high < 0;
        if holds {
            prop_assert_eq!(e.p <= ALPHA, excludes);
        }
        let within = -margin_ns < low && high < margin_ns;
        prop_assert_eq!(e.verdict == Verdict::Equivalent, holds && within);
        let claims = holds && excludes && !within;
        prop_assert_eq!(e.verdict == Verdict::Faster, claims && high < 0);
        prop_assert_eq!(e.verdict == Verdict::Slower, claims && low > 0);
    }

    #[test]
    fn the_interval_is_what_the_test_does_not_reject(a in sample(), b in sample()) {
        let e = once(&a, &b, 0);
        if e.confidence >= 0.95 && a.len().min(b.len()) >= FEWEST {
            let rejects = |shift: i64| {
                let moved: Vec<i64> = b.iter().map(|v| v - shift).collect();
                once(&a, &moved, 0).p <= ALPHA
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

/// A test that found this, and could.
fn found(shift_ns: i64, interval_ns: [i64; 2], p: f64, can: bool) -> Found {
    Found {
        shift_ns,
        interval_ns,
        error: 0.025,
        can,
        p,
        samples: [8, 8],
    }
}

#[test]
fn two_tests_share_the_error_and_the_interval() {
    let both = found(5, [0, 10], 0.01, true).and(found(6, [3, 12], 0.04, true));
    assert_eq!((both.shift_ns, both.interval_ns), (5, [3, 10]));
    assert_eq!((both.p, both.error), (0.02, 0.05));
    // The ends may be the shift itself.
    let touching = found(5, [5, 10], 0.01, true).and(found(6, [0, 5], 0.04, true));
    assert_eq!((touching.interval_ns, touching.error), ([5, 5], 0.05));
    // They do not agree: the first one counts, for what it is worth.
    let apart = found(5, [0, 10], 0.01, true).and(found(20, [15, 30], 0.004, true));
    assert_eq!((apart.interval_ns, apart.error), ([0, 10], 0.025));
    assert_eq!(apart.p, 0.02);
}

#[test]
fn a_test_that_cannot_say_anything_leaves_it_to_the_other() {
    let first = found(5, [0, 10], 0.4, true).and(found(6, [-9, 90], 0.7, false));
    assert_eq!(
        (first.shift_ns, first.interval_ns, first.can),
        (5, [0, 10], true)
    );
    assert_eq!(first.p, 0.8);
    let other = found(5, [-50, 50], 0.7, false).and(found(6, [3, 12], 0.6, true));
    assert_eq!(
        (other.shift_ns, other.interval_ns, other.can),
        (6, [3, 12], true)
    );
    assert_eq!(other.p, 1.0);
}

#[test]
fn a_verdict_needs_the_whole_interval() {
    let question = Question::once(10);
    let of = |interval: [i64; 2]| found(0, interval, 0.01, true).effect(&question).verdict;
    assert_eq!(of([-9, 9]), Verdict::Equivalent);
    assert_eq!(of([-10, 9]), Verdict::Unknown);
    assert_eq!(of([-9, 10]), Verdict::Unknown);
    assert_eq!(of([1, 20]), Verdict::Slower);
    assert_eq!(of([0, 20]), Verdict::Unknown);
    assert_eq!(of([-20, -1]), Verdict::Faster);
    assert_eq!(of([-20, 0]), Verdict::Unknown);
    let words = [
        Verdict::Faster,
        Verdict::Slower,
        Verdict::Equivalent,
        Verdict::Unknown,
    ];
    assert_eq!(
        words.map(Verdict::text),
        ["faster", "slower", "equivalent", "unknown"]
    );
}

#[test]
fn pairs_with_nothing_in_common_are_two_samples() {
    // One side hardly varies; the other has two heaps of 9 and 7.
    let wide = |i: i64| 1_000 + if i % 16 < 9 { i } else { 600 + i };
    let pairs: Vec<(i64, i64)> = (0..16)
        .map(|i| (1_000 + i * 5 % 7, wide(i * 7 % 16)))
        .collect();
    let (before, after): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
    let question = Question::once(0);
    let paired = effect_of_pairs(&pairs, &question);
    assert_eq!(paired, effect(&before, &after, &question));
    // What both sides of each pair share is what pairs are for.
    let alike: Vec<(i64, i64)> = after.iter().map(|v| (*v, 2 * *v - 1_000)).collect();
    let (before, after): (Vec<i64>, Vec<i64>) = alike.iter().copied().unzip();
    assert_ne!(
        effect_of_pairs(&alike, &question),
        effect(&before, &after, &question)
    );
}
