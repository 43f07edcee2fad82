//! What is slow to make is kept, named by what it was made from.
//!
//! Entries are written to a temporary name and renamed, so a killed process
//! leaves no half entry under a good name. Beside each lies the hash of its
//! content: one that a disk or a person damaged is made again, never used.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::TargetError;
use crate::whole_file::{partial, replace, sweep};

/// A folder that may be deleted at any time; it only costs time.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
    /// What large files are known by: they take seconds to read, and a search asks each time.
    known: Arc<Mutex<HashMap<FileState, String>>>,
}

/// A file as it was when it was read: path, bytes, and time of change.
type FileState = (PathBuf, u64, Option<SystemTime>);

impl Cache {
    /// The cache in `root`, which need not exist yet.
    pub fn at(root: PathBuf) -> Self {
        Self {
            root,
            known: Arc::default(),
        }
    }

    /// The [`fingerprint`] of a file, read once unless it changes.
    pub(crate) fn fingerprint(&self, path: &Path) -> Result<String, TargetError> {
        let state = fs::metadata(path).map_err(|e| TargetError::io("read", path, e))?;
        let state = (path.to_owned(), state.len(), state.modified().ok());
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known().get(&state) {
            return Ok(known.clone());
        }
        let found = fingerprint(path)?;
        known().insert(state, found.clone());
        Ok(found)
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The entry of this `kind` and `key`, made by `make` if it is not there.
    ///
    /// # Errors
    /// If `make` fails. A cache that cannot be written is not an error: the
    /// entry is made again next time.
    pub fn bytes(
        &self,
        kind: &str,
        key: &str,
        make: impl FnOnce() -> Result<Vec<u8>, TargetError>,
    ) -> Result<Vec<u8>, TargetError> {
        let path = self.root.join(kind).join(key);
        if let Ok(bytes) = fs::read(&path)
            && is_whole(&path, &sha256(&bytes))
        {
            return Ok(bytes);
        }
        let bytes = make()?;
        let _ = above(&path).and_then(|()| {
            replace(&path, |file| file.write_all(&bytes))?;
            seal(&path, &sha256(&bytes))
        });
        Ok(bytes)
    }

    /// The file of this `kind` and `key`, which `make` writes if it is not there.
    ///
    /// # Errors
    /// If `make` fails, or the cache cannot be written.
    pub fn file(
        &self,
        kind: &str,
        key: &str,
        make: impl FnOnce(&Path) -> Result<(), TargetError>,
    ) -> Result<PathBuf, TargetError> {
        let path = self.root.join(kind).join(key);
        if path.is_file() && is_whole(&path, &sha256_of_file(&path)?.0) {
            return Ok(path);
        }
        let failed = |e| TargetError::io("write", &path, e);
        above(&path).map_err(failed)?;
        let partial = partial(&path);
        let made = make(&partial).and_then(|()| {
            let file = fs::File::open(&partial).map_err(failed)?;
            file.sync_data().map_err(failed)?;
            let (hash, _) = sha256_of_file(&partial)?;
            fs::rename(&partial, &path).map_err(failed)?;
            seal(&path, &hash).map_err(failed)
        });
        if made.is_err() {
            let _ = fs::remove_file(&partial);
        }
        made.map(|()| path)
    }
}

/// Makes the folder that `path` is in, and clears away what killed writers left
/// there.
fn above(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent() else {
        return Ok(());
    };
    fs::create_dir_all(folder)?;
    sweep(folder);
    Ok(())
}

/// Where the hash of an entry's content is.
fn seal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".sha256");
    name.into()
}

/// Notes the hash of an entry that was just written.
pub(crate) fn seal(path: &Path, hash: &str) -> io::Result<()> {
    replace(&seal_of(path), |file| file.write_all(hash.as_bytes()))
}

/// Whether an entry whose content has this hash is what was written.
pub(crate) fn is_whole(path: &Path, hash: &str) -> bool {
    fs::read(seal_of(path)).is_ok_and(|noted| noted == hash.as_bytes())
}

/// The name of some bytes: SHA-256 in hex.
pub fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// The same of a file, which may be larger than memory, and its size.
///
/// # Errors
/// If it cannot be read.
pub fn sha256_of_file(path: &Path) -> Result<(String, u64), TargetError> {
    let failed = |e| TargetError::io("read", path, e);
    let mut file = fs::File::open(path).map_err(failed)?;
    let (mut hash, mut bytes) = (Sha256::new(), 0);
    let mut piece = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut piece).map_err(failed)?;
        if read == 0 {
            return Ok((HEXLOWER.encode(&hash.finalize()), bytes));
        }
        hash.update(&piece[..read]);
        bytes += read as u64;
    }
}

