//! What is in a pack: `agent/src/preload/pack.h` says where.

use crate::binary::{Order, c_str, u32_at, u64_at};

/// How a pack begins.
pub(super) const MAGIC: &[u8] = b"bootpak\x01";
const HEAD: usize = 64;
const FS: usize = 16;
const FILE: usize = 32;
const EXTENT: usize = 20;
/// The checksum is of what lies behind it.
const CRC_FROM: usize = 16;
const UNORDERED: u32 = 1;

/// Bytes of a file that were used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    /// When, in ns of the clock.
    pub(super) ns: i64,
    pub(super) bytes: u64,
    /// Of the block device and not of a file: the file system's own.
    pub(super) metadata: bool,
    /// Where in the pack.
    pub(super) at: u64,
}

/// A pack that is whole.
#[derive(Debug, PartialEq)]
pub(super) struct Pack {
    pub(super) extents: Vec<Extent>,
    /// Events that the kernel lost.
    pub(super) lost: u32,
    /// Files whose path was not found.
    pub(super) unnamed: u32,
    /// The order says nothing: what was cached at one moment.
    pub(super) unordered: bool,
}

/// Reads it; `None` if it is damaged.
pub(super) fn read(bytes: &[u8]) -> Option<Pack> {
    let u32_of = |at: usize| u32_at(bytes, at, Order::Little);
    let u64_of = |at: usize| u64_at(bytes, at, Order::Little);
    if u32_of(8)? as usize != bytes.len() || u32_of(12)? != crc(bytes.get(CRC_FROM..)?) {
        return None;
    }
    let [systems, count, extent_count] = [u32_of(16)?, u32_of(20)?, u32_of(24)?];
    let files = HEAD.checked_add(FS.checked_mul(systems as usize)?)?;
    let extents = files.checked_add(FILE.checked_mul(count as usize)?)?;
    let strings = extents.checked_add(EXTENT.checked_mul(extent_count as usize)?)?;
    let began = i64::try_from(u64_of(48)?).ok()?;
    let mut all = Vec::new();
    // Each must lie in front of the strings: a wrong count ends here.
    if strings > bytes.len() {
        return None;
    }
    for at in (extents..strings).step_by(EXTENT) {
        let file = u32_of(at + 12)?;
        if file >= count {
            return None;
        }
        let path = u32_of(files + FILE * file as usize + 24)? as usize;
        let path = c_str(bytes, strings.checked_add(path)?)?;
        let us = i64::from(u32_of(at + 16)?);
        all.push(Extent {
            ns: began.saturating_add(us * 1000),
            bytes: u32_of(at + 8)?.into(),
            metadata: path.is_empty(),
            at: at as u64,
        });
    }
    Some(Pack {
        extents: all,
        lost: u32_of(36)?,
        unnamed: u32_of(40)?,
        unordered: u32_of(32)? & UNORDERED != 0,
    })
}

/// CRC-32 as in gzip.
fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 }
        })
    };
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the agent's own tests make.
    const GOLDEN: &[u8] = include_bytes!("../../../../agent/tests/corpus/pack/golden");

    #[test]
    fn what_the_agent_writes() {
        let pack = read(GOLDEN).unwrap();
        assert_eq!((pack.lost, pack.unnamed, pack.unordered), (3, 1, false));
        let all: Vec<_> = pack.extents.iter().map(|e| (e.ns, e.bytes)).collect();
        let expected = [
            (5_000_000_000, 4096),
            (5_000_100_000, 300),
            (5_000_200_000, 8192),
            (5_000_400_000, 1696),
        ];
        assert_eq!(all, expected);
        let metadata: Vec<_> = pack.extents.iter().map(|e| e.metadata).collect();
        assert_eq!(metadata, [true, false, false, false]);
    }

    #[test]
    fn damaged_ones_are_told() {
        assert_eq!(crc(b"123456789"), 0xcbf4_3926);
        for len in 0..GOLDEN.len() {
            assert_eq!(read(&GOLDEN[..len]), None);
        }
        for at in 8..GOLDEN.len() {
            let mut bytes = GOLDEN.to_vec();
            bytes[at] ^= 0x10;
            assert_eq!(read(&bytes), None);
        }
    }

    #[test]
    fn numbers_that_lead_nowhere_are_no_panic() {
        for at in (16..GOLDEN.len() - 4).step_by(4) {
            let mut bytes = GOLDEN.to_vec();
            bytes[at..at + 4].fill(0xff);
            let crc = crc(&bytes[CRC_FROM..]).to_le_bytes();
            bytes[12..16].copy_from_slice(&crc);
            read(&bytes);
        }
    }
}
