//! Devices of other times that the kernel still looks for, or makes.

use super::seen::{built_in, init_ns, is_kernels, ms, of_initcalls, options_on, steps};
use super::{Rule, rule};
use crate::lines::number_after;
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[&UARTS, &I8042, &PTYS, &RAM_DISKS, &LOOPS, &RTC];

/// The initcalls that these rules tell of.
pub(super) const INITCALLS: &[&str] = &[
    "serial8250_init",
    "i8042_init",
    "pty_init",
    "brd_init",
    "loop_init",
    "rtc_hctosys",
];

rule! {
    /// The 8250 driver registers ports that are not there.
    ///
    /// **Why.** The driver makes `CONFIG_SERIAL_8250_RUNTIME_UARTS` ports, 4 or 32, and
    /// probes each address that a PC may have.
    ///
    /// **Evidence.** The initcall `serial8250_init` in a boot with `initcall_debug`; else
    /// `Serial: 8250/16550 driver, N ports` with more ports than `ttyS` lines name.
    ///
    /// **Fix.** `8250.nr_uarts=N` with the number that the board has.
    ///
    /// **Risk.** Ports above that number do not exist.
    ///
    /// **Figures.** 28 ms (x86 virtual machine with a console at 115 200 baud).
    UARTS = "cmdline-8250-uarts", Kernel, uarts
}

fn uarts(boot: &Boot<'_>) -> Option<Finding> {
    if boot.parameter("8250.nr_uarts").is_some() {
        return None;
    }
    let line = boot.line("Serial: 8250/16550 driver, ")?;
    let ports: u32 = number_after(line.text, "driver, ")?.parse().ok()?;
    let is_port = |l: &&crate::lines::Line<'_>| {
        l.text.contains(": ttyS") && l.text.contains(" at ") && is_kernels(boot, l)
    };
    let found = boot.lines().iter().filter(is_port).count();
    let found = u32::try_from(found).unwrap_or(u32::MAX);
    if found == 0 || ports <= found {
        return None;
    }
    let title = "the 8250 driver registers ports that are not there";
    let calls = built_in(boot, &["serial8250_init"]);
    let finding = of_initcalls(boot, &calls, title).unwrap_or_else(|| {
        Finding::new(title)
            .saves_unknown("boot with `initcall_debug`: serial8250_init shows it")
            .at(Some(line.at()))
            .seen([line.evidence])
    });
    let finding = finding
        .why(format!("{ports} ports are registered, {found} found"))
        .fix(format!("add `8250.nr_uarts={found}` to the command line"))
        .recipe(boot.recipe(&format!("cmdline-8250-uarts={found}")));
    Some(finding)
}

rule! {
    /// The kernel looks for a PS/2 keyboard and mouse.
    ///
    /// **Why.** A controller that is not there answers nothing, and the driver waits for
    /// each of its commands.
    ///
    /// **Evidence.** `i8042: No controller found` and the time before it, or
    /// `i8042: PNP: No PS/2 controller found. Probing ports directly.` and the time behind
    /// it; or the initcall `i8042_init` in a boot with `initcall_debug` beside one of them.
    ///
    /// **Fix.** `i8042.nokbd i8042.noaux i8042.nomux i8042.nopnp`; or
    /// `CONFIG_SERIO_I8042=n`.
    ///
    /// **Risk.** A PS/2 keyboard, also one that a laptop or server console emulates, does
    /// not work.
    ///
    /// **Figures.** 912 ms to 138 ms of the kernel's time (Firecracker 1.14, Linux 4.14).
    I8042 = "cmdline-no-i8042", Kernel, i8042
}

