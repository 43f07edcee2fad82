//! Decompressing where reading would be cheaper.

use bootlap_artefact::compress::Compression;
use bootlap_model::{Milestone, Span, TrackKind};
use bootlap_product::{Machine, Parts, Target, Unpacker};

use super::checks;
use super::early::cpus;
use crate::boot::{evidence, total_ns};
use crate::{Boot, Finding};

checks! {
    "kernel-compression" => kernel_compression,
    "kernel-unpacks-itself" => kernel_unpacks_itself,
    "initramfs-compression" => initramfs_compression,
}

/// Where it is not known how long a copy would take.
const AT_MOST: &str = "at most: all of it; nothing in this boot tells how long a copy takes";

fn kernel_compression(boot: &Boot<'_>) -> Option<Finding> {
    let unpacks = boot.spans(TrackKind::Bootloader, "uncompress kernel");
    let first = unpacks.first()?;
    let total_ns = total_ns(&unpacks);
    let bytes = boot
        .target()
        .and_then(|(target, parts)| parts.kernel_bytes(&target.spec));
    let copy_ns = copy_ns(boot, bytes);
    let costs_ns = copy_ns
        .unwrap_or(0)
        .saturating_add(more_checks_ns(boot, "kernel", bytes));
    let ms = total_ns / 1_000_000;
    let (why, basis) = match copy_ns {
        Some(copy_ns) => (
            format!(
                "it takes {ms} ms; a copy would take about {} ms",
                copy_ns / 1_000_000
            ),
            "the decompression minus a copy and checking more bytes at this boot loader's speed; \
             slow storage takes some of it back for reading more",
        ),
        None => (format!("it takes {ms} ms"), AT_MOST),
    };
    Some(
        Finding::new()
            .why(why)
            .saves(total_ns.saturating_sub(costs_ns), basis)
            .recipe(boot.recipe("kernel-compression=none"))
            .at(Some(first.at()))
            .seen(evidence(&unpacks)),
    )
}

fn kernel_unpacks_itself(boot: &Boot<'_>) -> Option<Finding> {
    let (target, parts) = boot.target()?;
    let spec = &target.spec;
    let kernel = spec.kernel.as_ref();
    if kernel.is_some_and(|kernel| kernel.unpacked_by != Unpacker::Kernel) {
        return None;
    }
    let start = boot.moment(&[Milestone::KernelImage])?;
    let end = boot.moment(&[Milestone::KernelEntry])?;
    let took_ns = end.checked_sub(start).filter(|ns| *ns > WORTH_NS)?;
    if !parts.kernel_unpacks_itself() {
        return None;
    }
    let finding = |why: String| Finding::new().why(why).at(Some([start, end]));
    let ms = took_ns / 1_000_000;
    let packed = spec.fit.is_some() || spec.uimage.is_some();
    if !packed {
        let mut finding = finding(format!("it takes {ms} ms"));
        if is_pc(target) {
            finding = finding.fix(
                "build the kernel with CONFIG_KERNEL_LZ4 or CONFIG_KERNEL_ZSTD; a virtual machine \
                 that starts the kernel itself (`bootloader-none`) can start the `vmlinux` in it: \
                 `kernel-compression=none`",
            );
        }
        let Some((recipe, more_ns, basis)) = for_machine(target, parts) else {
            let recipe = boot.recipe("kernel-compression=none");
            let basis = "at most: all of it; nothing tells how fast the kernel is read";
            return Some(finding.saves(took_ns, basis).recipe(recipe));
        };
        let saved_ns = took_ns.checked_sub(more_ns).filter(|ns| *ns > 0)?;
        return Some(finding.saves(saved_ns, basis).recipe(boot.recipe(recipe)));
    }
    let bytes = parts.inside_bytes()?;
    let gzip_ns = gunzip_ns(boot, bytes);
    let basis = match gzip_ns {
        Some(_) => "unpacking itself minus unpacking gzip as fast as this boot's initramfs",
        None => "at most: all of it; nothing in this boot tells how long gzip takes",
    };
    let mib = bytes >> 20;
    Some(
        finding(format!("it takes {ms} ms for {mib} MiB"))
            .saves(took_ns.saturating_sub(gzip_ns.unwrap_or(0)), basis)
            .recipe(boot.recipe("kernel-compression=gzip")),
    )
}

/// No boot loader of a PC unpacks a kernel.
fn is_pc(target: &Target) -> bool {
    let Machine::Qemu(machine) = &target.machine else {
        return false;
    };
    let names = ["x86_64", "i386"];
    names.iter().any(|arch| machine.program.ends_with(arch))
}

