//! The initramfs: what it holds, how it is unpacked, what it waits for.

use bootlap_model::{Milestone, Span, TrackKind};

use super::checks;
use super::stages::{since_kernel, stage, until};
use crate::boot::{evidence, total_ns};
use crate::lines::{Begin, number_after};
use crate::{Boot, Finding};

checks! {
    "initramfs-strip" => large,
    "initramfs-none" => needless,
    "config-initramfs-compression" => twice,
    "initramfs-async" => unpacks_alone,
    "initramfs-resume" => resume,
    "initramfs-root-wait" => root_wait,
    "initramfs-dracut-timeout" => dracut_timeout,
    "initramfs-btrfs-scan" => btrfs_scan,
}

/// Larger than this, an initramfs holds more than the way to the root.
const LARGE_KIB: u64 = 10 * 1024;

fn large(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let line = lines.find("Freeing initrd memory: ")?;
    let kib: u64 = number_after(line.text, "Freeing initrd memory: ")?
        .parse()
        .ok()?;
    let unpacks = boot.spans(TrackKind::Kernel, Span::UNPACK_INITRAMFS);
    let recipe = boot.recipe("initramfs-strip");
    let finding = Finding::new()
        .why(format!("it has {} MiB", kib / 1024))
        .recipe(recipe.clone())
        .seen(evidence(&unpacks).into_iter().chain([line.evidence]));
    let finding = match unpacks.first() {
        // Stripping takes a part of it.
        Some(first) if recipe.is_ok() => finding
            .saves_unknown("a part of unpacking and reading it, which a try measures")
            .at(Some(first.at())),
        Some(first) => finding
            .saves(
                total_ns(&unpacks),
                "at most: unpacking all of it, as seen in this boot",
            )
            .at(Some(first.at())),
        None => finding.saves_unknown("reading and unpacking what is left out; not seen here"),
    };
    (kib > LARGE_KIB).then_some(finding)
}

/// Whether something shows that an initramfs ran, and nothing that the kernel mounted the root
/// itself. (That it was unpacked does not: there is always an empty one.)
fn runs(boot: &Boot<'_>) -> bool {
    let mut programs = boot.lines().all(" as init process");
    let first = programs.find_map(|l| l.text.strip_prefix("Run "));
    match first {
        _ if boot.line("VFS: Mounted root (").is_some() => false,
        Some(program) => program.starts_with("/init "),
        None => {
            boot.moment(&[Milestone::SwitchRoot]).is_some()
                || boot.line("Freeing initrd memory: ").is_some()
        }
    }
}

fn needless(boot: &Boot<'_>) -> Option<Finding> {
    let root = boot.parameter("root")?.strip_prefix("root=")?;
    let plain = [
        "/dev/mmcblk",
        "/dev/sd",
        "/dev/nvme",
        "/dev/vd",
        "PARTUUID=",
    ];
    let begin = boot.moment(&[Milestone::InitStart, Milestone::UserEntry])?;
    let end = boot.moment(&[Milestone::SwitchRoot, Milestone::ManagerStart])?;
    if !plain.iter().any(|p| root.starts_with(p)) || end <= begin || !runs(boot) {
        return None;
    }
    let unpacks = boot.spans(TrackKind::Kernel, Span::UNPACK_INITRAMFS);
    let ns = end.saturating_sub(begin).saturating_add(total_ns(&unpacks));
    Some(
        Finding::new()
            .why(format!(
                "root={root} needs none, if its drivers are built in"
            ))
            .saves(
                ns,
                "at most: its programs and its unpacking; finding the disk remains",
            )
            .recipe(boot.recipe("initramfs-none"))
            .at(Some([begin, end]))
            .seen(evidence(&unpacks)),
    )
}

fn twice(boot: &Boot<'_>) -> Option<Finding> {
    let config = boot.kernel_config()?;
    let source = config.text("INITRAMFS_SOURCE")?;
    let packed = ["GZIP", "BZIP2", "LZMA", "XZ", "LZO", "LZ4", "ZSTD"];
    let kernel = packed
        .iter()
        .find(|a| config.is_on(&format!("KERNEL_{a}")))?;
    let inner = packed
        .iter()
        .find(|a| config.is_on(&format!("INITRAMFS_COMPRESSION_{a}")))?;
    (!source.is_empty()).then(|| {
        Finding::new()
            .why(format!("its {inner} lies inside of the kernel's {kernel}"))
            .saves_unknown("the time to unpack it once more, which its size decides")
    })
}

fn unpacks_alone(boot: &Boot<'_>) -> Option<Finding> {
    let unpacks = boot.spans(TrackKind::Kernel, Span::UNPACK_INITRAMFS);
    let first = unpacks.first()?;
    let (_, version) = boot
        .line("Linux version ")?
        .text
        .split_once("Linux version ")?;
    let mut numbers = version
        .split(['.', '-', ' '])
        .map(|n| n.parse::<u32>().ok());
    let (major, minor) = (numbers.next()??, numbers.next()??);
    let off = boot.parameter("initramfs_async") == Some("initramfs_async=0");
    let one_cpu = boot.line("smp: Brought up 1 node, 1 CPU").is_some();
    if one_cpu || !off && (major, minor) >= (5, 13) {
        return None;
    }
    Some(
        Finding::new()
            .why(match off {
                true => "`initramfs_async=0` is on the command line".to_owned(),
                false => format!("Linux {major}.{minor} cannot do it in the background"),
            })
            .saves(
                total_ns(&unpacks),
                "at most: as far as other initcalls take as long",
            )
            .at(Some(first.at()))
            .seen(evidence(&unpacks)),
    )
}

fn resume(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let gave_up = "Gave up waiting for suspend/resume device";
    let wait = until(lines, "Waiting for suspend/resume device", gave_up)?;
    Some(
        wait.found()
            .why(format!("it gives up after {} ms", wait.ms()))
            .saves(wait.ns, "from the first of these lines to the last"),
    )
}

fn root_wait(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let waits = [
        "Begin: Waiting for root file system",
        "Begin: Running /scripts/local-block",
    ];
    let wait = stage(lines, waits)?;
    let finding = wait
        .found()
        .why(format!("it waits for {} ms", wait.ms()))
        .saves(wait.ns, "at most: as far as the disk can be there earlier");
    (wait.ns >= 100_000_000).then_some(finding)
}

fn dracut_timeout(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let waits = [
        "still waiting for following initqueue hooks",
        "starting timeout scripts",
    ];
    let wanted = (waits, |t: &str| t.contains("dracut-initqueue"));
    let mut wait = stage(lines, wanted)?;
    // It has waited for two thirds of its time when it warns first, and says nothing.
    let first = lines.places(wanted).next()?;
    wait.at[0] = lines[first.saturating_sub(1)].end_ns;
    let ns = wait.at[1].saturating_sub(wait.at[0]);
    Some(wait.found().why("its queue timed out").saves(
        ns,
        "at most: from the line before its first warning to the end of the last",
    ))
}

fn btrfs_scan(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let scan = stage(lines, "Scanning for Btrfs")?;
    let found = Begin(["BTRFS: device ", "BTRFS info (device"]);
    if scan.ns < 100_000_000 || lines.has(found) {
        return None;
    }
    let finding = scan.found().why(format!(
        "it takes {} ms, and no file system of that kind is found",
        scan.ms()
    ));
    Some(finding.saves(scan.ns, "from that line to the next"))
}
