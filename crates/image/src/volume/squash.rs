//! squashfs, version 4: routers' and live systems' roots.
//!
//! As Linux's `fs/squashfs/squashfs_fs.h` lays it out. Only what lies on the way to a file is
//! unpacked, so an image takes no more time or memory than what is asked for; crates that read
//! it unpack all names first, with all their folders' names before each.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::Range;
use std::rc::Rc;

use bootlap_artefact::compress::Compression;
use bootlap_rootfs::root_image::ReadAt;
use flate2::read::ZlibDecoder;

use super::walk::{Tree, walk};
use super::{Files, MOST_NAMES, Volume};
use crate::window::{Window, number};

pub(super) const KIND: &str = "squashfs";
pub(super) const MAGIC: &[u8] = b"hsqs";

/// What a block of metadata unpacks to at most, bytes.
const METADATA: usize = 8192;
/// Bytes of metadata that are kept unpacked: 32 MiB.
const MOST_KEPT: usize = 4096;
/// No folder's table is larger, in bytes.
const MOST_FOLDER: u64 = 16 << 20;
/// Of a piece, in flags: it is stored as it is.
const PLAIN: u64 = 1 << 24;
const NO_FRAGMENT: u64 = 0xffff_ffff;

struct Squash {
    window: Window,
    packer: u64,
    /// Bytes in each piece of a file but its last.
    piece: u64,
    /// Where the tables begin.
    inodes: u64,
    folders: u64,
    fragments: u64,
    root: Reference,
    /// Metadata that was unpacked, by its place.
    kept: RefCell<BTreeMap<u64, Block>>,
}

/// What metadata unpacks to, and where the next begins.
type Block = (Rc<[u8]>, u64);

/// Where an inode or a list begins: a block of metadata, and a byte in what it unpacks to.
#[derive(Clone, Copy)]
struct Reference {
    block: u64,
    offset: u64,
}

enum Inode {
    Folder {
        list: Reference,
        bytes: u64,
    },
    File {
        start: u64,
        bytes: u64,
        fragment: u64,
        offset: u64,
        /// Where the sizes of its pieces are.
        sizes: Reference,
    },
    Link(String),
    Other,
}

pub(super) fn open(window: &Window) -> Result<Volume, String> {
    let said = |e: io::Error| e.to_string();
    let head = window.up_to(0, 96).map_err(said)?;
    let word = |at| number::<4>(&head, at);
    let long = |at| number::<8>(&head, at);
    let (version, piece) = (number::<2>(&head, 28), word(12));
    if version != 4 {
        return Err(format!("it has version {version}, and 4 is known here"));
    }
    if !piece.is_power_of_two() || !(4096..=1 << 20).contains(&piece) {
        return Err(format!("its pieces are said to have {piece} bytes"));
    }
    let squash = Squash {
        packer: number::<2>(&head, 20),
        piece,
        inodes: long(64),
        folders: long(72),
        fragments: long(80),
        root: Reference {
            block: long(32) >> 16,
            offset: long(32) & 0xffff,
        },
        window: window.clone(),
        kept: RefCell::default(),
    };
    match squash.inode(squash.root).map_err(said)? {
        Inode::Folder { list, bytes } => drop(squash.entries(list, bytes).map_err(said)?),
        _ => return Err("its root is no folder".to_owned()),
    }
    Ok(Volume {
        kind: KIND,
        uuid: String::new(),
        label: String::new(),
        files: Some(Box::new(squash)),
        trouble: None,
    })
}

fn damaged(what: &str) -> io::Error {
    io::Error::other(format!("its {what} are damaged"))
}

impl Squash {
    /// `bytes` unpacked, to at most so many.
    fn unpacked(&self, bytes: &[u8], most: usize) -> io::Result<Vec<u8>> {
        let by = |compression: Compression| {
            let unpacked = compression.decompress(bytes, most);
            unpacked.map_err(|e| io::Error::other(e.to_string()))
        };
        match self.packer {
            1 => {
                let mut out = Vec::new();
                ZlibDecoder::new(bytes)
                    .take(most as u64)
                    .read_to_end(&mut out)?;
                Ok(out)
            }
            2 => by(Compression::Lzma),
            4 => by(Compression::Xz),
            5 => lz4::block::decompress(bytes, i32::try_from(most).ok()),
            6 => by(Compression::Zstd),
            _ => Err(io::Error::other(
                "it is packed with LZO, which is not known here",
            )),
        }
    }

