//! Members put into the archives that the kernel unpacks.

use std::sync::Arc;

use bootlap_artefact::cpio;

use super::{Entry, Look, Member, What};
use crate::TargetError;

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

/// The archive for a kernel that holds its initramfs itself. It stands in for the
/// kernel's own small one, which has the console that the first program speaks on.
pub(crate) fn built_in(entries: &[Entry]) -> Result<Vec<u8>, TargetError> {
    const CONSOLE: &[u8] = b"dev/console";
    let has = |path: &[u8]| entries.iter().any(|e| e.path == path);
    let mut all = Vec::new();
    if !has(b"dev") {
        all.push(Entry {
            path: b"dev".to_vec(),
            what: What::Dir,
        });
    }
    all.extend_from_slice(entries);
    if !has(CONSOLE) {
        all.push(Entry {
            path: CONSOLE.to_vec(),
            what: What::Own(Member {
                mode: cpio::CHAR_DEVICE | 0o600,
                uid: 0,
                gid: 0,
                mtime: 0,
                rdev: (5, 1),
                link: None,
                data: Arc::from([]),
                early: false,
            }),
        });
    }
    let archives = archives(&all)?;
    Ok([archives.early, archives.rest].concat())
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
