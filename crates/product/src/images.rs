//! The images that a boot loader reads from flash: a FIT, or legacy uImages.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bootlap_artefact::arch::Arch;
use bootlap_artefact::compress::Compression;
use bootlap_artefact::fit::{FitSpec, Part as FitPart};
use bootlap_artefact::kernel_image::{KernelError, KernelImage, loaded_end, self_unpacking};
use bootlap_artefact::uimage::{KIND_RAMDISK, UimageHeader};

use crate::TargetError;
use crate::bootcmd::Commands;
use crate::part::Part;
use crate::part::{Blob, Pack};
use crate::payload::{KERNEL, Payload};
use crate::spec::{Fit, Flash, Kernel, Spec, Starter, Uimage, Unpacker};

/// What the initramfs's image is called.
pub(crate) const INITRAMFS: &str = "initramfs's uImage";

/// Images and where they lie in the second bank.
pub(crate) struct Packed {
    pub(crate) blobs: Vec<Blob>,
    /// What the kernel's image is made of again for another command line.
    pub(crate) payload: Option<Payload>,
    /// The physical address at which the kernel is entered.
    pub(crate) kernel_entry: u64,
}

/// Packs kernel and initramfs as the target says.
pub(crate) fn packed(
    spec: &Spec,
    flash: &Flash,
    kernel: &Part,
    devicetree: Option<&Part>,
    initramfs: Option<&[u8]>,
    pack: Pack<'_>,
) -> Result<Packed, TargetError> {
    let place = |offset: Option<u64>, key: &str| {
        offset.ok_or_else(|| TargetError::MissingPart(format!("flash.{key} is missing; add it")))
    };
    let of_kernel = spec.kernel.as_ref();
    let compression = of_kernel.map_or(Compression::None, |k: &Kernel| k.compression);
    let unpacker = of_kernel.map_or(Unpacker::Kernel, |k| k.unpacked_by);
    match (&spec.fit, &spec.uimage) {
        (Some(fit), _) => {
            let kernel = Packable::of(kernel, unpacker, fit.load_address)?;
            let bytes = fit_image(compression, fit, &kernel, devicetree, initramfs, pack)?;
            let offset = place(flash.fit_offset, "fit-offset")?;
            Ok(Packed {
                blobs: vec![Blob::new("FIT", offset, bytes)],
                payload: None,
                kernel_entry: fit.load_address,
            })
        }
        (None, Some(uimage)) => {
            let kernel = Packable::of(kernel, unpacker, uimage.load_address.into())?;
            if uimage.started_by == Starter::Spl {
                let devicetree = devicetree.map(|part| &*part.bytes);
                let cmdline = of_kernel.map_or("", |k| &k.cmdline);
                let memory_mb = spec.machine.memory_mb().unwrap_or(0);
                let payload = Payload {
                    arch: kernel.arch,
                    load: uimage.load_address,
                    memory: (
                        uimage.memory_address.unwrap_or(0),
                        u64::from(memory_mb) << 20,
                    ),
                    devicetree: devicetree.unwrap_or_default().into(),
                    kernel: kernel.bytes.into(),
                    initramfs: initramfs.map(Arc::from),
                };
                let offset = place(flash.kernel_offset, "kernel-offset")?;
                return Ok(Packed {
                    kernel_entry: payload.entry(),
                    blobs: vec![Blob::new(KERNEL, offset, payload.to_bytes(cmdline)?)],
                    payload: Some(payload),
                });
            }
            let bytes = kernel_uimage(compression, uimage, &kernel, pack)?;
            let offset = place(flash.kernel_offset, "kernel-offset")?;
            let mut blobs = vec![Blob::new(KERNEL, offset, bytes)];
            if let Some(initramfs) = initramfs {
                let offset = place(flash.initramfs_offset, "initramfs-offset")?;
                let bytes = initramfs_uimage(kernel.arch, initramfs)?;
                blobs.push(Blob::new(INITRAMFS, offset, bytes));
            }
            Ok(Packed {
                blobs,
                payload: None,
                kernel_entry: uimage.entry.unwrap_or(uimage.load_address).into(),
            })
        }
        (None, None) => Err(TargetError::MissingPart(
            "a boot loader needs a [fit] or a [uimage] section; add one".into(),
        )),
    }
}

/// An image must be copied whole: U-Boot itself does not notice, and what it
/// starts then hangs. A script may also copy the beginning, to look at it.
pub(crate) fn check_copies(spec: &Spec, blobs: &[Blob]) -> Result<(), TargetError> {
    let Some((bootloader, flash)) = spec.bootloader.as_ref().zip(spec.flash.as_ref()) else {
        return Ok(());
    };
    let copies = Commands::of(&bootloader.environment).copies();
    for blob in blobs {
        let size = blob.bytes.len() as u64;
        let of_it = copies.iter().filter(|c| c.is_of(flash, blob.offset));
        let largest = of_it.max_by_key(|copy| copy.bytes());
        if let Some(copy) = largest.filter(|copy| copy.bytes() < size) {
            return Err(TargetError::artefact(
                "U-Boot's environment",
                format!(
                    "`{}` copies {:#x} bytes of the {}, which has {size:#x}; raise the count, as uboot-exact-size does",
                    copy.variable,
                    copy.bytes(),
                    blob.name
                ),
            ));
        }
    }
    Ok(())
}

/// Refuses a kernel that is cut off or damaged. What is of no known kind is let
/// through: the machine may know it.
pub(crate) fn check_whole(kernel: &Part) -> Result<(), TargetError> {
    let plain = kernel.unwrapped()?;
    match KernelImage::describe(&plain) {
        Ok(_) | Err(KernelError::Unknown) => Ok(()),
        Err(e) => Err(TargetError::artefact(&kernel.origin, e)),
    }
}

