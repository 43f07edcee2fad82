//! Parts put together into what a machine boots.

use std::path::{Path, PathBuf};

use bootlap_artefact::compress::Compression;
use bootlap_artefact::flash::{self, Placed};
use bootlap_artefact::kernel_image::UNPACKER;
use bootlap_artefact::uboot_env::{EnvLayout, UbootEnv};
use serde::{Deserialize, Serialize};

use crate::cache::sha256;
use crate::cmdline;
use crate::compressed::compressed;
use crate::images;
use crate::part::{Blob, Code, Part, PartHash, Patch};
use crate::parts::disk::DiskPart;
use crate::payload::Payload;
use crate::spec::{Bus, DiskFormat, Flash, Medium, Unpacker};
use crate::{Cache, Parts, Progress, Target, TargetError};

/// Everything that a boot needs, in memory; cheap to clone.
#[derive(Clone)]
pub struct Assembly {
    /// What it was made from and into, for the manifest.
    pub parts: Vec<PartHash>,
    images: Images,
    cmdline: String,
    root: Option<PathBuf>,
    disk: Option<(PathBuf, Attached)>,
}

/// How a disk is attached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    /// How its image is written down.
    pub format: DiskFormat,
    /// To what.
    pub bus: Bus,
    /// What is not on the disk as it is in the image.
    pub patches: Vec<Patch>,
}

#[derive(Clone)]
enum Images {
    Flash {
        bootloader: Blob,
        environment: UbootEnv,
        images: Vec<Blob>,
        payload: Option<Payload>,
        flash: Flash,
        kernel_entry: u64,
    },
    Direct {
        kernel: Blob,
        initramfs: Option<Blob>,
        devicetree: Option<Blob>,
    },
    Firmware {
        image: Option<Blob>,
        variables: Option<Blob>,
        payload: Option<Blob>,
        code: Code,
    },
}

/// What a machine is given: blobs, or their names where they travel on their own.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Boot<B = Blob> {
    /// Flash banks; the machine starts what stands first in the first. Or a card,
    /// the only bank.
    Flash {
        /// What it is.
        medium: Medium,
        /// Bytes in each bank.
        bank_size: u64,
        /// By bank: what stands where.
        banks: Vec<Vec<B>>,
        /// The physical address at which the kernel image is entered.
        kernel_entry: u64,
    },
    /// The machine loads the kernel itself.
    Direct {
        /// The kernel.
        kernel: B,
        /// The initramfs.
        initramfs: Option<B>,
        /// The device tree, if not the machine's own.
        devicetree: Option<B>,
        /// The command line.
        cmdline: String,
    },
    /// Firmware, which finds on a disk what it starts.
    Firmware {
        /// What runs first, if not the machine's own.
        image: Option<B>,
        /// Its variables, in flash.
        variables: Option<B>,
        /// What it finds in memory.
        payload: Option<B>,
        /// How what is on the disk begins.
        code: Code,
    },
}

impl<B> Boot<B> {
    /// The same of what `to` makes of each blob.
    ///
    /// # Errors
    /// The first of `to`.
    pub fn map<C, E>(&self, to: &mut dyn FnMut(&B) -> Result<C, E>) -> Result<Boot<C>, E> {
        Ok(match self {
            Boot::Flash {
                medium,
                bank_size,
                banks,
                kernel_entry,
            } => Boot::Flash {
                medium: *medium,
                bank_size: *bank_size,
                banks: banks
                    .iter()
                    .map(|blobs| blobs.iter().map(&mut *to).collect())
                    .collect::<Result<_, E>>()?,
                kernel_entry: *kernel_entry,
            },
            Boot::Direct {
                kernel,
                initramfs,
                devicetree,
                cmdline,
            } => Boot::Direct {
                kernel: to(kernel)?,
                initramfs: initramfs.as_ref().map(&mut *to).transpose()?,
                devicetree: devicetree.as_ref().map(&mut *to).transpose()?,
                cmdline: cmdline.clone(),
            },
            Boot::Firmware {
                image,
                variables,
                payload,
                code,
            } => Boot::Firmware {
                image: image.as_ref().map(&mut *to).transpose()?,
                variables: variables.as_ref().map(&mut *to).transpose()?,
                payload: payload.as_ref().map(&mut *to).transpose()?,
                code: code.clone(),
            },
        })
    }
}

impl Assembly {
    /// The disk with the root, `{root}` in the machine's arguments; it is not for
    /// writing.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// The image that it boots from, and how that is attached; it is not for writing.
    pub fn disk(&self) -> Option<(&Path, &Attached)> {
        self.disk.as_ref().map(|(path, how)| (path.as_path(), how))
    }

