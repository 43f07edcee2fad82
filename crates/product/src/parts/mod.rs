//! The parts that a target names, found and read.
//!
//! `package:NAME/path` is a file of a distribution package (`*` stands for
//! anything within one path component), `source-package:NAME` the folder of its
//! source, `build:PATH` what a build makes, `disk:PARTITION:PATH` a file on the disk that
//! the target boots from; everything else is a path beside `target.toml`.

pub(crate) mod disk;
mod overlay;

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};

use bootlap_artefact::kernel_image::KernelImage;
use bootlap_image::python::Checked;
use bootlap_image::scripts::Scripts;
use bootlap_image::units::Units;
use bootlap_kbuild::dot_config::DotConfig;

pub(crate) use self::disk::DiskPart;
use crate::build::{self, Built, Inside};
use crate::cache::sha256;
use crate::compressed::compressed;
use crate::disk_changes;
use crate::initramfs::{Entry, packed};
use crate::packages::{Store, is_name};
use crate::part::{Find, ON_DISK, Pack, Part};
use crate::root_disk;
use crate::spec::{Disk, DiskFormat, Initramfs, Place, Spec, Unpacker};
use crate::{Cache, Progress, Target, TargetError};

/// All parts of a target.
#[derive(Clone, Default)]
pub struct Parts {
    /// The boot loader, if there is one.
    pub bootloader: Option<Part>,
    /// The kernel image; always there for an emulated machine.
    pub kernel: Option<Part>,
    /// The device tree that goes with the kernel, if the target names one.
    pub devicetree: Option<Part>,
    /// The kernel's configuration, if its package holds one.
    pub kernel_config: Option<DotConfig>,
    /// What the initramfs holds, in the order in which it is packed.
    pub initramfs: Option<Vec<Entry>>,
    /// The initramfs as it is, if nothing is changed in it.
    pub(crate) whole_initramfs: Option<Part>,
    /// What the root's disk holds.
    pub(crate) root: Option<root_disk::Contents>,
    /// What runs before what is on a disk.
    pub(crate) firmware: FirmwareParts,
    /// The disk as it is shipped.
    pub(crate) disk: Option<DiskPart>,
}

/// What runs before what is on a disk, as far as it is not the machine's own.
#[derive(Clone, Default)]
pub(crate) struct FirmwareParts {
    pub(crate) image: Option<Part>,
    pub(crate) variables: Option<Part>,
    pub(crate) payload: Option<Part>,
}

impl Target {
    /// Finds the parts, fetching packages if need be.
    ///
    /// # Errors
    /// If a part is missing or cannot be had.
    pub fn parts(&self, cache: &Cache, progress: Progress<'_>) -> Result<Parts, TargetError> {
        let finder = Finder::new(self, cache, progress);
        let spec = &self.spec;
        let mut parts = Parts {
            bootloader: match spec.bootloader.as_ref().and_then(|b| b.image.as_ref()) {
                Some(image) => Some(finder.part("bootloader.image", image)?),
                None => None,
            },
            devicetree: match spec.kernel.as_ref().and_then(|k| k.devicetree.as_ref()) {
                Some(blob) => Some(finder.part("kernel.devicetree", blob)?),
                None => None,
            },
            kernel_config: finder.kernel_config()?,
            kernel: match spec.kernel.as_ref().and_then(|k| k.image.as_ref()) {
                Some(image) => Some(finder.part("kernel.image", image)?),
                None => None,
            },
            initramfs: match &spec.initramfs {
                Some(i) => Some(crate::initramfs::entries(i, &finder)?),
                None => None,
            },
            whole_initramfs: match spec.initramfs.as_ref().filter(|i| i.is_untouched()) {
                Some(Initramfs {
                    image: Some(name), ..
                }) => Some(finder.part("initramfs.image", name)?),
                _ => None,
            },
            root: match &spec.root {
                Some(root) => Some(root_disk::contents(root, &finder)?),
                None => None,
            },
            firmware: finder.firmware()?,
            disk: None,
        };
        if let Some(disk) = &spec.disk {
            parts.disk = Some(match finder.initramfs_for_disk(&parts)? {
                None => finder.known_disk(disk)?.clone(),
                initramfs => finder.disk(disk, initramfs)?,
            });
        }
        Ok(parts)
    }

