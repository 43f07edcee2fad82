//! Recipes for how kernel and initramfs are compressed.
//!
//! However the file `kernel.image` is wrapped, the FIT or the uImage holds the
//! kernel as `kernel.compression` says, so that alone is what counts here. A
//! kernel that unpacks itself is compressed once more inside: with how it was
//! built, which is often what takes longest to unpack.
//!
//! Which compressor is best depends on the CPU and the storage: reading costs
//! bytes ÷ bandwidth, decompressing costs instructions. In simulated time only
//! the second is seen, so *none* wins there; on slow storage it may lose.

use bootlap_artefact::arch::Arch;
use bootlap_artefact::compress::Compression;
use bootlap_artefact::kernel_image::{KernelFormat, KernelImage};
use bootlap_artefact::uimage::HEADER_BYTES;

use super::Plain;
use super::bootloader_script::MEMORY_BLOCK;
use crate::bootcmd::Commands;
use crate::spec::Unpacker;
use crate::{Edit, Machine, Parts, Spec, Target};

/// Compress the kernel in the FIT or the uImage another way, or not at all.
///
/// A zImage or a `vmlinuz.efi` unpacks itself, from what it was built with, and
/// often without caches: the `Image` inside is taken out, and U-Boot unpacks it.
/// Of a bzImage that a virtual machine starts by itself, it gets the `vmlinux`
/// inside: QEMU, Firecracker and Cloud Hypervisor enter that by PVH; as it is, or
/// as a file that unpacks itself from LZ4. The kernel then lies where it was
/// linked to: what unpacks it from a bzImage chooses its random place (KASLR).
pub(super) const KERNEL_COMPRESSION: Plain = Plain::new(
    "kernel-compression",
    "the kernel is compressed another way, or not at all",
    "an uncompressed kernel takes three times the storage and its reading time",
    kernel_compression,
)
.takes(&["none", "gzip", "bzip2", "lzma", "lz4", "zstd"]);

fn kernel_compression(target: &Target, parts: &Parts, value: &str) -> Result<Vec<Edit>, String> {
    let spec = &target.spec;
    let wanted: Compression = value.parse().map_err(|e| format!("{e}"))?;
    if spec.fit.is_none() && spec.uimage.is_none() {
        return for_machine(target, parts, wanted);
    }
    let kernel = spec.kernel.as_ref().ok_or("the target has no kernel")?;
    let taken_out = match kernel.unpacked_by {
        Unpacker::Kernel => taken_out(spec, parts)?,
        Unpacker::Bootloader | Unpacker::Machine => None,
    };
    if kernel.compression == wanted && taken_out.is_none() {
        return Err(format!("the kernel is compressed with {value} already"));
    }
    if let Some(uboot) = &parts.bootloader {
        uboot_reads(&uboot.bytes, value)?;
    }
    if wanted == Compression::None {
        let inside = taken_out.is_some() || kernel.unpacked_by == Unpacker::Bootloader;
        let bytes = match inside {
            true => parts.inside_bytes(),
            false => parts.kernel_bytes(spec),
        };
        bytes.map_or(Ok(()), |bytes| has_room(spec, bytes))?;
    }
    let mut edits = taken_out.unwrap_or_default();
    if kernel.compression != wanted {
        edits.push(Edit::set("kernel.compression", value));
    }
    Ok(edits)
}

/// The edits by which a virtual machine starts what is inside a bzImage.
fn for_machine(target: &Target, parts: &Parts, wanted: Compression) -> Result<Vec<Edit>, String> {
    const NOT_PACKED: &str = "the kernel is neither in a FIT nor in a uImage";
    let spec = &target.spec;
    let starts = matches!(target.machine, Machine::Qemu(_)) && spec.bootloader.is_none();
    let (Some(kernel), Some(part), true) = (&spec.kernel, &parts.kernel, starts) else {
        return Err(NOT_PACKED.into());
    };
    let compression = || Edit::set("kernel.compression", wanted.to_string());
    if kernel.unpacked_by == Unpacker::Machine {
        return match (kernel.compression == wanted, wanted) {
            (true, _) => Err("the machine starts what is inside the kernel already".into()),
            (false, Compression::None | Compression::Lz4) => Ok(vec![compression()]),
            (false, _) => Err(only_lz4(wanted)),
        };
    }
    let plain = part.unwrapped().map_err(|e| e.to_string())?;
    let image = KernelImage::describe(&plain).ok();
    let image = image.filter(|image| image.format == KernelFormat::X86Bzimage);
    let image = image.ok_or(NOT_PACKED)?;
    if !matches!(wanted, Compression::None | Compression::Lz4) {
        return Err(only_lz4(wanted));
    }
    image.inside(&plain).map_err(|e| e.to_string())?;
    let mut edits = vec![Edit::set("kernel.unpacked-by", "machine")];
    if kernel.compression != wanted {
        edits.push(compression());
    }
    Ok(edits)
}

fn only_lz4(wanted: Compression) -> String {
    format!(
        "nothing would unpack {wanted} but the kernel itself: build it with another \
         CONFIG_KERNEL_…, or take lz4 or none"
    )
}

