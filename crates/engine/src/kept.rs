//! Boots that need not be made: they are in the store.
//!
//! A boot whose time is counted depends on its inputs alone, so one that was made is as
//! good as one that will be. Whether that is still true is tried all the time: one in so
//! many is made again and compared.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bootlap_lab::experiment::{Attempt, Wait};
use bootlap_lab::{
    HostFiles, Inputs, LabError, Limit, Manifest, Places, Run, State, changed, parting,
};
use bootlap_product::sha256;
use bootlap_store::{Entry, Lock, Store, StoreError};
use serde::{Deserialize, Serialize};

use crate::progress::Progress;
use crate::shard::Shard;
use crate::shared::Shared;

/// The version of what is kept.
const FORMAT: u32 = 1;

/// How kept boots are used.
#[derive(Clone, Debug)]
pub struct Keeping {
    /// Makes each boot, and compares it with the kept one.
    pub fresh: bool,
    /// One kept boot in so many is made again; 0: none.
    pub recheck: u32,
    /// Makes only its share of the boots.
    pub shard: Option<Shard>,
}

impl Default for Keeping {
    fn default() -> Self {
        Self {
            fresh: false,
            recheck: 20,
            shard: None,
        }
    }
}

/// What is known about a kept boot, beside its files.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct About {
    format: u32,
    bootlap: String,
    inputs: Inputs,
    host_files: HostFiles,
}

impl About {
    pub(crate) fn new(bootlap: &str, inputs: &Inputs, host_files: HostFiles) -> Self {
        Self {
            format: FORMAT,
            bootlap: bootlap.to_owned(),
            inputs: inputs.clone(),
            host_files,
        }
    }

    /// The first file of this host that is not as that boot has read it.
    pub(crate) fn changed(&self, places: &Places) -> Option<&str> {
        changed(&self.host_files, places)
    }

    /// The entry of that boot, with the files of its run.
    pub(crate) fn entry(&self, files: Vec<(String, Vec<u8>)>) -> Result<Entry, LabError> {
        let about = serde_json::to_value(self).map_err(|e| LabError::Machine(e.to_string()))?;
        Ok(Entry { about, files })
    }

    pub(crate) fn into_host_files(self) -> HostFiles {
        self.host_files
    }
}

/// A boot to be made, or taken.
pub(crate) struct Wanted<'j> {
    /// What it depends on.
    pub(crate) inputs: &'j Inputs,
    /// Where the run goes.
    pub(crate) dir: &'j Path,
    /// What is known of it before.
    pub(crate) manifest: Manifest,
    /// By which host files are named.
    pub(crate) places: &'j Places,
    /// How often it must have been made before it is taken: more than once where it is to
    /// be seen that equal boots are equal.
    pub(crate) times: usize,
    /// How long it may take; one that took as long was not over.
    pub(crate) patience: Duration,
    /// When it is given up, by its own time.
    pub(crate) limit: Option<Limit>,
}

impl Wanted<'_> {
    /// Whether the host's time ended this boot: where, is chance. It is neither kept nor
    /// compared.
    fn waited_out(&self, made: &Made) -> bool {
        u128::from(made.run.manifest.wall_ms) >= self.patience.as_millis()
    }
}

/// A boot that was made.
pub(crate) struct Made {
    pub(crate) run: Run,
    /// What it has read of its host; `None` if that is not known.
    pub(crate) host_files: Option<HostFiles>,
    /// What its host is called.
    pub(crate) node: String,
}

/// Takes boots from a store, and keeps those that are made.
pub(crate) struct Keeper {
    store: Store,
    /// What others share.
    shared: Option<Shared>,
    keeping: Keeping,
    /// The user was told that boots cannot be kept.
    told: AtomicBool,
    /// The user was told that boots of others are waited for.
    waits: AtomicBool,
}

/// A kept boot that may be taken.
struct Kept {
    path: PathBuf,
    entry: Entry,
    manifest: Manifest,
}

impl Keeper {
    pub(crate) fn new(store: Store, shared: Option<Shared>, keeping: Keeping) -> Self {
        Self {
            store,
            shared,
            keeping,
            told: AtomicBool::new(false),
            waits: AtomicBool::new(false),
        }
    }

