//! `target.toml`, typed. `docs/targets.md` is its guide for people.

use std::collections::BTreeMap;

use bootlap_artefact::compress::Compression;
use bootlap_artefact::elf::Strip;
use bootlap_artefact::fit::Hash;
use serde::{Deserialize, Serialize};

use crate::board_model::BoardTable;
use crate::build::Build;
use crate::machine::MachineTable;
use crate::part::ON_DISK;

/// A target as its file describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Spec {
    /// Version of this description; 1.
    pub format: u32,
    /// The target's name.
    pub name: String,
    /// One line about it.
    #[serde(default)]
    pub summary: String,
    /// Folders and files beyond the target's own folder that its initramfs and
    /// its root may hold copies of: any file of this host could be named there.
    #[serde(default)]
    pub outside: Vec<String>,
    /// What *ready* means.
    pub ready: Ready,
    /// More moments to mark, by name.
    #[serde(default)]
    pub mark: Vec<NamedPattern>,
    /// What boots it, as it is written: see [`Target::machine`](crate::Target).
    pub machine: MachineTable,
    /// The real board that it stands for, as it is written: see
    /// [`Target::board`](crate::Target).
    pub board: Option<BoardTable>,
    /// The distribution packages that its parts come from.
    pub packages: Option<Packages>,
    /// The boot loader; without one the machine starts the kernel itself.
    pub bootloader: Option<Bootloader>,
    /// The flash that the boot loader, its environment and the images live in.
    pub flash: Option<Flash>,
    /// The image that holds kernel and initramfs for the boot loader.
    pub fit: Option<Fit>,
    /// The older way to pack the kernel for the boot loader.
    pub uimage: Option<Uimage>,
    /// The kernel; always there for an emulated machine.
    pub kernel: Option<Kernel>,
    /// The initramfs.
    pub initramfs: Option<Initramfs>,
    /// A disk with a file system that is made here.
    pub root: Option<Root>,
    /// What runs first on a machine that starts what is on its disk; without one it is
    /// the machine's own.
    pub firmware: Option<Firmware>,
    /// A disk as it is shipped; without a kernel it has the boot loader, too.
    pub disk: Option<Disk>,
    /// What the boot loader on the disk is told otherwise.
    pub loader: Option<LoaderSettings>,
}

/// What *ready* means.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ready {
    /// Regular expression; the boot is over at the console byte that completes
    /// its first match.
    pub pattern: String,
    /// Where the application starts, as a pattern of a console line.
    pub application: Option<String>,
    /// A command that fails if a boot that got ready does not work; see
    /// `docs/targets.md`.
    pub check: Option<String>,
    /// What has to come behind it, as a pattern of the console: what was put off and must not
    /// be lost.
    pub later: Option<String>,
    /// Give up after this many seconds of the host's time.
    #[serde(default = "default_timeout_s")]
    pub timeout_s: u64,
}

fn default_timeout_s() -> u64 {
    300
}

/// A pattern with a name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NamedPattern {
    /// What to call the moment.
    pub name: String,
    /// Regular expression, searched for in each console line.
    pub pattern: String,
}

/// Where parts named `package:…` come from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Packages {
    /// The packages' architecture as the distribution calls it, e.g. `arm64`.
    pub architecture: String,
}

/// A boot loader and its environment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bootloader {
    /// The program; an emulated machine, which needs it, starts it from the
    /// first flash bank.
    pub image: Option<String>,
    /// How `build:…` in `image` is built.
    pub build: Option<Build>,
    /// U-Boot's environment. `bootargs` is added from `kernel.cmdline`.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
}

/// Two flash banks, the boot loader in the first, the rest in the second; or a
/// card with all of it, which is both banks in one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Flash {
    /// What it is.
    #[serde(default)]
    pub medium: Medium,
    /// Bytes in each bank.
    pub bank_size: u64,
    /// Where the boot loader is on a card: where the machine's boot ROM looks.
    #[serde(default)]
    pub bootloader_offset: u64,
    /// Where the environment is in the second bank.
    pub environment_offset: u64,
    /// Bytes of the environment, as U-Boot was built.
    pub environment_size: u64,
    /// Where the FIT is in the second bank; there with a FIT.
    pub fit_offset: Option<u64>,
    /// Where the kernel's uImage is in the second bank; there with one.
    pub kernel_offset: Option<u64>,
    /// Where the initramfs's uImage is in the second bank.
    pub initramfs_offset: Option<u64>,
}

/// What a target boots from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Medium {
    /// NOR flash in two banks, which the CPU sees as memory.
    #[default]
    Nor,
    /// An SD card, or an eMMC: blocks that somebody has to read.
    Sd,
}

