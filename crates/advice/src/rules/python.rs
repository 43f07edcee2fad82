//! What Python does at each start and could have done once.

use std::ops::Range;

use bootlap_model::{Milestone, RequestKind};

use super::checks;
use crate::{Boot, Finding};

checks! {
    "python-checked-modules" => checked,
}

/// Sources that the boot reads from the target's disk before it is ready, only to see that the
/// compiled modules fit.
fn checked(boot: &Boot<'_>) -> Option<Finding> {
    let (_, parts) = boot.target()?;
    let modules = parts.checked_modules();
    if modules.is_empty() {
        return None;
    }
    let end_ns = boot.moment(&[Milestone::Ready])?;
    let read = reads(boot, end_ns);
    let sources = modules.iter().filter_map(|module| {
        let bytes: u64 = module.source.iter().map(|place| common(&read, place)).sum();
        (bytes > 0).then_some(bytes)
    });
    let (count, bytes) = sources.fold((0_usize, 0_u64), |(n, sum), bytes| (n + 1, sum + bytes));
    (count > 0).then(|| {
        Finding::new()
            .why(format!(
                "Python reads the source of {count} compiled modules, {} KB, only to see that both \
                 fit",
                bytes.div_ceil(1000)
            ))
            .saves_unknown("what the disk takes for them, and to hash them")
            .recipe(boot.recipe("python-unchecked"))
    })
}

/// What is read of the disk that is booted, which is the machine's last, in order and none twice.
fn reads(boot: &Boot<'_>, end_ns: i64) -> Vec<Range<u64>> {
    let timeline = boot.timeline();
    let axis = boot.axis();
    let last = timeline.requests.iter().map(|r| r.disk).max();
    let of_disk = timeline.requests.iter().filter(|request| {
        let done = axis.at(request.clock, request.done);
        let in_boot = done.is_some_and(|done| done.ns <= end_ns);
        request.kind == RequestKind::Read && Some(request.disk) == last && in_boot
    });
    let mut all: Vec<Range<u64>> = of_disk
        .map(|r| r.offset..r.offset.saturating_add(r.bytes.into()))
        .collect();
    all.sort_unstable_by_key(|r| (r.start, r.end));
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in all {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// Bytes of `place` that are in one of `ranges`, which are in order.
fn common(ranges: &[Range<u64>], place: &Range<u64>) -> u64 {
    let first = ranges.partition_point(|r| r.end <= place.start);
    let met = ranges[first..].iter().take_while(|r| r.start < place.end);
    met.map(|r| r.end.min(place.end) - r.start.max(place.start))
        .sum()
}
