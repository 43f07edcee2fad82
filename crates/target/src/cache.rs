//! What is slow to make is kept, named by what it was made from.
//!
//! Entries are written to a temporary name and renamed, so a killed process
//! leaves no half entry under a good name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::TargetError;

/// A folder that may be deleted at any time; it only costs time.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The cache in `root`, which need not exist yet.
    pub fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The entry of this `kind` and `key`, made by `make` if it is not there.
    ///
    /// # Errors
    /// If `make` fails. A cache that cannot be written is not an error: the
    /// entry is made again next time.
    pub fn bytes(
        &self,
        kind: &str,
        key: &str,
        make: impl FnOnce() -> Result<Vec<u8>, TargetError>,
    ) -> Result<Vec<u8>, TargetError> {
        let path = self.root.join(kind).join(key);
        if let Ok(bytes) = fs::read(&path) {
            return Ok(bytes);
        }
        let bytes = make()?;
        let _ = write_atomically(&path, &bytes);
        Ok(bytes)
    }
}

/// Writes a whole file or nothing.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    let partial = path.with_extension(format!("partial.{}", std::process::id()));
    let written = fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written
}

/// The name of some bytes: SHA-256 in hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
