//! Boot loaders on a disk: what they are, and what they offer to start.

mod bls;
pub(crate) mod efi;
mod extlinux;
mod gap;
mod grub;
mod pi;
pub(crate) mod script;

use crate::table::Table;
use crate::volume::{Files, Place, Volume};
use crate::window::Window;

/// A section of a program of UEFI, without what fills it up; `None` if there is none.
pub(crate) fn section(program: &[u8], name: &str) -> Option<Vec<u8>> {
    efi::section(program, name)
}

/// What a Raspberry Pi's firmware is called.
pub(crate) const PI: &str = "Raspberry Pi firmware";

/// A boot loader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loader {
    /// What it is called: `GRUB`, `systemd-boot` …
    pub name: &'static str,
    /// Its version, if it says so.
    pub version: String,
    /// Where its program was found, for people; empty if only its configuration was.
    pub at: String,
    /// Where its configuration is.
    pub config: Option<Place>,
    /// How long its menu waits.
    pub wait: Wait,
    /// What it offers.
    pub entries: Vec<Entry>,
    /// Which of them it starts if nobody asks for another.
    pub default: Option<usize>,
    /// What its configuration asks to choose what it starts, if only the board knows that.
    pub guess: Option<String>,
    /// A boot sector starts it: a PC's BIOS does that.
    pub by_sector: bool,
}

impl Loader {
    /// Why an entry that has no kernel of its own is not known to start one, for people.
    pub(crate) fn without_kernel(&self, entry: &Entry) -> String {
        format!(
            "what \"{}\" of {} starts cannot be told: a hypervisor or another loader has the \
             kernel, if there is one",
            entry.title, self.name
        )
    }
}

/// How long a menu waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// Nothing says.
    #[default]
    Unknown,
    /// Until somebody chooses.
    Forever,
    /// So many tenths of a second.
    Tenths(u32),
}

/// Something to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Its name in the menu.
    pub title: String,
    /// The kernel.
    pub kernel: String,
    /// What goes into the initramfs, in this order.
    pub initramfs: Vec<String>,
    /// The device tree, or the folder that has it.
    pub devicetree: String,
    /// The kernel's command line.
    pub cmdline: String,
    /// The volume that the paths are in, as far as the entry says so.
    pub volume: Option<usize>,
    /// The file that it is in, where that is not the loader's configuration.
    pub at: Option<Place>,
    /// The number of the line that has the kernel and its command line, from 1, where the file
    /// is a script.
    pub line: Option<usize>,
}

/// All boot loaders of a disk, the one that runs last first.
pub(crate) fn find(disk: &Window, table: &Table, volumes: &[Volume]) -> Vec<Loader> {
    let mut found: Vec<Loader> = Vec::new();
    let programs = efi::programs(volumes);
    let in_gap = gap::programs(disk, table);
    let program = |name: &str| {
        let mut all = programs.iter().chain(&in_gap);
        all.find(|p| p.name == name).cloned()
    };
    let read = [
        grub::read(table, volumes),
        bls::read(volumes),
        extlinux::uboot(volumes),
        extlinux::syslinux(volumes),
    ];
    for mut loader in read.into_iter().flatten() {
        let of_program = program(loader.name);
        // Configuration without its program is of a package that was installed with others.
        if let Some(program) = of_program {
            (loader.at, loader.version) = (program.at, program.version);
            loader.by_sector = program.by_sector;
            found.push(loader);
        } else if programs.is_empty()
            && in_gap.is_empty()
            // U-Boot and SYSLINUX read the same file.
            && found.iter().all(|known| known.config != loader.config)
        {
            found.push(loader);
        }
    }
    if let Some(loader) = pi::read(volumes) {
        // It starts the kernel, or one of the others.
        let first = if loader.default.is_some() {
            0
        } else {
            found.len()
        };
        found.insert(first, loader);
    }
    if !found.iter().any(|loader| loader.name == "U-Boot") {
        found.extend(script::read(table, volumes));
    }
    let known = |found: &[Loader], name: &str| found.iter().any(|l| l.name == name);
    for program in programs.into_iter().chain(in_gap) {
        if !known(&found, program.name) {
            found.push(program);
        }
    }
    // What changes them does not follow links.
    for loader in &mut found {
        let entries = loader.entries.iter_mut().map(|entry| &mut entry.at);
        for place in entries.chain([&mut loader.config]).flatten() {
            place.settle(volumes);
        }
    }
    found
}

/// The files of each volume that can be read, with the place of the volume.
fn readable(volumes: &[Volume]) -> impl Iterator<Item = (usize, &dyn Files)> {
    let all = volumes.iter().enumerate();
    all.filter_map(|(n, volume)| Some((n, volume.files.as_deref()?)))
}