    /// What a block of metadata unpacks to, and where the next begins.
    fn block(&self, at: u64) -> io::Result<Block> {
        if let Some((bytes, next)) = self.kept.borrow().get(&at) {
            return Ok((Rc::clone(bytes), *next));
        }
        let head = self.window.up_to(at, 2)?;
        let head = number::<2>(&head, 0);
        let (plain, size) = (head & 0x8000 != 0, head & 0x7fff);
        if size == 0 || size as usize > METADATA {
            return Err(damaged("tables"));
        }
        let mut bytes = vec![0; size as usize];
        self.window.read_at(at.saturating_add(2), &mut bytes)?;
        if !plain {
            bytes = self.unpacked(&bytes, METADATA)?;
        }
        let found = (Rc::from(bytes), at + 2 + size);
        let mut kept = self.kept.borrow_mut();
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(at, found.clone());
        Ok(found)
    }

    /// `bytes` of the metadata of a table from a place on.
    fn metadata(&self, table: u64, from: Reference, bytes: u64) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        let mut at = table.saturating_add(from.block);
        let mut skip = from.offset as usize;
        while (out.len() as u64) < bytes {
            let (block, next) = self.block(at)?;
            let rest = block.get(skip..).ok_or_else(|| damaged("tables"))?;
            if rest.is_empty() && skip == 0 {
                return Err(damaged("tables"));
            }
            out.extend_from_slice(rest);
            (at, skip) = (next, 0);
        }
        out.truncate(usize::try_from(bytes).unwrap_or(usize::MAX));
        Ok(out)
    }

    fn inode(&self, at: Reference) -> io::Result<Inode> {
        let read = |bytes: u64| self.metadata(self.inodes, at, bytes);
        let kind = number::<2>(&read(2)?, 0);
        let behind = |bytes: u64| Reference {
            block: at.block,
            offset: at.offset + bytes,
        };
        Ok(match kind {
            1 => {
                let head = read(32)?;
                Inode::Folder {
                    list: Reference {
                        block: number::<4>(&head, 16),
                        offset: number::<2>(&head, 26),
                    },
                    bytes: number::<2>(&head, 24),
                }
            }
            8 => {
                let head = read(40)?;
                Inode::Folder {
                    list: Reference {
                        block: number::<4>(&head, 24),
                        offset: number::<2>(&head, 34),
                    },
                    bytes: number::<4>(&head, 20),
                }
            }
            2 => {
                let head = read(32)?;
                Inode::File {
                    start: number::<4>(&head, 16),
                    fragment: number::<4>(&head, 20),
                    offset: number::<4>(&head, 24),
                    bytes: number::<4>(&head, 28),
                    sizes: behind(32),
                }
            }
            9 => {
                let head = read(56)?;
                Inode::File {
                    start: number::<8>(&head, 16),
                    bytes: number::<8>(&head, 24),
                    fragment: number::<4>(&head, 44),
                    offset: number::<4>(&head, 48),
                    sizes: behind(56),
                }
            }
            3 | 10 => {
                let length = number::<4>(&read(24)?, 20);
                if length > METADATA as u64 {
                    return Err(damaged("links"));
                }
                let to = read(24 + length)?.split_off(24);
                Inode::Link(String::from_utf8(to).map_err(|_| damaged("links"))?)
            }
            _ => Inode::Other,
        })
    }

    /// The names in a folder, and where each one's inode is.
    fn entries(&self, list: Reference, bytes: u64) -> io::Result<BTreeMap<String, Reference>> {
        // It counts `.` and `..`, which are not there.
        let bytes = bytes.saturating_sub(3);
        if bytes > MOST_FOLDER {
            return Err(damaged("folders"));
        }
        let list = self.metadata(self.folders, list, bytes)?;
        let mut found = BTreeMap::new();
        let mut at = 0;
        while at + 12 <= list.len() {
            let (count, block) = (number::<4>(&list, at) + 1, number::<4>(&list, at + 4));
            at += 12;
            if count > 256 {
                return Err(damaged("folders"));
            }
            for _ in 0..count {
                let offset = number::<2>(&list, at);
                let length = number::<2>(&list, at + 6) as usize + 1;
                let name = list.get(at + 8..at + 8 + length);
                let name = name.ok_or_else(|| damaged("folders"))?;
                if let Ok(name) = std::str::from_utf8(name) {
                    found.insert(name.to_owned(), Reference { block, offset });
                }
                at += 8 + length;
            }
            if found.len() > MOST_NAMES {
                return Err(io::Error::other("its folders have too many names"));
            }
        }
        Ok(found)
    }

    /// What is at a path: a link itself unless `last`.
    fn find(&self, path: &str, last: bool) -> io::Result<Inode> {
        self.inode(walk(self, &self.root, path, last)?)
    }

    /// A piece of a file as it is stored: its place, and its size with flags.
    fn piece(&self, at: u64, size: u64) -> io::Result<Vec<u8>> {
        let stored = size & (PLAIN - 1);
        if stored > self.piece {
            return Err(damaged("files"));
        }
        let mut bytes = vec![0; stored as usize];
        self.window.read_at(at, &mut bytes)?;
        match size & PLAIN {
            0 => self.unpacked(&bytes, self.piece as usize),
            _ => Ok(bytes),
        }
    }

    /// What several files' ends are in.
    fn fragment(&self, index: u64) -> io::Result<Vec<u8>> {
        const IN_BLOCK: u64 = 512;
        let place = self.fragments.saturating_add(index / IN_BLOCK * 8);
        let table = number::<8>(&self.window.up_to(place, 8)?, 0);
        let from = Reference {
            block: 0,
            offset: index % IN_BLOCK * 16,
        };
        let entry = self.metadata(table, from, 16)?;
        self.piece(number::<8>(&entry, 0), number::<4>(&entry, 8))
    }
}

