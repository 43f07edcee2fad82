//! What a folder holds, for the lists that image makers take.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::MOST_FILES;
use crate::RootfsError;

/// Something below a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// From the folder on, without a slash in front.
    pub path: Vec<u8>,
    /// Whether it is a folder itself.
    pub is_folder: bool,
}

/// All that is below `root`, by path; a folder comes before what it holds. Links
/// are not followed.
///
/// # Errors
/// If a folder cannot be read.
pub fn entries(root: &Path) -> Result<Vec<Entry>, RootfsError> {
    let mut all = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |e| RootfsError::io("read", &folder, e);
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let is_folder = entry.file_type().map_err(failed)?.is_dir();
            let path = entry.path();
            let below = path.strip_prefix(root).unwrap_or(&path);
            all.push(Entry {
                path: below.as_os_str().as_bytes().to_vec(),
                is_folder,
            });
            if is_folder {
                folders.push(path);
            }
            if all.len() > MOST_FILES {
                let why = "it holds more than two million files";
                return Err(RootfsError::content(&root.display().to_string(), why));
            }
        }
    }
    all.sort();
    Ok(all)
}