    /// Whether words can be added to the kernel's command line: not where that is on the
    /// disk.
    pub fn has_cmdline(&self) -> bool {
        !matches!(self.images, Images::Firmware { .. })
    }

    /// What a machine is given, with `extra` words on the command line.
    ///
    /// # Errors
    /// If the environment does not fit into its place, or parts overlap, or the command
    /// line is on the disk.
    pub fn boot(&self, extra: &str) -> Result<Boot, TargetError> {
        let cmdline = cmdline::with(&self.cmdline, extra);
        match &self.images {
            Images::Flash {
                bootloader,
                environment,
                images,
                payload,
                flash,
                kernel_entry,
            } => {
                let mut second = vec![environment_blob(environment, &cmdline, flash)?];
                for image in images {
                    second.push(match payload {
                        Some(payload) => {
                            Blob::new(&image.name, image.offset, payload.to_bytes(&cmdline)?)
                        }
                        None => image.clone(),
                    });
                }
                let banks = match flash.medium {
                    Medium::Nor => vec![vec![bootloader.clone()], second],
                    Medium::Sd => {
                        second.insert(0, bootloader.clone());
                        vec![second]
                    }
                };
                for (bank, blobs) in banks.iter().enumerate() {
                    check_room(bank, blobs, flash.bank_size)?;
                }
                Ok(Boot::Flash {
                    medium: flash.medium,
                    bank_size: flash.bank_size,
                    banks,
                    kernel_entry: *kernel_entry,
                })
            }
            Images::Direct {
                kernel,
                initramfs,
                devicetree,
            } => Ok(Boot::Direct {
                kernel: kernel.clone(),
                initramfs: initramfs.clone(),
                devicetree: devicetree.clone(),
                cmdline,
            }),
            Images::Firmware { .. } if !extra.is_empty() => Err(TargetError::MissingPart(format!(
                "there is no command line that could get {extra:?}: the kernel and its words \
                 are on the disk; write all of them into loader.cmdline (docs/targets.md), or \
                 have the machine start the kernel (recipe bootloader-none)"
            ))),
            Images::Firmware {
                image,
                variables,
                payload,
                code,
            } => Ok(Boot::Firmware {
                image: image.clone(),
                variables: variables.clone(),
                payload: payload.clone(),
                code: code.clone(),
            }),
        }
    }
}

impl Target {
    /// Puts the parts together into what a machine boots.
    ///
    /// # Errors
    /// If parts are broken or do not fit together.
    pub fn assemble(
        &self,
        parts: &Parts,
        cache: &Cache,
        progress: Progress<'_>,
    ) -> Result<Assembly, TargetError> {
        let spec = &self.spec;
        let disk = match (&parts.disk, &spec.disk) {
            (Some(found), Some(disk)) => {
                let how = Attached {
                    format: disk.format,
                    bus: disk.bus,
                    patches: found.patches.clone(),
                };
                progress("looking at the disk");
                Some((found.path.clone(), how, found.hash(cache)?))
            }
            _ => None,
        };
        if let (None, Some((path, how, hash))) = (&spec.kernel, &disk) {
            let disk = (path.clone(), how.clone());
            return Ok(Assembly::of_disk(parts, disk, hash.clone()));
        }
        let (Some(kernel), Some(kernel_spec)) = (&parts.kernel, &spec.kernel) else {
            return Err(TargetError::MissingPart(format!(
                "{} has no kernel that could be put together with anything; a board boots what is on \
             it",
                spec.name
            )));
        };
        let pack = &|what: &str, bytes: &[u8], compression| {
            // Most of what is packed is the kernel as it came, which takes longest to read.
            let hash = || match std::ptr::eq(bytes, &*kernel.bytes) {
                true => kernel.sha256.clone(),
                false => sha256(bytes),
            };
            compressed(what, bytes, hash, compression, cache, progress)
        };
        let mut hashes = vec![hash_of("kernel", kernel)];
        let initramfs = parts.packed_initramfs(spec, pack)?;
        if let Some(part) = &initramfs {
            hashes.push(hash_of("initramfs", part));
        }
        let initramfs = initramfs.map(|part| part.bytes);
        let devicetree = parts.devicetree.as_ref();
        hashes.extend(devicetree.map(|part| hash_of("device tree", part)));
        let root = match (&parts.root, &spec.root) {
            (Some(contents), Some(root)) => {
                let (path, hash) = contents.image(root, cache, progress)?;
                hashes.push(hash);
                Some(path)
            }
            _ => None,
        };
        let disk = disk.map(|(path, how, hash)| {
            hashes.push(hash);
            (path, how)
        });
        let images = match (&parts.bootloader, &spec.bootloader, &spec.flash) {
            (Some(program), Some(bootloader), Some(flash)) => {
                hashes.push(hash_of("bootloader", program));
                let packed =
                    images::packed(spec, flash, kernel, devicetree, initramfs.as_deref(), pack)?;
                images::check_copies(spec, &packed.blobs)?;
                let mut environment = UbootEnv::new();
                for (name, value) in &bootloader.environment {
                    let set = environment.set(name, value);
                    set.map_err(|e| TargetError::artefact("U-Boot's environment", e))?;
                }
                Images::Flash {
                    kernel_entry: packed.kernel_entry,
                    bootloader: Blob::new(
                        "boot loader",
                        flash.bootloader_offset,
                        program.bytes.clone(),
                    ),
                    environment,
                    // Those are made anew for each command line.
                    images: match &packed.payload {
                        Some(_) => packed.blobs,
                        None => packed.blobs.into_iter().flat_map(Blob::pieces).collect(),
                    },
                    payload: packed.payload,
                    flash: flash.clone(),
                }
            }
            _ => {
                images::check_whole(kernel)?;
                let bytes = match kernel_spec.unpacked_by {
                    Unpacker::Machine => {
                        let packed = kernel_spec.compression;
                        let key = match packed {
                            Compression::None => kernel.sha256.clone(),
                            _ => format!("{}-{}", kernel.sha256, sha256(UNPACKER)),
                        };
                        let bytes = cache.bytes("kernel-inside", &key, || {
                            progress("taking the kernel out of what unpacks it");
                            images::for_machine(kernel, packed)
                        })?;
                        let beside = initramfs.as_ref().map_or(0, |bytes| bytes.len());
                        images::check_fits(spec, &bytes, beside)?;
                        bytes.into()
                    }
                    Unpacker::Kernel | Unpacker::Bootloader => kernel.bytes.clone(),
                };
                Images::Direct {
                    kernel: Blob::new("kernel", 0, bytes),
                    initramfs: initramfs.map(|bytes| Blob::new("initramfs", 0, bytes)),
                    devicetree: devicetree
                        .map(|part| Blob::new("device tree", 0, part.bytes.clone())),
                }
            }
        };
        Ok(Assembly {
            parts: hashes,
            images,
            cmdline: kernel_spec.cmdline.clone(),
            root,
            disk,
        })
    }
}

