//! The files of a partition as they are once changes are made, without making them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;

use bootlap_image::volume::Files;

use super::{Change, Changes, ancestors, place_on};

/// What was there, and what is to be there instead: by path without links, from the top.
struct Changed {
    before: Box<dyn Files>,
    changes: BTreeMap<String, Change>,
    folders: BTreeSet<String>,
}

impl Changes {
    /// The files of a partition with the changes.
    pub(crate) fn seen(&self, partition: u32, before: Box<dyn Files>) -> Box<dyn Files> {
        let own = self
            .0
            .iter()
            .filter(|(place, _)| place.partition == partition);
        let mut changes = BTreeMap::new();
        for (place, change) in own {
            // What cannot be made is told where it is made.
            if let Ok((folder, name)) = place_on(Some(&*before), place) {
                changes.insert(format!("{folder}/{name}"), change.clone());
            }
        }
        if changes.is_empty() {
            return before;
        }
        let made = changes
            .iter()
            .filter(|(_, c)| !matches!(c, Change::Nothing));
        let folders = made.filter_map(|(path, _)| Some(ancestors(path.rsplit_once('/')?.0)));
        let folders = folders.flatten().map(str::to_owned).collect();
        Box::new(Changed {
            before,
            changes,
            folders,
        })
    }
}

/// A path as the changes have it.
fn plain(path: &str) -> String {
    let pieces = path.split('/').filter(|piece| !matches!(*piece, "" | "."));
    pieces.map(|piece| format!("/{piece}")).collect()
}

impl Changed {
    fn real(&self, path: &str) -> io::Result<String> {
        (self as &dyn Files).real(path)
    }
}

impl Files for Changed {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let real = self.real(folder)?;
        let mut names: BTreeSet<String> = match self.before.list(&real) {
            Ok(names) => names.into_iter().collect(),
            Err(_) if self.folders.contains(&real) => BTreeSet::new(),
            Err(e) => return Err(e),
        };
        let new = self.folders.iter().map(|path| (path, false));
        let changed = self.changes.iter();
        let changed = changed.map(|(path, change)| (path, matches!(change, Change::Nothing)));
        for (path, is_gone) in new.chain(changed) {
            match path.rsplit_once('/') {
                Some((above, name)) if above == real && is_gone => names.remove(name),
                Some((above, name)) if above == real => names.insert(name.to_owned()),
                _ => false,
            };
        }
        Ok(names.into_iter().collect())
    }

    fn read(&self, path: &str, most: u64) -> io::Result<Vec<u8>> {
        let real = self.real(path)?;
        match self.changes.get(&real) {
            Some(Change::File { bytes, .. }) => {
                let wanted = usize::try_from(most).unwrap_or(usize::MAX);
                Ok(bytes[..bytes.len().min(wanted)].to_vec())
            }
            Some(_) => Err(io::ErrorKind::NotFound.into()),
            None => self.before.read(&real, most),
        }
    }

    fn place(&self, path: &str) -> io::Result<Vec<Range<u64>>> {
        self.before.place(path)
    }

    fn link(&self, path: &str) -> Option<String> {
        match self.changes.get(&plain(path)) {
            Some(Change::Link(to)) => Some(to.clone()),
            Some(_) => None,
            None => self.before.link(path),
        }
    }
}
