//! Services that distributions start for everybody.

use super::units::Slow;
use super::{Rule, rule};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[
    &PLYMOUTH,
    &UPDATES,
    &TIMERS,
    &SNAPD,
    &CLOUD,
    &CONTAINERS,
    &DAEMONS,
    &KEYS,
    &DRACUT,
    &RC_LOCAL,
];

/// The units that these rules look at.
pub(super) static UNITS: &[&Slow] = &[
    &PLYMOUTH_UNITS,
    &UPDATES_UNITS,
    &TIMERS_UNITS,
    &SNAPD_UNITS,
    &CLOUD_UNITS,
    &CONTAINERS_UNITS,
    &DAEMONS_UNITS,
    &KEYS_UNITS,
    &DRACUT_UNITS,
    &RC_LOCAL_UNITS,
];

rule! {
    /// A boot splash delays the boot.
    ///
    /// **Why.** Plymouth makes udev enumerate devices early and waits for a display;
    /// `plymouth-quit-wait` holds the login.
    ///
    /// **Evidence.** The start of `plymouth-quit-wait.service`, `plymouth-
    /// start.service` and `plymouth-read-write.service` as systemd, the journal or the
    /// console shows it. Where the order of units is known, the saving is what this
    /// boot, replayed without it, gains; where nothing waited for it, nothing is said.
    ///
    /// **Fix.** `plymouth.enable=0` on the command line, or remove it; a picture from
    /// the boot loader costs nothing.
    ///
    /// **Risk.** No splash, no graphical prompt for a passphrase.
    ///
    /// **Figures.** Its time-out for a display is 8 s (seen with simpledrm).
    PLYMOUTH = "systemd-plymouth", Userspace, plymouth
}

pub(super) static PLYMOUTH_UNITS: Slow = Slow {
    names: &[
        "plymouth-quit-wait.service",
        "plymouth-start.service",
        "plymouth-read-write.service",
        "plymouth-quit.service",
        "Hold until boot process finishes up",
        "Show Plymouth Boot Screen",
    ],
    title: "a boot splash delays the boot",
    fix: "add `plymouth.enable=0` to the command line, or remove plymouth",
};

fn plymouth(boot: &Boot<'_>) -> Option<Finding> {
    PLYMOUTH_UNITS.find(boot)
}

rule! {
    /// Package updates run during the boot.
    ///
    /// **Why.** Timers with `Persistent=true` run what was missed as soon as the system
    /// is up, and compete for disk and CPU, or are ordered into the boot.
    ///
    /// **Evidence.** The start of `apt-daily.service`, `apt-daily-upgrade.service`,
    /// `dnf-makecache.service` and their like as systemd, the journal or the console
    /// shows it. Where the order of units is known, the saving is what this boot,
    /// replayed without it, gains; where nothing waited for it, nothing is said.
    ///
    /// **Fix.** `OnBootSec=15min` and `Persistent=false` in a drop-in of the timer;
    /// disable it on products that are updated in another way.
    ///
    /// **Risk.** Security updates come later or not at all.
    ///
    /// **Figures.** More than 30 s of boot time were reported because of such timers.
    UPDATES = "systemd-apt-daily", Userspace, updates
}

pub(super) static UPDATES_UNITS: Slow = Slow {
    names: &[
        "apt-daily.service",
        "apt-daily-upgrade.service",
        "unattended-upgrades.service",
        "packagekit.service",
        "dnf-makecache.service",
        "Daily apt download activities",
        "Daily apt upgrade and clean activities",
    ],
    title: "package updates run during the boot",
    fix: "let the timer wait (`OnBootSec=15min`, `Persistent=false`), or disable it",
};

fn updates(boot: &Boot<'_>) -> Option<Finding> {
    UPDATES_UNITS.find(boot)
}

rule! {
    /// Maintenance jobs run during the boot.
    ///
    /// **Why.** Timers with `Persistent=true` catch up on what was missed while the
    /// device was off, which on devices is always.
    ///
    /// **Evidence.** The start of `man-db.service`, `logrotate.service`,
    /// `fstrim.service`, `plocate-updatedb.service` and their like as systemd, the
    /// journal or the console shows it. Where the order of units is known, the saving
    /// is what this boot, replayed without it, gains; where nothing waited for it,
    /// nothing is said.
    ///
    /// **Fix.** `Persistent=false` or `OnBootSec=` in a drop-in of the timer; disable
    /// what a product does not need.
    ///
    /// **Risk.** The job runs later.
    ///
    /// **Figures.** More than 30 s of boot time were reported because of such timers.
    TIMERS = "systemd-persistent-timers", Userspace, timers
}

pub(super) static TIMERS_UNITS: Slow = Slow {
    names: &[
        "man-db.service",
        "logrotate.service",
        "e2scrub_all.service",
        "fstrim.service",
        "dpkg-db-backup.service",
        "plocate-updatedb.service",
        "updatedb.service",
        "mlocate-updatedb.service",
        "motd-news.service",
        "anacron.service",
    ],
    title: "maintenance jobs catch up during the boot",
    fix: "set `Persistent=false` (or `OnBootSec=`) for the timer, or disable it",
};

