//! The root file system of a target as files: read from an image, ordered for
//! image makers, its init scripts sorted by what they wait for and rewritten to start fewer
//! programs, and the pictures that `bootlap-agent splash` shows from it.

pub mod init_scripts;
pub mod layout;
pub mod root_image;
pub mod shell;
pub mod splash;
mod suggest;

pub use suggest::did_you_mean;

use std::io;
use std::path::Path;

/// Why a root file system could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RootfsError {
    /// A file could not be read.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried, e.g. `read`.
        action: &'static str,
        /// The file.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{what}: {why}")]
    Content {
        /// The file.
        what: String,
        /// What is wrong with it.
        why: String,
    },
}

impl RootfsError {
    fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.display().to_string(),
            source,
        }
    }

    fn content(what: &str, why: impl ToString) -> Self {
        Self::Content {
            what: what.to_owned(),
            why: why.to_string(),
        }
    }
}
