//! Why a store cannot be used.

use std::io;
use std::path::Path;

/// Why the store cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {path}: {source}")]
pub struct StoreError {
    /// What was tried.
    pub action: &'static str,
    /// The file, or where else it is.
    pub path: String,
    /// Why not.
    pub source: io::Error,
}

pub(crate) fn failed(action: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError {
        action,
        path: path.display().to_string(),
        source,
    }
}
