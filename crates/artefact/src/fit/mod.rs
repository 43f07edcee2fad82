//! FIT, the flattened image tree: kernel, ramdisk and device tree of a boot in one file.
//!
//! Format: U-Boot's `doc/usage/fit/source_file_format.rst`. A flattened device tree whose
//! `/images` are the parts, each with its data, how to unpack it, where to and how to check it;
//! `/configurations` say which of them boot together.
//!
//! Written here: data inside the tree, one configuration `conf-1`. Read here: also data after the
//! tree (`mkimage -E`), and any number of images and configurations. To change an existing FIT
//! and keep what is not understood (signatures, vendor properties), edit it as an
//! [`Fdt`](super::fdt::Fdt).

mod read;
mod write;

pub use super::hash::Hash;
pub use read::{Configuration, Fit, Image, StoredHash, WrongHash};
pub use write::{FitSpec, Part};

use super::compress::Compression;
use super::fdt::FdtError;

/// What is wrong with a FIT, or with the wish to make one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// The container is not readable, or cannot be written.
    #[error(transparent)]
    Fdt(#[from] FdtError),
    /// A device tree, but not of images.
    #[error("a device tree without /images is not a FIT; use a file made by `mkimage -f`")]
    NoImages,
    /// An image says that its data is where there is none.
    #[error("the data of image `{0}` is missing or lies outside of the file; copy all of it")]
    NoData(String),
    /// U-Boot cannot unpack this.
    #[error("u-boot has no {0} decompressor; use none, gzip, bzip2, lzma, lz4 or zstd")]
    Compression(Compression),
}

#[cfg(test)]
mod tests;
