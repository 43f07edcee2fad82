//! Files of ext2, ext3 and ext4, by e2fsprogs: debugfs writes, e2fsck looks afterwards.
//!
//! debugfs says what went wrong and goes on, so what it did is read back (`super::check`).

use std::collections::BTreeSet;
use std::env;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Output;

use bootlap_image::Found;
use bootlap_image::table::Partition;

use super::{Change, Place, ancestors, copy, place_on, tool};
use crate::TargetError;

/// Equal changes make equal blocks: everything that is written is of this time.
const TIME: &str = "20200101000000";

/// Where the superblock is, and in it the block size, 1024 shifted by so much, and the features
/// without which it must not be mounted (Documentation/filesystems/ext4/super.rst).
const SUPERBLOCK: u64 = 1024;
const LOG_BLOCK_SIZE: u64 = 0x18;
const FEATURES: u64 = 0x60;
/// The journal has what the file system has not.
const NEEDS_RECOVERY: u32 = 4;

/// Makes the changes; what the tools said of them.
pub(super) fn change(
    image: &Path,
    partition: &Partition,
    found: &Found,
    volume: usize,
    changes: &[(&Place, &Change)],
) -> Result<String, TargetError> {
    let device = format!("{}?offset={}", image.display(), partition.start);
    let folder = tempfile::tempdir().map_err(|e| TargetError::io("make", &env::temp_dir(), e))?;
    let temporary = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        let written = fs::write(&path, bytes);
        written.map_err(|e| TargetError::io("write", &path, e))?;
        Ok::<_, TargetError>(path.display().to_string())
    };
    let files = found.files(volume);
    let block = block_size(image, partition)?;
    let mut script = format!("set_current_time {TIME}\n");
    let mut folders: BTreeSet<String> = BTreeSet::new();
    for (n, (place, change)) in changes.iter().enumerate() {
        let is_there = files.is_some_and(|f| f.has(&place.path) || f.link(&place.path).is_some());
        // debugfs takes a link at the end of a path for what it is, also where it wants a folder.
        let (above, name) = place_on(files, place)?;
        let path = format!("{above}/{name}");
        let known = match is_there {
            true => Some(Known::of(&device, &path, folder.path())?),
            false => None,
        };
        if is_there {
            let _ = writeln!(script, "rm \"{path}\"");
        }
        if !matches!(change, Change::Nothing) {
            for part in ancestors(&above) {
                let there = files.is_some_and(|files| files.list(part).is_ok());
                if !there && folders.insert(part.to_owned()) {
                    let _ = writeln!(script, "mkdir \"{part}\"");
                }
            }
        }
        match change {
            Change::Nothing => {}
            Change::Link(to) => {
                let _ = writeln!(script, "symlink \"{path}\" \"{to}\"");
            }
            Change::Room(mib) => {
                let (empty, bytes) = (temporary(&n.to_string(), b"")?, u64::from(*mib) << 20);
                let last = (bytes / block).saturating_sub(1);
                let _ = writeln!(
                    script,
                    "cd \"{above}/\"\nwrite \"{empty}\" \"{name}\"\ncd /\n\
                     sif \"{path}\" mode 0100600\nfallocate \"{path}\" 0 {last}\n\
                     sif \"{path}\" size {bytes}"
                );
            }
            Change::File { bytes, executable } => {
                let source = temporary(&n.to_string(), bytes)?;
                let mode = if *executable { 0o755 } else { 0o644 };
                let known = known.unwrap_or(Known {
                    mode,
                    user: 0,
                    group: 0,
                    attributes: Vec::new(),
                });
                // Back to the top: to debugfs, the folder of `/name` is the current one.
                let _ = writeln!(
                    script,
                    "cd \"{above}/\"\nwrite \"{source}\" \"{name}\"\ncd /"
                );
                for (field, value) in [
                    ("mode", format!("0{:o}", 0o100_000 | known.mode)),
                    ("uid", known.user.to_string()),
                    ("gid", known.group.to_string()),
                ] {
                    let _ = writeln!(script, "sif \"{path}\" {field} {value}");
                }
                for (k, (attribute, value)) in known.attributes.iter().enumerate() {
                    let value = temporary(&format!("{n}.{k}"), value)?;
                    let _ = writeln!(script, "ea_set -f \"{value}\" \"{path}\" {attribute}");
                }
            }
        }
    }
    let commands = temporary("commands", script.as_bytes())?;
    let done = run("debugfs", &["-w", "-f", &commands, &device])?;
    let checked = run("e2fsck", &["-f", "-n", &device])?;
    if !checked.status.success() {
        return Err(errors(partition, &checked));
    }
    Ok(String::from_utf8_lossy(&done.stderr).into_owned())
}

