//! Inodes, and which blocks belong to them.

use std::ops::Range;

use super::{Ext, ExtError, u16_at, u32_at};

const FOLDER: u16 = 0x4000;
const FILE: u16 = 0x8000;
const TYPE: u16 = 0xf000;
const HAS_EXTENTS: u32 = 0x8_0000;
const EXTENTS_MAGIC: u16 = 0xf30a;
/// What a range costs in memory.
const RANGE: u64 = 64;
/// An extent that is longer was never written; the rest is its length.
const LONGEST_EXTENT: u16 = 1 << 15;
const DEEPEST: u16 = 5;

pub(super) struct Inode {
    mode: u16,
    flags: u32,
    pub(super) size: u64,
    pub(super) mtime_ns: u64,
    /// Blocks, or the top of the tree of extents.
    map: [u8; 60],
    /// The block that it is in.
    pub(super) at: Range<u64>,
}

/// The blocks of an inode, as bytes of the image.
#[derive(Default)]
pub(super) struct Blocks {
    pub(super) data: Vec<Range<u64>>,
    /// Blocks that only say where others are.
    pub(super) tree: Vec<Range<u64>>,
}

impl Inode {
    pub(super) fn read(bytes: &[u8], at: Range<u64>) -> Option<Self> {
        let high = u64::from(u32_at(bytes, 108)?);
        let mode = u16_at(bytes, 0)?;
        Some(Self {
            mode,
            flags: u32_at(bytes, 32)?,
            size: high << 32 | u64::from(u32_at(bytes, 4)?),
            mtime_ns: mtime_ns(bytes)?,
            map: bytes.get(40..100)?.try_into().ok()?,
            at,
        })
    }

    pub(super) fn is_folder(&self) -> bool {
        self.mode & TYPE == FOLDER
    }

    pub(super) fn is_file(&self) -> bool {
        self.mode & TYPE == FILE
    }
}

/// Seconds, and where the inode has room two more bits of them and ns.
fn mtime_ns(bytes: &[u8]) -> Option<u64> {
    let mut seconds = i64::from(u32_at(bytes, 16)?.cast_signed());
    let mut ns = 0;
    if bytes.len() > 128 && u16_at(bytes, 128)? >= 12 {
        let more = u32_at(bytes, 136)?;
        seconds += i64::from(more & 3) << 32;
        ns = i64::from(more >> 2);
    }
    Some(seconds.wrapping_mul(1_000_000_000).wrapping_add(ns) as u64)
}

impl Ext<'_> {
    /// All blocks of an inode, in the order of the file.
    pub(super) fn blocks(&self, inode: &Inode) -> Result<Blocks, ExtError> {
        let mut blocks = Blocks::default();
        self.collect(inode, true, &mut blocks)?;
        Ok(blocks)
    }

    /// Only the blocks that say where its data is.
    pub(super) fn blocks_above_data(&self, inode: &Inode) -> Result<Vec<Range<u64>>, ExtError> {
        let mut blocks = Blocks::default();
        self.collect(inode, false, &mut blocks)?;
        Ok(blocks.tree)
    }

    fn collect(&self, inode: &Inode, data: bool, blocks: &mut Blocks) -> Result<(), ExtError> {
        if inode.flags & HAS_EXTENTS != 0 {
            return self.extents(&inode.map, None, data, blocks);
        }
        let numbers = inode.map.chunks_exact(4).filter_map(|n| u32_at(n, 0));
        for (place, block) in numbers.enumerate().filter(|(_, block)| *block != 0) {
            // Twelve blocks of data, then those that name blocks of one, two,
            // three levels.
            let depth = place.saturating_sub(11) as u32;
            self.mapped(block, depth, data, blocks)?;
        }
        Ok(())
    }

    fn mapped(&self, block: u32, depth: u32, data: bool, all: &mut Blocks) -> Result<(), ExtError> {
        let range = self.run(block.into(), 1)?;
        if depth == 0 {
            if data {
                all.data.push(range);
            }
            return self.spend(RANGE);
        }
        all.tree.push(range.clone());
        self.spend(RANGE)?;
        if depth == 1 && !data {
            return Ok(());
        }
        let bytes = self.read(range.start, self.head.block as usize)?;
        let numbers = bytes.chunks_exact(4).filter_map(|n| u32_at(n, 0));
        for block in numbers.filter(|block| *block != 0) {
            self.mapped(block, depth - 1, data, all)?;
        }
        Ok(())
    }

    /// A node of the tree: `above` is the depth of the one that led here.
    fn extents(
        &self,
        node: &[u8],
        above: Option<u16>,
        data: bool,
        all: &mut Blocks,
    ) -> Result<(), ExtError> {
        let wrong = || ExtError::Damaged("a tree of extents");
        let number = |at| u16_at(node, at).ok_or_else(wrong);
        let (magic, count, depth) = (number(0)?, number(2)?, number(6)?);
        let is_deeper = above.is_none_or(|above| depth.checked_add(1) == Some(above));
        if magic != EXTENTS_MAGIC || depth > DEEPEST || !is_deeper {
            return Err(wrong());
        }
        let entries = node.get(12..12 + 12 * usize::from(count));
        for entry in entries.ok_or_else(wrong)?.chunks_exact(12) {
            let low = |at| u32_at(entry, at).map(u64::from).ok_or_else(wrong);
            let high = |at| u16_at(entry, at).map(u64::from).ok_or_else(wrong);
            if depth > 0 {
                let range = self.run(high(8)? << 32 | low(4)?, 1)?;
                all.tree.push(range.clone());
                self.spend(RANGE)?;
                if depth > 1 || data {
                    let node = self.read(range.start, self.head.block as usize)?;
                    self.extents(&node, Some(depth), data, all)?;
                }
            } else if data {
                let length = match u16_at(entry, 4).ok_or_else(wrong)? {
                    0 => return Err(wrong()),
                    length if length > LONGEST_EXTENT => length - LONGEST_EXTENT,
                    length => length,
                };
                let first = high(6)? << 32 | low(8)?;
                all.data.push(self.run(first, length.into())?);
                self.spend(RANGE)?;
            }
        }
        Ok(())
    }
}
