//! Decompressing where reading would be cheaper.

use bootlap_artefact::compress::Compression;
use bootlap_model::{Milestone, TrackKind};
use bootlap_product::Unpacker;

use super::early::cpus;
use super::{Rule, rule};
use crate::boot::{evidence, total_ns};
use crate::{Boot, Finding};

pub(super) const RULES: &[&Rule] = &[
    &KERNEL_COMPRESSION,
    &KERNEL_UNPACKS_ITSELF,
    &INITRAMFS_COMPRESSION,
];

/// Where it is not known how long a copy would take.
const AT_MOST: &str = "all of it, which is at most what can be saved: nothing in this boot tells \
                       how long a copy takes";

rule! {
    /// The boot loader decompresses the kernel.
    ///
    /// **Why.** Decompressing runs on one CPU, often at a low clock; a kernel that
    /// is stored as it is only has to be copied. What is best depends on the
    /// storage: reading costs bytes ÷ bandwidth.
    ///
    /// **Evidence.** The time of `Uncompressing Kernel Image`, minus what a copy of
    /// the whole kernel would take. How fast this machine copies is taken from the
    /// same boot, in which the boot loader moves the initramfs, too.
    ///
    /// **Fix.** `compression = "none"` in the FIT; on slow storage `lz4`.
    ///
    /// **Risk.** The kernel takes three times the storage, and the time to read it.
    ///
    /// **Figures.** Uncompressed against gzip: -481 ms (OMAP1510), -1157 ms (OMAP5912,
    /// OneNAND). On slow storage the other way round: 8.683 s against 5.516 s (AM335x).
    KERNEL_COMPRESSION = "kernel-compression", Kernel, kernel_compression
}

fn kernel_compression(boot: &Boot<'_>) -> Option<Finding> {
    let unpacks = boot.spans(TrackKind::Bootloader, "uncompress kernel");
    let first = unpacks.first()?;
    let total_ns = total_ns(&unpacks);
    let bytes = boot
        .target()
        .and_then(|(target, parts)| parts.kernel_bytes(&target.spec));
    let copy_ns = copy_ns(boot, bytes);
    let ms = total_ns / 1_000_000;
    let (why, basis) = match copy_ns {
        Some(copy_ns) => (
            format!(
                "it takes {ms} ms; a copy would take about {} ms",
                copy_ns / 1_000_000
            ),
            "the decompression minus a copy at this boot loader's speed; slow storage takes some \
             of it back for reading more",
        ),
        None => (format!("it takes {ms} ms"), AT_MOST),
    };
    let finding = Finding::new("U-Boot decompresses the kernel, slowly")
        .why(why)
        .saves(total_ns.saturating_sub(copy_ns.unwrap_or(0)), basis)
        .fix("store the kernel uncompressed in the FIT (compression = \"none\")")
        .recipe(boot.recipe("kernel-compression=none"))
        .at(Some(first.at()))
        .seen(evidence(&unpacks));
    Some(finding)
}

rule! {
    /// The kernel unpacks itself, slowly.
    ///
    /// **Why.** A zImage (or a `vmlinuz.efi`) brings its own decompressor, and what it is
    /// packed with was chosen for a small package: distributions take xz, which unpacks
    /// five times slower than gzip. It says nothing meanwhile.
    ///
    /// **Evidence.** The time from the image's start to the kernel's own first instruction,
    /// minus what unpacking it from gzip takes: as long as the kernel of this boot needs for
    /// the same amount of a gzip-compressed initramfs, without the initcalls beside it. Only with a target, which holds the
    /// image.
    ///
    /// **Fix.** Take the `Image` out (`arch/arm/boot/Image`), and let the boot loader unpack
    /// it; or build the kernel with `CONFIG_KERNEL_GZIP` or `CONFIG_KERNEL_LZ4`.
    ///
    /// **Risk.** The image becomes larger: mind the partition, and what `bootcmd` copies.
    ///
    /// **Figures.** AM335x, 1 GHz, to user space: xz 1.999 s, gzip 1.451 s, lzo 1.416 s;
    /// AT91SAM9263, 200 MHz, in all: xz 11.9 s, gzip 8.8 s, lzo 8.7 s.
    KERNEL_UNPACKS_ITSELF = "kernel-unpacks-itself", Kernel, kernel_unpacks_itself
}

fn kernel_unpacks_itself(boot: &Boot<'_>) -> Option<Finding> {
    let (target, parts) = boot.target()?;
    let unpacker = target.spec.kernel.as_ref()?.unpacked_by;
    if unpacker == Unpacker::Bootloader {
        return None;
    }
    let start = boot.moment(&[Milestone::KernelImage])?;
    let end = boot.moment(&[Milestone::KernelEntry])?;
    let took_ns = end.checked_sub(start).filter(|ns| *ns > WORTH_NS)?;
    let bytes = parts.inside_bytes()?;
    let gzip_ns = gunzip_ns(boot, bytes);
    let basis = match gzip_ns {
        Some(_) => "unpacking itself minus unpacking gzip as fast as this boot's initramfs",
        None => {
            "all of it, which is at most what can be saved: nothing in this boot tells how \
                 long gzip takes"
        }
    };
    let mib = bytes >> 20;
    let finding = Finding::new("the kernel unpacks itself, slowly")
        .why(format!("it takes {} ms for {mib} MiB", took_ns / 1_000_000))
        .saves(took_ns.saturating_sub(gzip_ns.unwrap_or(0)), basis)
        .fix("let the boot loader unpack the kernel's `Image`, from gzip or as it is")
        .recipe(boot.recipe("kernel-compression=gzip"))
        .at(Some([start, end]));
    Some(finding)
}

