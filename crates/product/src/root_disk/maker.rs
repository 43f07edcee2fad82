//! Image makers: what they are called with, so that the same archive gives the same
//! bytes, and what they say when they fail.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use tar::Archive;

use crate::TargetError;
use crate::part::Part;
use crate::spec::{Root, RootFormat};

const MIB: u64 = 1 << 20;

/// Makes the image of `archive` at `to`.
pub(super) fn make(root: &Root, archive: &Part, to: &Path) -> Result<(), TargetError> {
    let mut tar = to.as_os_str().to_owned();
    tar.push(".tar");
    let tar = Path::new(&tar);
    fs::write(tar, &archive.bytes).map_err(|e| TargetError::io("write", tar, e))?;
    let made = run(root, archive, tar, to).and_then(|()| grow(root, to));
    let _ = fs::remove_file(tar);
    made
}

fn run(root: &Root, archive: &Part, tar: &Path, to: &Path) -> Result<(), TargetError> {
    let uuid = uuid(&archive.sha256);
    let program = program(root.format);
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    match root.format {
        RootFormat::Squashfs => {
            command.arg("-").arg(to);
            command.args(["-tar", "-noappend", "-quiet", "-no-progress"]);
            // It leaves out the archive's top folder, and makes one of its own:
            // root's, of now unless told. Of all others this is the latest.
            command.env("SOURCE_DATE_EPOCH", newest(archive)?.to_string());
            command.args(["-root-mode", "755"]);
            command.args(&root.options);
            let input = File::open(tar).map_err(|e| TargetError::io("read", tar, e))?;
            command.stdin(input);
        }
        RootFormat::Ext4 => {
            let kib = size(root, archive).div_ceil(1024);
            // Both are the time of making: newer ones know the first.
            command
                .env("SOURCE_DATE_EPOCH", "1")
                .env("E2FSPROGS_FAKE_TIME", "1");
            command.args(["-q", "-F", "-t", "ext4", "-U", &uuid]);
            command.args(["-E", &format!("hash_seed={uuid}"), "-d"]);
            command.arg(tar).args(&root.options).arg(to);
            command.arg(format!("{kib}k"));
        }
        RootFormat::Erofs => {
            command.args(["--quiet", "--tar=f", "--sort=none", "-E^inline_data"]);
            command.args(["-T0", "--mkfs-time", "-U", &uuid]);
            command.args(&root.options).arg(to).arg(tar);
        }
    }
    let out = command.output().map_err(|e| missing(program, &e))?;
    if out.status.success() {
        return Ok(());
    }
    let said = [out.stdout, out.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let last = said.lines().rev().find(|l| !l.trim().is_empty());
    Err(TargetError::artefact(
        "root",
        format!(
            "{program} failed: {}{}",
            last.unwrap_or("it said nothing").trim(),
            hint(root.format)
        ),
    ))
}

/// What makes it. Not everybody's path leads to mke2fs.
fn program(format: RootFormat) -> &'static str {
    let on_path = |program: &str| {
        let asked = Command::new(program)
            .arg("-V")
            .stdin(Stdio::null())
            .output();
        !asked.is_err_and(|e| e.kind() == io::ErrorKind::NotFound)
    };
    match format {
        RootFormat::Squashfs => "mksquashfs",
        RootFormat::Ext4 if on_path("mke2fs") => "mke2fs",
        RootFormat::Ext4 => "/usr/sbin/mke2fs",
        RootFormat::Erofs => "mkfs.erofs",
    }
}

fn missing(program: &str, error: &io::Error) -> TargetError {
    let package = match program {
        "mksquashfs" => "squashfs-tools",
        "mkfs.erofs" => "erofs-utils",
        _ => "e2fsprogs",
    };
    TargetError::artefact(
        "root",
        format!("cannot run {program}: {error}; Debian and Ubuntu have it in {package}"),
    )
}

/// What it most often is.
fn hint(format: RootFormat) -> &'static str {
    match format {
        RootFormat::Squashfs => "; squashfs-tools must be 4.5 or newer",
        RootFormat::Ext4 => {
            "; e2fsprogs must be 1.47.1 or newer (libarchive13 beside it), and root.size large \
             enough"
        }
        RootFormat::Erofs => "; erofs-utils must be 1.8 or newer",
    }
}

/// When the last of its files was changed, in seconds since 1970.
fn newest(archive: &Part) -> Result<u64, TargetError> {
    let broken = |e| TargetError::artefact(&archive.origin, format!("it is no tar archive: {e}"));
    let mut newest = 0;
    for entry in Archive::new(&archive.bytes[..]).entries().map_err(broken)? {
        let mtime = entry.and_then(|entry| entry.header().mtime());
        newest = newest.max(mtime.map_err(broken)?);
    }
    Ok(newest)
}

/// Bytes of the disk, as far as they can be told before.
fn size(root: &Root, archive: &Part) -> u64 {
    let content = archive.bytes.len() as u64;
    root.size
        .unwrap_or_else(|| (content + content / 4 + 16 * MIB).next_power_of_two())
}

/// The image gets the disk's size.
fn grow(root: &Root, to: &Path) -> Result<(), TargetError> {
    let failed = |e| TargetError::io("write", to, e);
    let file = File::options().write(true).open(to).map_err(failed)?;
    let len = file.metadata().map_err(failed)?.len();
    let size = root.size.unwrap_or_else(|| len.next_power_of_two());
    if len > size {
        let why = format!(
            "the image has {len} bytes and root.size is {size}; write a larger one, or remove it"
        );
        return Err(TargetError::artefact("root", why));
    }
    file.set_len(size).map_err(failed)
}

/// Some name for the file system, the same for the same content.
fn uuid(sha256: &str) -> String {
    let part = |from: usize, to: usize| sha256.get(from..to).unwrap_or("0");
    let parts = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)];
    parts.map(|(from, to)| part(from, to)).join("-")
}
