//! Devices that wait for others, and silences that nobody explains.

use super::seen::{init_ns, is_kernels, ms, steps};
use super::{Rule, rule};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[&DEFERRED, &SUPPLIER, &SILENCE];

rule! {
    /// Devices wait for suppliers that never come.
    ///
    /// **Why.** A driver whose clock, regulator or pin has no driver is tried again until
    /// `deferred_probe_timeout` (10 s with modules) has passed; what waits for it waits, too.
    ///
    /// **Evidence.** `deferred probe pending` or `deferred probe timeout, ignoring
    /// dependency` in the log. How much of the timeout the boot waits for it does not say.
    ///
    /// **Fix.** Build in the supplier's driver, or remove the dependency from the device
    /// tree; `deferred_probe_timeout=1` shortens the wait.
    ///
    /// **Risk.** 0 breaks suppliers that are modules (kernelCI raised it to 20 s, Qualcomm
    /// to 60 s).
    ///
    /// **Figures.** Up to 10 s (LibreELEC on Allwinner H6); 0.5 s (AGNOS, SDM845).
    DEFERRED = "cmdline-deferred-probe-timeout", Kernel, deferred
}

fn deferred(boot: &Boot<'_>) -> Option<Finding> {
    let texts = [
        "deferred probe pending",
        "deferred probe timeout, ignoring dependency",
    ];
    let lines = boot.lines().iter();
    let lines: Vec<_> = lines
        .filter(|l| texts.iter().any(|t| l.text.contains(t)))
        .collect();
    let first = lines.first()?;
    let devices: Vec<&str> = lines
        .iter()
        .take(5)
        .filter_map(|l| l.text.split(": ").next())
        .collect();
    let finding = Finding::new("devices wait for suppliers that never come")
        .why(format!("{} of them: {}", lines.len(), devices.join(", ")))
        .saves_unknown("what waits for these devices waits up to `deferred_probe_timeout`")
        .fix(
            "build in the drivers that these devices depend on (/sys/kernel/debug/devices_deferred \
             names them); `deferred_probe_timeout=1` shortens the wait",
        )
        .recipe(boot.recipe("cmdline-deferred-probe-timeout=1"))
        .at(Some([first.start_ns, first.start_ns]))
        .seen(lines.iter().take(5).map(|l| l.evidence));
    Some(finding)
}

rule! {
    /// A device waits for what the device tree says it depends on.
    ///
    /// **Why.** Since 5.13 `fw_devlink=on` lets no driver probe before all suppliers that
    /// the firmware names have a driver, whether it needs them or not.
    ///
    /// **Evidence.** `error -EPROBE_DEFER: supplier X not ready`, `wait for supplier`, or
    /// `sync_state() pending due to` in the log, unless `fw_devlink=` is set.
    ///
    /// **Fix.** Give the supplier a driver, or correct the device tree. To see what it costs:
    /// `fw_devlink=permissive`.
    ///
    /// **Risk.** With `permissive`, clocks and regulators in use may be switched off.
    ///
    /// **Figures.** Part of those of `cmdline-deferred-probe-timeout`; none alone.
    SUPPLIER = "cmdline-fw-devlink-permissive", Kernel, supplier
}

fn supplier(boot: &Boot<'_>) -> Option<Finding> {
    if boot.parameter("fw_devlink").is_some() {
        return None;
    }
    let texts = ["supplier ", "sync_state() pending due to"];
    let marks = [
        "not ready",
        "wait for supplier",
        "sync_state() pending due to",
    ];
    let line = boot.lines().iter().find(|l| {
        texts.iter().any(|t| l.text.contains(t)) && marks.iter().any(|m| l.text.contains(m))
    })?;
    let finding = Finding::new("a device waits for what the device tree says it depends on")
        .why(format!("`{}`", line.text))
        .saves_unknown("boot with `fw_devlink=permissive` and compare")
        .fix(
            "give the supplier a driver or correct the device tree; `fw_devlink=permissive` shows \
             what it costs",
        )
        .recipe(boot.recipe("cmdline-fw-devlink-permissive"))
        .at(Some(line.at()))
        .seen([line.evidence]);
    Some(finding)
}

/// A silence that deserves a finding without any further sign.
const LONG_NS: i64 = 200_000_000;

/// Lines at which silences have rules of their own: before or behind them.
const EXPLAINED: [&str; 24] = [
    "Calibrating delay loop",
    "Trying to unpack rootfs",
    "Unpacking initramfs",
    "Freeing initrd memory",
    "Freeing unused kernel",
    "Checked W+X",
    "ftrace: ",
    "raid6: ",
    "xor: ",
    "md: ",
    "Waiting for root device",
    "sec before mounting root",
    "Mounted root",
    "IP-Config",
    "DHCP",
    "for network",
    "i8042",
    "Testing ",
    "selftest",
    "mem auto-init",
    "Memory: ",
    "setting system clock",
    "smp: Br",
    "Falling back to sys",
];

rule! {
    /// The kernel is silent for long before its first program.
    ///
    /// **Why.** Something waits or works without a word. The line before often names the
    /// driver that is at it, the line behind the one that was waited for.
    ///
    /// **Evidence.** Silences of 200 ms and more between two lines of the kernel that no
    /// other rule explains; the three longest. Not where initcalls are known, which tell
    /// better.
    ///
    /// **Fix.** Boot once with `initcall_debug` (`bootlap advise` does that for a target):
    /// it names the function.
    ///
    /// **Risk.** None.
    ///
    /// **Figures.** None: how much can be saved depends on what is found.
    SILENCE = "kernel-silence", Kernel, quiet_times
}

fn quiet_times(boot: &Boot<'_>) -> Vec<Finding> {
    let begun = boot.line("Linux version ").map(|l| l.start_ns);
    let (Some(begun), Some(_)) = (begun, init_ns(boot)) else {
        return Vec::new();
    };
    // With `quiet` silence is what was asked for.
    let is_quiet = boot.parameter("quiet").is_some() || boot.parameter("loglevel").is_some();
    if !boot.initcalls(|_| true).is_empty() || is_quiet {
        return Vec::new();
    }
    let is_explained = |text: &str| EXPLAINED.iter().any(|e| text.contains(e));
    let tells = |text: &str| {
        let lower = text.to_ascii_lowercase();
        lower.contains("timed out") || lower.contains("timeout") || text.starts_with("mmc")
    };
    let long = steps(boot).filter(|(before, after)| {
        before.start_ns >= begun
            && before.ns() >= LONG_NS
            && !is_explained(before.text)
            && !is_explained(after.text)
            && !tells(after.text)
            && is_kernels(boot, before)
    });
    let mut long: Vec<_> = long.collect();
    long.sort_by_key(|(before, _)| std::cmp::Reverse(before.ns()));
    long.truncate(3);
    let findings = long.iter().map(|(before, after)| {
        Finding::new("the kernel is silent for long before its first program")
            .why(format!(
                "{} between `{}` and `{}`",
                ms(before.ns()),
                before.text,
                after.text
            ))
            .saves(
                before.ns(),
                "at most: the whole silence, of which nobody knows yet what it is",
            )
            .fix("boot once with `initcall_debug ignore_loglevel`: it names the function")
            .at(Some(before.at()))
            .seen([before.evidence, after.evidence])
    });
    findings.collect()
}
