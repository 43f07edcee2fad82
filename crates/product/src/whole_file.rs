//! Files that are written whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Writes `path` in one step: what was there before stays until `write` is done.
///
/// # Errors
/// Those of `write`, and if the file cannot be made or put into its place; then
/// nothing is left behind.
pub fn replace<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<(), E> {
    let partial = partial(path);
    let written = || {
        let mut file = File::create_new(&partial)?;
        write(&mut file)?;
        // A power cut after the rename must not leave an empty file.
        file.sync_all()?;
        Ok(fs::rename(&partial, path)?)
    };
    written().inspect_err(|_| drop(fs::remove_file(&partial)))
}

/// So old is what nobody writes any more, also if its process is not seen from
/// here (another container's).
const STALE: Duration = Duration::from_secs(3600);

/// Removes what killed processes left half written in `folder`.
pub fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let Some(rest) = name.strip_suffix(".partial") else {
            continue;
        };
        let process = rest.rsplit('.').nth(1).filter(|_| rest.starts_with('.'));
        let is_number = |p: &&str| p.bytes().all(|b| b.is_ascii_digit());
        let Some(process) = process.filter(is_number) else {
            continue;
        };
        let modified = entry.metadata().and_then(|m| m.modified());
        let age = modified.ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > STALE) && !Path::new("/proc").join(process).exists() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A name beside `path` that nobody else uses.
pub(crate) fn partial(path: &Path) -> PathBuf {
    /// Threads may write the same file at the same time.
    static WRITERS: AtomicUsize = AtomicUsize::new(0);
    let (process, writer) = (std::process::id(), WRITERS.fetch_add(1, Relaxed));
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{process}.{writer}.partial"));
    path.with_file_name(name)
}
