//! What any unit can do to a boot.

use super::stages::{begins, contains, since_kernel, until};
use super::units::{Slow, Unit, cost, units};
use super::{Rule, rule, systemd_devices, systemd_network, systemd_services, systemd_storage};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[
    &SLOW_UNIT,
    &DEVICE_WAIT,
    &DATA_MOUNT,
    &DEVICE_TIMEOUT,
    &START_TIMEOUT,
    &SYSV,
];

/// Whether another rule knows the unit and says more of it.
fn is_known(name: &str) -> bool {
    let families = [
        systemd_network::UNITS,
        systemd_devices::UNITS,
        systemd_storage::UNITS,
        systemd_services::UNITS,
    ];
    let mut slow = families.into_iter().flatten();
    slow.any(|s: &&Slow| s.is(name))
}

/// Findings beyond these are not the next thing to do.
const AT_MOST_FINDINGS: usize = 3;

rule! {
    /// A service on the critical path starts slowly.
    ///
    /// **Why.** The boot waited for its start; the rest of the boot cannot hide it.
    ///
    /// **Evidence.** Services on the critical path that take at least 100 ms and that no
    /// other rule knows, the three costliest: what this boot, replayed without the start,
    /// gains. It needs the order of units.
    ///
    /// **Fix.** `Type=notify` or `simple` instead of `forking`, a socket, less work before
    /// it says that it is ready; or `After=` only for what really needs it.
    ///
    /// **Risk.** Who relied on the order finds the service not ready.
    ///
    /// **Figures.** None is published that is general.
    SLOW_UNIT = "systemd-slow-unit", Userspace, slow_unit
}

fn slow_unit(boot: &Boot<'_>) -> Vec<Finding> {
    let Some(chain) = boot.chain() else {
        return Vec::new();
    };
    let wanted = chain
        .path()
        .iter()
        .filter(|n| n.ends_with(".service") && !is_known(n));
    let mut found: Vec<Finding> = wanted
        .filter_map(|name| {
            let title = format!("{name} starts slowly, and the boot waits for it");
            let fix = format!(
                "look at what {name} does before it is ready (`systemctl cat {name}`, journal), \
                 and take it out of the `After=` of what does not need it"
            );
            Some(cost(boot, title, |u| u.name == name)?.fix(fix))
        })
        .filter(|f| f.saving.ns >= 100_000_000)
        .collect();
    found.sort_by_key(|f| std::cmp::Reverse(f.saving.ns));
    found.truncate(AT_MOST_FINDINGS);
    found
}

rule! {
    /// The boot waits for a device.
    ///
    /// **Why.** A mount, a swap partition or a `BindsTo=` starts only when udev has
    /// announced the device: the driver is a module, probes late, or udev is busy.
    ///
    /// **Evidence.** `….device` units on the critical path, from 100 ms on.
    ///
    /// **Fix.** Build the driver in; mount what the application does not need with
    /// `nofail` or `x-systemd.automount`; fewer udev rules.
    ///
    /// **Risk.** With `nofail` the boot goes on without it.
    ///
    /// **Figures.** 12.4 to 2.4 s when a second SSD was `noauto`.
    DEVICE_WAIT = "systemd-device-wait", Userspace, device_wait
}

fn device_wait(boot: &Boot<'_>) -> Option<Finding> {
    let path = boot.chain()?.path();
    let is_one = |u: &Unit<'_>| u.name.ends_with(".device") && path.iter().any(|p| p == u.name);
    let finding = cost(boot, "the boot waits for a device", is_one)?;
    let finding = finding.fix(
        "build its driver in, or mount it with `nofail,x-systemd.automount` if it can come later",
    );
    (finding.saving.ns >= 100_000_000).then_some(finding)
}

rule! {
    /// A data file system is mounted before the application.
    ///
    /// **Why.** `local-fs.target` waits for every line of `/etc/fstab`, also for data that
    /// is needed later; a large or damaged file system mounts slowly.
    ///
    /// **Evidence.** Mount units on the critical path, other than the root, `/boot`, `/usr`
    /// and those in memory.
    ///
    /// **Fix.** `x-systemd.automount` or `nofail` in `/etc/fstab`; `noauto` and a mount
    /// behind the application.
    ///
    /// **Risk.** The first access waits instead.
    ///
    /// **Figures.** 12.4 to 2.4 s when a second SSD was `noauto`.
    DATA_MOUNT = "fs-data-mount", Filesystem, data_mount
}

