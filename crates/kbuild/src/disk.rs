//! A source tree on disk: the only module of this crate that touches files.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::tree::{Entry, Tree};

/// No file of source code is larger, in bytes.
const MOST: u64 = 32 * 1024 * 1024;

/// An unpacked source tree, which is only read.
#[derive(Clone, Debug)]
pub struct DiskTree {
    root: PathBuf,
}

impl DiskTree {
    /// The tree in a folder.
    ///
    /// # Errors
    /// If it cannot be read as a folder.
    pub fn open(root: &Path) -> io::Result<Self> {
        fs::read_dir(root)?;
        Ok(Self {
            root: root.to_owned(),
        })
    }
}

impl Tree for DiskTree {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let file = File::open(self.root.join(path)).ok()?;
        let about = file.metadata().ok()?;
        if !about.is_file() || about.len() > MOST {
            return None;
        }
        let mut bytes = Vec::with_capacity(about.len() as usize + 1);
        file.take(MOST).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn list(&self, dir: &str) -> Vec<Entry> {
        let Ok(entries) = fs::read_dir(self.root.join(dir)) else {
            return Vec::new();
        };
        // Links are not followed to folders: they could go round in circles.
        let entries = entries.flatten().filter_map(|entry| {
            let is_dir = entry.file_type().ok()?.is_dir();
            let name = entry.file_name().into_string().ok()?;
            Some(Entry { name, is_dir })
        });
        let mut entries: Vec<Entry> = entries.collect();
        entries.sort();
        entries
    }
}
