//! An image as it is shipped, made into one that QEMU and bootlap read: a raw disk.
//!
//! A raw image is used where it is. One that is compressed, or in an archive, is unpacked, with
//! holes where it has zeros; those of QEMU and others are converted by `qemu-img`. What names
//! other files of this host is refused: a disk from a stranger could name any.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use bootlap_artefact::compress::Compression;

use crate::failure::{Exit, Failure};
use crate::progress::Progress;

use super::{archive, sparse};

/// Larger than any disk that people ship; a file of some MB can unpack to any size.
const MOST_BYTES: u64 = 1 << 40;
/// Bytes that are read, and skipped if they are all zero.
const PIECE: usize = 1 << 20;
/// As much stays free on the disk that is unpacked to.
const KEPT_FREE: u64 = 512 << 20;

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

/// What is to be unpacked.
pub(super) struct Packed<'a> {
    /// What the user knows it as.
    pub(super) image: &'a Path,
    pub(super) file: &'a File,
}

impl Packed<'_> {
    /// It does not hold what its beginning promises.
    pub(super) fn damaged(&self, layer: &dyn fmt::Display, e: &dyn fmt::Display) -> Failure {
        unusable(
            self.image,
            &format!("it is damaged, or cut off ({layer}: {e})"),
        )
        .hint("compare its checksum with the one that it was published with")
    }
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

pub(super) fn cannot(what: &str, path: &Path, e: &io::Error) -> Failure {
    let exit = match e.kind() {
        io::ErrorKind::NotFound => Exit::Usage,
        _ => Exit::Internal,
    };
    Failure::new(exit, format!("cannot {what} {}: {e}", path.display()))
}

pub(super) fn unusable(path: &Path, why: &str) -> Failure {
    Failure::new(Exit::NothingUsable, format!("{}: {why}", path.display()))
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
    let damaged = |e: &io::Error| packed.damaged(&compression, e);
    let reader = compression.reader(BufReader::with_capacity(PIECE, packed.file));
    let mut reader = reader.map_err(|e| damaged(&e))?.ok_or_else(|| {
        unusable(packed.image, "this compression cannot be read")
            .hint("unpack it, and import the disk")
    })?;
    let mut out = Holey::new(to, progress)?;
    out.take(&mut reader, damaged)?;
    out.finish()
}

/// A disk that is written, with holes where it has zeros.
pub(super) struct Holey<'p> {
    file: File,
    path: &'p Path,
    /// Bytes so far.
    at: u64,
    progress: &'p dyn Progress,
}

impl<'p> Holey<'p> {
    pub(super) fn new(path: &'p Path, progress: &'p dyn Progress) -> Result<Self, Failure> {
        progress.step("unpacking it");
        Ok(Self {
            file: File::create_new(path).map_err(|e| cannot("write", path, &e))?,
            path,
            at: 0,
            progress,
        })
    }

    /// Takes all that can be read; `damaged` says what an error means.
    pub(super) fn take(
        &mut self,
        from: &mut dyn Read,
        damaged: impl Fn(&io::Error) -> Failure,
    ) -> Result<(), Failure> {
        let mut piece = vec![0; PIECE];
        loop {
            let n = fill(from, &mut piece).map_err(|e| damaged(&e))?;
            if n == 0 {
                return Ok(());
            }
            self.put(&piece[..n])?;
        }
    }

    pub(super) fn put(&mut self, piece: &[u8]) -> Result<(), Failure> {
        if piece.iter().any(|byte| *byte != 0) {
            room_for(piece.len() as u64, self.path)?;
            let put = self.file.write_all_at(piece, self.at);
            put.map_err(|e| cannot("write", self.path, &e))?;
        }
        self.skip(piece.len() as u64)
    }

    /// As many zeros.
    pub(super) fn skip(&mut self, bytes: u64) -> Result<(), Failure> {
        const TOLD_EACH: u64 = 256 << 20;
        let told = self.at / TOLD_EACH;
        self.at = self.at.saturating_add(bytes);
        if self.at > MOST_BYTES {
            let why = "it unpacks to more than 1 TiB, as no disk image does";
            return Err(Failure::new(Exit::NothingUsable, why));
        }
        if self.at / TOLD_EACH > told {
            let step = format!("unpacking it: {} MiB", self.at >> 20);
            self.progress.step(&step);
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<(), Failure> {
        let sized = self.file.set_len(self.at);
        sized.map_err(|e| cannot("write", self.path, &e))
    }
}

/// Reads until the piece is full, or nothing is left.
fn fill(from: &mut dyn Read, piece: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while done < piece.len() {
        match from.read(&mut piece[done..]) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(done)
}

fn room_for(bytes: u64, path: &Path) -> Result<(), Failure> {
    let Ok(known) = rustix::fs::statvfs(path) else {
        return Ok(());
    };
    match known.f_bavail.saturating_mul(known.f_frsize) < bytes + KEPT_FREE {
        true => Err(Failure::new(
            Exit::Internal,
            format!("{}: the disk is nearly full", path.display()),
        )
        .hint("name a folder on a larger one with --out")),
        false => Ok(()),
    }
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
