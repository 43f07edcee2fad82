//! What the kernel waits for between its last driver and its first program.

use bootlap_model::TrackKind;

use super::seen::{init_ns, is_kernels, ms, of_initcalls, value};
use super::{Rule, rule};
use crate::boot::total_ns;
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[
    &ROOT_DELAY,
    &ROOT_DEVICE,
    &ROOT_TYPE,
    &NO_IP,
    &NFS_ROOT,
    &RAID_AUTODETECT,
];

rule! {
    /// The kernel sleeps before it mounts the root filesystem.
    ///
    /// **Why.** `rootdelay=N` sleeps N seconds, whether the device is there or not.
    ///
    /// **Evidence.** The time behind `Waiting N sec before mounting root device...`; else
    /// the parameter, whose value is the time.
    ///
    /// **Fix.** `rootwait` instead, which goes on as soon as the device is there.
    ///
    /// **Risk.** A device that never comes is waited for without end; since 6.7 also
    /// `rootwait=N` seconds.
    ///
    /// **Figures.** N seconds, less what the device itself needs.
    ROOT_DELAY = "cmdline-root-wait", Kernel, root_delay
}

fn root_delay(boot: &Boot<'_>) -> Option<Finding> {
    let finding = Finding::new("the kernel sleeps before it mounts the root filesystem")
        .fix("replace `rootdelay=` by `rootwait` on the command line")
        .recipe(boot.recipe("cmdline-root-wait"));
    if let Some(line) = boot.line("sec before mounting root device") {
        let finding = finding
            .why(format!("`{}` takes {}", line.text, ms(line.ns())))
            .saves(
                line.ns(),
                "at most: from that line to the next, less what the device needs",
            )
            .at(Some(line.at()))
            .seen([line.evidence]);
        return Some(finding);
    }
    // Seen whole, and nothing was waited for: an initramfs was booted.
    let parameter = boot
        .parameter("rootdelay")
        .filter(|_| init_ns(boot).is_none())?;
    let s: i64 = parameter
        .split_once('=')?
        .1
        .parse()
        .ok()
        .filter(|s| *s > 0)?;
    let finding = finding
        .why(format!("`{parameter}` is on the command line"))
        .saves_on_board(
            s.saturating_mul(1_000_000_000),
            "at most: the seconds that `rootdelay=` says, if the kernel itself mounts the root",
        );
    Some(finding)
}

/// Less than this is a few polls.
const WAIT_NS: i64 = 20_000_000;

rule! {
    /// The kernel waits until its root device is there.
    ///
    /// **Why.** Everything else is done, and the storage is still being probed: a card
    /// that is identified, a disk that spins up, USB that settles.
    ///
    /// **Evidence.** The time from `Waiting for root device DEVICE...` to the mount,
    /// 20 ms and more. What the log says in between names the culprit.
    ///
    /// **Fix.** Bring the storage's driver forward: build it in, with its clocks,
    /// regulators and pins, so that its probe is not deferred; probe it beside others
    /// (`driver_async_probe=`), and put slow probes of others behind it. On an SD or MMC
    /// slot `non-removable` and no `cd-gpios` in the device tree skip looking for cards.
    ///
    /// **Risk.** None for the order; `non-removable` is wrong for a slot.
    ///
    /// **Figures.** None is published; the wait is what can be saved at most.
    ROOT_DEVICE = "device-root-wait", Kernel, root_device
}

fn root_device(boot: &Boot<'_>) -> Option<Finding> {
    let waits = boot.spans(TrackKind::Kernel, "wait for root device");
    let wait = waits.iter().max_by_key(|w| w.ns())?;
    if total_ns(&waits) < WAIT_NS {
        return None;
    }
    let said = boot.lines().iter().filter(|l| {
        (wait.start_ns..wait.end_ns).contains(&l.next_ns) && l.start_ns > wait.start_ns
    });
    let slowest = said
        .max_by_key(|l| l.start_ns)
        .map(|l| format!("; last it said `{}`", l.text));
    let finding = Finding::new("the kernel waits until its root device is there")
        .why(format!("{}{}", ms(wait.ns()), slowest.unwrap_or_default()))
        .saves(
            total_ns(&waits),
            "at most: the wait, which the storage's own start takes part of",
        )
        .fix(
            "build in the storage's driver and all that it depends on, and let it probe beside \
             others with `driver_async_probe=`",
        )
        .at(Some(wait.at()))
        .seen([wait.span.evidence]);
    Some(finding)
}

