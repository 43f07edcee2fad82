//! Devices of other times that the kernel still looks for, or makes.

use super::checks;
use super::seen::{
    built_in, init_ns, is_kernels, ms, of_initcalls, options_on, silence_before, steps,
};
use crate::lines::number_after;
use crate::{Boot, Finding};

checks! {
    "cmdline-8250-uarts" => uarts,
    "cmdline-no-i8042" => i8042,
    "config-legacy-ptys" => ptys,
    "config-ram-disks" => ram_disks,
    "cmdline-max-loop" => loops,
    "config-rtc-hctosys" => rtc,
}

/// The initcalls that these rules tell of.
pub(super) const INITCALLS: &[&str] = &[
    "serial8250_init",
    "i8042_init",
    "pty_init",
    "brd_init",
    "loop_init",
    "rtc_hctosys",
];

fn uarts(boot: &Boot<'_>) -> Option<Finding> {
    if boot.parameter("8250.nr_uarts").is_some() {
        return None;
    }
    let line = boot.line("Serial: 8250/16550 driver, ")?;
    let ports: u32 = number_after(line.text, "driver, ")?.parse().ok()?;
    let is_at = |t: &str| t.contains(" at ");
    let found = boot.lines().all((": ttyS", is_at));
    let found = found.filter(|l| is_kernels(boot, l)).count();
    let found = u32::try_from(found).unwrap_or(u32::MAX);
    if found == 0 || ports <= found {
        return None;
    }
    let calls = built_in(boot, &["serial8250_init"]);
    let finding = match of_initcalls(boot, &calls) {
        Some(finding) => finding,
        // A log does not show what that takes; a target can be tried.
        None if boot.target().is_none() => return None,
        None => Finding::new()
            .saves_unknown("boot with `initcall_debug`: serial8250_init shows it")
            .at(Some(line.at()))
            .seen([line.evidence]),
    };
    Some(
        finding
            .why(format!("{ports} ports are registered, {found} found"))
            .fix(format!("add `8250.nr_uarts={found}` to the command line"))
            .recipe(boot.recipe(&format!("cmdline-8250-uarts={found}"))),
    )
}

fn i8042(boot: &Boot<'_>) -> Option<Finding> {
    let absent = [
        "i8042: No controller found",
        "i8042: PNP: No PS/2 controller found",
    ];
    let line = absent.iter().find_map(|text| boot.line(*text))?;
    let direct = boot.line("Probing ports directly");
    let missing = boot.line("i8042: No controller found");
    // A controller that was found when its ports were tried is there.
    if missing.is_none() && boot.line("serio: i8042").is_some() {
        return None;
    }
    let calls = built_in(boot, &["i8042_init"]);
    let finding = of_initcalls(boot, &calls).or_else(|| {
        let waits = steps(boot).filter(|(before, after)| {
            direct.is_some_and(|d| d.start_ns == before.start_ns)
                || missing.is_some_and(|m| m.start_ns == after.start_ns)
        });
        let (before, after) = waits.max_by_key(|(before, _)| before.ns())?;
        let finding = Finding::new()
            .why(format!("`{}`, after {}", line.text, ms(before.ns())))
            .saves(before.ns(), "at most: the silence at these lines")
            .at(Some([before.start_ns, after.start_ns]))
            .seen([line.evidence]);
        Some(finding)
    })?;
    Some(finding.recipe(boot.recipe("cmdline-no-i8042")))
}

/// A finding about an initcall, or about an option if nothing was seen.
fn initcall_or_option(boot: &Boot<'_>, initcall: &str, option: &'static str) -> Option<Finding> {
    let calls = built_in(boot, &[initcall]);
    if !calls.is_empty() {
        return of_initcalls(boot, &calls);
    }
    if options_on(boot, &[option]).is_empty() {
        return None;
    }
    Some(
        Finding::new()
            .why(format!("the kernel is built with CONFIG_{option}"))
            .saves_unknown(format!("boot with `initcall_debug`: {initcall} shows it")),
    )
}

fn ptys(boot: &Boot<'_>) -> Option<Finding> {
    let config = boot.kernel_config()?;
    let none = config.number("LEGACY_PTY_COUNT") == Some(0);
    if none || !config.is_on("LEGACY_PTYS") || boot.parameter("pty.legacy_count").is_some() {
        return None;
    }
    initcall_or_option(boot, "pty_init", "LEGACY_PTYS")
}

fn ram_disks(boot: &Boot<'_>) -> Option<Finding> {
    let root = boot.parameter("root");
    let uses = ["root=/dev/ram", "root=0100"];
    if root.is_some_and(|root| uses.iter().any(|u| root.starts_with(u))) {
        return None;
    }
    initcall_or_option(boot, "brd_init", "BLK_DEV_RAM")
}

fn loops(boot: &Boot<'_>) -> Option<Finding> {
    let count = boot
        .kernel_config()
        .and_then(|config| config.number("BLK_DEV_LOOP_MIN_COUNT"));
    if count == Some(0) || boot.parameter("max_loop").is_some() {
        return None;
    }
    let finding = initcall_or_option(boot, "loop_init", "BLK_DEV_LOOP")?;
    Some(finding.recipe(boot.recipe("cmdline-max-loop=0")))
}

/// Reading a clock on a slow bus takes this, a clock in the SoC does not.
const SLOW_CLOCK_NS: i64 = 20_000_000;

fn rtc(boot: &Boot<'_>) -> Option<Finding> {
    let calls = built_in(boot, &["rtc_hctosys"]);
    if let Some(finding) = of_initcalls(boot, &calls) {
        return Some(finding);
    }
    // With initcalls in the log, the silence may be another's.
    if init_ns(boot).is_none() || boot.has_initcalls() {
        return None;
    }
    let mut steps = steps(boot);
    let (before, set) = steps.find(|(_, l)| l.text.contains("setting system clock to"))?;
    if before.ns() < SLOW_CLOCK_NS {
        return None;
    }
    Some(
        Finding::new()
            .why(silence_before(before.ns(), set.text))
            .saves(before.ns(), "at most: the silence before that line")
            .at(Some(before.at()))
            .seen([set.evidence]),
    )
}
