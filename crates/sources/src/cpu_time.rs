//! What the CPUs' time went to between two looks at `/proc/stat`.

use bootlap_model::{ClockId, Evidence};

use crate::text::Import;

/// One look: ns, and the columns of `/proc/stat` summed over all CPUs: user, nice, system, idle,
/// iowait, irq, softirq, steal; in any unit.
pub(crate) type Look = (i64, [u64; 8]);

/// Shares of the time, and the columns that make them up.
const SHARES: [(&str, &[usize]); 5] = [
    ("cpu user", &[0, 1]),
    ("cpu system", &[2, 5, 6]),
    ("cpu iowait", &[4]),
    ("cpu idle", &[3]),
    ("cpu stolen", &[7]),
];

/// Shares as counters, in per cent; each holds up to the next look. One that was never above zero
/// is left out.
pub(crate) fn counters(looks: &[Look], clock: ClockId, at: Evidence, import: &mut Import<'_>) {
    for (name, columns) in SHARES {
        let samples = looks
            .windows(2)
            .map(|pair| (pair[0].0, share(pair, columns)));
        let samples: Vec<_> = samples.collect();
        if samples.iter().any(|(_, share)| *share > 0.0) {
            import.counter(clock, (name, "%"), samples, at);
        }
    }
}

/// Of all time between two looks, that of `columns`, in per cent.
fn share(pair: &[Look], columns: &[usize]) -> f64 {
    let more = |column: usize| pair[1].1[column].saturating_sub(pair[0].1[column]) as f64;
    let all: f64 = (0..8).map(more).sum();
    100.0 * columns.iter().map(|c| more(*c)).sum::<f64>() / all.max(1.0)
}
