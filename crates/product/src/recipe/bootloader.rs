//! Recipes for U-Boot.

use bootlap_artefact::compress::Compression;
use bootlap_artefact::hash::Hash;
use bootlap_image::loader::Wait;

use super::Plain;
use super::loaders_initramfs::of_image;
use crate::parts::disk::DiskPart;
use crate::spec::{Bootloader, Starter, Uimage, Unpacker};
use crate::{Edit, Machine, Parts, Target};

/// The boot loader, whether the boot runs all of it or not.
pub(super) fn program(target: &Target) -> Result<&Bootloader, String> {
    let bootloader = target.spec.bootloader.as_ref();
    bootloader.ok_or_else(|| "the target has no boot loader".to_owned())
}

/// The boot loader that runs its scripts to start the kernel.
pub(super) fn uboot(target: &Target) -> Result<&Bootloader, String> {
    let by_spl = |u: &Uimage| u.started_by == Starter::Spl;
    if target.spec.uimage.as_ref().is_some_and(by_spl) {
        return Err("SPL starts the kernel: U-Boot's scripts do not run already".into());
    }
    program(target)
}

/// Do not wait for a key before booting.
///
/// U-Boot counts down `bootdelay` seconds so that a developer can stop it.
/// With 0 it still looks once whether a key was pressed, so the prompt can be
/// reached by holding a key while switching on; -2 does not look at all.
pub(super) const BOOTDELAY: Plain = Plain::new(
    "uboot-bootdelay",
    "U-Boot does not wait for a key",
    "to get U-Boot's prompt, hold a key while switching on",
    bootdelay,
);

fn bootdelay(target: &Target, _: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let delay = uboot(target)?.environment.get("bootdelay");
    // Without the variable, U-Boot uses the delay it was built with: 2 s.
    let delay = delay.map_or("2", String::as_str);
    match delay.trim().parse() {
        Ok(-1_i64) => Err("bootdelay -1 means not to boot by itself".into()),
        Ok(i64::MIN..=0) => Err(format!("bootdelay is {delay} already")),
        _ => Ok(vec![Edit::set("bootloader.environment.bootdelay", "0")]),
    }
}

/// Do not wait at the menu of the boot loader on a disk.
///
/// GRUB, systemd-boot, and U-Boot or SYSLINUX with their `extlinux.conf` show a menu and count
/// down, so that somebody can choose. In the field nobody does. The number in the loader's
/// configuration is written over in place; the image stays as it is, and the guest sees it with
/// these bytes changed. On the product it is `timeout` in GRUB's or systemd-boot's
/// configuration, and `TIMEOUT 1` in `extlinux.conf`: U-Boot makes a whole second of it, and
/// waits for ever with 0.
pub(super) const MENU: Plain = Plain::new(
    "loader-timeout",
    "the menu of the boot loader on the disk does not wait",
    "to get the menu, hold a key (Shift or Escape for GRUB, Space for systemd-boot)",
    menu,
);

fn menu(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let disk = match (&parts.disk, &target.spec.kernel) {
        (Some(disk), None) => disk,
        _ => return Err("there is no boot loader on a disk".into()),
    };
    let set = target
        .spec
        .loader
        .as_ref()
        .and_then(|loader| loader.timeout_s);
    // A second is the least that U-Boot waits.
    let least = match disk.wait()? {
        ("U-Boot", Wait::Tenths(tenths)) => tenths <= 10,
        (_, wait) => wait == Wait::Tenths(0),
    };
    if set == Some(0) || least {
        return Err("its menu waits as little as it can already".into());
    }
    disk.with_wait(0).map_err(|e| e.to_string())?;
    Ok(vec![Edit::number("loader.timeout-s", 0)])
}

/// U-Boot prints nothing.
///
/// Each character costs ten bit times on the serial line: 86.8 us at 115 200
/// baud. Needs a U-Boot that was built with `CONFIG_SILENT_CONSOLE`; others
/// ignore the variable, so the recipe looks into the binary first.
///
/// A silent U-Boot also takes `console=` from the kernel's command line
/// (`fixup_silent_linux`), and with it the line that says that the application
/// is ready; `silent_linux=no` keeps its hands off.
pub(super) const SILENT: Plain = Plain::new(
    "uboot-silent",
    "U-Boot prints nothing",
    "no messages when U-Boot itself fails",
    silent,
);

fn silent(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let uboot = uboot(target)?;
    if uboot.environment.contains_key("silent") {
        return Err("the environment sets `silent` already".into());
    }
    let binary = parts.bootloader.as_ref().ok_or(
        "U-Boot ignores `silent` unless it was built with CONFIG_SILENT_CONSOLE; name its \
         binary in bootloader.image, to be looked into",
    )?;
    if memchr::memmem::find(&binary.bytes, b"\0silent\0").is_none() {
        return Err(
            "this U-Boot was built without CONFIG_SILENT_CONSOLE and would ignore \
             `silent`; rebuild it with CONFIG_SILENT_CONSOLE=y, as \
             uboot-options=SILENT_CONSOLE=y does"
                .into(),
        );
    }
    let mut edits = vec![Edit::set("bootloader.environment.silent", "1")];
    if !uboot.environment.contains_key("silent_linux") {
        edits.push(Edit::set("bootloader.environment.silent_linux", "no"));
    }
    Ok(edits)
}