/// What a file's content is known by, in hex: SHA-256 of its size and of its blocks that
/// are not all zero, each behind its place. So an image that is mostly holes takes as long
/// as what is in it, and where its holes are does not matter.
///
/// # Errors
/// If it cannot be read.
pub fn fingerprint(path: &Path) -> Result<String, TargetError> {
    const BLOCK: usize = 1 << 16;
    let failed = |e: io::Error| TargetError::io("read", path, e);
    let file = fs::File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    let mut hash = Sha256::new();
    hash.update(size.to_le_bytes());
    let mut block = vec![0; BLOCK];
    let mut at = 0;
    while at < size {
        // From the block on in which there is something.
        at = match rustix::fs::seek(&file, rustix::fs::SeekFrom::Data(at)) {
            Ok(data) => data - data % BLOCK as u64,
            Err(rustix::io::Errno::NXIO) => break,
            Err(_) => at, // a file system without holes
        };
        let here = &mut block[..BLOCK.min(usize::try_from(size - at).unwrap_or(BLOCK))];
        file.read_exact_at(here, at).map_err(failed)?;
        if here.iter().any(|byte| *byte != 0) {
            hash.update(at.to_le_bytes());
            hash.update(&*here);
        }
        at += here.len() as u64;
    }
    Ok(HEXLOWER.encode(&hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_of_the_content_and_not_of_the_holes() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let mut bytes = vec![0; 300_000];
        bytes[200_001] = 7;
        fs::write(path("full"), &bytes).unwrap();
        let holes = fs::File::create(path("holes")).unwrap();
        holes.set_len(300_000).unwrap();
        holes.write_all_at(&[7], 200_001).unwrap();
        let of = |name: &str| fingerprint(&path(name)).unwrap();
        assert_eq!(of("full"), of("holes"));
        let mut seen = vec![of("full")];
        bytes[200_001] = 0;
        bytes[200_001 - 65_536] = 7;
        fs::write(path("moved"), &bytes).unwrap();
        seen.push(of("moved"));
        fs::write(path("shorter"), &bytes[..299_999]).unwrap();
        seen.push(of("shorter"));
        fs::write(path("empty"), b"").unwrap();
        seen.push(of("empty"));
        let distinct: std::collections::BTreeSet<_> = seen.iter().collect();
        assert_eq!(distinct.len(), 4);
        assert!(fingerprint(&path("none")).is_err());
    }

    #[test]
    fn an_entry_is_made_once() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path().join("new/folder"));
        assert_eq!(
            cache.bytes("k", "a.gzip", || Ok(b"1".into())).unwrap(),
            b"1"
        );
        assert_eq!(
            cache.bytes("k", "a.gzip", || Ok(b"2".into())).unwrap(),
            b"1"
        );
        assert_eq!(cache.bytes("k", "a.lz4", || Ok(b"3".into())).unwrap(), b"3");
        let kept = fs::read_dir(cache.root().join("k")).unwrap().count();
        assert_eq!(kept, 4, "nothing but the two entries and their hashes");
    }

    #[test]
    fn a_damaged_entry_is_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path().to_owned());
        let bytes = |made: &[u8]| cache.bytes("k", "a", || Ok(made.to_vec())).unwrap();
        let file = |made: &'static [u8]| {
            let write =
                |to: &Path| fs::write(to, made).map_err(|e| TargetError::io("write", to, e));
            fs::read(cache.file("k", "b", write).unwrap()).unwrap()
        };
        assert_eq!(
            (bytes(b"good"), file(b"good")),
            (b"good".into(), b"good".into())
        );
        for damage in [&b"goo"[..], b"gooz", b""] {
            for name in ["a", "b"] {
                fs::write(dir.path().join("k").join(name), damage).unwrap();
            }
            assert_eq!(
                (bytes(b"anew"), file(b"anew")),
                (b"anew".into(), b"anew".into())
            );
            assert_eq!(
                (bytes(b"no"), file(b"no")),
                (b"anew".into(), b"anew".into())
            );
        }
    }

    #[test]
    fn what_a_killed_writer_left_is_cleared_away() {
        let dir = tempfile::tempdir().unwrap();
        let (dead, alive) = (u32::MAX, std::process::id());
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(7200);
        let left = [(dead, true), (dead, false), (alive, true)].map(|(process, is_old)| {
            let path = dir
                .path()
                .join(format!(".a.{process}.{}.partial", u8::from(is_old)));
            let file = fs::File::create(&path).unwrap();
            if is_old {
                file.set_modified(old).unwrap();
            }
            path
        });
        Cache::at(dir.path().to_owned())
            .bytes("", "b", || Ok(b"1".into()))
            .unwrap();
        assert_eq!(left.map(|path| path.exists()), [false, true, true]);
    }

    #[test]
    fn a_cache_that_cannot_be_written_costs_only_time() {
        let cache = Cache::at(PathBuf::from("/dev/null/cache"));
        assert_eq!(cache.bytes("k", "a", || Ok(b"1".into())).unwrap(), b"1");
        let failed = cache.bytes("k", "a", || Err(TargetError::Packages("no".into())));
        assert_eq!(failed.unwrap_err().to_string(), "no");
    }

    #[test]
    fn writers_do_not_disturb_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path().to_owned());
        std::thread::scope(|scope| {
            for n in 0_u8..8 {
                let cache = &cache;
                scope.spawn(move || {
                    let key = format!("same.{}", n % 2);
                    let want = vec![n % 2; 100_000];
                    let got = cache.bytes("k", &key, || Ok(want.clone())).unwrap();
                    assert_eq!(got, want);
                });
            }
        });
    }
}