impl Assembly {
    /// Of what firmware finds on a disk.
    fn of_disk(parts: &Parts, disk: (PathBuf, Attached), hash: PartHash) -> Self {
        let named = [
            ("firmware", &parts.firmware.image),
            ("firmware's variables", &parts.firmware.variables),
            ("firmware's payload", &parts.firmware.payload),
        ];
        let mut hashes = vec![hash];
        let blobs = named.map(|(name, part)| {
            let part = part.as_ref()?;
            hashes.push(hash_of(name, part));
            Some(Blob::new(name, 0, part.bytes.clone()))
        });
        let [image, variables, payload] = blobs;
        let programs = parts.disk.as_ref().map(DiskPart::programs);
        Self {
            parts: hashes,
            images: Images::Firmware {
                image,
                variables,
                payload,
                code: programs.map_or_else(Code::default, |programs| programs.code.clone()),
            },
            cmdline: String::new(),
            root: None,
            disk: Some(disk),
        }
    }
}

fn hash_of(name: &str, part: &Part) -> PartHash {
    PartHash {
        name: name.to_owned(),
        origin: part.origin.clone(),
        sha256: part.sha256.clone(),
        bytes: part.bytes.len() as u64,
    }
}

fn environment_blob(
    environment: &UbootEnv,
    cmdline: &str,
    flash: &Flash,
) -> Result<Blob, TargetError> {
    let mut environment = environment.clone();
    let layout = EnvLayout::single(usize::try_from(flash.environment_size).unwrap_or(usize::MAX));
    let bytes = environment
        .set("bootargs", cmdline)
        .and_then(|()| environment.to_bytes(&layout))
        .map_err(|e| TargetError::artefact("U-Boot's environment", e))?;
    Ok(Blob::new("environment", flash.environment_offset, bytes))
}

/// Blobs in a bank must not overlap or stick out.
fn check_room(bank: usize, blobs: &[Blob], bank_size: u64) -> Result<(), TargetError> {
    let placed = blobs.iter().map(|blob| Placed {
        name: &blob.name,
        offset: blob.offset,
        len: blob.bytes.len() as u64,
    });
    let placed: Vec<Placed<'_>> = placed.collect();
    flash::check(bank_size, &placed)
        .map_err(|e| TargetError::artefact(&format!("flash bank {bank}"), e))
}

#[cfg(test)]
mod tests;
