//! A disk as it is shipped, and what a target can take from it.
//!
//! `disk:PARTITION:PATH` names a file on it; `#SECTION` behind the path a section of a
//! unified kernel image. Several in a row, with commas, are read one after the other, as
//! boot loaders do with the parts of an initramfs.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use bootlap_artefact::kernel_image::{KernelImage, entry_code};
use bootlap_image::early::file_system_modules;
use bootlap_image::loader::Wait;
use bootlap_image::on_demand::{self, Asked};
use bootlap_image::python::Checked;
use bootlap_image::scripts::Scripts;
use bootlap_image::system::Init;
use bootlap_image::units::Units;
use bootlap_image::volume::Files;
use bootlap_image::{ENDS, Found, Handover, ReadAt, Window, caches, generators, idle_services};
use bootlap_rootfs::shell::Rewritten;

use crate::cache::sha256;
use crate::disk_changes::{Changes, Place, look};
use crate::guest::Copies;
use crate::part::{Code, Find, ON_DISK, Part, PartHash, Patch};
use crate::spec::{Disk, DiskFormat, LoaderSettings, PythonModules};
use crate::{Cache, Progress, TargetError};

/// An image, which may be larger than memory.
#[derive(Clone)]
pub(crate) struct DiskPart {
    pub(crate) path: PathBuf,
    pub(crate) origin: String,
    pub(crate) format: DiskFormat,
    /// What is not on it as it is in the image.
    pub(crate) patches: Vec<Patch>,
    /// What was changed for that.
    changes: Arc<Changes>,
    /// What only a guest can read of it.
    copies: Arc<Copies>,
    /// What takes long to find out: many variants of a target share it.
    known: Arc<Known>,
}

#[derive(Default)]
struct Known {
    hash: OnceLock<PartHash>,
    units: OnceLock<Result<(u32, Units), String>>,
    scripts: OnceLock<Result<RootScripts, String>>,
    programs: OnceLock<Programs>,
    checked_modules: OnceLock<Vec<Checked>>,
}

/// A script's file, and what it is rewritten, or why not.
type Attempt = (String, Result<Rewritten, String>);

/// The init scripts of a root.
struct RootScripts {
    partition: u32,
    scripts: Scripts,
    rewritten: Vec<Attempt>,
}

/// The boot loader that firmware starts, and the kernel that is started in the end, as far as
/// they can be read.
#[derive(Default)]
pub(crate) struct Programs {
    /// How they begin.
    pub(crate) code: Code,
    /// Whether the kernel is packed in a program that unpacks it.
    pub(crate) unpacks_itself: bool,
}

/// The volume of the first root with systemd.
fn systemd_volume(found: &Found) -> Result<usize, String> {
    let mut all = found.systems.iter();
    let system = all.find(|system| system.init == Init::Systemd);
    let system = system.ok_or("no root with systemd was found on the disk")?;
    Ok(system.volume)
}

/// The partition and the files of that root.
fn with_systemd(found: &Found) -> Result<(u32, &dyn Files), String> {
    let volume = systemd_volume(found)?;
    let files = found.files(volume);
    let files = files.ok_or("the root with systemd cannot be read")?;
    Ok((found.table.partitions[volume].number, files))
}

/// An image with other bytes at some places.
struct Patched {
    file: File,
    patches: Vec<Patch>,
}

impl ReadAt for Patched {
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(into, at)?;
        let end = at + into.len() as u64;
        for patch in &self.patches {
            let (first, last) = (
                patch.at.max(at),
                (patch.at + patch.bytes.len() as u64).min(end),
            );
            if first < last {
                let from = &patch.bytes[(first - patch.at) as usize..(last - patch.at) as usize];
                into[(first - at) as usize..(last - at) as usize].copy_from_slice(from);
            }
        }
        Ok(())
    }
}

