//! What is inside a file: compressed streams and archives, opened without
//! being told, within limits.
//!
//! `.gz .xz .zst .bz2` are unpacked as they are read; `.tar` (in any of them)
//! and `.zip` give members, and members may be packed again. All is told by
//! content. Archives come from strangers, so:
//!
//! - nothing is ever written, and a member's name is only a label;
//! - what comes out is limited in total, by member, by number, by depth of
//!   nesting, and by ratio: a bomb gives a notice, and what came before it is
//!   used;
//! - a damaged archive gives what came before the damage.

mod guard;
mod members;
mod text;

use std::io::{self, BufRead, BufReader, Cursor, Read};

use guard::Guard;
pub use guard::{Limits, Trouble};
use members::Archive;
use text::Disguise;

use crate::HEAD_LEN;

/// What a file turned out to be.
pub enum Opened<'r> {
    /// A stream, unpacked if it was packed.
    Stream(Box<dyn BufRead + 'r>),
    /// The members of an archive, in the order of their names.
    Members(Vec<Member>),
}

/// A file out of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its path in the archive (and, after `/`, in the archive within), for
    /// people; without `.` and `..`.
    pub name: String,
    /// What is in it, unpacked.
    pub bytes: Vec<u8>,
}

/// Looks into files; keeps the limits and what went wrong.
#[derive(Default)]
pub struct Opener {
    guard: Guard,
}

impl Opener {
    /// An opener of one thing that a user gave.
    pub fn new(limits: Limits) -> Self {
        Self {
            guard: Guard::new(limits),
        }
    }

    /// What `bytes` are.
    ///
    /// # Errors
    /// If the bytes cannot be read.
    pub fn open<'r>(&self, bytes: Box<dyn BufRead + 'r>) -> io::Result<Opened<'r>> {
        let packed = self.guard.count_packed(bytes);
        let mut stream: Box<dyn BufRead + 'r> = Box::new(BufReader::new(packed));
        for _ in 0..self.guard.limits().nesting {
            let (head, rest) = split_head(stream)?;
            match Kind::of(&head) {
                Kind::Plain => return Ok(Opened::Stream(rest)),
                Kind::Archive(archive) => {
                    let mut all = Vec::new();
                    archive.take(&self.guard, rest, "", 0, &mut all);
                    all.sort_by(|a: &Member, b| a.name.cmp(&b.name));
                    return Ok(Opened::Members(all));
                }
                Kind::Packed(how) => stream = how.unpack(&self.guard, rest),
                Kind::Disguised(how) => {
                    stream = Box::new(BufReader::with_capacity(HEAD_LEN, how.undo(rest)));
                }
            }
        }
        self.guard.trouble(
            "nested-too-deeply",
            "it is packed in itself more often than any log is: nothing in it was read",
        );
        Ok(Opened::Stream(Box::new(io::empty())))
    }

    /// What went wrong so far: code and what to do, for a notice.
    pub fn troubles(&self) -> Vec<Trouble> {
        self.guard.troubles()
    }
}

/// The first bytes of a stream, and the stream with them.
fn split_head<'r>(
    mut stream: Box<dyn BufRead + 'r>,
) -> io::Result<(Vec<u8>, Box<dyn BufRead + 'r>)> {
    let mut head = Vec::new();
    (&mut stream).take(HEAD_LEN as u64).read_to_end(&mut head)?;
    let all = Cursor::new(head.clone()).chain(stream);
    Ok((head, Box::new(all)))
}

/// The container that bytes are, by their first.
enum Kind {
    Plain,
    Packed(Packing),
    Disguised(Disguise),
    Archive(Archive),
}

impl Kind {
    fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Kind::Packed(Packing::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Kind::Packed(Packing::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Kind::Packed(Packing::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, ..] => {
                Kind::Packed(Packing::Bzip2)
            }
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Kind::Archive(Archive::Zip),
            _ if is_tar(head) => Kind::Archive(Archive::Tar),
            _ => Disguise::of(head).map_or(Kind::Plain, Kind::Disguised),
        }
    }
}

/// Whether a block is a tar header, of any age: the sum of its bytes is in it.
fn is_tar(head: &[u8]) -> bool {
    let Some(block) = head.get(..512) else {
        return false;
    };
    let field = block[148..156].iter();
    let octal = field
        .skip_while(|b| **b == b' ')
        .take_while(|b| (b'0'..=b'7').contains(*b));
    let mut digits = 0;
    let stated = octal
        .inspect(|_| digits += 1)
        .fold(0u32, |n, b| n * 8 + u32::from(b - b'0'));
    let blank = |i: usize| (148..156).contains(&i);
    let bytes = block.iter().enumerate();
    let sum = bytes.map(|(i, b)| if blank(i) { 32 } else { u32::from(*b) });
    digits > 0 && block[0] != 0 && sum.sum::<u32>() == stated
}

/// The header of a small file may ask for 4 GiB; `xz -9` needs 65 MiB.
const XZ_MEMORY_KIB: u32 = 256 << 10;

/// How a stream is packed.
#[derive(Clone, Copy)]
enum Packing {
    Gzip,
    Xz,
    Zstd,
    Bzip2,
}

impl Packing {
    fn unpack<'r>(self, guard: &Guard, packed: Box<dyn BufRead + 'r>) -> Box<dyn BufRead + 'r> {
        let unpacked: Box<dyn Read + 'r> = match self {
            Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
            Packing::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(
                packed,
                true,
                XZ_MEMORY_KIB,
            )),
            Packing::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(packed)),
            Packing::Zstd => match zstd::stream::read::Decoder::with_buffer(packed) {
                Ok(decoder) => Box::new(decoder),
                Err(_) => Box::new(io::empty()),
            },
        };
        Box::new(BufReader::with_capacity(HEAD_LEN, guard.watch(unpacked)))
    }
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
