//! The image in a folder that a build has made: Buildroot's `output/images`, Yocto's
//! `deploy/images/MACHINE`, OpenWrt's `bin/targets/…`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Exit, Failure};

/// Names of whole disks, the likeliest first: `*` stands for anything.
const DISKS: [&str; 8] = [
    "sdcard.img*",
    "disk.img*",
    "*.wic*",
    "*-ext4-combined-efi.img*",
    "*-combined.img*",
    "*.qcow2",
    "*.sdcard*",
    "*.img*",
];
/// What lies beside an image, and is none.
const NOT_DISKS: [&str; 9] = [
    ".bmap",
    ".sha256",
    ".sha256sum",
    ".md5",
    ".asc",
    ".sig",
    ".zsync",
    ".manifest",
    ".json",
];

/// The disk in a folder.
pub(super) fn image(folder: &Path) -> Result<PathBuf, Failure> {
    let failed = |e: std::io::Error| {
        Failure::new(
            Exit::Usage,
            format!("cannot read {}: {e}", folder.display()),
        )
    };
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let is_disk = !NOT_DISKS.iter().any(|end| name.ends_with(end));
            (entry.path().is_file() && is_disk).then_some(name)
        })
        .collect();
    names.sort();
    for pattern in DISKS {
        let found: Vec<&String> = names.iter().filter(|name| fits(name, pattern)).collect();
        match found.as_slice() {
            [] => {}
            [one] => return Ok(folder.join(one)),
            several => {
                // Builds name the newest by a link without a date.
                let links = several.iter().filter(|name| folder.join(name).is_symlink());
                let links: Vec<&&String> = links.collect();
                if let [one] = links.as_slice() {
                    return Ok(folder.join(one));
                }
                let names: Vec<&str> = several.iter().map(|name| name.as_str()).collect();
                return Err(Failure::new(
                    Exit::Usage,
                    format!(
                        "{} has several disks: {}",
                        folder.display(),
                        names.join(", ")
                    ),
                )
                .hint("name one of them"));
            }
        }
    }
    Err(Failure::new(
        Exit::NothingUsable,
        format!("{} has no image of a disk", folder.display()),
    )
    .hint("looked for *.img, *.wic, *.sdcard and *.qcow2, compressed or not; name the file itself"))
}

fn fits(name: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    pattern.ends_with('*') || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disk_of_a_build_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str| fs::write(dir.path().join(name), b"x").unwrap();
        for name in ["rootfs.ext4", "Image", "core-image.manifest"] {
            put(name);
        }
        let said = image(dir.path()).unwrap_err();
        assert!(
            said.message.contains("no image of a disk"),
            "{}",
            said.message
        );
        put("core-image-qemuarm64.wic.bz2");
        put("core-image-qemuarm64.wic.bmap");
        let found = image(dir.path()).unwrap();
        assert!(found.ends_with("core-image-qemuarm64.wic.bz2"));
        put("core-image-qemuarm64-2026.wic.bz2");
        let said = image(dir.path()).unwrap_err();
        assert!(said.message.contains("several disks"), "{}", said.message);
        put("sdcard.img");
        assert!(image(dir.path()).unwrap().ends_with("sdcard.img"));
    }
}
