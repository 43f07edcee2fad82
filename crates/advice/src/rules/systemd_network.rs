//! Units that wait for the network.

use super::units::Slow;
use super::{Rule, rule};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[&WAIT_ONLINE, &DHCP, &FIREWALL, &TIME_SYNC, &REMOTE];

/// The units that these rules look at.
pub(super) static UNITS: &[&Slow] = &[
    &WAIT_ONLINE_UNITS,
    &DHCP_UNITS,
    &FIREWALL_UNITS,
    &TIME_SYNC_UNITS,
    &REMOTE_UNITS,
];

rule! {
    /// The boot waits until the network is online.
    ///
    /// **Why.** Units ordered behind `network-online.target` start only when an address
    /// is there, which takes link negotiation and DHCP.
    ///
    /// **Evidence.** The start of `NetworkManager-wait-online.service`, `systemd-
    /// networkd-wait-online.service` and their like as systemd, the journal or the
    /// console shows it. Where the order of units is known, the saving is what this
    /// boot, replayed without it, gains; where nothing waited for it, nothing is said.
    ///
    /// **Fix.** Take `network-online.target` out of `After=` and `Wants=` of the units
    /// that name it (`systemctl list-dependencies --reverse network-online.target`);
    /// `nm-online` without `-s`; disable the unit if nothing needs it.
    ///
    /// **Risk.** Programs must cope with a network that comes later.
    ///
    /// **Figures.** 28 to 18 s (Qualcomm iq-615); 10 to 12 s on other targets.
    WAIT_ONLINE = "systemd-wait-online", Userspace, wait_online
}

pub(super) static WAIT_ONLINE_UNITS: Slow = Slow {
    names: &[
        "NetworkManager-wait-online.service",
        "systemd-networkd-wait-online.service",
        "systemd-networkd-wait-online@*",
        "ifupdown-wait-online.service",
        "connman-wait-online.service",
        "Network Manager Wait Online",
        "Wait for Network to be Configured",
    ],
    title: "the boot waits until the network is online",
    fix: "take `network-online.target` out of the units that wait for it, or `systemctl disable` the waiting unit",
};

fn wait_online(boot: &Boot<'_>) -> Option<Finding> {
    WAIT_ONLINE_UNITS.find(boot)
}

rule! {
    /// A unit waits for DHCP.
    ///
    /// **Why.** `networking.service` and `dhcpcd.service` end only when there is an
    /// address or a time-out, and much is ordered behind them.
    ///
    /// **Evidence.** The start of `networking.service`, `dhcpcd.service` and their like
    /// as systemd, the journal or the console shows it. Where the order of units is
    /// known, the saving is what this boot, replayed without it, gains; where nothing
    /// waited for it, nothing is said.
    ///
    /// **Fix.** A static address; `dhcpcd -b` (background); `allow-hotplug` instead of
    /// `auto` in `/etc/network/interfaces`; or a manager that does not block.
    ///
    /// **Risk.** Programs must cope with a network that comes later.
    ///
    /// **Figures.** None is published; 1 to 3 s are typical for link negotiation and
    /// DHCP.
    DHCP = "systemd-dhcp", Userspace, dhcp
}

pub(super) static DHCP_UNITS: Slow = Slow {
    names: &[
        "networking.service",
        "dhcpcd.service",
        "dhcpcd5.service",
        "dhclient@*",
        "wicked.service",
        "Raise network interfaces",
        "DHCP Client Daemon",
    ],
    title: "a unit waits for DHCP before the boot goes on",
    fix: "use a static address, or let DHCP run in the background (`dhcpcd -b`, `allow-hotplug`)",
};

fn dhcp(boot: &Boot<'_>) -> Option<Finding> {
    DHCP_UNITS.find(boot)
}

