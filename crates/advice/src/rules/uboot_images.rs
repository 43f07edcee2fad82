//! How U-Boot brings kernel, device tree and initramfs into memory.

use bootlap_model::{Milestone, TrackKind};

use super::checks;
use super::stages::{Stage, loader_span, stage, uboot};
use crate::boot::{evidence, total_ns};
use crate::lines::{Begin, Line, Said, number_after};
use crate::{Boot, Finding};

checks! {
    "uboot-load-in-place" => load_in_place,
    "uboot-initrd-in-place" => ramdisk_moved,
    "uboot-fdt-in-place" => fdt_moved,
    "uboot-exact-size" => exact_size,
    "uboot-slow-storage" => slow_storage,
    "uboot-zimage-overlap" => zimage_overlap,
    "uboot-falcon" => falcon,
    "uboot-spl-raw" => spl_files,
    "uboot-caches" => caches_off,
    "uboot-second-loader" => second_loader,
}

fn load_in_place(boot: &Boot<'_>) -> Option<Finding> {
    if boot.line("XIP Kernel Image").is_some() {
        return None;
    }
    let copy = loader_span(boot, "load kernel")?;
    Some(
        copy.found()
            .why(format!("the copy takes {} ms", copy.ms()))
            .saves(copy.ns, "the copy, as seen on the console")
            .recipe(boot.recipe("uboot-load-in-place")),
    )
}

/// Images in flash that the CPU reads directly have to be moved.
fn is_in_flash(boot: &Boot<'_>) -> bool {
    boot.target().is_some_and(|(t, _)| t.spec.flash.is_some())
}

fn ramdisk_moved(boot: &Boot<'_>) -> Option<Finding> {
    let copy = loader_span(boot, "load ramdisk").filter(|_| !is_in_flash(boot))?;
    Some(
        copy.found()
            .why(format!("the copy takes {} ms", copy.ms()))
            .saves(copy.ns, "the copy, as seen on the console"),
    )
}

fn fdt_moved(boot: &Boot<'_>) -> Option<Finding> {
    let copy = loader_span(boot, "load device tree")?;
    let finding = copy
        .found()
        .why(format!("that takes {} ms", copy.ms()))
        .saves(copy.ns, "at most: the fix-ups in it remain");
    (copy.ns >= 5_000_000).then_some(finding)
}

fn exact_size(boot: &Boot<'_>) -> Option<Finding> {
    let mut reads = Vec::new();
    for name in ["read nand", "read flash", "read mmc"] {
        reads.extend(boot.spans(TrackKind::Bootloader, name));
    }
    // Of several reads nobody can tell which one the sizes belong to.
    let [read] = reads.as_slice() else {
        return None;
    };
    let lines = uboot(boot);
    let blocks = |l: &Line<'_>| {
        let count: u64 = number_after(l.text, "count ")?.parse().ok()?;
        l.text
            .starts_with("MMC read")
            .then(|| count.saturating_mul(512))
    };
    let bytes = read.arg("bytes").and_then(|b| b.parse::<u64>().ok());
    let bytes = bytes.or_else(|| lines.iter().find_map(blocks))?;
    let sizes = lines.iter().filter(|l| l.text.starts_with("Data Size:"));
    let sizes = sizes.filter_map(|l| number_after(l.text, "Data Size:    ")?.parse::<u64>().ok());
    let used = sizes.fold(0_u64, u64::saturating_add);
    let extra = bytes
        .checked_sub(used)
        .filter(|e| used > 0 && *e > bytes / 20)?;
    let share = extra as f64 / bytes as f64;
    let ns = (read.ns() as f64 * share) as i64;
    Some(
        Finding::new()
            .why(format!(
                "it reads {bytes} bytes, and the image holds {used}"
            ))
            .saves(
                ns,
                "what was read beyond the image, at the speed of that read",
            )
            .recipe(boot.recipe("uboot-exact-size"))
            .at(Some(read.at()))
            .seen(evidence(&reads)),
    )
}

/// An SD card at the standard's first, slow speed reads 12.5 MB/s.
const SLOW_MIB_S: f64 = 13.0;

fn slow_storage(boot: &Boot<'_>) -> Option<Finding> {
    let reads = boot.spans(TrackKind::Bootloader, "read file");
    let ns = total_ns(&reads);
    let longest = reads.iter().max_by_key(|r| r.ns())?;
    let sizes = reads
        .iter()
        .filter_map(|r| r.arg("bytes")?.parse::<u64>().ok());
    let bytes = sizes.fold(0_u64, u64::saturating_add);
    if ns < 100_000_000 {
        return None;
    }
    let mib_s = bytes as f64 / (1024.0 * 1024.0) / (ns as f64 / 1e9);
    let finding = Finding::new()
        .why(format!(
            "{bytes} bytes in {} ms, that is {mib_s:.1} MiB/s",
            ns / 1_000_000
        ))
        .saves_unknown("it depends on what the medium and the board's wiring allow")
        .at(Some(longest.at()))
        .seen(evidence(&reads));
    (mib_s < SLOW_MIB_S).then_some(finding)
}

