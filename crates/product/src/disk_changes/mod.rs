//! Files of a disk changed as a build would have changed them: the blocks that the guest sees
//! instead of the image's.
//!
//! The file systems' own tools change a copy, which needs no root rights: debugfs for ext2-4,
//! squashfs-tools for squashfs, mtools for FAT; what only a kernel knows is mounted by a guest. The
//! copy is looked at by e2fsck, read back, and thrown away; what is kept are the blocks in which
//! it differs.

mod copy;
mod ext;
mod fat;
mod mounted;
mod seen;
mod squash;
mod tool;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::rc::Rc;

use bootlap_image::volume::Files;
use bootlap_image::{Found, Window};
use sha2::{Digest, Sha256};

use crate::guest::{self, Copies};
use crate::part::{Find, Patch};
use crate::spec::Disk;
use crate::{Cache, Progress, TargetError};

/// What is to be on a disk.
#[derive(Debug, Default)]
pub(crate) struct Changes(BTreeMap<Place, Change>);

/// A path on a partition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// As Linux numbers it; 0 where there is no table.
    pub(crate) partition: u32,
    /// From the top, with a slash.
    pub(crate) path: String,
}

/// What is to be at a place.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    File {
        bytes: Vec<u8>,
        executable: bool,
    },
    Link(String),
    /// A file of so many MiB that has its place, and whose content is for others to write there.
    Room(u32),
    Nothing,
}

impl Place {
    /// Of `PARTITION:PATH`.
    pub(crate) fn parse(key: &str, text: &str) -> Result<Self, TargetError> {
        let parsed = text.split_once(':').and_then(|(partition, path)| {
            let names = path.strip_prefix('/')?.split('/');
            let plain = |name: &str| {
                let odd = |c: char| c.is_control() || c == '"' || c == '\\';
                !matches!(name, "" | "." | "..") && !name.contains(odd)
            };
            let all = names.clone().all(plain);
            all.then_some(Self {
                partition: partition.parse().ok()?,
                path: path.to_owned(),
            })
        });
        parsed.ok_or_else(|| {
            TargetError::artefact(
                key,
                format!("{text:?} is no place on a disk; write PARTITION:/PATH, as 2:/etc/fstab"),
            )
        })
    }

