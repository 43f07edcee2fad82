//! Which files of the root on a disk differ.

use std::collections::{BTreeMap, BTreeSet};

use bootlap_product::Spec;

/// What is at a path in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then<'s> {
    Text(&'s str),
    Link(&'s str),
    Nothing,
}

/// What differs on the partition on which most does; paths without a leading slash.
#[derive(Default)]
pub(super) struct DiskRoot<'s> {
    pub(super) changes: BTreeMap<&'s str, Then<'s>>,
    /// Places on other partitions, and those whose content is a file of the target.
    pub(super) left: Vec<&'s str>,
    /// Places of files that have no content yet, with their MiB: no folder can hold such a file.
    pub(super) room: Vec<(&'s str, u32)>,
}

impl<'s> DiskRoot<'s> {
    pub(super) fn between(before: &Spec, after: &'s Spec) -> Self {
        let Some(disk) = &after.disk else {
            return Self::default();
        };
        let old = before.disk.as_ref();
        let had = |map: fn(&bootlap_product::Disk) -> &BTreeMap<String, String>,
                   place: &str,
                   value: &str| {
            old.is_some_and(|old| map(old).get(place).is_some_and(|v| v == value))
        };
        let mut all: Vec<(&str, Option<Then<'_>>)> = Vec::new();
        for place in &disk.remove {
            if !old.is_some_and(|old| old.remove.contains(place)) {
                all.push((place, Some(Then::Nothing)));
            }
        }
        for (place, text) in &disk.texts {
            if !had(|d| &d.texts, place, text) {
                all.push((place, Some(Then::Text(text))));
            }
        }
        for (place, to) in &disk.links {
            if !had(|d| &d.links, place, to) {
                all.push((place, Some(Then::Link(to))));
            }
        }
        for (place, name) in &disk.files {
            if !had(|d| &d.files, place, name) {
                all.push((place, None));
            }
        }
        let partition = |place: &'s str| place.split_once(':').map_or("", |(number, _)| number);
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (place, _) in &all {
            *counts.entry(partition(place)).or_default() += 1;
        }
        let root = counts.into_iter().max_by_key(|(_, count)| *count);
        let root = root.map_or("", |(number, _)| number);
        let room = disk.room.iter().map(|(place, mib)| (place.as_str(), *mib));
        let is_new =
            |(place, mib): &(&str, u32)| old.is_none_or(|old| old.room.get(*place) != Some(mib));
        let mut found = Self {
            room: room.filter(is_new).collect(),
            ..Self::default()
        };
        for (place, then) in all {
            let path = place.split_once(':').map(|(_, path)| path);
            let path = path.map(|path| path.trim_start_matches('/'));
            match (path, then) {
                (Some(path), Some(then)) if partition(place) == root && stays_inside(path) => {
                    found.changes.insert(path, then);
                }
                _ => found.left.push(place),
            }
        }
        found
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The services that go, by what OpenWrt calls them: names of links in `/etc/rc.d`.
    pub(super) fn rc_services(&self) -> BTreeSet<&'s str> {
        let gone = self
            .changes
            .iter()
            .filter(|(_, then)| **then == Then::Nothing);
        gone.filter_map(|(path, _)| {
            let name = path.strip_prefix("etc/rc.d/S")?;
            Some(name.trim_start_matches(|c: char| c.is_ascii_digit()))
        })
        .collect()
    }
}

fn stays_inside(path: &str) -> bool {
    let mut names = path.split('/');
    !path.is_empty() && names.all(|name| !matches!(name, "" | "." | ".."))
}
