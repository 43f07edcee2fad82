//! The statistics against SciPy's, on fixed samples.
//!
//! `stats_reference.json` comes from `stats_reference.py`, which says how to
//! run it.

use bootlap_analysis::stats::{effect, hodges_lehmann, mad, median, rank};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    name: String,
    before: Vec<i64>,
    after: Vec<i64>,
    median: [f64; 2],
    mad: [f64; 2],
    shift: f64,
    rank: Rank,
    mann_whitney: Option<f64>,
    interval: Option<[f64; 2]>,
}

/// Permutation tests of the rank sum.
#[derive(Deserialize)]
struct Rank {
    /// Whether SciPy went through all permutations or drew some.
    exact: bool,
    two_sided: f64,
    greater: f64,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("stats_reference.json")).unwrap()
}

/// The crate rounds halves of a nanosecond towards 0.
fn assert_rounds_to(exact: f64, ours: Option<i64>, name: &str) {
    assert_eq!(ours, Some(exact.trunc() as i64), "{name}: {exact}");
}

#[test]
fn medians_and_shifts_are_scipys() {
    for case in cases() {
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
fn rank_tests_are_scipys() {
    for case in cases() {
        let (a, b) = (&case.before, &case.after);
        let tolerance = if case.rank.exact { 1e-9 } else { 0.01 };
        let pairs = [
            (case.rank.two_sided, rank::two_sided(a, b, 1)),
            (case.rank.greater, rank::greater(a, b, 1)),
        ];
        for (scipys, ours) in pairs {
            let name = &case.name;
            assert!(
                (scipys - ours).abs() <= tolerance,
                "{name}: {scipys} {ours}"
            );
        }
        if let (Some(scipys), true) = (case.mann_whitney, a.len() + b.len() <= 60) {
            let ours = rank::two_sided(a, b, 1);
            assert!(
                (scipys - ours).abs() < 1e-9,
                "{}: {scipys} {ours}",
                case.name
            );
        }
    }
}

#[test]
fn bootstrap_intervals_are_scipys_within_what_chance_allows() {
    for case in cases() {
        let Some([low, high]) = case.interval else {
            continue;
        };
        let ours = effect(&case.before, &case.after, 0, 1).interval_ns;
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