/// Whether flash and `bootcmd` have room for a uImage of a kernel of `bytes`; of
/// one that is compressed, that is only known when it is packed.
fn has_room(spec: &Spec, bytes: usize) -> Result<(), String> {
    let Some((flash, offset)) = spec
        .flash
        .as_ref()
        .and_then(|f| Some((f, f.kernel_offset?)))
    else {
        return Ok(());
    };
    let bytes = (bytes as u64).saturating_add(HEADER_BYTES as u64);
    let room = flash.initramfs_offset.unwrap_or(flash.bank_size);
    let room = room.checked_sub(offset).unwrap_or(u64::MAX);
    if room < bytes {
        return Err(format!(
            "uncompressed, the kernel takes {bytes:#x} bytes, and there are {room:#x} for it in \
             flash; move what is behind it"
        ));
    }
    let environment = spec
        .bootloader
        .as_ref()
        .map(|b| Commands::of(&b.environment));
    let copies = environment.map_or_else(Vec::new, |e| e.copies());
    let mut of_it = copies.iter().filter(|copy| copy.is_of(flash, offset));
    match of_it.find(|copy| copy.bytes() < bytes) {
        Some(copy) => Err(format!(
            "uncompressed, the kernel takes {bytes:#x} bytes, and `{}` copies {:#x}; raise the \
             count",
            copy.variable,
            copy.bytes()
        )),
        None => Ok(()),
    }
}

/// The edits by which the boot loader gets what the kernel would unpack itself
/// to; none if it does not.
fn taken_out(spec: &Spec, parts: &Parts) -> Result<Option<Vec<Edit>>, String> {
    let Some(part) = &parts.kernel else {
        return Ok(None);
    };
    let plain = part.unwrapped().map_err(|e| e.to_string())?;
    let Ok(kernel) = KernelImage::describe(&plain) else {
        return Ok(None);
    };
    // No boot loader starts what is inside a bzImage.
    if kernel.format == KernelFormat::X86Bzimage || kernel.inside(&plain).is_err() {
        return Ok(None);
    }
    let mut edits = vec![Edit::set("kernel.unpacked-by", "bootloader")];
    if let (Some(Arch::Arm), Some(offset)) = (kernel.arch, kernel.text_offset) {
        edits.extend(placed(spec, offset, kernel.memory_bytes)?);
    }
    Ok(Some(edits))
}

/// The edits by which it is unpacked to where it would have unpacked itself to.
fn placed(spec: &Spec, offset: u64, bytes: Option<u64>) -> Result<Vec<Edit>, String> {
    let (key, before) = match (&spec.fit, &spec.uimage) {
        (Some(fit), _) => ("fit.load-address", fit.load_address),
        (None, Some(uimage)) => ("uimage.load-address", uimage.load_address.into()),
        (None, None) => return Ok(Vec::new()),
    };
    let memory = before / u64::from(MEMORY_BLOCK) * u64::from(MEMORY_BLOCK);
    let load = memory.saturating_add(offset);
    let end = load.saturating_add(bytes.unwrap_or(0));
    let copies = spec
        .bootloader
        .as_ref()
        .map(|b| Commands::of(&b.environment).copies());
    for copy in copies.into_iter().flatten() {
        let until = copy.destination.saturating_add(copy.bytes());
        if copy.destination < end && load < until {
            return Err(format!(
                "U-Boot would unpack the kernel to {load:#x} and what follows, over what `{}` \
                 copies to {:#x}; copy that to {end:#x} or above",
                copy.variable, copy.destination
            ));
        }
    }
    let load = u32::try_from(load);
    let load = load.map_err(|_| "the kernel lies where 32 bits do not reach")?;
    let mut edits = Vec::new();
    if u64::from(load) != before {
        edits.push(Edit::address(key, load));
    }
    let entry = spec.uimage.as_ref().and_then(|uimage| uimage.entry);
    if entry.is_some_and(|entry| entry != load) {
        edits.push(Edit::address("uimage.entry", load));
    }
    Ok(edits)
}

/// Compress the initramfs another way, or not at all.
pub(super) const INITRAMFS_COMPRESSION: Plain = Plain::new(
    "initramfs-compression",
    "the initramfs is compressed another way, or not at all",
    "an uncompressed initramfs takes more storage and its reading time",
    initramfs_compression,
)
.takes(&["none", "gzip", "bzip2", "lzma", "xz", "lz4", "zstd"])
.of_initramfs();

fn initramfs_compression(target: &Target, _: &Parts, value: &str) -> Result<Vec<Edit>, String> {
    let initramfs = target.spec.initramfs.as_ref();
    let initramfs = initramfs.ok_or("the target has no initramfs")?;
    let wanted: Compression = value.parse().map_err(|e| format!("{e}"))?;
    if wanted == initramfs.compression {
        return Err(format!("the initramfs is compressed with {value} already"));
    }
    Ok(vec![Edit::set("initramfs.compression", value)])
}

/// Whether U-Boot was built with a decompressor.
///
/// Its table of image types names them all, so look for what only the code
/// itself holds: a command, or a constant table of the algorithm.
fn uboot_reads(uboot: &[u8], compression: &str) -> Result<(), String> {
    let sign: Vec<u8> = match compression {
        "lzma" => b"lzmadec".to_vec(),
        "lz4" => b"unlz4".to_vec(),
        // The CRC table of bzip2 runs from the high bit; U-Boot's own from the low.
        "bzip2" => little_endian(&[0, 0x04c1_1db7, 0x0982_3b6e, 0x0d43_26d9]),
        // The base values of zstd's literal length codes.
        "zstd" => little_endian(&[16, 18, 20, 22, 24, 28, 32, 40, 48, 64, 128, 256]),
        _ => return Ok(()),
    };
    if memchr::memmem::find(uboot, &sign).is_none() {
        let option = compression.to_uppercase();
        return Err(format!(
            "this U-Boot was built without {compression} and stops with `Unimplemented \
             compression type`; rebuild it with CONFIG_{option}=y, as uboot-options={option}=y does"
        ));
    }
    Ok(())
}

fn little_endian(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}
