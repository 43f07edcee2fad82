//! Who makes a boot holds its lock; others wait, and find it made.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;

/// A lock, until it is dropped or its process ends.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    /// Held, not read.
    _file: File,
}

impl Lock {
    /// Waits for the lock at `path`.
    pub(crate) fn take(path: &Path) -> io::Result<Self> {
        loop {
            let file = File::options()
                .create(true)
                .truncate(false)
                .write(true)
                .open(path)?;
            rustix::fs::flock(&file, FlockOperation::LockExclusive)?;
            // Who had it has removed the file, and another may have made a new one.
            let ours = file.metadata()?.ino();
            if fs::metadata(path).is_ok_and(|there| there.ino() == ours) {
                return Ok(Self {
                    path: path.to_owned(),
                    _file: file,
                });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While it is held: nobody else's can be removed.
        let _ = fs::remove_file(&self.path);
    }
}
