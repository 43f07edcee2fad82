//! The statistics against SciPy's, on fixed samples.
//!
//! `stats_reference.json` comes from `stats_reference.py`, which says how to
//! run it.

use bootlap_analysis::stats::{
    ALPHA, Effect, Question, Round, Shape, Stage, Verdict, bootstrap, effect, effect_in_blocks,
    hodges_lehmann, holm, mad, median, rank,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    cases: Vec<Case>,
    rounds: Vec<Rounds>,
    levels: Vec<(f64, [f64; 3])>,
    levels_between: Vec<(f64, [f64; 3])>,
    holm: Vec<Holm>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    before: Vec<i64>,
    after: Vec<i64>,
    median: [f64; 2],
    mad: [f64; 2],
    outliers: Option<[Vec<usize>; 2]>,
    shift: f64,
    greater: f64,
    two_sided: f64,
    mann_whitney: Option<f64>,
    permutations: Option<f64>,
    interval: Option<[i64; 2]>,
    /// Margins, and the larger p of two one-sided tests.
    within: Vec<(i64, f64)>,
    bootstrap: Option<[f64; 2]>,
}

#[derive(Deserialize)]
struct Rounds {
    name: String,
    rounds: Vec<(Vec<i64>, Vec<i64>)>,
    shift: f64,
    p: f64,
    interval: Option<[i64; 2]>,
}

#[derive(Deserialize)]
struct Holm {
    p: Vec<f64>,
    corrected: Vec<f64>,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("stats_reference.json")).unwrap()
}

/// The crate rounds halves of a nanosecond towards 0.
fn assert_rounds_to(exact: f64, ours: Option<i64>, name: &str) {
    assert_eq!(ours, Some(exact.trunc() as i64), "{name}: {exact}");
}

#[track_caller]
fn assert_close(scipys: f64, ours: f64, relative: f64, name: &str) {
    let difference = (scipys - ours).abs();
    assert!(
        difference <= relative * scipys.abs(),
        "{name}: {scipys} {ours}"
    );
}

fn whole(effect: &Effect) -> bool {
    effect.confidence >= 1.0 - ALPHA - 1e-9
}

#[test]
fn medians_and_shifts_are_scipys() {
    for case in reference().cases {
        for (i, sample) in [&case.before, &case.after].into_iter().enumerate() {
            assert_rounds_to(case.median[i], median(sample), &case.name);
            // Deviations from a rounded median are off by up to half as well.
            let ours = mad(sample).unwrap() as f64;
            assert!((case.mad[i] - ours).abs() <= 1.0, "{}", case.name);
        }
        let shift = hodges_lehmann(&case.before, &case.after);
        assert_rounds_to(case.shift, shift, &case.name);
    }
}

#[test]
fn outliers_are_those_of_scipys_deviation() {
    let mut found = 0;
    for case in reference().cases {
        let Some(outliers) = case.outliers else {
            continue;
        };
        for (sample, outliers) in [&case.before, &case.after].into_iter().zip(outliers) {
            let shape = Shape::of(sample);
            assert_eq!((shape.modes, &shape.outliers), (None, &outliers));
            found += outliers.len();
        }
    }
    assert!(found >= 10, "{found}");
}

#[test]
fn rank_tests_are_scipys() {
    for case in reference().cases {
        let (a, b, name) = (&case.before, &case.after, &case.name);
        let ours = rank::two_sided(a, b);
        assert_close(case.two_sided, ours, 1e-9, name);
        assert_eq!(effect(a, b, &Question::once(0)).p, ours);
        if let Some(scipys) = case.mann_whitney {
            assert_close(scipys, ours, 1e-9, name);
        }
        match case.permutations {
            // Ties between the sides count against a claim.
            Some(scipys) if name.contains("ties") && name != "no ties" => {
                assert!(ours >= scipys, "{name}: {scipys} {ours}");
            }
            Some(scipys) => assert_close(scipys, ours, 1e-9, name),
            None => {}
        }
        // The crate does not tell p values above one half apart.
        if case.greater < 0.49 {
            assert_close(case.greater, rank::greater(a, b), 1e-9, name);
        }
    }
}

#[test]
fn intervals_are_what_scipys_test_does_not_reject() {
    let mut compared = 0;
    for case in reference().cases.iter().filter(|c| c.before.len() <= 40) {
        let ours = effect(&case.before, &case.after, &Question::once(0));
        assert_eq!(
            whole(&ours).then_some(ours.interval_ns),
            case.interval,
            "{}",
            case.name
        );
        compared += usize::from(case.interval.is_some());
    }
    assert_eq!(compared, 6);
}

#[test]
fn equivalent_is_what_two_one_sided_tests_say() {
    let mut verdicts = 0;
    for case in reference().cases {
        for (margin_ns, p) in case.within {
            let ours = effect(&case.before, &case.after, &Question::once(margin_ns));
            let name = format!("{} ± {margin_ns}: {p}", case.name);
            assert_eq!(
                ours.verdict == Verdict::Equivalent,
                p <= ALPHA / 2.0,
                "{name}"
            );
            verdicts += usize::from(p <= ALPHA / 2.0);
        }
    }
    assert!(verdicts >= 6, "{verdicts}");
}

#[test]
fn rounds_are_what_counting_all_orders_says() {
    for case in reference().rounds {
        let rounds = case.rounds.into_iter();
        let rounds: Vec<Round> = rounds
            .map(|(before, after)| Round { before, after })
            .collect();
        let ours = effect_in_blocks(&rounds, &Question::once(0));
        assert_rounds_to(case.shift, Some(ours.shift_ns), &case.name);
        assert_close(case.p, ours.p, 1e-9, &case.name);
        let interval = whole(&ours).then_some(ours.interval_ns);
        assert_eq!(interval, case.interval, "{}", case.name);
    }
}

#[test]
fn the_looks_spend_what_they_may() {
    let reference = reference();
    let check = |levels: &[(f64, [f64; 3])], tolerance: fn(f64) -> f64| {
        for (alpha, expected) in levels {
            let stages = [Stage::First, Stage::Second, Stage::Last];
            for (stage, expected) in stages.into_iter().zip(expected) {
                let name = format!("{stage:?} of {alpha}");
                let tolerance = tolerance(*alpha);
                assert_close(*expected, stage.level(*alpha), tolerance, &name);
            }
        }
    };
    check(&reference.levels, |_| 1e-5);
    // Between the rows of the table it is interpolated; finely only where
    // somebody decides by it.
    let tolerance = |alpha| if alpha < ALPHA { 0.005 } else { 0.02 };
    check(&reference.levels_between, tolerance);
}

#[test]
fn corrections_are_those_of_statsmodels() {
    for case in reference().holm {
        for (ours, expected) in holm(&case.p).iter().zip(&case.corrected) {
            assert_close(*expected, *ours, 1e-12, &format!("{:?}", case.p));
        }
    }
}

#[test]
fn bootstrap_intervals_are_scipys_within_what_chance_allows() {
    for case in reference().cases {
        let Some([low, high]) = case.bootstrap else {
            continue;
        };
        let ours = bootstrap::interval(&case.before, &case.after, 1).unwrap();
        // 5 % of the interval: four thousand replicates against fifty thousand.
        let tolerance = 0.05 * (high - low);
        for (scipys, ours) in [(low, ours[0]), (high, ours[1])] {
            let name = &case.name;
            let difference = (scipys - ours as f64).abs();
            assert!(
                difference <= tolerance,
                "{name}: {scipys} {ours} ± {tolerance}"
            );
        }
    }
}
