//! An initramfs that the user's own tools made, read so that it can be changed.
//!
//! The kernel takes several archives one after the other, compressed or not, and
//! later ones write over what earlier ones brought
//! (`Documentation/driver-api/early-userspace/buffer-format.rst`). Distributions
//! use that: microcode and ACPI tables come first, uncompressed, because the
//! kernel looks for them long before it can unpack anything.

use std::sync::Arc;

use bootlap_artefact::compress::Compression;
use bootlap_artefact::cpio;
use bootlap_artefact::kernel_image::UNPACK_LIMIT;

use super::{What, wrong};
use crate::TargetError;
use crate::part::Part;

/// Named pipe and socket, in the type bits of a mode.
const PIPE: u32 = 0o010_000;
const SOCKET: u32 = 0o140_000;

/// A member with all that the archive says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Type and permissions.
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// Seconds since 1970.
    pub(crate) mtime: u32,
    /// (major, minor) of a device.
    pub(crate) rdev: (u32, u32),
    /// Members with the same number are one file with several names.
    pub(crate) link: Option<u32>,
    /// What a file holds, where a link points to.
    pub(crate) data: Arc<[u8]>,
    /// Whether the kernel wants it before it unpacks anything.
    pub(crate) early: bool,
}

/// The members in the order in which the kernel sees them, with their paths.
pub(super) fn read(part: &Part) -> Result<Vec<(Vec<u8>, Member)>, TargetError> {
    let broken = |why: &dyn std::fmt::Display| TargetError::artefact(&part.origin, why);
    let mut members = Vec::new();
    let mut rest: &[u8] = &part.bytes;
    let mut links = 0;
    let mut unpacked = 0;
    while !rest.is_empty() {
        let at = part.bytes.len() - rest.len();
        let first = members.is_empty();
        if let Ok(archive) = cpio::read(rest) {
            add(&archive.entries, first, &mut links, &mut members).map_err(|e| broken(&e))?;
            rest = after_zeros(archive.rest);
            continue;
        }
        let compression = Compression::detect(rest);
        if compression == Compression::None {
            // Says what is wrong with it.
            let why = match cpio::read(rest) {
                Err(cpio::CpioError::NotCpio) if at > 0 => format!(
                    "what stands at byte {at} is neither an archive nor compressed; make the \
                     image again"
                ),
                Err(e) => e.to_string(),
                Ok(_) => String::new(),
            };
            return Err(broken(&why));
        }
        let left = UNPACK_LIMIT.saturating_sub(unpacked);
        let (inner, behind) = compression
            .decompress_first(rest, left)
            .map_err(|e| broken(&e))?;
        unpacked += inner.len();
        let archive = cpio::read(&inner).map_err(|e| broken(&e))?;
        if !archive.rest.is_empty() {
            return Err(broken(
                &"something that is no archive follows the archive in it; make the image again",
            ));
        }
        add(&archive.entries, false, &mut links, &mut members).map_err(|e| broken(&e))?;
        rest = after_zeros(behind);
    }
    match members.is_empty() {
        true => Err(broken(&"it is empty; make it again with `cpio -o -H newc`")),
        false => Ok(members),
    }
}

/// What an initramfs is compressed with, behind microcode and the like.
pub fn compression(image: &[u8]) -> Compression {
    let mut rest = image;
    while let Ok(archive) = cpio::read(rest) {
        rest = after_zeros(archive.rest);
        if rest.is_empty() {
            break;
        }
    }
    Compression::detect(rest)
}

fn after_zeros(data: &[u8]) -> &[u8] {
    let zeros = data.iter().take_while(|b| **b == 0).count();
    data.get(zeros..).unwrap_or_default()
}

