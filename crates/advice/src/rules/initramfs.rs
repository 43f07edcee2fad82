//! The initramfs: what it holds, how it is unpacked, what it waits for.

use bootlap_model::{Milestone, TrackKind};

use super::stages::{since_kernel, stage, until};
use super::{Rule, rule};
use crate::boot::{evidence, total_ns};
use crate::lines::number_after;
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[
    &LARGE,
    &NEEDLESS,
    &TWICE,
    &ASYNC,
    &RESUME,
    &ROOT_WAIT,
    &DRACUT_TIMEOUT,
];

/// Larger than this, an initramfs holds more than the way to the root.
const LARGE_KIB: u64 = 10 * 1024;

rule! {
    /// The initramfs holds more than this machine needs.
    ///
    /// **Why.** Distributions pack drivers for every machine. All of it is read by the
    /// boot loader, unpacked and copied.
    ///
    /// **Evidence.** `Freeing initrd memory: 33120K`: more than 10 MiB. The saving is at
    /// most the time of unpacking; reading it comes on top.
    ///
    /// **Fix.** `MODULES=dep` (initramfs-tools), `hostonly=yes` (dracut), `HOOKS` with
    /// autodetect (mkinitcpio); or the recipe, which leaves out what the boot did not
    /// touch.
    ///
    /// **Risk.** It fits this machine only: other disks or keyboards may not be found.
    ///
    /// **Figures.** The kernel's part 4.24 to 2.24 s with 0.8 instead of 27 MB (Debian in
    /// a virtual machine).
    LARGE = "initramfs-strip", Initramfs, large
}

fn large(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let line = lines
        .iter()
        .find(|l| l.text.contains("Freeing initrd memory: "))?;
    let kib: u64 = number_after(line.text, "Freeing initrd memory: ")?
        .parse()
        .ok()?;
    let unpacks = boot.spans(TrackKind::Kernel, "unpack initramfs");
    let recipe = boot.recipe("initramfs-strip");
    let finding = Finding::new("the initramfs holds more than this machine needs")
        .why(format!("it has {} MiB", kib / 1024))
        .fix("pack what this machine needs: `MODULES=dep` (initramfs-tools), `hostonly` (dracut)")
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

rule! {
    /// An initramfs runs where the kernel could mount the root itself.
    ///
    /// **Why.** Reading, unpacking and running it takes its time, and only encrypted,
    /// networked or composed roots need it, if the drivers are built in.
    ///
    /// **Evidence.** The time from the initramfs's first program to the root filesystem
    /// (`Switching root`), with a `root=` that the kernel understands by itself (a
    /// partition or `PARTUUID=`).
    ///
    /// **Fix.** Build storage and filesystem drivers in, boot without `initrd`, with
    /// `root=` and `rootfstype=`.
    ///
    /// **Risk.** No fsck before mounting, no keyboard for a passphrase, `UUID=` and
    /// `LABEL=` do not work.
    ///
    /// **Figures.** 625 ms in the initramfs of a laptop; on the other hand, of seven root
    /// filesystems an initramfs was the quickest (BeagleBone Black).
    NEEDLESS = "initramfs-none", Initramfs, needless
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
    let end = boot.moment(&[Milestone::SwitchRoot])?;
    if !plain.iter().any(|p| root.starts_with(p)) || end <= begin {
        return None;
    }
    let unpacks = boot.spans(TrackKind::Kernel, "unpack initramfs");
    let ns = end.saturating_sub(begin).saturating_add(total_ns(&unpacks));
    let finding = Finding::new("an initramfs runs where the kernel could mount the root itself")
        .why(format!(
            "root={root} needs none, if its drivers are built in"
        ))
        .saves(
            ns,
            "at most: its programs and its unpacking; finding the disk remains",
        )
        .fix("build the drivers in and boot without an initrd, with `root=` and `rootfstype=`")
        .recipe(boot.recipe("initramfs-none"))
        .at(Some([begin, end]))
        .seen(evidence(&unpacks));
    Some(finding)
}

rule! {
    /// The built-in initramfs is compressed twice.
    ///
    /// **Why.** It is part of the kernel image, which is compressed as a whole.
    ///
    /// **Evidence.** The kernel's `.config`: `CONFIG_INITRAMFS_SOURCE` names something,
    /// `CONFIG_INITRAMFS_COMPRESSION_NONE` is off, and the kernel is compressed.
    ///
    /// **Fix.** `CONFIG_INITRAMFS_COMPRESSION_NONE=y`.
    ///
    /// **Risk.** None.
    ///
    /// **Figures.** -170 ms and -200 KB (BeagleBone Black, 1.6 MB); 11 ms of 5.5 s (AM335x),
    /// 18 ms of 8.8 s (AT91SAM9263).
    TWICE = "config-initramfs-compression", Initramfs, twice
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
        Finding::new("the built-in initramfs is compressed twice")
            .why(format!("its {inner} lies inside of the kernel's {kernel}"))
            .saves_unknown("the time to unpack it once more, which its size decides")
            .fix("set CONFIG_INITRAMFS_COMPRESSION_NONE=y")
    })
}

