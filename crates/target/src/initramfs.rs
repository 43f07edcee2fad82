//! What goes into a target's initramfs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::TargetError;
use crate::parts::Finder;
use crate::spec::Initramfs;

/// One member of the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Path without a leading slash.
    pub(crate) path: String,
    pub(crate) what: What,
}

impl Entry {
    /// Bytes of its content.
    pub(crate) fn bytes(&self) -> usize {
        match &self.what {
            What::File { bytes, .. } => bytes.len(),
            What::Dir | What::Link { .. } => 0,
        }
    }
}

/// What a member is. Everything belongs to root and has no time stamp, so that
/// the archive depends on nothing but content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Dir,
    File { executable: bool, bytes: Vec<u8> },
    Link { to: String },
}

/// Everything that `spec` asks for, folders before what they hold.
pub(crate) fn entries(spec: &Initramfs, finder: &Finder<'_>) -> Result<Vec<Entry>, TargetError> {
    let mut found = BTreeMap::new();
    for dir in &spec.dirs {
        found.insert(inside(dir), What::Dir);
    }
    if let Some(tree) = &spec.tree {
        let (path, _) = finder.path("initramfs.tree", tree)?;
        collect(&path, "", &mut found)?;
    }
    for (at, name) in &spec.files {
        let key = format!("initramfs.files.\"{at}\"");
        let (path, _) = finder.path(&key, name)?;
        collect(&path, &inside(at), &mut found)?;
    }
    for (at, to) in &spec.links {
        found.insert(inside(at), What::Link { to: to.clone() });
    }
    for dir in parents(found.keys()) {
        found.entry(dir).or_insert(What::Dir);
    }
    let entries = found.into_iter().map(|(path, what)| Entry { path, what });
    Ok(entries.collect())
}

fn inside(path: &str) -> String {
    path.trim_matches('/').to_owned()
}

/// Adds the file or folder `from`, and all in it, at `at`.
fn collect(from: &Path, at: &str, found: &mut BTreeMap<String, What>) -> Result<(), TargetError> {
    let io = |e| TargetError::io("read", from, e);
    let meta = fs::symlink_metadata(from).map_err(io)?;
    if meta.is_symlink() {
        let to = fs::read_link(from).map_err(io)?;
        let to = to.to_string_lossy().into_owned();
        found.insert(at.to_owned(), What::Link { to });
    } else if meta.is_dir() {
        if !at.is_empty() {
            found.insert(at.to_owned(), What::Dir);
        }
        for entry in fs::read_dir(from).map_err(io)? {
            let entry = entry.map_err(io)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let below = if at.is_empty() {
                name
            } else {
                format!("{at}/{name}")
            };
            collect(&entry.path(), &below, found)?;
        }
    } else if meta.is_file() {
        let what = What::File {
            executable: meta.permissions().mode() & 0o111 != 0,
            bytes: fs::read(from).map_err(io)?,
        };
        found.insert(at.to_owned(), what);
    }
    Ok(())
}

fn parents<'a>(paths: impl Iterator<Item = &'a String>) -> BTreeSet<String> {
    let mut dirs = BTreeSet::new();
    for path in paths {
        let mut at = path.as_str();
        while let Some((dir, _)) = at.rsplit_once('/') {
            dirs.insert(dir.to_owned());
            at = dir;
        }
    }
    dirs
}
