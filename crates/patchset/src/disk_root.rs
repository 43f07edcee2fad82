//! Files of the root on a disk that differ, as a script and as files: what builds the image runs
//! the script over the root that it has put together.

use std::collections::{BTreeMap, BTreeSet};

use bootlap_product::Spec;

use super::changes::{Change, Changes};
use super::quote::{comment, shell};
use super::{Files, below};

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
    changes: BTreeMap<&'s str, Then<'s>>,
    /// Places on other partitions, and those whose content is a file of the target.
    pub(super) left: Vec<&'s str>,
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
        let mut found = Self::default();
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

    /// The files themselves, in `folder`.
    pub(super) fn contents(&self, folder: &str, files: &mut Files) {
        for (path, then) in &self.changes {
            if let Then::Text(text) = then {
                files.file(below(folder, path.as_bytes()), *text, is_script(text));
            }
        }
    }

    /// A script that makes the changes in a root. It finds the files in `folder` beside itself.
    pub(super) fn script(&self, changes: &Changes<'_>, folder: &str) -> Vec<u8> {
        let mut text = format!(
            "#!/bin/sh\n# Changes the root of {} that is put together in the folder ROOT.\n",
            comment(&changes.start.spec.name)
        );
        for step in changes.steps_with(|c| matches!(c, Change::Disk(..))) {
            text += &format!("# {}\n", step.line());
        }
        text +=
            "set -eu\nroot=${1:?usage: $0 ROOT}\nhere=$(cd -- \"$(dirname -- \"$0\")\" && pwd)\n";
        text += FUNCTIONS;
        let mut out = text.into_bytes();
        let folder = shell(folder.as_bytes());
        for (path, then) in &self.changes {
            let at = shell(path.as_bytes());
            let line: Vec<&[u8]> = match then {
                Then::Nothing => vec![b"rm -f -- \"$root\"/", &at, b"\n"],
                Then::Link(_) => vec![b"point ", &at, b" "],
                Then::Text(text) if is_script(text) => vec![b"put 755 ", &folder, b" ", &at, b"\n"],
                Then::Text(_) => vec![b"put 644 ", &folder, b" ", &at, b"\n"],
            };
            out.extend(line.concat());
            if let Then::Link(to) = then {
                out.extend(shell(to.as_bytes()));
                out.push(b'\n');
            }
        }
        out
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

/// A file that was there keeps its owner and its mode. Nothing is written through a link, which
/// may lead out of ROOT.
const FUNCTIONS: &str = r#"put() { # MODE FOLDER PATH
	mkdir -p -- "$root/$(dirname -- "$3")"
	if [ -f "$root/$3" ] && [ ! -L "$root/$3" ]; then
		cat -- "$here/$2/$3" >"$root/$3"
	else
		rm -f -- "$root/$3"
		cp -- "$here/$2/$3" "$root/$3"
		chmod "$1" -- "$root/$3"
	fi
}
point() { # PATH TO
	mkdir -p -- "$root/$(dirname -- "$1")"
	rm -f -- "$root/$1"
	ln -s -- "$2" "$root/$1"
}
"#;

fn is_script(text: &str) -> bool {
    text.starts_with("#!")
}

fn stays_inside(path: &str) -> bool {
    let mut names = path.split('/');
    !path.is_empty() && names.all(|name| !matches!(name, "" | "." | ".."))
}
