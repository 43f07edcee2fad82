//! Units that are slow for a known reason: the rule, and the units that it is about.

use super::checks;
use super::units::Slow;
use crate::Boot;

/// The rows of a table as checks, and their units for the rules about all others.
macro_rules! slow_units {
    ($($rule:literal => [$($unit:literal),+ $(,)?] $(unless $needed:ident)?,)+) => {
        /// The units that these rules look at.
        pub(super) const UNITS: &[Slow] = &[$(Slow(&[$($unit),+])),+];

        checks! {
            $($rule => |boot: &Boot<'_>| {
                $(if $needed(boot) {
                    return None;
                })?
                Slow(&[$($unit),+]).find(boot)
            },)+
        }
    };
}

/// Whether the root is on LVM, RAID or another volume that somebody has to set up.
fn root_on_volumes(boot: &Boot<'_>) -> bool {
    let set_up = ["rd.lvm.lv", "rd.lvm.vg", "rd.md.uuid"];
    if set_up.iter().any(|name| boot.parameter(name).is_some()) {
        return true;
    }
    let root = boot.parameter("root").unwrap_or_default();
    let device = root.strip_prefix("root=/dev/").unwrap_or_default();
    match device.split_once('/') {
        // /dev/GROUP/VOLUME, or /dev/mapper.
        Some((folder, _)) => folder != "disk",
        None => device.starts_with("dm-") || device.starts_with("md"),
    }
}

// Names, or beginnings of names that end in `*`; descriptions, which old versions
// print instead.
slow_units! {
    // Devices: waiting for them, or setting them up.
    "systemd-udev-settle" => ["systemd-udev-settle.service", "systemd-udev-settle-*", "Wait for udev To Complete Device Initialization", "udev Wait for Complete Device Initialization"],
    "systemd-udev-trigger" => ["systemd-udev-trigger.service", "Coldplug All udev Devices", "udev Coldplug all Devices"],
    "systemd-modules-load" => ["systemd-modules-load.service", "Load Kernel Modules"],
    "systemd-lvm" => ["lvm2-monitor.service", "lvm2-activation*", "lvm2-pvscan@*", "multipathd.service", "mdmonitor.service", "dmraid-activation.service", "dmeventd.service"] unless root_on_volumes,
    "systemd-console-setup" => ["keyboard-setup.service", "console-setup.service", "systemd-vconsole-setup.service", "kbd.service", "Set the console keyboard layout", "Set console font and keymap", "Setup Virtual Console"],
    // File systems: checking, mounting, filling and cleaning them.
    "systemd-journal-flush" => ["systemd-journal-flush.service", "Flush Journal to Persistent Storage"],
    "fs-fsck" => ["systemd-fsck-root.service", "systemd-fsck@*", "File System Check on*"],
    "fs-remount" => ["systemd-remount-fs.service", "Remount Root and Kernel File Systems"],
    "fs-growfs" => ["systemd-growfs@*", "systemd-growfs-root.service", "systemd-repart.service", "resize2fs_once.service", "rpi-resize.service"],
    "systemd-tmpfiles" => ["systemd-tmpfiles-setup*", "systemd-tmpfiles-clean.service", "Create Volatile Files and Directories"],
    "systemd-caches" => ["ldconfig.service", "systemd-hwdb-update.service", "systemd-journal-catalog-update.service", "systemd-update-done.service", "Rebuild Dynamic Linker Cache", "Rebuild Hardware Database", "Rebuild Journal Catalog"],
    // The network: waiting for it.
    "systemd-wait-online" => ["NetworkManager-wait-online.service", "systemd-networkd-wait-online.service", "systemd-networkd-wait-online@*", "ifupdown-wait-online.service", "connman-wait-online.service", "Network Manager Wait Online", "Wait for Network to be Configured"],
    "systemd-dhcp" => ["networking.service", "dhcpcd.service", "dhcpcd5.service", "dhclient@*", "wicked.service", "Raise network interfaces", "DHCP Client Daemon"],
    "systemd-firewall" => ["firewalld.service", "ufw.service", "netfilter-persistent.service", "shorewall.service", "firewalld - dynamic firewall daemon", "Uncomplicated firewall"],
    "systemd-time-sync" => ["systemd-time-wait-sync.service", "chrony-wait.service", "ntp-wait.service", "ntpdate.service", "Wait Until Kernel Time Synchronized"],
    "systemd-remote-mounts" => ["rpcbind.service", "rpc-statd.service", "rpc-statd-notify.service", "nfs-*", "autofs.service", "nfsdcld.service"],
    // Services that distributions start for everybody.
    "systemd-apparmor" => ["apparmor.service", "Load AppArmor profiles", "AppArmor initialization"],
    "systemd-plymouth" => ["plymouth-quit-wait.service", "plymouth-start.service", "plymouth-read-write.service", "plymouth-quit.service", "Hold until boot process finishes up", "Show Plymouth Boot Screen"],
    "systemd-apt-daily" => ["apt-daily.service", "apt-daily-upgrade.service", "unattended-upgrades.service", "packagekit.service", "dnf-makecache.service", "Daily apt download activities", "Daily apt upgrade and clean activities"],
    "systemd-persistent-timers" => ["man-db.service", "logrotate.service", "e2scrub_all.service", "fstrim.service", "dpkg-db-backup.service", "plocate-updatedb.service", "updatedb.service", "mlocate-updatedb.service", "motd-news.service", "anacron.service"],
    "systemd-snapd" => ["snapd.service", "snapd.seeded.service", "snapd.apparmor.service", "snap-*", "Snap Daemon", "Wait until snapd is fully seeded"],
    "systemd-cloud-init" => ["cloud-init.service", "cloud-init-local.service", "cloud-init-main.service", "cloud-init-network.service", "cloud-config.service", "cloud-final.service", "Cloud-init:*", "Initial cloud-init job*"],
    "systemd-docker" => ["docker.service", "containerd.service", "podman.service", "podman-restart.service", "k3s.service", "crio.service", "Docker Application Container Engine", "containerd container runtime"],
    "systemd-unused-daemons" => ["ModemManager.service", "bluetooth.service", "cups.service", "cups-browsed.service", "avahi-daemon.service", "exim4.service", "postfix.service", "e2scrub_reap.service", "smartmontools.service", "switcheroo-control.service", "colord.service", "accounts-daemon.service", "udisks2.service", "pcscd.service", "Modem Manager", "Bluetooth service"],
    "systemd-ssh-keys" => ["sshd-keygen@*", "sshd-keygen.service", "sshdgenkeys.service", "regenerate_ssh_host_keys.service", "ssh-keygen.service", "OpenSSH Key Generation"],
    "initramfs-dracut-queue" => ["dracut-initqueue.service", "dracut-pre-udev.service", "dracut-pre-trigger.service", "dracut initqueue hook"],
    "systemd-rc-local" => ["rc-local.service", "/etc/rc.local Compatibility"],
}
