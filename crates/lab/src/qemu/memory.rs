//! Files that exist only as long as somebody holds them open.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;

use rustix::fs::MemfdFlags;

/// An anonymous file; closed in children unless handed on.
pub(super) struct MemoryFile(OwnedFd, File); // two handles of one file

impl MemoryFile {
    pub(super) fn new(name: &str) -> io::Result<Self> {
        let fd = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?;
        let file = File::from(fd.try_clone()?);
        Ok(Self(fd, file))
    }

    /// A file of `size` bytes: zeros but for the blobs.
    pub(super) fn with_size(name: &str, size: u64) -> io::Result<Self> {
        let file = Self::new(name)?;
        file.1.set_len(size)?;
        Ok(file)
    }

    pub(super) fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.1.write_all_at(bytes, offset)
    }

    /// Another handle of the same file.
    pub(super) fn again(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?, self.1.try_clone()?))
    }

    pub(super) fn fd(&self) -> &OwnedFd {
        &self.0
    }

    pub(super) fn file(&self) -> &File {
        &self.1
    }

    pub(super) fn into_file(self) -> File {
        self.1
    }
}

/// The path under which a child that inherited `fd` can open it.
pub(super) fn path_in_child(fd: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}
