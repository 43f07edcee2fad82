//! File systems, as far as they can be read.

mod archive;
mod copied;
mod ext;
mod fat;
mod names;
#[cfg(test)]
pub(crate) mod paper;
mod squash;
mod walk;

use std::io;
use std::ops::Range;

pub use self::copied::copied;
use self::walk::{Tree, walk};
use crate::window::{Window, number};

/// Larger files are read by nobody here: kernels and initramfs are smaller.
pub const MOST_FILE: u64 = 1 << 30;

/// No folder that is looked at here has as many names.
const MOST_NAMES: usize = 1 << 16;

/// A file of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its volume: the place of its partition in [`Table::partitions`](crate::table::Table::partitions).
    pub volume: usize,
    /// Its path from the top of that.
    pub path: String,
}

impl Place {
    /// Names the file itself, where the path goes over links.
    pub(crate) fn settle(&mut self, volumes: &[Volume]) {
        let files = volumes.get(self.volume).and_then(|v| v.files.as_deref());
        if let Some(real) = files.and_then(|files| files.real(&self.path).ok()) {
            let slash = if self.path.starts_with('/') { "/" } else { "" };
            self.path = format!("{slash}{}", real.trim_start_matches('/'));
        }
    }
}

/// What is in a partition.
pub struct Volume {
    /// Its file system, or what else is in it, as `blkid` calls it; empty if unknown.
    pub kind: &'static str,
    /// As the file system says it: `UUID=` of Linux.
    pub uuid: String,
    /// Its name.
    pub label: String,
    /// Its files, if they can be read.
    pub files: Option<Box<dyn Files>>,
    /// Why not, or not all of them, if that is not known by its kind.
    pub trouble: Option<String>,
}

/// The files of a file system. Paths begin at its top, with or without a slash; links
/// are followed and do not leave it.
pub trait Files {
    /// The names in a folder, sorted.
    ///
    /// # Errors
    /// If there is no such folder, or it is damaged.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;

    /// A file's bytes, up to `most` of them.
    ///
    /// # Errors
    /// If there is no such file, or it is damaged.
    fn read(&self, path: &str, most: u64) -> io::Result<Vec<u8>>;

    /// Where a file's bytes are in its file system, in their order; more than there are, if
    /// its last block is not full.
    ///
    /// # Errors
    /// If there is no such file, a part of it is nowhere, or that is not known.
    fn place(&self, path: &str) -> io::Result<Vec<Range<u64>>>;

    /// Where the link at `path` leads to; `None` if it is none.
    fn link(&self, path: &str) -> Option<String>;
}

/// A tree known by its paths, whether there is something at them or not.
struct Paths<'f>(&'f dyn Files);

impl Tree for Paths<'_> {
    type Node = String;

    fn child(&self, folder: &String, name: &str) -> io::Result<String> {
        Ok(format!("{folder}/{name}"))
    }

    fn target(&self, path: &String) -> io::Result<Option<String>> {
        Ok(self.0.link(path))
    }
}

impl dyn Files + '_ {
    /// A path, which need not be there, without links: from the top, with a slash in front of
    /// each name. The top is empty.
    ///
    /// # Errors
    /// If links lead to each other.
    pub fn real(&self, path: &str) -> io::Result<String> {
        walk(&Paths(self), &String::new(), path, true)
    }

    /// A small text file; what is no UTF-8 in it is replaced.
    pub fn text(&self, path: &str) -> Option<String> {
        const MOST: u64 = 1 << 20;
        let bytes = self.read(path, MOST).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Whether there is such a file.
    pub fn has(&self, path: &str) -> bool {
        self.read(path, 1).is_ok()
    }

    /// The paths of a folder's files that end so.
    pub fn ending(&self, folder: &str, end: &str) -> Vec<String> {
        let names = self.list(folder).unwrap_or_default().into_iter();
        let names = names.filter(|name| name.to_ascii_lowercase().ends_with(end));
        names.map(|name| format!("{folder}/{name}")).collect()
    }
}

/// What is told by a few bytes at a place.
const MAGICS: [(u64, &[u8], &str); 13] = [
    (0, b"XFSB", "xfs"),
    (0, b"LUKS\xba\xbe", "crypto_LUKS"),
    (0, b"UBI#", "ubi"),
    (0, b"\x31\x18\x10\x06", "ubifs"),
    (0, b"-rom1fs-", "romfs"),
    (0, b"\x45\x3d\xcd\x28", "cramfs"),
    (0x200, b"LABELONE", "LVM2_member"),
    (1024, b"\xe2\xe1\xf5\xe0", "erofs"),
    (1024, b"\x10\x20\xf5\xf2", "f2fs"),
    (0x1_0040, b"_BHRfS_M", "btrfs"),
    (0x8001, b"CD001", "iso9660"),
    (4086, b"SWAPSPACE2", "swap"),
    (0, b"verity\0\0", "DM_verity_hash"),
];

impl Volume {
    pub(crate) fn is_archive(&self) -> bool {
        self.kind == archive::KIND
    }

    /// What is in an initramfs; `None` if it is none.
    pub fn of_archive(bytes: &[u8]) -> Option<Self> {
        archive::open(bytes)
    }

    /// What is in these bytes.
    pub fn of(window: &Window) -> Self {
        let head = window.up_to(0, 0x1_0048).unwrap_or_default();
        let unread = |kind, trouble| {
            let (uuid, label) = names::of(kind, window).unwrap_or_default();
            Self {
                kind,
                uuid,
                label,
                files: None,
                trouble,
            }
        };
        if number::<2>(&head, 1024 + 56) == 0xef53 {
            return match ext::open(window) {
                Ok(volume) => volume,
                Err(e) => unread("ext4", Some(e)),
            };
        }
        if head.starts_with(squash::MAGIC) {
            return match squash::open(window) {
                Ok(volume) => volume,
                Err(e) => unread(squash::KIND, Some(e)),
            };
        }
        for (at, magic, kind) in MAGICS {
            let at = usize::try_from(at).unwrap_or_default();
            if head.get(at..at + magic.len()) == Some(magic) {
                return unread(kind, None);
            }
        }
        match fat::open(window, &head) {
            Some(Ok(volume)) => volume,
            Some(Err(e)) => unread("vfat", Some(e)),
            None => unread("", None),
        }
    }
}

/// A path without what does not matter, in pieces.
fn pieces(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|piece| !matches!(*piece, "" | "."))
}
