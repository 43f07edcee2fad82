//! ext2, ext3 and ext4, by `ext4-view`.

use std::error::Error;
use std::io;
use std::ops::Range;

use bootlap_rootfs::root_image::{self, ReadAt};
use ext4_view::{Ext4, Ext4Error, Ext4Read};

use super::{Files, MOST_NAMES, Volume};
use crate::window::{Window, number};

impl Ext4Read for Window {
    fn read(&mut self, at: u64, into: &mut [u8]) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(self.read_at(at, into)?)
    }
}

/// A file system whose journal is taken for empty.
struct Unreplayed(Window);

/// Where the superblock has the features without which it must not be read.
const FEATURES: u64 = 1024 + 0x60;
const NEEDS_RECOVERY: u8 = 4;

const UNREPLAYED: &str = "it was in use when the image was taken, and its journal cannot be read: what \
                          was written last is not seen";

impl Ext4Read for Unreplayed {
    fn read(&mut self, at: u64, into: &mut [u8]) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.0.read_at(at, into)?;
        let place = FEATURES
            .checked_sub(at)
            .and_then(|n| usize::try_from(n).ok());
        if let Some(features) = place.and_then(|n| into.get_mut(n)) {
            *features &= !NEEDS_RECOVERY;
        }
        Ok(())
    }
}

struct Ext(Ext4, Window);

pub(super) fn open(window: &Window) -> Result<Volume, String> {
    groups_fit(window)?;
    let mut files = Ext4::load(Box::new(window.clone()));
    let mut trouble = None;
    if let Err(Ext4Error::Incompatible(_)) = files {
        // A journal without checksums is not read by `ext4-view`, and is by all else.
        files = Ext4::load(Box::new(Unreplayed(window.clone())));
        trouble = Some(UNREPLAYED.to_owned());
    }
    let files = files.map_err(|e| e.to_string())?;
    let label = files.label().to_str().unwrap_or_default().to_owned();
    let kind = kind(window).unwrap_or("ext4");
    Ok(Volume {
        kind,
        uuid: files.uuid().to_string(),
        label,
        files: Some(Box::new(Ext(files, window.clone()))),
        trouble,
    })
}

/// Refuses a file system with more block groups than descriptors of them fit
/// into the volume, before memory for as many is taken.
fn groups_fit(window: &Window) -> Result<(), String> {
    const LEAST_DESCRIPTOR: u64 = 32;
    let head = window.up_to(1024, 1024).map_err(|e| e.to_string())?;
    // Whatever its features are: that is how `ext4-view` and Linux count, too.
    let blocks = number::<4>(&head, 0x150) << 32 | number::<4>(&head, 0x4);
    let groups = blocks.div_ceil(number::<4>(&head, 0x20).max(1));
    if groups > window.bytes() / LEAST_DESCRIPTOR {
        return Err(format!(
            "its superblock speaks of {groups} block groups: more than can be described in it"
        ));
    }
    Ok(())
}

/// As `blkid` tells them apart.
fn kind(window: &Window) -> Option<&'static str> {
    let head = window.up_to(1024, 256).ok()?;
    let (compatible, incompatible) = (*head.get(92)?, *head.get(96)?);
    let (journal, extents) = (compatible & 0x4 != 0, incompatible & 0x40 != 0);
    Some(match (journal, extents) {
        (_, true) => "ext4",
        (true, false) => "ext3",
        (false, false) => "ext2",
    })
}

fn whole(path: &str) -> String {
    format!("/{}", path.trim_matches('/'))
}

fn failed(e: Ext4Error) -> io::Error {
    match e {
        Ext4Error::NotFound => io::ErrorKind::NotFound.into(),
        e => io::Error::other(e.to_string()),
    }
}

impl Files for Ext {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in self.0.read_dir(whole(folder).as_str()).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if let Ok(name) = entry.file_name().as_str()
                && !matches!(name, "." | "..")
            {
                names.push(name.to_owned());
            }
            if names.len() > MOST_NAMES {
                return Err(io::Error::other("its folders have too many names"));
            }
        }
        names.sort();
        Ok(names)
    }

    fn read(&self, path: &str, most: u64) -> io::Result<Vec<u8>> {
        let mut file = self.0.open(whole(path).as_str()).map_err(failed)?;
        let wanted = file.metadata().len().min(most);
        let mut bytes = vec![0; usize::try_from(wanted).unwrap_or_default()];
        let mut done = 0;
        while done < bytes.len() {
            match file.read_bytes(&mut bytes[done..]).map_err(failed)? {
                0 => break,
                n => done += n,
            }
        }
        bytes.truncate(done);
        Ok(bytes)
    }

    fn place(&self, path: &str) -> io::Result<Vec<Range<u64>>> {
        root_image::place(&self.1, path).map_err(io::Error::other)
    }

    fn link(&self, path: &str) -> Option<String> {
        let to = self.0.read_link(whole(path).as_str()).ok()?;
        to.to_str().ok().map(str::to_owned)
    }
}
