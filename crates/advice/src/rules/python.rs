//! What Python does at each start and could have done once.

use std::ops::Range;

use bootlap_model::{Milestone, Request, RequestKind};

use super::checks;
use crate::{Boot, Finding};

checks! {
    "python-checked-modules" => checked,
}

/// Sources that the boot reads from the target's disk before it is ready, only to see that the
/// compiled modules fit. Python reads all of a source for that.
fn checked(boot: &Boot<'_>) -> Option<Finding> {
    let (_, parts) = boot.target()?;
    let end_ns = boot.moment(&[Milestone::Ready])?;
    let requests = &boot.timeline().requests;
    // What is booted is the machine's last disk.
    let disk = requests.iter().map(|request| request.disk).max()?;
    let in_boot = |request: &&Request| {
        let done = boot.axis().at(request.clock, request.done);
        done.is_some_and(|done| done.ns <= end_ns)
    };
    let reads: Vec<&Request> = requests
        .iter()
        .filter(|request| request.kind == RequestKind::Read && request.disk == disk)
        .filter(in_boot)
        .collect();
    let is_read = |place: &Range<u64>| {
        let end = |request: &Request| request.offset.saturating_add(request.bytes.into());
        let mut reads = reads.iter();
        reads.any(|request| request.offset < place.end && end(request) > place.start)
    };
    let modules = parts.checked_modules().iter();
    let read: Vec<u64> = modules
        .filter(|module| module.source.iter().any(is_read))
        .map(|module| {
            module
                .source
                .iter()
                .map(|place| place.end - place.start)
                .sum()
        })
        .collect();
    (!read.is_empty()).then(|| {
        Finding::new()
            .why(format!(
                "Python reads the source of {} compiled modules, {} KB, only to see that both fit",
                read.len(),
                read.iter().sum::<u64>().div_ceil(1000)
            ))
            .saves_unknown("what the disk takes for them, and to hash them")
            .recipe(boot.recipe("python-unchecked"))
    })
}