/// Replays the journal where the file system was in use when the image was taken: later it would
/// be written over what is changed now. Files that were open and removed go, too, as at a mount.
/// Says whether there was anything to do.
pub(super) fn replay(image: &Path, partition: &Partition) -> Result<bool, TargetError> {
    if u32_at(image, partition, FEATURES)? & NEEDS_RECOVERY == 0 {
        return Ok(false);
    }
    let failed = |e| TargetError::io("copy", image, e);
    // When it has replayed, e2fsck opens the file system again, and forgets where it begins.
    let alone = copy::alone(image, partition).map_err(failed)?;
    let done = run("e2fsck", &["-p", &alone.path().display().to_string()])?;
    // 1: errors were corrected.
    if !matches!(done.status.code(), Some(0 | 1)) {
        return Err(errors(partition, &done));
    }
    copy::back(&alone, image, partition).map_err(failed)?;
    Ok(true)
}

fn errors(partition: &Partition, done: &Output) -> TargetError {
    TargetError::artefact(
        "disk",
        format!(
            "e2fsck finds errors in partition {}, which need not be of its changes; mend a copy of \
             the image first: {}",
            partition.number,
            String::from_utf8_lossy(&done.stdout).trim()
        ),
    )
}

/// Bytes of a block, as the superblock has them.
fn block_size(image: &Path, partition: &Partition) -> Result<u64, TargetError> {
    Ok(1024 << u32_at(image, partition, LOG_BLOCK_SIZE)?.min(6))
}

/// A number of the superblock.
fn u32_at(image: &Path, partition: &Partition, place: u64) -> Result<u32, TargetError> {
    let mut number = [0; 4];
    let read = File::open(image)
        .and_then(|file| file.read_exact_at(&mut number, partition.start + SUPERBLOCK + place));
    read.map_err(|e| TargetError::io("read", image, e))?;
    Ok(u32::from_le_bytes(number))
}

/// What stays of a file that is written anew.
struct Known {
    mode: u32,
    user: u32,
    group: u32,
    attributes: Vec<(String, Vec<u8>)>,
}

impl Known {
    /// Of a file; `folder` is for what is read of it.
    fn of(device: &str, path: &str, folder: &Path) -> Result<Self, TargetError> {
        let stat = run("debugfs", &["-R", &format!("stat \"{path}\""), device])?;
        let stat = String::from_utf8_lossy(&stat.stdout).into_owned();
        let behind = |key: &str| {
            let (_, rest) = stat.split_once(key)?;
            rest.split_whitespace().next().map(str::to_owned)
        };
        let number = |key: &str| behind(key).and_then(|text| text.parse().ok()).unwrap_or(0);
        let mode = behind("Mode:").and_then(|text| u32::from_str_radix(&text, 8).ok());
        let listed = run("debugfs", &["-R", &format!("ea_list \"{path}\""), device])?;
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let mut attributes = Vec::new();
        for line in listed.lines() {
            let Some((name, _)) = line.trim().split_once(" (") else {
                continue;
            };
            let kept = folder.join("attribute");
            let get = format!("ea_get -f \"{}\" \"{path}\" {name}", kept.display());
            run("debugfs", &["-R", &get, device])?;
            let value = fs::read(&kept).map_err(|e| TargetError::io("read", &kept, e))?;
            attributes.push((name.to_owned(), value));
        }
        Ok(Self {
            mode: mode.map_or(0o644, |mode| mode & 0o7777),
            user: number("User:"),
            group: number("Group:"),
            attributes,
        })
    }
}

/// Runs a program of e2fsprogs.
fn run(program: &str, args: &[&str]) -> Result<Output, TargetError> {
    tool::run("e2fsprogs", program, args)
}
