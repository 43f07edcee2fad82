//! What the boot loader does that a product does not need.

use bootlap_model::TrackKind;

use super::checks;
use crate::boot::{Found, evidence, total_ns};
use crate::lines::Begin;
use crate::{Boot, Finding};

checks! {
    "uboot-bootdelay" => autoboot_wait,
    "fit-no-hash" => hash_check,
}

fn autoboot_wait(boot: &Boot<'_>) -> Option<Finding> {
    let waits = boot.spans(TrackKind::Bootloader, "autoboot wait");
    let Some(first) = waits.first() else {
        return stated_wait(boot);
    };
    let barebox = boot.line(Begin("barebox "));
    let (who, counts, fix) = match barebox {
        Some(banner) if banner.start_ns <= first.start_ns => {
            ("barebox", "autoboot_timeout", BAREBOX_FIX)
        }
        _ => (
            "U-Boot",
            "bootdelay",
            "set `bootdelay=0` in U-Boot's environment (holding a key while switching on still \
             stops it), or CONFIG_BOOTDELAY=0",
        ),
    };
    Some(
        Finding::new()
            .titled(format!("{who} waits for a key before it boots"))
            .why(format!(
                "it counts down `{counts}` seconds; nobody presses a key in the field"
            ))
            .saves(total_ns(&waits), "the wait, as seen on the console")
            .fix(fix)
            .recipe(boot.recipe("uboot-bootdelay"))
            .at(Some(first.at()))
            .seen(evidence(&waits)),
    )
}

const BAREBOX_FIX: &str = "in barebox `nv autoboot_timeout=0` and `saveenv` (a key that is held \
                           still stops it)";

/// Where no boot was seen, what the environment or the configuration states.
fn stated_wait(boot: &Boot<'_>) -> Option<Finding> {
    if boot.lines().has(["U-Boot", "barebox "]) || boot.target().is_some() {
        return None;
    }
    if let Some(seconds) = boot.nv("autoboot_timeout").and_then(|v| v.parse().ok()) {
        let wait = i64::checked_mul(seconds, 1_000_000_000).filter(|ns| *ns > 0)?;
        let finding = Finding::new()
            .titled("barebox waits for a key before it boots")
            .why(format!(
                "`autoboot_timeout` in its environment is {seconds}"
            ))
            .saves_on_board(wait, "the seconds that it states");
        return Some(finding.fix(BAREBOX_FIX));
    }
    let set = boot
        .variable("bootdelay")
        .and_then(|v| v.trim().parse().ok());
    let (says, seconds) = match (set, boot.countdown_s()) {
        (Some(seconds), _) => ("`bootdelay` in its environment is", seconds),
        (None, Some(seconds)) => ("on the console it counts down from", seconds.into()),
        (None, None) => (
            "CONFIG_BOOTDELAY is",
            boot.uboot_config()?.number("BOOTDELAY")?,
        ),
    };
    (seconds > 0).then(|| {
        Finding::new()
            .titled("U-Boot waits for a key before it boots")
            .why(format!("{says} {seconds}"))
            .saves_on_board(
                seconds.saturating_mul(1_000_000_000),
                "the seconds that it states",
            )
            .fix("set `bootdelay=0` in U-Boot's environment, or CONFIG_BOOTDELAY=0")
    })
}

fn hash_check(boot: &Boot<'_>) -> Option<Finding> {
    let mut checks = boot.spans(TrackKind::Bootloader, "hash check");
    checks.retain(|c| !is_signature(c));
    let longest = checks.iter().max_by_key(|c| c.ns())?;
    let recipe = boot.recipe("fit-no-hash");
    Some(
        Finding::new()
            .why(format!(
                "{} checks; storage with its own error correction gains nothing by them",
                checks.len()
            ))
            .saves(total_ns(&checks), "the checks, as seen on the console")
            .recipe(recipe.or_else(|_| boot.recipe("uboot-verify-off")))
            .at(Some(longest.at()))
            .seen(evidence(&checks)),
    )
}

/// `sha256,rsa2048:key`, where a mere hash says `sha256`.
fn is_signature(check: &Found<'_>) -> bool {
    let algo = check.arg("algo");
    algo.is_some_and(|a| a.contains([',', ':']))
}
