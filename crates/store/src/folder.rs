//! The store's folder.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use bootlap_product::whole_file::{replace, sweep};

use crate::entry::{Damage, Entry, fingerprint};
use crate::lock::Lock;

/// Entries end so.
const ENTRY: &str = ".tar.zst";
/// And what tells when and where they were made.
const MADE: &str = ".made";
const LOCK: &str = ".lock";
const DISTRUSTED: &str = "distrusted";
/// How often the store's size is looked at: adding up is slower than adding.
const LOOK: u32 = 64;

/// Why the store cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {path}: {source}")]
pub struct StoreError {
    /// What was tried.
    pub action: &'static str,
    /// The file.
    pub path: String,
    /// Why not.
    pub source: io::Error,
}

/// A folder of kept boots, which many processes may use at once.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    /// It is kept at this size, bytes.
    most: u64,
    added: AtomicU32,
}

/// An entry that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// What is in it, if that is what was written.
    pub entry: Result<Entry, Damage>,
}

/// An entry by its name alone.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Where it is.
    pub path: PathBuf,
    /// Its key.
    pub key: String,
    /// Its size.
    pub bytes: u64,
    /// When it was last used.
    pub used: SystemTime,
}

/// What cleaning took away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clean {
    /// Number of entries.
    pub entries: usize,
    /// Their size.
    pub bytes: u64,
}

impl Store {
    /// The store in `dir`, which need not exist yet, of at most so many bytes.
    pub fn at(dir: impl Into<PathBuf>, most: u64) -> Self {
        Self {
            dir: dir.into(),
            most,
            added: AtomicU32::new(0),
        }
    }

