//! systemd itself: what it prints, reads and runs before and beside units.

use bootlap_model::TrackKind;

use super::stages::{begins, contains, since_kernel, stage};
use super::units::units;
use super::{Rule, rule};
use crate::boot::{evidence, total_ns};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[
    &STATUS,
    &DEBUG,
    &GENERATORS,
    &UNIT_FILES,
    &TWO_NETWORKS,
    &SELINUX,
    &FIRST_BOOT,
];

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
