//! File systems: how they are attached, recovered and read.

use super::stages::{before, contains, since_kernel, until};
use super::{Rule, rule};
use crate::lines::Line;
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[
    &UBI_FASTMAP,
    &UBI_SIZE,
    &UBIFS_READ_ONLY,
    &JFFS2,
    &REPLAY,
    &BTRFS,
    &SQUASHFS,
    &CONSOLE_FSCK,
];

/// The kernel's `ubi0: attaching mtd…` to `ubi0: attached mtd…`.
fn attach(lines: &[Line<'_>]) -> Option<super::stages::Stage> {
    let line = |t: &str, what| t.contains("ubi0: ") && t.contains(what);
    until(
        lines,
        |t| line(t, "attaching mtd"),
        |t| line(t, "attached mtd"),
    )
}

rule! {
    /// UBI scans the whole flash to attach.
    ///
    /// **Why.** Without a fastmap, UBI reads two headers of every block.
    ///
    /// **Evidence.** The kernel's `ubi0: attaching mtd…` to `ubi0: attached mtd…` with
    /// `ubi0: scanning is finished` between them, and no `attached by fastmap`.
    ///
    /// **Fix.** `CONFIG_MTD_UBI_FASTMAP=y` and one boot with `ubi.fm_autoconvert=1`; U-Boot
    /// must know it, too, or it deletes the fastmap.
    ///
    /// **Risk.** Fastmap was rolled back as unstable on an old kernel (3.18).
    ///
    /// **Figures.** Attaching 968 to 238 ms, -665 ms in all (SAMA5D3, 216 MB).
    UBI_FASTMAP = "fs-ubi-fastmap", Filesystem, ubi_fastmap
}

fn ubi_fastmap(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let said = |what: &str| {
        lines
            .iter()
            .any(|l| l.text.contains("ubi0: ") && l.text.contains(what))
    };
    if !said("scanning is finished") || said("attached by fastmap") {
        return None;
    }
    let attach = attach(&lines)?;
    let finding = attach
        .found("UBI scans the whole flash to attach")
        .why(format!("attaching takes {} ms", attach.ms()))
        .saves(
            attach.ns,
            "at most: with a fastmap a quarter of it may remain",
        )
        .fix("set CONFIG_MTD_UBI_FASTMAP=y and boot once with `ubi.fm_autoconvert=1`");
    Some(finding)
}

rule! {
    /// A large UBI device is attached before the application.
    ///
    /// **Why.** Attaching takes time in proportion to the size, also for data that is
    /// needed later.
    ///
    /// **Evidence.** The kernel attaches a UBI device of 128 MiB or more, by its line
    /// `ubi0: attached mtd1 (name "ubi", size 216 MiB)`, in at least 200 ms.
    ///
    /// **Fix.** A small UBI device for what boots, and `ubiattach` for the rest later.
    ///
    /// **Risk.** Flash has to be partitioned anew, and wear is levelled in each part only.
    ///
    /// **Figures.** 10 s with 32 instead of 128 MB (OpenBMC); 1.5 s (EG25 modem).
    UBI_SIZE = "fs-ubi-size", Filesystem, ubi_size
}

fn ubi_size(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let attach = attach(&lines).filter(|a| a.ns >= 200_000_000)?;
    let line = lines
        .iter()
        .find(|l| l.text.contains("ubi0: attached mtd"))?;
    let size: u64 = crate::lines::number_after(line.text, "size ")?
        .parse()
        .ok()?;
    let finding = attach
        .found("a large UBI device is attached before the application")
        .why(format!("{size} MiB take {} ms", attach.ms()))
        .saves_unknown("in proportion to what is split off; a fastmap may make it needless")
        .fix("attach a small UBI device to boot from, and the rest later by `ubiattach`");
    (size >= 128 && line.text.contains(" MiB")).then_some(finding)
}

/// The filesystem in `VFS: Mounted root (squashfs filesystem) readonly on …`.
fn root<'a>(boot: &Boot<'a>) -> Option<(Line<'a>, &'a str)> {
    let line = boot.line("VFS: Mounted root (")?;
    let (_, rest) = line.text.split_once("VFS: Mounted root (")?;
    Some((line, rest.split(' ').next()?))
}

