//! A file of a package, wherever its distribution has put it.

use std::fs;
use std::path::{Component, Path, PathBuf};

use regex::Regex;

use super::{Store, is_ours};
use crate::{Progress, TargetError};

impl Store {
    /// The file in the package, or in the one that a metapackage stands for.
    ///
    /// `inner` is its path there, in which `*` stands for anything within one component; the
    /// file comes with its origin.
    pub(crate) fn file(
        &self,
        package: &str,
        inner: &str,
        progress: Progress<'_>,
    ) -> Result<Option<(PathBuf, String)>, TargetError> {
        let mut package = package.to_owned();
        let mut again = false;
        // The package, the one that it stands for, and one of them once more.
        for _ in 0..3 {
            let folder = self.folder(&package, progress)?;
            if let Some(path) = glob(&folder, inner) {
                let shown = path.strip_prefix(&folder).unwrap_or(&path).display();
                let origin = format!("{package} {} /{shown}", self.version(&package));
                let path = within(&folder, &path).ok_or_else(|| {
                    TargetError::MissingPart(format!(
                        "{origin} is a link to a file of another package; name that one"
                    ))
                })?;
                if again || self.keep_if_whole(&folder, &path, progress)? {
                    return Ok(Some((path, origin)));
                }
                again = true;
                continue;
            }
            let Some(next) = self.first_dependency(&package) else {
                break;
            };
            package = next;
        }
        Ok(None)
    }
}

/// The last path (in byte order) under `folder` that matches `pattern`.
///
/// A distribution may have merged `/bin` into `/usr/bin`, so that is tried too.
fn glob(folder: &Path, pattern: &str) -> Option<PathBuf> {
    let found = glob_in(folder, pattern);
    found.or_else(|| glob_in(&folder.join("usr"), pattern))
}

fn glob_in(folder: &Path, pattern: &str) -> Option<PathBuf> {
    let mut at = vec![folder.to_owned()];
    for component in pattern.split('/').filter(|c| !c.is_empty()) {
        let wanted = format!("^{}$", regex::escape(component).replace("\\*", ".*"));
        let wanted = Regex::new(&wanted).ok()?;
        let mut next = Vec::new();
        for dir in at {
            let names = fs::read_dir(&dir).into_iter().flatten().flatten();
            next.extend(
                names
                    .filter(|e| !is_ours(&e.file_name()))
                    .filter(|e| wanted.is_match(&e.file_name().to_string_lossy()))
                    .map(|e| e.path()),
            );
        }
        next.sort();
        at = next;
    }
    at.pop()
}

/// What `path` points to, with `folder` as the root that links start from: an
/// absolute link of a package must not lead to a file of this host.
fn within(folder: &Path, path: &Path) -> Option<PathBuf> {
    /// As many links as Linux follows.
    const LINKS: usize = 40;
    let mut at = folder.to_owned();
    let mut rest: Vec<PathBuf> = vec![path.strip_prefix(folder).ok()?.to_owned()];
    let mut links = 0;
    while let Some(next) = rest.pop() {
        let mut components = next.components();
        let Some(component) = components.next() else {
            continue;
        };
        rest.push(components.as_path().to_owned());
        match component {
            Component::RootDir => at = folder.to_owned(),
            Component::ParentDir if at != folder => drop(at.pop()),
            Component::Normal(name) => {
                let place = at.join(name);
                match fs::read_link(&place) {
                    Ok(_) if links == LINKS => return None,
                    Ok(to) => {
                        links += 1;
                        rest.push(to);
                    }
                    Err(_) => at = place,
                }
            }
            _ => {}
        }
    }
    at.exists().then_some(at)
}
