//! The newc cpio archive, which is what an initramfs is.
//!
//! Format: Linux's `Documentation/driver-api/early-userspace/buffer-format.rst`. An entry is a
//! header of 110 ASCII characters, the name and the data, each padded to 4 bytes; the entry
//! `TRAILER!!!` ends an archive. The kernel unpacks several archives one after the other, with
//! zeros between them, and a later one may be compressed: distributions put microcode first,
//! uncompressed, and the rest after it.
//!
//! Written here: what `cpio -o -H newc --reproducible` writes, inode numbers counted from 0 and
//! device number 0, so that the same entries give the same bytes. Hard links are kept, as an initramfs with hundreds of links to busybox needs it.

use std::borrow::Cow;
use std::collections::HashMap;

/// The file type bits of a mode.
pub const TYPE_MASK: u32 = 0o170_000;
/// A regular file.
pub const REGULAR: u32 = 0o100_000;
/// A directory.
pub const DIRECTORY: u32 = 0o040_000;
/// A symbolic link; its target is the data.
pub const SYMLINK: u32 = 0o120_000;
/// A character device.
pub const CHAR_DEVICE: u32 = 0o020_000;
/// A block device.
pub const BLOCK_DEVICE: u32 = 0o060_000;

const HEADER_BYTES: usize = 110;
const TRAILER: &[u8] = b"TRAILER!!!";

/// One file of an archive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Path from the root, without a leading slash, such as `bin/sh`.
    pub name: Cow<'a, [u8]>,
    /// Type and permissions, as in `stat`.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Seconds since 1970.
    pub mtime: u32,
    /// (major, minor) of a device, else zeros.
    pub rdev: (u32, u32),
    /// Entries with the same number are one file with several names (hard links).
    pub link: Option<u32>,
    /// Contents of a file, target of a symbolic link.
    pub data: Cow<'a, [u8]>,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archive<'a> {
    /// The entries of all uncompressed archives, in order.
    pub entries: Vec<Entry<'a>>,
    /// What follows them and is no cpio archive, such as a compressed one; zeros are not counted.
    pub rest: &'a [u8],
}

/// What is wrong with an archive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CpioError {
    /// It does not start like one.
    #[error(
        "not a newc cpio archive (no 070701 at the start); decompress it first or make it with `cpio -H newc`"
    )]
    NotCpio,
    /// It ends in the middle of an entry or without a trailer.
    #[error("cpio archive is cut short in the entry at byte {0}; copy all of it")]
    Cut(usize),
    /// An entry's header makes no sense.
    #[error("cpio archive is damaged in the header at byte {0}; make it again")]
    Damaged(usize),
    /// A name or size that the format cannot hold.
    #[error(
        "cpio cannot hold `{0}`; a name needs 1 to 4095 bytes without NUL, data less than 4 GiB"
    )]
    Entry(String),
}

impl<'a> Entry<'a> {
    /// An entry owned by root. `mode` is type and permissions, such as `REGULAR | 0o755`.
    pub fn new(
        name: impl Into<Cow<'a, [u8]>>,
        mode: u32,
        data: impl Into<Cow<'a, [u8]>>,
    ) -> Entry<'a> {
        Entry {
            name: name.into(),
            mode,
            data: data.into(),
            ..Entry::default()
        }
    }

    /// The name, bytes that are not UTF-8 replaced.
    pub fn path(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.name)
    }
}

/// The entries of all the archives that `data` starts with, and what follows them.
///
/// # Errors
/// [`CpioError::NotCpio`], [`CpioError::Cut`] or [`CpioError::Damaged`].
pub fn read(data: &[u8]) -> Result<Archive<'_>, CpioError> {
    if !is_cpio(data) {
        return Err(CpioError::NotCpio);
    }
    let mut entries = Vec::new();
    let mut links = Links::default();
    let mut at = 0;
    // The kernel, too, takes an archive that is not aligned for something else.
    while at % 4 == 0 && is_cpio(&data[at..]) {
        let first = entries.len();
        at = read_one(data, at, &mut entries, &mut links)?;
        links.finish(&mut entries[first..]);
        at += data[at..].iter().take_while(|&&byte| byte == 0).count();
    }
    Ok(Archive {
        entries,
        rest: &data[at..],
    })
}

fn is_cpio(data: &[u8]) -> bool {
    data.starts_with(b"070701") || data.starts_with(b"070702")
}

