//! A part of an image, read like a file.

use std::io;
use std::rc::Rc;

use bootlap_rootfs::root_image::ReadAt;

/// Some bytes of an image in a row. Cheap to clone.
#[derive(Clone)]
pub struct Window {
    image: Rc<dyn ReadAt>,
    start: u64,
    bytes: u64,
}

impl Window {
    /// All of an image of so many bytes.
    pub fn all(image: Rc<dyn ReadAt>, bytes: u64) -> Self {
        Self {
            image,
            start: 0,
            bytes,
        }
    }

    /// A part of it, as far as it is there.
    pub fn part(&self, start: u64, bytes: u64) -> Self {
        let start = start.min(self.bytes);
        Self {
            image: Rc::clone(&self.image),
            start: self.start + start,
            bytes: bytes.min(self.bytes - start),
        }
    }

    /// How many there are.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Up to `most` bytes from `at` on: fewer at the end.
    pub fn up_to(&self, at: u64, most: usize) -> io::Result<Vec<u8>> {
        let left = self.bytes.saturating_sub(at);
        let mut bytes = vec![0; most.min(usize::try_from(left).unwrap_or(most))];
        self.read_at(at, &mut bytes)?;
        Ok(bytes)
    }
}

impl ReadAt for Window {
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let end = at.checked_add(into.len() as u64);
        if end.is_none_or(|end| end > self.bytes) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.image.read_at(self.start + at, into)
    }
}

/// A number of `N` bytes, the least significant first; 0 behind the end.
pub(crate) fn number<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    let found = at.checked_add(N).and_then(|end| bytes.get(at..end));
    let found = found.unwrap_or_default().iter().rev();
    found.fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}
