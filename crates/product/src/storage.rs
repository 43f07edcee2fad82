//! Disks that QEMU reads in the host's time.
//!
//! In simulated time an idle guest's clock jumps to its next timer, also while the
//! host still reads what the guest waits for: 16 MiB from a virtio disk took 0.08
//! to 56 s of guest time. Flash, SD cards and memory modules (NVDIMM) are read
//! before the guest goes on.

use crate::machine::Qemu;

/// Devices that read and write beside the guest, as far as their names go.
const ASYNCHRONOUS: [&str; 9] = [
    "virtio-blk",
    "nvme",
    "ide-hd",
    "ide-cd",
    "scsi-hd",
    "scsi-cd",
    "scsi-block",
    "usb-storage",
    "floppy",
];
/// Options that attach one, and need no device.
const SHORT: [&str; 9] = [
    "hda", "hdb", "hdc", "hdd", "cdrom", "fda", "fdb", "virtfs", "fsdev",
];
/// Kinds of drives that are devices that do not.
const SYNCHRONOUS_DRIVES: [&str; 4] = ["none", "pflash", "sd", "mtd"];

impl Qemu {
    /// Of the arguments, the first that attaches storage that simulated time
    /// cannot wait for.
    pub fn asynchronous_storage(&self) -> Option<String> {
        let values = self.args.iter().skip(1).map(String::as_str).chain([""]);
        self.args.iter().zip(values).find_map(|(option, value)| {
            // QEMU takes `--drive` for `-drive`.
            let name = option.strip_prefix("--").or(option.strip_prefix('-'))?;
            attaches(name, value).then(|| format!("-{name} {value}"))
        })
    }
}

fn attaches(option: &str, value: &str) -> bool {
    match option {
        "device" => ASYNCHRONOUS.iter().any(|name| value.starts_with(name)),
        "drive" => {
            let kind = value.split(',').find_map(|v| v.strip_prefix("if="));
            !SYNCHRONOUS_DRIVES.contains(&kind.unwrap_or("the machine's own"))
        }
        _ => SHORT.contains(&option),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(args: &[&str]) -> Option<String> {
        let qemu = Qemu {
            program: "qemu-system-aarch64".into(),
            machine: "virt".into(),
            cpu: "max".into(),
            memory_mb: 512,
            cpus: 1,
            icount_shift: 1,
            skip_waits: true,
            args: args.iter().map(|a| (*a).to_owned()).collect(),
        };
        qemu.asynchronous_storage()
    }

    #[test]
    fn disks_of_the_host_are_told_from_memory_and_cards() {
        for args in [
            ["-drive", "file=a,if=virtio"],
            ["--drive", "file=a,format=raw"],
            ["-device", "virtio-blk-pci,drive=d"],
            ["-device", "nvme,serial=1,drive=d"],
            ["-hda", "disk.img"],
        ] {
            let told = of(&args).unwrap();
            assert!(told.ends_with(args[1]) && !told.starts_with("--"), "{told}");
        }
        let beside = ["-m", "slots=1", "-hda", "disk.img"];
        assert_eq!(of(&beside).as_deref(), Some("-hda disk.img"));
        for args in [
            &[
                "-drive",
                "file=a,if=none,id=d",
                "-device",
                "sd-card,drive=d",
            ][..],
            &["-drive", "if=pflash,file=a"],
            &[
                "-object",
                "memory-backend-file,id=d,mem-path=a",
                "-device",
                "nvdimm,memdev=d",
            ],
            &["-nic", "user,model=e1000"],
            &["-name", "hda"],
            &[],
        ] {
            assert_eq!(of(args), None);
        }
    }
}
