//! Recipes for what U-Boot's `bootcmd` does with the images.

use std::collections::BTreeMap;

use bootlap_artefact::compress::Compression;
use bootlap_artefact::fit::Fit;
use bootlap_artefact::kernel_image::{KernelFormat, KernelImage};
use bootlap_artefact::uboot_script::{Script, Word, flatten};
use bootlap_artefact::uimage::HEADER_BYTES;

use super::Plain;
use super::bootloader::uboot;
use crate::bootcmd::{BOOTCMD, Commands, Copy};
use crate::spec::{Kernel, Unpacker};
use crate::{Blob, Edit, Flash, Parts, Target, TargetError, images};

/// `bootcmd` is one script.
///
/// U-Boot looks every `run` and every variable up in the environment and reads
/// the script that it finds, each time anew. What is known before the boot is
/// put in its place; conditions that only the boot can decide stay.
pub(super) const FLAT_BOOTCMD: Plain = Plain::new(
    "uboot-flat-bootcmd",
    "U-Boot's bootcmd is one script that runs no others",
    "changing one of the variables that it was made of changes nothing any more",
    flat_bootcmd,
);

fn flat_bootcmd(target: &Target, _: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let environment = &uboot(target)?.environment;
    let bootcmd = environment.get(BOOTCMD).ok_or(
        "the environment has no bootcmd, so U-Boot runs the one that it was built with; \
         write it there",
    )?;
    let cannot = |e| format!("bootcmd cannot be flattened: {e}");
    let script = Script::parse(bootcmd).map_err(cannot)?;
    let mut runs = false;
    script.for_each(&mut |words| {
        let command = words.first().and_then(Word::text);
        runs |= command.as_deref() == Some("run");
    });
    if !runs {
        return Err("bootcmd runs no other script already".into());
    }
    let flat = flatten(BOOTCMD, environment).map_err(cannot)?;
    if flat == script {
        return Err("bootcmd has already all that is known before the boot".into());
    }
    let key = "bootloader.environment.bootcmd";
    Ok(vec![Edit::set(key, flat.to_string())])
}

/// U-Boot copies as many bytes as there are.
///
/// A `cp.b` or `mmc read` with a fixed count copies what lies after the image,
/// too: counts are written for the largest image that anybody expects. One that has become too
/// small for its image is raised.
pub(super) const EXACT_SIZE: Plain = Plain::new(
    "uboot-exact-size",
    "U-Boot copies as many bytes as the images have",
    "an update with a larger image must change the count as well",
    exact_size,
);

fn exact_size(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let environment = &uboot(target)?.environment;
    let flash = flash(target)?;
    let commands = Commands::of(environment);
    let copies = commands.copies();
    if !copies.iter().any(|copy| copies_image(copy, flash)) {
        return Err(
            "bootcmd copies no image by `cp` or `mmc read` with numbers that are known".into(),
        );
    }
    let mut counts = Vec::new();
    for blob in packed(target, parts).map_err(|e| e.to_string())? {
        let of_it = copies.iter().filter(|c| c.is_of(flash, blob.offset));
        // A smaller one may copy the beginning, to look at it.
        let whole = of_it.clone().map(Copy::bytes).max();
        for copy in of_it {
            let exact = (blob.bytes.len() as u64).div_ceil(copy.width);
            let too_little = copy.count < exact && Some(copy.bytes()) == whole;
            if copy.count > exact || too_little {
                counts.push((copy.clone(), exact));
            }
        }
    }
    if counts.is_empty() {
        return Err("bootcmd copies as much as the images have already".into());
    }
    Ok(variables(commands.with_counts(&counts)))
}

/// The edits that give variables of the environment these values.
pub(super) fn variables(values: BTreeMap<String, String>) -> Vec<Edit> {
    let edits = values.into_iter().map(|(name, value)| {
        let key = toml_edit::Key::new(name);
        Edit::set(&format!("bootloader.environment.{key}"), value)
    });
    edits.collect()
}

/// The kernel runs from where it was copied to.
///
/// `bootm` moves a kernel to its load address, and a zImage that would unpack
/// itself over itself moves once more. With the load address where the kernel
/// lies in its uImage or FIT, high enough above what it unpacks, neither happens.
pub(super) const LOAD_IN_PLACE: Plain = Plain::new(
    "uboot-load-in-place",
    "the kernel runs from where U-Boot copied it to",
    "the load address and the address in bootcmd must change together",
    load_in_place,
);

/// `AUTO_ZRELADDR`: a zImage takes the memory to begin at such a boundary.
pub(super) const MEMORY_BLOCK: u32 = 128 << 20;
/// Page tables, stack and heap of the unpacking code, generously.
const ROOM: u64 = 1 << 20;