rule! {
    /// UBIFS holds a root that is only read.
    ///
    /// **Why.** UBIFS replays a journal and walks an index at each mount; squashfs on a
    /// UBI block device reads one table.
    ///
    /// **Evidence.** `VFS: Mounted root (ubifs filesystem) readonly`, and no remount.
    ///
    /// **Fix.** `CONFIG_MTD_UBI_BLOCK=y`, `ubi.block=0,rootfs root=/dev/ubiblock0_0` and
    /// squashfs or EROFS.
    ///
    /// **Risk.** The root cannot be written.
    ///
    /// **Figures.** "Benchmarks not available yet" (Bootlin).
    UBIFS_READ_ONLY = "fs-ubiblock", Filesystem, ubifs_read_only
}

fn ubifs_read_only(boot: &Boot<'_>) -> Option<Finding> {
    let (line, kind) = root(boot)?;
    let lines = since_kernel(boot);
    let remounted = lines.iter().any(|l| {
        contains(
            l.text,
            &["un-mount", "start remount", "re-mounted", "remounted"],
        )
    });
    let rw = boot.parameter("rw").is_some();
    let found = kind == "ubifs" && line.text.contains("readonly") && !remounted && !rw;
    found.then(|| {
        Finding::new("UBIFS holds a root that is only read")
            .why(line.text.to_owned())
            .saves_unknown("the mount of UBIFS, and the speed of reading; try it")
            .fix("use squashfs or EROFS on /dev/ubiblock0_0 (CONFIG_MTD_UBI_BLOCK, `ubi.block=`)")
            .at(Some(line.at()))
            .seen([line.evidence])
    })
}

rule! {
    /// JFFS2 scans the flash at each mount.
    ///
    /// **Why.** JFFS2 has no index on flash. Without summaries it reads every node's
    /// header before the mount returns.
    ///
    /// **Evidence.** `VFS: Mounted root (jffs2 filesystem)`, and the silence before it; not
    /// where the kernel's `.config` has `CONFIG_JFFS2_SUMMARY=y`.
    ///
    /// **Fix.** `CONFIG_JFFS2_SUMMARY=y` and `sumtool` over the image; or UBIFS, or
    /// squashfs for what is only read.
    ///
    /// **Risk.** None.
    ///
    /// **Figures.** 16 to 0.8 s (128 MB, Arm); 4.82 s with JFFS2 against 3.51 s with ROMFS
    /// (OMAP1510).
    JFFS2 = "fs-jffs2-summary", Filesystem, jffs2
}

fn jffs2(boot: &Boot<'_>) -> Option<Finding> {
    let (_, kind) = root(boot)?;
    let summary = boot
        .kernel_config()
        .is_some_and(|c| c.is_on("JFFS2_SUMMARY"));
    if kind != "jffs2" || summary {
        return None;
    }
    let lines = since_kernel(boot);
    let mount = before(&lines, |t| t.contains("VFS: Mounted root (jffs2"))?;
    let finding = mount
        .found("JFFS2 scans the flash at each mount")
        .why(format!("the mount takes {} ms", mount.ms()))
        .saves(
            mount.ns,
            "at most: the silence before it; reading summaries takes its share",
        )
        .fix("set CONFIG_JFFS2_SUMMARY=y and run `sumtool` over the image, or use UBIFS");
    Some(finding)
}

rule! {
    /// A journal is replayed, as the last shutdown was not clean.
    ///
    /// **Why.** After a power cut the file system replays its journal before the mount
    /// returns. Devices that are switched off by their plug pay at each boot.
    ///
    /// **Evidence.** The silence before `EXT4-fs (…): recovery complete`, from
    /// `XFS (…): Starting recovery` to `Ending recovery`, from
    /// `UBIFS (…): recovery needed` to `recovery completed`.
    ///
    /// **Fix.** A read-only root, data on a file system of its own that is mounted later;
    /// a smaller journal; a clean shutdown.
    ///
    /// **Risk.** None.
    ///
    /// **Figures.** A mount with recovery: ext2 167 ms, ext3 457 ms, XFS 236 ms (MIPS
    /// ITE8172).
    REPLAY = "fs-journal-replay", Filesystem, replay
}

fn replay(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let title = "a journal is replayed, as the last shutdown was not clean";
    let ext4 = |t: &str| t.starts_with("EXT4-fs (") && t.contains("recovery complete");
    let pair = |system: &'static str, from: &'static str, to: &'static str| {
        let is = move |t: &str, what| t.starts_with(system) && t.contains(what);
        until(&lines, move |t| is(t, from), move |t| is(t, to))
    };
    let found = before(&lines, ext4)
        .or_else(|| pair("XFS (", "Starting recovery", "Ending recovery"))
        .or_else(|| pair("UBIFS (", "recovery needed", "recovery completed"))?;
    let finding = found
        .found(title)
        .why(format!("the recovery takes {} ms", found.ms()))
        .saves(found.ns, "at most: as its messages show it")
        .fix("keep the root read-only and mount data later, or make sure that shutdowns are clean");
    Some(finding)
}

