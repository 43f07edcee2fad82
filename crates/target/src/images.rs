//! The images that a boot loader reads from flash: a FIT, or legacy uImages.

use std::borrow::Cow;

use crate::TargetError;
use crate::artefact::arch::Arch;
use crate::artefact::compress::Compression;
use crate::artefact::fit::{FitSpec, Part as FitPart};
use crate::artefact::kernel_image::{KernelError, KernelImage};
use crate::artefact::uimage::{KIND_RAMDISK, UimageHeader};
use crate::assemble::{Blob, Pack};
use crate::bootcmd::Commands;
use crate::parts::Part;
use crate::spec::{Fit, Flash, Kernel, Spec, Uimage};

/// What the kernel's image is called.
pub(crate) const KERNEL: &str = "kernel's uImage";
/// What the initramfs's image is called.
pub(crate) const INITRAMFS: &str = "initramfs's uImage";

/// Images and where they lie in the second bank.
pub(crate) struct Packed {
    pub(crate) blobs: Vec<Blob>,
    /// The physical address at which the kernel is entered.
    pub(crate) kernel_entry: u64,
}

/// Packs kernel and initramfs as the target says.
pub(crate) fn packed(
    spec: &Spec,
    flash: &Flash,
    kernel: &Part,
    initramfs: Option<&[u8]>,
    pack: Pack<'_>,
) -> Result<Packed, TargetError> {
    let place = |offset: Option<u64>, key: &str| {
        offset.ok_or_else(|| TargetError::MissingPart(format!("flash.{key} is missing; add it")))
    };
    let of_kernel = spec.kernel.as_ref();
    let compression = of_kernel.map_or(Compression::None, |k: &Kernel| k.compression);
    match (&spec.fit, &spec.uimage) {
        (Some(fit), _) => {
            let bytes = fit_image(compression, fit, kernel, initramfs, pack)?;
            let offset = place(flash.fit_offset, "fit-offset")?;
            Ok(Packed {
                blobs: vec![Blob::new("FIT", offset, bytes)],
                kernel_entry: fit.load_address,
            })
        }
        (None, Some(uimage)) => {
            let bytes = kernel_uimage(compression, uimage, kernel, pack)?;
            let offset = place(flash.kernel_offset, "kernel-offset")?;
            let mut blobs = vec![Blob::new(KERNEL, offset, bytes)];
            if let Some(initramfs) = initramfs {
                let offset = place(flash.initramfs_offset, "initramfs-offset")?;
                let bytes = initramfs_uimage(kernel, initramfs)?;
                blobs.push(Blob::new(INITRAMFS, offset, bytes));
            }
            Ok(Packed {
                blobs,
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
                    "`{}` copies {:#x} bytes of the {}, which has {size:#x}; raise the count",
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

/// The kernel, unwrapped, and the processor family that it is for.
fn plain<'p>(kernel: &'p Part, image: &str) -> Result<(Cow<'p, [u8]>, Arch), TargetError> {
    // However the file is wrapped, the image holds the kernel packed as the
    // target says.
    let plain = kernel.unwrapped()?;
    let describe = KernelImage::describe(&plain);
    let arch = describe
        .map_err(|e| TargetError::artefact(&kernel.origin, e))?
        .arch
        .ok_or_else(|| {
            TargetError::artefact(
                &kernel.origin,
                format!(
                    "its processor family is unknown, so no {image} can be made for it; use the \
                     Image of a kernel for arm, arm64, riscv or x86"
                ),
            )
        })?;
    Ok((plain, arch))
}

fn fit_image(
    compression: Compression,
    fit: &Fit,
    kernel: &Part,
    initramfs: Option<&[u8]>,
    pack: Pack<'_>,
) -> Result<Vec<u8>, TargetError> {
    // Looked at before compressing, which takes long.
    let (plain, arch) = plain(kernel, "FIT")?;
    let packed = pack("kernel", &plain, compression)?;
    let mut spec = FitSpec::new(arch, FitPart::new("kernel", &packed));
    spec.kernel.compression = compression;
    spec.kernel.load = Some(fit.load_address);
    spec.ramdisk = initramfs.map(|bytes| FitPart::new("initramfs", bytes));
    spec.hash = fit.hash;
    spec.to_bytes().map_err(|e| TargetError::artefact("FIT", e))
}

fn kernel_uimage(
    compression: Compression,
    uimage: &Uimage,
    kernel: &Part,
    pack: Pack<'_>,
) -> Result<Vec<u8>, TargetError> {
    let (plain, arch) = plain(kernel, "uImage")?;
    let packed = pack("kernel", &plain, compression)?;
    UimageHeader::kernel(arch, compression, uimage.load_address)
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
fn initramfs_uimage(kernel: &Part, initramfs: &[u8]) -> Result<Vec<u8>, TargetError> {
    let (_, arch) = plain(kernel, "uImage")?;
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