fn timers(boot: &Boot<'_>) -> Option<Finding> {
    TIMERS_UNITS.find(boot)
}

rule! {
    /// snapd is in the way of the boot.
    ///
    /// **Why.** snapd mounts an image for each snap and generates profiles;
    /// `snapd.seeded.service` holds what is ordered behind it.
    ///
    /// **Evidence.** The start of `snapd.service`, `snapd.seeded.service`,
    /// `snap-*.mount` as systemd, the journal or the console shows it. Where the order
    /// of units is known, the saving is what this boot, replayed without it, gains;
    /// where nothing waited for it, nothing is said.
    ///
    /// **Fix.** Remove snapd, or the `After=snapd.seeded.service` of others.
    ///
    /// **Risk.** Its programs are gone.
    ///
    /// **Figures.** 4.16 s and 0.67 s (first boot, Ubuntu in a virtual machine).
    SNAPD = "systemd-snapd", Userspace, snapd
}

pub(super) static SNAPD_UNITS: Slow = Slow {
    names: &[
        "snapd.service",
        "snapd.seeded.service",
        "snapd.apparmor.service",
        "snap-*",
        "Snap Daemon",
        "Wait until snapd is fully seeded",
    ],
    title: "snapd is in the way of the boot",
    fix: "remove snapd, or take `snapd.seeded.service` out of what waits for it",
};

fn snapd(boot: &Boot<'_>) -> Option<Finding> {
    SNAPD_UNITS.find(boot)
}

rule! {
    /// cloud-init runs at each boot.
    ///
    /// **Why.** It is Python, looks for sources of data (with time-outs over the
    /// network), and orders itself before the network and the login.
    ///
    /// **Evidence.** The start of `cloud-init*.service`, `cloud-config.service`,
    /// `cloud-final.service` as systemd, the journal or the console shows it. Where the
    /// order of units is known, the saving is what this boot, replayed without it,
    /// gains; where nothing waited for it, nothing is said.
    ///
    /// **Fix.** `touch /etc/cloud/cloud-init.disabled` once the machine is set up; a
    /// fixed `datasource_list`.
    ///
    /// **Risk.** A clone of the disk is not set up anew.
    ///
    /// **Figures.** 1.38 s and 1.52 s (Ubuntu in a virtual machine).
    CLOUD = "systemd-cloud-init", Userspace, cloud
}

pub(super) static CLOUD_UNITS: Slow = Slow {
    names: &[
        "cloud-init.service",
        "cloud-init-local.service",
        "cloud-init-main.service",
        "cloud-init-network.service",
        "cloud-config.service",
        "cloud-final.service",
        "Cloud-init:*",
        "Initial cloud-init job*",
    ],
    title: "cloud-init runs at each boot",
    fix: "`touch /etc/cloud/cloud-init.disabled`, or fix its `datasource_list`",
};

fn cloud(boot: &Boot<'_>) -> Option<Finding> {
    CLOUD_UNITS.find(boot)
}

rule! {
    /// The container runtime is in the way of the boot.
    ///
    /// **Why.** dockerd loads its state, sets up networks and firewall rules, and
    /// starts containers before it says that it is up.
    ///
    /// **Evidence.** The start of `docker.service`, `containerd.service`, `podman*`,
    /// `k3s.service` as systemd, the journal or the console shows it. Where the order
    /// of units is known, the saving is what this boot, replayed without it, gains;
    /// where nothing waited for it, nothing is said.
    ///
    /// **Fix.** Start the application natively or by `podman` without a daemon;
    /// `docker.socket` alone if nobody needs it at the boot; else order nothing behind
    /// it.
    ///
    /// **Risk.** Containers start later.
    ///
    /// **Figures.** None is published; it depends on the containers.
    CONTAINERS = "systemd-docker", Userspace, containers
}

pub(super) static CONTAINERS_UNITS: Slow = Slow {
    names: &[
        "docker.service",
        "containerd.service",
        "podman.service",
        "podman-restart.service",
        "k3s.service",
        "crio.service",
        "Docker Application Container Engine",
        "containerd container runtime",
    ],
    title: "the container runtime is in the way of the boot",
    fix: "enable docker.socket instead of docker.service, or order the application before it",
};

fn containers(boot: &Boot<'_>) -> Option<Finding> {
    CONTAINERS_UNITS.find(boot)
}

rule! {
    /// Daemons start that a device seldom needs.
    ///
    /// **Why.** Modem, Bluetooth, printer, mail and discovery services are enabled by
    /// distributions for everybody.
    ///
    /// **Evidence.** The start of `ModemManager.service`, `bluetooth.service`,
    /// `cups.service`, `avahi-daemon.service` and their like as systemd, the journal or
    /// the console shows it. Where the order of units is known, the saving is what this
    /// boot, replayed without it, gains; where nothing waited for it, nothing is said.
    ///
    /// **Fix.** `systemctl disable --now` (or `mask`) what the product does not use.
    ///
    /// **Risk.** Its function is gone: check first.
    ///
    /// **Figures.** ModemManager 2.8 s, postfix 1.6 s (Raspberry Pi 3).
    DAEMONS = "systemd-unused-daemons", Userspace, daemons
}