/// Do not check the images before starting them.
///
/// The boot loader reads every byte of kernel and initramfs once more to check
/// it; [`VERIFY_OFF`] leaves the hashes in and tells it not to. Where the storage has its own
/// error correction, that finds nothing that would not be found anyway.
pub(super) const NO_HASH: Plain = Plain::new(
    "fit-no-hash",
    "the FIT carries no hashes that U-Boot would check",
    "a damaged image is started instead of refused",
    no_hash,
);

fn no_hash(target: &Target, _: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let fit = target.spec.fit.as_ref();
    let fit = fit.ok_or("the target has no FIT")?;
    if fit.hash == Hash::None {
        return Err("the FIT has no hash already".into());
    }
    if target
        .spec
        .bootloader
        .as_ref()
        .is_some_and(verifies_nothing)
    {
        return Err("U-Boot's `verify` is off, so it checks no hash already".into());
    }
    Ok(vec![Edit::set("fit.hash", "none")])
}

/// U-Boot starts images without checking them.
///
/// With `verify=no`, `bootm` skips the CRC of a legacy uImage's data and the
/// hashes of a FIT (the header's own CRC is always checked). Where the storage
/// has its own error correction, they find nothing that would not be found
/// anyway. A FIT's signature is another matter: a required one is checked
/// whatever `verify` says.
pub(super) const VERIFY_OFF: Plain = Plain::new(
    "uboot-verify-off",
    "U-Boot starts images without checking them",
    "a damaged image is started instead of refused",
    verify_off,
);

fn verify_off(target: &Target, _: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let uboot = uboot(target)?;
    if verifies_nothing(uboot) {
        return Err("U-Boot's `verify` is off already".into());
    }
    match (&target.spec.fit, &target.spec.uimage) {
        (Some(fit), _) if fit.hash == Hash::None => {
            Err("the FIT has no hash already, so there is nothing to check".into())
        }
        (None, None) => Err("the target has neither a FIT nor a uImage to check".into()),
        _ => Ok(vec![Edit::set("bootloader.environment.verify", "no")]),
    }
}

/// U-Boot takes a word for yes if it begins with one of `1yYtT`; none means
/// yes too.
fn verifies_nothing(uboot: &Bootloader) -> bool {
    let verify = uboot.environment.get("verify");
    verify.is_some_and(|v| !v.starts_with(['1', 'y', 'Y', 't', 'T']))
}

/// The machine starts the kernel itself.
///
/// What Falcon mode does on a product: the first stage (SPL) loads the kernel
/// and jumps to it, and U-Boot proper is only started if a key is held. In an
/// emulated machine the emulator does it, so this says what the boot loader
/// costs in all, and no patch set can carry it. Of a disk as it is shipped, the kernel, the
/// initramfs and the command line are those of the entry that its loader starts by default;
/// firmware and loader do not run.
pub(super) const NO_BOOTLOADER: Plain = Plain::new(
    "bootloader-none",
    "the machine starts kernel and initramfs itself",
    "a product needs a first stage that does the same (U-Boot's Falcon mode), with \
                   the same command line; there is no prompt and no update through U-Boot",
    no_bootloader,
)
.only_if_asked();

fn no_bootloader(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let spec = &target.spec;
    if let (Some(disk), None) = (&parts.disk, &spec.kernel) {
        return without_that_of(disk, target);
    }
    if spec.bootloader.is_none() {
        return Err("there is no boot loader already".into());
    }
    if let Machine::Board(_) = target.machine {
        return Err(
            "the boot loader is on the board, and no description takes it away; build its \
             first stage with CONFIG_SPL_OS_BOOT=y"
                .into(),
        );
    }
    let mut edits = vec![Edit::remove("bootloader")];
    let tables = [
        ("flash", spec.flash.is_some()),
        ("fit", spec.fit.is_some()),
        ("uimage", spec.uimage.is_some()),
    ];
    edits.extend(tables.iter().filter(|t| t.1).map(|t| Edit::remove(t.0)));
    // The machine loads the kernel as it is.
    let kernel = spec.kernel.as_ref();
    if kernel.is_some_and(|k| k.compression != Compression::None) {
        edits.push(Edit::remove("kernel.compression"));
    }
    if kernel.is_some_and(|k| k.unpacked_by != Unpacker::default()) {
        edits.push(Edit::remove("kernel.unpacked-by"));
    }
    Ok(edits)
}

/// The machine starts what the loader on the disk would start.
fn without_that_of(disk: &DiskPart, target: &Target) -> Result<Vec<Edit>, String> {
    let starts = disk.starts()?;
    let mut edits = Vec::new();
    let spec = &target.spec;
    let tables = [
        ("firmware", spec.firmware.is_some()),
        ("loader", spec.loader.is_some()),
    ];
    edits.extend(tables.iter().filter(|t| t.1).map(|t| Edit::remove(t.0)));
    edits.push(Edit::set("kernel.image", starts.kernel));
    edits.push(Edit::set("kernel.cmdline", starts.cmdline));
    // One that is named is that of the loader, and what is changed of it stays so.
    if !starts.initramfs.is_empty() && spec.initramfs.is_none() {
        let (name, part) = disk.initramfs()?;
        edits.extend(of_image(&name, &part));
    }
    Ok(edits)
}