    /// Its folder, and its name there.
    fn split(&self) -> (&str, &str) {
        let (folder, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        (if folder.is_empty() { "/" } else { folder }, name)
    }
}

impl Changes {
    /// Those that a target names.
    pub(crate) fn of(disk: &Disk, finder: &dyn Find) -> Result<Self, TargetError> {
        let mut all = BTreeMap::new();
        for text in &disk.remove {
            all.insert(Place::parse("disk.remove", text)?, Change::Nothing);
        }
        for (text, to) in &disk.links {
            if to.is_empty() || to.contains(|c: char| c.is_control() || c == '"') {
                return Err(TargetError::artefact(
                    "disk.links",
                    format!("{text}: a link cannot lead to {to:?}"),
                ));
            }
            all.insert(Place::parse("disk.links", text)?, Change::Link(to.clone()));
        }
        for (text, mib) in &disk.room {
            all.insert(Place::parse("disk.room", text)?, Change::Room(*mib));
        }
        for (text, content) in &disk.texts {
            let change = Change::File {
                bytes: content.clone().into_bytes(),
                // A script; one that is written over keeps its mode.
                executable: content.starts_with("#!"),
            };
            all.insert(Place::parse("disk.texts", text)?, change);
        }
        for (text, name) in &disk.files {
            let key = format!("disk.files.{text:?}");
            let path = finder.content(&key, name)?;
            let failed = |e| TargetError::io("read", &path, e);
            let bytes = fs::read(&path).map_err(failed)?;
            let executable = copy::is_executable(&path).map_err(failed)?;
            let change = Change::File { bytes, executable };
            all.insert(Place::parse(&key, text)?, change);
        }
        Ok(Self(all))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same with a file more.
    pub(crate) fn put(&mut self, place: Place, bytes: Vec<u8>) {
        let change = Change::File {
            bytes,
            executable: false,
        };
        self.0.insert(place, change);
    }

    /// What they are known by.
    fn hash(&self) -> String {
        let mut hash = Sha256::new();
        for (place, change) in &self.0 {
            let (kind, bytes) = match change {
                Change::File { bytes, executable } => (u8::from(*executable), &bytes[..]),
                Change::Link(to) => (2, to.as_bytes()),
                Change::Nothing => (3, &[][..]),
                Change::Room(mib) => (4, &mib.to_le_bytes()[..]),
            };
            let head = format!(
                "{}:{}\n{kind} {}\n",
                place.partition,
                place.path,
                bytes.len()
            );
            hash.update(head);
            hash.update(bytes);
        }
        data_encoding::HEXLOWER.encode(&hash.finalize())
    }

    /// The blocks of the raw image at `image` that differ once they are made; `fingerprint` is
    /// what the image is known by.
    pub(crate) fn patches(
        &self,
        image: &Path,
        fingerprint: &str,
        copies: &Copies,
        cache: &Cache,
        progress: Progress<'_>,
    ) -> Result<Vec<Patch>, TargetError> {
        let key = format!("{fingerprint}-{}", self.hash());
        let packed = cache.bytes("disk-changes", &key, || {
            progress("changing files on a copy of the disk");
            Ok(Patch::pack(&self.made(image, copies, cache, progress)?))
        })?;
        Patch::unpack(&packed).ok_or_else(|| {
            TargetError::artefact("disk", "what was kept of its changes is damaged; try again")
        })
    }

    fn made(
        &self,
        image: &Path,
        copies: &Copies,
        cache: &Cache,
        progress: Progress<'_>,
    ) -> Result<Vec<Patch>, TargetError> {
        let copy = copy::sparse(image, cache.root())?;
        let mut found = look(copy.path(), copies)?;
        let mut of_partition: BTreeMap<u32, Vec<(&Place, &Change)>> = BTreeMap::new();
        for (place, change) in &self.0 {
            let changes = of_partition.entry(place.partition).or_default();
            changes.push((place, change));
        }
        let mut replayed = false;
        for (partition, volume) in found.table.partitions.iter().zip(&found.volumes) {
            if volume.kind.starts_with("ext") && of_partition.contains_key(&partition.number) {
                replayed |= ext::replay(copy.path(), partition)?;
            }
        }
        if replayed {
            found = look(copy.path(), copies)?;
        }
        let mut patches = Vec::new();
        for (number, changes) in of_partition {
            let volume = found
                .table
                .partitions
                .iter()
                .position(|p| p.number == number);
            let Some(volume) = volume else {
                return Err(TargetError::artefact(
                    "disk",
                    format!("it has no partition {number}; `bootlap import` lists those it has"),
                ));
            };
            let partition = &found.table.partitions[volume];
            let kind = found.volumes[volume].kind;
            let room = changes
                .iter()
                .find(|(_, change)| matches!(change, Change::Room(_)));
            if let (Some((place, _)), false) = (room, kind.starts_with("ext")) {
                return Err(no_room(place, kind));
            }
            if guest::writes(kind) {
                let of = (&found, volume);
                mounted::change(copy.path(), partition, of, &changes, cache, progress)?;
                patches.extend(copy::differences(image, copy.path(), partition)?);
                continue;
            }
            let said = match kind {
                "ext2" | "ext3" | "ext4" => {
                    ext::change(copy.path(), partition, &found, volume, &changes)?
                }
                "vfat" => fat::change(copy.path(), partition, &found, volume, &changes)?,
                "squashfs" => squash::change(copy.path(), partition, &found, volume, &changes)?,
                kind => return Err(cannot(number, kind)),
            };
            check(copy.path(), volume, &changes, &said)?;
            patches.extend(copy::differences(image, copy.path(), partition)?);
        }
        Ok(patches)
    }
}

/// Why the files of a partition cannot be changed.
fn cannot(number: u32, kind: &str) -> TargetError {
    let why = match kind {
        "crypto_LUKS" => {
            "it is encrypted: change what is put into it, and make it again".to_owned()
        }
        "DM_verity_hash" => "it is signed (dm-verity): change its root, and sign that".to_owned(),
        "erofs" => format!("{kind} cannot be changed in place: change the folder it is made of"),
        "" => "its file system is not known here".to_owned(),
        kind => {
            format!(
                "files of {kind} cannot be changed here; those of ext2-4, XFS, btrfs, F2FS, squashfs \
                 and FAT can"
            )
        }
    };
    TargetError::artefact("disk", format!("partition {number}: {why}"))
}

/// Why a file's place cannot be set aside there.
fn no_room(place: &Place, kind: &str) -> TargetError {
    let Place { partition, path } = place;
    TargetError::artefact(
        "disk.room",
        format!(
            "{partition}:{path}: files have a place of their own on ext2-4 only; this is {kind}"
        ),
    )
}

/// The folder of a place without links on the way to it, and the name there.
fn place_on<'p>(
    files: Option<&dyn Files>,
    place: &'p Place,
) -> Result<(String, &'p str), TargetError> {
    let (above, name) = place.split();
    let real = files.map_or_else(|| Ok(String::new()), |files| files.real(above));
    let above = real.ok().filter(|real| !real.contains(['"', '\n']));
    let above = above.ok_or_else(|| {
        let why = format!("{}: the links on the way lead to each other", place.path);
        TargetError::artefact("disk", why)
    })?;
    Ok((above, name))
}

/// The folders on the way to a path, and that itself.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').skip(1).map(|(at, _)| at);
    let all = ends.chain([path.len()]).map(|end| &path[..end]);
    all.filter(|part| !matches!(*part, "/" | ""))
}

