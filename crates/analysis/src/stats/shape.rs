//! What a median and an interval hide: boots far from the others, and two
//! kinds of boots.
//!
//! Real boards often have two times, not one wide one: a network that answers
//! at once or after a retry, a file system that is checked or is not. Half of
//! a change of such a board is how often each happens, so it has to be said.
//! Nothing here changes a sample: what is flagged still counts.

use schemars::JsonSchema;
use serde::Serialize;

use super::median;

/// From this modified z-score on a value is an outlier (Iglewicz and Hoaglin
/// 1993).
const FAR: f64 = 3.5;
/// Fewer values have no outliers: their spread is anybody's guess.
const FEWEST: usize = 5;

/// Fewer values have no clusters.
const FEWEST_OF_TWO: usize = 6;
/// A cluster has at least two values, and this share of all: a longer tail is
/// no cluster.
const LEAST_SHARE: f64 = 0.2;
/// From so many values on, clusters are also looked for without the smallest
/// and the largest value: one outlier would make its cluster look wide.
const ENOUGH_TO_TRIM: usize = 10;
/// Clusters closer than this share of the time are of no interest; without it
/// two ticks of a coarse clock were two clusters.
const LEAST_DISTANCE: f64 = 0.001;

/// What a sample looks like.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Shape {
    /// Indices of values that are far from the others (of their cluster), in
    /// order: |value − median| / MAD · 0.6745 > 3.5.
    pub outliers: Vec<usize>,
    /// Two clusters instead of one, the faster first. Outliers count in the
    /// cluster that they are next to.
    pub modes: Option<[Mode; 2]>,
}

/// A cluster of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ModeJson")]
pub struct Mode {
    /// Its median.
    pub median_ns: i64,
    /// How many boots it has.
    pub samples: usize,
}

impl Shape {
    /// The shape of a sample, in any order.
    pub fn of(values: &[i64]) -> Self {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by_key(|&at| (values[at], at));
        let sorted: Vec<i64> = order.iter().map(|&at| values[at]).collect();
        let split = split(&sorted);
        let clusters = match split {
            Some(at) => vec![&sorted[..at], &sorted[at..]],
            None => vec![&sorted[..]],
        };
        let mut outliers = outliers(&clusters);
        outliers.iter_mut().for_each(|place| *place = order[*place]);
        outliers.sort_unstable();
        let mode = |values: &[i64]| Mode {
            median_ns: median(values).unwrap_or(0),
            samples: values.len(),
        };
        Self {
            outliers,
            modes: split.map(|at| [mode(&sorted[..at]), mode(&sorted[at..])]),
        }
    }
}

/// Which values are far from the median of their cluster, measured by the
/// spread of the cluster or of both, whichever is wider: a few values that
/// happen to lie close together would make the next one an outlier.
fn outliers(clusters: &[&[i64]]) -> Vec<usize> {
    if clusters.iter().map(|c| c.len()).sum::<usize>() < FEWEST {
        return Vec::new();
    }
    let away = |values: &&[i64]| -> Vec<f64> {
        let middle = median(values).unwrap_or(0);
        values.iter().map(|v| v.abs_diff(middle) as f64).collect()
    };
    let away: Vec<Vec<f64>> = clusters.iter().map(away).collect();
    let both = deviation(&away.concat());
    let far = away.iter().flat_map(|cluster| {
        let unit = deviation(cluster).max(both);
        cluster.iter().map(move |away| *away > FAR * unit)
    });
    let far = far.enumerate().filter(|(_, far)| *far);
    far.map(|(at, _)| at).collect()
}

/// The standard deviation of a normal sample with these distances from its
/// median: by their median, or by their mean if most of them are 0.
fn deviation(away: &[f64]) -> f64 {
    let mut sorted = away.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len();
    let mad = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
    let mean = sorted.iter().sum::<f64>() / n as f64;
    if mad > 0.0 {
        mad / 0.6745
    } else {
        mean * 1.2533
    }
}

/// How many sorted values belong to the lower of two clusters.
///
/// For each way to cut the values in two: how far are the means apart, in
/// standard deviations of the wider cluster? The wider one, because the two
/// parts of a skewed sample differ in width, and its tail is no cluster. A
/// sample from one hump reaches the limit rarely (`docs/tables/verdicts.md`);
/// the worst is the uniform, whose halves are 3.46 apart.
fn split(sorted: &[i64]) -> Option<usize> {
    let n = sorted.len();
    if n < FEWEST_OF_TWO {
        return None;
    }
    let limit = 3.8 + 20.0 / (n as f64 - 1.0);
    let trims: &[[usize; 2]] = match n >= ENOUGH_TO_TRIM {
        true => &[[0, 0], [0, 1], [1, 0], [1, 1]],
        false => &[[0, 0]],
    };
    let cuts = trims
        .iter()
        .filter_map(|&[low, high]| best_cut(sorted, low, n - high));
    let (apart, at) = cuts.reduce(|a, b| if b.0 > a.0 { b } else { a })?;
    let medians = [&sorted[..at], &sorted[at..]].map(|half| median(half).unwrap_or(0));
    let distance = medians[0].abs_diff(medians[1]) as f64;
    let time = medians.map(i64::unsigned_abs).into_iter().max()? as f64;
    (apart > limit && distance > LEAST_DISTANCE * time).then_some(at)
}

