//! What is unpacked, and the raw disk that comes of it: written with holes where it has zeros.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::failure::{Exit, Failure};
use crate::progress::Progress;

/// Larger than any disk that people ship; a file of some MB can unpack to any size.
const MOST_BYTES: u64 = 1 << 40;
/// Bytes that are read, and skipped if they are all zero.
pub(super) const PIECE: usize = 1 << 20;
/// As much stays free on the disk that is unpacked to.
const KEPT_FREE: u64 = 512 << 20;

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

    /// Writes all that `from`, which unpacks this layer, gives to `to`.
    pub(super) fn write(
        &self,
        layer: &dyn fmt::Display,
        from: &mut dyn Read,
        to: &Path,
        progress: &dyn Progress,
    ) -> Result<(), Failure> {
        let mut out = Holey::new(self, to, progress)?;
        out.take(from, |e| self.damaged(layer, e))?;
        out.finish()
    }
}

/// A disk that is written, with holes where it has zeros.
pub(super) struct Holey<'p> {
    image: &'p Path,
    file: File,
    path: &'p Path,
    /// Bytes so far.
    at: u64,
    progress: &'p dyn Progress,
}

impl<'p> Holey<'p> {
    pub(super) fn new(
        packed: &Packed<'p>,
        path: &'p Path,
        progress: &'p dyn Progress,
    ) -> Result<Self, Failure> {
        progress.step("unpacking it");
        Ok(Self {
            image: packed.image,
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

    fn put(&mut self, piece: &[u8]) -> Result<(), Failure> {
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
            return Err(unusable(self.image, why));
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
