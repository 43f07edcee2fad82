//! The files of an image that is mounted: what the kernel says here it says on the
//! target, too.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::{ImageFile, ImageFolder, MOST_FILES, RootImage};
use crate::RootfsError;

/// ext2 to ext4, btrfs: what tells these apart is part of the image. Others
/// (squashfs, erofs, f2fs, XFS) are told apart by the device that they are on.
const IDS_OF_THEIR_OWN: [u32; 2] = [0xef53, 0x9123_683e];

pub(super) fn read(top: &Path) -> Result<RootImage, RootfsError> {
    let failed = |e| RootfsError::io("read", top, e);
    let device = fs::metadata(top).map_err(failed)?.dev();
    let above = fs::metadata(top.join("..")).map_err(failed)?.dev();
    if device == above {
        let why = "it is no mount point, so its inodes are not those of an image: make the image, mount it (mount -o loop,ro) and name that folder";
        return Err(RootfsError::content(&top.display().to_string(), why));
    }
    let (kind, id) = system(top).map_err(failed)?;
    let mut image = RootImage {
        kind,
        id,
        ..RootImage::default()
    };
    image.folders.push(ImageFolder {
        above: None,
        metadata: Vec::new(),
    });
    let mut folders = vec![(0, top.to_owned())];
    while let Some((folder, path)) = folders.pop() {
        let failed = |e| RootfsError::io("read", &path, e);
        for entry in fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let about = entry.metadata().map_err(failed)?;
            // Another file system is mounted there.
            if about.dev() != device {
                continue;
            }
            let path = entry.path();
            if about.is_dir() {
                folders.push((image.folders.len(), path));
                image.folders.push(ImageFolder {
                    above: Some(folder),
                    metadata: Vec::new(),
                });
            } else if about.is_file() {
                let Some(below) = path.strip_prefix(top).ok().and_then(Path::to_str) else {
                    image.left_out += 1;
                    continue;
                };
                let ns = about.mtime().wrapping_mul(1_000_000_000);
                image.files.push(ImageFile {
                    path: below.to_owned(),
                    inode: about.ino(),
                    size: about.size(),
                    mtime_ns: ns.wrapping_add(about.mtime_nsec()) as u64,
                    folder,
                    metadata: Vec::new(),
                });
            }
            if image.files.len() + image.folders.len() > MOST_FILES {
                let why = "it holds more than two million files";
                return Err(RootfsError::content(&top.display().to_string(), why));
            }
        }
    }
    Ok(image)
}

/// Type and id as the agent has them.
fn system(top: &Path) -> std::io::Result<(u32, u64)> {
    let kind = rustix::fs::statfs(top)?.f_type as u32;
    // The id comes the same way through statvfs, which has it as one number.
    let id = rustix::fs::statvfs(top)?.f_fsid;
    Ok((
        kind,
        if IDS_OF_THEIR_OWN.contains(&kind) {
            id
        } else {
            0
        },
    ))
}
