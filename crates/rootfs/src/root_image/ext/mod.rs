//! ext2, ext3 and ext4, as far as it takes to know which files there are and where
//! their metadata lies. Nothing in an image is trusted.
//!
//! ```text
//! 1024           superblock: sizes, features, UUID
//! next block     a descriptor for each group of blocks: where its inodes are
//! …              inodes; folders: number, length, name of each entry
//! ```

mod inode;
mod superblock;

use std::cell::Cell;
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use self::inode::Inode;
use self::superblock::Superblock;
use super::{ImageFile, ImageFolder, MOST_FILES, RootImage};

/// The type that `statfs` tells of all three.
const KIND: u32 = 0xef53;
const TOP: u32 = 2;
/// Two million inodes and their names are less.
const MOST_BYTES: u64 = 4 << 30;
/// Deeper than any path can be (`PATH_MAX`).
const LONGEST_PATH: usize = 4096;

/// Something that can be read anywhere.
pub trait ReadAt {
    /// Fills `into` from `at` on.
    ///
    /// # Errors
    /// If there is not as much.
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()>;
}

impl ReadAt for File {
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        self.read_exact_at(into, at)
    }
}

impl ReadAt for [u8] {
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let found = usize::try_from(at).ok().and_then(|at| {
            let end = at.checked_add(into.len())?;
            self.get(at..end)
        });
        into.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        self.as_slice().read_at(at, into)
    }
}

