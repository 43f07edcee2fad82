//! A distribution's initramfs, reduced to what mounts the root.

use super::cmdline::{Line, find};
use super::{Plain, dracut};
use crate::cmdline::words;
use crate::initramfs::Look;
use crate::initramfs::minimal;
use crate::initramfs::minimal_init::{ENTERS, Enter};
use crate::spec::Bus;
use crate::{Edit, Parts, Target};

/// The initramfs mounts the root, and does nothing else.
///
/// A distribution's initramfs is made for any machine: it starts udev, which loads a driver for
/// each device that there is, waits until all are quiet, and then looks for the root. Of it stay
/// the modules of the root's disk and file system, a shell, `mount`, `insmod` and `blkid`, and
/// a short `/init`; systemd or udev find all other devices later. `initramfs.minimal` lists the
/// modules: those of the target's disk, and of the file system that is on it.
pub(super) const REDUCED: Plain = Plain::new(
    "initramfs-minimal",
    "the initramfs mounts the root, and does nothing else",
    "another disk controller needs its module here; there is no check of the root before it is \
     mounted, no resuming from swap, and no asking for a password",
    reduced,
)
.of_initramfs();

/// What a command line asks an initramfs for, besides the root.
const ASKED: [&str; 12] = [
    "boot",
    "cryptdevice",
    "cryptopts",
    "ip",
    "iscsi_initiator",
    "live",
    "nbdroot",
    "netroot",
    "nfsroot",
    "overlayroot",
    "resume",
    "zfs",
];
/// Scripts of initramfs-tools that have nothing to do once the modules are known.
const KNOWN: [&str; 9] = [
    "all_generic_ide",
    "blacklist",
    "framebuffer",
    "keymap",
    "resume",
    "udev",
    "fixrtc",
    "ntfs_3g",
    "ORDER",
];

fn reduced(target: &Target, parts: &Parts, _: &str) -> Result<Vec<Edit>, String> {
    let spec = target.spec.initramfs.as_ref();
    let spec = spec.ok_or("the target has no initramfs")?;
    if spec.image.is_none() {
        return Err("initramfs.image names none of a distribution".into());
    }
    if spec.minimal.is_some() {
        return Err("initramfs.minimal is there already".into());
    }
    let line = Line::of(target, parts)?.text;
    let more = |word: &&str| {
        let asked = ASKED.iter().any(|name| find(word, name).is_some());
        asked || word.starts_with("rd.")
    };
    if let Some(word) = words(&line).into_iter().find(|word| more(word)) {
        return Err(format!(
            "the command line asks the initramfs for more than the root: {word}"
        ));
    }
    let modules = modules_of(target, parts, &line)
        .map_err(|why| format!("{why}; initramfs.minimal = [\"nvme\", \"ext4\"] names modules"))?;
    let members = parts.initramfs.iter().flatten();
    let members = members.map(|entry| (&entry.path[..], &entry.what));
    let files = members
        .clone()
        .filter(|(_, what)| !matches!(what.look(), Look::Dir));
    let more: Vec<_> = match dracut::of(members.clone()) {
        Some(dracut) => dracut.does_more(),
        None => files.filter_map(|(path, _)| does_more(path)).collect(),
    };
    if !more.is_empty() {
        return Err(format!(
            "it does more than to mount the root ({}); where that is not needed, write \
             initramfs.minimal = {modules:?}",
            more.join(", ")
        ));
    }
    let disk = parts.disk.as_ref();
    let has = |path: &&str| disk.is_some_and(|disk| disk.root_has(path));
    if minimal::fits(members, &modules)? == Enter::OfRoot && !ENTERS.iter().any(has) {
        return Err("neither the initramfs nor the root has a switch_root".into());
    }
    let edits = modules
        .iter()
        .map(|name| Edit::add("initramfs.minimal", name));
    Ok(edits.collect())
}

/// The modules of the target's disk and of its root.
fn modules_of(target: &Target, parts: &Parts, line: &str) -> Result<Vec<String>, String> {
    let both = parts.disk.as_ref().zip(target.spec.disk.as_ref());
    let (disk, spec) = both.ok_or("the target has no [disk] with the root")?;
    let modules = of_bus(spec.bus).iter().chain(disk.root_modules(line)?);
    Ok(modules.map(|name| (*name).to_owned()).collect())
}

/// The modules of a disk on this bus; on PCI, as QEMU attaches it.
fn of_bus(bus: Bus) -> &'static [&'static str] {
    match bus {
        Bus::VirtioBlk => &["virtio_pci", "virtio_blk"],
        Bus::VirtioScsi => &["virtio_pci", "virtio_scsi", "sd_mod"],
        Bus::Nvme => &["nvme"],
        Bus::Ahci => &["ahci", "sd_mod"],
        Bus::Sd => &["sdhci_pci", "mmc_block"],
        Bus::Usb => &["xhci_pci", "usb_storage", "sd_mod"],
    }
}

/// What a member of an initramfs does that is not known to be needless, if it does anything.
fn does_more(path: &[u8]) -> Option<String> {
    let path = std::str::from_utf8(path).ok()?;
    let name = path.rsplit('/').next().unwrap_or(path);
    let script =
        path.starts_with("scripts/") && path.split('/').count() == 3 && !KNOWN.contains(&name);
    let other = [
        "conf/conf.d/resume",
        "cryptroot/crypttab",
        "etc/crypttab",
        "etc/mdadm/mdadm.conf",
        "etc/mdadm.conf",
        "etc/lvm/lvm.conf",
        "usr/lib/systemd/systemd",
        "lib/systemd/systemd",
        "usr/lib/initcpio/init_functions",
    ];
    (script || other.contains(&path)).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::does_more;

    #[test]
    fn scripts_of_others_are_told() {
        assert_eq!(does_more(b"scripts/init-top/udev"), None);
        assert_eq!(does_more(b"scripts/functions"), None);
        assert!(does_more(b"scripts/local-bottom/growroot").is_some());
        assert!(does_more(b"etc/crypttab").is_some());
        assert_eq!(does_more(b"usr/bin/cat"), None);
    }
}
