//! How often something happened, over time.

/// At most so many values: the pieces of time get longer with the recording.
const MAX_PIECES: usize = 2_048;
const SHORTEST_NS: i64 = 10_000_000;

/// Counts by pieces of time of 10 ms, or 20, 40, … if the recording is long.
#[derive(Default)]
pub(crate) struct Tally {
    base_ns: Option<i64>,
    width_ns: i64,
    counts: Vec<u32>,
    pub(crate) total: u64,
}

impl Tally {
    /// It happens at `ns`. What is earlier than the first counts with it.
    pub(crate) fn add(&mut self, ns: i64) {
        if self.width_ns == 0 {
            self.width_ns = SHORTEST_NS;
        }
        let width = self.width_ns;
        let base = *self
            .base_ns
            .get_or_insert_with(|| ns.div_euclid(width).saturating_mul(width));
        self.total += 1;
        let since = ns.saturating_sub(base).max(0);
        while since / self.width_ns >= MAX_PIECES as i64 {
            self.double();
        }
        let piece = (since / self.width_ns) as usize;
        if self.counts.len() <= piece {
            self.counts.resize(piece + 1, 0);
        }
        self.counts[piece] = self.counts[piece].saturating_add(1);
    }

    fn double(&mut self) {
        self.width_ns = self.width_ns.saturating_mul(2);
        let pairs = self.counts.chunks(2);
        self.counts = pairs
            .map(|pair| pair.iter().fold(0, |sum: u32, n| sum.saturating_add(*n)))
            .collect();
    }

    /// The unit (`what per 10 ms`), and a sample where the count changes.
    pub(crate) fn samples(&self, what: &str) -> (String, Vec<(i64, f64)>) {
        let base = self.base_ns.unwrap_or(0);
        let at = |i: usize| base.saturating_add((i as i64).saturating_mul(self.width_ns));
        let mut samples: Vec<(i64, f64)> = Vec::new();
        for (i, count) in self.counts.iter().chain(&[0]).enumerate() {
            let value = f64::from(*count);
            if samples.last().is_none_or(|(_, last)| *last != value) {
                samples.push((at(i), value));
            }
        }
        (
            format!(
                "{what} per {} ms",
                self.width_ns.max(SHORTEST_NS) / 1_000_000
            ),
            samples,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_get_longer_and_nothing_is_lost() {
        let mut tally = Tally::default();
        for ns in [
            5_000_000,
            6_000_000,
            15_000_000,
            30_000_000_000,
            -7,
            i64::MAX,
        ] {
            tally.add(ns);
        }
        let sum: u32 = tally.counts.iter().sum();
        assert_eq!((sum, tally.total), (6, 6));
        assert!(tally.counts.len() <= MAX_PIECES);
        assert_eq!(tally.samples("x").1.first(), Some(&(0, 5.0)));
    }

    #[test]
    fn a_sample_where_the_count_changes() {
        let mut tally = Tally::default();
        for ns in [1, 2, 10_000_001, 10_000_002, 20_000_000] {
            tally.add(ns);
        }
        let (unit, samples) = tally.samples("calls");
        assert_eq!(unit, "calls per 10 ms");
        assert_eq!(samples, [(0, 2.0), (20_000_000, 1.0), (30_000_000, 0.0)]);
    }
}
