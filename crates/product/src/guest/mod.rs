//! File systems that only a kernel knows: XFS, btrfs, F2FS, EROFS and ISO 9660 are mounted by a
//! guest, which needs no right of this host.
//!
//! Its files are read once for each image, and kept as a squashfs; they are changed on a copy of
//! the image. Such a file system numbers and dates what it writes as it likes, so equal changes need
//! not make equal bytes: they are made once for each image, and kept.

mod machine;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use bootlap_image::Window;
use bootlap_image::table::{self, Partition};
use bootlap_image::volume::{Files, Volume, copied};
use tempfile::NamedTempFile;

use self::machine::Disk;
pub(crate) use self::machine::Given;
use crate::{Cache, Progress, TargetError};

/// What the guest mounts to read it.
const READ: [&str; 5] = ["xfs", "btrfs", "f2fs", "erofs", "iso9660"];
/// What it changes.
const WRITTEN: [&str; 3] = ["xfs", "btrfs", "f2fs"];

/// Larger partitions are no root of a product; their files are not read.
const MOST: u64 = 64 << 30;
/// What is compressed on a disk is larger in an archive.
const UNPACKED: u64 = 16;

/// Whether the files of such a partition can be read.
fn reads(partition: &Partition, name: &str) -> bool {
    READ.contains(&name) && partition.bytes <= MOST
}

/// Whether files of such a file system can be changed.
pub(crate) fn writes(name: &str) -> bool {
    WRITTEN.contains(&name)
}

/// The files of partitions that only a guest can mount.
#[derive(Default)]
pub(crate) struct Copies(Vec<(u32, Result<PathBuf, String>)>);

impl Copies {
    /// Of the raw image at `image`.
    pub(crate) fn of(
        image: &Path,
        cache: &Cache,
        progress: Progress<'_>,
    ) -> Result<Self, TargetError> {
        let failed = |e| TargetError::io("read", image, e);
        let file = File::open(image).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        let disk = Window::all(Rc::new(file), bytes);
        let mut copies = Vec::new();
        for partition in table::read(&disk).partitions {
            let kind = Volume::of(&disk.part(partition.start, partition.bytes)).kind;
            if reads(&partition, kind) {
                let copy = copy(image, &partition, kind, cache, progress);
                let copy = copy.map_err(|e| match e {
                    TargetError::Artefact { why, .. } => why,
                    e => e.to_string(),
                });
                copies.push((partition.number, copy));
            }
        }
        Ok(Self(copies))
    }

    /// Those of a partition; `None` if it has none that are read so.
    pub(crate) fn files(&self, partition: u32) -> Option<Result<Box<dyn Files>, String>> {
        let (_, copy) = self.0.iter().find(|(number, _)| *number == partition)?;
        Some(copy.clone().and_then(|path| {
            let opened = File::open(&path).and_then(|file| Ok((file.metadata()?.len(), file)));
            let (bytes, file) = opened.map_err(|e| format!("{}: {e}", path.display()))?;
            copied(&Window::all(Rc::new(file), bytes))
        }))
    }
}

/// A squashfs of a partition's files.
fn copy(
    image: &Path,
    partition: &Partition,
    name: &str,
    cache: &Cache,
    progress: Progress<'_>,
) -> Result<PathBuf, TargetError> {
    let image_hash = cache.fingerprint(image)?;
    let key = format!("{image_hash}-{}.squashfs", partition.number);
    cache.file("mounted", &key, |to| {
        let of = match partition.number {
            0 => "the disk".to_owned(),
            number => format!("partition {number}"),
        };
        progress(&format!("reading the files of {of} ({name}) in a guest"));
        let failed = |e| TargetError::io("write", to, e);
        let archive = NamedTempFile::new_in(cache.root()).map_err(failed)?;
        let room = partition.bytes.saturating_mul(UNPACKED);
        archive.as_file().set_len(room).map_err(failed)?;
        let disks = [
            Disk {
                path: image,
                start: partition.start,
                bytes: partition.bytes,
                read_only: true,
            },
            Disk {
                path: archive.path(),
                start: 0,
                bytes: room,
                read_only: false,
            },
        ];
        machine::run(name, Given::new(), &disks, cache, progress)?;
        squash(archive.path(), to)
    })
}

/// Makes a squashfs of an archive of tar.
fn squash(archive: &Path, to: &Path) -> Result<(), TargetError> {
    let from = File::open(archive).map_err(|e| TargetError::io("read", archive, e))?;
    let mut command = Command::new("mksquashfs");
    command
        .arg("-")
        .arg(to)
        .args(["-tar", "-noappend", "-quiet"]);
    command.args(["-no-progress", "-no-xattrs", "-comp", "zstd"]);
    command.args(["-Xcompression-level", "1"]);
    let done = command.stdin(from).stdout(Stdio::null()).output();
    let done = done.map_err(|e| {
        let why =
            format!("cannot run mksquashfs: {e}; Debian and Ubuntu have it in squashfs-tools");
        TargetError::artefact("disk", why)
    })?;
    match done.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&done.stderr);
            Err(TargetError::artefact("disk", said.trim()))
        }
    }
}

/// Changes what is in a partition of a copy of an image as the files in `changes` say: a folder
/// for each, with `path` and one of `file` (and `mode`), `link` and `nothing`. The guest looks
/// whether all is there afterwards.
pub(crate) fn change(
    image: &Path,
    partition: &Partition,
    name: &str,
    changes: Given,
    cache: &Cache,
    progress: Progress<'_>,
) -> Result<(), TargetError> {
    let disk = Disk {
        path: image,
        start: partition.start,
        bytes: partition.bytes,
        read_only: false,
    };
    machine::run(name, changes, &[disk], cache, progress)
}
