//! The initramfs as the kernel gets it, beside the kernel or on the disk.

use bootlap_artefact::compress::Compression;

use super::{Entry, archives, compression as compression_of};
use crate::TargetError;
use crate::part::{Pack, Part};
use crate::spec::{Initramfs, Place};

/// The kernel knows another container of LZ4 than boot loaders do.
fn for_kernel(compression: Compression) -> Compression {
    match compression {
        Compression::Lz4 => Compression::Lz4Legacy,
        other => other,
    }
}

/// What `entries` are packed to, if the kernel does not hold them; `whole` is the same as it was
/// found.
pub(crate) fn packed(
    entries: &[Entry],
    whole: Option<&Part>,
    spec: &Initramfs,
    pack: Pack<'_>,
) -> Result<Option<Part>, TargetError> {
    if spec.place == Place::Kernel {
        return Ok(None);
    }
    let compression = for_kernel(spec.compression);
    // What is not changed is not packed again: another packer's bytes take another time.
    if let Some(whole) = whole
        && compression_of(&whole.bytes) == compression
    {
        return Ok(Some(whole.clone()));
    }
    let archives = archives(entries)?;
    let mut packed = archives.early;
    packed.extend(pack("initramfs", &archives.rest, compression)?);
    let origin = format!("{} files, {compression}", entries.len());
    Ok(Some(Part::new(origin, packed)))
}
