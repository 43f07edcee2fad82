//! A copy of an image that is mostly holes, and in what it differs afterwards.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;

use bootlap_image::table::Partition;
use rustix::fs::SeekFrom;
use tempfile::NamedTempFile;

use crate::TargetError;
use crate::part::Patch;

/// Bytes that are copied and compared at once.
const PIECE: u64 = 1 << 20;
/// Bytes that differ or do not: a page, which the probe counts in.
const BLOCK: usize = 4096;

pub(super) fn is_executable(path: &Path) -> io::Result<bool> {
    Ok(fs::metadata(path)?.permissions().mode() & 0o111 != 0)
}

/// A copy in a folder, gone with what is returned.
pub(super) fn sparse(image: &Path, folder: &Path) -> Result<NamedTempFile, TargetError> {
    let failed = |e| TargetError::io("copy", image, e);
    fs::create_dir_all(folder).map_err(failed)?;
    let copy = NamedTempFile::new_in(folder).map_err(failed)?;
    let from = File::open(image).map_err(failed)?;
    let to = copy.as_file();
    // Some file systems share the blocks.
    if rustix::fs::ioctl_ficlone(to, &from).is_err() {
        let size = from.metadata().map_err(failed)?.len();
        to.set_len(size).map_err(failed)?;
        pieces((&from, 0), (to, 0), size).map_err(failed)?;
    }
    Ok(copy)
}

/// A partition by itself, in the folder of its image.
pub(super) fn alone(image: &Path, partition: &Partition) -> io::Result<NamedTempFile> {
    let copy = NamedTempFile::new_in(image.parent().unwrap_or(Path::new(".")))?;
    copy.as_file().set_len(partition.bytes)?;
    let from = (&File::open(image)?, partition.start);
    pieces(from, (copy.as_file(), 0), partition.bytes)?;
    Ok(copy)
}

/// Puts it back.
pub(super) fn back(alone: &NamedTempFile, image: &Path, partition: &Partition) -> io::Result<()> {
    let to = File::options().write(true).open(image)?;
    let from = (alone.as_file(), 0);
    pieces(from, (&to, partition.start), partition.bytes)
}

/// Copies so many bytes from a place in a file to one in another, but no holes.
fn pieces(from: (&File, u64), to: (&File, u64), bytes: u64) -> io::Result<()> {
    let mut piece = vec![0; PIECE as usize];
    let end = from.1 + bytes;
    let mut at = from.1;
    while let Some((start, stop)) = data(from.0, at, end) {
        at = start;
        while at < stop {
            let here = &mut piece[..(stop - at).min(PIECE) as usize];
            from.0.read_exact_at(here, at)?;
            to.0.write_all_at(here, at - from.1 + to.1)?;
            at += here.len() as u64;
        }
    }
    Ok(())
}

/// The next bytes from `at` on that are no hole.
fn data(file: &File, at: u64, size: u64) -> Option<(u64, u64)> {
    match rustix::fs::seek(file, SeekFrom::Data(at)) {
        Ok(start) => {
            let end = rustix::fs::seek(file, SeekFrom::Hole(start)).unwrap_or(size);
            (start < size).then_some((start, end.min(size)))
        }
        Err(rustix::io::Errno::NXIO) => None,
        // A file system without holes.
        Err(_) => (at < size).then_some((at, size)),
    }
}

/// The blocks of a partition in which a copy differs, those in a row together.
pub(super) fn differences(
    image: &Path,
    copy: &Path,
    partition: &Partition,
) -> Result<Vec<Patch>, TargetError> {
    let failed = |e| TargetError::io("read", image, e);
    let (was, is) = (
        File::open(image).map_err(failed)?,
        File::open(copy).map_err(failed)?,
    );
    let end = partition.start + partition.bytes;
    let mut patches: Vec<Patch> = Vec::new();
    let (mut before, mut after) = (vec![0; PIECE as usize], vec![0; PIECE as usize]);
    let mut at = partition.start;
    while at < end {
        // What is a hole in both is the same.
        let next = [&was, &is]
            .into_iter()
            .filter_map(|file| data(file, at, end));
        let Some(start) = next.map(|(start, _)| start).min() else {
            break;
        };
        at = at.max(start - start % BLOCK as u64);
        let length = (end - at).min(PIECE) as usize;
        let (before, after) = (&mut before[..length], &mut after[..length]);
        was.read_exact_at(before, at).map_err(failed)?;
        is.read_exact_at(after, at).map_err(failed)?;
        for (n, (old, new)) in before.chunks(BLOCK).zip(after.chunks(BLOCK)).enumerate() {
            if old == new {
                continue;
            }
            let place = at + (n * BLOCK) as u64;
            match patches.last_mut() {
                Some(last) if last.at + last.bytes.len() as u64 == place => {
                    last.bytes.extend_from_slice(new);
                }
                _ => patches.push(Patch {
                    at: place,
                    bytes: new.to_vec(),
                }),
            }
        }
        at += length as u64;
    }
    Ok(patches)
}