fn i8042(boot: &Boot<'_>) -> Option<Finding> {
    let absent = [
        "i8042: No controller found",
        "i8042: PNP: No PS/2 controller found",
    ];
    let line = absent.iter().find_map(|text| boot.line(text))?;
    let direct = boot.line("Probing ports directly");
    let missing = boot.line("i8042: No controller found");
    // A controller that was found when its ports were tried is there.
    if missing.is_none() && boot.line("serio: i8042").is_some() {
        return None;
    }
    let title = "the kernel looks for a PS/2 keyboard that is not there";
    let calls = built_in(boot, &["i8042_init"]);
    let finding = of_initcalls(boot, &calls, title).or_else(|| {
        let waits = steps(boot).filter(|(before, after)| {
            direct.is_some_and(|d| d.start_ns == before.start_ns)
                || missing.is_some_and(|m| m.start_ns == after.start_ns)
        });
        let (before, after) = waits.max_by_key(|(before, _)| before.ns())?;
        let finding = Finding::new(title)
            .why(format!("`{}`, after {}", line.text, ms(before.ns())))
            .saves(before.ns(), "at most: the silence at these lines")
            .at(Some([before.start_ns, after.start_ns]))
            .seen([line.evidence]);
        Some(finding)
    })?;
    let finding = finding
        .fix(
            "add `i8042.nokbd i8042.noaux i8042.nomux i8042.nopnp` to the command line, or build \
             the kernel with CONFIG_SERIO_I8042=n",
        )
        .recipe(boot.recipe("cmdline-no-i8042"));
    Some(finding)
}

/// A finding about an initcall, or about an option if nothing was seen.
fn initcall_or_option(
    boot: &Boot<'_>,
    initcall: &str,
    option: &'static str,
    title: &str,
) -> Option<Finding> {
    let calls = built_in(boot, &[initcall]);
    if !calls.is_empty() {
        return of_initcalls(boot, &calls, title);
    }
    if options_on(boot, &[option]).is_empty() {
        return None;
    }
    let finding = Finding::new(title)
        .why(format!("the kernel is built with CONFIG_{option}"))
        .saves_unknown(format!("boot with `initcall_debug`: {initcall} shows it"));
    Some(finding)
}

rule! {
    /// The kernel makes terminals of the BSD kind.
    ///
    /// **Why.** `CONFIG_LEGACY_PTYS` makes `CONFIG_LEGACY_PTY_COUNT` (256) pairs of
    /// devices, of which nothing has used one since the nineties.
    ///
    /// **Evidence.** `CONFIG_LEGACY_PTYS=y` with a count above 0, unless `pty.legacy_count`
    /// is on the command line; how long, the initcall `pty_init` shows in a boot with
    /// `initcall_debug`.
    ///
    /// **Fix.** `CONFIG_LEGACY_PTYS=n`, or `pty.legacy_count=0`.
    ///
    /// **Risk.** None is known.
    ///
    /// **Figures.** None is published; some ms.
    PTYS = "config-legacy-ptys", Kernel, ptys
}

fn ptys(boot: &Boot<'_>) -> Option<Finding> {
    let config = boot.kernel_config()?;
    let none = config.number("LEGACY_PTY_COUNT") == Some(0);
    if none || !config.is_on("LEGACY_PTYS") || boot.parameter("pty.legacy_count").is_some() {
        return None;
    }
    let title = "the kernel makes terminals of the BSD kind";
    let finding = initcall_or_option(boot, "pty_init", "LEGACY_PTYS", title)?;
    Some(finding.fix("build with CONFIG_LEGACY_PTYS=n, or add `pty.legacy_count=0`"))
}

rule! {
    /// The kernel makes RAM disks that nobody uses.
    ///
    /// **Why.** `CONFIG_BLK_DEV_RAM` makes `CONFIG_BLK_DEV_RAM_COUNT` (16) disks; an
    /// initramfs needs none of them, only an old `initrd` with a filesystem image does.
    ///
    /// **Evidence.** The initcall `brd_init` in a boot with `initcall_debug`; else
    /// `CONFIG_BLK_DEV_RAM=y`. Not with `root=/dev/ram...`, which needs it.
    ///
    /// **Fix.** `CONFIG_BLK_DEV_RAM=n` or `=m`.
    ///
    /// **Risk.** `/dev/ram0` is gone.
    ///
    /// **Figures.** None is published; some ms.
    RAM_DISKS = "config-ram-disks", Kernel, ram_disks
}

