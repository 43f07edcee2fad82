//! What a kernel has to load before it can mount a root.

use crate::Found;

/// Modules for each kind of file system; those that the kernel asks for by an alias come first.
const FILE_SYSTEMS: [(&str, &[&str]); 9] = [
    ("ext2", &["crc32c_generic", "ext4"]),
    ("ext3", &["crc32c_generic", "ext4"]),
    ("ext4", &["crc32c_generic", "ext4"]),
    ("squashfs", &["squashfs", "overlay"]),
    ("vfat", &["vfat", "nls_cp437", "nls_ascii"]),
    ("btrfs", &["crc32c_generic", "btrfs"]),
    ("xfs", &["crc32c_generic", "xfs"]),
    ("f2fs", &["crc32_generic", "f2fs"]),
    ("erofs", &["erofs"]),
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
        } else {
            let number = number_of(root)
                .ok_or_else(|| format!("root={root} is no partition of a disk that is known"))?;
            parts.iter().position(|p| p.number == number)
        };
        let place = place.ok_or_else(|| format!("root={root} was not found on the disk"))?;
        let kind = self.volumes[place].kind;
        if file_system_modules(kind).is_empty() {
            return Err(match kind {
                "" => format!("what is on root={root} is not known"),
                kind => format!("root={root} is {kind}, which takes more than to mount it"),
            });
        }
        let fstab = self.files(place).and_then(|files| files.text("etc/fstab"));
        let point = |line: &str| line.split_whitespace().nth(1).map(str::to_owned);
        let lines = fstab.as_deref().unwrap_or_default().lines();
        let mut points = lines
            .filter(|l| !l.trim_start().starts_with('#'))
            .filter_map(point);
        match points.any(|point| point == "/usr") {
            true => Err("/usr is a file system of its own, which the initramfs mounts".to_owned()),
            false => Ok(kind),
        }
    }

    /// Whether the fstab of this volume mounts something that is not on this disk.
    pub fn mounts_other_disks(&self, volume: usize) -> bool {
        let fstab = self.files(volume).and_then(|files| files.text("etc/fstab"));
        let lines = fstab.as_deref().unwrap_or_default().lines().map(str::trim);
        let mut fields = lines
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| {
                line.split_whitespace()
                    .next()
                    .zip(line.split_whitespace().nth(1))
            });
        let here = |device: &str| {
            let uuid = device
                .strip_prefix("UUID=")
                .map(|uuid| uuid.trim_matches('"'));
            let mut volumes = self.volumes.iter();
            volumes.any(|v| uuid.is_some_and(|uuid| v.uuid.eq_ignore_ascii_case(uuid)))
        };
        let on_disk = |device: &str| device.contains('=') || device.starts_with("/dev/");
        fields.any(|(device, point)| point != "/" && on_disk(device) && !here(device))
    }
}

/// The partition in `/dev/sda2`, `/dev/mmcblk0p2`; 0 for a whole disk of the first kind.
fn number_of(device: &str) -> Option<u32> {
    let name = device.strip_prefix("/dev/")?;
    let disks = ["sd", "vd", "hd", "xvd"];
    if let Some(rest) = disks.iter().find_map(|disk| name.strip_prefix(disk)) {
        let number = rest.trim_start_matches(|c: char| c.is_ascii_lowercase());
        return match number {
            "" => Some(0),
            digits => digits.parse().ok(),
        };
    }
    let cards = ["mmcblk", "nvme"];
    cards.iter().find_map(|card| name.strip_prefix(card))?;
    name.rsplit_once('p')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::number_of;

    #[test]
    fn partitions_have_numbers() {
        assert_eq!(number_of("/dev/vda1"), Some(1));
        assert_eq!(number_of("/dev/sda"), Some(0));
        assert_eq!(number_of("/dev/mmcblk0p12"), Some(12));
        assert_eq!(number_of("/dev/nvme0n1p3"), Some(3));
        for other in [
            "/dev/mapper/vg-root",
            "/dev/vg/root",
            "/dev/md0",
            "ZFS=rpool",
            "/dev/nfs",
        ] {
            assert_eq!(number_of(other), None, "{other}");
        }
    }
}