fn add(
    entries: &[cpio::Entry<'_>],
    may_be_early: bool,
    links: &mut u32,
    members: &mut Vec<(Vec<u8>, Member)>,
) -> Result<(), TargetError> {
    // Names of one file share its contents, also in memory: there may be hundreds.
    let mut contents: Vec<(u32, Arc<[u8]>)> = Vec::new();
    for entry in entries {
        let path = place(&entry.name)?;
        if path.is_empty() {
            continue;
        }
        let data = match entry.link {
            Some(link) => match contents.last() {
                Some((of, data)) if *of == link => data.clone(),
                _ => {
                    let known = contents.iter().find(|(of, _)| *of == link);
                    let data = known.map_or_else(|| Arc::from(&*entry.data), |(_, d)| d.clone());
                    contents.push((link, data.clone()));
                    data
                }
            },
            None => Arc::from(&*entry.data),
        };
        let early = may_be_early && (path == b"kernel" || path.starts_with(b"kernel/"));
        let member = Member {
            mode: entry.mode,
            uid: entry.uid,
            gid: entry.gid,
            mtime: entry.mtime,
            rdev: entry.rdev,
            link: entry.link.map(|link| links.saturating_add(link)),
            data,
            early,
        };
        if member.kind().is_none() {
            return Err(wrong(format!(
                "/{} has the mode {:o}, which no file has; make the image again",
                entry.path(),
                entry.mode
            )));
        }
        members.push((path, member));
    }
    let groups = entries.iter().filter_map(|e| e.link).max();
    *links = groups.map_or(*links, |most| links.saturating_add(most).saturating_add(1));
    Ok(())
}

/// A member's path as the kernel understands it: `.`, `./etc` and `/etc` are
/// common.
fn place(name: &[u8]) -> Result<Vec<u8>, TargetError> {
    let parts = name.split(|b| *b == b'/');
    let parts: Vec<&[u8]> = parts.filter(|p| !p.is_empty() && *p != b".").collect();
    if parts.contains(&&b".."[..]) {
        return Err(wrong(format!(
            "the image holds {:?}, and .. leads out of it; make the image again",
            String::from_utf8_lossy(name)
        )));
    }
    Ok(parts.join(&b'/'))
}

/// What a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Dir,
    File,
    Link,
    Node,
}

impl Member {
    pub(crate) fn kind(&self) -> Option<Kind> {
        match self.mode & cpio::TYPE_MASK {
            cpio::DIRECTORY => Some(Kind::Dir),
            cpio::REGULAR => Some(Kind::File),
            cpio::SYMLINK => Some(Kind::Link),
            cpio::CHAR_DEVICE | cpio::BLOCK_DEVICE | PIPE | SOCKET => Some(Kind::Node),
            _ => None,
        }
    }

    /// `c 5 1`, as `mknod` wants it.
    pub fn node(&self) -> String {
        let (major, minor) = self.rdev;
        match self.mode & cpio::TYPE_MASK {
            cpio::CHAR_DEVICE => format!("c {major} {minor}"),
            cpio::BLOCK_DEVICE => format!("b {major} {minor}"),
            _ => "p".to_owned(),
        }
    }
}

/// Puts what the image holds under what was found: the latter replaces it, but a
/// folder keeps the mode and owner that the image gives it.
pub(super) fn put_under(part: &Part, found: &mut super::Found) -> Result<(), TargetError> {
    let mut own = super::Found::new();
    for (path, member) in read(part)? {
        own.insert(path, What::Own(member));
    }
    for (path, what) in own {
        match (found.get(&path), &what) {
            (None, _) => drop(found.insert(path, what)),
            (Some(What::Dir), What::Own(m)) if m.kind() == Some(Kind::Dir) => {
                found.insert(path, what);
            }
            // Files of a tree would go where nobody looks for them.
            (Some(What::Dir), What::Own(m)) if m.kind() == Some(Kind::Link) => {
                return Err(wrong(format!(
                    "/{} is a link to {} in the image, and a folder beside it; put what is in \
                     it into the folder that is meant",
                    String::from_utf8_lossy(&path),
                    String::from_utf8_lossy(&m.data)
                )));
            }
            _ => {}
        }
    }
    Ok(())
}
