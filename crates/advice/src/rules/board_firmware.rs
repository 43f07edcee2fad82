//! What runs before the boot loader on boards: coreboot, Trusted Firmware,
//! memory training, the Raspberry Pi's firmware.

use super::stages::{before_kernel, begins, stage, until};
use super::{Rule, rule};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[
    &COREBOOT_LOG,
    &DEBUG_BUILD,
    &CPU_CLOCK,
    &MEMORY_TRAINING,
    &HDMI,
    &BOOT_ORDER,
];

rule! {
    /// coreboot prints debug messages.
    ///
    /// **Why.** Each character on the serial console costs ten bit times.
    ///
    /// **Evidence.** Lines of the levels `[DEBUG]` and `[SPEW ]` before the kernel; the
    /// saving is a prediction for a board. From 1 kB on.
    ///
    /// **Fix.** `CONFIG_DEFAULT_CONSOLE_LOGLEVEL=4` or less, or the option `debug_level`
    /// in CMOS; `cbmem -c` shows the messages all the same.
    ///
    /// **Risk.** A board that hangs early says less about where.
    ///
    /// **Figures.** None but the arithmetic: 60 kB are 5.2 s at 115 200 baud.
    COREBOOT_LOG = "firmware-coreboot-loglevel", Firmware, coreboot_log
}

fn coreboot_log(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let detail = stage(&lines, |t| begins(t, &["[DEBUG]", "[SPEW ]"]))?;
    let length = |e: &bootlap_model::Evidence| e.end.saturating_sub(e.start);
    let bytes = detail
        .seen
        .iter()
        .map(length)
        .fold(0_u64, u64::saturating_add);
    let finding = detail
        .found("coreboot prints debug messages on the serial console")
        .why(format!("{} lines, {bytes} bytes", detail.seen.len()))
        .saves_on_board(
            boot.on_the_line_ns(bytes),
            format!("{bytes} bytes at {} baud, ten bits each", boot.baud()),
        )
        .fix("build with CONFIG_DEFAULT_CONSOLE_LOGLEVEL=4 or less; `cbmem -c` still shows all");
    (bytes >= 1000).then_some(finding)
}

rule! {
    /// Trusted Firmware is a debug build.
    ///
    /// **Why.** A debug build is not optimised, asserts, and prints more on the serial
    /// console.
    ///
    /// **Evidence.** `NOTICE:  BL31: v2.8(debug):…` (or BL1, BL2).
    ///
    /// **Fix.** Build with `DEBUG=0`, and `LOG_LEVEL=20` or less.
    ///
    /// **Risk.** Fewer messages when it fails.
    ///
    /// **Figures.** None is published.
    DEBUG_BUILD = "firmware-tfa-debug", Firmware, debug_build
}

fn debug_build(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let is_debug =
        |t: &str| begins(t, &["NOTICE:", "INFO:"]) && t.contains("BL") && t.contains("(debug):");
    let banners = stage(&lines, is_debug)?;
    let finding = banners
        .found("Trusted Firmware is a debug build")
        .why("its banner says `(debug)`")
        .saves_unknown("it depends on how much it prints and checks; build it once without")
        .fix("build Trusted Firmware-A with DEBUG=0 and LOG_LEVEL=20 or less");
    Some(finding)
}

rule! {
    /// The CPU starts below its clock.
    ///
    /// **Why.** Everything up to the kernel's frequency driver runs at the clock that the
    /// boot loader set.
    ///
    /// **Evidence.** U-Boot's `CPU:   i.MX6Q rev1.5 996 MHz (running at 792 MHz)`.
    ///
    /// **Fix.** Raise voltage and PLL in SPL or U-Boot; in the kernel,
    /// `CONFIG_CPU_FREQ_DEFAULT_GOV_PERFORMANCE=y`.
    ///
    /// **Risk.** Voltage first, then clock: a board that skips this is not stable.
    ///
    /// **Figures.** A Raspberry Pi with powersave governor: 35.7 to 11.4 s by
    /// `initial_turbo` (DietPi).
    CPU_CLOCK = "firmware-cpu-clock", Firmware, cpu_clock
}

