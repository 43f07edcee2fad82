//! The store's folder.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use bootlap_product::whole_file::{replace, sweep};

use crate::entry::{Damage, Entry, fingerprint};
use crate::error::{StoreError, failed};
use crate::lock::Lock;
use crate::names::{BLOBS, BOOTS, ENTRY, JOBS, used_now};

/// What tells when and where they were made.
const MADE: &str = ".made";
const LOCK: &str = ".lock";
const DISTRUSTED: &str = "distrusted";
/// Jobs so old are nobody's any more.
const STALE: Duration = Duration::from_secs(24 * 3600);
/// How often the store's size is looked at: adding up is slower than adding.
const LOOK: u32 = 64;

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

/// What came of taking over the entries of another store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Entries that are new.
    pub new: usize,
    /// Those that were there.
    pub there: usize,
    /// Those that are not what was written.
    pub damaged: usize,
}

/// Whether an entry is what belongs under its key.
pub type IsWhole<'w> = &'w dyn Fn(&str, &Entry) -> bool;

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
        loop {
            if let Some(lock) = self.lock_or_not(key, true)? {
                return Ok(lock);
            }
        }
    }

    /// The same without waiting; `None` if somebody makes that boot now.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn try_lock(&self, key: &str) -> Result<Option<Lock>, StoreError> {
        self.lock_or_not(key, false)
    }

    fn lock_or_not(&self, key: &str, waits: bool) -> Result<Option<Lock>, StoreError> {
        let folder = self.folder(key)?;
        let path = folder.join(format!("{key}{LOCK}"));
        Lock::take(&path, waits).map_err(|e| failed("lock", &path, e))
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
        used_now(path);
    }

    /// Keeps an entry under `key`; `made` is a line that tells when and where it was made.
    ///
    /// # Errors
    /// If it cannot be written; then nothing of it is there.
    pub fn keep(&self, key: &str, entry: &Entry, made: &str) -> Result<PathBuf, StoreError> {
        let bytes = entry.to_bytes();
        let bytes = bytes.map_err(|e| failed("write", &self.shard(key), e))?;
        self.keep_packed(key, &bytes, made)
    }

    /// The same of an entry that is packed.
    pub(crate) fn keep_packed(
        &self,
        key: &str,
        bytes: &[u8],
        made: &str,
    ) -> Result<PathBuf, StoreError> {
        let folder = self.folder(key)?;
        let path = folder.join(format!("{key}.{}{ENTRY}", fingerprint(bytes)));
        if self
            .added
            .fetch_add(1, Ordering::Relaxed)
            .is_multiple_of(LOOK)
        {
            self.trim(self.most);
        }
        let written = replace(&path, |file| file.write_all(bytes));
        written.map_err(|e| failed("write", &path, e))?;
        self.made_again(&path, made)?;
        Ok(path)
    }

    /// Where the entry of `key` is whose bytes have this hash.
    pub(crate) fn path_of(&self, key: &str, sum: &str) -> Option<PathBuf> {
        let path = self.shard(key).join(format!("{key}.{sum}{ENTRY}"));
        path.is_file().then_some(path)
    }

    /// Takes over the entries of another store, each as it is.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn merge(&self, from: &Store, is_whole: IsWhole<'_>) -> Result<Merged, StoreError> {
        let mut merged = Merged::default();
        for listed in from.list() {
            let entry = match read(&listed.path) {
                Some(Ok(entry)) if is_whole(&listed.key, &entry) => entry,
                Some(_) => {
                    merged.damaged += 1;
                    continue;
                }
                None => continue,
            };
            let there = self.find(&listed.key);
            if there.iter().any(|found| found.entry.as_ref() == Ok(&entry)) {
                merged.there += 1;
                continue;
            }
            let mut path = None;
            for made in from.made(&listed.path) {
                match &path {
                    None => path = Some(self.keep(&listed.key, &entry, &made)?),
                    Some(path) => self.made_again(path, &made)?,
                }
            }
            merged.new += usize::from(path.is_some());
        }
        Ok(merged)
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
        let shards = shards(&self.dir.join(BOOTS));
        let mut all: Vec<Listed> = shards.flat_map(|shard| entries(&shard)).collect();
        all.sort_by(|a, b| a.path.cmp(&b.path));
        all
    }

    /// Reads an entry; `None` if it is gone.
    pub fn read(&self, listed: &Listed) -> Option<Result<Entry, Damage>> {
        read(&listed.path)
    }

    /// Takes away what was used longest ago, until `most` bytes are left, and what killed
    /// processes left behind. What jobs are made of counts, too.
    pub fn trim(&self, most: u64) -> Clean {
        let mut all = self.list();
        all.extend(shards(&self.dir.join(BLOBS)).flat_map(|shard| files(&shard)));
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
            clean.entries += usize::from(!listed.key.is_empty());
            clean.bytes += listed.bytes;
        }
        clean
    }

    fn sweep(&self) {
        for folder in [BOOTS, BLOBS] {
            shards(&self.dir.join(folder)).for_each(|shard| sweep(&shard));
        }
        let now = SystemTime::now();
        for job in shards(&self.dir.join(JOBS)) {
            let known = fs::metadata(&job).and_then(|m| m.modified());
            let age = known.ok().and_then(|at| now.duration_since(at).ok());
            if age.is_some_and(|age| age > STALE) {
                let _ = fs::remove_dir_all(job);
            }
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
        let clean = self.trim(0);
        let path = self.dir.join(DISTRUSTED);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed("remove", &path, e)),
            _ => Ok(clean),
        }
    }

    fn shard(&self, key: &str) -> PathBuf {
        self.dir.join(BOOTS).join(key.get(..2).unwrap_or("00"))
    }

    fn folder(&self, key: &str) -> Result<PathBuf, StoreError> {
        let folder = self.shard(key);
        fs::create_dir_all(&folder).map_err(|e| failed("create", &folder, e))?;
        Ok(folder)
    }
}

/// The folders over which entries are spread.
fn shards(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let there = fs::read_dir(folder).into_iter().flatten().flatten();
    there.map(|shard| shard.path())
}

/// The entries in a folder, by their names.
fn entries(shard: &Path) -> Vec<Listed> {
    let entries = files(shard).filter_map(|file| {
        let name = file.path.file_name()?.to_str()?;
        let (key, _) = name.strip_suffix(ENTRY)?.split_once('.')?;
        let key = key.to_owned();
        (!key.is_empty()).then_some(Listed { key, ..file })
    });
    entries.collect()
}

/// The files in a folder, without a key.
fn files(shard: &Path) -> impl Iterator<Item = Listed> + use<> {
    let there = fs::read_dir(shard).into_iter().flatten().flatten();
    there.filter_map(|entry| {
        let known = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some(Listed {
            path: entry.path(),
            key: String::new(),
            bytes: known.len(),
            used: known.modified().unwrap_or(SystemTime::UNIX_EPOCH),
        })
    })
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