fn load_in_place(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let environment = &uboot(target)?.environment;
    let flash = flash(target)?;
    let spec = &target.spec;
    let as_it_is =
        |k: &Kernel| k.compression == Compression::None && k.unpacked_by == Unpacker::Kernel;
    if !spec.kernel.as_ref().is_some_and(as_it_is) {
        return Err("U-Boot unpacks the kernel, which moves it anyway".into());
    }
    let (key, before, offset) = match (&spec.fit, &spec.uimage) {
        (Some(fit), _) => ("fit.load-address", fit.load_address, flash.fit_offset),
        (None, Some(uimage)) => {
            let before = uimage.load_address.into();
            ("uimage.load-address", before, flash.kernel_offset)
        }
        (None, None) => return Err("the kernel is neither in a FIT nor in a uImage".into()),
    };
    let commands = Commands::of(environment);
    let copies = commands.copies();
    let of_kernel = |c: &&Copy| offset.is_some_and(|at| c.is_of(flash, at));
    let copy = copies.iter().find(of_kernel).ok_or(
        "bootcmd does not copy the kernel by `cp` or `mmc read` with numbers that are known, and out of \
         flash it cannot run",
    )?;
    let starts = commands.starts();
    if starts.is_empty() || starts.iter().any(|at| *at != copy.destination) {
        return Err("bootcmd does not start the kernel where it copies it to".into());
    }
    let header = match &spec.uimage {
        Some(_) => HEADER_BYTES,
        None => kernel_in_fit(target, parts)?,
    };
    let load = copy.destination.checked_add(header as u64);
    let narrow = |address| u32::try_from(address).ok();
    let both = load.and_then(narrow).zip(narrow(before));
    let (load, before) = both.ok_or("the kernel lies where 32 bits do not reach")?;
    if load == before {
        return Err("the kernel runs from where it lies already".into());
    }
    has_room(load, before, parts)?;
    let mut edits = vec![Edit::address(key, load)];
    if let Some(entry) = spec.uimage.as_ref().and_then(|uimage| uimage.entry) {
        let entry = entry.wrapping_sub(before).wrapping_add(load);
        edits.push(Edit::address("uimage.entry", entry));
    }
    Ok(edits)
}

/// Bytes of the FIT in front of the kernel.
fn kernel_in_fit(target: &Target, parts: &Parts) -> Result<usize, String> {
    let blobs = packed(target, parts).map_err(|e| e.to_string())?;
    let fit = blobs.first().and_then(|blob| Fit::parse(&blob.bytes).ok());
    let start = fit.and_then(|fit| Some(fit.image("kernel-1")?.range.start));
    start.ok_or_else(|| "the FIT has no kernel".to_owned())
}

/// Whether the kernel can run at `load`.
fn has_room(load: u32, before: u32, parts: &Parts) -> Result<(), String> {
    let kernel = parts.kernel.as_ref().ok_or("the target has no kernel")?;
    let plain = kernel.unwrapped().map_err(|e| e.to_string())?;
    let kernel = KernelImage::describe(&plain).map_err(|e| e.to_string())?;
    if kernel.format != KernelFormat::ArmZimage {
        return Err("only a zImage of 32-bit Arm runs wherever it lies".into());
    }
    let block = |address: u32| address / MEMORY_BLOCK;
    if block(load) != block(before) {
        return Err(format!(
            "a zImage at {load:#x} takes the memory to begin at {:#x}; copy it into the first 128 \
             MiB of memory",
            block(load) * MEMORY_BLOCK
        ));
    }
    let bytes = kernel.memory_bytes;
    let bytes = bytes.ok_or("the zImage does not say how large it is unpacked")?;
    let start = u64::from(block(load) * MEMORY_BLOCK) + kernel.text_offset.unwrap_or(0x8000);
    let end = start.saturating_add(bytes).saturating_add(ROOM);
    if u64::from(load) < end {
        return Err(format!(
            "the kernel unpacks itself to {start:#x} and what follows, over where it lies; copy \
             it to {end:#x} or above"
        ));
    }
    Ok(())
}

fn flash(target: &Target) -> Result<&Flash, String> {
    let flash = target.spec.flash.as_ref();
    flash.ok_or_else(|| "the target does not say where in [flash] the images are".to_owned())
}

fn copies_image(copy: &Copy, flash: &Flash) -> bool {
    let offsets = [
        flash.fit_offset,
        flash.kernel_offset,
        flash.initramfs_offset,
    ];
    let mut offsets = offsets.into_iter().flatten();
    offsets.any(|offset| copy.is_of(flash, offset))
}

/// The images as they lie in flash. What packs them here has no cache, so this
/// may take a second.
fn packed(target: &Target, parts: &Parts) -> Result<Vec<Blob>, TargetError> {
    let spec = &target.spec;
    let (Some(flash), Some(kernel)) = (&spec.flash, &parts.kernel) else {
        return Err(TargetError::MissingPart("the target has no kernel".into()));
    };
    let pack = &|what: &str, bytes: &[u8], compression: Compression| {
        let packed = compression.compress(bytes);
        packed.map_err(|e| TargetError::artefact(what, e))
    };
    let initramfs = parts.packed_initramfs(spec, pack)?;
    let initramfs = initramfs.as_ref().map(|part| &*part.bytes);
    let devicetree = parts.devicetree.as_ref();
    images::packed(spec, flash, kernel, devicetree, initramfs, pack).map(|packed| packed.blobs)
}
