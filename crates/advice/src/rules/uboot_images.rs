//! How U-Boot brings kernel, device tree and initramfs into memory.

use bootlap_model::{Milestone, TrackKind};

use super::stages::{Stage, contains, loader_span, stage, uboot};
use super::{Rule, rule};
use crate::boot::{evidence, total_ns};
use crate::lines::{Line, number_after};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[
    &LOAD_IN_PLACE,
    &RAMDISK_MOVED,
    &FDT_MOVED,
    &EXACT_SIZE,
    &SLOW_STORAGE,
    &ZIMAGE_OVERLAP,
    &FALCON,
    &SPL_FILES,
    &CACHES_OFF,
    &SECOND_LOADER,
];

rule! {
    /// U-Boot moves the kernel after it has loaded it.
    ///
    /// **Why.** If an image is not loaded where it has to run, `bootm` and `booti` copy
    /// it there, which is slow with caches off.
    ///
    /// **Evidence.** The time of `Loading Kernel Image`, which is a copy and nothing
    /// else. (`XIP Kernel Image` means that it lies in place.)
    ///
    /// **Fix.** Load the image to an address such that its content lies at the load
    /// address: for a legacy image 64 bytes below it; or `mkimage -x`.
    ///
    /// **Risk.** None that shows later; a wrong address does not boot at all.
    ///
    /// **Figures.** U-Boot from 1.433 to 0.583 s (SAMA5D3).
    LOAD_IN_PLACE = "uboot-load-in-place", Bootloader, load_in_place
}

fn load_in_place(boot: &Boot<'_>) -> Option<Finding> {
    if boot.line("XIP Kernel Image").is_some() {
        return None;
    }
    let copy = loader_span(boot, "load kernel")?;
    let finding = copy
        .found("U-Boot moves the kernel after it has loaded it")
        .why(format!("the copy takes {} ms", copy.ms()))
        .saves(copy.ns, "the copy, as seen on the console")
        .fix(
            "load the image such that its content already lies at its load address (a legacy \
             image: 64 bytes below)",
        )
        .recipe(boot.recipe("uboot-load-in-place"));
    Some(finding)
}

/// Images in flash that the CPU reads directly have to be moved.
fn is_in_flash(boot: &Boot<'_>) -> bool {
    boot.target().is_some_and(|(t, _)| t.spec.flash.is_some())
}

rule! {
    /// U-Boot moves the initramfs to the end of memory.
    ///
    /// **Why.** U-Boot copies it below the top of memory so that nothing can lie in the
    /// way, also when it lies well where it was loaded.
    ///
    /// **Evidence.** The time of `Loading Ramdisk to …, end … OK`. Nothing is said where
    /// images are read from memory-mapped flash, because they have to be moved.
    ///
    /// **Fix.** `initrd_high=0xffffffffffffffff` (32 bit: `0xffffffff`): leave it where
    /// it was loaded.
    ///
    /// **Risk.** The address must be one that the kernel can use (in low memory on
    /// 32-bit Arm), and free of the unpacked kernel.
    ///
    /// **Figures.** None is published; it is bytes divided by the speed of a copy.
    RAMDISK_MOVED = "uboot-initrd-in-place", Bootloader, ramdisk_moved
}

fn ramdisk_moved(boot: &Boot<'_>) -> Option<Finding> {
    let copy = loader_span(boot, "load ramdisk").filter(|_| !is_in_flash(boot))?;
    let finding = copy
        .found("U-Boot moves the initramfs to the end of memory")
        .why(format!("the copy takes {} ms", copy.ms()))
        .saves(copy.ns, "the copy, as seen on the console")
        .fix(
            "set `initrd_high=0xffffffffffffffff` (32 bit: `0xffffffff`) if it is loaded where \
             the kernel can use it",
        );
    Some(finding)
}

