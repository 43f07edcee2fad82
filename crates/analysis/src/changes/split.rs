//! E-divisive: the splits of a series that its windows show.

use super::p_of_split;

/// Where windows that overlap by half show a split with p ≤ `max_p`; some may
/// be named twice.
pub(super) fn candidates(series: &[f64], window: usize, max_p: f64) -> Vec<usize> {
    let mut all = Vec::new();
    let mut start = 0;
    while start < series.len() {
        let end = (start + window).min(series.len());
        let found = divide(&series[start..end], max_p);
        let last = found.iter().max().map_or(0, |at| start + at);
        all.extend(found.into_iter().map(|at| start + at));
        start = (start + window / 2).max(last);
    }
    all
}

/// Splits `series` where its parts are least alike, and its parts again, as
/// long as that is significant; or where it jumps, if it does nothing else.
fn divide(series: &[f64], max_p: f64) -> Vec<usize> {
    let mut found = Vec::new();
    let mut parts = vec![(0, series.len())];
    while let Some((start, end)) = parts.pop() {
        let part = &series[start..end];
        let Some((split, until)) = best(part) else {
            continue;
        };
        if p_of_split(&part[..split], &part[split..until]) <= max_p {
            found.push(start + split);
            parts.extend([(start, start + split), (start + split, end)]);
        } else {
            found.extend(steps(part).into_iter().map(|at| start + at));
        }
    }
    found
}

/// Where a series without noise jumps: each value, but for the newest, came at
/// least three times in a row. As a whole it may show no split: there and back
/// again, one side is as mixed as the other.
fn steps(part: &[f64]) -> Vec<usize> {
    let runs: Vec<&[f64]> = part.chunk_by(|a, b| a == b).collect();
    let (Some((_, settled)), true) = (runs.split_last(), runs.len() > 1) else {
        return Vec::new();
    };
    if settled.iter().any(|run| run.len() < 3) {
        return Vec::new();
    }
    let ends = settled.iter().scan(0, |end, run| {
        *end += run.len();
        Some(*end)
    });
    ends.collect()
}

/// The split and an end after it where the energy distance is largest.
fn best(part: &[f64]) -> Option<(usize, usize)> {
    let n = part.len();
    let distance = |i: usize, j: usize| (part[i] - part[j]).abs();
    let mut best: Option<(f64, usize, usize)> = None;
    // Sums of distances: within the left side, within the right side, between.
    let mut within_left = 0.0;
    for split in 1..n {
        within_left += (0..split - 1).map(|i| distance(i, split - 1)).sum::<f64>();
        let (mut within_right, mut between) = (0.0, 0.0);
        for end in split + 1..=n {
            let new = end - 1;
            within_right += (split..new).map(|i| distance(i, new)).sum::<f64>();
            between += (0..split).map(|i| distance(i, new)).sum::<f64>();
            let (left, right) = (split as f64, (end - split) as f64);
            let mean = |sum: f64, n: f64, of: f64| if n > 1.0 { of * sum / (n - 1.0) } else { 0.0 };
            let apart = mean(within_left, left, right) + mean(within_right, right, left);
            let q = 2.0 * (between - apart) / (left + right);
            if best.is_none_or(|(most, ..)| q > most) {
                best = Some((q, split, end));
            }
        }
    }
    best.map(|(_, split, end)| (split, end))
}
