//! The boot store, looked at from outside: what it holds, and whether that is whole.

use std::path::{Path, PathBuf};

use bootlap_lab::{Manifest, Outcome};
use bootlap_report::FORMAT;
use bootlap_report::store::{KeptBootJson, StoreJson};
use bootlap_store::{Entry, Listed, Merged, Store};

use crate::TOOL;
use crate::failure::{Exit, Failure};
use crate::kept::read_entry;

/// What is to be done with a boot that is not what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damaged {
    /// It is told.
    Stays,
    /// It is told, and taken away.
    Goes,
}

/// Reads every boot of the store in `dir`.
pub fn look(dir: &Path, damaged: Damaged) -> StoreJson {
    let store = Store::at(dir, u64::MAX);
    let mut listed = store.list();
    listed.sort_by_key(|l| std::cmp::Reverse(l.used));
    let boots = listed.iter().filter_map(|listed| {
        let read = store.read(listed)?.map_err(|e| e.to_string());
        let read = read.and_then(|entry| manifest(&entry, &listed.key));
        let boot = boot(&store, listed, read);
        if boot.damage.is_some() && damaged == Damaged::Goes {
            store.remove(&listed.path);
        }
        Some(boot)
    });
    StoreJson {
        format: FORMAT,
        tool: TOOL.to_owned(),
        store: dir.display().to_string(),
        bytes: listed.iter().map(|l| l.bytes).sum(),
        distrusted: store.distrusted(),
        boots: boots.collect(),
    }
}

/// Takes over what the stores in `from` hold; what is too much for it goes with the next
/// boot that is kept.
///
/// # Errors
/// If one of them is none, is not trusted, or the store in `dir` cannot be written.
pub fn merge(dir: &Path, from: &[PathBuf]) -> Result<Merged, Failure> {
    let store = Store::at(dir, u64::MAX);
    let mut all = Merged::default();
    for other in from {
        let usage = |why: String| Failure::new(Exit::Usage, why);
        let shown = other.display();
        if !other.is_dir() {
            return Err(usage(format!("{shown} is no folder of kept boots")));
        }
        let other = Store::at(other, u64::MAX);
        if let Some(why) = other.distrusted() {
            return Err(usage(format!("{shown} is not trusted: {why}")));
        }
        let is_whole = |key: &str, entry: &Entry| read_entry(entry, key).is_ok();
        let merged = store.merge(&other, &is_whole);
        let merged = merged.map_err(|e| Failure::new(Exit::Internal, e))?;
        all.new += merged.new;
        all.there += merged.there;
        all.damaged += merged.damaged;
    }
    Ok(all)
}

fn manifest(entry: &Entry, key: &str) -> Result<Manifest, String> {
    Ok(read_entry(entry, key)?.1)
}

fn boot(store: &Store, listed: &Listed, read: Result<Manifest, String>) -> KeptBootJson {
    let (manifest, damage) = match read {
        Ok(manifest) => (Some(manifest), None),
        Err(why) => (None, Some(why)),
    };
    let used = jiff::Timestamp::try_from(listed.used).unwrap_or_default();
    let known = manifest.as_ref();
    KeptBootJson {
        key: listed.key.clone(),
        path: listed.path.display().to_string(),
        bytes: listed.bytes,
        used: used.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        made: store.made(&listed.path),
        target: known.map_or_else(String::new, |m| m.target.clone()),
        edits: known.map_or(0, |m| m.edits.len()),
        perturbation: known.map_or(0, |m| m.perturbation),
        mode: known.map_or("", |m| m.mode.name()).to_owned(),
        ready_ns: known.and_then(|m| match m.outcome {
            Some(Outcome::Ready(at)) => Some(at.ns),
            _ => None,
        }),
        damage,
    }
}