rule! {
    /// Firewall rules are loaded by a slow program.
    ///
    /// **Why.** firewalld is Python; `ufw` runs hundreds of processes. They run before
    /// the network, which waits for them.
    ///
    /// **Evidence.** The start of `firewalld.service`, `ufw.service` and their like as
    /// systemd, the journal or the console shows it. Where the order of units is known,
    /// the saving is what this boot, replayed without it, gains; where nothing waited
    /// for it, nothing is said.
    ///
    /// **Fix.** One `nft -f` with finished rules (`nftables.service`).
    ///
    /// **Risk.** Rules that programs add at run time need another way.
    ///
    /// **Figures.** None is published; a Python interpreter alone starts in 43 ms on a
    /// PC.
    FIREWALL = "systemd-firewall", Userspace, firewall
}

pub(super) static FIREWALL_UNITS: Slow = Slow {
    names: &[
        "firewalld.service",
        "ufw.service",
        "netfilter-persistent.service",
        "shorewall.service",
        "firewalld - dynamic firewall daemon",
        "Uncomplicated firewall",
    ],
    title: "firewall rules are loaded by a slow program before the network",
    fix: "load finished rules with one `nft -f` (nftables.service)",
};

fn firewall(boot: &Boot<'_>) -> Option<Finding> {
    FIREWALL_UNITS.find(boot)
}

rule! {
    /// The boot waits until the clock is set over the network.
    ///
    /// **Why.** `time-sync.target` with a waiting unit holds everything ordered behind
    /// it until an NTP server has answered.
    ///
    /// **Evidence.** The start of `systemd-time-wait-sync.service`, `chrony-
    /// wait.service` and their like as systemd, the journal or the console shows it.
    /// Where the order of units is known, the saving is what this boot, replayed
    /// without it, gains; where nothing waited for it, nothing is said.
    ///
    /// **Fix.** Disable the waiting unit; order only what needs the right time behind
    /// `time-sync.target`; an RTC or `systemd-timesyncd`'s saved clock is near enough
    /// for most.
    ///
    /// **Risk.** Certificates and logs see a wrong time until then.
    ///
    /// **Figures.** None is published; it is the network's time and more.
    TIME_SYNC = "systemd-time-sync", Userspace, time_sync
}

pub(super) static TIME_SYNC_UNITS: Slow = Slow {
    names: &[
        "systemd-time-wait-sync.service",
        "chrony-wait.service",
        "ntp-wait.service",
        "ntpdate.service",
        "Wait Until Kernel Time Synchronized",
    ],
    title: "the boot waits until the clock is set over the network",
    fix: "disable the waiting unit, and order only what needs it behind `time-sync.target`",
};

fn time_sync(boot: &Boot<'_>) -> Option<Finding> {
    TIME_SYNC_UNITS.find(boot)
}

rule! {
    /// Services for network file systems start with the boot.
    ///
    /// **Why.** `remote-fs.target` and the RPC services are ordered before much of
    /// `multi-user.target`, and mounts wait for servers.
    ///
    /// **Evidence.** The start of `rpcbind.service`, `rpc-statd.service`, `nfs-*`,
    /// `autofs.service` as systemd, the journal or the console shows it. Where the
    /// order of units is known, the saving is what this boot, replayed without it,
    /// gains; where nothing waited for it, nothing is said.
    ///
    /// **Fix.** `x-systemd.automount,nofail,_netdev` in `/etc/fstab`; disable the
    /// services where nothing is mounted.
    ///
    /// **Risk.** The first access waits instead.
    ///
    /// **Figures.** None is published; it depends on the server.
    REMOTE = "systemd-remote-mounts", Userspace, remote
}

pub(super) static REMOTE_UNITS: Slow = Slow {
    names: &[
        "rpcbind.service",
        "rpc-statd.service",
        "rpc-statd-notify.service",
        "nfs-*",
        "autofs.service",
        "nfsdcld.service",
    ],
    title: "services for network file systems start with the boot",
    fix: "mount with `x-systemd.automount,nofail`, and disable what nothing uses",
};

fn remote(boot: &Boot<'_>) -> Option<Finding> {
    REMOTE_UNITS.find(boot)
}
