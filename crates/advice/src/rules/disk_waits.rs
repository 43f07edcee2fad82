//! What the CPU waits for disks, as the lab counts it.

use bootlap_analysis::{PhaseName, disks};
use bootlap_model::Milestone;

use super::checks;
use super::seen::ms;
use crate::{Boot, Finding};

checks! {
    "disk-waits" => waits,
}

/// Waiting below this share of the boot is left alone.
const SHORT: i64 = 20;

/// Before the kernel starts its first program, nothing could read ahead.
fn waits(boot: &Boot<'_>) -> Option<Finding> {
    let start_ns = boot.moment(&[Milestone::UserEntry, Milestone::InitStart])?;
    let end_ns = boot.moment(&[Milestone::Ready])?;
    let phases = disks(boot.timeline())?.phases;
    let behind = phases.iter().filter(|p| p.phase > PhaseName::Kernel);
    let ns = behind.fold(0_u64, |sum, p| sum.saturating_add(p.asked.waited_ns));
    let ns = i64::try_from(ns).ok()?;
    if ns == 0 || ns < end_ns / SHORT {
        return None;
    }
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
            .at(Some([start_ns, end_ns])),
    )
}

#[cfg(test)]
mod tests {
    use bootlap_model::{ClockKind, Evidence, Request, RequestKind, Stamp, TimeKind, Timeline};

    use super::*;

    /// User space from 1 s to 4 s; the CPU has waited 0.5 s before, and so long when all is done.
    fn found(waited_ms: u64) -> Option<Finding> {
        let mut timeline = Timeline::default();
        let file = timeline.add_file("console", "test");
        let clock = timeline.add_lab_clock(ClockKind::QemuVirtual, TimeKind::Modelled, file);
        let evidence = Evidence::whole(file, 0);
        for (ms, milestone) in [
            (0, Milestone::PowerOn),
            (100, Milestone::KernelEntry),
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
