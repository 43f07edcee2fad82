//! Whether the files of an unpacked package are still those that it brought.
//!
//! A cache lives for years beside other things: a disk fails, somebody tries something
//! out. So each file's hash is written down when a package is unpacked, and asked for when
//! the file is used.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use data_encoding::HEXLOWER;

use crate::TargetError;
use crate::cache::sha256_of_file;

/// The list beside a package's files: a hash and a path in hex each, a line a file.
pub(super) const SUMS: &str = ".bootlap-sums";

/// Writes down what has just been unpacked in `folder`.
pub(super) fn write(folder: &Path) -> Result<(), TargetError> {
    let mut list = String::new();
    each_file(folder, &mut |path| {
        let (hash, _) = sha256_of_file(path)?;
        list.push_str(&format!("{hash} {}\n", name_in(folder, path)));
        Ok(())
    })?;
    let to = folder.join(SUMS);
    fs::write(&to, list).map_err(|e| TargetError::io("write", &to, e))
}

/// Whether the file at `path`, or each file below it, is as it was unpacked in `folder`.
/// What an older bootlap unpacked has no list, and nobody knows.
pub(super) fn are_whole(folder: &Path, path: &Path) -> Result<bool, TargetError> {
    let list = folder.join(SUMS);
    let list = match fs::read_to_string(&list) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(true),
        list => list.map_err(|e| TargetError::io("read", &folder.join(SUMS), e))?,
    };
    let wanted = name_in(folder, path);
    let below = |name: &str| {
        name == wanted || wanted.is_empty() || name.starts_with(&format!("{wanted}2f"))
    };
    let rows = list.lines().filter_map(|line| line.split_once(' '));
    let hashes = rows.map(|(hash, name)| (name, hash));
    let hashes: HashMap<&str, &str> = hashes.filter(|(name, _)| below(name)).collect();
    let mut files = 0;
    let mut whole = true;
    each_file(path, &mut |file| {
        files += 1;
        let name = name_in(folder, file);
        let (hash, _) = sha256_of_file(file)?;
        whole = whole && hashes.get(&*name) == Some(&&*hash);
        Ok(())
    })?;
    Ok(whole && files == hashes.len())
}

fn name_in(folder: &Path, path: &Path) -> String {
    let name = path.strip_prefix(folder).unwrap_or(path);
    HEXLOWER.encode(name.as_os_str().as_bytes())
}

type Visit<'v> = &'v mut dyn FnMut(&Path) -> Result<(), TargetError>;

/// Regular files alone: links are followed by nobody here.
fn each_file(path: &Path, visit: Visit<'_>) -> Result<(), TargetError> {
    let io = |e| TargetError::io("read", path, e);
    let meta = fs::symlink_metadata(path).map_err(io)?;
    if meta.is_dir() {
        for entry in fs::read_dir(path).map_err(io)? {
            let entry = entry.map_err(io)?;
            if !super::is_ours(&entry.file_name()) {
                each_file(&entry.path(), visit)?;
            }
        }
    } else if meta.is_file() {
        visit(path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_added_or_lost_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let package = dir.path();
        let at = |name: &str| package.join(name);
        fs::create_dir_all(at("bin/sub")).unwrap();
        fs::write(at("bin/tool"), "tool").unwrap();
        fs::write(at("bin/sub/other"), "other").unwrap();
        fs::write(at("binary"), "alike").unwrap();
        let whole = |path: &str| are_whole(package, &at(path)).unwrap();
        assert!(whole("bin"), "there is no list yet");
        write(package).unwrap();
        assert!(whole("bin") && whole("bin/tool") && whole(""));
        fs::write(at("bin/tool"), "tooL").unwrap();
        assert!(!whole("bin/tool") && !whole("bin") && whole("bin/sub"));
        fs::write(at("bin/tool"), "tool").unwrap();
        fs::write(at("bin/new"), "new").unwrap();
        assert!(!whole("bin") && whole("bin/tool"));
        fs::remove_file(at("bin/new")).unwrap();
        fs::remove_file(at("bin/sub/other")).unwrap();
        assert!(!whole("bin") && whole("binary"));
    }
}