    /// Builds what is built from source, unless that was done before: the
    /// section (`kernel`, `bootloader`), and what came of it.
    ///
    /// # Errors
    /// If a build fails, with the line that it failed at.
    pub fn builds(
        &self,
        cache: &Cache,
        progress: Progress<'_>,
    ) -> Result<Vec<(&'static str, Built)>, TargetError> {
        let finder = Finder::new(self, cache, progress);
        let (kernel, bootloader) = (&self.spec.kernel, &self.spec.bootloader);
        let images = [
            (
                "bootloader",
                bootloader.as_ref().and_then(|b| b.image.as_deref()),
            ),
            ("kernel", kernel.as_ref().and_then(|k| k.image.as_deref())),
        ];
        let named = images.into_iter().filter_map(|(section, image)| {
            let output = image?.strip_prefix("build:")?;
            Some((section, output))
        });
        let built = named.map(|(section, output)| {
            let key = format!("{section}.image");
            Ok((section, finder.built(&key, output)?))
        });
        built.collect()
    }
}

impl Parts {
    /// Bytes of the kernel that the target's image holds, before it is
    /// compressed, if it can be told.
    pub fn kernel_bytes(&self, target: &Spec) -> Option<usize> {
        let unpacker = target.kernel.as_ref().map(|k| k.unpacked_by);
        match unpacker.unwrap_or_default() {
            Unpacker::Kernel => Some(self.kernel.as_ref()?.unwrapped().ok()?.len()),
            Unpacker::Bootloader | Unpacker::Machine => self.inside_bytes(),
        }
    }

    /// Bytes of what the kernel unpacks itself to, if something else could start that.
    pub fn inside_bytes(&self) -> Option<usize> {
        let plain = self.kernel.as_ref()?.unwrapped().ok()?;
        let kernel = KernelImage::describe(&plain).ok()?;
        Some(kernel.inside(&plain).ok()?.len())
    }

    /// Whether the kernel that is started is packed in a program that unpacks it; not known of
    /// all is no.
    pub fn kernel_unpacks_itself(&self) -> bool {
        match (&self.kernel, &self.disk) {
            (Some(kernel), _) => kernel.unwrapped().is_ok_and(|k| disk::unpacks_itself(&k)),
            (None, Some(disk)) => disk.programs().unpacks_itself,
            (None, None) => false,
        }
    }

    /// The units that systemd starts on the disk.
    ///
    /// # Errors
    /// If there is no disk, or no systemd on it.
    pub fn units(&self) -> Result<Units, String> {
        let disk = self.disk.as_ref().ok_or("the target has no [disk]")?;
        Ok(disk.units()?.1)
    }

    /// The init scripts that are run from the disk.
    ///
    /// # Errors
    /// If there is no disk, or there are none on it.
    pub fn scripts(&self) -> Result<Scripts, String> {
        let disk = self.disk.as_ref().ok_or("the target has no [disk]")?;
        Ok(disk.scripts()?.1)
    }

    /// Of the disk's Python modules, those whose source is read only to see that it fits.
    pub fn checked_modules(&self) -> &[Checked] {
        self.disk.as_ref().map_or(&[], DiskPart::checked_modules)
    }

    /// In how many init scripts of the disk how many commands need not start a program; `None`
    /// if that is not known, or there are none.
    pub fn spared(&self) -> Option<(usize, usize)> {
        let all = self.disk.as_ref()?.rewritten().ok()?;
        let new: Vec<usize> = all
            .iter()
            .filter_map(|(_, new)| Some(new.as_ref().ok()?.replaced.len()))
            .collect();
        (!new.is_empty()).then(|| (new.len(), new.iter().sum()))
    }

    /// The initramfs as the kernel gets it, if there is one that it does not hold.
    pub(crate) fn packed_initramfs(
        &self,
        spec: &Spec,
        pack: Pack<'_>,
    ) -> Result<Option<Part>, TargetError> {
        match (&self.initramfs, &spec.initramfs) {
            (Some(entries), Some(spec)) => {
                packed(entries, self.whole_initramfs.as_ref(), spec, pack)
            }
            _ => Ok(None),
        }
    }