fn patch(patch: bootlap_image::Patch) -> Patch {
    Patch {
        at: patch.at,
        bytes: patch.bytes,
    }
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

/// QEMU's name of the format that an image is in; `None` if it is raw.
///
/// # Errors
/// If the image cannot be read.
pub fn disk_format(image: &Path) -> io::Result<Option<&'static str>> {
    let file = File::open(image)?;
    let (mut head, mut foot) = (Vec::new(), [0; ENDS]);
    (&file).take(ENDS as u64).read_to_end(&mut head)?;
    if let Some(at) = file.metadata()?.len().checked_sub(ENDS as u64) {
        file.read_exact_at(&mut foot, at)?;
    }
    Ok(bootlap_image::format_of(&head, &foot))
}

/// What is on a raw image, also where only a guest can read it.
///
/// # Errors
/// If the image cannot be read.
pub fn look_at_disk(
    image: &Path,
    cache: &Cache,
    progress: Progress<'_>,
) -> Result<Found, TargetError> {
    let copies = Copies::of(image, cache, progress)?;
    look(image, &copies)
}

impl DiskPart {
    pub(crate) fn new(path: PathBuf, origin: String, format: DiskFormat) -> Self {
        Self {
            path,
            origin,
            format,
            patches: Vec::new(),
            changes: Arc::default(),
            copies: Arc::default(),
            known: Arc::default(),
        }
    }

    /// The same with what a target changes on it: what `disk` and `loader` name, and the
    /// initramfs that takes the place of the one there.
    pub(crate) fn changed(
        mut self,
        disk: &Disk,
        loader: Option<&LoaderSettings>,
        initramfs: Option<(Place, Vec<u8>)>,
        finder: &dyn Find,
        cache: &Cache,
        progress: Progress<'_>,
    ) -> Result<Self, TargetError> {
        let mut changes = Changes::of(disk, finder)?;
        if let Some((place, bytes)) = initramfs {
            changes.put(place, bytes);
        }
        if self.raw().is_ok() {
            self.copies = Arc::new(Copies::of(&self.path, cache, progress)?);
        }
        let words = loader.and_then(|loader| loader.cmdline.as_deref());
        if !changes.is_empty() || words.is_some() {
            self.raw()?;
            let image = cache.fingerprint(&self.path)?;
            if !changes.is_empty() {
                self.patches =
                    changes.patches(&self.path, &image, &self.copies, cache, progress)?;
            }
            if let Some(words) = words {
                let found = self.found()?;
                let changed = found.with_cmdline(words);
                let (place, text) =
                    changed.map_err(|e| TargetError::artefact("loader.cmdline", e))?;
                let partition = found.table.partitions[place.volume].number;
                let path = format!("/{}", place.path.trim_start_matches('/'));
                changes.put(Place { partition, path }, text.into_bytes());
                self.patches =
                    changes.patches(&self.path, &image, &self.copies, cache, progress)?;
            }
        }
        self.changes = Arc::new(changes);
        if disk.python_modules == PythonModules::Unchecked {
            let found = self.found()?.checked_modules();
            let unchecked = found.iter().map(|module| patch(module.unchecked()));
            self.patches.extend(unchecked);
        }
        if let Some(seconds) = loader.and_then(|loader| loader.timeout_s) {
            let patches = self.with_wait(seconds)?;
            self.patches.extend(patches);
        }
        Ok(self)
    }

    /// What it is, for the manifest.
    pub(crate) fn hash(&self, cache: &Cache) -> Result<PartHash, TargetError> {
        if let Some(hash) = self.known.hash.get() {
            return Ok(hash.clone());
        }
        let file = fs::metadata(&self.path);
        let file = file.map_err(|e| TargetError::io("read", &self.path, e))?;
        let mut image = cache.fingerprint(&self.path)?;
        if !self.patches.is_empty() {
            for patch in &self.patches {
                image += &format!(" {:#x} {}", patch.at, sha256(&patch.bytes));
            }
            image = sha256(image.as_bytes());
        }
        let hash = PartHash {
            name: "disk".to_owned(),
            origin: self.origin.clone(),
            sha256: image,
            bytes: file.len(),
        };
        Ok(self.known.hash.get_or_init(|| hash).clone())
    }

