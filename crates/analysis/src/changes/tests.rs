//! What is found, and how often something is found where nothing is.

use proptest::prelude::*;

use super::*;

/// Random numbers that are the same each time.
struct Noise(u64);

impl Noise {
    /// Between 0 and 1.
    fn uniform(&mut self) -> f64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Of mean 0 and deviation 1, nearly normal.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

fn at(series: &[f64]) -> Vec<usize> {
    places(series, Kind::Measured(0.0))
}

fn places(series: &[f64], kind: Kind) -> Vec<usize> {
    let changes = changes(series, kind, &Sensitivity::default());
    changes.iter().map(|c| c.at).collect()
}

#[test]
fn a_step_is_found_where_it_is() {
    let mut noise = Noise(1);
    let mut series: Vec<f64> = (0..30).map(|_| 1000.0 + noise.normal()).collect();
    series.extend((0..30).map(|_| 1010.0 + noise.normal()));
    let found = changes(&series, Kind::Measured(0.0), &Sensitivity::default());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].at, 30);
    assert!((found[0].share() - 0.01).abs() < 0.001, "{found:?}");
    assert!((0.7..1.6).contains(&found[0].noise), "{found:?}");
}

#[test]
fn simulated_time_needs_no_more_than_one_result() {
    let at = |series: &[f64]| places(series, Kind::Simulated);
    assert_eq!(at(&[5.0; 40]), Vec::<usize>::new());
    let mut series = vec![1_348_007_602.0; 6];
    series.push(1_348_007_603.0);
    assert_eq!(at(&series), [6]);
    let series = [7.0, 7.0, 7.0, 9.0, 9.0, 9.0, 8.0, 8.0, 8.0];
    assert_eq!(at(&series), [3, 6]);
    // There and back again.
    let level = |i: usize| match i {
        0..5 => 0.0,
        5..14 => 975.0,
        14..31 => 191.0,
        _ => 745.0,
    };
    assert_eq!(at(&(0..47).map(level).collect::<Vec<_>>()), [5, 14, 31]);
}

#[test]
fn a_clock_that_ticks_does_not_change_anything() {
    assert_eq!(at(&[4.000e9, 4.000e9, 4.001e9]), Vec::<usize>::new());
    let mut ticks = vec![4.000e9; 12];
    ticks.extend([4.001e9, 4.001e9, 4.001e9]);
    assert_eq!(at(&ticks), Vec::<usize>::new());
    // Five ticks are more than a clock's unit.
    ticks.extend([4.006e9; 4]);
    assert_eq!(at(&ticks), [15]);
}

#[test]
fn a_staircase_is_named_step_by_step() {
    let series = [5.556, 5.551, 4.2, 4.21, 4.195, 1.35, 1.345, 1.347].map(|s: f64| s * 1e9);
    assert_eq!(places(&series, Kind::Measured(5e6)), [2, 5]);
    // Also where each result is a step; of the first and the last one alone
    // nobody knows whether they are outliers.
    let series = [5.556, 4.9, 4.2, 3.6, 2.9, 2.3, 1.8, 1.345].map(|s: f64| s * 1e9);
    assert_eq!(places(&series, Kind::Measured(5e6)), [2, 3, 4, 5, 6]);
}

#[test]
fn a_small_change_can_be_left_out() {
    let series: Vec<f64> = (0..40)
        .map(|i| if i < 20 { 1000.0 } else { 1001.0 })
        .collect();
    assert_eq!(places(&series, Kind::Simulated), [20]);
    let only_large = Sensitivity { least: 0.01 };
    assert_eq!(changes(&series, Kind::Simulated, &only_large), []);
}

#[test]
fn a_long_history_does_not_hide_a_change() {
    let mut noise = Noise(3);
    let level = |i: usize| match i {
        0..220 => 100.0,
        220..230 => 104.0,
        _ => 101.5,
    };
    let series: Vec<f64> = (0..400).map(|i| level(i) + 0.5 * noise.normal()).collect();
    assert_eq!(at(&series), [220, 230]);
}