rule! {
    /// The kernel guesses the type of the root filesystem.
    ///
    /// **Why.** Without `rootfstype=` each built-in filesystem tries to mount the device,
    /// in the order in which they were linked; each reads its superblock.
    ///
    /// **Evidence.** `VFS: Mounted root (TYPE filesystem)` with a command line that lacks
    /// `rootfstype=`. How long: from the first complaint of another filesystem to that
    /// line, if there is one.
    ///
    /// **Fix.** `rootfstype=TYPE`.
    ///
    /// **Risk.** None, until the root filesystem becomes another.
    ///
    /// **Figures.** None is published: "small", each try reads a block, and its complaint
    /// is printed.
    ROOT_TYPE = "cmdline-rootfstype", Kernel, root_type
}

/// What filesystems say of a device that is another's.
const COMPLAINTS: [&str; 7] = [
    "couldn't mount as ext",
    "couldn't mount because of unsupported optional features",
    "VFS: Can't find a",
    "unable to read superblock",
    "cramfs: wrong magic",
    "squashfs: SQUASHFS error: Can't find a SQUASHFS superblock",
    "F2FS-fs (",
];

fn root_type(boot: &Boot<'_>) -> Option<Finding> {
    let mounted = boot.line("VFS: Mounted root (")?;
    let (_, rest) = mounted.text.split_once("VFS: Mounted root (")?;
    let (fs, _) = rest.split_once(" filesystem)")?;
    // NFS is not guessed, and has a rule of its own.
    if fs.starts_with("nfs") || !boot.lacks("rootfstype") || !is_kernels(boot, &mounted) {
        return None;
    }
    let lines = boot.lines().iter();
    let mut before = lines.filter(|l| l.start_ns < mounted.start_ns);
    let is_complaint = |text: &str| {
        COMPLAINTS.iter().any(|c| text.contains(c)) && !(fs == "f2fs" && text.contains("F2FS"))
    };
    let first = before.find(|l| is_complaint(l.text));
    let finding = Finding::new("the kernel guesses the type of the root filesystem")
        .fix(format!("add `rootfstype={fs}` to the command line"))
        .recipe(boot.recipe(&format!("cmdline-rootfstype={fs}")));
    let finding = match first {
        Some(first) => finding
            .why(format!("`{}`, then `{}`", first.text, mounted.text))
            .saves(
                mounted.start_ns.saturating_sub(first.start_ns),
                "at most: from the first complaint to the mount",
            )
            .at(Some([first.start_ns, mounted.start_ns]))
            .seen([first.evidence, mounted.evidence]),
        None => finding
            .why(format!("it found {fs} by itself"))
            .saves_unknown("a superblock's reading for each built-in filesystem before it")
            .seen([mounted.evidence]),
    };
    Some(finding)
}

/// Whether the root filesystem comes over the network.
fn is_nfs(boot: &Boot<'_>) -> bool {
    let root = value(boot, "root");
    let network = ["/dev/nfs", "/dev/cifs"];
    root.is_some_and(|root| network.contains(&root))
        || boot.parameter("nfsroot").is_some()
        || boot.line("VFS: Mounted root (nfs").is_some()
}

/// The wait for an address, ns on the axis.
fn address_wait(boot: &Boot<'_>) -> Option<[i64; 2]> {
    let begins = [
        "Waiting up to ",
        "Sending DHCP requests",
        "Sending BOOTP requests",
    ];
    let begin = begins.iter().find_map(|b| {
        let line = boot.line(b)?;
        let is_network = !b.starts_with("Waiting") || line.text.contains("for network");
        is_network.then_some(line)
    })?;
    let ends = [
        "IP-Config: Complete",
        "IP-Config: Auto-configuration of network failed",
    ];
    let end = ends.iter().find_map(|e| boot.line(e))?;
    (end.start_ns > begin.start_ns).then_some([begin.start_ns, end.start_ns])
}

rule! {
    /// The kernel waits for an address before the first program.
    ///
    /// **Why.** `ip=dhcp` (or `ip=on`) waits for the link and for an answer. Only a root
    /// filesystem on the network needs that in the kernel.
    ///
    /// **Evidence.** The initcall `ip_auto_config`, or the time from `Waiting up to N more
    /// seconds for network` or `Sending DHCP requests` to `IP-Config: Complete`; else
    /// `ip=` on the command line. Not with an NFS root.
    ///
    /// **Fix.** Remove `ip=`; user space gets the address beside the application's start.
    ///
    /// **Risk.** Programs that expect an address at once have to wait themselves.
    ///
    /// **Figures.** 12 s at each boot (arm64 Chromebooks in LAVA, kernelCI); 1.51 s for
    /// `ip_auto_config` (OMAP EVM, T. Bird).
    NO_IP = "cmdline-no-ip", Kernel, no_ip
}