/// Reads one archive at `at`; returns where it ends.
fn read_one<'a>(
    data: &'a [u8],
    mut at: usize,
    entries: &mut Vec<Entry<'a>>,
    links: &mut Links<'a>,
) -> Result<usize, CpioError> {
    loop {
        let start = at;
        if start == data.len() {
            return Err(CpioError::Cut(start));
        }
        if !is_cpio(&data[start..]) {
            return Err(CpioError::Damaged(start));
        }
        let header = data
            .get(start..start + HEADER_BYTES)
            .ok_or(CpioError::Cut(start))?;
        let field = |index: usize| {
            let digits = &header[6 + 8 * index..14 + 8 * index];
            let all_hex = digits.iter().all(u8::is_ascii_hexdigit);
            let text = str::from_utf8(digits).ok().filter(|_| all_hex);
            text.and_then(|text| u32::from_str_radix(text, 16).ok())
                .ok_or(CpioError::Damaged(start))
        };
        let (size, name_size) = (field(6)? as usize, field(11)? as usize);
        let mut slice = |size: usize| {
            let slice = data
                .get(at..at.saturating_add(size))
                .ok_or(CpioError::Cut(start))?;
            at = (at + size).next_multiple_of(4).min(data.len());
            Ok::<_, CpioError>(slice)
        };
        // The header is not padded: with the name it is.
        let name = &slice(HEADER_BYTES + name_size)?[HEADER_BYTES..];
        let name = name.strip_suffix(b"\0").ok_or(CpioError::Damaged(start))?;
        let contents = slice(size)?;
        if name == TRAILER {
            return Ok(at);
        }
        let mut entry = Entry {
            name: name.into(),
            mode: field(1)?,
            uid: field(2)?,
            gid: field(3)?,
            mtime: field(5)?,
            rdev: (field(9)?, field(10)?),
            link: None,
            data: contents.into(),
        };
        if field(4)? > 1 && entry.mode & TYPE_MASK != DIRECTORY {
            let inode = (field(0)?, field(7)?, field(8)?);
            entry.link = Some(links.group(inode, contents));
        }
        entries.push(entry);
    }
}

/// Inodes that several names of an archive share.
#[derive(Default)]
struct Links<'a> {
    /// Group by (inode, device major, device minor), of this archive only.
    groups: HashMap<(u32, u32, u32), u32>,
    /// By group, how many names it has and what it contains.
    all: Vec<(u32, &'a [u8])>,
}

impl<'a> Links<'a> {
    /// Counts one more name of `inode`. Only one name has the contents; GNU cpio takes the last.
    fn group(&mut self, inode: (u32, u32, u32), contents: &'a [u8]) -> u32 {
        let group = *self.groups.entry(inode).or_insert(self.all.len() as u32);
        match self.all.get_mut(group as usize) {
            Some((names, known)) => {
                *names += 1;
                *known = if contents.is_empty() { known } else { contents };
            }
            None => self.all.push((1, contents)),
        }
        group
    }

    /// Gives all names of a group its contents; a group of one name is none.
    fn finish(&mut self, entries: &mut [Entry<'a>]) {
        self.groups.clear();
        for entry in entries {
            let group = entry.link.and_then(|group| self.all.get(group as usize));
            match group {
                Some((2.., contents)) => entry.data = (*contents).into(),
                _ => entry.link = None,
            }
        }
    }
}

/// One archive of `entries`, its length a multiple of 512 bytes as GNU cpio has it.
///
/// # Errors
/// [`CpioError::Entry`] if a name or size cannot be stored.
pub fn write(entries: &[Entry<'_>]) -> Result<Vec<u8>, CpioError> {
    let mut groups: HashMap<u32, Group> = HashMap::new();
    for group in entries.iter().filter_map(|entry| entry.link) {
        groups.entry(group).or_default().names += 1;
    }
    let mut out = Vec::new();
    let mut inodes = 0..;
    for entry in entries {
        let mut next_inode = || inodes.next().unwrap_or(u32::MAX);
        let (inode, links, data) = match entry.link.and_then(|group| groups.get_mut(&group)) {
            Some(group) => {
                group.written += 1;
                let inode = *group.inode.get_or_insert_with(next_inode);
                // The kernel writes the data of every name to the same file: once is enough.
                let last = group.written == group.names;
                (inode, group.names, if last { &*entry.data } else { &[] })
            }
            None if entry.mode & TYPE_MASK == DIRECTORY => (next_inode(), 2, &*entry.data),
            None => (next_inode(), 1, &*entry.data),
        };
        append(&mut out, entry, inode, links, data)?;
    }
    let trailer = Entry::new(TRAILER, 0, &b""[..]);
    append(&mut out, &trailer, 0, 1, &[])?;
    out.resize(out.len().next_multiple_of(512), 0);
    Ok(out)
}

/// Names that are one file.
#[derive(Default)]
struct Group {
    names: u32,
    written: u32,
    inode: Option<u32>,
}

fn append(
    out: &mut Vec<u8>,
    entry: &Entry<'_>,
    inode: u32,
    links: u32,
    data: &[u8],
) -> Result<(), CpioError> {
    let name = &*entry.name;
    // The kernel skips longer names (PATH_MAX) without a word.
    let good_name = (1..4096).contains(&name.len()) && !name.contains(&0);
    let size = u32::try_from(data.len()).ok().filter(|_| good_name);
    let size = size.ok_or_else(|| CpioError::Entry(entry.path().into_owned()))?;
    let (major, minor) = entry.rdev;
    let name_size = name.len() as u32 + 1;
    out.extend_from_slice(b"070701");
    for field in [
        inode,
        entry.mode,
        entry.uid,
        entry.gid,
        links,
        entry.mtime,
        size,
        0,
        0,
        major,
        minor,
        name_size,
        0,
    ] {
        out.extend_from_slice(format!("{field:08X}").as_bytes());
    }
    out.extend_from_slice(name);
    out.push(0);
    out.resize(out.len().next_multiple_of(4), 0);
    out.extend_from_slice(data);
    out.resize(out.len().next_multiple_of(4), 0);
    Ok(())
}

#[cfg(test)]
mod tests;