/// Noise of any shape makes no changes: at most one in a thousand results.
#[test]
fn without_a_change_hardly_any_is_found() {
    /// The noise of one result, from that of the one before.
    type Shape = fn(&mut Noise, f64) -> f64;
    let shapes: [(&str, Shape); 6] = [
        ("normal", |n, _| n.normal()),
        ("ticks", |n, _| (0.4 + 0.3 * n.normal()).round()),
        ("outliers", |n, _| {
            let far = if n.uniform() < 0.03 {
                10.0 + 20.0 * n.uniform()
            } else {
                0.0
            };
            n.normal() + far
        }),
        ("following", |n, before| 0.3 * before + 0.954 * n.normal()),
        ("two heaps", |n, _| {
            n.normal() + if n.uniform() < 0.3 { 6.0 } else { 0.0 }
        }),
        ("skewed", |n, _| (0.75 * n.normal()).exp()),
    ];
    for (name, shape) in shapes {
        let mut noise = Noise(7919);
        let (mut false_changes, series, results) = (0, 100, 100);
        for _ in 0..series {
            let mut last = 0.0;
            let values = (0..results).map(|_| {
                last = shape(&mut noise, last);
                (4000.0 + last) * 1e6
            });
            false_changes += at(&values.map(f64::round).collect::<Vec<f64>>()).len();
        }
        assert!(
            false_changes * 1000 <= series * results,
            "{name}: {false_changes}"
        );
    }
}

/// And five deviations, where the noise is known, are found two results later.
#[test]
fn a_change_of_five_deviations_is_found_soon() {
    let found = |after: usize| {
        let found = (0..200).filter(|seed| {
            let mut noise = Noise(seed * 104_729);
            let level = |i: usize| if i < 60 { 1000.0 } else { 1005.0 };
            let series: Vec<f64> = (0..60 + after).map(|i| level(i) + noise.normal()).collect();
            at(&series).iter().any(|at| at.abs_diff(60) <= 1)
        });
        found.count()
    };
    let found = [1, 2, 3, 5].map(found);
    assert!(
        found[0] < 10 && found[1] >= 150 && found[2] >= 180 && found[3] >= 198,
        "{found:?}"
    );
}

#[test]
fn nothing_and_no_numbers_have_no_change() {
    for series in [&[][..], &[1.0], &[1.0, 2.0], &[1.0, f64::NAN, 2.0, 2.0]] {
        assert_eq!(at(series), Vec::<usize>::new());
    }
}

proptest! {
    /// Neither the unit nor an offset matters.
    #[test]
    fn units_do_not_matter(
        steps in prop::collection::vec((5_usize..20, 0_u32..1000), 1..5), noisy in any::<bool>(),
    ) {
        let mut noise = Noise(5);
        let level = |&(n, level): &(usize, u32)| std::iter::repeat_n(f64::from(level), n);
        let series: Vec<f64> = steps.iter().flat_map(level).collect();
        let noise = |v: &f64| if noisy { v + (1e3 * noise.normal()).round() / 1e2 } else { *v };
        let series: Vec<f64> = series.iter().map(noise).collect();
        let scaled: Vec<f64> = series.iter().map(|v| v * 1024.0 + 4096.0).collect();
        let at = |series: &[f64]| places(series, Kind::Simulated);
        prop_assert_eq!(at(&series), at(&scaled));
        if !noisy {
            // Steps without noise are found exactly.
            let jumps: Vec<usize> = (1..series.len()).filter(|&i| series[i] != series[i - 1]).collect();
            prop_assert_eq!(at(&series), jumps);
        }
    }

    /// Changes are in order, inside the series, and the levels are of what lies
    /// between them.
    #[test]
    fn any_series_is_cut_into_stretches(series in prop::collection::vec(-1e9_f64..1e9, 0..80)) {
        let found = changes(&series, Kind::Measured(1.0), &Sensitivity::default());
        let mut last = 0;
        for change in &found {
            prop_assert!(change.at > last && change.at < series.len());
            prop_assert!(change.noise >= 1.0);
            prop_assert_eq!(change.before, median(&series[last..change.at]));
            last = change.at;
        }
    }
}