/// What is wrong with an image, and what to do.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExtError {
    /// There is no superblock.
    #[error(
        "it is no ext2, ext3 or ext4 image: mount others (mount -o loop,ro) and name the folder"
    )]
    OtherFormat,
    /// A feature that changes where things are.
    #[error(
        "it has a feature that bootlap does not read ({0}): mount it (mount -o loop,ro) and name the folder"
    )]
    Feature(&'static str),
    /// What the journal holds is newer than the rest.
    #[error("it was not unmounted, and part of it is still in its journal: run e2fsck -p on it")]
    Journal,
    /// Numbers lead outside of it.
    #[error("it is damaged ({0}): e2fsck -f says more")]
    Damaged(&'static str),
    /// No file of this name.
    #[error("there is no such file, or it is a link")]
    Missing,
    /// More than is looked at.
    #[error("it holds more than two million files")]
    TooMany,
    /// It ends too early, or its disk fails.
    #[error("it cannot be read: {0}; was it copied as a whole?")]
    Io(#[from] io::Error),
}

/// An image that is being read.
struct Ext<'i> {
    bytes: &'i dyn ReadAt,
    head: Superblock,
    /// Bytes that may still be read or kept: trees whose branches lead to each
    /// other have no end.
    left: Cell<u64>,
}

/// A folder whose entries are still to be read.
struct Waiting {
    inode: u32,
    path: String,
    above: Option<usize>,
}

/// Reads all of it but the files' data.
pub(super) fn read(bytes: &dyn ReadAt) -> Result<RootImage, ExtError> {
    let ext = Ext::open(bytes)?;
    let mut image = RootImage {
        kind: KIND,
        id: ext.head.id,
        ..RootImage::default()
    };
    let mut seen = HashSet::from([TOP]);
    let mut waiting = vec![Waiting {
        inode: TOP,
        path: String::new(),
        above: None,
    }];
    while let Some(folder) = waiting.pop() {
        let inode = ext.inode(folder.inode)?;
        if !inode.is_folder() {
            return Err(ExtError::Damaged("a folder is none"));
        }
        let blocks = ext.blocks(&inode)?;
        let mut metadata = vec![inode.at.clone()];
        metadata.extend(blocks.tree.into_iter().chain(blocks.data.iter().cloned()));
        let index = image.folders.len();
        image.folders.push(ImageFolder {
            above: folder.above,
            metadata: joined(metadata),
        });
        for (number, name) in ext.names(&blocks.data)? {
            let Ok(name) = String::from_utf8(name) else {
                image.left_out += 1;
                continue;
            };
            let path = match folder.path.as_str() {
                "" => name,
                above => format!("{above}/{name}"),
            };
            let inode = ext.inode(number)?;
            if inode.is_folder() && path.len() < LONGEST_PATH {
                // A folder that holds itself is met once.
                if seen.insert(number) {
                    waiting.push(Waiting {
                        inode: number,
                        path,
                        above: Some(index),
                    });
                }
            } else if inode.is_file() {
                let mut metadata = vec![inode.at.clone()];
                metadata.extend(ext.blocks_above_data(&inode)?);
                image.files.push(ImageFile {
                    path,
                    inode: number.into(),
                    size: inode.size,
                    mtime_ns: inode.mtime_ns,
                    folder: index,
                    metadata: joined(metadata),
                });
            }
            if image.files.len() + waiting.len() + index > MOST_FILES {
                return Err(ExtError::TooMany);
            }
        }
    }
    Ok(image)
}

/// Where the blocks of inodes are, each in the file's order; of one with too many to look at,
/// or none that can be read, nothing.
pub(super) fn data_of(
    bytes: &dyn ReadAt,
    inodes: impl Iterator<Item = u64>,
) -> Result<Vec<Vec<Range<u64>>>, ExtError> {
    let ext = Ext::open(bytes)?;
    let data = inodes.map(|number| {
        ext.left.set(MOST_BYTES);
        let inode = ext.inode(u32::try_from(number).ok()?).ok()?;
        Some(ext.blocks(&inode).ok()?.data)
    });
    Ok(data.map(Option::unwrap_or_default).collect())
}

/// Where a file's blocks are.
pub(super) fn place(bytes: &dyn ReadAt, path: &str) -> Result<Vec<Range<u64>>, ExtError> {
    let ext = Ext::open(bytes)?;
    let mut inode = ext.inode(TOP)?;
    for piece in path.split('/').filter(|piece| !piece.is_empty()) {
        if !inode.is_folder() {
            return Err(ExtError::Missing);
        }
        let names = ext.names(&ext.blocks(&inode)?.data)?;
        let found = names.iter().find(|(_, name)| name == piece.as_bytes());
        inode = ext.inode(found.ok_or(ExtError::Missing)?.0)?;
    }
    let data = match inode.is_file() {
        true => ext.blocks(&inode)?.data,
        false => return Err(ExtError::Missing),
    };
    // With a hole in it, what is behind that would be taken for what is in it.
    let room: u64 = data.iter().map(|range| range.end - range.start).sum();
    match room == inode.size.next_multiple_of(ext.head.block) {
        true => Ok(data),
        false => Err(ExtError::Damaged("a file with holes")),
    }
}

impl<'i> Ext<'i> {
    fn open(bytes: &'i dyn ReadAt) -> Result<Self, ExtError> {
        Ok(Self {
            bytes,
            head: superblock::read(bytes)?,
            left: Cell::new(MOST_BYTES),
        })
    }

    fn spend(&self, bytes: u64) -> Result<(), ExtError> {
        let left = self.left.get().checked_sub(bytes);
        self.left.set(left.ok_or(ExtError::TooMany)?);
        Ok(())
    }

    fn read(&self, at: u64, length: usize) -> Result<Vec<u8>, ExtError> {
        self.spend(length as u64)?;
        let mut bytes = vec![0; length];
        self.bytes.read_at(at, &mut bytes)?;
        Ok(bytes)
    }

    /// The bytes of a run of blocks.
    fn run(&self, first: u64, count: u64) -> Result<Range<u64>, ExtError> {
        let block = self.head.block;
        let end = first
            .checked_add(count)
            .filter(|end| *end <= self.head.blocks);
        let end = end.ok_or(ExtError::Damaged("a block lies outside"))?;
        Ok(first * block..end * block)
    }

    fn inode(&self, number: u32) -> Result<Inode, ExtError> {
        let at = self.head.inode_at(self.bytes, number)?;
        let bytes = self.read(at, self.head.inode_size)?;
        let block = at - at % self.head.block;
        Inode::read(&bytes, block..block + self.head.block)
            .ok_or(ExtError::Damaged("an inode is too short"))
    }

    /// Inodes and names in the blocks of a folder.
    fn names(&self, blocks: &[Range<u64>]) -> Result<Vec<(u32, Vec<u8>)>, ExtError> {
        let mut names = Vec::new();
        for range in blocks {
            for at in range.clone().step_by(self.head.block as usize) {
                let block = self.read(at, self.head.block as usize)?;
                names_in(&block, &mut names).ok_or(ExtError::Damaged("a folder's entry"))?;
            }
        }
        Ok(names)
    }
}

/// The entries of one block. Those of an index (htree) look like one that is free.
fn names_in(block: &[u8], names: &mut Vec<(u32, Vec<u8>)>) -> Option<()> {
    let mut rest = block;
    while !rest.is_empty() {
        let inode = u32_at(rest, 0)?;
        let length = match u16_at(rest, 4)? {
            // As long as a block of 64 KiB.
            0 | 0xffff => rest.len(),
            length => usize::from(length),
        };
        let name = rest.get(8..8 + usize::from(*rest.get(6)?))?;
        if length < 8 + name.len() || length > rest.len() {
            return None;
        }
        let strange = name.is_empty() || name.contains(&b'/') || name.contains(&0);
        if inode != 0 && name != b"." && name != b".." && !strange {
            names.push((inode, name.to_vec()));
        }
        rest = &rest[length..];
    }
    Some(())
}

/// Ranges in their order, and what adjoins as one.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}