/// A kernel as an image holds it, before it is compressed.
struct Packable<'p> {
    bytes: Cow<'p, [u8]>,
    arch: Arch,
}

impl<'p> Packable<'p> {
    /// However the file is wrapped, the image holds the kernel packed as the
    /// target says; what the file unpacks itself to, if that is the boot
    /// loader's to do.
    fn of(kernel: &'p Part, unpacker: Unpacker, load: u64) -> Result<Self, TargetError> {
        let wrong = |e: &dyn fmt::Display| TargetError::artefact(&kernel.origin, e.to_string());
        let plain = kernel.unwrapped()?;
        let image = KernelImage::describe(&plain).map_err(|e| wrong(&e))?;
        let arch = image.arch.ok_or_else(|| {
            wrong(
                &"its processor family is unknown, so no image can be made for it; use the Image \
                  of a kernel for arm, arm64, riscv or x86",
            )
        })?;
        let bytes = match unpacker {
            Unpacker::Kernel => plain,
            Unpacker::Bootloader | Unpacker::Machine => {
                let inside = inside(kernel)?;
                check_place(image.text_offset, load).map_err(|e| wrong(&e))?;
                inside.into()
            }
        };
        Ok(Self { bytes, arch })
    }
}

/// What a kernel unpacks itself to.
pub(crate) fn inside(kernel: &Part) -> Result<Vec<u8>, TargetError> {
    let wrong = |e: KernelError| {
        TargetError::artefact(&kernel.origin, format!("{e}; remove {UNPACKED_BY}"))
    };
    let plain = kernel.unwrapped()?;
    let image = KernelImage::describe(&plain).map_err(wrong)?;
    image.inside(&plain).map_err(wrong)
}

/// What a virtual machine gets of a kernel that would unpack itself: what is inside, as it is or
/// unpacking itself from LZ4.
pub(crate) fn for_machine(kernel: &Part, packed: Compression) -> Result<Vec<u8>, TargetError> {
    let plain = inside(kernel)?;
    if packed == Compression::None {
        return Ok(plain);
    }
    self_unpacking(&plain).ok_or_else(|| {
        let why = "it does not lie within 32-bit addresses; remove kernel.compression";
        TargetError::artefact(&kernel.origin, why)
    })
}

/// Refuses what would not fit into the machine's memory, with `beside` bytes of an initramfs.
pub(crate) fn check_fits(spec: &Spec, vmlinux: &[u8], beside: usize) -> Result<(), TargetError> {
    let (Some(memory_mb), Some(end)) = (spec.machine.memory_mb(), loaded_end(vmlinux)) else {
        return Ok(());
    };
    let needs_mb = end.saturating_add(beside as u64).div_ceil(1 << 20);
    if needs_mb <= u64::from(memory_mb) {
        return Ok(());
    }
    let why = format!(
        "with its initramfs it takes {needs_mb} MB of memory until it runs, and the machine has \
         {memory_mb}; raise machine.memory-mb, or remove {UNPACKED_BY}"
    );
    Err(TargetError::artefact("the kernel inside", why))
}

const UNPACKED_BY: &str = "kernel.unpacked-by";

/// What a kernel's place in memory is counted from, in bytes.
const GRANULE: u64 = 2 << 20;

/// A kernel takes what is in front of it for the beginning of memory.
fn check_place(text_offset: Option<u64>, load: u64) -> Result<(), String> {
    match text_offset {
        Some(offset) if load % GRANULE != offset % GRANULE => Err(format!(
            "the kernel inside must lie {offset:#x} behind the beginning of memory, not at \
             {load:#x}; change the load address, or remove {UNPACKED_BY}"
        )),
        _ => Ok(()),
    }
}

fn fit_image(
    compression: Compression,
    fit: &Fit,
    kernel: &Packable<'_>,
    devicetree: Option<&Part>,
    initramfs: Option<&[u8]>,
    pack: Pack<'_>,
) -> Result<Vec<u8>, TargetError> {
    let packed = pack("kernel", &kernel.bytes, compression)?;
    let mut spec = FitSpec::new(kernel.arch, FitPart::new("kernel", &packed));
    spec.kernel.compression = compression;
    spec.kernel.load = Some(fit.load_address);
    spec.ramdisk = initramfs.map(|bytes| FitPart::new("initramfs", bytes));
    spec.fdt = devicetree.map(|part| FitPart::new("device tree", &part.bytes));
    spec.hash = fit.hash;
    spec.to_bytes().map_err(|e| TargetError::artefact("FIT", e))
}

fn kernel_uimage(
    compression: Compression,
    uimage: &Uimage,
    kernel: &Packable<'_>,
    pack: Pack<'_>,
) -> Result<Vec<u8>, TargetError> {
    let packed = pack("kernel", &kernel.bytes, compression)?;
    UimageHeader::kernel(kernel.arch, compression, uimage.load_address)
        .and_then(|header| {
            let entry = uimage.entry.unwrap_or(header.entry);
            let name = "kernel".to_owned();
            UimageHeader {
                entry,
                name,
                ..header
            }
            .to_bytes(&packed)
        })
        .map_err(|e| TargetError::artefact(KERNEL, e))
}

/// However it is compressed: that is the kernel's business, not U-Boot's.
fn initramfs_uimage(arch: Arch, initramfs: &[u8]) -> Result<Vec<u8>, TargetError> {
    UimageHeader::kernel(arch, Compression::None, 0)
        .and_then(|header| {
            let name = "initramfs".to_owned();
            let kind = KIND_RAMDISK;
            UimageHeader {
                name,
                kind,
                ..header
            }
            .to_bytes(initramfs)
        })
        .map_err(|e| TargetError::artefact(INITRAMFS, e))
}
