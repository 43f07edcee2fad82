//! What a boot reads of its disks.

use serde::{Deserialize, Serialize};

use crate::{ClockId, Evidence, Stamp, Sym};

/// Bytes that came into the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    /// The clock of `at`.
    pub clock: ClockId,
    /// When.
    pub at: Stamp,
    /// Of what.
    pub of: ReadOf,
    /// Offset of the first byte.
    pub start: u64,
    /// Offset after the last byte; the last page may end after the file.
    pub end: u64,
    /// Where this was read.
    pub evidence: Evidence,
}

/// Of what bytes were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadOf {
    /// As the kernel's trace has it. A disk itself is an inode, too: of a device
    /// below `1 << 20`, its number is the disk's.
    Inode {
        /// `major << 20 | minor` of the file system.
        device: u32,
        /// The inode.
        inode: u64,
    },
    /// A file by its name.
    File {
        /// The file system.
        system: FileSystem,
        /// From the mount point on, without a slash in front.
        path: Sym,
    },
    /// A file whose name is no UTF-8: it cannot be said, and is no other's.
    Nameless {
        /// The file system.
        system: FileSystem,
        /// What tells it from others of the same evidence.
        number: u32,
    },
    /// The disk below a file system: its metadata.
    Metadata {
        /// The file system.
        system: FileSystem,
    },
}

/// What tells a file system from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileSystem {
    /// `f_fsid` of `statfs`, its first half low; 0 if it is not known.
    pub id: u64,
    /// `f_type` of `statfs`.
    pub kind: u32,
    /// Where it was mounted.
    pub place: Sym,
}