    /// Bytes of all files in the initramfs, if there is one.
    pub fn initramfs_bytes(&self) -> Option<usize> {
        let entries = self.initramfs.as_ref()?.iter();
        Some(entries.map(Entry::bytes).sum())
    }

    /// The files in the initramfs: their paths, without a leading slash, and
    /// what they hold. None where there is no initramfs.
    pub fn initramfs_files(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let entries = self.initramfs.iter().flatten();
        entries.filter_map(|entry| match &entry.what {
            crate::initramfs::What::File { bytes, .. } => Some((&entry.path[..], &bytes[..])),
            _ => None,
        })
    }
}

/// Finds what the values of a target's keys name.
struct Finder<'a> {
    target: &'a Target,
    store: Option<Store>,
    cache: &'a Cache,
    progress: Progress<'a>,
    /// The disk, once somebody has asked for it: looking at it takes long.
    known_disk: OnceCell<DiskPart>,
}

impl Find for Finder<'_> {
    fn part(&self, key: &str, name: &str) -> Result<Part, TargetError> {
        if name.starts_with(ON_DISK) {
            let disk = self.target.spec.disk.as_ref().ok_or_else(|| {
                TargetError::MissingPart(format!("{key} names {name}, and there is no [disk]"))
            })?;
            return self.known_disk(disk)?.part(key, name);
        }
        let (path, origin) = self.path(key, name)?;
        if !path.is_file() {
            return Err(TargetError::MissingPart(format!(
                "{key} names {name}, which is no file; name the file itself"
            )));
        }
        let bytes = fs::read(&path).map_err(|e| TargetError::io("read", &path, e))?;
        Ok(Part::new(origin, bytes))
    }

    fn path(&self, key: &str, name: &str) -> Result<(PathBuf, String), TargetError> {
        if let Some(output) = name.strip_prefix("build:") {
            let built = self.built(key, output)?;
            return Ok((built.image, built.origin));
        }
        if let Some(package) = name.strip_prefix("source-package:") {
            return self.source_package(key, package);
        }
        let Some(rest) = name.strip_prefix("package:") else {
            let path = self.target.dir.join(name);
            if !path.exists() {
                return Err(TargetError::MissingPart(format!(
                    "{key} names {name}, which is not in {}: put the file there or name one \
                     that exists",
                    self.target.dir.display()
                )));
            }
            return Ok((path, name.to_owned()));
        };
        let store = self.store.as_ref().ok_or_else(|| {
            TargetError::MissingPart(format!(
                "{key} names {name}, but there is no [packages] section: add one with \
                 architecture = \"arm64\" (or whatever the target is)"
            ))
        })?;
        let (package, inner) = rest.split_once('/').ok_or_else(|| {
            TargetError::MissingPart(format!("{key}: write package:NAME/path, not {name}"))
        })?;
        if !is_name(package) {
            return Err(TargetError::MissingPart(format!(
                "{key}: {package:?} is no name of a package; write package:NAME/path"
            )));
        }
        store.file(package, inner, self.progress)?.ok_or_else(|| {
            TargetError::MissingPart(format!(
                "{key}: package {package} {} holds no {inner}; look with `dpkg-deb -c`",
                store.version(package)
            ))
        })
    }

    fn content(&self, key: &str, name: &str) -> Result<PathBuf, TargetError> {
        let (path, _) = self.path(key, name)?;
        if is_elsewhere(name) {
            return Ok(path);
        }
        let real = fs::canonicalize(&path).map_err(|e| TargetError::io("read", &path, e))?;
        if self.target.allows(&real) {
            return Ok(path);
        }
        Err(TargetError::MissingPart(format!(
            "{key} names {name}, which lies outside of {}: copy it there; or, if the target is \
             yours to trust, write outside = [{name:?}] at the top of its file",
            self.target.dir.display()
        )))
    }

    fn kernel_modules(&self) -> Result<PathBuf, TargetError> {
        let kernel = self.target.spec.kernel.as_ref();
        let image = kernel.and_then(|k| k.image.as_deref()).unwrap_or_default();
        if !image.starts_with("package:") {
            return Err(TargetError::MissingPart(format!(
                "initramfs.modules are those of a packaged kernel, and kernel.image is {image:?}; \
                 name modules as files in [initramfs.files], or a kernel as package:NAME/path"
            )));
        }
        let (path, origin) = self.path("kernel.image", image)?;
        modules_of(&path).ok_or_else(|| {
            TargetError::MissingPart(format!(
                "initramfs.modules: {origin} comes without modules; leave the key out"
            ))
        })
    }
}

