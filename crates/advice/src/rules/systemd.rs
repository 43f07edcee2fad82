//! systemd itself, and what any unit can do to a boot.

use bootlap_model::TrackKind;

use super::stages::{begins, contains, since_kernel, stage, until};
use super::units::{Slow, Unit, cost, units};
use super::{Rule, rule, systemd_devices, systemd_network, systemd_services, systemd_storage};
use crate::boot::{evidence, total_ns};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[
    &SLOW_UNIT,
    &DEVICE_WAIT,
    &DATA_MOUNT,
    &DEVICE_TIMEOUT,
    &START_TIMEOUT,
    &SYSV,
    &STATUS,
    &DEBUG,
    &GENERATORS,
    &UNIT_FILES,
    &TWO_NETWORKS,
    &SELINUX,
    &FIRST_BOOT,
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

rule! {
    /// systemd prints each unit on the serial console.
    ///
    /// **Why.** Each character costs ten bit times, and colours and `...` lines double
    /// them.
    ///
    /// **Evidence.** The bytes of lines like `[  OK  ] Started …` and `Starting …...` on the
    /// console, from 1 kB on; the saving is a prediction for a board.
    ///
    /// **Fix.** `systemd.show_status=false` (or `quiet`) on the command line.
    ///
    /// **Risk.** None: the journal has it all, and failures are shown with `auto`.
    ///
    /// **Figures.** None but the arithmetic; loglevel 7 to 6 saved 1.9 s of 13.2 s
    /// (i.MX93).
    STATUS = "systemd-show-status", Userspace, status
}

fn status(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let shown = stage(&lines, |t| {
        let starts = t.starts_with("Starting ") && (t.ends_with("...") || t.ends_with('…'));
        starts || begins(t, &["[  OK  ] ", "[FAILED] ", "[DEPEND] "])
    })?;
    lines
        .iter()
        .find(|l| l.text.starts_with("[  OK  ] Reached target "))?;
    let length = |e: &bootlap_model::Evidence| e.end.saturating_sub(e.start);
    let bytes = shown
        .seen
        .iter()
        .map(length)
        .fold(0_u64, u64::saturating_add);
    let finding = shown
        .found("systemd prints each unit on the serial console")
        .why(format!("{} lines, {bytes} bytes", shown.seen.len()))
        .saves_on_board(
            boot.on_the_line_ns(bytes),
            format!("{bytes} bytes at {} baud, ten bits each", boot.baud()),
        )
        .fix("add `systemd.show_status=false` (or `quiet`) to the command line");
    (bytes >= 1000).then_some(finding)
}

rule! {
    /// systemd is told to log in detail.
    ///
    /// **Why.** Debug messages of the manager and of udev cost time for each unit and
    /// device, much more on a console.
    ///
    /// **Evidence.** `systemd.log_level=debug`, `systemd.log_target=console`,
    /// `udev.log_level=debug`, `rd.debug` or `debug` on the command line.
    ///
    /// **Fix.** Take them out.
    ///
    /// **Risk.** None.
    ///
    /// **Figures.** None is published alone.
    DEBUG = "cmdline-systemd-debug", Userspace, debug
}

fn debug(boot: &Boot<'_>) -> Option<Finding> {
    let words = [
        "systemd.log_level=debug",
        "systemd.log_target=console",
        "udev.log_level=debug",
        "udev.log_priority=debug",
        "rd.udev.log_level=debug",
        "rd.debug",
        "systemd.log_target=kmsg",
    ];
    let set = |word: &&&str| boot.parameter(word.split('=').next().unwrap_or(word)) == Some(**word);
    let found: Vec<&str> = words.iter().filter(set).copied().collect();
    (!found.is_empty()).then(|| {
        Finding::new("systemd is told to log in detail")
            .why(found.join(" "))
            .saves_unknown("it depends on how much is logged, and on the console's speed")
            .fix(format!(
                "take `{}` out of the command line",
                found.join(" ")
            ))
    })
}

/// One stage of the manager's own start.
fn manager(boot: &Boot<'_>, name: &str, title: &str) -> Option<Finding> {
    let stages = boot.spans(TrackKind::Userspace, name);
    let first = stages.first()?;
    let ns = total_ns(&stages);
    let finding = Finding::new(title)
        .why(format!(
            "it takes {} ms, before the first unit starts",
            ns / 1_000_000
        ))
        .saves(ns, "at most: what cannot be removed remains")
        .at(Some(first.at()))
        .seen(evidence(&stages));
    (ns >= 100_000_000).then_some(finding)
}

rule! {
    /// Generators delay the first unit.
    ///
    /// **Why.** systemd runs all generators (fstab, SysV scripts, cloud-init, snapd …)
    /// before it reads a unit; some are shell scripts.
    ///
    /// **Evidence.** `GeneratorsStartTimestamp` to `GeneratorsFinishTimestamp` of
    /// `systemctl show`, from 100 ms on.
    ///
    /// **Fix.** Mask what is not needed by a link to `/dev/null` in
    /// `/etc/systemd/system-generators/`.
    ///
    /// **Risk.** What the generator made (mounts, ttys) is missing.
    ///
    /// **Figures.** About 1 s for units and generators together (Arm, eMMC, Buildroot).
    GENERATORS = "systemd-generators", Userspace, generators
}

fn generators(boot: &Boot<'_>) -> Option<Finding> {
    let finding = manager(boot, "generators", "generators delay systemd's first unit")?;
    Some(
        finding.fix(
            "link generators that are not needed to /dev/null in /etc/systemd/system-generators/",
        ),
    )
}

rule! {
    /// systemd reads too many unit files.
    ///
    /// **Why.** All units that are reachable are read and parsed before the first starts;
    /// on slow storage each file is a seek.
    ///
    /// **Evidence.** `UnitsLoadStartTimestamp` to `UnitsLoadFinishTimestamp` of
    /// `systemctl show`, from 100 ms on.
    ///
    /// **Fix.** Remove packages and units; mask whole branches; a filesystem that reads
    /// small files quickly.
    ///
    /// **Risk.** A unit may be missing.
    ///
    /// **Figures.** About 1 s for units and generators together (Arm, eMMC, Buildroot).
    UNIT_FILES = "systemd-unit-files", Userspace, unit_files
}

fn unit_files(boot: &Boot<'_>) -> Option<Finding> {
    let finding = manager(
        boot,
        "load unit files",
        "systemd reads its unit files slowly",
    )?;
    Some(finding.fix("remove or mask units that the product does not need"))
}

rule! {
    /// Two network managers run.
    ///
    /// **Why.** Each waits for links that the other configures, up to a time-out of two
    /// minutes.
    ///
    /// **Evidence.** Waiting units of two managers in one boot:
    /// `NetworkManager-wait-online`, `systemd-networkd-wait-online`,
    /// `ifupdown-wait-online`.
    ///
    /// **Fix.** Disable one.
    ///
    /// **Risk.** The links that it configured need a configuration of the other.
    ///
    /// **Figures.** More than 120 s to less than 10 s.
    TWO_NETWORKS = "systemd-two-network-managers", Userspace, two_networks
}

fn two_networks(boot: &Boot<'_>) -> Option<Finding> {
    let waits = [
        "NetworkManager-wait-online.service",
        "systemd-networkd-wait-online.service",
        "ifupdown-wait-online.service",
    ];
    let all = units(boot);
    let found: Vec<&str> = waits
        .into_iter()
        .filter(|w| all.iter().any(|u| u.name == *w))
        .collect();
    (found.len() > 1).then(|| {
        Finding::new("two network managers run, and both wait")
            .why(found.join(" and "))
            .saves_unknown("see `systemd-wait-online` for what the waits cost")
            .fix("disable one of the two managers")
            .seen(
                all.iter()
                    .filter(|u| found.contains(&u.name))
                    .map(|u| u.evidence),
            )
    })
}

rule! {
    /// A security policy is loaded at each boot.
    ///
    /// **Why.** SELinux's policy is compiled into one large file, which systemd reads and
    /// hands to the kernel before anything else.
    ///
    /// **Evidence.** `Successfully loaded SELinux policy in 123.456ms.` The saving is at
    /// most that.
    ///
    /// **Fix.** A policy with the product's modules only.
    ///
    /// **Risk.** Security: `selinux=0` is for products that do not use it at all.
    ///
    /// **Figures.** 100 ms (systemd's own documentation).
    SELINUX = "systemd-selinux-policy", Userspace, selinux
}

fn selinux(boot: &Boot<'_>) -> Option<Finding> {
    let line = boot.line("Successfully loaded SELinux policy in ")?;
    let (_, time) = line.text.split_once(" policy in ")?;
    let time = time.trim_end_matches('.');
    let ns = match time.strip_suffix("ms") {
        Some(ms) => ms.parse::<f64>().ok()? * 1e6,
        None => time.strip_suffix('s')?.parse::<f64>().ok()? * 1e9,
    };
    let finding = Finding::new("SELinux's policy is loaded at each boot")
        .why(line.text.to_owned())
        .saves(ns as i64, "at most: a smaller policy takes its share")
        .fix("build a policy with only the modules that the product needs")
        .at(Some(line.at()))
        .seen([line.evidence]);
    (ns > 0.0).then_some(finding)
}

rule! {
    /// systemd thinks that this is the first boot.
    ///
    /// **Why.** Without a stored machine id systemd makes one, presets all units and runs
    /// first-boot services; on a read-only `/etc` at each boot.
    ///
    /// **Evidence.** `Initializing machine ID from …` or `Detected first boot`.
    ///
    /// **Fix.** Store `/etc/machine-id` (a file that can be written, or one made from the
    /// device's serial number by `systemd.machine_id=`).
    ///
    /// **Risk.** Two devices must not have the same. If this was the first boot, nothing
    /// is wrong.
    ///
    /// **Figures.** None is published.
    FIRST_BOOT = "systemd-first-boot", Userspace, first_boot
}

fn first_boot(boot: &Boot<'_>) -> Option<Finding> {
    let says = ["Initializing machine ID from", "Detected first boot"];
    let lines = since_kernel(boot);
    let first = stage(&lines, |t| contains(t, &says))?;
    let finding = first
        .found("systemd thinks that this is the first boot")
        .why("it made a machine id and presets units")
        .saves_unknown("compare with a second boot: if it says so again, the id is not stored")
        .fix("keep /etc/machine-id, or pass `systemd.machine_id=`; ignore this after a first boot");
    Some(finding)
}
