//! Who makes a boot holds its lock; others wait, and find it made.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

/// A lock, until it is dropped or its process ends.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    /// Held, not read.
    _file: File,
}

impl Lock {
    /// Takes the lock at `path`, after waiting for it if `waits`; `None` if somebody has it.
    pub(crate) fn take(path: &Path, waits: bool) -> io::Result<Option<Self>> {
        let operation = match waits {
            true => FlockOperation::LockExclusive,
            false => FlockOperation::NonBlockingLockExclusive,
        };
        loop {
            let file = File::options()
                .create(true)
                .truncate(false)
                .write(true)
                .open(path)?;
            match rustix::fs::flock(&file, operation) {
                Err(Errno::WOULDBLOCK) => return Ok(None),
                locked => locked?,
            }
            // Who had it has removed the file, and another may have made a new one.
            let ours = file.metadata()?.ino();
            if fs::metadata(path).is_ok_and(|there| there.ino() == ours) {
                return Ok(Some(Self {
                    path: path.to_owned(),
                    _file: file,
                }));
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
