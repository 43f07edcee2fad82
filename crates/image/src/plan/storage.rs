//! Whether the kernel finds its root: has drivers for the disk, and calls it as it is called here.

use bootlap_artefact::arch::Arch;

use super::Plan;
use crate::Found;
use crate::early::root_device;

impl Plan {
    /// Whether the image's kernel can read the disk, and from which bus.
    pub(super) fn drivers(&mut self, found: &Found) -> Result<(), String> {
        let Some(drivers) = found.drivers() else {
            return Ok(());
        };
        let has = |names: &[&str]| drivers.have(names);
        if has(&["virtio_blk"]) {
            return Ok(());
        }
        let buses = [("nvme", &["nvme"][..]), ("ahci", &["ahci", "sd_mod"])];
        match buses.iter().find(|(_, names)| has(names)) {
            Some((bus, _)) => {
                self.bus = bus;
                self.chose("disk", "the kernel on it has no driver for virtio disks");
                Ok(())
            }
            None => Err(format!(
                "its kernel has no driver for a disk of an emulated machine (its modules.builtin \
                 and modules.dep name no virtio_blk, nvme or ahci): it is for another board; \
                 import it with --user-space, and its root starts with Debian's kernel for {}",
                self.machine.debian
            )),
        }
    }

    /// Whether the disk is called here as the command line calls it.
    pub(super) fn root(&mut self, found: &Found) {
        let on_disk = found.default().map(|(_, entry)| &entry.cmdline);
        let cmdline = match &self.kernel {
            Some(kernel) => kernel.cmdline.clone(),
            None => on_disk.cloned().unwrap_or_default(),
        };
        let Some((word, named, partition)) = root_device(&cmdline) else {
            return;
        };
        let here = match self.bus {
            "ahci" => "sd",
            "nvme" => "nvme",
            _ => "vd",
        };
        if named == here {
            return;
        }
        if let Some(kernel) = &mut self.kernel {
            let root = match (here, partition) {
                ("nvme", "") => "root=/dev/nvme0n1".to_owned(),
                ("nvme", partition) => format!("root=/dev/nvme0n1p{partition}"),
                (here, partition) => format!("root=/dev/{here}a{partition}"),
            };
            let why = format!(
                "{word} is {root} here, as the disk is attached to {}",
                self.bus
            );
            kernel.cmdline = kernel.cmdline.replacen(word, &root, 1);
            self.chose("kernel", why);
            return;
        }
        let pc = matches!(self.machine.arch, Arch::X86 | Arch::X86_64);
        let bus = match named {
            "sd" | "hd" => "ahci",
            "mmcblk" => "sd",
            "nvme" => "nvme",
            _ => "virtio-blk",
        };
        if pc {
            let why = format!("the kernel's command line has {word}");
            self.bus = bus;
            self.chose("disk", why);
        } else {
            self.unknown.push(format!(
                "the kernel's command line has {word}, and here its disk is /dev/vda: it may wait \
                 for ever; import it with --firmware direct, which changes the word"
            ));
        }
    }
}
