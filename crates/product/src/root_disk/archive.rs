//! Files as a tar archive: all belong to root, and nothing has a time, so that the
//! archive depends on nothing but content.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use tar::{Builder, EntryType, Header};

use crate::initramfs::{Entry, Look};

/// The archive of `entries`, in their order, with the top in front.
pub(super) fn of(entries: &[Entry]) -> io::Result<Vec<u8>> {
    let mut builder = Builder::new(Vec::new());
    let mut header = header(EntryType::Directory, 0o755, 0);
    builder.append_data(&mut header, "./", io::empty())?;
    for entry in entries {
        let path = Path::new(OsStr::from_bytes(&entry.path));
        match entry.what.look() {
            Look::Dir => {
                let mut header = self::header(EntryType::Directory, 0o755, 0);
                builder.append_data(&mut header, path, io::empty())?;
            }
            Look::File { executable, bytes } => {
                let mode = if executable { 0o755 } else { 0o644 };
                let mut header = self::header(EntryType::Regular, mode, bytes.len() as u64);
                builder.append_data(&mut header, path, bytes)?;
            }
            Look::Link { to } => {
                let mut header = self::header(EntryType::Symlink, 0o777, 0);
                let to = Path::new(OsStr::from_bytes(to));
                builder.append_link(&mut header, path, to)?;
            }
            // Only images of other tools hold them.
            Look::Node => {}
        }
    }
    builder.into_inner()
}

fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header
}
