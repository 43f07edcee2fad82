//! The files of a file system that somebody else has read, in a squashfs.

use std::io;
use std::ops::Range;

use super::{Files, squash};
use crate::window::Window;

/// Where they are in their own file system is not known.
struct Copied(Box<dyn Files>);

/// What is in such a squashfs.
///
/// # Errors
/// If it cannot be read.
pub fn copied(squashfs: &Window) -> Result<Box<dyn Files>, String> {
    let files = squash::open(squashfs)?.files;
    let files = files.ok_or("its copy has no files")?;
    Ok(Box::new(Copied(files)))
}

impl Copied {
    /// A root in a subvolume of btrfs is that: its copy begins there, and boot loaders name its
    /// files from above (`/@/boot/vmlinuz`).
    fn inside<'p>(&self, path: &'p str) -> &'p str {
        let plain = path.trim_start_matches('/');
        let (first, rest) = plain.split_once('/').unwrap_or((plain, ""));
        let is_subvolume = first.starts_with('@') && self.0.list(first).is_err();
        if is_subvolume { rest } else { path }
    }
}

impl Files for Copied {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.0.list(self.inside(folder))
    }

    fn read(&self, path: &str, most: u64) -> io::Result<Vec<u8>> {
        self.0.read(self.inside(path), most)
    }

    fn place(&self, _: &str) -> io::Result<Vec<Range<u64>>> {
        Err(io::Error::other("its file system is not read here"))
    }

    fn link(&self, path: &str) -> Option<String> {
        self.0.link(self.inside(path))
    }
}
