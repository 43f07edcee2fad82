//! What the kernel waits for between its last driver and its first program.

use bootlap_model::{Span, TrackKind};

use super::checks;
use super::seen::{init_ns, is_kernels, ms, of_initcalls, value};
use crate::boot::{evidence, total_ns};
use crate::lines::Begin;
use crate::{Boot, Finding};

checks! {
    "cmdline-root-wait" => root_delay,
    "device-root-wait" => root_device,
    "cmdline-rootfstype" => root_type,
    "cmdline-no-ip" => no_ip,
    "cmdline-static-ip" => nfs_root,
    "cmdline-no-raid-autodetect" => raid_autodetect,
}

fn root_delay(boot: &Boot<'_>) -> Option<Finding> {
    let finding = Finding::new().recipe(boot.recipe("cmdline-root-wait"));
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
    Some(
        finding
            .why(format!("`{parameter}` is on the command line"))
            .saves_on_board(
                s.saturating_mul(1_000_000_000),
                "at most: the seconds that `rootdelay=` says, if the kernel itself mounts the root",
            ),
    )
}

/// Less than this is a few polls.
const WAIT_NS: i64 = 20_000_000;

/// Whether a line lists the partitions of the disk that `root` is on: `mmcblk0: p1 p2`,
/// ` sda: sda1 sda2`. A root that is named otherwise (`PARTUUID=`) can be on any.
fn names_partitions(text: &str, root: Option<&str>) -> bool {
    let Some((disk, list)) = text.trim().split_once(": ") else {
        return false;
    };
    let is_disk = ["mmcblk", "sd", "vd", "nvme", "hd", "xvd"]
        .iter()
        .any(|d| disk.strip_prefix(d).is_some_and(|rest| rest.len() <= 4));
    let mut words = list.split_whitespace();
    let is_partition = |word: &str| {
        let number = word.strip_prefix(disk).unwrap_or(word);
        let number = number.strip_prefix('p').unwrap_or(number);
        number.len() < word.len() && number.bytes().all(|b| b.is_ascii_digit())
    };
    let device = root.and_then(|root| root.strip_prefix("/dev/"));
    let is_its = device.is_none_or(|device| device.starts_with(disk));
    is_disk && is_its && words.next().is_some_and(is_partition)
}