/// Where the modules of the packaged kernel at `/boot/vmlinuz-VERSION` are.
fn modules_of(kernel: &Path) -> Option<PathBuf> {
    let package = kernel.parent()?.parent()?;
    let (_, version) = kernel.file_name()?.to_str()?.split_once('-')?;
    // Merged systems have all below /usr.
    let folders = ["lib/modules", "usr/lib/modules"].map(|f| package.join(f).join(version));
    folders.into_iter().find(|folder| folder.is_dir())
}

/// Whether a value names what packages or builds bring, and no path.
pub(crate) fn is_elsewhere(name: &str) -> bool {
    let prefixes = ["build:", "package:", "source-package:", ON_DISK];
    prefixes.iter().any(|prefix| name.starts_with(prefix))
}

impl<'a> Finder<'a> {
    fn new(target: &'a Target, cache: &'a Cache, progress: Progress<'a>) -> Self {
        let packages = target.spec.packages.as_ref();
        Self {
            target,
            store: packages.map(|p| Store::new(cache, &p.architecture)),
            cache,
            progress,
            known_disk: OnceCell::new(),
        }
    }

    fn firmware(&self) -> Result<FirmwareParts, TargetError> {
        let Some(firmware) = &self.target.spec.firmware else {
            return Ok(FirmwareParts::default());
        };
        let part = |key: &str, name: &Option<String>| match name {
            Some(name) => self.part(&format!("firmware.{key}"), name).map(Some),
            None => Ok(None),
        };
        Ok(FirmwareParts {
            image: part("image", &firmware.image)?,
            variables: part("variables", &firmware.variables)?,
            payload: part("payload", &firmware.payload)?,
        })
    }

    /// The initramfs for its place on the disk, where a boot loader there loads it and it is not
    /// the one that is there already.
    fn initramfs_for_disk(
        &self,
        parts: &Parts,
    ) -> Result<Option<(disk_changes::Place, Vec<u8>)>, TargetError> {
        let spec = &self.target.spec;
        let place = spec.initramfs.as_ref().and_then(Initramfs::on_disk);
        let Some(place) = place.filter(|_| spec.kernel.is_none()) else {
            return Ok(None);
        };
        let pack = &|what: &str, bytes: &[u8], compression| {
            let hash = || sha256(bytes);
            compressed(what, bytes, hash, compression, self.cache, self.progress)
        };
        let before = parts.whole_initramfs.as_ref();
        let packed = parts.packed_initramfs(spec, pack)?;
        let changed = packed.filter(|packed| before.is_none_or(|b| b.sha256 != packed.sha256));
        let placed = changed.map(|packed| {
            let place = disk_changes::Place::parse("initramfs.image", place)?;
            Ok((place, packed.bytes.to_vec()))
        });
        placed.transpose()
    }

    /// The disk with what is changed on it, but for its initramfs.
    fn known_disk(&self, disk: &Disk) -> Result<&DiskPart, TargetError> {
        if let Some(known) = self.known_disk.get() {
            return Ok(known);
        }
        let found = self.disk(disk, None)?;
        Ok(self.known_disk.get_or_init(|| found))
    }

