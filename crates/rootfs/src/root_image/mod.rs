//! The files of a root image as the target will see them: inode, size and mtime,
//! by which a pack's files are recognised, and where their metadata is.
//!
//! ext2, ext3 and ext4 are read from the image's file, without root and without a
//! mount (`ext`). For all others the image is mounted, and the folder is named:
//! the kernel then says what it would say on the target (`mounted`).

mod ext;
mod folder;
mod mounted;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::ops::Range;
use std::path::Path;

pub use ext::ReadAt;

use crate::RootfsError;

/// More files than a root has.
const MOST_FILES: usize = 1 << 21;

/// The files of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootImage {
    /// `f_type` of `statfs` on the target.
    pub kind: u32,
    /// `f_fsid` of `statfs` on the target, its first half low; 0 if that depends
    /// on the device it will be on.
    pub id: u64,
    /// The regular files, by their paths.
    pub files: Vec<ImageFile>,
    /// The folders, the topmost first.
    pub folders: Vec<ImageFolder>,
    /// Names that are no UTF-8: what has them is left out.
    pub left_out: usize,
}

/// A regular file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFile {
    /// From the top on, without a slash in front.
    pub path: String,
    /// Its inode.
    pub inode: u64,
    /// Its size in bytes.
    pub size: u64,
    /// When it was changed, in ns since 1970.
    pub mtime_ns: u64,
    /// The folder that it is in: its place in [`RootImage::folders`].
    pub folder: usize,
    /// Its metadata, as bytes of the image.
    pub metadata: Vec<Range<u64>>,
}

/// A folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFolder {
    /// The folder that it is in.
    pub above: Option<usize>,
    /// Its metadata and its names, as bytes of the image.
    pub metadata: Vec<Range<u64>>,
}

impl RootImage {
    /// Reads the file system in a file, or below a mount point.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or is nothing of these.
    pub fn open(path: &Path) -> Result<Self, RootfsError> {
        let mut image = match path.is_dir() {
            true => mounted::read(path)?,
            false => {
                let file = File::open(path).map_err(|e| RootfsError::io("read", path, e))?;
                let image = ext::read(&file);
                image.map_err(|e| RootfsError::content(&path.display().to_string(), e))?
            }
        };
        image.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(image)
    }

    /// Reads an ext2, ext3 or ext4 file system.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn ext(bytes: &dyn ReadAt) -> Result<Self, String> {
        ext::read(bytes).map_err(|e| e.to_string())
    }

    /// Where the blocks of each of [`Self::files`] are in `bytes`, the ext2, ext3 or ext4 that
    /// this was read from; nothing for one whose blocks cannot be told.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn data_of(&self, bytes: &dyn ReadAt) -> Result<Vec<Vec<Range<u64>>>, String> {
        let inodes = self.files.iter().map(|file| file.inode);
        ext::data_of(bytes, inodes).map_err(|e| e.to_string())
    }

    /// What has to be read to open `files` (places in [`Self::files`]) one after the
    /// other: folders from the top on, and each itself. With every range the file
    /// that needs it first.
    pub fn metadata_of(&self, files: &[usize]) -> Vec<(usize, Range<u64>)> {
        let mut known = vec![false; self.folders.len()];
        let mut all = Vec::new();
        for index in files {
            let Some(file) = self.files.get(*index) else {
                continue;
            };
            let mut at = Some(file.folder);
            while let Some(folder) = at.filter(|at| !std::mem::replace(&mut known[*at], true)) {
                let folder = &self.folders[folder];
                all.extend(folder.metadata.iter().map(|range| (*index, range.clone())));
                at = folder.above;
            }
            all.extend(file.metadata.iter().map(|range| (*index, range.clone())));
        }
        all
    }
}

/// Where the blocks of the file at `path` are in an ext2, ext3 or ext4, in its order. Links
/// are not followed.
///
/// # Errors
/// If there is no such file, it has holes, or what is wrong with the file system.
pub fn place(bytes: &dyn ReadAt, path: &str) -> Result<Vec<Range<u64>>, String> {
    ext::place(bytes, path).map_err(|e| e.to_string())
}

pub use folder::{Entry, entries};