/// How kernel and initramfs are packed for the boot loader.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fit {
    /// How the boot loader checks what it reads.
    pub hash: Hash,
    /// Where the kernel is loaded and entered.
    pub load_address: u64,
}

/// Kernel and initramfs as legacy uImages, each at a place of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Uimage {
    /// Where the kernel is copied or unpacked to.
    pub load_address: u32,
    /// Where it is entered, if that is not where it is loaded.
    pub entry: Option<u32>,
    /// Who starts it.
    #[serde(default)]
    pub started_by: Starter,
    /// Where memory begins, if SPL starts the kernel: it says how much there is to
    /// nobody.
    pub memory_address: Option<u64>,
}

/// Who starts the kernel in a uImage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Starter {
    /// U-Boot, by its `bootcmd`.
    #[default]
    Uboot,
    /// U-Boot's first stage (Falcon mode). The uImage has all that a kernel needs:
    /// the device tree with the command line, the kernel, the initramfs.
    Spl,
}

/// The kernel and its command line.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Kernel {
    /// The kernel image; always there for an emulated machine.
    pub image: Option<String>,
    /// How `build:…` in `image` is built.
    pub build: Option<Build>,
    /// How it is compressed in the FIT or the uImage.
    #[serde(default = "uncompressed")]
    pub compression: Compression,
    /// The device tree in the FIT; without one the machine's own is the kernel's.
    pub devicetree: Option<String>,
    /// Who unpacks a kernel that could unpack itself.
    #[serde(default)]
    pub unpacked_by: Unpacker,
    /// The command line.
    pub cmdline: String,
}

/// Who unpacks the kernel inside a zImage, a `vmlinuz.efi` or a bzImage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unpacker {
    /// The kernel: the boot loader starts the file as it is.
    #[default]
    Kernel,
    /// The boot loader: what is inside is packed as `compression` says.
    Bootloader,
    /// Nobody while it boots: a virtual machine starts what is inside.
    Machine,
}

fn uncompressed() -> Compression {
    Compression::None
}

/// Where the initramfs lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Beside the kernel: what starts the kernel loads it, too.
    #[default]
    Beside,
    /// In the kernel's image, which is built with it.
    Kernel,
}

/// What becomes of the signatures of modules.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Signatures {
    /// They stay.
    #[default]
    Kept,
    /// Modules have none.
    None,
}

/// What becomes of modules that are compressed by themselves.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ModuleCompression {
    /// They stay as they are.
    #[default]
    Kept,
    /// They are compressed with the archive alone.
    None,
}

/// The initramfs: a folder, more files, and links.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Initramfs {
    /// How the archive is compressed.
    #[serde(default = "uncompressed")]
    pub compression: Compression,
    /// Where it lies.
    #[serde(default)]
    pub place: Place,
    /// An initramfs that other tools made; what is named below goes over it.
    pub image: Option<String>,
    /// A folder beside `target.toml` whose content goes to `/`.
    pub tree: Option<String>,
    /// Path in the archive = part; a part that is a folder brings all in it.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Path in the archive = what the symbolic link there points to.
    #[serde(default)]
    pub links: BTreeMap<String, String>,
    /// Empty folders, for mount points.
    #[serde(default)]
    pub dirs: Vec<String>,
    /// Modules of the kernel, from its package, which go to `/modules` with what they need.
    #[serde(default)]
    pub modules: Vec<String>,
    /// A list of paths: of the files, only these stay, and what they need.
    pub only: Option<String>,
    /// Modules: only they, what they need and what mounts a root stay.
    pub minimal: Option<Vec<String>>,
    /// Whether modules are compressed by themselves, too (`.ko.xz`).
    #[serde(default)]
    pub module_compression: ModuleCompression,
    /// Whether modules keep their signatures, which the kernel checks.
    #[serde(default)]
    pub signatures: Signatures,
    /// What goes from programs that only debuggers read.
    #[serde(default)]
    pub strip: Strip,
}

impl Initramfs {
    /// Of a target whose disk brings its own boot loader: the file there that this one takes the
    /// place of, as `PARTITION:/PATH`. A section of a unified kernel, or one initramfs in several
    /// files, has no such place.
    pub(crate) fn on_disk(&self) -> Option<&str> {
        let place = self.image.as_deref()?.strip_prefix(ON_DISK)?;
        let is_file = place.contains(":/") && !place.contains([',', '#']);
        (is_file && self.place == Place::default()).then_some(place)
    }

    /// Whether it is an image of other tools and nothing else.
    pub(crate) fn is_untouched(&self) -> bool {
        let named = self.tree.is_some() || self.only.is_some() || self.minimal.is_some();
        let lists = [
            self.files.is_empty(),
            self.links.is_empty(),
            self.dirs.is_empty(),
        ];
        let more = lists.contains(&false) || !self.modules.is_empty();
        let rewritten = self.module_compression == ModuleCompression::None
            || self.signatures == Signatures::None
            || self.strip != Strip::None;
        self.image.is_some() && !named && !more && !rewritten
    }
}

