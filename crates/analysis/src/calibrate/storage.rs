//! How fast storage is, from what the boot loader says of its reads.

use bootlap_model::TrackKind;
use serde::Serialize;

use crate::extent::length_ns;
use crate::view::View;

/// Smaller reads show the clock's resolution, not the storage's speed.
const LEAST_BYTES: f64 = 65_536.0;

/// How fast storage is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FittedStorage {
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// What each read takes before its first byte, s; 0 if that cannot be told.
    pub latency_s: f64,
    /// How many reads that rests on.
    pub reads: usize,
}

/// From lines such as `11225723 bytes read in 512 ms (20.9 MiB/s)`.
pub(super) fn of(board: &View) -> Option<FittedStorage> {
    let spans = board.spans();
    let named = spans.filter(|s| {
        let reads = ["read file", "read mmc", "read nand", "read flash"];
        s.kind == TrackKind::Bootloader && reads.contains(&s.name())
    });
    let mut reads: Vec<(f64, f64)> = named
        .filter_map(|s| {
            let bytes: f64 = board.arg(&s, "bytes")?.parse().ok()?;
            let s = length_ns(&s.start, &s.end?) as f64 / 1e9;
            (bytes > 0.0 && s > 0.0).then_some((bytes, s))
        })
        .collect();
    reads.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (least, most) = (reads.first()?.0, reads.last()?.0);
    if most < LEAST_BYTES {
        return None;
    }
    let plain = FittedStorage {
        bytes_per_s: sum(&reads, |r| r.0) / sum(&reads, |r| r.1),
        latency_s: 0.0,
        reads: reads.len(),
    };
    // Sizes that differ much tell the start of a read from the rest of it.
    if reads.len() < 2 || most < 4.0 * least {
        return Some(plain);
    }
    let count = reads.len() as f64;
    let mean = (sum(&reads, |r| r.0) / count, sum(&reads, |r| r.1) / count);
    let slope =
        sum(&reads, |r| (r.0 - mean.0) * (r.1 - mean.1)) / sum(&reads, |r| (r.0 - mean.0).powi(2));
    let latency_s = mean.1 - slope * mean.0;
    if slope <= 0.0 || latency_s < 0.0 {
        return Some(plain);
    }
    Some(FittedStorage {
        bytes_per_s: 1.0 / slope,
        latency_s,
        reads: reads.len(),
    })
}

fn sum(reads: &[(f64, f64)], of: impl Fn(&(f64, f64)) -> f64) -> f64 {
    reads.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Boot;

    /// What is fitted to reads of so many bytes that take so many µs.
    fn fitted(reads: &[(u64, i64)]) -> Option<FittedStorage> {
        let mut boot = Boot::board();
        let mut at = 0;
        for (bytes, us) in reads {
            let end = at + us * 1_000;
            boot.span(TrackKind::Bootloader, at, end, "read mmc");
            boot.arg("bytes", &bytes.to_string());
            at = end + 1_000;
        }
        of(&View::of(&boot.timeline))
    }

    const MB: u64 = 1_000_000;

    #[test]
    fn two_sizes_tell_latency_from_bandwidth() {
        // 5 ms, and 20 MB/s.
        let found = fitted(&[(MB, 55_000), (10 * MB, 505_000)]).unwrap();
        assert_eq!(found.reads, 2);
        assert!((found.bytes_per_s - 20e6).abs() < 1.0, "{found:?}");
        assert!((found.latency_s - 0.005).abs() < 1e-9, "{found:?}");
        // A read of a third size that fits changes nothing.
        let third = fitted(&[(MB, 55_000), (4 * MB, 205_000), (10 * MB, 505_000)]).unwrap();
        assert!((third.bytes_per_s - 20e6).abs() < 1.0, "{third:?}");
    }

    #[test]
    fn what_cannot_tell_them_apart_gives_one_rate() {
        let plain = |reads: &[(u64, i64)], bytes_per_s: f64| {
            let found = fitted(reads).unwrap();
            assert_eq!((found.latency_s, found.reads), (0.0, reads.len()));
            let off = (found.bytes_per_s / bytes_per_s - 1.0).abs();
            assert!(off < 1e-9, "{found:?}");
        };
        plain(&[(2 * MB, 100_000)], 20e6);
        // Sizes too close to each other.
        plain(
            &[(MB, 55_000), (4 * MB - 1, 205_000)],
            (5.0 * 1e6 - 1.0) / 0.26,
        );
        // Larger reads that took less, or so much more that the start would be negative.
        plain(&[(MB, 500_000), (10 * MB, 50_000)], 11e6 / 0.55);
        plain(&[(MB, 10_000), (10 * MB, 505_000)], 11e6 / 0.515);
        // Four times the size is enough; no latency at all is one.
        let enough = fitted(&[(MB, 50_000), (4 * MB, 200_000)]).unwrap();
        assert!(enough.latency_s.abs() < 1e-9 && (enough.bytes_per_s - 20e6).abs() < 1.0);
    }

    #[test]
    fn reads_that_say_nothing_are_left_out() {
        assert_eq!(fitted(&[]), None);
        assert_eq!(fitted(&[(65_535, 1_000)]), None);
        assert_eq!(fitted(&[(65_536, 1_000)]).unwrap().reads, 1);
        assert_eq!(
            fitted(&[(0, 1_000), (2 * MB, 100_000), (MB, 0)])
                .unwrap()
                .reads,
            1
        );
        let mut other = Boot::board();
        other.span(TrackKind::Bootloader, 0, 1_000_000, "hash check");
        other.arg("bytes", "1000000");
        other.span(TrackKind::Firmware, 0, 1_000_000, "read mmc");
        other.arg("bytes", "1000000");
        assert_eq!(of(&View::of(&other.timeline)), None);
    }
}
