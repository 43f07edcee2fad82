//! Archives: tar and zip.

use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::rc::Rc;

use super::guard::Guard;
use super::{Kind, Member};

/// A zip's directory is at its end, so it is read whole.
const MAX_ZIP: u64 = 1 << 30;

/// What the headers between two members of a tar may take.
const MAX_TAR_HEADERS: u64 = 1 << 20;

/// An archive's format.
#[derive(Clone, Copy)]
pub(super) enum Archive {
    Tar,
    Zip,
}

impl Archive {
    /// Takes the files of an archive that is called `outer`.
    pub(super) fn take(
        self,
        guard: &Guard,
        bytes: impl Read,
        outer: &str,
        depth: usize,
        all: &mut Vec<Member>,
    ) {
        match self {
            Archive::Tar => tar(guard, bytes, outer, depth, all),
            Archive::Zip => zip(guard, bytes, outer, depth, all),
        }
    }
}

fn tar(guard: &Guard, bytes: impl Read, outer: &str, depth: usize, all: &mut Vec<Member>) {
    let room = Rc::new(Cell::new(MAX_TAR_HEADERS));
    let mut archive = tar::Archive::new(Headers {
        inner: bytes,
        room: Rc::clone(&room),
    });
    let Ok(entries) = archive.entries() else {
        return guard.damaged();
    };
    for entry in entries {
        let Ok(mut entry) = entry else {
            return guard.damaged();
        };
        // What is left out is passed over on the way to the next header.
        let passed_over = entry.header().entry_size().unwrap_or(0);
        room.set(MAX_TAR_HEADERS.saturating_add(passed_over));
        if entry.header().entry_type().is_dir() {
            continue;
        }
        if !entry.header().entry_type().is_file() {
            guard.trouble(
                "not-a-file",
                "links and devices in the archive were left out: only files can be evidence",
            );
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        room.set(u64::MAX);
        if !member(guard, &mut entry, &name, outer, depth, all) {
            return;
        }
        room.set(MAX_TAR_HEADERS);
    }
}

/// Stops where there is more between two members than names and attributes
/// take: an extended header is kept in memory, whatever size it states.
struct Headers<R> {
    inner: R,
    room: Rc<Cell<u64>>,
}

impl<R: Read> Read for Headers<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        let room = self.room.get().checked_sub(n as u64);
        self.room.set(room.ok_or(io::ErrorKind::FileTooLarge)?);
        Ok(n)
    }
}

fn zip(guard: &Guard, bytes: impl Read, outer: &str, depth: usize, all: &mut Vec<Member>) {
    let mut packed = Vec::new();
    if bytes.take(MAX_ZIP).read_to_end(&mut packed).is_err() {
        guard.damaged();
    }
    let mut room = packed.len() as u64;
    let Ok(mut archive) = zip::ZipArchive::new(Cursor::new(packed)) else {
        return guard.damaged();
    };
    for i in 0..archive.len() {
        let Ok(mut entry) = archive.by_index(i) else {
            guard.trouble(
                "zip-member-unreadable",
                "files of the zip that are encrypted or packed in an unusual way were left out: pack it again with plain `zip`",
            );
            continue;
        };
        if entry.is_dir() {
            continue;
        }
        // Members that lie over each other are no files that somebody packed.
        let Some(rest) = room.checked_sub(entry.compressed_size()) else {
            return guard.damaged();
        };
        room = rest;
        let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
        if !member(guard, &mut entry, &name, outer, depth, all) {
            return;
        }
    }
}

/// Takes one file, looking into it if it is an archive itself; `false` if no
/// more fit.
fn member(
    guard: &Guard,
    bytes: &mut dyn Read,
    name: &str,
    outer: &str,
    depth: usize,
    all: &mut Vec<Member>,
) -> bool {
    if !guard.another_member() {
        return false;
    }
    let Some(bytes) = guard.read_member(bytes) else {
        return false;
    };
    let name = joined(outer, name);
    unpacked(guard, bytes, name, depth, all)
}

/// Adds what `bytes` are, once all packing is off.
fn unpacked(
    guard: &Guard,
    bytes: Vec<u8>,
    name: String,
    depth: usize,
    all: &mut Vec<Member>,
) -> bool {
    let kind = Kind::of(&bytes);
    if matches!(kind, Kind::Plain) {
        all.push(Member { name, bytes });
        return true;
    }
    if depth + 1 >= guard.limits().nesting {
        guard.trouble(
            "nested-too-deeply",
            "archives in archives in archives were left out: unpack them and give the files",
        );
        return true;
    }
    let stream = Cursor::new(bytes);
    match kind {
        Kind::Archive(archive) => archive.take(guard, stream, &name, depth + 1, all),
        Kind::Packed(how) => {
            let mut stream = how.unpack(guard, Box::new(stream));
            return again(guard, &mut stream, name, depth, all);
        }
        Kind::Disguised(how) => {
            let mut stream = how.undo(Box::new(stream));
            return again(guard, &mut stream, name, depth, all);
        }
        Kind::Plain => {}
    }
    true
}

/// Adds what comes out of a stream that was one thing more.
fn again(
    guard: &Guard,
    stream: &mut dyn Read,
    name: String,
    depth: usize,
    all: &mut Vec<Member>,
) -> bool {
    match guard.read_member(stream) {
        Some(bytes) => unpacked(guard, bytes, name, depth + 1, all),
        None => false,
    }
}

/// A label: the member's path without what only makes sense to a file system
/// or a terminal.
fn joined(outer: &str, name: &str) -> String {
    let name = name.replace(char::is_control, "\u{fffd}");
    let parts = name.split(['/', '\\']);
    let parts = parts.filter(|p| !p.is_empty() && *p != "." && *p != "..");
    let outer = Some(outer).filter(|o| !o.is_empty());
    let all: Vec<&str> = outer.into_iter().chain(parts).collect();
    all.join("/")
}
