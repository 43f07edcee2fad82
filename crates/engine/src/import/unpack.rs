//! An image as it is shipped, made into one that QEMU and bootlap read: a raw disk.
//!
//! A raw image is used where it is. One that is compressed, or in an archive, is unpacked, with
//! holes where it has zeros; those of QEMU and others are converted by `qemu-img`. What names
//! other files of this host is refused: a disk from a stranger could name any.

use std::fmt;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use bootlap_artefact::compress::Compression;

use crate::failure::{Exit, Failure};
use crate::progress::Progress;

use super::holey::{PIECE, Packed, cannot, unusable};
use super::{archive, sparse};

/// An archive in an archive, and the disk in it; more of them are nobody's product.
const MOST_LAYERS: usize = 6;

/// A raw disk.
pub(super) struct Raw {
    pub(super) path: PathBuf,
    /// What had to be undone.
    pub(super) from: Vec<String>,
}

/// Makes `image` a raw disk; what is written is `to`.
pub(super) fn raw(image: &Path, to: &Path, progress: &dyn Progress) -> Result<Raw, Failure> {
    let mut from = Vec::new();
    let mut at = image.to_owned();
    while let Some(layer) = Layer::of(&at)? {
        if from.len() == MOST_LAYERS {
            return Err(unusable(image, "it is packed too often to be a disk"));
        }
        let next = to.with_extension("unpacked");
        let file = File::open(&at).map_err(|e| cannot("read", &at, &e))?;
        let packed = Packed { image, file: &file };
        match layer {
            Layer::Compressed(compression) => unpack(&packed, compression, &next, progress)?,
            Layer::Tar => archive::tar(&packed, &next, progress)?,
            Layer::Zip => archive::zip(&packed, &next, progress)?,
            Layer::Sparse => sparse::unpack(&packed, &next, progress)?,
            Layer::Disk(format) => {
                alone(image, format, &head(&at)?)?;
                progress.step(&format!("converting it from {format}"));
                convert(image, &at, format, &next)?;
            }
        }
        from.push(layer.to_string());
        fs::rename(&next, to).map_err(|e| cannot("write", to, &e))?;
        to.clone_into(&mut at);
    }
    Ok(Raw { path: at, from })
}

/// What lies around a raw disk.
enum Layer {
    Compressed(Compression),
    Tar,
    Zip,
    Sparse,
    /// QEMU's name of the format.
    Disk(&'static str),
}

impl Layer {
    /// The outermost one, if there is any.
    fn of(path: &Path) -> Result<Option<Self>, Failure> {
        let head = head(path)?;
        let compression = Compression::detect(&head);
        if compression != Compression::None {
            return Ok(Some(Self::Compressed(compression)));
        }
        if head.get(257..262) == Some(b"ustar") {
            return Ok(Some(Self::Tar));
        }
        if head.starts_with(b"PK\x03\x04") {
            return Ok(Some(Self::Zip));
        }
        if sparse::begins(&head) {
            return Ok(Some(Self::Sparse));
        }
        let format = bootlap_product::disk_format(path).map_err(|e| cannot("read", path, &e))?;
        Ok(format.map(Self::Disk))
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Layer::Compressed(compression) => compression.fmt(f),
            Layer::Tar => f.write_str("tar"),
            Layer::Zip => f.write_str("zip"),
            Layer::Sparse => f.write_str("an Android sparse image"),
            Layer::Disk(format) => f.write_str(format),
        }
    }
}

fn head(path: &Path) -> Result<Vec<u8>, Failure> {
    let file = File::open(path).map_err(|e| cannot("read", path, &e))?;
    let mut head = Vec::new();
    let read = file.take(1 << 16).read_to_end(&mut head);
    read.map_err(|e| cannot("read", path, &e))?;
    Ok(head)
}

fn unpack(
    packed: &Packed<'_>,
    compression: Compression,
    to: &Path,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    let reader = compression.reader(BufReader::with_capacity(PIECE, packed.file));
    let reader = reader.map_err(|e| packed.damaged(&compression, &e))?;
    let mut reader = reader.ok_or_else(|| {
        unusable(packed.image, "this compression cannot be read")
            .hint("unpack it, and import the disk")
    })?;
    packed.write(&compression, &mut reader, to, progress)
}

/// Refuses what has a part of its contents in another file.
fn alone(path: &Path, format: &str, head: &[u8]) -> Result<(), Failure> {
    let number = |at: usize| {
        let bytes = head.get(at..at + 8).and_then(|b| b.try_into().ok());
        bytes.map_or(0, u64::from_be_bytes)
    };
    let elsewhere = match format {
        // The name of a backing file, and the feature of data in a file of their own.
        "qcow2" => number(8) != 0 || number(4) >> 32 >= 3 && number(72) & 4 != 0,
        // A text names extents; one without a capacity is only such a text.
        "vmdk" => {
            head.starts_with(b"#")
                || head.get(12..20) == Some(&[0; 8])
                || memchr::memmem::find(head, b"parentFileNameHint").is_some()
        }
        _ => false,
    };
    match elsewhere {
        true => Err(unusable(
            path,
            &format!("this {format} has contents in another file, which is not looked at"),
        )
        .hint(
            "if it is yours, make it one file: qemu-img convert -O raw IMAGE disk.img; then \
             import that",
        )),
        false => Ok(()),
    }
}

fn convert(image: &Path, from: &Path, format: &str, to: &Path) -> Result<(), Failure> {
    // A name with a colon in it could mean a protocol.
    let whole = |path: &Path| {
        let whole = std::path::absolute(path).map_err(|e| cannot("find", path, &e))?;
        Ok::<_, Failure>(whole)
    };
    let done = Command::new("qemu-img")
        .args(["convert", "-f", format, "-O", "raw"])
        .args([whole(from)?, whole(to)?])
        .output();
    let done = done.map_err(|e| {
        Failure::new(Exit::MachineFailed, format!("cannot run qemu-img: {e}"))
            .hint("it converts such images: apt-get install qemu-utils")
    })?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let said = said.lines().next().unwrap_or("nothing");
    Err(unusable(image, &format!("qemu-img cannot read it: {said}")))
}
