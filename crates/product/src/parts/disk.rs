//! A disk as it is shipped, and what a target can take from it.
//!
//! `disk:PARTITION:PATH` names a file on it; `#SECTION` behind the path a section of a
//! unified kernel image. Several in a row, with commas, are read one after the other, as
//! boot loaders do with the parts of an initramfs.

use std::fs::{self, File};
use std::path::PathBuf;
use std::rc::Rc;

use bootlap_image::loader::Wait;
use bootlap_image::{Found, Handover, Window};

use crate::TargetError;
use crate::cache::fingerprint;
use crate::part::{Part, PartHash, Patch};
use crate::spec::DiskFormat;

/// What names of files on the disk begin with.
pub(crate) const ON_DISK: &str = "disk:";

/// An image, which may be larger than memory.
#[derive(Clone)]
pub(crate) struct DiskPart {
    pub(crate) path: PathBuf,
    pub(crate) origin: String,
    pub(crate) format: DiskFormat,
}

/// What the disk's boot loader starts if nobody chooses, as names of parts.
pub(crate) struct Starts {
    pub(crate) kernel: String,
    /// Empty without one.
    pub(crate) initramfs: String,
    pub(crate) cmdline: String,
}

impl DiskPart {
    /// What it is, for the manifest.
    pub(crate) fn hash(&self) -> Result<PartHash, TargetError> {
        let known = fs::metadata(&self.path);
        let known = known.map_err(|e| TargetError::io("read", &self.path, e))?;
        Ok(PartHash {
            name: "disk".to_owned(),
            origin: self.origin.clone(),
            sha256: fingerprint(&self.path)?,
            bytes: known.len(),
        })
    }

    fn found(&self) -> Result<Found, TargetError> {
        if self.format != DiskFormat::Raw {
            return Err(TargetError::artefact(
                &self.origin,
                "only raw images are looked into; make it one: qemu-img convert -O raw IMAGE \
                 disk.img",
            ));
        }
        let failed = |e| TargetError::io("read", &self.path, e);
        let file = File::open(&self.path).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        Ok(Found::of(&Window::all(Rc::new(file), bytes)))
    }

    /// The file that `key`'s value names, or all of them.
    pub(crate) fn part(&self, key: &str, name: &str) -> Result<Part, TargetError> {
        let found = self.found()?;
        let names = name.strip_prefix(ON_DISK).unwrap_or(name);
        let mut all = Vec::new();
        for one in names.split(',') {
            all.extend(found.named(one).ok_or_else(|| {
                TargetError::MissingPart(format!(
                    "{key} names {one}, which cannot be read from the disk; write \
                     disk:PARTITION:PATH"
                ))
            })?);
        }
        Ok(Part::new(format!("{name} of {}", self.origin), all))
    }

    /// What is to be changed for the boot loader's menu to wait so long.
    pub(crate) fn with_wait(&self, seconds: u32) -> Result<Vec<Patch>, TargetError> {
        let patches = self.found()?.with_wait(seconds);
        let patches = patches.map_err(|e| TargetError::artefact("loader.timeout-s", e))?;
        let patch = |p: bootlap_image::Patch| Patch {
            at: p.at,
            bytes: p.bytes,
        };
        Ok(patches.into_iter().map(patch).collect())
    }

    /// The boot loader's name, and how long its menu waits now.
    pub(crate) fn wait(&self) -> Result<(&'static str, Wait), String> {
        let found = self.found().map_err(|e| e.to_string())?;
        let (loader, _) = found
            .default()
            .ok_or("no boot loader with a menu was found")?;
        Ok((loader.name, loader.wait))
    }

    /// The kernel that its boot loader starts, if it can be read.
    pub(crate) fn kernel(&self) -> Option<Part> {
        let starts = self.starts().ok()?;
        self.part("kernel.image", &starts.kernel).ok()
    }

    /// What its boot loader starts, as names of parts.
    pub(crate) fn starts(&self) -> Result<Starts, String> {
        let found = self.found().map_err(|e| e.to_string())?;
        let handover = Handover::of(&found)?;
        if handover.cmdline.is_empty() {
            return Err("its boot loader's configuration was not found, or cannot be read".into());
        }
        let initramfs = handover.initramfs.join(",");
        Ok(Starts {
            kernel: format!("{ON_DISK}{}", handover.kernel),
            initramfs: match initramfs.as_str() {
                "" => String::new(),
                names => format!("{ON_DISK}{names}"),
            },
            cmdline: handover.cmdline,
        })
    }
}
