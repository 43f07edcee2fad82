//! Where an event was read, and how much of each file was understood.

use serde::{Deserialize, Serialize};

/// The handle of an evidence file within its timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileId(pub(crate) u16);

impl FileId {
    /// Its place in [`crate::Timeline::files`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A place in an evidence file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Evidence {
    /// The file.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u64,
    /// Offset after the last byte.
    pub end: u64,
    /// Line number, from 1.
    pub line: u32,
}

impl Evidence {
    /// A file of `len` bytes as a whole.
    pub const fn whole(file: FileId, len: u64) -> Self {
        Self {
            file,
            start: 0,
            end: len,
            line: 1,
        }
    }
}

/// One raw artefact of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceFile {
    /// The name people know it by (a label; sources never open it).
    pub name: String,
    /// The short name of the source that read it.
    pub source: String,
    /// How much of it was used.
    pub usage: Usage,
}

/// Lines of a file: used + skipped = total. A skip always has a notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Lines in the file; a last line without a newline counts.
    pub total: u64,
    /// Lines that gave an event or were understood to need none.
    pub used: u64,
    /// Lines that could not be used.
    pub skipped: u64,
}
