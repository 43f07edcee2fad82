//! What is in a pack: `agent/src/preload/pack.h` says where.

mod fill;

pub use fill::{Use, fill};

use crate::bytes::{Order, c_str, u32_at, u64_at};

/// How a pack begins.
pub const MAGIC: &[u8] = b"bootpak\x01";
const HEAD: usize = 64;
const SYSTEM: usize = 16;
const FILE: usize = 32;
const EXTENT: usize = 20;
/// The checksum is of what lies after it.
const CRC_FROM: usize = 16;
const UNORDERED: u32 = 1;

/// The agent takes no more of each.
pub const LONGEST: usize = 16 << 20;
const MOST_SYSTEMS: usize = 16;
const MOST_FILES: usize = 1 << 15;
/// One extent has no more bytes.
pub const LONGEST_EXTENT: u64 = 1 << 30;

/// A file system, as `statfs` tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    /// `f_fsid`, its first half low; 0 is any.
    pub id: u64,
    /// `f_type`.
    pub kind: u32,
    /// Where it is mounted.
    pub place: Vec<u8>,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its inode; the device uses the file only as long as this, size and mtime
    /// are the same.
    pub inode: u64,
    /// Its size in bytes.
    pub size: u64,
    /// When it was changed, in ns since 1970.
    pub mtime_ns: u64,
    /// From the mount point on, without a slash in front; empty for the block
    /// device itself, which has the file system's metadata.
    pub path: Vec<u8>,
    /// Its place in [`Pack::systems`].
    pub system: usize,
}

/// Bytes of a file that were used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The first.
    pub start: u64,
    /// How many, at most 1 GiB.
    pub length: u32,
    /// Its place in [`Pack::files`].
    pub file: usize,
    /// From [`Pack::began_ns`] to its first use, µs.
    pub us: u32,
}

/// A pack that is whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pack {
    /// At most 16.
    pub systems: Vec<System>,
    /// At most 32768, in the order of their first use.
    pub files: Vec<File>,
    /// In the order of their first use.
    pub extents: Vec<Extent>,
    /// Events that the kernel lost.
    pub lost: u32,
    /// Files whose path was not found.
    pub unnamed: u32,
    /// The order says nothing: what was cached at one moment.
    pub unordered: bool,
    /// The pages of the machine that it was recorded on, bytes.
    pub page: u32,
    /// When it begins, in ns of `CLOCK_MONOTONIC`.
    pub began_ns: u64,
    /// When it was made, in ns since 1970.
    pub made_ns: u64,
}

/// Why something cannot be a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackError {
    /// More than the device takes.
    #[error("this is more than the device takes: 32768 files, 16 file systems, 16 MiB")]
    TooLarge,
    /// A number or a path that the device would refuse.
    #[error("{0} would be refused by the device")]
    Refused(&'static str),
}

