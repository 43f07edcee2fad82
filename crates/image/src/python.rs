//! Python's compiled modules, and which of them Python checks against their source at each start.
//!
//! A `.pyc` begins with the interpreter's number, and flags (PEP 552). Flags 0: it is used if the
//! source has the time and the size that follow, which Python asks the file system for. Flags 3:
//! it is used if the source has the hash that follows, so Python reads the source and hashes it.
//! Flags 1: it is used. Where `SOURCE_DATE_EPOCH` is set, as in builds that are to be
//! reproducible, `py_compile` and `compileall` write flags 3.

use std::hash::Hasher;
use std::ops::Range;

use siphasher::sip::{SipHasher13, SipHasher24};

use crate::volume::Files;
use crate::{Found, Patch};

/// Folders that modules are looked for in, besides those of the interpreters below `LIBRARIES`.
const APPLICATIONS: [&str; 4] = ["app", "home", "opt", "srv"];
/// What has a folder for each version of the interpreter.
const LIBRARIES: [&str; 3] = ["usr/lib", "usr/lib64", "usr/local/lib"];
/// Folders below each other; links that lead in a circle end here, too.
const DEPTH: usize = 12;
/// Folders of a root that are looked through; no system has as many.
const MOST_FOLDERS: usize = 1 << 14;
/// No module's source is longer.
const MOST_SOURCE: u64 = 1 << 22;
/// Bytes of all sources of a root; no system has as many.
const MOST_SOURCES: u64 = 1 << 28;

const USED: u8 = 1;
const USED_IF_EQUAL: u8 = 3;

/// A module that Python checks by reading its source, which fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Where on the image the byte of its flags is.
    pub flags_at: u64,
    /// Where its source is.
    pub source: Vec<Range<u64>>,
}

impl Checked {
    /// What makes Python use the module without looking at the source's content.
    pub fn unchecked(&self) -> Patch {
        Patch {
            at: self.flags_at,
            bytes: vec![USED],
        }
    }
}

impl Found {
    /// All modules of the disk's roots that are checked and fit. Those that do not are compiled
    /// again at each start, from another source, and are left alone; so are those of file systems
    /// on which they are nowhere as they are.
    pub fn checked_modules(&self) -> Vec<Checked> {
        let mut volumes: Vec<usize> = self.systems.iter().map(|system| system.volume).collect();
        volumes.sort_unstable();
        volumes.dedup();
        let all = volumes.into_iter().filter_map(|volume| {
            let start = self.table.partitions.get(volume)?.start;
            Some(checked(self.files(volume)?, start))
        });
        all.flatten().collect()
    }
}

fn checked(files: &dyn Files, start: u64) -> Vec<Checked> {
    let mut folders: Vec<(String, usize)> = Vec::new();
    for library in LIBRARIES {
        let names = files.list(library).unwrap_or_default();
        let python = names.iter().filter(|name| name.starts_with("python"));
        folders.extend(python.map(|name| (format!("{library}/{name}"), DEPTH)));
    }
    folders.extend(APPLICATIONS.map(|folder| (folder.to_owned(), DEPTH)));
    let mut found = Vec::new();
    let mut room = MOST_SOURCES;
    let mut seen = 0;
    while let Some((folder, depth)) = folders.pop() {
        seen += 1;
        if seen > MOST_FOLDERS {
            break;
        }
        // What has no ending may be a file as well.
        let Ok(names) = files.list(&folder) else {
            continue;
        };
        for name in names {
            let path = format!("{folder}/{name}");
            if name == "__pycache__" {
                let modules = files.ending(&path, ".pyc");
                let all = modules.iter().filter_map(|module| {
                    let source = source(&folder, module)?;
                    look(files, start, module, &source, &mut room)
                });
                found.extend(all);
            } else if depth > 0 && !name.contains('.') && files.link(&path).is_none() {
                folders.push((path, depth - 1));
            }
        }
    }
    found.sort_by_key(|module| module.flags_at);
    found
}

/// The source of `FOLDER/__pycache__/NAME.cpython-311.opt-1.pyc`.
fn source(folder: &str, module: &str) -> Option<String> {
    let (name, _) = module.rsplit('/').next()?.split_once(".cpython-")?;
    Some(format!("{folder}/{name}.py"))
}

/// A module that is checked and fits; `room` is how much of sources may be read yet.
fn look(
    files: &dyn Files,
    start: u64,
    module: &str,
    source: &str,
    room: &mut u64,
) -> Option<Checked> {
    let head = files.read(module, 16).ok()?;
    let magic: [u8; 4] = head.get(..4)?.try_into().ok()?;
    let hash = u64::from_le_bytes(head.get(8..16)?.try_into().ok()?);
    if !magic.ends_with(b"\r\n") || head[4..8] != [USED_IF_EQUAL, 0, 0, 0] {
        return None;
    }
    // One that is cut has another hash.
    let text = files.read(source, MOST_SOURCE.min(*room)).ok()?;
    *room -= text.len() as u64;
    let on_image = |place: Vec<Range<u64>>| -> Vec<Range<u64>> {
        let moved = place.iter().map(|r| start + r.start..start + r.end);
        moved.collect()
    };
    let first = on_image(files.place(module).ok()?).first()?.start;
    (hashes(magic, &text).contains(&hash)).then(|| Checked {
        flags_at: first + 4,
        source: on_image(files.place(source).unwrap_or_default()),
    })
}

/// What a module says of its source: 3.11 and later, and before that.
fn hashes(magic: [u8; 4], source: &[u8]) -> [u64; 2] {
    let key = u64::from(u32::from_le_bytes(magic));
    let mut new = SipHasher13::new_with_keys(key, 0);
    let mut old = SipHasher24::new_with_keys(key, 0);
    new.write(source);
    old.write(source);
    [new.finish(), old.finish()]
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::Window;

    /// An ext2 with `hello.py`, and what Python 3.11 made of it with
    /// `py_compile.PycInvalidationMode.CHECKED_HASH`.
    const DISK: &[u8] = include_bytes!("../../../fuzz/seeds/disk/python");

    /// With other bytes at some places.
    fn with(changes: &[(u64, u8)]) -> Vec<Checked> {
        let mut disk = DISK.to_vec();
        for (at, byte) in changes {
            disk[usize::try_from(*at).unwrap()] = *byte;
        }
        let length = disk.len() as u64;
        Found::of(&Window::all(Rc::new(disk), length)).checked_modules()
    }

    #[test]
    fn a_module_that_fits_its_source_is_used_without_it() {
        let [module] = &with(&[])[..] else {
            panic!("there is one");
        };
        assert_eq!(
            DISK[usize::try_from(module.flags_at).unwrap()],
            USED_IF_EQUAL
        );
        let source = usize::try_from(module.source[0].start).unwrap();
        assert!(DISK[source..].starts_with(b"print(\"hello\")\n"));
        let unchecked = module.unchecked();
        assert_eq!(with(&[(unchecked.at, unchecked.bytes[0])]), []);
    }

    #[test]
    fn what_does_not_fit_or_is_not_checked_is_left_alone() {
        let module = with(&[]).remove(0);
        assert_eq!(with(&[(module.source[0].start, b'P')]), []);
        assert_eq!(with(&[(module.flags_at, 0)]), []);
    }
}