    /// Takes the boot from the store, or makes it and keeps it.
    pub(crate) fn boot(
        &self,
        job: Wanted<'_>,
        wait: Wait,
        progress: &dyn Progress,
        make: impl FnOnce(Manifest) -> Result<Made, LabError>,
    ) -> Result<Attempt, LabError> {
        let key = job.inputs.key();
        if let Some(why) = self.store.distrusted() {
            self.tell(progress, &format!("no kept boot is taken: {why}"));
            return Ok(Attempt::Done(Box::new(make(job.manifest)?.run)));
        }
        // Those that are made again to be compared need not wait for each other.
        let lock = match job.times {
            0 | 1 => self.lock(&key, wait, progress).map(|lock| lock.map(Some)),
            _ => Ok(Some(None)),
        };
        let lock = match lock {
            Ok(Some(lock)) => lock,
            Ok(None) => return Ok(Attempt::Busy),
            Err(e) => {
                self.cannot_keep(progress, &e);
                return Ok(Attempt::Done(Box::new(make(job.manifest)?.run)));
            }
        };
        let enough = |kept: &Kept| self.store.made(&kept.path).len() >= job.times;
        let mut kept = self.find(&key, &job, progress);
        if let Some(shared) = &self.shared
            && !self.keeping.fresh
            && !kept.as_ref().is_some_and(enough)
            && shared.pull(&key, &self.store, progress)
        {
            kept = self.find(&key, &job, progress);
        }
        if let Some(kept) = kept
            && enough(&kept)
            && !self.keeping.fresh
        {
            let is_late = |limit: Limit| limit.is_exceeded(kept.manifest.outcome.as_ref());
            if !self.is_drawn() || job.limit.is_some_and(is_late) {
                let run = self.take(&job, &kept)?;
                progress.kept(&kept.manifest.started);
                return Ok(Attempt::Done(Box::new(run)));
            }
            let made = make(job.manifest.clone())?;
            if !job.waited_out(&made) && self.compare(&kept, &made, job.limit)? {
                self.note_made(progress, &kept, &made);
                progress.kept_again();
            }
            return Ok(Attempt::Done(Box::new(made.run)));
        }
        if self.keeping.shard.is_some_and(|shard| !shard.has(&key)) {
            return Ok(Attempt::ForOthers);
        }
        let made = make(job.manifest.clone())?;
        let lock = match lock {
            Some(lock) => Ok(lock),
            None => self.store.lock(&key),
        };
        match lock {
            Ok(_lock) => self.file(&key, &job, &made, progress)?,
            Err(e) => self.cannot_keep(progress, &e),
        }
        Ok(Attempt::Done(Box::new(made.run)))
    }

    /// The right to make a boot; `None` if others make it, and it is not waited for.
    fn lock(
        &self,
        key: &str,
        wait: Wait,
        progress: &dyn Progress,
    ) -> Result<Option<Lock>, StoreError> {
        let lock = self.store.try_lock(key)?;
        if lock.is_some() || wait == Wait::No {
            return Ok(lock);
        }
        if !self.waits.swap(true, Ordering::Relaxed) {
            progress.note("bootlap: waits for boots that another bootlap makes");
        }
        self.store.lock(key).map(Some)
    }

    /// Keeps a boot, or compares it with the one that is kept. The key is locked.
    fn file(
        &self,
        key: &str,
        job: &Wanted<'_>,
        made: &Made,
        progress: &dyn Progress,
    ) -> Result<(), LabError> {
        if job.waited_out(made) {
            return Ok(());
        }
        if let Some(kept) = self.find(key, job, progress) {
            if job.times > 1 && difference(&kept, &made.run)?.is_some() {
                // Who asked is told that equal boots differ: it is none that can be kept.
                self.store.remove(&kept.path);
                return Ok(());
            }
            if self.compare(&kept, made, job.limit)? {
                self.note_made(progress, &kept, made);
                self.push(key, &kept.path, progress);
            }
            return Ok(());
        }
        let Some(host_files) = made.host_files.clone() else {
            return Ok(());
        };
        let about = About::new(&made.run.manifest.bootlap, job.inputs, host_files);
        let entry = about.entry(made.run.files()?)?;
        let kept = self.store.keep(key, &entry, &when_and_where(made));
        match kept {
            Ok(path) => self.push(key, &path, progress),
            Err(e) => self.cannot_keep(progress, &e),
        }
        Ok(())
    }

    fn push(&self, key: &str, path: &Path, progress: &dyn Progress) {
        if let Some(shared) = &self.shared {
            shared.push(key, path, &self.store, progress);
        }
    }

    /// The kept boot that has these inputs and host files, if there is one. What is not
    /// what it says is taken away.
    fn find(&self, key: &str, job: &Wanted<'_>, progress: &dyn Progress) -> Option<Kept> {
        for found in self.store.find(key) {
            let read = found.entry.map_err(|e| e.to_string());
            let read = read.and_then(|entry| Ok((read_entry(&entry, key)?, entry)));
            let ((about, manifest), entry) = match read {
                Ok(read) => read,
                Err(why) => {
                    let path = found.path.display();
                    progress.note(&format!(
                        "bootlap: a kept boot is damaged, and is made again: {path}: {why}"
                    ));
                    self.store.remove(&found.path);
                    continue;
                }
            };
            let is_it = Limit::allows(job.limit, manifest.outcome.as_ref());
            if is_it && about.format == FORMAT && about.changed(job.places).is_none() {
                self.store.used(&found.path);
                return Some(Kept {
                    path: found.path,
                    entry,
                    manifest,
                });
            }
        }
        None
    }