rule! {
    /// U-Boot moves the device tree.
    ///
    /// **Why.** The same as for the initramfs; small, but on slow boards with caches
    /// off it shows, mostly through the fix-ups that follow.
    ///
    /// **Evidence.** The time of `Loading Device Tree to …, end … OK`, from 5 ms on.
    ///
    /// **Fix.** Load it at an 8-byte aligned address with room behind it and set
    /// `fdt_high` to all ones.
    ///
    /// **Risk.** Linux refuses a device tree that is not aligned to 8 bytes; U-Boot's
    /// documentation advises against `fdt_high` on 64 bit.
    ///
    /// **Figures.** None is published.
    FDT_MOVED = "uboot-fdt-in-place", Bootloader, fdt_moved
}

fn fdt_moved(boot: &Boot<'_>) -> Option<Finding> {
    let copy = loader_span(boot, "load device tree")?;
    let finding = copy
        .found("U-Boot moves the device tree")
        .why(format!("that takes {} ms", copy.ms()))
        .saves(copy.ns, "at most: the fix-ups in it remain")
        .fix("load it 8-byte aligned with room behind it, and set `fdt_high` to all ones");
    (copy.ns >= 5_000_000).then_some(finding)
}

rule! {
    /// U-Boot reads more from storage than the image has.
    ///
    /// **Why.** `nand read`, `sf read` and `mmc read` with a fixed size read the whole
    /// partition, whatever the image needs.
    ///
    /// **Evidence.** One such read with its size, and the `Data Size:` of everything in
    /// the image that is then booted: what was read beyond it, at the speed of that
    /// read.
    ///
    /// **Fix.** Keep the size in the environment and read only that.
    ///
    /// **Risk.** Updates have to set the size.
    ///
    /// **Figures.** None but the arithmetic: extra bytes ÷ speed of the medium.
    EXACT_SIZE = "uboot-exact-size", Bootloader, exact_size
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
    let finding = Finding::new("U-Boot reads more from storage than the image has")
        .why(format!(
            "it reads {bytes} bytes, and the image holds {used}"
        ))
        .saves(
            ns,
            "what was read beyond the image, at the speed of that read",
        )
        .fix("read as many bytes as the image has: keep its size in the environment")
        .recipe(boot.recipe("uboot-exact-size"))
        .at(Some(read.at()))
        .seen(evidence(&reads));
    Some(finding)
}

/// An SD card at the standard's first, slow speed reads 12.5 MB/s.
const SLOW_MIB_S: f64 = 13.0;

rule! {
    /// U-Boot reads its storage slowly.
    ///
    /// **Why.** Cards and eMMC start in a slow mode. A driver without high-speed modes
    /// or DMA, or a device tree that forbids them, leaves it at that.
    ///
    /// **Evidence.** `… bytes read in 530 ms (9.9 MiB/s)`: below 13 MiB/s, which an SD
    /// card in its slowest 4-bit mode has, over at least 100 ms in all.
    ///
    /// **Fix.** `CONFIG_MMC_HS200_SUPPORT` and its like, `bus-width` and the modes in
    /// U-Boot's device tree, DMA, a faster card; `mmc info` tells the mode.
    ///
    /// **Risk.** Fast modes need proper signals on the board.
    ///
    /// **Figures.** Copying the kernel 0.208 to 0.150 s by a faster card (AM335x); 180 ms
    /// for 1.7 MB by DMA (FR-V). "Booting from SD was actually faster than NAND" was
    /// seen, too.
    SLOW_STORAGE = "uboot-slow-storage", Bootloader, slow_storage
}

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
    let finding = Finding::new("U-Boot reads its storage slowly")
        .why(format!(
            "{bytes} bytes in {} ms, that is {mib_s:.1} MiB/s",
            ns / 1_000_000
        ))
        .saves_unknown("it depends on what the medium and the board's wiring allow")
        .fix(
            "enable the fast modes and DMA of the controller in U-Boot (`mmc info` shows the mode)",
        )
        .at(Some(longest.at()))
        .seen(evidence(&reads));
    (mib_s < SLOW_MIB_S).then_some(finding)
}

