//! Packed streams, one after the other.
//!
//! What follows the last of them and is no stream is left out, as gzip and bzip2 do it: OpenWrt
//! puts a signature behind its images, and others pad theirs.

use std::io::{self, BufRead, Read};

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;

/// Unpacks one stream.
pub(super) trait Unpack: Read {
    type From: BufRead;
    /// What every stream begins with.
    const MAGIC: &'static [u8];
    fn new(from: Self::From) -> Self;
    /// What it read from, which stands behind the stream.
    fn into_inner(self) -> Self::From;
}

impl<R: BufRead> Unpack for GzDecoder<R> {
    type From = R;
    const MAGIC: &'static [u8] = b"\x1f\x8b";
    fn new(from: R) -> Self {
        Self::new(from)
    }
    fn into_inner(self) -> R {
        self.into_inner()
    }
}

impl<R: BufRead> Unpack for BzDecoder<R> {
    type From = R;
    const MAGIC: &'static [u8] = b"BZh";
    fn new(from: R) -> Self {
        Self::new(from)
    }
    fn into_inner(self) -> R {
        self.into_inner()
    }
}

/// All streams that a file has.
pub(super) struct Streams<D> {
    /// None behind the last.
    current: Option<D>,
}

impl<D: Unpack> Streams<D> {
    pub(super) fn new(from: D::From) -> Self {
        Self {
            current: Some(D::new(from)),
        }
    }
}

impl<D: Unpack> Read for Streams<D> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() {
            return Ok(0);
        }
        while let Some(stream) = &mut self.current {
            let n = stream.read(to)?;
            if n > 0 {
                return Ok(n);
            }
            let Some(ended) = self.current.take() else {
                break;
            };
            let mut from = ended.into_inner();
            let next = from.fill_buf()?;
            // A buffer may end within the magic.
            let known = next.len().min(D::MAGIC.len());
            if known > 0 && next[..known] == D::MAGIC[..known] {
                self.current = Some(D::new(from));
            }
        }
        Ok(0)
    }
}