/// Below this, ns, nothing was unpacked: an `Image` takes it to start.
const WORTH_NS: i64 = 10_000_000;

/// What unpacking gzip to `bytes` would take, at the speed at which the kernel
/// unpacks its initramfs; if that is from gzip.
fn gunzip_ns(boot: &Boot<'_>, bytes: usize) -> Option<i64> {
    let (target, parts) = boot.target()?;
    let gzip = target.spec.initramfs.as_ref()?.compression == Compression::Gzip;
    let unpacked = parts.initramfs_bytes().filter(|bytes| gzip && *bytes > 0)?;
    let ns = unpacking(boot).on_cpu_ns as f64;
    (ns > 0.0).then(|| (ns / unpacked as f64 * bytes as f64) as i64)
}

/// How the kernel unpacks its initramfs: since Linux 5.13 beside its initcalls.
struct Unpacking {
    /// What it had of a CPU, ns: one CPU is shared half and half.
    on_cpu_ns: i64,
    /// What the boot would be shorter without, ns: with several CPUs, only what
    /// the initcalls do not hide.
    in_the_way_ns: i64,
}

fn unpacking(boot: &Boot<'_>) -> Unpacking {
    const NAME: &str = "unpack initramfs";
    let ns = total_ns(&boot.spans(TrackKind::Kernel, NAME)) as f64;
    // Before 5.13 this initcall did it itself.
    let shared = boot.beside_initcalls(NAME, "populate_rootfs");
    let on_one = (ns * (1.0 - shared / 2.0)) as i64;
    match cpus(boot) {
        Some(2..) => Unpacking {
            on_cpu_ns: ns as i64,
            in_the_way_ns: (ns * (1.0 - shared)) as i64,
        },
        _ => Unpacking {
            on_cpu_ns: on_one,
            in_the_way_ns: on_one,
        },
    }
}

/// What copying `bytes` would take, at the speed of moving the initramfs; if
/// both are known.
fn copy_ns(boot: &Boot<'_>, bytes: Option<usize>) -> Option<i64> {
    let (moved, ns) = moved(boot)?;
    Some((ns as f64 / moved * bytes? as f64) as i64)
}

/// How many bytes of initramfs the boot loader moved, and how long that took, ns.
fn moved(boot: &Boot<'_>) -> Option<(f64, i64)> {
    let copies = boot.spans(TrackKind::Bootloader, "load ramdisk");
    copies.iter().find_map(|copy| {
        let moved: u64 = copy.arg("bytes")?.parse().ok()?;
        (moved > 0 && copy.ns() >= 0).then(|| (moved as f64, copy.ns()))
    })
}

/// What the boot loader needs longer to check and move an initramfs of `bytes`.
fn more_in_loader_ns(boot: &Boot<'_>, bytes: Option<usize>) -> Option<i64> {
    let (moved, move_ns) = moved(boot)?;
    let checks = boot.spans(TrackKind::Bootloader, "hash check of ramdisk");
    let now_ns = total_ns(&checks).saturating_add(move_ns) as f64;
    let more = (bytes? as f64 - moved).max(0.0);
    Some((now_ns / moved * more) as i64)
}

rule! {
    /// The kernel decompresses the initramfs.
    ///
    /// **Why.** Before its first program runs, the kernel unpacks the whole
    /// archive, on one CPU, whether its files are needed for the boot or not.
    ///
    /// **Evidence.** The time of unpacking as the kernel's log shows it, minus what
    /// writing the files takes: as long as the boot loader would need to copy them; and
    /// minus what it needs longer to check and move the larger archive. Where initcalls
    /// ran beside it, half of that time is theirs; with several CPUs, all of it.
    /// Only with a target, which says that the archive is compressed at all.
    ///
    /// **Fix.** Store it uncompressed, or as lz4 where storage is slow; and leave
    /// out what the boot does not need.
    ///
    /// **Risk.** The archive takes more storage, and the time to read it.
    ///
    /// **Figures.** Compressing twice, inside of a compressed kernel, costs 11 ms of
    /// 5.5 s (AM335x) and 18 ms of 8.8 s (AT91SAM9263).
    INITRAMFS_COMPRESSION = "initramfs-compression", Initramfs, initramfs_compression
}

fn initramfs_compression(boot: &Boot<'_>) -> Option<Finding> {
    let recipe = boot.recipe("initramfs-compression=none").ok()?;
    let unpacks = boot.spans(TrackKind::Kernel, "unpack initramfs");
    let first = unpacks.first()?;
    let total_ns = total_ns(&unpacks);
    let in_the_way_ns = unpacking(boot).in_the_way_ns;
    let bytes = boot.target().and_then(|(_, parts)| parts.initramfs_bytes());
    let write_ns = copy_ns(boot, bytes);
    let basis = match write_ns {
        Some(_) => {
            "unpacking minus writing the files and checking more bytes; slow storage takes some \
             of it back for reading more"
        }
        None => AT_MOST,
    };
    let costs_ns = [write_ns, more_in_loader_ns(boot, bytes)];
    let costs_ns = costs_ns.iter().flatten();
    let costs_ns = costs_ns.fold(0_i64, |sum, ns| sum.saturating_add(*ns));
    let finding = Finding::new("the kernel decompresses the initramfs")
        .why(format!("unpacking takes {} ms", total_ns / 1_000_000))
        .saves(in_the_way_ns.saturating_sub(costs_ns), basis)
        .fix("store the initramfs uncompressed, or as lz4 where storage is slow")
        .recipe::<()>(Ok(recipe))
        .at(Some(first.at()))
        .seen(evidence(&unpacks));
    Some(finding)
}
