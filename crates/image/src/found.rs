//! All that is known of an image.

use std::collections::BTreeSet;

use bootlap_artefact::arch::Arch;
use bootlap_artefact::kernel_image::KernelImage;

use crate::loader::{self, Entry, Loader, efi, script};
use crate::system::{self, System};
use crate::table::{self, Table};
use crate::volume::{Files, MOST_FILE, Place, Volume};
use crate::window::Window;

/// A kernel's drivers, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drivers {
    /// Those that are there from its start.
    pub built_in: BTreeSet<String>,
    /// Those that something has to load.
    pub modules: BTreeSet<String>,
}

impl Drivers {
    /// Whether it has all of these.
    pub fn have(&self, names: &[&str]) -> bool {
        let mut names = names.iter();
        names.all(|name| self.built_in.contains(*name) || self.modules.contains(*name))
    }
}

/// The driver in a file of this path (`kernel/fs/ext4/ext4.ko.xz`), as the kernel calls it.
pub fn driver(path: &str) -> Option<String> {
    let (name, _) = path.rsplit('/').next()?.split_once(".ko")?;
    Some(name.replace('-', "_"))
}

/// What is on an image.
pub struct Found {
    /// Its partitions.
    pub table: Table,
    /// What is in each of them.
    pub volumes: Vec<Volume>,
    /// Boot loaders, the one that runs last first.
    pub loaders: Vec<Loader>,
    /// Root file systems.
    pub systems: Vec<System>,
}

/// The files of a partition whose file system is not read here, or why there are none; `None` if
/// nobody else reads them either.
pub type Others<'o> = &'o dyn Fn(&table::Partition) -> Option<Result<Box<dyn Files>, String>>;

impl Found {
    /// Looks through a disk.
    pub fn of(disk: &Window) -> Self {
        Self::with(disk, &|_| None)
    }

    /// Looks through a disk, with what others read of it.
    pub fn with(disk: &Window, others: Others<'_>) -> Self {
        let table = table::read(disk);
        let volume = |p: &table::Partition| {
            let mut volume = Volume::of(&disk.part(p.start, p.bytes));
            if volume.files.is_none() && volume.trouble.is_none() {
                match others(p) {
                    Some(Ok(files)) => volume.files = Some(files),
                    Some(Err(why)) => volume.trouble = Some(why),
                    None => {}
                }
            }
            volume
        };
        let volumes: Vec<Volume> = table.partitions.iter().map(volume).collect();
        Self {
            loaders: loader::find(disk, &table, &volumes),
            systems: system::find(&volumes),
            table,
            volumes,
        }
    }

    /// What is in an initramfs that lies beside a kernel; `None` if it is none.
    pub fn of_initramfs(bytes: &[u8]) -> Option<Self> {
        let volumes = vec![Volume::of_archive(bytes)?];
        Some(Self {
            table: Table::without(bytes.len() as u64),
            loaders: Vec::new(),
            systems: system::find(&volumes),
            volumes,
        })
    }

    /// Whether it is a disk, and not an initramfs.
    pub fn is_disk(&self) -> bool {
        !self.volumes.iter().any(Volume::is_archive)
    }

    /// The version of the kernel that is started if nobody chooses: `6.1.0-42-arm64`.
    pub fn kernel_version(&self) -> Option<String> {
        let (loader, entry) = self.default()?;
        let version = self.kernel(loader, entry)?.version?;
        let version = version.strip_prefix("Linux version ").unwrap_or(&version);
        version.split(' ').next().map(str::to_owned)
    }

    /// The drivers that this kernel has, or the only one that a root has modules for; `None` if
    /// no root has a list of them.
    pub fn drivers(&self) -> Option<Drivers> {
        let version = self.kernel_version();
        self.systems.iter().find_map(|system| {
            let files = self.files(system.volume)?;
            let folder = ["lib/modules", "usr/lib/modules"]
                .iter()
                .find_map(|folder| {
                    let there = files.list(folder).unwrap_or_default();
                    let version = match (&version, there.as_slice()) {
                        (Some(version), there) if there.contains(version) => version,
                        (None, [only]) => only,
                        _ => return None,
                    };
                    Some(format!("{folder}/{version}"))
                })?;
            let built_in = files.text(&format!("{folder}/modules.builtin"))?;
            let modules = files.text(&format!("{folder}/modules.dep"));
            let modules = modules.unwrap_or_default();
            let files = modules.lines().filter_map(|line| line.split(':').next());
            Some(Drivers {
                built_in: built_in.lines().filter_map(driver).collect(),
                modules: files.filter_map(driver).collect(),
            })
        })
    }

    /// What is started if nobody chooses: the loader, and its entry.
    pub fn default(&self) -> Option<(&Loader, &Entry)> {
        let named = |loader: &'_ Loader| loader.default.filter(|at| *at < loader.entries.len());
        let found = self.loaders.iter().find_map(|l| Some((l, named(l)?)));
        found.map(|(loader, at)| (loader, &loader.entries[at]))
    }

    /// The files of a volume.
    pub fn files(&self, volume: usize) -> Option<&dyn Files> {
        self.volumes.get(volume)?.files.as_deref()
    }

    /// Where an entry's file is: in the file system that the entry names, in that of the
    /// configuration, or in any.
    pub fn place(&self, loader: &Loader, entry: &Entry, path: &str) -> Option<Place> {
        let own = loader.config.as_ref().map(|place| place.volume);
        let mut candidates = entry
            .volume
            .into_iter()
            .chain(own)
            .chain(0..self.volumes.len());
        let volume = candidates.find(|v| self.files(*v).is_some_and(|files| files.has(path)))?;
        Some(Place {
            volume,
            path: path.to_owned(),
        })
    }

    /// The bytes of a file.
    pub fn read(&self, place: &Place) -> Option<Vec<u8>> {
        self.files(place.volume)?.read(&place.path, MOST_FILE).ok()
    }

    /// The kernel that an entry starts, as far as it can be told.
    pub fn kernel(&self, loader: &Loader, entry: &Entry) -> Option<KernelImage> {
        let bytes = self.read(&self.place(loader, entry, &entry.kernel)?)?;
        let bytes = script::unwrapped(&bytes).unwrap_or(&bytes);
        KernelImage::describe(bytes).ok()
    }

    /// How the program begins that UEFI starts of it; `None` if there is none, or it cannot be
    /// told from others.
    pub fn uefi_entry_code(&self) -> Option<Vec<u8>> {
        efi::entry_code(&self.volumes)
    }

    /// The processor that it is for.
    pub fn arch(&self) -> Option<Arch> {
        let of_kernel = || {
            let (loader, entry) = self.default()?;
            self.kernel(loader, entry)?.arch
        };
        let of_system = || self.systems.iter().find_map(|s| s.arch);
        let of_sector = || {
            let on_pcs = self.loaders.iter().any(|l| l.by_sector);
            on_pcs.then_some(Arch::X86_64)
        };
        efi::arch(&self.volumes)
            .or_else(of_system)
            .or_else(of_kernel)
            .or_else(of_sector)
    }
}
