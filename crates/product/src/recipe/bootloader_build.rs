//! Recipes that build U-Boot.

use super::{Listed, Plain, options};
use crate::{Edit, Parts, Target};

/// Build U-Boot without what it does not need to start an image from flash.
///
/// A board's default configuration serves every way of booting it: from the
/// network, USB sticks, disks, through EFI. U-Boot looks for such devices, sets
/// them up, and copies itself to the end of memory with all of it. What is left
/// starts images from flash or memory. Nothing of the environment changes.
pub(super) const MINIMAL: Plain = Plain::new(
    "uboot-minimal",
    "U-Boot is built from source without networks, disks, USB and EFI",
    "it starts images from flash or memory only; its updates are yours to build",
    minimal,
)
.only_if_asked();

/// Build U-Boot with other options.
///
/// `SILENT_CONSOLE=y` for `uboot-silent`, `ZSTD=y` for a kernel that is packed
/// with Zstandard, `BOOTSTAGE=y,BOOTSTAGE_REPORT=y` for times of its own. Kconfig
/// refuses what other options need, and says so.
pub(super) const OPTIONS: Plain = Plain::new(
    "uboot-options",
    "U-Boot is built from source with other options",
    "what needed the option is missing; its updates are yours to build",
    options,
)
.lists(Listed::Changed)
.only_if_asked();

/// What only finds and drives devices that images are not started from. A
/// command stays on without its devices, and a board's own scripts then name
/// what is not there, so it goes by name.
const NEEDLESS: &[&str] = &[
    "USE_PREBOOT",
    "EFI_LOADER",
    "NET",
    "VIRTIO_NET",
    "VIRTIO_BLK",
    "CMD_VIRTIO",
    "USB",
    "CMD_USB",
    "PCI",
    "SCSI",
    "CMD_SCSI",
    "AHCI",
    "TPM",
    "CMD_DFU",
];

/// Commands and interfaces that are gone with it.
const LOST: &[&str] = &[
    "bootefi", "bootp", "dfu", "dhcp", "nfs", "nvme", "ping", "pxe", "sata", "scsi", "tftp",
    "tftpboot", "tpm", "usb", "virtio",
];

/// A packaged U-Boot, and what builds it: Debian's packages hold
/// `usr/lib/u-boot/BOARD/u-boot.bin`, made from `BOARD_defconfig`.
const PACKAGED: &str = "package:u-boot-";
const INSIDE: &str = "/usr/lib/u-boot/";
const SOURCE: &str = "source-package:u-boot";

/// The edits that build from source what is taken from a package.
fn from_source(target: &Target) -> Result<Vec<Edit>, String> {
    let uboot = super::bootloader::program(target)?;
    let image = uboot.image.as_deref().unwrap_or_default();
    let packaged = image.strip_prefix(PACKAGED);
    let inside = packaged.and_then(|p| p.split_once(INSIDE)?.1.split_once('/'));
    let (board, file) = inside.ok_or(
        "the boot loader is no U-Boot of the distribution, so its source is not known; describe \
         it in [bootloader.build]",
    )?;
    let packages = target.spec.packages.as_ref();
    let architecture = match packages.map_or("", |p| &*p.architecture) {
        "arm64" => "arm64",
        "armhf" | "armel" => "arm",
        "riscv64" => "riscv",
        "amd64" | "i386" => "x86",
        other => return Err(format!("no compiler is known for U-Boot on {other:?}")),
    };
    Ok(vec![
        Edit::set("bootloader.image", format!("build:{file}")),
        Edit::set("bootloader.build.source", SOURCE),
        Edit::set("bootloader.build.architecture", architecture),
        Edit::set("bootloader.build.config", format!("{board}_defconfig")),
    ])
}

/// The edits for a U-Boot from source with these options.
pub(super) fn with_options(target: &Target, wanted: &[(&str, &str)]) -> Result<Vec<Edit>, String> {
    let build = super::bootloader::program(target)?.build.as_ref();
    let mut edits = match build {
        Some(_) => Vec::new(),
        None => from_source(target)?,
    };
    let there = build.map(|b| b.options.clone()).unwrap_or_default();
    edits.extend(options::set("bootloader", &there, wanted)?);
    Ok(edits)
}

fn minimal(target: &Target, _: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let scripts = super::bootloader::uboot(target)?.environment.values();
    let mut words = scripts.flat_map(|s| s.split(|c: char| !c.is_ascii_alphanumeric()));
    if let Some(word) = words.find(|w| LOST.contains(w)) {
        return Err(format!(
            "the environment uses {word}, which it would lack; take it out, or say with \
             uboot-options what else can go"
        ));
    }
    let off: Vec<(&str, &str)> = NEEDLESS.iter().map(|name| (*name, "n")).collect();
    with_options(target, &off)
}

fn options(target: &Target, _: &Parts, value: &str) -> Result<Vec<Edit>, String> {
    with_options(
        target,
        &options::parse(value, "uboot-options=SILENT_CONSOLE=y")?,
    )
}