/// What is on a raw image, with what a guest read of it.
pub(crate) fn look(image: &Path, copies: &Copies) -> Result<Found, TargetError> {
    let failed = |e| TargetError::io("read", image, e);
    let file = File::open(image).map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    let window = Window::all(Rc::new(file), bytes);
    Ok(Found::with(&window, &|partition| {
        copies.files(partition.number)
    }))
}

/// Whether all is there now, read by other code than that which wrote it.
fn check(
    image: &Path,
    volume: usize,
    changes: &[(&Place, &Change)],
    said: &str,
) -> Result<(), TargetError> {
    let found = look(image, &Copies::default())?;
    let files = found.files(volume);
    for (place, change) in changes {
        let is_there = files.is_some_and(|files| match change {
            Change::File { bytes, .. } => {
                let most = bytes.len() as u64 + 1;
                files.link(&place.path).is_none()
                    && files
                        .read(&place.path, most)
                        .is_ok_and(|read| read == *bytes)
            }
            Change::Link(to) => files.link(&place.path).as_ref() == Some(to),
            Change::Room(mib) => files.place(&place.path).is_ok_and(|pieces| {
                let bytes: u64 = pieces.iter().map(|piece| piece.end - piece.start).sum();
                bytes == u64::from(*mib) << 20
            }),
            Change::Nothing => {
                let gone = files.link(&place.path).is_none() && !files.has(&place.path);
                // Nor was it a folder: that is not removed with all that is in it.
                gone && files.list(&place.path).is_err()
            }
        });
        if !is_there {
            let what = match change {
                Change::Nothing => "removed",
                _ => "written",
            };
            return Err(TargetError::artefact(
                "disk",
                format!(
                    "{}:{} could not be {what}: {}",
                    place.partition,
                    place.path,
                    said.trim()
                ),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
