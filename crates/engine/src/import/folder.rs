//! What is to be booted of a folder that a build has made: Buildroot's `output/images`,
//! OpenEmbedded's `deploy/images/MACHINE`, OpenWrt's `bin/targets/…`.

use std::fs;
use std::path::{Path, PathBuf};

use bootlap_image::beside::{self, Script};
use bootlap_image::stars::fits;

use crate::failure::{Exit, Failure};

/// Files of one boot: a disk, a kernel beside a root, or a kernel and an initramfs.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) disk: Option<PathBuf>,
    pub(super) kernel: Option<PathBuf>,
    pub(super) initramfs: Option<PathBuf>,
    pub(super) devicetree: Option<PathBuf>,
    /// How the build itself starts them.
    pub(super) script: Option<Script>,
}

/// Names of whole disks, the likeliest first: `*` stands for anything.
const DISKS: [&str; 8] = [
    "sdcard.img*",
    "disk.img*",
    "*.wic*",
    "*-ext4-combined-efi.img*",
    "*-combined*.img*",
    "*.qcow2",
    "*.sdcard*",
    "*.raw*",
];
/// Kernels, as they are called beside an image.
const KERNELS: [&str; 10] = [
    "bzImage",
    "Image",
    "zImage",
    "vmlinuz*",
    "linux",
    "Image.gz",
    "vmlinux",
    "*-kernel.bin",
    "bzImage-*.bin",
    "Image-*.bin",
];
/// Root file systems without a partition table.
const ROOTS: [&str; 11] = [
    "rootfs.ext4*",
    "rootfs.ext2*",
    "rootfs.squashfs*",
    "rootfs.erofs*",
    "rootfs.btrfs*",
    "*.ext4*",
    "*.ext3*",
    "*.squashfs*",
    "*-ext4-rootfs.img*",
    "*-rootfs.img*",
    "*.erofs*",
];
const INITRAMFS: [&str; 5] = [
    "rootfs.cpio*",
    "*.cpio.gz",
    "*.cpio*",
    "initrd*",
    "initramfs*",
];
/// What else could be one: asked last.
const IMAGES: [&str; 6] = ["*.img*", "*.simg*", "*.vmdk*", "*.vdi*", "*.vhd*", "*.iso*"];
/// What lies beside an image, and is none.
const NOT_IMAGES: [&str; 12] = [
    ".bmap",
    ".sha512",
    ".sha256",
    ".sha256sum",
    ".md5",
    ".asc",
    ".sig",
    ".zsync",
    ".manifest",
    ".json",
    ".uboot",
    ".conf",
];

/// What to boot of a folder.
pub(super) fn files(folder: &Path) -> Result<Files, Failure> {
    let here = Here::of(folder)?;
    if let Some(script) = here.script()? {
        return here.as_scripted(script);
    }
    if let Some(disk) = here.one_of(&DISKS, "disks")? {
        return Ok(Files {
            disk: Some(disk),
            ..Files::default()
        });
    }
    if let Some(kernel) = here.one_of(&KERNELS, "kernels")? {
        return here.beside(kernel);
    }
    let found = Files {
        disk: here.one_of(&IMAGES, "images")?,
        ..Files::default()
    };
    if found.disk.is_some() {
        return Ok(found);
    }
    Err(Failure::new(
        Exit::NothingUsable,
        format!("{} has nothing to boot", folder.display()),
    )
    .hint(
        "looked for a disk (*.img, *.raw, *.wic, *.sdcard, *.qcow2 …, compressed or not), and for a kernel \
         (Image, bzImage …) beside a root file system; name the file itself",
    ))
}

/// Whether a file of an archive is called as disks are.
pub(super) fn is_disk(name: &str) -> bool {
    let names = DISKS.iter().chain(&IMAGES);
    names.into_iter().any(|pattern| fits(name, pattern)) && is_image(name)
}

fn is_image(name: &str) -> bool {
    !NOT_IMAGES.iter().any(|end| name.ends_with(end))
}

/// A folder's files.
struct Here<'f> {
    folder: &'f Path,
    names: Vec<String>,
}