impl Pack {
    /// Reads it; `None` if it is damaged, or leads somewhere else than to itself.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let u32_of = |at: usize| u32_at(bytes, at, Order::Little);
        let u64_of = |at: usize| u64_at(bytes, at, Order::Little);
        if !bytes.starts_with(MAGIC)
            || u32_of(8)? as usize != bytes.len()
            || u32_of(12)? != crc(bytes.get(CRC_FROM..)?)
        {
            return None;
        }
        let [systems, files, extents] = [u32_of(16)?, u32_of(20)?, u32_of(24)?].map(|n| n as usize);
        let files_at = HEAD.checked_add(SYSTEM.checked_mul(systems)?)?;
        let extents_at = files_at.checked_add(FILE.checked_mul(files)?)?;
        let strings_at = extents_at.checked_add(EXTENT.checked_mul(extents)?)?;
        // Each must lie in front of the strings: a wrong count ends here.
        if strings_at > bytes.len() {
            return None;
        }
        let text = |at: usize| {
            let text = c_str(bytes, strings_at.checked_add(u32_of(at)? as usize)?)?;
            Some(text.to_vec())
        };
        let system = |at: usize| {
            let place = text(at + 12).filter(|p| p.starts_with(b"/"))?;
            let (id, kind) = (u64_of(at)?, u32_of(at + 8)?);
            Some(System { id, kind, place })
        };
        let file = |at: usize| {
            let system = u32_of(at + 28)? as usize;
            let path = text(at + 24).filter(|path| stays_inside(path))?;
            (system < systems).then_some(File {
                inode: u64_of(at)?,
                size: u64_of(at + 8)?,
                mtime_ns: u64_of(at + 16)?,
                path,
                system,
            })
        };
        let extent = |at: usize| {
            let extent = Extent {
                start: u64_of(at)?,
                length: u32_of(at + 8)?,
                file: u32_of(at + 12)? as usize,
                us: u32_of(at + 16)?,
            };
            (extent.file < files && is_extent(&extent)).then_some(extent)
        };
        let began_ns = u64_of(48)?;
        i64::try_from(began_ns).ok()?;
        Some(Self {
            systems: rows(HEAD..files_at, SYSTEM, system)?,
            files: rows(files_at..extents_at, FILE, file)?,
            extents: rows(extents_at..strings_at, EXTENT, extent)?,
            lost: u32_of(36)?,
            unnamed: u32_of(40)?,
            unordered: u32_of(32)? & UNORDERED != 0,
            page: u32_of(44)?,
            began_ns,
            made_ns: u64_of(56)?,
        })
    }

    /// Where in a pack's bytes an extent is.
    pub fn extent_at(&self, index: usize) -> usize {
        HEAD + SYSTEM * self.systems.len() + FILE * self.files.len() + EXTENT * index
    }

    /// Its bytes.
    ///
    /// # Errors
    /// If the device would not take it.
    pub fn to_bytes(&self) -> Result<Vec<u8>, PackError> {
        self.check()?;
        let mut strings = vec![0];
        let mut string = |text: &[u8]| {
            // The empty one is at the beginning.
            let at = if text.is_empty() { 0 } else { strings.len() };
            if at > 0 {
                strings.extend_from_slice(text);
                strings.push(0);
            }
            at as u32
        };
        let mut rows = Vec::new();
        for system in &self.systems {
            rows.extend_from_slice(&system.id.to_le_bytes());
            rows.extend_from_slice(&system.kind.to_le_bytes());
            rows.extend_from_slice(&string(&system.place).to_le_bytes());
        }
        for file in &self.files {
            for number in [file.inode, file.size, file.mtime_ns] {
                rows.extend_from_slice(&number.to_le_bytes());
            }
            rows.extend_from_slice(&string(&file.path).to_le_bytes());
            rows.extend_from_slice(&(file.system as u32).to_le_bytes());
        }
        for extent in &self.extents {
            rows.extend_from_slice(&extent.start.to_le_bytes());
            for number in [extent.length, extent.file as u32, extent.us] {
                rows.extend_from_slice(&number.to_le_bytes());
            }
        }
        let length = HEAD + rows.len() + strings.len();
        if length > LONGEST {
            return Err(PackError::TooLarge);
        }
        let mut behind_crc = Vec::with_capacity(length - CRC_FROM);
        for number in [
            self.systems.len() as u32,
            self.files.len() as u32,
            self.extents.len() as u32,
            strings.len() as u32,
            u32::from(self.unordered) * UNORDERED,
            self.lost,
            self.unnamed,
            self.page,
        ] {
            behind_crc.extend_from_slice(&number.to_le_bytes());
        }
        behind_crc.extend_from_slice(&self.began_ns.to_le_bytes());
        behind_crc.extend_from_slice(&self.made_ns.to_le_bytes());
        behind_crc.extend_from_slice(&rows);
        behind_crc.extend_from_slice(&strings);
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&(length as u32).to_le_bytes());
        bytes.extend_from_slice(&crc(&behind_crc).to_le_bytes());
        bytes.extend_from_slice(&behind_crc);
        Ok(bytes)
    }

    /// What the device checks, too.
    fn check(&self) -> Result<(), PackError> {
        if self.systems.len() > MOST_SYSTEMS
            || self.files.len() > MOST_FILES
            || self.extents.len() > LONGEST / EXTENT
        {
            return Err(PackError::TooLarge);
        }
        let has = |what, holds: bool| match holds {
            true => Ok(()),
            false => Err(PackError::Refused(what)),
        };
        for system in &self.systems {
            let place = &system.place;
            has(
                "where it is mounted",
                place.starts_with(b"/") && !place.contains(&0),
            )?;
        }
        for file in &self.files {
            let path = &file.path;
            has("a path", stays_inside(path) && !path.contains(&0))?;
            has("a file system", file.system < self.systems.len())?;
        }
        for extent in &self.extents {
            let leads = extent.file < self.files.len() && is_extent(extent);
            has("an extent", leads)?;
        }
        has("its beginning", i64::try_from(self.began_ns).is_ok())
    }
}

/// All rows of a table, or `None` if one is wrong.
fn rows<T>(
    table: std::ops::Range<usize>,
    size: usize,
    row: impl Fn(usize) -> Option<T>,
) -> Option<Vec<T>> {
    table.step_by(size).map(row).collect()
}

fn is_extent(extent: &Extent) -> bool {
    u64::from(extent.length) <= LONGEST_EXTENT && extent.start <= i64::MAX as u64 - LONGEST_EXTENT
}

