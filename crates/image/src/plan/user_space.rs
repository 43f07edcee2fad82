//! The root of an image under a kernel of the distribution: for boards that cannot be emulated.

use super::{Early, Plan, Source, consoles};
use crate::Found;
use crate::early::file_system_modules;

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
        let partition = &found.table.partitions[system.volume];
        if partition.is_logical() {
            return Err(format!(
                "its root is on LVM ({}), which only its own initramfs sets up",
                partition.name
            ));
        }
        let device = match partition.number {
            0 => "/dev/vda".to_owned(),
            number => format!("/dev/vda{number}"),
        };
        let mut modules = vec!["virtio_pci", "virtio_blk"];
        for volume in &found.volumes {
            for name in file_system_modules(volume.kind) {
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
            "rootflags",
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
        // As a subvolume of btrfs is named.
        let flags = cmdline
            .split_whitespace()
            .rev()
            .find_map(|word| word.strip_prefix("rootflags="));
        let plain = |c: char| c.is_ascii_alphanumeric() || "=,@._/-".contains(c);
        let flags = flags.filter(|flags| flags.chars().all(plain));
        let early = Early {
            modules,
            device,
            kind,
            flags: flags.map_or_else(|| "ro".to_owned(), |flags| format!("ro,{flags}")),
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
