//! The statistics against SciPy's, on fixed samples.
//!
//! `stats_reference.json` comes from `stats_reference.py`, which says how to
//! run it.

use bootlap_analysis::stats::{
    ALPHA, Question, Shape, Stage, bootstrap, effect, effect_of_pairs, hodges_lehmann, holm, mad,
    median,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    cases: Vec<Case>,
    pairs: Vec<Paired>,
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
    /// Whether neither side is far wider or smaller than the other.
    alike: bool,
    /// Whether all orders were counted.
    exact: bool,
    p: f64,
    interval: Option<[i64; 2]>,
    bootstrap: Option<[f64; 2]>,
}

#[derive(Deserialize)]
struct Paired {
    name: String,
    pairs: Vec<(i64, i64)>,
    /// Whether all orders were counted.
    exact: bool,
    shift: f64,
    p: f64,
    interval: Option<[f64; 2]>,
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
fn p_is_that_of_brunner_and_munzels_statistic_among_all_orders() {
    let mut compared = [0, 0];
    for case in reference().cases.iter().filter(|c| c.alike) {
        let ours = effect(&case.before, &case.after, &Question::once(0));
        let name = &case.name;
        // Where orders are drawn, SciPy's is an approximation, and so is ours.
        let tolerance = if case.exact { 1e-9 } else { 0.25 };
        assert_close(case.p, ours.p, tolerance, name);
        compared[usize::from(case.exact)] += 1;
    }
    assert!(compared[0] >= 3 && compared[1] >= 3, "{compared:?}");
}

#[test]
fn intervals_are_what_that_test_does_not_reject() {
    let mut compared = 0;
    let cases = reference().cases.into_iter().filter(|c| c.alike);
    for (case, interval) in cases.filter_map(|c| Some((c.interval?, c)).map(|(i, c)| (c, i))) {
        let ours = effect(&case.before, &case.after, &Question::once(0));
        assert_eq!(ours.interval_ns, interval, "{}", case.name);
        compared += 1;
    }
    assert!(compared >= 2, "{compared}");
}

#[test]
fn pairs_are_what_wilcoxons_test_and_that_of_two_samples_say() {
    for case in reference().pairs {
        let ours = effect_of_pairs(&case.pairs, &Question::once(0));
        let off = (case.shift - ours.shift_ns as f64).abs();
        assert!(off < 1.0 || case.pairs.len() < 7, "{}", case.name);
        let tolerance = if case.exact { 1e-9 } else { 0.25 };
        assert_close(case.p, ours.p, tolerance, &case.name);
        let Some(interval) = case.interval else {
            continue;
        };
        let ours = ours.interval_ns.map(|ns| ns as f64);
        assert_eq!(ours, interval, "{}", case.name);
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