    /// What runs of it until the kernel does.
    pub(crate) fn programs(&self) -> &Programs {
        self.known.programs.get_or_init(|| {
            let loader = self.found().ok().and_then(|found| found.uefi_entry_code());
            let kernel = self.starts().and_then(|starts| {
                let part = self.part("kernel.image", &starts.kernel);
                part.map_err(|e| e.to_string())
            });
            let kernel = kernel
                .ok()
                .and_then(|part| Some(part.unwrapped().ok()?.into_owned()));
            let kernel = kernel.unwrap_or_default();
            let entries = entry_code(&kernel).into_iter().map(<[u8]>::to_vec);
            Programs {
                code: Code {
                    kernel: entries.collect(),
                    loader: loader.into_iter().collect(),
                },
                unpacks_itself: unpacks_itself(&kernel),
            }
        })
    }

    fn raw(&self) -> Result<(), TargetError> {
        match self.format {
            DiskFormat::Raw => Ok(()),
            DiskFormat::Qcow2 => Err(TargetError::artefact(
                &self.origin,
                "only raw images are looked into; make it one: qemu-img convert -O raw IMAGE \
                 disk.img",
            )),
        }
    }

    /// What is on it, as the guest sees it.
    fn found(&self) -> Result<Found, TargetError> {
        self.raw()?;
        let failed = |e| TargetError::io("read", &self.path, e);
        let file = File::open(&self.path).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        let patches = self.patches.clone();
        let seen = Patched { file, patches };
        let window = Window::all(Rc::new(seen), bytes);
        Ok(Found::with(&window, &|partition| {
            let files = self.copies.files(partition.number)?;
            Some(files.map(|files| self.changes.seen(partition.number, files)))
        }))
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
        Ok(patches.into_iter().map(patch).collect())
    }

    /// The command line that its boot loader gives the kernel, if that can be changed.
    pub(crate) fn words(&self) -> Result<String, String> {
        let found = self.found().map_err(|e| e.to_string())?;
        let (_, entry) = found
            .default()
            .ok_or("no boot loader's entry was found on the disk")?;
        found.with_cmdline(&entry.cmdline)?;
        Ok(entry.cmdline.clone())
    }

    /// The partition of the first root with systemd, and the units that this starts.
    pub(crate) fn units(&self) -> Result<(u32, Units), String> {
        self.known
            .units
            .get_or_init(|| self.look_for_units())
            .clone()
    }

    fn look_for_units(&self) -> Result<(u32, Units), String> {
        let found = self.found().map_err(|e| e.to_string())?;
        let (partition, files) = with_systemd(&found)?;
        let units = Units::of(files).ok_or("no units were found on the disk")?;
        Ok((partition, units))
    }

    /// The partition of the first root with systemd, and those of its generators that make
    /// nothing of this command line, its files and the disk's partitions.
    pub(crate) fn idle_generators(
        &self,
        cmdline: &str,
    ) -> Result<(u32, Vec<&'static str>), String> {
        let found = self.found().map_err(|e| e.to_string())?;
        let (partition, files) = with_systemd(&found)?;
        Ok((
            partition,
            generators::idle(files, cmdline, found.table.kind),
        ))
    }