rule! {
    /// The root is a btrfs.
    ///
    /// **Why.** Mounting btrfs reads its trees, and its code is large and registers
    /// checksum benchmarks at start.
    ///
    /// **Evidence.** `VFS: Mounted root (btrfs filesystem)`.
    ///
    /// **Fix.** ext4, squashfs or EROFS, unless snapshots are needed; `space_cache=v2`.
    ///
    /// **Risk.** No snapshots, no checksums of data.
    ///
    /// **Figures.** The whole boot: initramfs 9.660, ext2 9.704, squashfs 9.721, EROFS
    /// 9.795, F2FS 9.803, ext4 9.862, btrfs 12.918 s (BeagleBone Black).
    BTRFS = "fs-btrfs-root", Filesystem, btrfs
}

fn btrfs(boot: &Boot<'_>) -> Option<Finding> {
    let (line, kind) = root(boot)?;
    (kind == "btrfs").then(|| {
        Finding::new("the root is a btrfs, which starts slowly")
            .why(line.text.to_owned())
            .saves_unknown("make the same root as ext4, squashfs or EROFS and compare")
            .fix("use ext4, or squashfs or EROFS for a root that is only read")
            .at(Some(line.at()))
            .seen([line.evidence])
    })
}

rule! {
    /// squashfs decompresses on one CPU.
    ///
    /// **Why.** With `CONFIG_SQUASHFS_DECOMP_SINGLE` readers wait for each other, and with
    /// `CONFIG_SQUASHFS_FILE_CACHE` each block is copied once more.
    ///
    /// **Evidence.** The kernel's `.config`, on a system whose root is a squashfs by its
    /// log or `rootfstype=`.
    ///
    /// **Fix.** `CONFIG_SQUASHFS_DECOMP_MULTI_PERCPU=y`, `CONFIG_SQUASHFS_FILE_DIRECT=y`, a
    /// larger `CONFIG_SQUASHFS_FRAGMENT_CACHE_SIZE`.
    ///
    /// **Risk.** Memory: one decompressor per CPU.
    ///
    /// **Figures.** None in time; 1517 device reads for 300 files where EROFS needs 440.
    SQUASHFS = "fs-squashfs-config", Filesystem, squashfs
}

fn squashfs(boot: &Boot<'_>) -> Option<Finding> {
    let config = boot.kernel_config()?;
    let stated = boot
        .parameter("rootfstype")
        .is_some_and(|p| p.contains("squashfs"));
    let seen = root(boot).is_some_and(|(_, kind)| kind == "squashfs");
    let slow = ["SQUASHFS_DECOMP_SINGLE", "SQUASHFS_FILE_CACHE"];
    let slow: Vec<&str> = slow.into_iter().filter(|o| config.is_on(o)).collect();
    let finding = Finding::new("squashfs decompresses on one CPU, or copies once more")
        .why(format!("CONFIG_{}", slow.join(", CONFIG_")))
        .saves_unknown("it depends on how many programs read at a time")
        .fix("set CONFIG_SQUASHFS_DECOMP_MULTI_PERCPU=y and CONFIG_SQUASHFS_FILE_DIRECT=y");
    ((stated || seen) && !slow.is_empty()).then_some(finding)
}

rule! {
    /// A start-up script checks file systems.
    ///
    /// **Why.** `fsck` reads metadata at each boot, and all of it after a power cut.
    ///
    /// **Evidence.** The time of e2fsck's `/dev/…: clean, 1234/5678 files` (the silence
    /// before it), or of `Checking file systems`, in a log of a console.
    ///
    /// **Fix.** A read-only root; 0 in the sixth field of `/etc/fstab`;
    /// `tune2fs -c 0 -i 0`.
    ///
    /// **Risk.** Damage is found later.
    ///
    /// **Figures.** None is published.
    CONSOLE_FSCK = "script-fsck", Filesystem, console_fsck
}

fn console_fsck(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let clean = |t: &str| t.contains("/dev/") && t.contains(": clean, ") && t.contains(" files");
    let check = before(&lines, clean)?;
    let finding = check
        .found("file systems are checked before they are mounted")
        .why(format!("the check takes {} ms", check.ms()))
        .saves(check.ns, "at most: the silence before its result")
        .fix("mount the root read-only, or write 0 in the sixth field of /etc/fstab");
    // systemd's units show this better.
    boot.line("systemd[1]").is_none().then_some(finding)
}