rule! {
    /// The initramfs is unpacked while nothing else runs.
    ///
    /// **Why.** Since 5.13 the kernel unpacks it in the background, beside its other
    /// initcalls.
    ///
    /// **Evidence.** The time of unpacking in a kernel before 5.13, by its banner, or with
    /// `initramfs_async=0` on the command line. The saving is at most that, and nothing
    /// with one CPU.
    ///
    /// **Fix.** A kernel from 5.13 on, or drop `initramfs_async=0`.
    ///
    /// **Risk.** Old drivers that load firmware from it very early may miss it.
    ///
    /// **Figures.** 0.6 s (PowerPC), about 1.8 s overlapped (26 MB of xz, Ubuntu), 0.35 s
    /// (Dell Mini 10v).
    ASYNC = "initramfs-async", Initramfs, unpacks_alone
}

fn unpacks_alone(boot: &Boot<'_>) -> Option<Finding> {
    let unpacks = boot.spans(TrackKind::Kernel, "unpack initramfs");
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
    let finding = Finding::new("the initramfs is unpacked while nothing else runs")
        .why(match off {
            true => "`initramfs_async=0` is on the command line".to_owned(),
            false => format!("Linux {major}.{minor} cannot do it in the background"),
        })
        .saves(
            total_ns(&unpacks),
            "at most: as far as other initcalls take as long",
        )
        .fix("use a kernel from 5.13 on, without `initramfs_async=0`")
        .at(Some(first.at()))
        .seen(evidence(&unpacks));
    Some(finding)
}

rule! {
    /// The initramfs waits for a swap partition that is gone.
    ///
    /// **Why.** initramfs-tools looks for the partition to resume from, and waits for it
    /// up to 30 s if it does not come.
    ///
    /// **Evidence.** From `Begin: Waiting for suspend/resume device` to
    /// `Gave up waiting for suspend/resume device`.
    ///
    /// **Fix.** `RESUME=none` in `/etc/initramfs-tools/conf.d/resume`, then
    /// `update-initramfs -u`; or `noresume` on the command line.
    ///
    /// **Risk.** No hibernation, which did not work anyway.
    ///
    /// **Figures.** None is published; 30 s is its time-out.
    RESUME = "initramfs-resume", Initramfs, resume
}

fn resume(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let waits = |t: &str| t.contains("Waiting for suspend/resume device");
    let gave_up = |t: &str| t.contains("Gave up waiting for suspend/resume device");
    let wait = until(&lines, |t| waits(t) && !gave_up(t), gave_up)?;
    let finding = wait
        .found("the initramfs waits for a swap partition that is gone")
        .why(format!("it gives up after {} ms", wait.ms()))
        .saves(wait.ns, "from the first of these lines to the last")
        .fix("write `RESUME=none` to /etc/initramfs-tools/conf.d/resume, `update-initramfs -u`");
    Some(finding)
}

rule! {
    /// The initramfs waits for the root device.
    ///
    /// **Why.** Its scripts ran before the disk was there: the driver probes late, or is a
    /// module that was loaded late.
    ///
    /// **Evidence.** The time of `Begin: Waiting for root file system ...` and
    /// `Begin: Running /scripts/local-block ...`, from 100 ms on.
    ///
    /// **Fix.** Build the storage driver and what it depends on (clock, regulator, PHY)
    /// in, or list them in `/etc/initramfs-tools/modules` to be loaded first.
    ///
    /// **Risk.** None; a larger kernel.
    ///
    /// **Figures.** None is published; it depends on the disk.
    ROOT_WAIT = "initramfs-root-wait", Initramfs, root_wait
}

fn root_wait(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let waits = [
        "Begin: Waiting for root file system",
        "Begin: Running /scripts/local-block",
    ];
    let wait = stage(&lines, |t| waits.iter().any(|w| t.contains(w)))?;
    let finding = wait
        .found("the initramfs waits for the root device")
        .why(format!("it waits for {} ms", wait.ms()))
        .saves(wait.ns, "at most: as far as the disk can be there earlier")
        .fix("build the storage driver and what it depends on in, or load it first");
    (wait.ns >= 100_000_000).then_some(finding)
}

rule! {
    /// dracut waits for something that does not come.
    ///
    /// **Why.** Its queue waits for every device that the command line or its
    /// configuration names, with long time-outs.
    ///
    /// **Evidence.** `dracut-initqueue: timeout, still waiting for following initqueue
    /// hooks` or `starting timeout scripts`: the silence is the time from the first to the
    /// last.
    ///
    /// **Fix.** Take the device out of `rd.lvm.lv=`, `rd.luks.uuid=`, `rd.md.uuid=`,
    /// `resume=` and of dracut's configuration; build with `hostonly`.
    ///
    /// **Risk.** A device that is needed after all is not found.
    ///
    /// **Figures.** None is published.
    DRACUT_TIMEOUT = "initramfs-dracut-timeout", Initramfs, dracut_timeout
}

fn dracut_timeout(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let waits = [
        "still waiting for following initqueue hooks",
        "starting timeout scripts",
    ];
    let says = |t: &str| t.contains("dracut-initqueue") && waits.iter().any(|w| t.contains(w));
    let wait = stage(&lines, says)?;
    let ns = wait.at[1].saturating_sub(wait.at[0]);
    let finding = wait
        .found("dracut waits for something that does not come")
        .why("its queue timed out")
        .saves(
            ns,
            "from its first warning to the end of the last; the wait before it is more",
        )
        .fix("take the device out of `rd.*=` and `resume=`, and build with `hostonly`");
    Some(finding)
}
