//! The root of an image under a kernel of the distribution: for boards that cannot be emulated.

use super::{Early, Plan, Source, consoles};
use crate::Found;

/// Modules for each kind of file system.
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

impl Plan {
    /// Starts the first root file system with a kernel of the distribution.
    pub(super) fn user_space(&mut self, found: &Found) -> Result<(), String> {
        let system = found.systems.first().ok_or(
            "no root file system that can be read is on it, so there is no user space to start",
        )?;
        let machine = &self.machine;
        let package = machine.kernel.ok_or_else(|| {
            format!(
                "no packaged kernel is known here for {}; name one of your own: --kernel FILE",
                machine.debian
            )
        })?;
        let number = found.table.partitions[system.volume].number;
        let device = match number {
            0 => "/dev/vda".to_owned(),
            number => format!("/dev/vda{number}"),
        };
        let mut modules = vec!["virtio_pci", "virtio_blk"];
        for volume in &found.volumes {
            let known = FILE_SYSTEMS.iter().find(|(kind, _)| *kind == volume.kind);
            for name in known.map_or(&[][..], |(_, names)| names) {
                if !modules.contains(name) {
                    modules.push(name);
                }
            }
        }
        let kind = found.volumes[system.volume].kind;
        let cmdline = found.default().map(|(_, entry)| entry.cmdline.as_str());
        let cmdline = cmdline.unwrap_or_default();
        let dropped = [
            "console",
            "root",
            "rootfstype",
            "rootwait",
            "init",
            "initrd",
        ];
        let mut words: Vec<String> = cmdline
            .split_whitespace()
            .filter(|word| !dropped.contains(&word.split('=').next().unwrap_or(word)))
            .map(str::to_owned)
            .collect();
        if !words.iter().any(|word| word == "ro" || word == "rw") {
            words.push("ro".to_owned());
        }
        words.push(format!("root={device}"));
        words.push(format!("rootfstype={kind}"));
        words.push(format!("console={}", machine.console));
        let named = consoles(cmdline);
        if !named.is_empty() && !named.contains(&machine.console) {
            self.unknown.push(format!(
                "the console is {} here, where the image has {}: what it starts on that alone is \
                 not seen",
                machine.console,
                named.join(", ")
            ));
        }
        let early = Early {
            modules,
            device,
            kind,
            init: system.init_path.clone(),
        };
        self.chose(
            "kernel",
            format!(
                "Debian's {package}, as you asked for user space alone: what is measured holds \
                 from the init of the image on"
            ),
        );
        self.unknown.push(
            "firmware, boot loader, the image's own kernel and its drivers are left out; what in \
             user space waits for the board's devices behaves otherwise here"
                .to_owned(),
        );
        self.start(Source::Package(package, early), words.join(" "));
        Ok(())
    }
}
