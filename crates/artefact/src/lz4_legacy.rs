//! LZ4's legacy format (`lz4 -l`), the only one that Linux's `lib/decompress_unlz4.c` reads.
//!
//! A magic number, then blocks: a little-endian length and an LZ4 block that unpacks to 8 MiB (the
//! last one to less). There is no end mark and no checksum, so a file cut between blocks looks
//! whole.

use std::io::{self, ErrorKind};

use lz4::block::{CompressionMode, compress, compress_bound, decompress_to_buffer};

use super::bytes;

pub(super) const MAGIC: [u8; 4] = [0x02, 0x21, 0x4c, 0x18];

/// What every block but the last unpacks to, in bytes.
const BLOCK: usize = 8 << 20;

/// The level of the kernel's own `lz4 -l -9`.
const LEVEL: i32 = 9;

/// One LZ4 block, without its length.
pub(super) fn block(data: &[u8]) -> io::Result<Vec<u8>> {
    compress(data, Some(CompressionMode::HIGHCOMPRESSION(LEVEL)), false)
}

pub(super) fn write(data: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = MAGIC.to_vec();
    for chunk in data.chunks(BLOCK) {
        let block = block(chunk)?;
        let length = u32::try_from(block.len()).map_err(io::Error::other)?;
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&block);
    }
    Ok(out)
}

/// All blocks unpacked, or `None` if that is more than `limit` bytes. `data` is then what follows.
pub(super) fn read(data: &mut &[u8], limit: usize) -> io::Result<Option<Vec<u8>>> {
    let Some(mut rest) = data.strip_prefix(&MAGIC) else {
        return Err(io::Error::new(
            ErrorKind::InvalidData,
            "no legacy lz4 magic",
        ));
    };
    let bound = compress_bound(BLOCK)?;
    let mut out = Vec::new();
    let mut block = Vec::new();
    while !rest.is_empty() {
        let length = bytes::le32(rest, 0).ok_or(ErrorKind::UnexpectedEof)? as usize;
        if length == 0 || length > bound {
            break; // padding, or whatever else follows the stream
        }
        let packed = rest.get(4..4 + length).ok_or(ErrorKind::UnexpectedEof)?;
        block.resize(BLOCK, 0);
        let size = decompress_to_buffer(packed, Some(BLOCK as i32), &mut block)?;
        out.extend_from_slice(&block[..size]);
        if out.len() > limit {
            return Ok(None);
        }
        rest = &rest[4 + length..];
    }
    *data = rest;
    Ok(Some(out))
}