pub(super) static DAEMONS_UNITS: Slow = Slow {
    names: &[
        "ModemManager.service",
        "bluetooth.service",
        "cups.service",
        "cups-browsed.service",
        "avahi-daemon.service",
        "exim4.service",
        "postfix.service",
        "e2scrub_reap.service",
        "smartmontools.service",
        "switcheroo-control.service",
        "colord.service",
        "accounts-daemon.service",
        "udisks2.service",
        "pcscd.service",
        "Modem Manager",
        "Bluetooth service",
    ],
    title: "a daemon starts that a device seldom needs",
    fix: "disable or mask it if the product does not use it",
};

fn daemons(boot: &Boot<'_>) -> Option<Finding> {
    DAEMONS_UNITS.find(boot)
}

rule! {
    /// Host keys of SSH are made during the boot.
    ///
    /// **Why.** Making keys needs CPU and random numbers. On a read-only root it
    /// happens at each boot.
    ///
    /// **Evidence.** The start of `sshd-keygen@….service`,
    /// `regenerate_ssh_host_keys.service` and their like as systemd, the journal or the
    /// console shows it. Where the order of units is known, the saving is what this
    /// boot, replayed without it, gains; where nothing waited for it, nothing is said.
    ///
    /// **Fix.** Make them once and keep them; `ed25519` alone; after `multi-
    /// user.target`.
    ///
    /// **Risk.** Keys must not be the same on all devices. If this was the first boot,
    /// nothing is wrong.
    ///
    /// **Figures.** None is published.
    KEYS = "systemd-ssh-keys", Userspace, keys
}

pub(super) static KEYS_UNITS: Slow = Slow {
    names: &[
        "sshd-keygen@*",
        "sshd-keygen.service",
        "sshdgenkeys.service",
        "regenerate_ssh_host_keys.service",
        "ssh-keygen.service",
        "OpenSSH Key Generation",
    ],
    title: "host keys of SSH are made during the boot",
    fix: "keep them (a writable /etc/ssh), and make `ed25519` only; ignore this after a first boot",
};

fn keys(boot: &Boot<'_>) -> Option<Finding> {
    KEYS_UNITS.find(boot)
}

rule! {
    /// dracut's queue in the initramfs is slow.
    ///
    /// **Why.** `dracut-initqueue` waits until all devices that it was told of are
    /// there; udev in the initramfs finds them one after the other.
    ///
    /// **Evidence.** The start of `dracut-initqueue.service`, `dracut-pre-
    /// udev.service`, `dracut-pre-trigger.service` as systemd, the journal or the
    /// console shows it. Where the order of units is known, the saving is what this
    /// boot, replayed without it, gains; where nothing waited for it, nothing is said.
    ///
    /// **Fix.** `hostonly`, fewer modules (`omit_dracutmodules`), `rd.luks=0 rd.lvm=0
    /// rd.md=0 rd.dm=0` where there is none; drivers built in.
    ///
    /// **Risk.** A device that is needed after all is not found.
    ///
    /// **Figures.** 625 ms in the initramfs of a laptop.
    DRACUT = "initramfs-dracut-queue", Initramfs, dracut
}

pub(super) static DRACUT_UNITS: Slow = Slow {
    names: &[
        "dracut-initqueue.service",
        "dracut-pre-udev.service",
        "dracut-pre-trigger.service",
        "dracut initqueue hook",
    ],
    title: "dracut's queue in the initramfs is slow",
    fix: "build with `hostonly`, and add `rd.luks=0 rd.lvm=0 rd.md=0 rd.dm=0` where there is none",
};

fn dracut(boot: &Boot<'_>) -> Option<Finding> {
    DRACUT_UNITS.find(boot)
}

rule! {
    /// `rc.local` runs before the boot is finished.
    ///
    /// **Why.** It runs one command after the other, and `multi-user.target` (and the
    /// login) wait for it.
    ///
    /// **Evidence.** The start of `rc-local.service` as systemd, the journal or the
    /// console shows it. Where the order of units is known, the saving is what this
    /// boot, replayed without it, gains; where nothing waited for it, nothing is said.
    ///
    /// **Fix.** A unit of its own for each job, with the order that it needs, or none.
    ///
    /// **Risk.** Jobs then run side by side.
    ///
    /// **Figures.** None is published; it is what the script does.
    RC_LOCAL = "systemd-rc-local", Userspace, rc_local
}

pub(super) static RC_LOCAL_UNITS: Slow = Slow {
    names: &["rc-local.service", "/etc/rc.local Compatibility"],
    title: "`rc.local` runs before the boot is finished",
    fix: "make a unit of each of its jobs, ordered only behind what it needs",
};

fn rc_local(boot: &Boot<'_>) -> Option<Finding> {
    RC_LOCAL_UNITS.find(boot)
}