    /// Puts a kept boot into the run's folder. One that got ready too late is not ready.
    fn take(&self, job: &Wanted<'_>, kept: &Kept) -> Result<Run, LabError> {
        let manifest = Manifest {
            kept: self.store.made(&kept.path),
            ..as_made(&job.manifest, &kept.manifest)
        };
        let mut run = Run::place(job.dir, manifest, &kept.entry.files)?;
        if let Some(limit) = job.limit
            && limit.is_exceeded(run.manifest.outcome.as_ref())
        {
            run.was_not_ready(limit.given_up())?;
        }
        Ok(run)
    }

    /// Whether this kept boot is to be made again.
    fn is_drawn(&self) -> bool {
        let drawn = RandomState::new().hash_one(());
        match u64::from(self.keeping.recheck) {
            0 => false,
            n => drawn.is_multiple_of(n),
        }
    }

    /// A boot that was made again must be the one that was kept. Whether that can be seen:
    /// not if it was given up where that one went on.
    fn compare(&self, kept: &Kept, again: &Made, limit: Option<Limit>) -> Result<bool, LabError> {
        let outcomes = [&again.run.manifest, &kept.manifest].map(|m| m.outcome.as_ref());
        if limit.is_some_and(|limit| limit.hides(outcomes[0], outcomes[1])) {
            return Ok(false);
        }
        let Some(how) = difference(kept, &again.run)? else {
            return Ok(true);
        };
        let store = self.store.dir().display();
        let why = format!(
            "a boot that was made again is not the one that was kept: {how}\n         kept: \
             {}, made {}\n         again: {}, made {}",
            kept.path.display(),
            self.store.made(&kept.path).join(", "),
            again.run.dir.display(),
            when_and_where(again),
        );
        let distrusted = self.store.distrust(&why);
        let then = match distrusted {
            Ok(()) => "nothing is taken from it any more",
            Err(_) => "and that could not be written down in it",
        };
        Err(LabError::Machine(format!(
            "{why}\n         The store {store} is not trusted ({then}): measure with --fresh, and \
             empty it with `bootlap store clean --all`"
        )))
    }

    fn note_made(&self, progress: &dyn Progress, kept: &Kept, again: &Made) {
        let noted = self.store.made_again(&kept.path, &when_and_where(again));
        if let Err(e) = noted {
            self.cannot_keep(progress, &e);
        }
    }

    fn cannot_keep(&self, progress: &dyn Progress, e: &StoreError) {
        self.tell(progress, &format!("boots are not kept: {e}"));
    }

    /// Says it once, not with each boot.
    fn tell(&self, progress: &dyn Progress, what: &str) {
        if !self.told.swap(true, Ordering::Relaxed) {
            progress.note(&format!("bootlap: {what}"));
        }
    }
}

/// What is known of a boot that is wanted, with what came of it when it `was` made.
pub(crate) fn as_made(wanted: &Manifest, was: &Manifest) -> Manifest {
    Manifest {
        state: State::Finished,
        machine: was.machine.clone(),
        host: was.host.clone(),
        started: was.started.clone(),
        wall_ms: was.wall_ms,
        outcome: was.outcome.clone(),
        console_sha256: was.console_sha256.clone(),
        ..wanted.clone()
    }
}

/// What an entry says; an error if it is not what belongs under `key`.
pub(crate) fn read_entry(entry: &Entry, key: &str) -> Result<(About, Manifest), String> {
    let about: About = serde_json::from_value(entry.about.clone()).map_err(|e| e.to_string())?;
    if about.inputs.key() != key {
        return Err("it has the inputs of another boot".to_owned());
    }
    let manifest = Manifest::of_files(&entry.files)?;
    let console = entry.file("console").unwrap_or_default();
    if sha256(console) != manifest.console_sha256 {
        return Err("its console is not the one that was recorded".to_owned());
    }
    Ok((about, manifest))
}

/// Where a boot differs from the kept one.
fn difference(kept: &Kept, again: &Run) -> Result<Option<String>, LabError> {
    let again_files = again.files()?;
    // Of the manifest only what came of the boot depends on it alone.
    for (name, is) in again_files.iter().skip(1) {
        let was = kept.entry.file(name).unwrap_or_default();
        if is != was {
            return Ok(Some(parting(was, is, name)));
        }
    }
    let [was, is] = [&kept.manifest, &again.manifest].map(|m| &m.outcome);
    Ok((was != is).then(|| format!("it ended with {was:?} then, and with {is:?} now")))
}

/// When and where a boot was made, for people.
fn when_and_where(made: &Made) -> String {
    let started = made.run.manifest.started.get(..19).unwrap_or_default();
    format!("{} on {}", started.replace('T', " "), made.node)
}