/// A disk with a file system: `{root}` in the machine's arguments.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Root {
    /// The file system.
    pub format: RootFormat,
    /// A tar archive of all that is in it; without one it is what is named below.
    pub archive: Option<String>,
    /// A folder beside `target.toml` whose content goes to `/`.
    pub tree: Option<String>,
    /// Path in it = part; a part that is a folder brings all in it.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Path in it = what the symbolic link there points to.
    #[serde(default)]
    pub links: BTreeMap<String, String>,
    /// Empty folders, for mount points.
    #[serde(default)]
    pub dirs: Vec<String>,
    /// Bytes of the disk; by default the least power of two that is enough.
    pub size: Option<u64>,
    /// More arguments for what makes it.
    #[serde(default)]
    pub options: Vec<String>,
    /// A list of paths: their files come first, in this order.
    pub order: Option<String>,
}

/// File systems that can be made in an order, and by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RootFormat {
    /// mksquashfs.
    Squashfs,
    /// mke2fs, from 1.47.1 on.
    Ext4,
    /// mkfs.erofs, from 1.8 on.
    Erofs,
}

impl RootFormat {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Squashfs => "squashfs",
            Self::Ext4 => "ext4",
            Self::Erofs => "erofs",
        }
    }
}

/// What an emulated machine runs first, before what is on its disk.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Firmware {
    /// The program; without one it is the machine's own: SeaBIOS on PCs, OpenSBI on
    /// RISC-V.
    pub image: Option<String>,
    /// Its variables in flash, as it is shipped with them.
    pub variables: Option<String>,
    /// What the firmware finds in memory and starts: U-Boot behind OpenSBI.
    pub payload: Option<String>,
}

/// A disk as it is shipped. The guest may write to it, the image stays as it is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Disk {
    /// The image.
    pub image: String,
    /// How it is written down.
    #[serde(default)]
    pub format: DiskFormat,
    /// What it is attached to.
    #[serde(default)]
    pub bus: Bus,
    /// `PARTITION:PATH` on it = the file whose content is there.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// `PARTITION:PATH` on it = what is written there.
    #[serde(default)]
    pub texts: BTreeMap<String, String>,
    /// `PARTITION:PATH` on it = what the symbolic link there points to.
    #[serde(default)]
    pub links: BTreeMap<String, String>,
    /// `PARTITION:PATH` of files and links that are not there.
    #[serde(default)]
    pub remove: Vec<String>,
    /// `PARTITION:PATH` of a file that has its place and no content yet = its MiB.
    #[serde(default)]
    pub room: BTreeMap<String, u32>,
    /// Whether Python checks its compiled modules.
    #[serde(default)]
    pub python_modules: PythonModules,
    /// What a boot finds on it.
    #[serde(default)]
    pub state: DiskState,
}

/// What a boot finds on a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiskState {
    /// What the image has, with what the target changes.
    #[default]
    AsShipped,
    /// What a first boot left there, which ended when the machine switched itself off or
    /// restarted.
    AfterFirstBoot,
}

/// Whether Python reads the source of each compiled module, to see that both fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PythonModules {
    /// Where the module says so.
    #[default]
    AsShipped,
    /// Of no module that fits.
    Unchecked,
}

/// What the boot loader on a disk is told, instead of what its configuration says. The image
/// stays as it is: the guest sees it with these bytes changed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LoaderSettings {
    /// How many seconds its menu waits; with 0 as few as it can.
    pub timeout_s: Option<u32>,
    /// The command line that it gives the kernel.
    pub cmdline: Option<String>,
}

/// How an image is written down. It is said and not guessed: what a guest wrote to a raw
/// image could look like another format, which names files of this host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiskFormat {
    /// Byte for byte as the guest sees it.
    #[default]
    Raw,
    /// QEMU's own, in one file.
    Qcow2,
}

impl DiskFormat {
    /// As it is written, here and for QEMU.
    pub fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Qcow2 => "qcow2",
        }
    }
}

/// What a disk is attached to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bus {
    /// virtio, as a block device.
    #[default]
    VirtioBlk,
    /// virtio, as a SCSI host with one disk.
    VirtioScsi,
    /// An NVMe drive.
    Nvme,
    /// A SATA drive.
    Ahci,
    /// An SD card in a host controller on PCI.
    Sd,
    /// A USB stick.
    Usb,
}

impl Bus {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::VirtioBlk => "virtio-blk",
            Self::VirtioScsi => "virtio-scsi",
            Self::Nvme => "nvme",
            Self::Ahci => "ahci",
            Self::Sd => "sd",
            Self::Usb => "usb",
        }
    }
}