impl<'f> Here<'f> {
    fn of(folder: &'f Path) -> Result<Self, Failure> {
        let failed = |e: std::io::Error| {
            Failure::new(
                Exit::Usage,
                format!("cannot read {}: {e}", folder.display()),
            )
        };
        let entries = fs::read_dir(folder).map_err(failed)?;
        let mut names: Vec<String> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let name = entry.file_name().into_string().ok()?;
                entry.path().is_file().then_some(name)
            })
            .collect();
        names.sort();
        Ok(Self { folder, names })
    }

    /// How the build starts what it made, if it says so and names a kernel.
    fn script(&self) -> Result<Option<Script>, Failure> {
        let text = |name: &str| fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        let buildroot = "start-qemu.sh";
        if self.names.iter().any(|name| name == buildroot) {
            return Ok(beside::start_qemu(buildroot, &text(buildroot)));
        }
        // OpenEmbedded's own way is the kernel alone, but its whole disk is what people ship.
        if self.one_of(&DISKS, "disks")?.is_some() {
            return Ok(None);
        }
        let path = self.only(self.fitting("*.qemuboot.conf"), "settings for runqemu")?;
        Ok(path.and_then(|path| {
            let name = path.file_name()?.to_str()?;
            beside::qemuboot(name, &text(name))
        }))
    }

    /// What a script names; what it does not, by name.
    fn as_scripted(&self, script: Script) -> Result<Files, Failure> {
        let named = |name: &str| {
            let name = name.rsplit('/').next().unwrap_or_default();
            let path = self.folder.join(name);
            (!name.is_empty() && path.is_file()).then_some(path)
        };
        let kernel = match named(&script.kernel) {
            Some(kernel) => kernel,
            None => self.one_of(&KERNELS, "kernels")?.ok_or_else(|| {
                let folder = self.folder.display();
                Failure::new(
                    Exit::NothingUsable,
                    format!(
                        "{} starts {}, which is not in {folder}",
                        script.name, script.kernel
                    ),
                )
            })?,
        };
        let mut files = Files {
            disk: named(&script.disk),
            initramfs: named(&script.initramfs),
            devicetree: named(&script.devicetree),
            kernel: Some(kernel.clone()),
            script: None,
        };
        if files.disk.is_none() && files.initramfs.is_none() {
            let found = self.beside(kernel)?;
            (files.disk, files.initramfs) = (found.disk, found.initramfs);
        }
        files.script = Some(script);
        Ok(files)
    }

    /// A kernel with the root, or the initramfs, that lies beside it.
    fn beside(&self, kernel: PathBuf) -> Result<Files, Failure> {
        let disk = self.one_of(&ROOTS, "root file systems")?;
        let initramfs = match disk {
            Some(_) => None,
            None => self.one_of(&INITRAMFS, "initramfs")?,
        };
        Ok(Files {
            disk,
            initramfs,
            kernel: Some(kernel),
            ..Files::default()
        })
    }

    fn fitting(&self, pattern: &str) -> Vec<&String> {
        let names = self.names.iter().filter(|name| fits(name, pattern));
        names
            .filter(|name| pattern.ends_with(".conf") || is_image(name))
            .collect()
    }

    /// The file that fits the first of the patterns that any fits.
    fn one_of(&self, patterns: &[&str], what: &str) -> Result<Option<PathBuf>, Failure> {
        for pattern in patterns {
            if let Some(one) = self.only(self.fitting(pattern), what)? {
                return Ok(Some(one));
            }
        }
        Ok(None)
    }

    /// The only one, or the one that is meant.
    fn only(&self, found: Vec<&String>, what: &str) -> Result<Option<PathBuf>, Failure> {
        let is_link = |name: &&&String| self.folder.join(name).is_symlink();
        // Builds name the newest by a link without a date.
        let links: Vec<&&String> = found.iter().filter(is_link).collect();
        match (found.as_slice(), links.as_slice()) {
            ([], _) => Ok(None),
            ([one], _) => Ok(Some(self.folder.join(one))),
            (_, [one]) => Ok(Some(self.folder.join(one))),
            (several, _) => {
                let names: Vec<&str> = several.iter().map(|name| name.as_str()).collect();
                let said = format!(
                    "{} has several {what}: {}",
                    self.folder.display(),
                    names.join(", ")
                );
                Err(Failure::new(Exit::Usage, said)
                    .hint("name the one that is meant, and with --kernel its kernel"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(dir: &Path, name: &str, text: &str) {
        fs::write(dir.join(name), text).unwrap();
    }

    fn name(path: Option<&PathBuf>) -> &str {
        path.map_or("", |path| path.file_name().unwrap().to_str().unwrap())
    }

    #[test]
    fn the_disk_of_a_build_is_found() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "core-image.manifest", "x");
        let said = files(dir.path()).unwrap_err();
        assert!(said.message.contains("nothing to boot"), "{}", said.message);
        put(dir.path(), "core-image-qemuarm64.wic.bz2", "x");
        put(dir.path(), "core-image-qemuarm64.wic.bmap", "x");
        put(dir.path(), "Image", "x");
        let found = files(dir.path()).unwrap();
        assert_eq!(name(found.disk.as_ref()), "core-image-qemuarm64.wic.bz2");
        assert!(found.kernel.is_none());
        put(dir.path(), "core-image-qemuarm64-2026.wic.bz2", "x");
        let said = files(dir.path()).unwrap_err();
        assert!(said.message.contains("several disks"), "{}", said.message);
        put(dir.path(), "sdcard.img", "x");
        let found = files(dir.path()).unwrap();
        assert_eq!(name(found.disk.as_ref()), "sdcard.img");

        // As mkosi leaves it, and a virtual machine's.
        for disk in ["image.raw", "disk-1.vmdk"] {
            let dir = tempfile::tempdir().unwrap();
            put(dir.path(), disk, "x");
            put(dir.path(), "image.vmlinuz", "x");
            let found = files(dir.path()).unwrap();
            assert_eq!(name(found.disk.as_ref()), disk);
        }
    }

    #[test]
    fn a_kernel_is_found_with_its_root() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "Image", "x");
        put(dir.path(), "rootfs.cpio.gz", "x");
        let found = files(dir.path()).unwrap();
        assert_eq!(name(found.initramfs.as_ref()), "rootfs.cpio.gz");
        put(dir.path(), "rootfs.ext4", "x");
        put(dir.path(), "rootfs.tar", "x");
        let found = files(dir.path()).unwrap();
        assert_eq!(name(found.disk.as_ref()), "rootfs.ext4");
        assert!(found.initramfs.is_none());
        // The build's own script knows better.
        put(
            dir.path(),
            "start-qemu.sh",
            "exec qemu-system-aarch64 -M virt -kernel Image -initrd rootfs.cpio.gz -append a\n",
        );
        let found = files(dir.path()).unwrap();
        assert_eq!(name(found.initramfs.as_ref()), "rootfs.cpio.gz");
        assert_eq!(name(found.kernel.as_ref()), "Image");
        assert!(found.disk.is_none());
        assert_eq!(found.script.unwrap().cmdline, "a");
    }
}
