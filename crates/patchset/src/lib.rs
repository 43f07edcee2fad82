//! The patch set: what a person carries from a tuned target into a build of
//! their own.
//!
//! ```text
//! start ──steps──► changes ──► plain/      files for a build by hand
//!                          ├─► buildroot/  an external tree
//!                          ├─► yocto/      a layer
//!                          └─► README.md   what, why, what it saves, in which order
//! ```
//!
//! [`files`] computes, [`write()`] writes. A file is made only if it says
//! something; what a kind of build cannot be given by files, the README says.

mod buildroot;
mod changes;
mod config;
mod disk_root;
mod disk_root_change;
mod image;
mod plain;
mod quote;
mod readme;
mod rootfs;
mod rootfs_change;
mod yocto;

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use bootlap_product::recipe::with_loaders_initramfs;
use bootlap_product::{Edit, Parts, Target, TargetError};

use changes::Changes;

/// One change that was kept, in the order in which they were made.
#[derive(Clone, Debug)]
pub struct Step {
    /// The recipe as it is typed: `kernel-compression=none`.
    pub recipe: String,
    /// What it does, in one line.
    pub title: String,
    /// What may be lost by it.
    pub risk: String,
    /// What it changes in `target.toml`.
    pub edits: Vec<Edit>,
    /// What it saved, if that is known.
    pub measured: Option<Measured>,
}

/// What a step saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The saving, positive is faster.
    pub saved_ns: i64,
    /// Its 95 % interval.
    pub interval_ns: [i64; 2],
    /// What kind of time that is.
    pub time: Time,
}

/// Kinds of time, which never mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Counted instructions of an emulated machine.
    Simulated,
    /// Counted instructions at a board's speed, and what its serial line takes.
    Modelled,
    /// A clock outside of what boots.
    Measured,
    /// A model's word.
    Predicted,
}

impl Time {
    fn name(self) -> &'static str {
        match self {
            Time::Simulated => "simulated",
            Time::Modelled => "modelled",
            Time::Measured => "measured",
            Time::Predicted => "predicted",
        }
    }
}

/// A file of the patch set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchFile {
    /// Where in the patch set.
    pub path: PathBuf,
    /// Its content.
    pub bytes: Vec<u8>,
    /// Whether it is a program.
    pub executable: bool,
}

/// The files of a patch set in the making.
#[derive(Default)]
struct Files(Vec<PatchFile>);

impl Files {
    fn text(&mut self, path: impl Into<PathBuf>, text: impl Into<Vec<u8>>) {
        self.file(path, text, false);
    }

    fn script(&mut self, path: impl Into<PathBuf>, text: impl Into<Vec<u8>>) {
        self.file(path, text, true);
    }

    fn file(&mut self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>, executable: bool) {
        self.0.push(PatchFile {
            path: path.into(),
            bytes: bytes.into(),
            executable,
        });
    }
}

/// A path below `folder` whose rest is any bytes, as in an archive.
fn below(folder: &str, rest: &[u8]) -> PathBuf {
    Path::new(folder).join(OsString::from_vec(rest.to_vec()))
}

/// The patch set that turns `start`, which is made of `parts`, into what
/// `steps` make of it, which is made of `tuned_parts`.
///
/// # Errors
/// If a step cannot be applied, or its kernel is no kernel.
pub fn files(
    start: &Target,
    parts: &Parts,
    tuned_parts: &Parts,
    steps: &[Step],
) -> Result<Vec<PatchFile>, TargetError> {
    // What a boot loader on the disk loads was there before the first step named it.
    let named = match (&parts.initramfs, &tuned_parts.initramfs) {
        (None, Some(_)) => with_loaders_initramfs(start, parts).ok().flatten(),
        _ => None,
    };
    let (start, parts) = named
        .as_ref()
        .map_or((start, parts), |(target, parts, _)| (target, parts));
    let changes = Changes::of(start, parts, tuned_parts, steps)?;
    let mut files = Files::default();
    plain::write(&changes, &mut files);
    buildroot::write(&changes, &mut files);
    yocto::write(&changes, &mut files);
    let readme = readme::text(&changes, &files.0);
    files.text("README.md", readme);
    files.0.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files.0)
}

/// Writes the files into the new folder `dir`; what cannot be written whole is
/// not left behind.
///
/// # Errors
/// If the folder exists already or cannot be written.
pub fn write(files: &[PatchFile], dir: &Path) -> Result<(), TargetError> {
    fs::create_dir(dir).map_err(|e| TargetError::io("create", dir, e))?;
    let written = files.iter().try_for_each(|file| write_file(file, dir));
    if written.is_err() {
        let _ = fs::remove_dir_all(dir);
    }
    written
}

fn write_file(file: &PatchFile, dir: &Path) -> Result<(), TargetError> {
    let stays = |c: Component<'_>| matches!(c, Component::Normal(_));
    if !file.path.components().all(stays) {
        let path = file.path.display();
        return Err(TargetError::artefact(
            "patch set",
            format!("{path} would lie outside of it; rename that file in the target"),
        ));
    }
    let path = dir.join(&file.path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|e| TargetError::io("create", parent, e))?;
    }
    let write = || {
        fs::write(&path, &file.bytes)?;
        let mode = if file.executable { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))
    };
    write().map_err(|e| TargetError::io("write", &path, e))
}

#[cfg(test)]
mod tests;