fn root_device(boot: &Boot<'_>) -> Option<Finding> {
    let waits = boot.spans(TrackKind::Kernel, "wait for root device");
    let wait = waits.iter().max_by_key(|w| w.ns())?;
    if total_ns(&waits) < WAIT_NS {
        return None;
    }
    // Once its partitions are there, the disk is waited for no longer.
    let root = boot.line("Waiting for root device ");
    let root = root.and_then(|l| l.text.split("root device ").nth(1));
    let root = root.map(|device| device.trim_end_matches('.'));
    let ready = boot
        .lines()
        .all((": ", |t: &str| names_partitions(t, root)));
    let ready = ready.filter(|l| l.start_ns < wait.end_ns);
    let ready = ready.max_by_key(|l| l.start_ns);
    let end_ns = ready.map_or(wait.end_ns, |l| l.start_ns);
    let waited_ns = end_ns.saturating_sub(wait.start_ns);
    if waited_ns < WAIT_NS {
        return None;
    }
    let there = ready.map(|l| format!(", until `{}`", l.text));
    Some(
        Finding::new()
            .why(format!("{}{}", ms(waited_ns), there.unwrap_or_default()))
            .saves(
                waited_ns,
                "at most: the wait, which the storage's own start takes part of",
            )
            .at(Some([wait.start_ns, end_ns]))
            .seen([wait.span.evidence]),
    )
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
    let is_anothers = |text: &str| fs != "f2fs" || !text.contains("F2FS");
    let first = boot.line((COMPLAINTS, is_anothers));
    let first = first.filter(|l| l.start_ns < mounted.start_ns);
    let finding = Finding::new()
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
pub(super) fn is_nfs(boot: &Boot<'_>) -> bool {
    let root = value(boot, "root");
    let network = ["/dev/nfs", "/dev/cifs"];
    root.is_some_and(|root| network.contains(&root))
        || boot.parameter("nfsroot").is_some()
        || boot.line("VFS: Mounted root (nfs").is_some()
}

/// An address has come.
const ANSWERED: &str = "IP-Config: Complete";

/// The wait for an address, ns on the axis.
pub(super) fn address_wait(boot: &Boot<'_>) -> Option<[i64; 2]> {
    let begins = [
        "Waiting up to ",
        "Sending DHCP requests",
        "Sending BOOTP requests",
    ];
    let begin = begins.iter().find_map(|b| {
        let line = boot.line(*b)?;
        let is_network = !b.starts_with("Waiting") || line.text.contains("for network");
        is_network.then_some(line)
    })?;
    let ends = [ANSWERED, "IP-Config: Auto-configuration of network failed"];
    let end = ends.iter().find_map(|e| boot.line(*e))?;
    (end.start_ns > begin.start_ns).then_some([begin.start_ns, end.start_ns])
}

fn no_ip(boot: &Boot<'_>) -> Option<Finding> {
    if is_nfs(boot) {
        return None;
    }
    let complete = |finding: Finding| finding.recipe(boot.recipe("cmdline-no-ip"));
    let calls = super::seen::built_in(boot, &["ip_auto_config"]);
    if let Some(finding) = of_initcalls(boot, &calls) {
        return Some(complete(finding));
    }
    if let Some(at) = address_wait(boot) {
        let ns = at[1].saturating_sub(at[0]);
        let seen = boot.spans(TrackKind::Kernel, Span::ADDRESS_WAIT);
        let (why, basis) = match boot.line(ANSWERED) {
            Some(_) => ("for an answer", "from the first request to the answer"),
            None => (
                "for an answer that never came",
                "from the first request until it gave up",
            ),
        };
        let finding = Finding::new()
            .why(format!("{} {why}", ms(ns)))
            .saves(ns, basis)
            .at(Some(at))
            .seen(evidence(&seen));
        return Some(complete(finding));
    }
    let asked = value(boot, "ip")?;
    let auto = asked.rsplit(':').next().unwrap_or(asked);
    let dynamic = ["dhcp", "on", "any", "both", "bootp", "rarp"];
    if init_ns(boot).is_some() || !dynamic.contains(&auto) {
        return None;
    }
    let finding = Finding::new()
        .why(format!("`ip={asked}` is on the command line"))
        .saves_unknown(
            "it depends on the link's negotiation and on the server; 1 to 12 s were seen",
        );
    Some(complete(finding))
}

fn nfs_root(boot: &Boot<'_>) -> Option<Finding> {
    if !is_nfs(boot) {
        return None;
    }
    let requests = ["Sending DHCP requests", "Sending BOOTP requests"];
    let line = requests.iter().find_map(|text| boot.line(*text))?;
    let at = boot.between(line.text, ANSWERED)?;
    let ns = at[1].saturating_sub(at[0]);
    let seen = boot.spans(TrackKind::Kernel, Span::ADDRESS_WAIT);
    Some(
        Finding::new()
            .why(format!("{} from `{}` to the answer", ms(ns), line.text))
            .saves(ns, "from the request to the answer")
            .at(Some(at))
            .seen(evidence(&seen).into_iter().chain([line.evidence])),
    )
}

fn raid_autodetect(boot: &Boot<'_>) -> Option<Finding> {
    if boot.lines().has(Begin(["md: bind<", "md/raid"])) {
        return None;
    }
    let begins = [
        "md: Waiting for all devices",
        "md: Autodetecting RAID arrays",
    ];
    let line = begins.iter().find_map(|text| boot.line(*text))?;
    let at = boot.between(line.text, "autorun DONE")?;
    let ns = at[1].saturating_sub(at[0]);
    Some(
        Finding::new()
            .why(format!("from `{}` on it takes {}", line.text, ms(ns)))
            .saves(
                ns,
                "at most: from that line to `autorun DONE`; slow devices come later then",
            )
            .recipe(boot.recipe("cmdline-no-raid-autodetect"))
            .at(Some(at))
            .seen([line.evidence]),
    )
}