/// From the mount point on, and not out of it again.
fn stays_inside(path: &[u8]) -> bool {
    !path.starts_with(b"/") && path.split(|b| *b == b'/').all(|part| part != b"..")
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
    use proptest::prelude::*;

    use super::*;

    /// What the agent's own tests make.
    const GOLDEN: &[u8] = include_bytes!("../../../../agent/tests/corpus/pack/golden");

    #[test]
    fn what_the_agent_writes() {
        let pack = Pack::read(GOLDEN).unwrap();
        assert_eq!((pack.lost, pack.unnamed, pack.unordered), (3, 1, false));
        assert_eq!((pack.began_ns, pack.page), (5_000_000_000, 4096));
        let all: Vec<_> = pack.extents.iter().map(|e| (e.us, e.length)).collect();
        assert_eq!(all, [(0, 4096), (100, 300), (200, 8192), (400, 1696)]);
        let paths: Vec<&[u8]> = pack.files.iter().map(|f| &f.path[..]).collect();
        assert_eq!(paths, [&b""[..], b"etc/app.conf", b"usr/bin/app"]);
        assert_eq!((pack.files[2].inode, pack.files[2].size), (12, 100_000));
        assert_eq!(pack.files[2].mtime_ns, 12 * 1_000_000_007);
        assert_eq!(pack.systems[0].kind, 0xef53);
    }

    /// The agent keeps its strings in another order; all else is the same bytes.
    #[test]
    fn written_as_the_agent_writes() {
        let bytes = Pack::read(GOLDEN).unwrap().to_bytes().unwrap();
        assert_eq!(bytes.len(), GOLDEN.len());
        assert_eq!(bytes[16..HEAD], GOLDEN[16..HEAD]);
        assert_eq!(Pack::read(&bytes), Pack::read(GOLDEN));
    }

    #[test]
    fn damaged_ones_are_told() {
        assert_eq!(crc(b"123456789"), 0xcbf4_3926);
        for len in 0..GOLDEN.len() {
            assert_eq!(Pack::read(&GOLDEN[..len]), None);
        }
        for at in 0..GOLDEN.len() {
            let mut bytes = GOLDEN.to_vec();
            bytes[at] ^= 0x10;
            assert_eq!(Pack::read(&bytes), None);
        }
    }

    /// What is read in spite of a strange number can be written again.
    #[test]
    fn numbers_that_lead_nowhere_are_no_panic() {
        for at in (16..GOLDEN.len() - 4).step_by(4) {
            let mut bytes = GOLDEN.to_vec();
            bytes[at..at + 4].fill(0xff);
            let crc = crc(&bytes[CRC_FROM..]).to_le_bytes();
            bytes[12..16].copy_from_slice(&crc);
            if let Some(pack) = Pack::read(&bytes) {
                let again = pack.to_bytes().unwrap();
                assert_eq!(Pack::read(&again), Some(pack), "at {at}");
            }
        }
    }

    #[test]
    fn what_the_device_refuses_is_not_written() {
        let golden = Pack::read(GOLDEN).unwrap();
        let refused = |change: &dyn Fn(&mut Pack)| {
            let mut pack = golden.clone();
            change(&mut pack);
            pack.to_bytes().unwrap_err()
        };
        refused(&|p| p.systems[0].place = b"mnt".to_vec());
        refused(&|p| p.files[1].path = b"a/../b".to_vec());
        refused(&|p| p.files[1].path = b"a\0b".to_vec());
        refused(&|p| p.files[1].system = 1);
        refused(&|p| p.extents[0].file = 3);
        refused(&|p| p.extents[0].start = u64::MAX);
        refused(&|p| p.extents[0].length = u32::MAX);
        let many = refused(&|p| p.files = vec![p.files[1].clone(); MOST_FILES + 1]);
        assert_eq!(many, PackError::TooLarge);
        let long = refused(&|p| p.files[1].path = vec![b'x'; LONGEST]);
        assert_eq!(long, PackError::TooLarge);
    }

    prop_compose! {
        fn a_pack()((systems, files) in (1..4_usize, 1..20_usize))(
            systems in prop::collection::vec((any::<u64>(), any::<u32>(), "/[a-z ]{0,9}"), systems),
            files in prop::collection::vec(
                (any::<u64>(), any::<u64>(), any::<u64>(), "[a-zé\n]{0,9}(/[a-z .]{1,3}x)?", 0..systems),
                files,
            ),
            extents in prop::collection::vec(
                (0..i64::MAX as u64 - LONGEST_EXTENT, 0..=LONGEST_EXTENT as u32, 0..files, any::<u32>()),
                0..30,
            ),
            numbers in any::<[u32; 3]>(),
            unordered in any::<bool>(),
            times in (0..i64::MAX as u64, any::<u64>()),
        ) -> Pack {
            let path = |path: String| path.trim_start_matches('/').as_bytes().to_vec();
            Pack {
                systems: systems.into_iter().map(|(id, kind, place)| System {
                    id, kind, place: place.into_bytes(),
                }).collect(),
                files: files.into_iter().map(|(inode, size, mtime_ns, p, system)| File {
                    inode, size, mtime_ns, path: path(p), system,
                }).collect(),
                extents: extents.into_iter().map(|(start, length, file, us)| Extent {
                    start, length, file, us,
                }).collect(),
                lost: numbers[0],
                unnamed: numbers[1],
                page: numbers[2],
                unordered,
                began_ns: times.0,
                made_ns: times.1,
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(pack in a_pack()) {
            let bytes = pack.to_bytes().unwrap();
            prop_assert_eq!(Pack::read(&bytes), Some(pack));
        }
    }
}
