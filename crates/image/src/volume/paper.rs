//! Files on paper, for tests of what looks for names.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;

use super::Files;

/// Paths, and what is there: a text, or behind `->` where a link leads.
pub(crate) struct Tree(pub(crate) BTreeMap<&'static str, &'static str>);

impl Files for Tree {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let below = format!("{}/", folder.trim_matches('/'));
        let names = self
            .0
            .keys()
            .filter_map(|path| path.strip_prefix(below.as_str()));
        let names = names.map(|rest| rest.split('/').next().unwrap_or(rest).to_owned());
        let names: BTreeSet<String> = names.collect();
        match names.is_empty() {
            true => Err(io::ErrorKind::NotFound.into()),
            false => Ok(names.into_iter().collect()),
        }
    }

    fn read(&self, path: &str, _: u64) -> io::Result<Vec<u8>> {
        let there = self.0.get(path.trim_matches('/'));
        match there.map(|text| text.strip_prefix("->")) {
            Some(None) => Ok(there.map_or_else(Vec::new, |text| text.as_bytes().to_vec())),
            Some(Some(to)) => self.read(to, 0),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn place(&self, _: &str) -> io::Result<Vec<Range<u64>>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn link(&self, path: &str) -> Option<String> {
        let there = self.0.get(path.trim_matches('/'))?;
        there.strip_prefix("->").map(str::to_owned)
    }
}
