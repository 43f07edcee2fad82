//! What the boot loader does that a product does not need.

use bootlap_model::TrackKind;

use super::{Rule, rule};
use crate::boot::{Found, evidence, total_ns};
use crate::lines::Line;
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[&AUTOBOOT_WAIT, &HASH_CHECK];

rule! {
    /// The boot loader waits for a key.
    ///
    /// **Why.** U-Boot counts down `bootdelay` seconds, 2 unless somebody changed
    /// it, so that a developer can get its prompt; barebox `autoboot_timeout`, 3. In
    /// the field nobody presses a key, and the countdown often is the largest single
    /// item of a boot.
    ///
    /// **Evidence.** The time that `Hit any key to stop autoboot` stands on the
    /// console before the boot goes on; all of it is saved. Where U-Boot was not seen
    /// to boot, `bootdelay` in its environment or `CONFIG_BOOTDELAY`, or what `nv`
    /// set `autoboot_timeout` to: so many seconds on the board.
    ///
    /// **Fix.** `bootdelay=0` in the environment, or `CONFIG_BOOTDELAY=0`. In barebox
    /// `nv autoboot_timeout=0`, then `saveenv`.
    ///
    /// **Risk.** To get the prompt, hold a key while switching on. (-2 would not
    /// even look for one: a board with a bad environment is then a brick.)
    ///
    /// **Figures.** 2 s on i.MX93 and i.MX8M boards (embeddedkit, NXP AN14093);
    /// "usually saves several seconds" (Bootlin).
    AUTOBOOT_WAIT = "uboot-bootdelay", Bootloader, autoboot_wait
}

fn autoboot_wait(boot: &Boot<'_>) -> Option<Finding> {
    let waits = boot.spans(TrackKind::Bootloader, "autoboot wait");
    let Some(first) = waits.first() else {
        return stated_wait(boot);
    };
    let barebox = |l: &Line<'_>| l.text.starts_with("barebox ") && l.start_ns <= first.start_ns;
    let (who, counts, fix) = match boot.lines().iter().any(barebox) {
        true => ("barebox", "autoboot_timeout", BAREBOX_FIX),
        false => (
            "U-Boot",
            "bootdelay",
            "set `bootdelay=0` in U-Boot's environment (holding a key while switching on still \
             stops it), or CONFIG_BOOTDELAY=0",
        ),
    };
    let finding = Finding::new(format!("{who} waits for a key before it boots"))
        .why(format!(
            "it counts down `{counts}` seconds; nobody presses a key in the field"
        ))
        .saves(total_ns(&waits), "the wait, as seen on the console")
        .fix(fix)
        .recipe(boot.recipe("uboot-bootdelay"))
        .at(Some(first.at()))
        .seen(evidence(&waits));
    Some(finding)
}

const BAREBOX_FIX: &str = "in barebox `nv autoboot_timeout=0` and `saveenv` (a key that is held \
                           still stops it)";

/// Where no boot was seen, what the environment or the configuration states.
fn stated_wait(boot: &Boot<'_>) -> Option<Finding> {
    let seen = ["U-Boot", "barebox "]
        .iter()
        .any(|b| boot.line(b).is_some());
    if seen || boot.target().is_some() {
        return None;
    }
    if let Some(seconds) = boot.nv("autoboot_timeout").and_then(|v| v.parse().ok()) {
        let wait = i64::checked_mul(seconds, 1_000_000_000).filter(|ns| *ns > 0)?;
        let finding = Finding::new("barebox waits for a key before it boots")
            .why(format!(
                "`autoboot_timeout` in its environment is {seconds}"
            ))
            .saves_on_board(wait, "the seconds that it states");
        return Some(finding.fix(BAREBOX_FIX));
    }
    let set = boot
        .variable("bootdelay")
        .and_then(|v| v.trim().parse().ok());
    let (from, seconds) = match set {
        Some(seconds) => ("`bootdelay` in its environment", seconds),
        None => (
            "CONFIG_BOOTDELAY",
            boot.uboot_config()?.number("BOOTDELAY")?,
        ),
    };
    (seconds > 0).then(|| {
        Finding::new("U-Boot waits for a key before it boots")
            .why(format!("{from} is {seconds}"))
            .saves_on_board(
                seconds.saturating_mul(1_000_000_000),
                "the seconds that it states",
            )
            .fix("set `bootdelay=0` in U-Boot's environment, or CONFIG_BOOTDELAY=0")
    })
}

rule! {
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
    ///
    /// **Figures.** None is published; it is bytes divided by the speed of the
    /// check, and every boot shows it.
    HASH_CHECK = "fit-no-hash", Bootloader, hash_check
}

fn hash_check(boot: &Boot<'_>) -> Option<Finding> {
    let mut checks = boot.spans(TrackKind::Bootloader, "hash check");
    checks.retain(|c| !is_signature(c));
    let longest = checks.iter().max_by_key(|c| c.ns())?;
    let recipe = boot.recipe("fit-no-hash");
    let finding = Finding::new("U-Boot reads kernel and initramfs once more to check them")
        .why(format!(
            "{} checks; storage with its own error correction gains nothing by them",
            checks.len()
        ))
        .saves(total_ns(&checks), "the checks, as seen on the console")
        .fix(
            "leave the hash nodes out of the FIT (or `setenv verify no`), unless the hash is part \
             of a signature",
        )
        .recipe(recipe.or_else(|_| boot.recipe("uboot-verify-off")))
        .at(Some(longest.at()))
        .seen(evidence(&checks));
    Some(finding)
}

/// `sha256,rsa2048:key`, where a mere hash says `sha256`.
fn is_signature(check: &Found<'_>) -> bool {
    let algo = check.arg("algo");
    algo.is_some_and(|a| a.contains([',', ':']))
}
