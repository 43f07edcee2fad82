//! What runs before the boot loader on boards: coreboot, Trusted Firmware,
//! memory training, the Raspberry Pi's firmware.

use super::checks;
use super::stages::{before_kernel, stage, until};
use crate::lines::Begin;
use crate::{Boot, Finding};

checks! {
    "firmware-coreboot-loglevel" => coreboot_log,
    "firmware-tfa-debug" => debug_build,
    "firmware-cpu-clock" => cpu_clock,
    "firmware-dram-training" => memory_training,
    "firmware-rpi-edid" => hdmi,
    "firmware-rpi-boot-order" => boot_order,
}

fn coreboot_log(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let detail = stage(lines, Begin(["[DEBUG]", "[SPEW ]"]))?;
    let length = |e: &bootlap_model::Evidence| e.end.saturating_sub(e.start);
    let bytes = detail
        .seen
        .iter()
        .map(length)
        .fold(0_u64, u64::saturating_add);
    let finding = detail
        .found()
        .why(format!("{} lines, {bytes} bytes", detail.seen.len()))
        .saves_on_board(
            boot.on_the_line_ns(bytes),
            format!("{bytes} bytes at {} baud, ten bits each", boot.baud()),
        );
    (bytes >= 1000).then_some(finding)
}

fn debug_build(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let is_loader = |t: &str| t.contains("BL") && t.contains("(debug):");
    let banners = stage(lines, (Begin(["NOTICE:", "INFO:"]), is_loader))?;
    Some(
        banners
            .found()
            .why("its banner says `(debug)`")
            .saves_unknown("it depends on how much it prints and checks; build it once without"),
    )
}

fn cpu_clock(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let line = lines.find(("(running at ", |t: &str| t.starts_with("CPU:")))?;
    let (rated, now) = line.text.split_once("(running at ")?;
    let now: u32 = now.split_whitespace().next()?.parse().ok()?;
    let rated = rated.trim_end().strip_suffix("MHz")?;
    let rated: u32 = rated.split_whitespace().next_back()?.parse().ok()?;
    let finding = Finding::new()
        .why(format!(
            "it is a CPU for {rated} MHz, and runs at {now} MHz"
        ))
        .saves_unknown("at most that ratio of what is computed before the kernel's cpufreq driver")
        .at(Some(line.at()))
        .seen([line.evidence]);
    (now < rated).then_some(finding)
}

fn memory_training(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let is_its = |t: &str| t.starts_with("DDRINFO:");
    let steps = ["start DRAM init", "ddrmix config done"];
    let training = until(lines, (steps[0], is_its), (steps[1], is_its))?;
    let finding = training
        .found()
        .why(format!("SPL takes {} ms for it", training.ms()))
        .saves_unknown("it depends on what the controller can keep from boot to boot");
    (training.ns >= 100_000_000).then_some(finding)
}

fn hdmi(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let gives_up = ":EDID giving up on reading EDID block";
    let wait = until(lines, ":EDID error reading EDID block", gives_up)?;
    Some(
        wait.found()
            .why(format!("it gives up after {} ms", wait.ms()))
            .saves(wait.ns, "from the first error to giving up"),
    )
}

fn boot_order(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let modes: Vec<_> = lines.all("Boot mode: ").collect();
    let [first, .., last] = modes.as_slice() else {
        return None;
    };
    let mode = |t: &str| {
        t.split_once("Boot mode: ")
            .and_then(|(_, m)| Some(m.split_once(' ')?.0.to_owned()))
    };
    if mode(first.text) == mode(last.text) {
        return None;
    }
    let ns = last.start_ns.saturating_sub(first.start_ns);
    Some(
        Finding::new()
            .why(format!("{} attempts; the last one works", modes.len()))
            .saves(ns, "from the first attempt to the last")
            .at(Some([first.start_ns, last.start_ns]))
            .seen(modes.iter().map(|l| l.evidence)),
    )
}
