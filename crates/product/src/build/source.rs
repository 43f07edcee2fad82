//! Where a build's source comes from, and what tells one from another.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::cache::sha256;
use crate::part::Find;
use crate::{Progress, TargetError};

/// A source tree, or the archive of one.
pub(super) struct Source {
    path: PathBuf,
    /// For people.
    pub(super) origin: String,
    /// Another source has another one.
    pub(super) identity: String,
}

impl Source {
    pub(super) fn find(key: &str, name: &str, finder: &dyn Find) -> Result<Self, TargetError> {
        let (path, origin) = finder.path(&format!("{key}.build.source"), name)?;
        let packaged = ["package:", "source-package:"];
        let identity = if packaged.iter().any(|p| name.starts_with(p)) {
            // A package's version says what is in it, without reading 130 MB.
            Ok(sha256(origin.as_bytes()))
        } else if path.is_dir() {
            tree_identity(&path)
        } else {
            fs::read(&path).map(|bytes| sha256(&bytes))
        };
        Ok(Self {
            identity: identity.map_err(|e| TargetError::io("read", &path, e))?,
            path,
            origin,
        })
    }

    /// Where the tree is, or would be once it is unpacked.
    pub(super) fn tree(&self, root: &Path) -> PathBuf {
        match self.path.is_dir() {
            true => self.path.clone(),
            false => root.join("sources").join(&self.identity),
        }
    }

    /// The tree, unpacked below `root` if it is an archive.
    pub(super) fn unpacked(
        &self,
        root: &Path,
        progress: Progress<'_>,
    ) -> Result<PathBuf, TargetError> {
        let tree = self.tree(root);
        if tree.exists() {
            return Ok(tree);
        }
        progress(&format!("unpacking {}", self.origin));
        let partial = tree.with_extension("partial");
        let _ = fs::remove_dir_all(&partial);
        fs::create_dir_all(&partial).map_err(|e| TargetError::io("create", &partial, e))?;
        let mut tar = Command::new("tar");
        tar.args(["--strip-components=1", "--no-same-owner", "-xf"]);
        tar.arg(&self.path).arg("-C").arg(&partial);
        let done = tar.output();
        let done = done.map_err(|e| TargetError::io("run tar on", &self.path, e))?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            let said = said.lines().next().unwrap_or("tar said nothing").to_owned();
            let why = format!("cannot be unpacked: {said}; name a folder or a tar archive");
            return Err(TargetError::artefact(&self.origin, why));
        }
        fs::rename(&partial, &tree).map_err(|e| TargetError::io("create", &tree, e))?;
        Ok(tree)
    }
}

/// A hash of names, sizes and times: what `make` goes by, too.
fn tree_identity(root: &Path) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    let mut left = vec![root.to_owned()];
    while let Some(dir) = left.pop() {
        let mut entries = fs::read_dir(&dir)?.collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let about = fs::symlink_metadata(entry.path())?;
            if about.is_dir() {
                if entry.file_name() != ".git" {
                    left.push(entry.path());
                }
                continue;
            }
            let time = about.modified()?.duration_since(UNIX_EPOCH);
            let time = time.map_or(0, |t| t.as_nanos());
            let path = entry.path();
            let name = path
                .strip_prefix(root)
                .unwrap_or(&path)
                .display()
                .to_string();
            hash.update(format!("{name}\0{}\0{time}\0", about.len()));
        }
    }
    let digest = hash.finalize();
    Ok(HEXLOWER.encode(&digest))
}
