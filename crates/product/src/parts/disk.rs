//! A disk as it is shipped, and what a target can take from it.
//!
//! `disk:PARTITION:PATH` names a file on it; `#SECTION` behind the path a section of a
//! unified kernel image. Several in a row, with commas, are read one after the other, as
//! boot loaders do with the parts of an initramfs.

use std::fs::{self, File};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use bootlap_artefact::kernel_image::{KernelImage, entry_code};
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
    /// What takes long to find out: many variants of a target share it.
    known: Arc<Known>,
}

#[derive(Default)]
struct Known {
    hash: OnceLock<PartHash>,
    kernel: OnceLock<OnDisk>,
}

/// The kernel that the disk's boot loader starts, as far as it can be read.
#[derive(Default)]
pub(crate) struct OnDisk {
    /// How it begins, at each of its entries.
    pub(crate) code: Vec<Vec<u8>>,
    /// Whether it is packed in a program that unpacks it.
    pub(crate) unpacks_itself: bool,
}

/// Whether a kernel is packed in a program that unpacks it.
pub(super) fn unpacks_itself(kernel: &[u8]) -> bool {
    KernelImage::describe(kernel).is_ok_and(|kernel| kernel.payload.is_some())
}

/// What the disk's boot loader starts if nobody chooses, as names of parts.
pub(crate) struct Starts {
    pub(crate) kernel: String,
    /// Empty without one.
    pub(crate) initramfs: String,
    pub(crate) cmdline: String,
}

impl DiskPart {
    pub(crate) fn new(path: PathBuf, origin: String, format: DiskFormat) -> Self {
        Self {
            path,
            origin,
            format,
            known: Arc::default(),
        }
    }

    /// What it is, for the manifest.
    pub(crate) fn hash(&self) -> Result<PartHash, TargetError> {
        if let Some(hash) = self.known.hash.get() {
            return Ok(hash.clone());
        }
        let file = fs::metadata(&self.path);
        let file = file.map_err(|e| TargetError::io("read", &self.path, e))?;
        let hash = PartHash {
            name: "disk".to_owned(),
            origin: self.origin.clone(),
            sha256: fingerprint(&self.path)?,
            bytes: file.len(),
        };
        Ok(self.known.hash.get_or_init(|| hash).clone())
    }

    /// The kernel that its boot loader starts.
    pub(crate) fn kernel(&self) -> &OnDisk {
        self.known.kernel.get_or_init(|| {
            let kernel = self.starts().and_then(|starts| {
                let part = self.part("kernel.image", &starts.kernel);
                part.map_err(|e| e.to_string())
            });
            let Ok(kernel) = kernel else {
                return OnDisk::default();
            };
            let bytes = kernel.unwrapped().unwrap_or_default();
            let code = entry_code(&bytes).into_iter().map(<[u8]>::to_vec);
            OnDisk {
                code: code.collect(),
                unpacks_itself: unpacks_itself(&bytes),
            }
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