impl Tree for Squash {
    type Node = Reference;

    fn child(&self, folder: &Reference, name: &str) -> io::Result<Reference> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let Inode::Folder { list, bytes } = self.inode(*folder)? else {
            return Err(missing());
        };
        self.entries(list, bytes)?
            .get(name)
            .copied()
            .ok_or_else(missing)
    }

    fn target(&self, node: &Reference) -> io::Result<Option<String>> {
        Ok(match self.inode(*node)? {
            Inode::Link(to) => Some(to),
            _ => None,
        })
    }
}

impl Files for Squash {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        match self.find(folder, true)? {
            Inode::Folder { list, bytes } => Ok(self.entries(list, bytes)?.into_keys().collect()),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn read(&self, path: &str, most: u64) -> io::Result<Vec<u8>> {
        let found = self.find(path, true)?;
        let Inode::File {
            mut start,
            bytes,
            fragment,
            offset,
            sizes,
        } = found
        else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let wanted = bytes.min(most);
        let whole = match fragment {
            NO_FRAGMENT => bytes.div_ceil(self.piece),
            _ => bytes / self.piece,
        };
        let needed = whole.min(wanted.div_ceil(self.piece));
        let table = self.metadata(self.inodes, sizes, needed * 4)?;
        let mut out: Vec<u8> = Vec::new();
        for size in table.chunks_exact(4).map(|size| number::<4>(size, 0)) {
            let left = (bytes - out.len() as u64).min(self.piece) as usize;
            match size & (PLAIN - 1) {
                0 => out.resize(out.len() + left, 0),
                stored => {
                    let piece = self.piece(start, size)?;
                    out.extend(piece.get(..left).ok_or_else(|| damaged("files"))?);
                    start = start.saturating_add(stored);
                }
            }
        }
        let left = wanted.saturating_sub(out.len() as u64) as usize;
        if left > 0 {
            let piece = self.fragment(fragment)?;
            let from = offset as usize;
            let end = piece.get(from..from + left);
            out.extend(end.ok_or_else(|| damaged("files"))?);
        }
        out.truncate(wanted as usize);
        Ok(out)
    }

    fn place(&self, _: &str) -> io::Result<Vec<Range<u64>>> {
        Err(io::Error::other(
            "it is packed, so that it is nowhere as it is",
        ))
    }

    fn link(&self, path: &str) -> Option<String> {
        match self.find(path, false).ok()? {
            Inode::Link(to) => Some(to),
            _ => None,
        }
    }
}
