//! An image as it is shipped, made into one that QEMU and bootlap read: a raw disk.
//!
//! A raw image is used where it is. A compressed one is unpacked, with holes where it has
//! zeros; those of QEMU and others are converted by `qemu-img`. What names other files of
//! this host is refused: a disk from a stranger could name any.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use bootlap_artefact::compress::Compression;

use crate::failure::{Exit, Failure};
use crate::progress::Progress;

/// Larger than any disk that people ship; a file of some MB can unpack to any size.
const MOST_BYTES: u64 = 1 << 40;
/// Bytes that are read, and skipped if they are all zero.
const PIECE: usize = 1 << 20;
/// As much stays free on the disk that is unpacked to.
const KEPT_FREE: u64 = 512 << 20;

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
    let head = head(&at)?;
    let compression = Compression::detect(&head);
    if compression != Compression::None {
        unpack(&at, compression, to, progress)?;
        from.push(compression.to_string());
        to.clone_into(&mut at);
    }
    let head = self::head(&at)?;
    let format = bootlap_product::disk_format(&at).map_err(|e| cannot("read", &at, &e))?;
    if let Some(format) = format {
        alone(&at, format, &head)?;
        from.push(format.to_owned());
        let converted = to.with_extension("converted");
        progress.step(&format!("converting it from {format}"));
        convert(&at, format, &converted)?;
        fs::rename(&converted, to).map_err(|e| cannot("write", to, &e))?;
        to.clone_into(&mut at);
    }
    Ok(Raw { path: at, from })
}

fn cannot(what: &str, path: &Path, e: &io::Error) -> Failure {
    let exit = match e.kind() {
        io::ErrorKind::NotFound => Exit::Usage,
        _ => Exit::Internal,
    };
    Failure::new(exit, format!("cannot {what} {}: {e}", path.display()))
}

fn unusable(path: &Path, why: &str) -> Failure {
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
    image: &Path,
    compression: Compression,
    to: &Path,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    let damaged = |e: &io::Error| {
        unusable(
            image,
            &format!("it is damaged, or cut off ({compression}: {e})"),
        )
        .hint("compare its checksum with the one that it was published with")
    };
    let packed = File::open(image).map_err(|e| cannot("read", image, &e))?;
    let reader = compression.reader(BufReader::with_capacity(PIECE, packed));
    let reader = reader.map_err(|e| damaged(&e))?;
    let mut reader = reader.ok_or_else(|| {
        unusable(image, "this compression cannot be read").hint("unpack it, and import the disk")
    })?;
    let out = File::create_new(to).map_err(|e| cannot("write", to, &e))?;
    let mut piece = vec![0; PIECE];
    let mut at: u64 = 0;
    progress.step("unpacking it");
    loop {
        let n = fill(&mut reader, &mut piece).map_err(|e| damaged(&e))?;
        if n == 0 {
            break;
        }
        if piece[..n].iter().any(|byte| *byte != 0) {
            room_for(n as u64, to)?;
            let put = out.write_all_at(&piece[..n], at);
            put.map_err(|e| cannot("write", to, &e))?;
        }
        at += n as u64;
        if at > MOST_BYTES {
            return Err(unusable(
                image,
                "it unpacks to more than 1 TiB, as no disk image does",
            ));
        }
        if at.is_multiple_of(256 << 20) {
            progress.step(&format!("unpacking it: {} MiB", at >> 20));
        }
    }
    out.set_len(at).map_err(|e| cannot("write", to, &e))
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

fn convert(image: &Path, format: &str, to: &Path) -> Result<(), Failure> {
    // A name with a colon in it could mean a protocol.
    let whole = |path: &Path| {
        let whole = std::path::absolute(path).map_err(|e| cannot("find", path, &e))?;
        Ok::<_, Failure>(whole)
    };
    let done = Command::new("qemu-img")
        .args(["convert", "-f", format, "-O", "raw"])
        .args([whole(image)?, whole(to)?])
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