fn ram_disks(boot: &Boot<'_>) -> Option<Finding> {
    let root = boot.parameter("root");
    let uses = ["root=/dev/ram", "root=0100"];
    if root.is_some_and(|root| uses.iter().any(|u| root.starts_with(u))) {
        return None;
    }
    let title = "the kernel makes RAM disks that nobody uses";
    let finding = initcall_or_option(boot, "brd_init", "BLK_DEV_RAM", title)?;
    Some(finding.fix("build the kernel with CONFIG_BLK_DEV_RAM=n, or as a module"))
}

rule! {
    /// The kernel makes loop devices in advance.
    ///
    /// **Why.** `CONFIG_BLK_DEV_LOOP_MIN_COUNT` (8) devices are made when the driver is
    /// initialised; `losetup` has made them on demand since 3.1.
    ///
    /// **Evidence.** The built-in initcall `loop_init` in a boot with `initcall_debug`; else
    /// `CONFIG_BLK_DEV_LOOP=y` with a count above 0. Not with `max_loop=`.
    ///
    /// **Fix.** `max_loop=0`, or `CONFIG_BLK_DEV_LOOP_MIN_COUNT=0`.
    ///
    /// **Risk.** Programs that open `/dev/loop0` without asking `/dev/loop-control` find
    /// nothing.
    ///
    /// **Figures.** None is published; some ms.
    LOOPS = "cmdline-max-loop", Kernel, loops
}

fn loops(boot: &Boot<'_>) -> Option<Finding> {
    let count = boot
        .kernel_config()
        .and_then(|config| config.number("BLK_DEV_LOOP_MIN_COUNT"));
    if count == Some(0) || boot.parameter("max_loop").is_some() {
        return None;
    }
    let title = "the kernel makes loop devices in advance";
    let finding = initcall_or_option(boot, "loop_init", "BLK_DEV_LOOP", title)?;
    let finding = finding
        .fix("add `max_loop=0` to the command line, or build with CONFIG_BLK_DEV_LOOP_MIN_COUNT=0")
        .recipe(boot.recipe("cmdline-max-loop=0"));
    Some(finding)
}

/// Reading a clock on a slow bus takes this, a clock in the SoC does not.
const SLOW_CLOCK_NS: i64 = 20_000_000;

rule! {
    /// The kernel waits for the real-time clock.
    ///
    /// **Why.** `CONFIG_RTC_HCTOSYS` reads the clock before the first program; on I2C or
    /// SPI that also means waiting for the bus and for the chip to start up.
    ///
    /// **Evidence.** The initcall `rtc_hctosys` in a boot with `initcall_debug`, or 20 ms
    /// and more of silence before `setting system clock to`.
    ///
    /// **Fix.** `CONFIG_RTC_HCTOSYS=n`; set the time after the application started, with
    /// `hwclock --hctosys`.
    ///
    /// **Risk.** The first log entries and files have a wrong date; TLS fails until then.
    ///
    /// **Figures.** Up to 1 s before 2.6.16, which waited for the second to begin; some ms
    /// on I2C since.
    RTC = "config-rtc-hctosys", Kernel, rtc
}

fn rtc(boot: &Boot<'_>) -> Option<Finding> {
    let title = "the kernel waits for the real-time clock";
    let fix = "build with CONFIG_RTC_HCTOSYS=n and run `hwclock --hctosys` after the application";
    let calls = built_in(boot, &["rtc_hctosys"]);
    if let Some(finding) = of_initcalls(boot, &calls, title) {
        return Some(finding.fix(fix));
    }
    // With initcalls in the log, the silence may be another's.
    if init_ns(boot).is_none() || !boot.initcalls(|_| true).is_empty() {
        return None;
    }
    let mut steps = steps(boot);
    let (before, set) = steps.find(|(_, l)| l.text.contains("setting system clock to"))?;
    if before.ns() < SLOW_CLOCK_NS {
        return None;
    }
    let finding = Finding::new(title)
        .why(format!(
            "{} of silence before `{}`",
            ms(before.ns()),
            set.text
        ))
        .saves(before.ns(), "at most: the silence before that line")
        .fix(fix)
        .at(Some(before.at()))
        .seen([set.evidence]);
    Some(finding)
}
