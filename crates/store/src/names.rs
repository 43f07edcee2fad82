//! What stands where in a store, and how long it has not been used.

use std::fs::File;
use std::path::Path;
use std::time::SystemTime;

/// The folder of entries.
pub(crate) const BOOTS: &str = "boots";
/// Entries end so.
pub(crate) const ENTRY: &str = ".tar.zst";
/// The folder of what jobs are made of.
pub(crate) const BLOBS: &str = "blobs";
/// The folder of jobs.
pub(crate) const JOBS: &str = "jobs";

/// Notes that a file was used now. A store that others write is used, too, without a note.
pub(crate) fn used_now(path: &Path) {
    let _ = File::options()
        .append(true)
        .open(path)
        .and_then(|file| file.set_modified(SystemTime::now()));
}
