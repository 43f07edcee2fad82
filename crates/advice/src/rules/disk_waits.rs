//! What disks are asked for, and what the CPU waits for them, as the lab counts it.

use bootlap_analysis::{PhaseName, disks};
use bootlap_model::Milestone;

use super::checks;
use super::seen::ms;
use crate::{Boot, Finding};

checks! {
    "disk-waits" => waits,
    "disk-read-again" => read_again,
}

/// Waiting below this share of the boot is left alone.
const SHORT: i64 = 20;
/// So is what was read again below this share of all, and below so many bytes.
const FEW: u64 = 20;
const LITTLE: u64 = 1_000_000;

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

fn read_again(boot: &Boot<'_>) -> Option<Finding> {
    let asked = disks(boot.timeline())?;
    let (all, again) = (asked.all.read_bytes, asked.all.again_bytes);
    if again < LITTLE || again < all / FEW {
        return None;
    }
    let mb = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let finding = Finding::new().why(format!(
        "{} of the {} that the disk gave had been read before",
        mb(again),
        mb(all)
    ));
    // A boot loader waits otherwise than a kernel that has more to do.
    let shares = asked.phases.iter().map(|phase| {
        let of = u128::from(phase.asked.waited_ns) * u128::from(phase.asked.again_bytes);
        of / u128::from(phase.asked.read_bytes.max(1))
    });
    Some(match i64::try_from(shares.sum::<u128>()) {
        Ok(ns) if ns > 0 => finding.saves(ns, "its share of what the CPU waits for the disk"),
        _ => finding.saves_unknown(
            "the CPU did not wait for it; in simulated time, in which disks take none, it never does",
        ),
    })
}

#[cfg(test)]
mod tests {
    use bootlap_model::{ClockKind, Evidence, Request, RequestKind, Stamp, TimeKind, Timeline};

    use super::*;

    /// User space from 1 s to 4 s; of each request when it was done and how long the CPU has waited
    /// by then, ms, and what was read, first byte and length.
    fn boot(requests: &[(i64, u64, u64, u32)]) -> Timeline {
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
        let requests = requests
            .iter()
            .map(|&(ms, waited_ms, offset, bytes)| Request {
                clock,
                done: Stamp::new(ms * 1_000_000, 0),
                took_ns: 0,
                waited_ns: waited_ms * 1_000_000,
                kind: RequestKind::Read,
                disk: 0,
                offset,
                bytes,
                evidence,
            });
        timeline.requests = requests.collect();
        timeline
    }

    /// The CPU has waited 0.5 s before user space, and so long when all is done.
    fn found(waited_ms: u64) -> Option<Finding> {
        let requests = [(900, 500), (3000, waited_ms), (5000, 4000)];
        let requests = requests.map(|(ms, waited_ms)| (ms, waited_ms, 0, 4096));
        waits(&Boot::new(&boot(&requests)))
    }

    #[test]
    fn what_the_kernel_reads_twice_is_told() {
        let found = |second: u32| {
            let requests = [
                // The boot loader's, of which the kernel has nothing.
                (50, 0, 0, 12_000_000),
                (2000, 600, 0, 12_000_000),
                (3000, 800, 6_000_000, second),
            ];
            read_again(&Boot::new(&boot(&requests)))
        };
        let finding = found(4_000_000).unwrap();
        assert!(
            finding.why.starts_with("4.0 MB of the 28.0 MB"),
            "{}",
            finding.why
        );
        // 0.8 s for 16 MB; the boot loader's 12 MB are not among them.
        assert_eq!(finding.saving.ns, 200_000_000);
        assert_eq!(found(900_000), None, "little");
        assert_eq!(found(1_200_000), None, "a small share");
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
