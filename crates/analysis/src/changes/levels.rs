//! The levels that explain a series best.

/// What a change of level costs, in squared deviations of the noise, if no
/// result follows the one before; more if they do, as noise then looks like
/// levels.
const CHANGE: f64 = 14.0;
const LEAST: f64 = 22.0;
const MOST: f64 = 40.0;
/// A result far off costs so much of a change: one alone makes none.
const OUTLIER: f64 = 0.95;
/// And one that lies between its neighbours so much: an outlier would not.
const BETWEEN: f64 = 1.6;
/// So many deviations of two values are noise.
const NEAR: f64 = 5.0;

/// Where the level changes: indices of the first value of each but the first.
/// `noise` is the standard deviation about a level.
pub(super) fn levels(series: &[f64], noise: f64) -> Vec<usize> {
    // How closely results follow each other shows once the levels are known.
    let first = cheapest(series, noise, LEAST * 1.4);
    let follow = follow(series, &first, noise) + 1.0 / (series.len() as f64).sqrt();
    let follow = follow.clamp(0.0, 0.9);
    let change = CHANGE * (1.0 + follow) / (1.0 - follow);
    cheapest(series, noise, change.clamp(LEAST, MOST))
}

/// The changes that cost least, together with what they do not explain.
///
/// Each value that occurs is a level that there may be. For each of them the
/// least cost of all that came so far, if the newest value lies on it, follows
/// from those of the value before: it stayed, or it came from the cheapest
/// (Viterbi 1967). Values × levels steps.
fn cheapest(series: &[f64], noise: f64, change: f64) -> Vec<usize> {
    let mut level = series.to_vec();
    level.sort_unstable_by(f64::total_cmp);
    level.dedup();
    let mut cost = vec![0.0_f64; level.len()];
    let least = |cost: &[f64]| (0..cost.len()).min_by(|&a, &b| cost[a].total_cmp(&cost[b]));
    // For each value: the cheapest level before it, and who came from there.
    let mut from = Vec::with_capacity(series.len());
    for (at, value) in series.iter().enumerate() {
        let before = least(&cost).unwrap_or(0);
        let changed = cost[before] + change;
        let most = change
            * if is_between(series, at, noise) {
                BETWEEN
            } else {
                OUTLIER
            };
        let mut came = vec![false; level.len()];
        for (on, cost) in cost.iter_mut().enumerate() {
            came[on] = changed < *cost;
            let off = (value - level[on]) / noise;
            *cost = cost.min(changed) + (off * off).min(most);
        }
        from.push((before, came));
    }
    let mut on = least(&cost);
    let mut changes = Vec::new();
    for (at, (before, came)) in from.iter().enumerate().rev() {
        let Some(level) = on else { break };
        if came[level] && at > 0 {
            changes.push(at);
            on = Some(*before);
        }
    }
    changes.reverse();
    changes
}

/// Whether a value lies between its neighbours, near neither of them.
fn is_between(series: &[f64], at: usize, noise: f64) -> bool {
    let (Some(before), Some(after)) = (at.checked_sub(1), series.get(at + 1)) else {
        return false;
    };
    let steps = [series[at] - series[before], after - series[at]].map(|step| step / noise);
    steps.iter().all(|step| *step > NEAR) || steps.iter().all(|step| *step < -NEAR)
}

/// How closely values follow the one before: the correlation of neighbours on
/// one level. What is far off counts as three deviations.
fn follow(series: &[f64], changes: &[usize], noise: f64) -> f64 {
    let starts = std::iter::once(0).chain(changes.iter().copied());
    let ends = changes.iter().copied().chain([series.len()]);
    let (mut products, mut squares) = (0.0, 0.0);
    for (start, end) in starts.zip(ends) {
        let level = super::median(&series[start..end]);
        let off = series[start..end]
            .iter()
            .map(|v| ((v - level) / noise).clamp(-3.0, 3.0));
        let off: Vec<f64> = off.collect();
        squares += off.iter().map(|v| v * v).sum::<f64>();
        products += off.windows(2).map(|w| w[0] * w[1]).sum::<f64>();
    }
    if squares > 0.0 {
        products / squares
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_follow_one_another_as_their_correlation_says() {
        // 1, 2, -1, -2, 0 around its median: products 2 - 2 + 2 + 0, squares 10.
        let series = [11.0, 12.0, 9.0, 8.0, 10.0];
        assert_eq!(follow(&series, &[], 1.0), 0.2);
        // Another level begins: no neighbours across it.
        let two = [
            11.0, 12.0, 9.0, 8.0, 10.0, 111.0, 112.0, 109.0, 108.0, 110.0,
        ];
        assert_eq!(follow(&two, &[5], 1.0), 0.2);
        assert_eq!(follow(&[10.0; 5], &[], 1.0), 0.0);
    }
}