fn no_ip(boot: &Boot<'_>) -> Option<Finding> {
    if is_nfs(boot) {
        return None;
    }
    let title = "the kernel waits for an address before the first program";
    let complete = |finding: Finding| {
        finding
            .fix("remove `ip=` from the command line, and get the address in user space")
            .recipe(boot.recipe("cmdline-no-ip"))
    };
    let calls = super::seen::built_in(boot, &["ip_auto_config"]);
    if let Some(finding) = of_initcalls(boot, &calls, title) {
        return Some(complete(finding));
    }
    if let Some(at) = address_wait(boot) {
        let ns = at[1].saturating_sub(at[0]);
        let line = boot.line("IP-Config: ");
        let finding = Finding::new(title)
            .why(format!("{} for an answer", ms(ns)))
            .saves(ns, "from the first request to the answer")
            .at(Some(at))
            .seen(line.map(|l| l.evidence));
        return Some(complete(finding));
    }
    let asked = value(boot, "ip")?;
    let auto = asked.rsplit(':').next().unwrap_or(asked);
    let dynamic = ["dhcp", "on", "any", "both", "bootp", "rarp"];
    if init_ns(boot).is_some() || !dynamic.contains(&auto) {
        return None;
    }
    let finding = Finding::new(title)
        .why(format!("`ip={asked}` is on the command line"))
        .saves_unknown(
            "it depends on the link's negotiation and on the server; 1 to 12 s were seen",
        );
    Some(complete(finding))
}

rule! {
    /// The kernel asks for an address to mount its root over NFS.
    ///
    /// **Why.** The root filesystem is on the network, so the kernel has to have an
    /// address; asking for it takes the link's negotiation and a server's time.
    ///
    /// **Evidence.** The time from `Sending DHCP requests` to `IP-Config: Complete` with an
    /// NFS root.
    ///
    /// **Fix.** `ip=CLIENT:SERVER:GATEWAY:NETMASK::eth0:off`, with fixed addresses.
    ///
    /// **Risk.** Each board needs a command line of its own. A product does not boot over
    /// NFS: measure with its own storage.
    ///
    /// **Figures.** 1.51 s for `ip_auto_config` with an NFS root (OMAP EVM, T. Bird).
    NFS_ROOT = "cmdline-static-ip", Kernel, nfs_root
}

fn nfs_root(boot: &Boot<'_>) -> Option<Finding> {
    if !is_nfs(boot) {
        return None;
    }
    let requests = ["Sending DHCP requests", "Sending BOOTP requests"];
    let line = requests.iter().find_map(|text| boot.line(text))?;
    let at = boot.between(line.text, "IP-Config: Complete")?;
    let ns = at[1].saturating_sub(at[0]);
    let finding = Finding::new("the kernel asks for an address to mount its root over NFS")
        .why(format!("{} from `{}` to the answer", ms(ns), line.text))
        .saves(ns, "from the request to the answer")
        .fix("name the addresses: `ip=CLIENT:SERVER:GATEWAY:NETMASK::eth0:off`")
        .at(Some(at))
        .seen([line.evidence]);
    Some(finding)
}

rule! {
    /// The kernel looks for RAID arrays that are not there.
    ///
    /// **Why.** Before it mounts the root, it waits for *all* devices to be probed, also
    /// the slow ones that the boot does not need, and then looks at all partitions.
    ///
    /// **Evidence.** The time from `md: Waiting for all devices to be available before
    /// autodetect` (or `md: Autodetecting RAID arrays`) to `md: ... autorun DONE`, if
    /// no array was started.
    ///
    /// **Fix.** `raid=noautodetect`, or `CONFIG_MD_AUTODETECT=n`.
    ///
    /// **Risk.** Old arrays (metadata 0.90, partition type fd) are not assembled by the
    /// kernel; `mdadm` in an initramfs does that for all.
    ///
    /// **Figures.** None is published alone; the boot itself tells.
    RAID_AUTODETECT = "cmdline-no-raid-autodetect", Kernel, raid_autodetect
}

fn raid_autodetect(boot: &Boot<'_>) -> Option<Finding> {
    let started = |t: &str| t.starts_with("md: bind<") || t.starts_with("md/raid");
    if boot.lines().iter().any(|l| started(l.text)) {
        return None;
    }
    let begins = [
        "md: Waiting for all devices",
        "md: Autodetecting RAID arrays",
    ];
    let line = begins.iter().find_map(|text| boot.line(text))?;
    let at = boot.between(line.text, "autorun DONE")?;
    let ns = at[1].saturating_sub(at[0]);
    let finding = Finding::new("the kernel looks for RAID arrays that are not there")
        .why(format!("from `{}` on it takes {}", line.text, ms(ns)))
        .saves(
            ns,
            "at most: from that line to `autorun DONE`; slow devices come later then",
        )
        .fix("add `raid=noautodetect` to the command line, or build with CONFIG_MD_AUTODETECT=n")
        .recipe(boot.recipe("cmdline-no-raid-autodetect"))
        .at(Some(at))
        .seen([line.evidence]);
    Some(finding)
}
