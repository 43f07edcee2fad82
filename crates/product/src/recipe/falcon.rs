//! The recipe that leaves out U-Boot proper.

use bootlap_artefact::compress::Compression;
use bootlap_artefact::kernel_image::{KernelFormat, KernelImage};

use super::Plain;
use super::bootloader::uboot;
use super::bootloader_build::with_options;
use super::bootloader_script::MEMORY_BLOCK;
use crate::bootcmd::SECTOR;
use crate::spec::{Medium, Unpacker};
use crate::{Edit, Parts, Target};

/// SPL starts the kernel (Falcon mode).
///
/// Where a boot loader has a first stage, that stage loads U-Boot to have it load
/// the kernel. It can load the kernel itself: here it reads a uImage where it would
/// read U-Boot, with device tree, kernel and initramfs in it, and jumps. What
/// U-Boot's scripts would have told the kernel stands in that device tree.
pub(super) const FALCON: Plain = Plain::new(
    "uboot-falcon",
    "U-Boot's first stage starts the kernel (Falcon mode)",
    "no prompt, no scripts and no choice between two systems; the command line is \
                   in the image; a secure world or other CPUs that U-Boot set up are not",
    falcon,
)
.only_if_asked();

/// What lies after the kernel begins at such a boundary.
const MIB: u64 = 1 << 20;

fn falcon(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    uboot(target)?;
    let spec = &target.spec;
    let flash = spec.flash.as_ref().filter(|f| f.medium == Medium::Sd);
    let flash = flash.ok_or(
        "U-Boot runs from NOR flash, without a first stage; this is for cards: [flash] with \
         medium = \"sd\"",
    )?;
    let kernel = spec.kernel.as_ref().ok_or("the target has no kernel")?;
    if kernel.devicetree.is_none() {
        return Err("SPL has no device tree for the kernel; name it in kernel.devicetree".into());
    }
    let fit = spec
        .fit
        .as_ref()
        .map(|fit| (fit.load_address, flash.fit_offset));
    let uimage = || {
        let uimage = spec.uimage.as_ref()?;
        Some((u64::from(uimage.load_address), flash.kernel_offset))
    };
    let (load, offset) = fit
        .or_else(uimage)
        .ok_or("U-Boot starts neither FIT nor uImage")?;
    let offset = offset.filter(|offset| offset % SECTOR == 0);
    let offset = offset.ok_or("the kernel does not begin where a sector of the card does")?;
    let memory = load - load % u64::from(MEMORY_BLOCK);
    let load = behind(memory, parts)?;
    let narrow = |at: u64| u32::try_from(at).map_err(|_| "the kernel lies too high".to_owned());
    let address = format!("{load:#x}");
    let sector = format!("{:#x}", offset / SECTOR);
    let mut edits = with_options(
        target,
        &[
            ("SPL_OS_BOOT", "y"),
            ("SYS_SPL_ARGS_ADDR", &address),
            ("SYS_MMCSD_RAW_MODE_U_BOOT_SECTOR", &sector),
            // Some boards count sectors from the end of their first stage.
            ("SYS_MMCSD_RAW_MODE_U_BOOT_DATA_PART_OFFSET", "0x0"),
        ],
    )?;
    let gone = [
        ("fit", spec.fit.is_some()),
        ("flash.fit-offset", flash.fit_offset.is_some()),
        ("flash.initramfs-offset", flash.initramfs_offset.is_some()),
        (
            "kernel.compression",
            kernel.compression != Compression::None,
        ),
        ("kernel.unpacked-by", kernel.unpacked_by != Unpacker::Kernel),
        (
            "uimage.entry",
            spec.uimage.as_ref().is_some_and(|u| u.entry.is_some()),
        ),
    ];
    edits.extend(gone.iter().filter(|g| g.1).map(|g| Edit::remove(g.0)));
    edits.push(Edit::address("flash.kernel-offset", narrow(offset)?));
    edits.push(Edit::address("uimage.load-address", narrow(load)?));
    edits.push(Edit::address("uimage.memory-address", narrow(memory)?));
    edits.push(Edit::set("uimage.started-by", "spl"));
    Ok(edits)
}

/// The first address after what the kernel unpacks itself to.
fn behind(memory: u64, parts: &Parts) -> Result<u64, String> {
    let part = parts.kernel.as_ref().ok_or("the target has no kernel")?;
    let plain = part.unwrapped().map_err(|e| e.to_string())?;
    let kernel = KernelImage::describe(&plain).map_err(|e| e.to_string())?;
    let bytes = match kernel.format {
        KernelFormat::ArmZimage => kernel.memory_bytes,
        _ => None,
    };
    let bytes = bytes.ok_or(
        "what SPL starts must unpack itself, and say how large it gets: a zImage of 32-bit Arm",
    )?;
    let end = memory + kernel.text_offset.unwrap_or(0x8000) + bytes;
    // Page tables, stack and heap of what unpacks it.
    Ok(end.next_multiple_of(MIB) + MIB)
}
