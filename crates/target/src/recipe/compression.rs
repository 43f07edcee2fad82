//! Recipes for how kernel and initramfs are compressed.
//!
//! However the file `kernel.image` is wrapped, the FIT holds the kernel as
//! `kernel.compression` says, so that alone is what counts here.
//!
//! Which compressor is best depends on the CPU and the storage: reading costs
//! bytes ÷ bandwidth, decompressing costs instructions. In simulated time only
//! the second is seen, so *none* wins there; on slow storage it may lose.

use super::{Recipe, RecipeMeta};
use crate::artefact::compress::Compression;
use crate::{Edit, Parts, Target};

/// Compress the kernel in the FIT another way, or not at all.
pub(super) struct KernelCompression;

impl Recipe for KernelCompression {
    fn meta(&self) -> &'static RecipeMeta {
        &RecipeMeta {
            name: "kernel-compression",
            title: "the kernel is compressed another way, or not at all",
            risk: "an uncompressed kernel takes three times the storage and its reading time",
            values: &["none", "gzip", "bzip2", "lzma", "lz4", "zstd"],
        }
    }

    fn edits(&self, target: &Target, parts: &Parts, value: &str) -> Result<Vec<Edit>, String> {
        if target.spec.fit.is_none() {
            return Err("the kernel is not in a FIT".into());
        }
        let wanted: Compression = value.parse().map_err(|e| format!("{e}"))?;
        let kernel = target.spec.kernel.as_ref();
        if kernel.is_some_and(|k| k.compression == wanted) {
            return Err(format!("the kernel is compressed with {value} already"));
        }
        if let Some(uboot) = &parts.bootloader {
            uboot_reads(&uboot.bytes, value)?;
        }
        Ok(vec![Edit::set("kernel.compression", value)])
    }
}

/// Compress the initramfs another way, or not at all.
pub(super) struct InitramfsCompression;

impl Recipe for InitramfsCompression {
    fn meta(&self) -> &'static RecipeMeta {
        &RecipeMeta {
            name: "initramfs-compression",
            title: "the initramfs is compressed another way, or not at all",
            risk: "an uncompressed initramfs takes more storage and its reading time",
            values: &["none", "gzip", "bzip2", "lzma", "xz", "lz4", "zstd"],
        }
    }

    fn edits(&self, target: &Target, _: &Parts, value: &str) -> Result<Vec<Edit>, String> {
        let initramfs = target.spec.initramfs.as_ref();
        let initramfs = initramfs.ok_or("the target has no initramfs")?;
        let wanted: Compression = value.parse().map_err(|e| format!("{e}"))?;
        if wanted == initramfs.compression {
            return Err(format!("the initramfs is compressed with {value} already"));
        }
        Ok(vec![Edit::set("initramfs.compression", value)])
    }
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
