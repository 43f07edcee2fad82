//! Members put into the archives that the kernel unpacks.

use super::{Entry, Look, What};
use crate::TargetError;
use crate::artefact::cpio;

/// What the kernel must find uncompressed before everything else, which may be
/// nothing, and everything else.
pub(crate) struct Archives {
    pub(crate) early: Vec<u8>,
    pub(crate) rest: Vec<u8>,
}

/// The archives that hold `entries`.
pub(crate) fn archives(entries: &[Entry]) -> Result<Archives, TargetError> {
    let some = |early: bool| -> Vec<cpio::Entry<'_>> {
        let some = entries.iter().filter(|e| e.what.is_early() == early);
        some.map(member).collect()
    };
    let write = |members: &[cpio::Entry<'_>]| {
        cpio::write(members).map_err(|e| TargetError::artefact("initramfs", e))
    };
    let early = some(true);
    Ok(Archives {
        early: if early.is_empty() {
            Vec::new()
        } else {
            write(&early)?
        },
        rest: write(&some(false))?,
    })
}

fn member(entry: &Entry) -> cpio::Entry<'_> {
    let path = entry.path.as_slice();
    if let What::Own(own) = &entry.what {
        return cpio::Entry {
            uid: own.uid,
            gid: own.gid,
            mtime: own.mtime,
            rdev: own.rdev,
            link: own.link,
            ..cpio::Entry::new(path, own.mode, &*own.data)
        };
    }
    let (mode, data) = match entry.what.look() {
        Look::Dir | Look::Node => (cpio::DIRECTORY | 0o755, &[][..]),
        Look::Link { to } => (cpio::SYMLINK | 0o777, to),
        Look::File { executable, bytes } => {
            let mode = if executable { 0o755 } else { 0o644 };
            (cpio::REGULAR | mode, bytes)
        }
    };
    cpio::Entry::new(path, mode, data)
}
