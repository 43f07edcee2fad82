//! Units that wait for devices, or set them up.

use super::units::Slow;
use super::{Rule, rule};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[&SETTLE, &TRIGGER, &MODULES, &STORAGE, &CONSOLE_SETUP];

/// The units that these rules look at.
pub(super) static UNITS: &[&Slow] = &[
    &SETTLE_UNITS,
    &TRIGGER_UNITS,
    &MODULES_UNITS,
    &STORAGE_UNITS,
    &CONSOLE_SETUP_UNITS,
];

rule! {
    /// The boot waits until udev is idle.
    ///
    /// **Why.** `systemd-udev-settle.service` waits for all devices, also those that
    /// nothing needs; it is deprecated. LVM, ZFS, multipath and old scripts pull it in.
    ///
    /// **Evidence.** The start of `systemd-udev-settle.service` as systemd, the journal
    /// or the console shows it. Where the order of units is known, the saving is what
    /// this boot, replayed without it, gains; where nothing waited for it, nothing is
    /// said.
    ///
    /// **Fix.** `systemctl list-dependencies --reverse systemd-udev-settle.service`
    /// tells who wants it: update or remove that; wait for the one device instead.
    ///
    /// **Risk.** What relied on it must name its device.
    ///
    /// **Figures.** Up to its time-out: 2 min 0.3 s were seen.
    SETTLE = "systemd-udev-settle", Userspace, settle
}

pub(super) static SETTLE_UNITS: Slow = Slow {
    names: &[
        "systemd-udev-settle.service",
        "systemd-udev-settle-*",
        "Wait for udev To Complete Device Initialization",
        "udev Wait for Complete Device Initialization",
    ],
    title: "the boot waits until udev has handled every device",
    fix: "remove what wants systemd-udev-settle.service (`systemctl list-dependencies --reverse`)",
};

fn settle(boot: &Boot<'_>) -> Option<Finding> {
    SETTLE_UNITS.find(boot)
}

rule! {
    /// All devices are replayed to udev at once.
    ///
    /// **Why.** Coldplug makes an event of every device; each runs rules and programs.
    /// On one slow core that takes seconds.
    ///
    /// **Evidence.** The start of `systemd-udev-trigger.service` as systemd, the
    /// journal or the console shows it. Where the order of units is known, the saving
    /// is what this boot, replayed without it, gains; where nothing waited for it,
    /// nothing is said.
    ///
    /// **Fix.** Override `ExecStart=` with `udevadm trigger --subsystem-match=…` for
    /// what the application needs, and trigger the rest later; remove rules that run
    /// programs.
    ///
    /// **Risk.** A device that is missed has no link and no module.
    ///
    /// **Figures.** 10.3 s (ARMv6, one core), 3.7 s (STM32MP1), 1.9 s (Raspberry Pi
    /// Zero).
    TRIGGER = "systemd-udev-trigger", Userspace, trigger
}

pub(super) static TRIGGER_UNITS: Slow = Slow {
    names: &[
        "systemd-udev-trigger.service",
        "Coldplug All udev Devices",
        "udev Coldplug all Devices",
    ],
    title: "all devices are replayed to udev before the application",
    fix: "trigger the subsystems that are needed first, and the rest later (override of ExecStart=)",
};

fn trigger(boot: &Boot<'_>) -> Option<Finding> {
    TRIGGER_UNITS.find(boot)
}

rule! {
    /// Modules are loaded one by one before the rest.
    ///
    /// **Why.** `systemd-modules-load.service` loads its list in order; all of
    /// `sysinit.target` waits.
    ///
    /// **Evidence.** The start of `systemd-modules-load.service` as systemd, the
    /// journal or the console shows it. Where the order of units is known, the saving
    /// is what this boot, replayed without it, gains; where nothing waited for it,
    /// nothing is said.
    ///
    /// **Fix.** Build what the boot needs into the kernel; take out of `/etc/modules*`
    /// what udev loads by itself or what can come later.
    ///
    /// **Risk.** A larger kernel; a module without an alias must stay in the list.
    ///
    /// **Figures.** 656 ms (a webcam on a Raspberry Pi Zero), 312 ms (STM32MP1).
    MODULES = "systemd-modules-load", Userspace, modules
}

pub(super) static MODULES_UNITS: Slow = Slow {
    names: &["systemd-modules-load.service", "Load Kernel Modules"],
    title: "modules are loaded one by one before the rest",
    fix: "build them in, or take out of /etc/modules-load.d what udev loads by itself",
};

fn modules(boot: &Boot<'_>) -> Option<Finding> {
    MODULES_UNITS.find(boot)
}

rule! {
    /// Volume managers start where nothing may need them.
    ///
    /// **Why.** LVM, RAID monitoring and multipath scan all block devices, and
    /// `sysinit.target` or `local-fs.target` waits for them.
    ///
    /// **Evidence.** The start of `lvm2-monitor.service`, `lvm2-activation*`,
    /// `multipathd.service`, `mdmonitor.service` as systemd, the journal or the console
    /// shows it. Where the order of units is known, the saving is what this boot,
    /// replayed without it, gains; where nothing waited for it, nothing is said.
    ///
    /// **Fix.** Remove or mask the packages on systems with plain partitions.
    ///
    /// **Risk.** Volumes that exist after all do not come up: look at `lvs`,
    /// `/proc/mdstat` first.
    ///
    /// **Figures.** None is published; "slows boot substantially" (systemd).
    STORAGE = "systemd-lvm", Userspace, storage
}

pub(super) static STORAGE_UNITS: Slow = Slow {
    names: &[
        "lvm2-monitor.service",
        "lvm2-activation*",
        "lvm2-pvscan@*",
        "multipathd.service",
        "mdmonitor.service",
        "dmraid-activation.service",
        "dmeventd.service",
    ],
    title: "volume managers scan the disks before the rest starts",
    fix: "mask lvm2-monitor, multipathd and mdmonitor where there are only plain partitions",
};

fn storage(boot: &Boot<'_>) -> Option<Finding> {
    STORAGE_UNITS.find(boot)
}

rule! {
    /// Keyboard layout and console font are set on a device.
    ///
    /// **Why.** Loading fonts and key maps runs shell scripts and programs before the
    /// login; nobody sees them on a headless system.
    ///
    /// **Evidence.** The start of `keyboard-setup.service`, `console-setup.service`,
    /// `systemd-vconsole-setup.service` as systemd, the journal or the console shows
    /// it. Where the order of units is known, the saving is what this boot, replayed
    /// without it, gains; where nothing waited for it, nothing is said.
    ///
    /// **Fix.** Mask them where there is no text console.
    ///
    /// **Risk.** A wrong layout on a console that is used after all.
    ///
    /// **Figures.** None in ms; "major source of slowness" (systemd).
    CONSOLE_SETUP = "systemd-console-setup", Userspace, console_setup
}

pub(super) static CONSOLE_SETUP_UNITS: Slow = Slow {
    names: &[
        "keyboard-setup.service",
        "console-setup.service",
        "systemd-vconsole-setup.service",
        "kbd.service",
        "Set the console keyboard layout",
        "Set console font and keymap",
        "Setup Virtual Console",
    ],
    title: "keyboard layout and console font are set before the rest",
    fix: "mask keyboard-setup, console-setup and systemd-vconsole-setup where no text console is used",
};

fn console_setup(boot: &Boot<'_>) -> Option<Finding> {
    CONSOLE_SETUP_UNITS.find(boot)
}
