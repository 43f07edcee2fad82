//! Paths as system calls give them.

/// The folder that a process is in, where a call wants the number of one.
pub(super) const AT_CWD: i32 = -100;

/// Paths are kept up to here; Linux allows 4096 bytes.
const MAX_PATH: usize = 4_096;

/// `path` in `folder`, without what says nothing: `//`, `/./`. What `..` leads to only the
/// file system knows.
pub(super) fn joined(folder: &str, path: &str) -> String {
    let mut whole = String::with_capacity(folder.len() + 1 + path.len());
    if path.starts_with('/') {
        whole.push('/');
    } else {
        whole.push_str(folder);
    }
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if !whole.is_empty() && !whole.ends_with('/') {
            whole.push('/');
        }
        whole.push_str(part);
        if whole.len() > MAX_PATH {
            break;
        }
    }
    if whole.is_empty() {
        whole.push('.');
    }
    whole
}

/// The last part of a program's path.
pub(super) fn program(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
