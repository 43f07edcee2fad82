//! What the CPU waits for disks, as the lab counts it.

use std::cmp::Reverse;

use bootlap_model::{Evidence, Milestone, Request, Stamp};

use super::checks;
use super::seen::ms;
use crate::{Boot, Finding};

checks! {
    "disk-waits" => waits,
}

/// Waiting below this share of the boot is left alone.
const SHORT: i64 = 20;
/// So many requests stand for all.
const SHOWN: usize = 3;

/// Before user space starts, nothing could read ahead.
fn waits(boot: &Boot<'_>) -> Option<Finding> {
    let start_ns = boot.moment(&[Milestone::UserEntry, Milestone::InitStart])?;
    let end_ns = boot.moment(&[Milestone::Ready])?;
    let requests = boot.timeline().requests.iter();
    let placed = requests.filter_map(|r| Some((boot.axis().at(r.clock, r.done)?, r)));
    let placed: Vec<(Stamp, &Request)> = placed.filter(|(at, _)| at.ns <= end_ns).collect();
    let waited = |request: Option<&(Stamp, &Request)>| request.map_or(0, |(_, r)| r.waited_ns);
    let before = placed.iter().rfind(|(at, _)| at.ns <= start_ns);
    let ns = waited(placed.last()).saturating_sub(waited(before));
    let ns = i64::try_from(ns).ok()?;
    if ns == 0 || ns < end_ns / SHORT {
        return None;
    }
    let mut since = waited(before);
    let behind = placed.iter().filter(|(at, _)| at.ns > start_ns);
    let each = behind.map(|(_, request)| {
        let ns = request.waited_ns.saturating_sub(since);
        since = request.waited_ns;
        (ns, request.evidence)
    });
    let mut longest: Vec<(u64, Evidence)> = each.collect();
    longest.sort_by_key(|(ns, _)| Reverse(*ns));
    Some(
        Finding::new()
            .why(format!(
                "the CPU has nothing to do for {} of the {} behind the kernel's first program, while \
                 a disk works",
                ms(ns),
                ms(end_ns.saturating_sub(start_ns))
            ))
            .saves_unknown(format!(
                "at most the {} that the CPU waits; reading ahead leaves what the disk itself takes",
                ms(ns)
            ))
            .at(Some([start_ns, end_ns]))
            .seen(longest.into_iter().take(SHOWN).map(|(_, evidence)| evidence)),
    )
}

#[cfg(test)]
mod tests {
    use bootlap_model::{ClockKind, RequestKind, TimeKind, Timeline};

    use super::*;

    /// User space from 1 s to 4 s; the CPU has waited 0.5 s before, and so long when all is done.
    fn found(waited_ms: u64) -> Option<Finding> {
        let mut timeline = Timeline::default();
        let file = timeline.add_file("console", "test");
        let clock = timeline.add_lab_clock(ClockKind::QemuVirtual, TimeKind::Modelled, file);
        let evidence = Evidence::whole(file, 0);
        for (ms, milestone) in [
            (0, Milestone::PowerOn),
            (1000, Milestone::UserEntry),
            (4000, Milestone::Ready),
        ] {
            timeline.add_milestone(clock, Stamp::new(ms * 1_000_000, 0), milestone, evidence);
        }
        for (ms, waited_ms) in [(900, 500), (3000, waited_ms), (5000, 4000)] {
            timeline.requests.push(Request {
                clock,
                done: Stamp::new(ms * 1_000_000, 0),
                took_ns: 0,
                waited_ns: waited_ms * 1_000_000,
                kind: RequestKind::Read,
                disk: 0,
                offset: 0,
                bytes: 4096,
                evidence,
            });
        }
        waits(&Boot::new(&timeline))
    }

    #[test]
    fn only_waiting_in_user_space_and_before_ready_counts() {
        let finding = found(1700).unwrap();
        assert!(
            finding.why.contains("for 1200 ms of the 3000 ms"),
            "{}",
            finding.why
        );
        assert_eq!(finding.saving.ns, 0, "how much of it goes is not known");
        assert_eq!(found(600), None);
        assert_eq!(found(500), None);
    }
}