/// The cut of `sorted[from..to]` whose parts are farthest apart, and how far.
fn best_cut(sorted: &[i64], from: usize, to: usize) -> Option<(f64, usize)> {
    let middle = i128::from(sorted[sorted.len() / 2]);
    let values = sorted[from..to]
        .iter()
        .map(|&v| (i128::from(v) - middle) as f64);
    let values: Vec<f64> = values.collect();
    let least = ((sorted.len() as f64 * LEAST_SHARE).ceil() as usize).max(2);
    let mut best = None;
    for at in least..=values.len().checked_sub(least)? {
        // Between equal values there is no cut.
        if values[at - 1] == values[at] {
            continue;
        }
        let (low, high) = (moments(&values[..at]), moments(&values[at..]));
        let apart = (high.0 - low.0) / low.1.max(high.1);
        if best.is_none_or(|(most, _)| apart > most) {
            best = Some((apart, from + at));
        }
    }
    best
}

/// Mean and standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|v| (v - mean) * (v - mean));
    (mean, (squares.sum::<f64>() / (n - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: i64 = 1_000_000;

    fn ms(values: &[i64]) -> Vec<i64> {
        values.iter().map(|v| v * MS).collect()
    }

    #[test]
    fn two_clusters_are_two_and_one_is_one() {
        let two = ms(&[2104, 2449, 2098, 2110, 2455, 2101, 2095, 2451, 2106, 2102]);
        let shape = Shape::of(&two);
        let modes = [(2102, 7), (2451, 3)].map(|(at, samples)| Mode {
            median_ns: at * MS,
            samples,
        });
        assert_eq!(shape.modes, Some(modes));
        assert!(shape.outliers.is_empty());
        let one = ms(&[2104, 2097, 2098, 2110, 2092, 2101, 2095, 2108, 2106, 2102]);
        assert_eq!(Shape::of(&one), Shape::default());
    }

    #[test]
    fn an_outlier_is_flagged_and_hides_no_cluster() {
        let mut values = ms(&[2104, 2449, 2098, 2110, 2455, 2101, 2095, 2451, 2106, 2102]);
        values.insert(3, 9000 * MS);
        values.extend(ms(&[2450, 2447]));
        let shape = Shape::of(&values);
        assert_eq!(shape.modes.map(|m| m.map(|m| m.samples)), Some([7, 6]));
        assert_eq!(shape.outliers, [3]);
        // One value far away is no cluster.
        let one = ms(&[2104, 2097, 2098, 2110, 2092, 2101, 2095, 3108]);
        assert_eq!(
            (Shape::of(&one).modes, Shape::of(&one).outliers),
            (None, vec![7])
        );
    }

    #[test]
    fn equal_values_and_few_values_have_no_shape() {
        for values in [&[][..], &[7], &[7; 50], &[1, 2, 3, 90], &[1, 1, 9, 9, 9]] {
            assert_eq!(Shape::of(values), Shape::default(), "{values:?}");
        }
        // Equal but for one: it is far, whatever the distance.
        assert_eq!(Shape::of(&[5, 5, 5, 6, 5, 5]).outliers, [3]);
        // Two times to the nanosecond, as simulated boots have them.
        let two = ms(&[400, 300, 400, 300, 300, 400, 400]);
        let modes = Shape::of(&two).modes.unwrap();
        assert_eq!(modes.map(|m| m.samples), [3, 4]);
        // Two ticks of a clock of milliseconds.
        let ticks = ms(&[4123, 4124, 4123, 4124, 4123, 4124, 4124]);
        assert_eq!(Shape::of(&ticks), Shape::default());
    }

    #[test]
    fn the_ends_of_the_number_line_do_not_overflow() {
        let ends = [i64::MIN, i64::MAX, i64::MIN, i64::MAX, i64::MIN, i64::MAX];
        assert_eq!(
            Shape::of(&ends).modes.map(|m| m[1].median_ns),
            Some(i64::MAX)
        );
        assert_eq!(Shape::of(&[0, 0, 0, 0, 0, i64::MIN]).outliers, [5]);
    }

    proptest! {
        #[test]
        fn a_shape_follows_its_values(
            values in prop::collection::vec(prop_oneof![0..20i64, any::<i32>().prop_map(i64::from)], 0..40),
        ) {
            let shape = Shape::of(&values);
            if let Some([low, high]) = shape.modes {
                prop_assert_eq!(low.samples + high.samples, values.len());
                prop_assert!(low.median_ns < high.median_ns);
                prop_assert!(low.samples.min(high.samples) * 5 >= values.len());
            }
            let reversed: Vec<i64> = values.iter().rev().copied().collect();
            let back = Shape::of(&reversed);
            prop_assert_eq!(back.modes, shape.modes);
            let far = |s: &Shape, v: &[i64]| {
                let mut far: Vec<i64> = s.outliers.iter().map(|&at| v[at]).collect();
                far.sort_unstable();
                far
            };
            prop_assert_eq!(far(&back, &reversed), far(&shape, &values));
        }
    }

    #[test]
    fn spreads_are_those_of_the_textbook() {
        assert_eq!(deviation(&[9.0, 1.0, 4.0, 2.0]), 3.0 / 0.6745);
        assert_eq!(deviation(&[5.0, 1.0, 3.0]), 3.0 / 0.6745);
        // Where most are at the median: by the mean.
        assert_eq!(deviation(&[0.0, 4.0, 0.0, 0.0]), 1.2533);
        assert_eq!(moments(&[2.0, 4.0, 9.0]), (5.0, 13.0_f64.sqrt()));
    }
}