fn data_mount(boot: &Boot<'_>) -> Option<Finding> {
    let needed = [
        "-.mount",
        "boot",
        "usr.mount",
        "sys",
        "dev-",
        "proc",
        "run",
        "tmp.",
        "snap-",
    ];
    let path = boot.chain()?.path();
    let is_one = |u: &Unit<'_>| {
        let is_data = u.name.ends_with(".mount") && !begins(u.name, &needed);
        is_data && path.iter().any(|p| p == u.name)
    };
    let finding = cost(
        boot,
        "a data file system is mounted before the application",
        is_one,
    )?;
    Some(finding.fix("give it `x-systemd.automount` or `nofail` in /etc/fstab"))
}

rule! {
    /// systemd waits for a device that never comes.
    ///
    /// **Why.** A line of `/etc/fstab`, `/etc/crypttab` or a swap partition names something
    /// that is gone: systemd waits for 90 s.
    ///
    /// **Evidence.** `Timed out waiting for device …`, from the first
    /// `A start job is running for …` (or, in a journal, `Expecting device …`) on.
    ///
    /// **Fix.** Take the line out, correct its UUID, or add
    /// `nofail,x-systemd.device-timeout=1s`.
    ///
    /// **Risk.** None, if the device is really gone.
    ///
    /// **Figures.** 90 s is the time-out; it was seen with a splash that waited for
    /// `fb0` (meta-raspberrypi).
    DEVICE_TIMEOUT = "systemd-device-timeout", Userspace, device_timeout
}

fn device_timeout(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let is_timeout = |t: &str| t.contains("Timed out waiting for device");
    let line = lines.iter().find(|l| is_timeout(l.text))?;
    let (_, device) = line.text.split_once("Timed out waiting for device")?;
    let device = device.trim().trim_end_matches('.').to_owned();
    let name = device.split(" - ").next().unwrap_or(&device);
    let expected = |t: &str| {
        let waits = contains(t, &["A start job is running for ", "Expecting device "]);
        waits && t.contains(name)
    };
    let fix = "take it out of /etc/fstab (or correct its UUID), or add \
               `nofail,x-systemd.device-timeout=1s`";
    let title = "systemd waits for a device that never comes";
    let finding = match until(&lines, expected, is_timeout) {
        Some(wait) => wait
            .found(title)
            .saves(wait.ns, "from the first sign of the wait to its end"),
        None => Finding::new(title)
            .saves_unknown("90 s unless its time-out was changed; its beginning is not in the log")
            .seen([line.evidence]),
    };
    Some(finding.why(format!("{device} timed out")).fix(fix))
}

rule! {
    /// A service did not start in time.
    ///
    /// **Why.** A unit with `Type=notify`, `forking` or `dbus` that never says that it is
    /// ready holds what waits for it up to `TimeoutStartSec=`, 90 s.
    ///
    /// **Evidence.** `start operation timed out. Terminating.` or `Timed out starting …`.
    ///
    /// **Fix.** Correct its `Type=` (`simple` for a program that stays in the foreground),
    /// or what it waits for.
    ///
    /// **Risk.** None.
    ///
    /// **Figures.** 90 s is the time-out.
    START_TIMEOUT = "systemd-start-timeout", Userspace, start_timeout
}

fn start_timeout(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let says = [
        "start operation timed out. Terminating",
        "Timed out starting ",
    ];
    let line = lines.iter().find(|l| contains(l.text, &says))?;
    let all = units(boot);
    let mut named = all
        .iter()
        .filter(|u| u.name.ends_with(".service") && line.text.contains(u.name));
    let finding = Finding::new("a service did not start in time")
        .why(line.text.to_owned())
        .fix("correct its `Type=` (`simple` for a program that stays in the foreground)")
        .seen([line.evidence]);
    Some(match named.next() {
        Some(unit) => finding
            .saves(
                unit.ns,
                "at most: all of its start, if something waited for it",
            )
            .at(unit.at),
        None => finding.saves_unknown("up to TimeoutStartSec= (90 s), if something waited for it"),
    })
}

rule! {
    /// SysV scripts run under systemd.
    ///
    /// **Why.** For each, systemd makes a unit that runs a shell and its helpers, waits for
    /// it to fork, and orders it coarsely behind all of `basic.target`.
    ///
    /// **Evidence.** Units whose description begins with `LSB:`.
    ///
    /// **Fix.** A native unit: most scripts become two lines.
    ///
    /// **Risk.** What the script prepared must be done by somebody.
    ///
    /// **Figures.** None is published; see `script-*` for what shells cost.
    SYSV = "systemd-sysv-scripts", Userspace, sysv
}

fn sysv(boot: &Boot<'_>) -> Option<Finding> {
    let title = "SysV scripts run under systemd";
    let finding = cost(boot, title, |u| u.description.starts_with("LSB:"))?;
    Some(finding.fix("write a native unit for each, or disable what is not needed"))
}
