//! Parts of a target as bytes, with where they came from.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use bootlap_artefact::compress::Compression;
use bootlap_artefact::kernel_image::UNPACK_LIMIT;
use serde::{Deserialize, Serialize};

use crate::TargetError;
use crate::cache::sha256;
use crate::shared::shared;

/// What names of files on the target's disk begin with.
pub(crate) const ON_DISK: &str = "disk:";

/// One file that the target is made of.
#[derive(Clone)]
pub struct Part {
    /// Where it came from, for people: a path, or package, version and path.
    pub origin: String,
    /// SHA-256 in hex.
    pub sha256: String,
    /// Its content.
    pub bytes: Arc<[u8]>,
}

impl Part {
    /// The part with this content, which equal parts share.
    pub fn new(origin: impl Into<String>, bytes: Vec<u8>) -> Self {
        let sha256 = sha256(&bytes);
        Self {
            origin: origin.into(),
            bytes: shared(&sha256, bytes),
            sha256,
        }
    }

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

/// Bytes that a guest sees on its disk instead of those of the image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    /// Where, from the disk's start.
    pub at: u64,
    /// What.
    pub bytes: Vec<u8>,
}

impl Patch {
    /// As they are kept: place, length and bytes of each.
    pub fn pack(patches: &[Self]) -> Vec<u8> {
        let mut packed = Vec::new();
        for patch in patches {
            packed.extend(patch.at.to_le_bytes());
            packed.extend((patch.bytes.len() as u64).to_le_bytes());
            packed.extend(&patch.bytes);
        }
        packed
    }

    /// What [`Patch::pack`] made them; `None` if it is damaged.
    pub fn unpack(mut packed: &[u8]) -> Option<Vec<Self>> {
        let mut patches = Vec::new();
        while !packed.is_empty() {
            let number =
                |at: usize| Some(u64::from_le_bytes(packed.get(at..at + 8)?.try_into().ok()?));
            let (at, length) = (number(0)?, usize::try_from(number(8)?).ok()?);
            let bytes = packed.get(16..16_usize.checked_add(length)?)?.to_vec();
            packed = &packed[16 + length..];
            patches.push(Self { at, bytes });
        }
        Some(patches)
    }
}

/// How programs on a disk begin, by which they are known wherever they are loaded to: the first
/// bytes of the code at each of their entries, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    /// The kernel.
    pub kernel: Vec<Vec<u8>>,
    /// The boot loader that firmware starts.
    pub loader: Vec<Vec<u8>>,
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
    /// Their hash, once somebody has asked for it.
    hash: Arc<OnceLock<String>>,
}

/// Large blobs are cut into pieces of so many bytes.
const PIECE: usize = 1 << 20;

impl Blob {
    /// These bytes at this place.
    pub fn new(name: &str, offset: u64, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self {
            name: name.to_owned(),
            offset,
            bytes: bytes.into(),
            hash: Arc::default(),
        }
    }

    /// The same in pieces, which variants that begin alike have in common.
    pub(crate) fn pieces(self) -> Vec<Self> {
        let cut = self.bytes.chunks(PIECE).zip(0..);
        let pieces = cut.map(|(bytes, n)| {
            let sha256 = sha256(bytes);
            let bytes = shared(&sha256, bytes.to_vec());
            Self {
                name: self.name.clone(),
                offset: self.offset + n * PIECE as u64,
                bytes,
                hash: Arc::new(sha256.into()),
            }
        });
        pieces.collect()
    }

    /// SHA-256 of the bytes in hex. Many boots share a blob, and its bytes are read once.
    pub fn sha256(&self) -> &str {
        self.hash.get_or_init(|| sha256(&self.bytes))
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

    /// The folder of the kernel's modules, in the package that the kernel is from.
    fn kernel_modules(&self) -> Result<PathBuf, TargetError>;
}