    /// The disk with what is changed on it, and with `initramfs` in the place of its own.
    fn disk(
        &self,
        disk: &Disk,
        initramfs: Option<(disk_changes::Place, Vec<u8>)>,
    ) -> Result<DiskPart, TargetError> {
        let name = &disk.image;
        let (path, origin) = self.path("disk.image", name)?;
        if !path.is_file() {
            return Err(TargetError::MissingPart(format!(
                "disk.image names {name}, which is no file; name the image of a disk"
            )));
        }
        let path = std::path::absolute(&path).map_err(|e| TargetError::io("read", &path, e))?;
        let format = disk::disk_format(&path).map_err(|e| TargetError::io("read", &path, e))?;
        if let (DiskFormat::Raw, Some(format)) = (disk.format, format) {
            let why = format!(
                "it is {format}, and disk.format says raw: `bootlap import` makes a target of it, \
                 or qemu-img convert -O raw IMAGE disk.img a raw image"
            );
            return Err(TargetError::artefact(&origin, why));
        }
        let part = DiskPart::new(path, origin, disk.format);
        let loader = self.target.spec.loader.as_ref();
        part.changed(disk, loader, initramfs, self, self.cache, self.progress)
    }

    /// What `key`'s value `build:OUTPUT` names, built if it is not yet.
    fn built(&self, key: &str, output: &str) -> Result<Built, TargetError> {
        let spec = &self.target.spec;
        let (section, build) = match key {
            "kernel.image" => (
                "kernel",
                spec.kernel.as_ref().and_then(|k| k.build.as_ref()),
            ),
            "bootloader.image" => {
                let bootloader = spec.bootloader.as_ref();
                ("bootloader", bootloader.and_then(|b| b.build.as_ref()))
            }
            _ => ("", None),
        };
        let build = build.ok_or_else(|| {
            TargetError::MissingPart(format!(
                "{key} names build:{output}, but nothing says how to build it: add \
                 [kernel.build] or [bootloader.build]; docs/builds.md explains them"
            ))
        })?;
        let inside = match key {
            "kernel.image" => self.inside_kernel()?,
            _ => None,
        };
        let inside = inside.as_ref();
        build::build(
            section,
            build,
            inside,
            output,
            self,
            self.cache,
            self.progress,
        )
    }

    /// The initramfs that the kernel is built with, if it is.
    fn inside_kernel(&self) -> Result<Option<Inside>, TargetError> {
        let initramfs = self.target.spec.initramfs.as_ref();
        let Some(initramfs) = initramfs.filter(|i| i.place == Place::Kernel) else {
            return Ok(None);
        };
        let entries = crate::initramfs::entries(initramfs, self)?;
        Ok(Some(Inside {
            archive: crate::initramfs::built_in(&entries)?,
            compression: initramfs.compression,
        }))
    }

    /// The folder of a source package, with the distribution's patches applied.
    fn source_package(&self, key: &str, package: &str) -> Result<(PathBuf, String), TargetError> {
        if !is_name(package) {
            return Err(TargetError::MissingPart(format!(
                "{key}: {package:?} is no name of a package; write source-package:NAME"
            )));
        }
        let store = Store::of_sources(self.cache);
        let tree = store.folder(package, self.progress)?.join("tree");
        Ok((
            tree,
            format!("{package} {} (source)", store.version(package)),
        ))
    }

    /// The configuration that lies beside a packaged kernel: distributions put
    /// `config-6.1.0-42-arm64` beside `vmlinuz-6.1.0-42-arm64`.
    fn kernel_config(&self) -> Result<Option<DotConfig>, TargetError> {
        let kernel = self.target.spec.kernel.as_ref();
        let Some(image) = kernel.and_then(|k| k.image.as_deref()) else {
            return Ok(None);
        };
        if let Some(output) = image.strip_prefix("build:") {
            return Ok(Some(self.built("kernel.image", output)?.config));
        }
        if !image.starts_with("package:") {
            return Ok(None);
        }
        let (path, _) = self.path("kernel.image", image)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Some((_, version)) = name.split_once('-') else {
            return Ok(None);
        };
        let config = path.with_file_name(format!("config-{version}"));
        // A kernel without it boots as well.
        let read = fs::read(config).ok();
        Ok(read.and_then(|bytes| DotConfig::read(&bytes).ok()))
    }
}

#[cfg(test)]
mod tests;