rule! {
    /// The zImage lies where its own output goes.
    ///
    /// **Why.** A 32-bit Arm kernel unpacks itself to the start of memory. If the
    /// compressed image lies there, it first moves itself out of the way.
    ///
    /// **Evidence.** U-Boot's `Kernel image @ 0x80008000 [ 0x000000 - 0x6a5c08 ]`: the
    /// image begins less than its own compressed size (and 32 KiB) behind the 128 MiB
    /// boundary that the kernel takes for the start of memory, and its output is
    /// larger still.
    ///
    /// **Fix.** Load it 32 MiB behind the start of memory.
    ///
    /// **Risk.** None; device tree and initramfs must lie behind it.
    ///
    /// **Figures.** 107 ms (STM32MP157A, 650 MHz).
    ZIMAGE_OVERLAP = "uboot-zimage-overlap", Bootloader, zimage_overlap
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
    let finding = Finding::new("the zImage lies where its own output goes")
        .why(format!(
            "it is loaded {offset:#x} bytes behind the start of memory and has {bytes} bytes: it \
             moves itself first"
        ))
        .saves_unknown("the move is inside of the kernel's own decompression; its speed decides")
        .fix("load it 32 MiB behind the start of memory (`kernel_addr_r`, `loadaddr`)")
        .at(Some(line.at()))
        .seen([line.evidence]);
    overlaps.then_some(finding)
}

rule! {
    /// SPL starts the whole U-Boot, where it could start the kernel.
    ///
    /// **Why.** SPL can load the kernel itself (Falcon mode). Then U-Boot is neither
    /// loaded nor run.
    ///
    /// **Evidence.** `U-Boot SPL` and U-Boot's own banner in one log. The saving is the
    /// time from that banner to the kernel, the wait for a key included, minus what
    /// reads, checks, moves and unpacks images: SPL has to do that, too.
    ///
    /// **Fix.** `CONFIG_SPL_OS_BOOT=y`, `spl export fdt` once, and store its result; the
    /// recipe does so for a zImage on a card.
    ///
    /// **Risk.** The prepared device tree has to be made again with each new kernel or
    /// command line; A/B updates and verified boot need their own solution.
    ///
    /// **Figures.** -552 ms (SAMA5D3, after all else was done); 3 to 10 s by its vendor
    /// (i.MX6 Ventana). "Not always the best choice": caches may be off while loading.
    FALCON = "uboot-falcon", Bootloader, falcon
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
    let finding = Finding::new("SPL starts the whole U-Boot, where it could start the kernel")
        .why("both banners are in the log")
        .saves(
            ns,
            "U-Boot's time up to the kernel, minus the work with images",
        )
        .fix("use Falcon mode: CONFIG_SPL_OS_BOOT=y, `spl export fdt`, and store the result")
        .recipe(boot.recipe("uboot-falcon"))
        .at(Some([banner.start_ns, end_ns]))
        .seen([banner.evidence]);
    (ns >= 10_000_000).then_some(finding)
}

rule! {
    /// SPL loads the next stage from a file system.
    ///
    /// **Why.** Mounting FAT or ext4 and following a file costs code in SPL and many
    /// small reads; raw sectors are one read.
    ///
    /// **Evidence.** SPL's `spl: mmc boot mode: fs` or `… fs boot`, or `CONFIG_SPL_FS_FAT=y`
    /// without `CONFIG_SYS_MMCSD_RAW_MODE_U_BOOT_USE_SECTOR` in U-Boot's `.config`.
    ///
    /// **Fix.** Put the image at a fixed sector
    /// (`CONFIG_SYS_MMCSD_RAW_MODE_U_BOOT_USE_SECTOR=y`) and drop the file system.
    ///
    /// **Risk.** Updates write sectors instead of files.
    ///
    /// **Figures.** None is published.
    SPL_FILES = "uboot-spl-raw", Bootloader, spl_files
}

