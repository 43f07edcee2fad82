//! How fast storage is, from what the boot loader says of its reads.

use bootlap_model::TrackKind;
use serde::Serialize;

use crate::view::{View, length_ns};

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
    let spans = board.spans().iter();
    let named = spans.filter(|s| {
        let reads = ["read file", "read mmc", "read nand", "read flash"];
        s.kind == TrackKind::Bootloader && reads.contains(&s.name)
    });
    let mut reads: Vec<(f64, f64)> = named
        .filter_map(|s| {
            let bytes: f64 = board.arg(s, "bytes")?.parse().ok()?;
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
