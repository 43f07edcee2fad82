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
    let changes = changes(series, &Sensitivity::default());
    changes.iter().map(|c| c.at).collect()
}

#[test]
fn a_step_is_found_where_it_is() {
    let mut noise = Noise(1);
    let mut series: Vec<f64> = (0..30).map(|_| 1000.0 + noise.normal()).collect();
    series.extend((0..30).map(|_| 1010.0 + noise.normal()));
    let found = changes(&series, &Sensitivity::default());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].at, 30);
    assert!((found[0].share() - 0.01).abs() < 0.001, "{found:?}");
    assert!(found[0].p < 1e-6);
}

#[test]
fn simulated_time_needs_no_more_than_one_result() {
    assert_eq!(at(&[5.0; 40]), Vec::<usize>::new());
    let mut series = vec![1_348_007_602.0; 6];
    series.push(1_348_007_603.0);
    assert_eq!(at(&series), [6]);
    let series = [7.0, 7.0, 7.0, 9.0, 9.0, 9.0, 8.0, 8.0, 8.0];
    assert_eq!(at(&series), [3, 6]);
}

#[test]
fn a_small_change_can_be_left_out() {
    let series: Vec<f64> = (0..40)
        .map(|i| if i < 20 { 1000.0 } else { 1001.0 })
        .collect();
    assert_eq!(at(&series), [20]);
    let only_large = Sensitivity {
        least: 0.01,
        ..Sensitivity::default()
    };
    assert_eq!(changes(&series, &only_large), []);
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

/// A series without a change seldom has one: the split is sought, so more
/// often than p of one test says; its correction makes it 0 of these 400.
#[test]
fn without_a_change_few_are_found() {
    let (mut false_alarms, all) = (0, 400);
    for seed in 0..all {
        let mut noise = Noise(seed * 7919);
        let series: Vec<f64> = (0..60).map(|_| 1000.0 + noise.normal()).collect();
        false_alarms += u64::from(!at(&series).is_empty());
    }
    assert!(false_alarms * 100 <= all, "{false_alarms} of {all}");
}

/// And a change of three deviations is nearly always found, near its place.
#[test]
fn a_change_of_three_deviations_is_found() {
    let (mut found, all) = (0, 100);
    for seed in 0..all {
        let mut noise = Noise(seed * 104_729);
        let level = |i: usize| if i < 40 { 1000.0 } else { 1003.0 };
        let series: Vec<f64> = (0..60).map(|i| level(i) + noise.normal()).collect();
        found += u64::from(at(&series).iter().any(|at| at.abs_diff(40) <= 2));
    }
    assert!(found >= 97, "{found} of {all}");
}

/// There and back again: no split of the whole is significant by its t test.
#[test]
fn steps_without_noise_are_found_even_if_the_whole_shows_none() {
    let level = |i: usize| match i {
        0..5 => 0.0,
        5..14 => 975.0,
        14..31 => 191.0,
        _ => 745.0,
    };
    assert_eq!(at(&(0..47).map(level).collect::<Vec<_>>()), [5, 14, 31]);
}

#[test]
fn nothing_and_no_numbers_have_no_change() {
    for series in [&[][..], &[1.0], &[1.0, 2.0], &[1.0, f64::NAN, 2.0, 2.0]] {
        assert_eq!(at(series), Vec::<usize>::new());
    }
}

proptest! {
    /// Neither the unit nor an offset matters, nor which way time runs for
    /// how many changes there are at least one of.
    #[test]
    fn units_do_not_matter(steps in prop::collection::vec((5_usize..20, 0_u32..1000), 1..5)) {
        let level = |&(n, level): &(usize, u32)| std::iter::repeat_n(f64::from(level), n);
        let series: Vec<f64> = steps.iter().flat_map(level).collect();
        let scaled: Vec<f64> = series.iter().map(|v| v * 1024.0 + 4096.0).collect();
        prop_assert_eq!(at(&series), at(&scaled));
        // Steps without noise are found exactly.
        let jumps: Vec<usize> = (1..series.len()).filter(|&i| series[i] != series[i - 1]).collect();
        prop_assert_eq!(at(&series), jumps);
    }

    /// Changes are in order, inside the series, and the means are of what lies
    /// between them.
    #[test]
    fn any_series_is_cut_into_stretches(series in prop::collection::vec(-1e9_f64..1e9, 0..80)) {
        let found = changes(&series, &Sensitivity { max_p: 0.05, ..Sensitivity::default() });
        let mut last = 0;
        for change in &found {
            prop_assert!(change.at > last && change.at < series.len());
            prop_assert!(change.p <= 0.05 && change.p >= 0.0);
            let before = mean(&series[last..change.at]);
            prop_assert!((change.before - before).abs() <= before.abs() * 1e-9);
            last = change.at;
        }
    }
}
