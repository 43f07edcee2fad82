//! What the superblock says, and where inodes are.

use super::{ExtError, ReadAt, u16_at, u32_at};

const AT: u64 = 1024;
const LENGTH: usize = 1024;
const MAGIC: u16 = 0xef53;
const RECOVER: u32 = 0x4;
const BITS_64: u32 = 0x80;
/// Features that change nothing of what is read here: types of entries, recover,
/// extents, 64 bits, MMP, flexible groups, attributes in inodes, the checksums'
/// seed, large folders, names without case.
const HARMLESS: u32 =
    0x2 | RECOVER | 0x40 | BITS_64 | 0x100 | 0x200 | 0x400 | 0x2000 | 0x4000 | 0x2_0000;
const OTHERS: [(u32, &str); 5] = [
    (0x1, "compression"),
    (0x8, "a journal's device"),
    (0x10, "meta_bg"),
    (0x8000, "inline_data"),
    (0x1_0000, "encrypt"),
];

#[derive(Debug)]
pub(super) struct Superblock {
    /// Size of a block in bytes.
    pub(super) block: u64,
    /// How many blocks there are.
    pub(super) blocks: u64,
    pub(super) inode_size: usize,
    /// `f_fsid`: both halves of the UUID over each other.
    pub(super) id: u64,
    inodes: u32,
    inodes_per_group: u32,
    /// Where the descriptors of groups begin, and the size of each.
    groups_at: u64,
    group_size: u64,
}

pub(super) fn read(bytes: &dyn ReadAt) -> Result<Superblock, ExtError> {
    let mut head = vec![0; LENGTH];
    if bytes.read_at(AT, &mut head).is_err() || u16_at(&head, 56) != Some(MAGIC) {
        return Err(ExtError::OtherFormat);
    }
    superblock(&head).unwrap_or(Err(ExtError::Damaged("its superblock")))
}

fn superblock(head: &[u8]) -> Option<Result<Superblock, ExtError>> {
    let features = match u32_at(head, 76)? {
        0 => 0,
        _ => u32_at(head, 96)?,
    };
    if features & !HARMLESS != 0 {
        let named = OTHERS.into_iter().find(|(bit, _)| features & bit != 0);
        let name = named.map_or("a new one", |(_, name)| name);
        return Some(Err(ExtError::Feature(name)));
    }
    if features & RECOVER != 0 {
        return Some(Err(ExtError::Journal));
    }
    let block = 1024_u64 << Some(u32_at(head, 24)?).filter(|shift| *shift <= 6)?;
    let high = match features & BITS_64 {
        0 => 0,
        _ => u64::from(u32_at(head, 0x150)?),
    };
    let blocks = high << 32 | u64::from(u32_at(head, 4)?);
    let inode_size = match u32_at(head, 76)? {
        0 => 128,
        _ => usize::from(u16_at(head, 88)?),
    };
    let group_size = match (features & BITS_64, u16_at(head, 254)?) {
        (0, _) => 32,
        (_, size) => u64::from(size),
    };
    let inodes_per_group = u32_at(head, 40)?;
    let fits = (128..=4096).contains(&inode_size)
        && inode_size.is_power_of_two()
        && inodes_per_group > 0
        && (32..=1024).contains(&group_size)
        && blocks.checked_mul(block).is_some();
    let half = |at: usize| {
        let low = u64::from(u32_at(head, at)?);
        Some(u64::from(u32_at(head, at + 4)?) << 32 | low)
    };
    let first_block = u64::from(u32_at(head, 20)?);
    fits.then_some(Ok(Superblock {
        block,
        blocks,
        inode_size,
        id: half(104)? ^ half(112)?,
        inodes: u32_at(head, 0)?,
        inodes_per_group,
        groups_at: (first_block + 1) * block,
        group_size,
    }))
}

impl Superblock {
    /// Where inode `number` is.
    pub(super) fn inode_at(&self, bytes: &dyn ReadAt, number: u32) -> Result<u64, ExtError> {
        let wrong = ExtError::Damaged("an inode lies outside");
        let index = match number {
            0 => return Err(wrong),
            number if number > self.inodes => return Err(wrong),
            number => number - 1,
        };
        let group = u64::from(index / self.inodes_per_group);
        let mut descriptor = vec![0; self.group_size as usize];
        bytes.read_at(self.groups_at + group * self.group_size, &mut descriptor)?;
        let low = u32_at(&descriptor, 8).unwrap_or_default();
        let high = match self.group_size {
            64.. => u32_at(&descriptor, 0x28).unwrap_or_default(),
            _ => 0,
        };
        let table = u64::from(high) << 32 | u64::from(low);
        let within = u64::from(index % self.inodes_per_group) * self.inode_size as u64;
        let blocks = within / self.block;
        match table.checked_add(blocks).is_some_and(|at| at < self.blocks) {
            true => Ok(table * self.block + within),
            false => Err(wrong),
        }
    }
}