fn cpu_clock(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let line = lines
        .iter()
        .find(|l| l.text.starts_with("CPU:") && l.text.contains("(running at "))?;
    let (rated, now) = line.text.split_once("(running at ")?;
    let now: u32 = now.split_whitespace().next()?.parse().ok()?;
    let rated = rated.trim_end().strip_suffix("MHz")?;
    let rated: u32 = rated.split_whitespace().next_back()?.parse().ok()?;
    let finding = Finding::new("the CPU starts below its clock")
        .why(format!(
            "it is a CPU for {rated} MHz, and runs at {now} MHz"
        ))
        .saves_unknown("at most that ratio of what is computed before the kernel's cpufreq driver")
        .fix("raise voltage and clock in the boot loader, or use the performance governor early")
        .at(Some(line.at()))
        .seen([line.evidence]);
    (now < rated).then_some(finding)
}

rule! {
    /// Memory is trained at each boot.
    ///
    /// **Why.** The training of DDR memory finds nearly the same values at each boot; some
    /// controllers can keep them.
    ///
    /// **Evidence.** NXP's SPL: from `DDRINFO: start DRAM init` to
    /// `DDRINFO: ddrmix config done`, from 100 ms on.
    ///
    /// **Fix.** Train fewer frequencies; store the result (quick boot, where the SoC has
    /// it).
    ///
    /// **Risk.** Values that do not fit another temperature or chip: qualify it per part.
    ///
    /// **Figures.** None is published for this.
    MEMORY_TRAINING = "firmware-dram-training", Firmware, memory_training
}

fn memory_training(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let step = |t: &str, what| t.starts_with("DDRINFO:") && t.contains(what);
    let training = until(
        &lines,
        |t| step(t, "start DRAM init"),
        |t| step(t, "ddrmix config done"),
    )?;
    let finding = training
        .found("memory is trained at each boot")
        .why(format!("SPL takes {} ms for it", training.ms()))
        .saves_unknown("it depends on what the controller can keep from boot to boot")
        .fix("train fewer frequencies, or store the result where the SoC supports quick boot");
    (training.ns >= 100_000_000).then_some(finding)
}

rule! {
    /// The Raspberry Pi's firmware waits for a display's EDID.
    ///
    /// **Why.** With no display, or one that does not answer, the firmware asks again and
    /// again.
    ///
    /// **Evidence.** `HDMI0:EDID error reading EDID block 0 attempt 0` up to
    /// `…giving up on reading EDID block 0`, with `uart_2ndstage=1`.
    ///
    /// **Fix.** In `config.txt`: `hdmi_ignore_edid=0xa5000080` and a fixed mode, or
    /// `hdmi_ignore_hotplug=1` without a display.
    ///
    /// **Risk.** A display that is plugged in later gets a mode that it may not have.
    ///
    /// **Figures.** None is published for this; 1 s for `boot_delay=0` (RPi 4, DietPi).
    HDMI = "firmware-rpi-edid", Firmware, hdmi
}

fn hdmi(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let asks = |t: &str| t.contains(":EDID error reading EDID block");
    let wait = until(&lines, asks, |t| {
        t.contains(":EDID giving up on reading EDID block")
    })?;
    let finding = wait
        .found("the Raspberry Pi's firmware waits for a display's EDID")
        .why(format!("it gives up after {} ms", wait.ms()))
        .saves(wait.ns, "from the first error to giving up")
        .fix("set `hdmi_ignore_edid=0xa5000080` and a fixed mode, or `hdmi_ignore_hotplug=1`");
    Some(finding)
}

rule! {
    /// The Raspberry Pi tries other boot devices first.
    ///
    /// **Why.** `BOOT_ORDER` in the EEPROM is tried from its last digit on; network and
    /// USB wait for time-outs.
    ///
    /// **Evidence.** More than one `Boot mode: SD (01) order f4` with different modes: the
    /// time from the first to the last.
    ///
    /// **Fix.** `rpi-eeprom-config --edit`: put what the product boots from in the last
    /// digit of `BOOT_ORDER`.
    ///
    /// **Risk.** Rescue media then come second.
    ///
    /// **Figures.** None is published; about 1 s comes from a new EEPROM (RPi 5, NVMe).
    BOOT_ORDER = "firmware-rpi-boot-order", Firmware, boot_order
}

fn boot_order(boot: &Boot<'_>) -> Option<Finding> {
    let lines = before_kernel(boot);
    let modes: Vec<_> = lines
        .iter()
        .filter(|l| l.text.contains("Boot mode: "))
        .collect();
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
    let finding = Finding::new("the Raspberry Pi tries other boot devices first")
        .why(format!("{} attempts; the last one works", modes.len()))
        .saves(ns, "from the first attempt to the last")
        .fix("`rpi-eeprom-config --edit`: the last digit of BOOT_ORDER is tried first")
        .at(Some([first.start_ns, last.start_ns]))
        .seen(modes.iter().map(|l| l.evidence));
    Some(finding)
}