fn zimage_overlap(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let line = lines
        .iter()
        .find(|l| l.text.starts_with("Kernel image @ 0x"))?;
    let mut numbers = line.text.split("0x").skip(1).filter_map(|t| {
        let digits = t.split(|c: char| !c.is_ascii_hexdigit()).next()?;
        u64::from_str_radix(digits, 16).ok()
    });
    let (address, from, to) = (numbers.next()?, numbers.next()?, numbers.next()?);
    let bytes = to.checked_sub(from)?;
    let offset = address & 0x07ff_ffff;
    let overlaps = offset < bytes.saturating_add(0x8000);
    let finding = Finding::new()
        .why(format!(
            "it is loaded {offset:#x} bytes above the start of memory and has {bytes} bytes: it \
             moves itself first"
        ))
        .saves_unknown("the move is inside of the kernel's own decompression; its speed decides")
        .at(Some(line.at()))
        .seen([line.evidence]);
    overlaps.then_some(finding)
}

fn falcon(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let begins = |l: &&Line<'_>, with| l.text.starts_with(with);
    lines.iter().find(|l| begins(l, "U-Boot SPL "))?;
    let proper = |l: &&Line<'_>| begins(l, "U-Boot ") && !l.text.contains("PL ");
    let banner = lines.iter().find(proper)?;
    // The kernel's console may come long after the kernel.
    let last_ns = lines.last()?.next_ns;
    let kernel = boot.moment(&[Milestone::KernelImage, Milestone::BootloaderHandover]);
    let end_ns = kernel.map_or(last_ns, |kernel| kernel.min(last_ns));
    let spans = boot.spans_of(TrackKind::Bootloader);
    let needed = spans.iter().filter(|s| {
        let name = s.name();
        let work = ["read ", "load ", "hash ", "uncompress "];
        work.iter().any(|w| name.starts_with(w)) && s.start_ns >= banner.start_ns
    });
    let needed = needed.fold(0_i64, |ns, s| ns.saturating_add(s.ns()));
    let ns = end_ns
        .saturating_sub(banner.start_ns)
        .saturating_sub(needed);
    let finding = Finding::new()
        .why("both banners are in the log")
        .saves(
            ns,
            "U-Boot's time up to the kernel, minus the work with images",
        )
        .recipe(boot.recipe("uboot-falcon"))
        .at(Some([banner.start_ns, end_ns]))
        .seen([banner.evidence]);
    (ns >= 10_000_000).then_some(finding)
}

fn spl_files(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let seen = stage(Said::from(&lines), Begin("spl: mmc boot mode: fs"));
    let config = boot.uboot_config().filter(|_| lines.is_empty());
    let raw = "SYS_MMCSD_RAW_MODE_U_BOOT_USE_SECTOR";
    let set = config.is_some_and(|c| c.is_on("SPL_FS_FAT") && !c.is_on(raw) && c.is_on("SPL_MMC"));
    if seen.is_none() && !set {
        return None;
    }
    let finding = seen.map_or_else(Finding::new, |s: Stage| s.found());
    Some(
        finding
            .why("raw sectors need no file system and one read")
            .saves_unknown("it depends on how many small reads the file system takes; try it"),
    )
}

fn caches_off(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let seen = stage(Said::from(&lines), "WARNING: Caches not enabled");
    let set = boot
        .uboot_config()
        .is_some_and(|c| c.is_on("SYS_DCACHE_OFF"));
    if seen.is_none() && !set {
        return None;
    }
    let finding = seen.map_or_else(Finding::new, |s: Stage| s.found());
    Some(
        finding
            .why("copying, checking and unpacking images takes several times as long")
            .saves_unknown("a share of all that U-Boot does with images"),
    )
}

fn second_loader(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let welcome = lines.iter().find(|l| l.text.contains("Welcome to GRUB!"))?;
    let end_ns = lines.last()?.next_ns;
    let ns = end_ns.saturating_sub(welcome.start_ns);
    Some(
        Finding::new()
            .why(format!("GRUB runs for {} ms", ns / 1_000_000))
            .saves(ns, "at most: reading the kernel remains")
            .at(Some([welcome.start_ns, end_ns]))
            .seen([welcome.evidence]),
    )
}
