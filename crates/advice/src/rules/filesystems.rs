//! File systems: how they are attached, recovered and read.

use super::checks;
use super::stages::{before, since_kernel, until};
use crate::lines::{Line, Said};
use crate::{Boot, Finding};

checks! {
    "fs-ubi-fastmap" => ubi_fastmap,
    "fs-ubi-size" => ubi_size,
    "fs-ubiblock" => ubifs_read_only,
    "fs-jffs2-summary" => jffs2,
    "fs-journal-replay" => replay,
    "fs-btrfs-root" => btrfs,
    "fs-squashfs-config" => squashfs,
    "fs-squashfs-xz" => squashfs_xz,
    "script-fsck" => console_fsck,
}

/// The kernel's `ubi0: attaching mtd…` to `ubi0: attached mtd…`.
fn attach(lines: Said<'_, '_>) -> Option<super::stages::Stage> {
    let is_its = |t: &str| t.contains("ubi0: ");
    until(lines, ("attaching mtd", is_its), ("attached mtd", is_its))
}

fn ubi_fastmap(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let said = |what: &str| lines.has((what, |t: &str| t.contains("ubi0: ")));
    if !said("scanning is finished") || said("attached by fastmap") {
        return None;
    }
    // A fastmap is read, too: of small flash the scan takes less.
    let attach = attach(lines).filter(|a| a.ns >= 100_000_000)?;
    Some(
        attach
            .found()
            .why(format!("attaching takes {} ms", attach.ms()))
            .saves(
                attach.ns,
                "at most: with a fastmap a quarter of it may remain",
            ),
    )
}

fn ubi_size(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let attach = attach(lines).filter(|a| a.ns >= 200_000_000)?;
    let line = lines.find("ubi0: attached mtd")?;
    let size: u64 = crate::lines::number_after(line.text, "size ")?
        .parse()
        .ok()?;
    let finding = attach
        .found()
        .why(format!("{size} MiB take {} ms", attach.ms()))
        .saves_unknown("in proportion to what is split off; a fastmap may make it needless");
    (size >= 128 && line.text.contains(" MiB")).then_some(finding)
}

/// The filesystem in `VFS: Mounted root (squashfs filesystem) readonly on …`.
fn root<'a>(boot: &Boot<'a>) -> Option<(Line<'a>, &'a str)> {
    let line = boot.line("VFS: Mounted root (")?;
    let (_, rest) = line.text.split_once("VFS: Mounted root (")?;
    Some((line, rest.split(' ').next()?))
}

fn ubifs_read_only(boot: &Boot<'_>) -> Option<Finding> {
    let (line, kind) = root(boot)?;
    let lines = since_kernel(boot);
    let remounted = lines.has(["un-mount", "start remount", "re-mounted", "remounted"]);
    let rw = boot.parameter("rw").is_some();
    let found = kind == "ubifs" && line.text.contains("readonly") && !remounted && !rw;
    found.then(|| {
        Finding::new()
            .why(line.text.to_owned())
            .saves_unknown("the mount of UBIFS, and the speed of reading; try it")
            .at(Some(line.at()))
            .seen([line.evidence])
    })
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
    let mount = before(lines, "VFS: Mounted root (jffs2")?;
    Some(
        mount
            .found()
            .why(format!("the mount takes {} ms", mount.ms()))
            .saves(
                mount.ns,
                "at most: the silence before it; reading summaries takes its share",
            ),
    )
}

fn replay(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let ext4 = |t: &str| t.starts_with("EXT4-fs (");
    let pair = |system: &str, from: &str, to: &str| {
        let is_its = |t: &str| t.starts_with(system);
        until(lines, (from, is_its), (to, is_its))
    };
    let found = before(lines, ("recovery complete", ext4))
        .or_else(|| pair("XFS (", "Starting recovery", "Ending recovery"))
        .or_else(|| pair("UBIFS (", "recovery needed", "recovery completed"))?;
    Some(
        found
            .found()
            .why(format!("the recovery takes {} ms", found.ms()))
            .saves(found.ns, "at most: as its messages show it"),
    )
}

fn btrfs(boot: &Boot<'_>) -> Option<Finding> {
    let (line, kind) = root(boot)?;
    (kind == "btrfs").then(|| {
        Finding::new()
            .why(line.text.to_owned())
            .saves_unknown("make the same root as ext4, squashfs or EROFS and compare")
            .at(Some(line.at()))
            .seen([line.evidence])
    })
}

/// Whether the root is a squashfs, by the log or the command line.
fn is_squashfs(boot: &Boot<'_>) -> bool {
    let stated = boot.parameter("rootfstype");
    stated.is_some_and(|p| p.contains("squashfs"))
        || root(boot).is_some_and(|(_, kind)| kind == "squashfs")
}

/// A kernel that unpacks nothing else has a root that is compressed so.
fn squashfs_xz(boot: &Boot<'_>) -> Option<Finding> {
    let config = boot.kernel_config()?;
    let on = |name: &str| config.is_on(&format!("SQUASHFS_{name}"));
    let others = ["ZLIB", "LZO", "LZ4", "ZSTD"];
    if !is_squashfs(boot) || !on("XZ") || others.into_iter().any(on) {
        return None;
    }
    let recipe = boot
        .recipe("root-format=squashfs-zstd")
        .or_else(|_| boot.recipe("root-format=erofs-lz4hc"));
    Some(
        Finding::new()
            .why("CONFIG_SQUASHFS_XZ is the only decompressor of squashfs".to_owned())
            .recipe(recipe)
            .saves_unknown("zstd is read in a fifth of the CPU's time, EROFS in a fortieth"),
    )
}

fn squashfs(boot: &Boot<'_>) -> Option<Finding> {
    let config = boot.kernel_config()?;
    let slow = ["SQUASHFS_DECOMP_SINGLE", "SQUASHFS_FILE_CACHE"];
    let slow: Vec<&str> = slow.into_iter().filter(|o| config.is_on(o)).collect();
    let finding = Finding::new()
        .why(format!("CONFIG_{}", slow.join(", CONFIG_")))
        .saves_unknown("it depends on how many programs read at a time");
    (is_squashfs(boot) && !slow.is_empty()).then_some(finding)
}

fn console_fsck(boot: &Boot<'_>) -> Option<Finding> {
    let lines = since_kernel(boot);
    let of_files = |t: &str| t.contains("/dev/") && t.contains(" files");
    let check = before(lines, (": clean, ", of_files))?;
    let finding = check
        .found()
        .why(format!("the check takes {} ms", check.ms()))
        .saves(check.ns, "at most: the silence before its result");
    // systemd's units show this better.
    boot.line("systemd[1]").is_none().then_some(finding)
}
