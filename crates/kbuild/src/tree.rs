//! Where the text of a source tree comes from.
//!
//! Everything else in this crate asks a [`Tree`], so that all of it can be
//! tested, and fuzzed, on trees that are only in memory.

use std::collections::{BTreeMap, BTreeSet};

/// A source tree. Paths are relative to its top, with `/` between parts.
pub trait Tree: Sync {
    /// The bytes of a file; `None` where there is none that can be read.
    fn read(&self, path: &str) -> Option<Vec<u8>>;

    /// The files and folders in a folder (`""` is the top), in order of name;
    /// nothing where there is no such folder.
    fn list(&self, dir: &str) -> Vec<Entry>;
}

/// Something in a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name, without the folder.
    pub name: String,
    /// Whether it is a folder.
    pub is_dir: bool,
}

/// A tree in memory: text by path.
#[derive(Clone, Debug, Default)]
pub struct MemoryTree {
    /// The files.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl MemoryTree {
    /// A tree of these files.
    pub fn of<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let files = files
            .into_iter()
            .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        Self {
            files: files.collect(),
        }
    }
}

impl Tree for MemoryTree {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.files.get(path).cloned()
    }

    fn list(&self, dir: &str) -> Vec<Entry> {
        let before = match dir {
            "" => String::new(),
            dir => format!("{}/", dir.trim_end_matches('/')),
        };
        let inside = self.files.range(before.clone()..);
        let inside = inside.map_while(|(path, _)| path.strip_prefix(before.as_str()));
        let entries: BTreeSet<Entry> = inside
            .map(|rest| match rest.split_once('/') {
                Some((name, _)) => (name, true),
                None => (rest, false),
            })
            .map(|(name, is_dir)| Entry {
                name: name.to_owned(),
                is_dir,
            })
            .collect();
        entries.into_iter().collect()
    }
}

/// A path without `.` and `..`; `None` if it leads out of the tree.
pub(crate) fn normal(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// A name inside a folder.
pub(crate) fn join(dir: &str, name: &str) -> Option<String> {
    normal(&format!("{dir}/{name}"))
}

/// The text of a file; bytes that are no UTF-8 are replaced.
pub(crate) fn text(tree: &dyn Tree, path: &str) -> Option<String> {
    let bytes = tree.read(path)?;
    Some(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => String::from_utf8_lossy(e.as_bytes()).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        assert_eq!(normal("a/./b//c/../d").as_deref(), Some("a/b/d"));
        assert_eq!(normal("a/../../etc/passwd"), None);
        assert_eq!(join("", "x/").as_deref(), Some("x"));
    }

    #[test]
    fn a_tree_in_memory_has_folders() {
        let tree = MemoryTree::of([("a/b.c", "1"), ("a/c/d.c", "2"), ("ab", "3")]);
        let names = |dir: &str| -> Vec<(String, bool)> {
            let list = tree.list(dir);
            list.into_iter().map(|e| (e.name, e.is_dir)).collect()
        };
        assert_eq!(
            names(""),
            [("a".to_owned(), true), ("ab".to_owned(), false)]
        );
        assert_eq!(
            names("a"),
            [("b.c".to_owned(), false), ("c".to_owned(), true)]
        );
        assert_eq!(names("nothing"), []);
    }
}
