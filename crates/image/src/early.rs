//! What a kernel has to load before it can mount a root.

use crate::Found;
use crate::system::{Mount, fstab};

/// Modules for each kind of file system; those that the kernel asks for by an alias come first.
const FILE_SYSTEMS: [(&str, &[&str]); 10] = [
    ("ext2", &["crc32c_generic", "ext4"]),
    ("ext3", &["crc32c_generic", "ext4"]),
    ("ext4", &["crc32c_generic", "ext4"]),
    ("squashfs", &["squashfs", "overlay"]),
    ("vfat", &["vfat", "nls_cp437", "nls_ascii"]),
    ("btrfs", &["crc32c_generic", "btrfs"]),
    ("xfs", &["crc32c_generic", "xfs"]),
    ("f2fs", &["crc32_generic", "f2fs"]),
    ("erofs", &["erofs"]),
    ("iso9660", &["isofs"]),
];

/// Modules for a file system of this kind; none where the kind is not known.
pub fn file_system_modules(kind: &str) -> &'static [&'static str] {
    let known = FILE_SYSTEMS.iter().find(|(name, _)| *name == kind);
    known.map_or(&[], |(_, modules)| modules)
}

impl Found {
    /// The kind of the file system that a command line names as root.
    ///
    /// # Errors
    /// Why a kernel with the drivers of disk and file system could not mount that one by itself,
    /// or why it is not known whether it could.
    pub fn plain_root(&self, cmdline: &str) -> Result<&'static str, String> {
        let root = cmdline
            .split_whitespace()
            .rev()
            .find_map(|word| word.strip_prefix("root="))
            .ok_or("no root= on the command line")?;
        let same = |a: &str, b: &str| !a.is_empty() && a.eq_ignore_ascii_case(b);
        let parts = &self.table.partitions;
        let place = if let Some(uuid) = root.strip_prefix("UUID=") {
            self.volumes.iter().position(|v| same(&v.uuid, uuid))
        } else if let Some(label) = root.strip_prefix("LABEL=") {
            let named = |v: &crate::volume::Volume| !label.is_empty() && v.label == label;
            self.volumes.iter().position(named)
        } else if let Some(uuid) = root.strip_prefix("PARTUUID=") {
            parts.iter().position(|p| same(&p.partuuid, uuid))
        } else if let Some(at) = parts.iter().position(|p| p.is_called(root)) {
            Some(at)
        } else {
            let (_, _, partition) = root_device(cmdline)
                .ok_or_else(|| format!("root={root} is no partition of a disk that is known"))?;
            // A whole disk has no number.
            let number = partition.parse().unwrap_or(0);
            parts.iter().position(|p| p.number == number)
        };
        let place = place.ok_or_else(|| format!("root={root} was not found on the disk"))?;
        if parts[place].is_logical() {
            return Err(format!(
                "root={root} is on LVM, which the initramfs sets up"
            ));
        }
        let kind = self.volumes[place].kind;
        if file_system_modules(kind).is_empty() {
            return Err(match kind {
                "" => format!("what is on root={root} is not known"),
                kind => format!("root={root} is {kind}, which takes more than to mount it"),
            });
        }
        match self.mounts(place).iter().any(|mount| mount.point == "/usr") {
            true => Err("/usr is a file system of its own, which the initramfs mounts".to_owned()),
            false => Ok(kind),
        }
    }

    /// Whether the fstab of this volume mounts something that is not on this disk.
    pub fn mounts_other_disks(&self, volume: usize) -> bool {
        let here = |device: &str| {
            let uuid = device.strip_prefix("UUID=").unwrap_or_default();
            let mut volumes = self.volumes.iter();
            !uuid.is_empty() && volumes.any(|v| v.uuid.eq_ignore_ascii_case(uuid))
        };
        let on_disk = |device: &str| device.contains('=') || device.starts_with("/dev/");
        self.mounts(volume)
            .iter()
            .any(|m| m.point != "/" && on_disk(&m.device) && !here(&m.device))
    }

    fn mounts(&self, volume: usize) -> Vec<Mount> {
        self.files(volume).map_or_else(Vec::new, fstab)
    }
}

/// The word that names the root by its device, the kind of device, and the partition.
pub(crate) fn root_device(cmdline: &str) -> Option<(&str, &'static str, &str)> {
    let mut words = cmdline.split_whitespace();
    let word = words.rfind(|word| word.starts_with("root=/dev/"))?;
    let device = word.strip_prefix("root=/dev/")?;
    let kinds = ["vd", "sd", "hd", "mmcblk", "nvme"];
    let kind = kinds.into_iter().find(|kind| device.starts_with(kind))?;
    let behind = &device[kind.len()..];
    let partition = match kind {
        "mmcblk" | "nvme" => behind.rsplit_once('p').map_or("", |(_, number)| number),
        _ => behind.trim_start_matches(|c: char| c.is_ascii_lowercase()),
    };
    partition
        .bytes()
        .all(|b| b.is_ascii_digit())
        .then_some((word, kind, partition))
}

#[cfg(test)]
mod tests {
    use super::root_device;

    #[test]
    fn partitions_have_numbers() {
        let number = |device: &str| {
            let line = format!("quiet root={device} ro");
            root_device(&line).map(|(_, _, partition)| partition.to_owned())
        };
        for (device, partition) in [
            ("/dev/vda1", "1"),
            ("/dev/sda", ""),
            ("/dev/mmcblk0p12", "12"),
            ("/dev/nvme0n1p3", "3"),
        ] {
            assert_eq!(number(device).as_deref(), Some(partition), "{device}");
        }
        for other in [
            "/dev/mapper/vg-root",
            "/dev/vg/root",
            "/dev/md0",
            "ZFS=rpool",
        ] {
            assert_eq!(number(other), None, "{other}");
        }
    }
}