    /// Those of systemd's services that this command line and the files give nothing to do.
    pub(crate) fn idle_services(&self, cmdline: &str) -> Result<Vec<&'static str>, String> {
        let found = self.found().map_err(|e| e.to_string())?;
        let (_, files) = with_systemd(&found)?;
        Ok(idle_services::idle(files, cmdline))
    }

    /// Looks whether the first root with systemd has the caches that its started units make.
    pub(crate) fn has_caches(&self) -> Result<(), String> {
        let found = self.found().map_err(|e| e.to_string())?;
        let (_, files) = with_systemd(&found)?;
        caches::are_made(files, &self.units()?.1)
    }

    /// The partition of the first root with systemd, and the text of a file there, if there is
    /// one.
    pub(crate) fn text_of_systemd(&self, path: &str) -> Result<(u32, Option<String>), String> {
        let found = self.found().map_err(|e| e.to_string())?;
        let (partition, files) = with_systemd(&found)?;
        Ok((partition, files.text(path)))
    }

    /// Whether the first root with systemd has a file.
    pub(crate) fn root_has(&self, path: &str) -> bool {
        let found = self.found();
        found.is_ok_and(|found| with_systemd(&found).is_ok_and(|(_, files)| files.has(path)))
    }

    /// What starts a service of the first root with systemd when it is asked for.
    pub(crate) fn started_on_demand(&self, service: &str) -> Result<Option<Asked>, String> {
        let found = self.found().map_err(|e| e.to_string())?;
        let (_, files) = with_systemd(&found)?;
        Ok(on_demand::asked(files, service))
    }

    /// Whether the first root with systemd mounts disks besides its own.
    pub(crate) fn mounts_others(&self, partition: u32) -> Result<bool, String> {
        let found = self.found().map_err(|e| e.to_string())?;
        let mut all = found.table.partitions.iter();
        let volume = all.position(|one| one.number == partition);
        Ok(volume.is_some_and(|volume| found.mounts_other_disks(volume)))
    }

    /// What file system a partition has.
    pub(crate) fn kind_of(&self, partition: u32) -> Result<&'static str, String> {
        let found = self.found().map_err(|e| e.to_string())?;
        let mut all = found.table.partitions.iter().zip(&found.volumes);
        let volume = all.find(|(one, _)| one.number == partition);
        Ok(volume.map_or("", |(_, volume)| volume.kind))
    }

    /// The modules that mount the root of this command line, but for those of the disk itself.
    pub(crate) fn root_modules(&self, cmdline: &str) -> Result<&'static [&'static str], String> {
        let found = self.found().map_err(|e| e.to_string())?;
        Ok(file_system_modules(found.plain_root(cmdline)?))
    }

    /// The modules that Python reads the source of only to check them; none where that cannot be
    /// told.
    pub(crate) fn checked_modules(&self) -> &[Checked] {
        let look = || {
            let found = self.found().ok();
            found.map_or_else(Vec::new, |found| found.checked_modules())
        };
        self.known.checked_modules.get_or_init(look)
    }

    /// The partition of the first root.
    pub(crate) fn root_partition(&self) -> Result<u32, String> {
        let found = self.found().map_err(|e| e.to_string())?;
        let system = found.systems.first();
        let system = system.ok_or("no system that could be started was found on the disk")?;
        Ok(found.table.partitions[system.volume].number)
    }

    /// The partition of the first root that is started by init scripts, and these.
    pub(crate) fn scripts(&self) -> Result<(u32, Scripts), String> {
        let known = self.known_scripts()?;
        Ok((known.partition, known.scripts.clone()))
    }

    /// Those scripts, rewritten so that they start fewer programs.
    pub(crate) fn rewritten(&self) -> Result<Vec<Attempt>, String> {
        Ok(self.known_scripts()?.rewritten.clone())
    }

    fn known_scripts(&self) -> Result<&RootScripts, String> {
        let look = || {
            let found = self.found().map_err(|e| e.to_string())?;
            let mut all = found.systems.iter().filter_map(|system| {
                let files = found.files(system.volume)?;
                let scripts = Scripts::of(files, system.init)?;
                let rewritten = scripts.rewritten(files);
                Some(RootScripts {
                    partition: found.table.partitions[system.volume].number,
                    scripts,
                    rewritten,
                })
            });
            all.next()
                .ok_or_else(|| "no root with init scripts was found on the disk".to_owned())
        };
        self.known
            .scripts
            .get_or_init(look)
            .as_ref()
            .map_err(String::clone)
    }

    /// The boot loader's name, and how long its menu waits now.
    pub(crate) fn wait(&self) -> Result<(&'static str, Wait), String> {
        let found = self.found().map_err(|e| e.to_string())?;
        let (loader, _) = found
            .default()
            .ok_or("no boot loader with a menu was found")?;
        Ok((loader.name, loader.wait))
    }

    /// The initramfs that its boot loader loads: its name, and the file.
    pub(crate) fn initramfs(&self) -> Result<(String, Part), String> {
        let name = self.starts()?.initramfs;
        if name.is_empty() {
            return Err("its boot loader loads no initramfs".into());
        }
        let part = self.part("initramfs.image", &name);
        Ok((name, part.map_err(|e| e.to_string())?))
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