    /// Its folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The right to make the boot of `key`: who waited for it finds the boot made.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn lock(&self, key: &str) -> Result<Lock, StoreError> {
        let folder = self.folder(key)?;
        let path = folder.join(format!("{key}{LOCK}"));
        Lock::take(&path).map_err(|e| failed("lock", &path, e))
    }

    /// All entries of `key`, the one used last first. Reading is not using.
    pub fn find(&self, key: &str) -> Vec<Found> {
        let mut listed = entries(&self.shard(key));
        listed.retain(|l| l.key == key);
        listed.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.path.cmp(&b.path)));
        let found = listed.into_iter().filter_map(|l| {
            let entry = read(&l.path)?;
            Some(Found {
                path: l.path,
                entry,
            })
        });
        found.collect()
    }

    /// Notes that an entry was used now, so that it stays longer than others.
    pub fn used(&self, path: &Path) {
        // A store that others write is used, too, without a note.
        let _ = File::options()
            .append(true)
            .open(path)
            .and_then(|file| file.set_modified(SystemTime::now()));
    }

    /// Keeps an entry under `key`; `made` is a line that tells when and where it was made.
    ///
    /// # Errors
    /// If it cannot be written; then nothing of it is there.
    pub fn keep(&self, key: &str, entry: &Entry, made: &str) -> Result<PathBuf, StoreError> {
        let folder = self.folder(key)?;
        let bytes = entry.to_bytes();
        let bytes = bytes.map_err(|e| failed("write", &folder, e))?;
        let path = folder.join(format!("{key}.{}{ENTRY}", fingerprint(&bytes)));
        if self
            .added
            .fetch_add(1, Ordering::Relaxed)
            .is_multiple_of(LOOK)
        {
            self.trim(self.most);
        }
        let written = replace(&path, |file| file.write_all(&bytes));
        written.map_err(|e| failed("write", &path, e))?;
        self.made_again(&path, made)?;
        Ok(path)
    }

    /// Notes that a boot was made once more, and was the same.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn made_again(&self, path: &Path, made: &str) -> Result<(), StoreError> {
        let path = beside(path);
        let line = format!("{}\n", made.replace('\n', " "));
        let open = File::options().append(true).create(true).open(&path);
        // One write: lines of several processes do not mix.
        let written = open.and_then(|mut file| file.write_all(line.as_bytes()));
        written.map_err(|e| failed("write", &path, e))
    }

    /// When and where an entry was made, a line for each time.
    pub fn made(&self, path: &Path) -> Vec<String> {
        let text = fs::read_to_string(beside(path)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Takes an entry away.
    pub fn remove(&self, path: &Path) {
        let _ = fs::remove_file(path);
        let _ = fs::remove_file(beside(path));
    }

    /// All entries, by key.
    pub fn list(&self) -> Vec<Listed> {
        let shards = fs::read_dir(self.dir.join("boots"));
        let shards = shards.into_iter().flatten().flatten();
        let mut all: Vec<Listed> = shards.flat_map(|shard| entries(&shard.path())).collect();
        all.sort_by(|a, b| a.path.cmp(&b.path));
        all
    }

    /// Reads an entry; `None` if it is gone.
    pub fn read(&self, listed: &Listed) -> Option<Result<Entry, Damage>> {
        read(&listed.path)
    }

    /// Takes away what was used longest ago, until `most` bytes are left, and what killed
    /// processes left behind.
    pub fn trim(&self, most: u64) -> Clean {
        let mut all = self.list();
        let mut bytes: u64 = all.iter().map(|l| l.bytes).sum();
        let mut clean = Clean::default();
        self.sweep();
        if bytes <= most {
            return clean;
        }
        // A little more, so that it is not done each time.
        let most = most / 10 * 9;
        all.sort_by_key(|listed| listed.used);
        for listed in all {
            if bytes <= most {
                break;
            }
            self.remove(&listed.path);
            bytes -= listed.bytes;
            clean.entries += 1;
            clean.bytes += listed.bytes;
        }
        clean
    }

    fn sweep(&self) {
        let shards = fs::read_dir(self.dir.join("boots"));
        for shard in shards.into_iter().flatten().flatten() {
            sweep(&shard.path());
        }
    }

    /// From now on nothing is taken from this store.
    ///
    /// # Errors
    /// If that cannot be written down.
    pub fn distrust(&self, why: &str) -> Result<(), StoreError> {
        let path = self.dir.join(DISTRUSTED);
        let written = replace(&path, |file| file.write_all(why.as_bytes()));
        written.map_err(|e: io::Error| failed("write", &path, e))
    }

    /// Why nothing is to be taken from this store, if so.
    pub fn distrusted(&self) -> Option<String> {
        fs::read_to_string(self.dir.join(DISTRUSTED)).ok()
    }

    /// Takes all away, also the distrust.
    ///
    /// # Errors
    /// If it cannot be trusted again, since the note cannot be removed.
    pub fn empty(&self) -> Result<Clean, StoreError> {
        let mut clean = Clean::default();
        for listed in self.list() {
            self.remove(&listed.path);
            clean.entries += 1;
            clean.bytes += listed.bytes;
        }
        let path = self.dir.join(DISTRUSTED);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed("remove", &path, e)),
            _ => Ok(clean),
        }
    }

    fn shard(&self, key: &str) -> PathBuf {
        self.dir.join("boots").join(key.get(..2).unwrap_or("00"))
    }

    fn folder(&self, key: &str) -> Result<PathBuf, StoreError> {
        let folder = self.shard(key);
        fs::create_dir_all(&folder).map_err(|e| failed("create", &folder, e))?;
        Ok(folder)
    }
}

/// The entries in a folder, by their names.
fn entries(shard: &Path) -> Vec<Listed> {
    let there = fs::read_dir(shard).into_iter().flatten().flatten();
    let listed = there.filter_map(|entry| {
        let name = entry.file_name();
        let (key, _) = name.to_str()?.strip_suffix(ENTRY)?.split_once('.')?;
        let known = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        (!key.is_empty()).then(|| Listed {
            path: entry.path(),
            key: key.to_owned(),
            bytes: known.len(),
            used: known.modified().unwrap_or(SystemTime::UNIX_EPOCH),
        })
    });
    listed.collect()
}

fn read(path: &Path) -> Option<Result<Entry, Damage>> {
    let bytes = match fs::read(path) {
        // Another process has removed it.
        Err(e) if e.kind() == io::ErrorKind::NotFound => return None,
        Err(e) => return Some(Err(Damage::Malformed(e.to_string()))),
        Ok(bytes) => bytes,
    };
    let name = path.file_name()?.to_str()?;
    let (_, sum) = name.strip_suffix(ENTRY)?.rsplit_once('.')?;
    if fingerprint(&bytes) != sum {
        return Some(Err(Damage::Changed));
    }
    Some(Entry::of(&bytes))
}

/// The file that tells when an entry was made.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(ENTRY).unwrap_or(&name);
    path.with_file_name(format!("{name}{MADE}"))
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError {
        action,
        path: path.display().to_string(),
        source,
    }
}