/// What a machine would rather start, and how much longer than the bzImage it takes to read that
/// and unpack it, ns, with what was reckoned; if it is known how fast the board is.
fn for_machine(target: &Target, parts: &Parts) -> Option<(&'static str, i64, &'static str)> {
    let board = target.board.as_ref()?;
    let bytes_per_s = board.storage_bandwidth.of("bootloader")?;
    let instructions_per_s = board.instructions_per_second.of("bootloader")?;
    let now = parts.kernel.as_ref()?.bytes.len() as f64;
    let inside = parts.inside_bytes()? as f64;
    let none = (inside - now) / bytes_per_s;
    let lz4 = (inside * OF_LZ4 - now) / bytes_per_s + inside * LZ4_PER_BYTE / instructions_per_s;
    let ns = |seconds: f64| (seconds * 1e9) as i64;
    Some(match none <= lz4 {
        true => (
            "kernel-compression=none",
            ns(none),
            "all of it, minus reading more at the board's speed",
        ),
        false => (
            "kernel-compression=lz4",
            ns(lz4),
            "all of it, minus reading more at the board's speed, and unpacking LZ4",
        ),
    })
}

/// Of Debian's kernel 6.1 for amd64, what LZ4 leaves, and instructions for each unpacked byte.
const OF_LZ4: f64 = 0.39;
const LZ4_PER_BYTE: f64 = 2.7;

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
    /// Whether it is known which initcalls ran beside it.
    is_known: bool,
}

fn unpacking(boot: &Boot<'_>) -> Unpacking {
    let ns = total_ns(&boot.spans(TrackKind::Kernel, Span::UNPACK_INITRAMFS)) as f64;
    // Before 5.13 this initcall did it itself.
    let beside = boot.beside_initcalls(Span::UNPACK_INITRAMFS, "populate_rootfs");
    let (shared, is_known) = (beside.unwrap_or(0.0), beside.is_some());
    let on_one = (ns * (1.0 - shared / 2.0)) as i64;
    match cpus(boot) {
        Some(2..) => Unpacking {
            on_cpu_ns: ns as i64,
            in_the_way_ns: (ns * (1.0 - shared)) as i64,
            is_known,
        },
        _ => Unpacking {
            on_cpu_ns: on_one,
            in_the_way_ns: on_one,
            is_known,
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
    let more = (bytes? as f64 - moved).max(0.0);
    let checks_ns = more_checks_ns(boot, "ramdisk", bytes);
    Some(((move_ns as f64 / moved * more) as i64).saturating_add(checks_ns))
}

/// What the boot loader needs longer to check an image that gets `bytes`, if it checks that, and
/// that is known.
fn more_checks_ns(boot: &Boot<'_>, image: &str, bytes: Option<usize>) -> i64 {
    let bytes = bytes.unwrap_or(0) as f64;
    let checks = boot.spans(TrackKind::Bootloader, "hash check");
    let of_image = checks.iter().filter(|c| c.arg("image") == Some(image));
    let more_ns = of_image.filter_map(|check| {
        let now: f64 = check.arg("bytes")?.parse().ok()?;
        (now > 0.0).then(|| (check.ns() as f64 / now * (bytes - now).max(0.0)) as i64)
    });
    more_ns.fold(0, i64::saturating_add)
}

fn initramfs_compression(boot: &Boot<'_>) -> Option<Finding> {
    let recipe = boot.recipe("initramfs-compression=none").ok()?;
    let unpacks = boot.spans(TrackKind::Kernel, Span::UNPACK_INITRAMFS);
    let first = unpacks.first()?;
    let total_ns = total_ns(&unpacks);
    let unpacking = unpacking(boot);
    let bytes = boot.target().and_then(|(_, parts)| parts.initramfs_bytes());
    let write_ns = copy_ns(boot, bytes);
    let basis = match (write_ns, unpacking.is_known) {
        (Some(_), true) => {
            "unpacking minus writing the files and checking more bytes; slow storage takes some \
             of it back for reading more"
        }
        (Some(_), false) => {
            "at most: unpacking minus writing the files and checking more bytes; nothing tells \
             which initcalls ran beside it"
        }
        (None, _) => AT_MOST,
    };
    let costs_ns = [write_ns, more_in_loader_ns(boot, bytes)];
    let costs_ns = costs_ns.iter().flatten();
    let costs_ns = costs_ns.fold(0_i64, |sum, ns| sum.saturating_add(*ns));
    Some(
        Finding::new()
            .why(format!("unpacking takes {} ms", total_ns / 1_000_000))
            .saves(unpacking.in_the_way_ns.saturating_sub(costs_ns), basis)
            .recipe::<()>(Ok(recipe))
            .at(Some(first.at()))
            .seen(evidence(&unpacks)),
    )
}
