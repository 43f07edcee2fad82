//! The root file system as a disk, made of a tar archive.
//!
//! All makers of images that can put files into an order take it from the order of
//! an archive's members: mksquashfs (`-tar`, seen with 4.5.1), mke2fs (`-d`, from
//! 1.47.1 on) and mkfs.erofs (`--tar=f`, 1.8.6). So whatever a target names becomes
//! an archive, the archive gets the order, and a maker makes the image.

mod archive;
mod maker;
mod order;

use std::path::PathBuf;
use std::sync::Arc;

use bootlap_artefact::compress::Compression;

use crate::cache::{sha256, sha256_of_file};
use crate::initramfs::Named;
use crate::part::PartHash;
use crate::part::{Find, Part};
use crate::spec::Root;
use crate::{Cache, Progress, TargetError};

/// A root that needs more memory than this is not made of an archive.
const ARCHIVE_LIMIT: usize = 8 << 30;

/// What a root is made of.
#[derive(Clone)]
pub(crate) struct Contents {
    /// A tar archive, in the order that was asked for; as large as the root.
    archive: Arc<Part>,
}

/// Finds what the root holds, and puts it into its order.
pub(crate) fn contents(root: &Root, finder: &dyn Find) -> Result<Contents, TargetError> {
    let (origin, mut bytes) = match &root.archive {
        Some(name) => {
            let part = finder.part("root.archive", name)?;
            let bytes = unpacked(&part)?;
            (part.origin, bytes)
        }
        None => {
            let named = Named {
                section: "root",
                dirs: &root.dirs,
                tree: root.tree.as_deref(),
                files: &root.files,
                links: &root.links,
            };
            let entries = named.entries(finder)?;
            let bytes = archive::of(&entries).map_err(|e| TargetError::artefact("root", e))?;
            (format!("{} files", entries.len()), bytes)
        }
    };
    if let Some(name) = &root.order {
        let list = finder.part("root.order", name)?;
        bytes = order::ordered(&bytes, &list.bytes).map_err(|e| {
            let what = root.archive.as_deref().unwrap_or("root");
            TargetError::artefact(what, e)
        })?;
    }
    Ok(Contents {
        archive: Arc::new(Part::new(origin, bytes)),
    })
}

/// All of it: some programs compress an archive in several pieces.
fn unpacked(part: &Part) -> Result<Vec<u8>, TargetError> {
    let wrong = |e: &dyn ToString| TargetError::artefact(&part.origin, e.to_string());
    let mut all = Vec::new();
    let mut rest = &part.bytes[..];
    loop {
        let compression = Compression::detect(rest);
        if compression == Compression::None {
            // Behind compressed pieces there is only padding.
            if all.is_empty() {
                all.extend_from_slice(rest);
            }
            return Ok(all);
        }
        let limit = ARCHIVE_LIMIT - all.len();
        let (bytes, behind) = compression
            .decompress_first(rest, limit)
            .map_err(|e| wrong(&e))?;
        all.extend(bytes);
        rest = behind;
    }
}

impl Contents {
    /// The image, as a file of the cache, and what it is for the manifest.
    pub(crate) fn image(
        &self,
        root: &Root,
        cache: &Cache,
        progress: Progress<'_>,
    ) -> Result<(PathBuf, PartHash), TargetError> {
        let how = format!(
            "{} {} {:?} {:?}",
            self.archive.sha256,
            root.format.name(),
            root.size,
            root.options
        );
        let key = format!("{}.{}", sha256(how.as_bytes()), root.format.name());
        let path = cache.file("root", &key, |to| {
            let mib = self.archive.bytes.len() >> 20;
            progress(&format!(
                "making the root ({mib} MiB, {})",
                root.format.name()
            ));
            maker::make(root, &self.archive, to)
        })?;
        let (sha256, bytes) = sha256_of_file(&path)?;
        let hash = PartHash {
            name: "root".to_owned(),
            origin: format!("{}, {}", self.archive.origin, root.format.name()),
            sha256,
            bytes,
        };
        Ok((path, hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_in_several_pieces_is_whole() {
        let piece = |bytes: &[u8]| Compression::Gzip.compress(bytes).unwrap();
        let part = |bytes: Vec<u8>| Part::new("a.tar.gz", bytes);
        let two = [piece(b"first "), piece(b"second"), vec![0; 7]].concat();
        assert_eq!(unpacked(&part(two)).unwrap(), b"first second");
        assert_eq!(unpacked(&part(b"plain".to_vec())).unwrap(), b"plain");
        let cut = piece(&[7; 1000]);
        let error = unpacked(&part(cut[..cut.len() - 9].to_vec())).unwrap_err();
        assert!(error.to_string().starts_with("a.tar.gz: "), "{error}");
    }
}
