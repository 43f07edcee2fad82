//! Parts of a target as bytes, with where they came from.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use bootlap_artefact::compress::Compression;
use bootlap_artefact::kernel_image::UNPACK_LIMIT;
use serde::{Deserialize, Serialize};

use crate::TargetError;

/// One file that the target is made of.
#[derive(Clone)]
pub struct Part {
    /// Where it came from, for people: a path, or package, version and path.
    pub origin: String,
    /// SHA-256 in hex.
    pub sha256: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl Part {
    /// The content; unpacked if the file is compressed as a whole, as an
    /// `Image.gz` is.
    pub fn unwrapped(&self) -> Result<Cow<'_, [u8]>, TargetError> {
        match Compression::detect(&self.bytes) {
            Compression::None => Ok(Cow::Borrowed(&self.bytes)),
            wrapping => wrapping
                .decompress(&self.bytes, UNPACK_LIMIT)
                .map(Cow::Owned)
                .map_err(|e| TargetError::artefact(&self.origin, e)),
        }
    }
}

/// The identity of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartHash {
    /// What it is for.
    pub name: String,
    /// Where it came from.
    pub origin: String,
    /// SHA-256 in hex.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
}

/// Some bytes at a place.
#[derive(Clone)]
pub struct Blob {
    /// What they are.
    pub name: String,
    /// Where they stand in their bank.
    pub offset: u64,
    /// The bytes.
    pub bytes: Arc<[u8]>,
}

impl Blob {
    pub(crate) fn new(name: &str, offset: u64, bytes: Vec<u8>) -> Self {
        Self {
            name: name.to_owned(),
            offset,
            bytes: bytes.into(),
        }
    }
}

/// Compresses what is called so.
pub(crate) type Pack<'a> = &'a dyn Fn(&str, &[u8], Compression) -> Result<Vec<u8>, TargetError>;

/// Finds what a target names, wherever that is.
pub(crate) trait Find {
    /// The file that `key`'s value `name` names, read.
    fn part(&self, key: &str, name: &str) -> Result<Part, TargetError>;

    /// The file or folder that `key`'s value `name` names, and its origin.
    fn path(&self, key: &str, name: &str) -> Result<(PathBuf, String), TargetError>;

    /// The file or folder whose content goes into what is booted. Unlike a
    /// kernel, it may be any file of this host, such as a key; so what lies
    /// outside of the target's folder has to be named by `outside`.
    fn content(&self, key: &str, name: &str) -> Result<PathBuf, TargetError>;
}
