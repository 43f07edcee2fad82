//! What the boot loader does that a product does not need.

use bootlap_model::TrackKind;

use super::{Rule, RuleMeta};
use crate::boot::{Found, evidence, total_ns};
use crate::{Boot, Finding, Saving, SavingKind};

/// Shorter than this is not worth a line, ns.
const WORTH_IT_NS: i64 = 1_000_000;

/// The boot loader waits for a key.
///
/// **Why.** U-Boot counts down `bootdelay` seconds, 2 unless somebody changed
/// it, so that a developer can get its prompt. In the field nobody presses a
/// key, and the countdown often is the largest single item of a boot.
///
/// **Evidence.** The time that `Hit any key to stop autoboot` stands on the
/// console before the boot goes on; all of it is saved.
///
/// **Fix.** `bootdelay=0` in the environment, or `CONFIG_BOOTDELAY=0`.
///
/// **Risk.** To get the prompt, hold a key while switching on. (-2 would not
/// even look for one: a board with a bad environment is then a brick.)
pub(super) struct AutobootWait;

impl Rule for AutobootWait {
    fn meta(&self) -> &'static RuleMeta {
        &RuleMeta {
            name: "uboot-bootdelay",
            title: "the boot loader waits for a key",
        }
    }

    fn check(&self, boot: &Boot<'_>, out: &mut Vec<Finding>) {
        let waits = boot.spans(TrackKind::Bootloader, "autoboot wait");
        let ns = total_ns(&waits);
        if ns < WORTH_IT_NS {
            return;
        }
        out.push(Finding {
            rule: self.meta().name.into(),
            title: "U-Boot waits for a key before it boots".into(),
            why: "it counts down `bootdelay` seconds; nobody presses a key in the field".into(),
            saving: Saving {
                ns,
                kind: SavingKind::ThisBoot,
                basis: "the wait, as seen on the console".into(),
            },
            fix: "set `bootdelay=0` in U-Boot's environment (holding a key while switching on \
                  still stops it), or CONFIG_BOOTDELAY=0"
                .into(),
            recipe: boot.recipe("uboot-bootdelay").ok(),
            at_ns: waits.first().map(|w| [w.start_ns, w.end_ns]),
            evidence: evidence(&waits),
        });
    }
}

/// The boot loader checks what it loads.
///
/// **Why.** U-Boot reads every byte of kernel and initramfs once more, on one
/// CPU and often without caches or crypto instructions. Storage with its own
/// error correction (eMMC, UBI) would have told of damage already.
///
/// **Evidence.** The time between an algorithm's name and its `+` after
/// `Verifying Hash Integrity ...`, or inside of `Verifying Checksum ... OK`.
/// Checks of a signature (`sha256,rsa2048:key+`) are not counted: they are what
/// makes a boot secure, and stay.
///
/// **Fix.** Leave the `hash` nodes out of the FIT, or `setenv verify no`. A
/// cheaper algorithm is the half way: on ARMv8 SHA-256 may beat CRC-32.
///
/// **Risk.** A damaged image is started instead of refused.
pub(super) struct HashCheck;

impl Rule for HashCheck {
    fn meta(&self) -> &'static RuleMeta {
        &RuleMeta {
            name: "fit-no-hash",
            title: "the boot loader checks kernel and initramfs",
        }
    }

    fn check(&self, boot: &Boot<'_>, out: &mut Vec<Finding>) {
        let mut checks = boot.spans(TrackKind::Bootloader, "hash check");
        checks.retain(|c| !is_signature(boot, c));
        let ns = total_ns(&checks);
        if ns < WORTH_IT_NS {
            return;
        }
        let longest = checks.iter().max_by_key(|c| c.ns());
        out.push(Finding {
            rule: self.meta().name.into(),
            title: "U-Boot reads kernel and initramfs once more to check them".into(),
            why: format!(
                "{} checks; storage with its own error correction gains nothing by them",
                checks.len()
            ),
            saving: Saving {
                ns,
                kind: SavingKind::ThisBoot,
                basis: "the checks, as seen on the console".into(),
            },
            fix: "leave the hash nodes out of the FIT (or `setenv verify no`), unless the hash \
                  is part of a signature"
                .into(),
            recipe: boot.recipe("fit-no-hash").ok(),
            at_ns: longest.map(|c| [c.start_ns, c.end_ns]),
            evidence: evidence(&checks),
        });
    }
}

/// `sha256,rsa2048:key`, where a mere hash says `sha256`.
fn is_signature(boot: &Boot<'_>, check: &Found<'_>) -> bool {
    let algo = boot.timeline.arg(check.span, "algo");
    algo.is_some_and(|a| a.contains([',', ':']))
}