fn spl_files(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let says = |t: &str| t.starts_with("spl: mmc boot mode: fs");
    let seen = stage(&lines, says);
    let config = boot.uboot_config().filter(|_| lines.is_empty());
    let raw = "SYS_MMCSD_RAW_MODE_U_BOOT_USE_SECTOR";
    let set = config.is_some_and(|c| c.is_on("SPL_FS_FAT") && !c.is_on(raw) && c.is_on("SPL_MMC"));
    if seen.is_none() && !set {
        return None;
    }
    let title = "SPL loads the next stage from a file system";
    let finding = seen.map_or_else(|| Finding::new(title), |s: Stage| s.found(title));
    let finding = finding
        .why("raw sectors need no file system and one read")
        .saves_unknown("it depends on how many small reads the file system takes; try it")
        .fix("set CONFIG_SYS_MMCSD_RAW_MODE_U_BOOT_USE_SECTOR=y and write the image there");
    Some(finding)
}

rule! {
    /// U-Boot runs with caches off.
    ///
    /// **Why.** Copying, checking and unpacking images is several times slower.
    ///
    /// **Evidence.** `WARNING: Caches not enabled` in the log, or `CONFIG_SYS_DCACHE_OFF=y`
    /// in U-Boot's `.config`.
    ///
    /// **Fix.** Drop `CONFIG_SYS_DCACHE_OFF`; boards of their own need `enable_caches()`.
    ///
    /// **Risk.** Drivers that forget to flush before DMA fail.
    ///
    /// **Figures.** None is published; "not always the best choice: caches off while
    /// loading" is said of loaders smaller than U-Boot.
    CACHES_OFF = "uboot-caches", Bootloader, caches_off
}

fn caches_off(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let seen = stage(&lines, |t| contains(t, &["WARNING: Caches not enabled"]));
    let set = boot
        .uboot_config()
        .is_some_and(|c| c.is_on("SYS_DCACHE_OFF"));
    if seen.is_none() && !set {
        return None;
    }
    let title = "U-Boot runs with caches off";
    let finding = seen.map_or_else(|| Finding::new(title), |s: Stage| s.found(title));
    let finding = finding
        .why("copying, checking and unpacking images takes several times as long")
        .saves_unknown("a share of all that U-Boot does with images")
        .fix("build U-Boot without CONFIG_SYS_DCACHE_OFF; the board needs `enable_caches()`");
    Some(finding)
}

rule! {
    /// U-Boot starts a second boot loader.
    ///
    /// **Why.** U-Boot as UEFI firmware that starts GRUB or systemd-boot reads a menu, a
    /// configuration and the kernel through a layer more; U-Boot can start the kernel
    /// itself.
    ///
    /// **Evidence.** `Welcome to GRUB!` behind U-Boot's banner; the time from there to
    /// the kernel.
    ///
    /// **Fix.** Let U-Boot load kernel and initramfs (`extlinux.conf`, or its boot
    /// manager with the kernel's own EFI stub).
    ///
    /// **Risk.** The distribution's updates write GRUB's configuration only.
    ///
    /// **Figures.** None is published.
    SECOND_LOADER = "uboot-second-loader", Bootloader, second_loader
}

fn second_loader(boot: &Boot<'_>) -> Option<Finding> {
    let lines = uboot(boot);
    let welcome = lines.iter().find(|l| l.text.contains("Welcome to GRUB!"))?;
    let end_ns = lines.last()?.next_ns;
    let ns = end_ns.saturating_sub(welcome.start_ns);
    let finding = Finding::new("U-Boot starts GRUB, where it could start the kernel")
        .why(format!("GRUB runs for {} ms", ns / 1_000_000))
        .saves(ns, "at most: reading the kernel remains")
        .fix("boot the kernel from U-Boot: `extlinux.conf`, or its EFI stub by `efibootmgr`")
        .at(Some([welcome.start_ns, end_ns]))
        .seen([welcome.evidence]);
    Some(finding)
}
