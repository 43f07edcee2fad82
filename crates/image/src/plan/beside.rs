//! A kernel that lies beside the image, started as the build that made both says.

use super::{Plan, Source, consoles};
use crate::Found;
use crate::beside::{Beside, Script};
use crate::machine::{MACHINES, Machine};

impl Plan {
    /// Starts a kernel that is not on the image.
    pub(super) fn beside(&mut self, found: &Found, kernel: &Beside) -> Result<(), String> {
        let on_disk = found.is_disk();
        let script = kernel.script.as_ref();
        if let Some(script) = script {
            self.take(script, on_disk)?;
        }
        let said = script.map(|s| s.cmdline.as_str()).filter(|c| !c.is_empty());
        let mut cmdline = match said {
            Some(said) => said.to_owned(),
            None if on_disk => found.root_word(),
            None => String::new(),
        };
        let named = consoles(&cmdline);
        if !named.contains(&self.machine.console) && !self.is_another_machine() {
            cmdline = format!("{cmdline} console={}", self.machine.console);
        }
        self.chose(
            "kernel",
            match script {
                Some(script) => format!("started as {} says", script.name),
                None => "the machine starts it, as it lies beside the image".to_owned(),
            },
        );
        let drivers = found.drivers().filter(|_| on_disk && !kernel.has_initramfs);
        if drivers.is_some_and(|drivers| !drivers.built_in.contains("virtio_blk")) {
            self.unknown.push(
                "the kernel has no driver for a virtio disk built in (CONFIG_VIRTIO_BLK=y), and \
                 there is no initramfs to load one: it may not find its root; name one with \
                 --initramfs, or import the root with --user-space"
                    .to_owned(),
            );
        }
        self.start(Source::Beside, cmdline.trim().to_owned());
        self.root(found);
        Ok(())
    }

    /// What a build says of the machine that it is for.
    fn take(&mut self, script: &Script, on_disk: bool) -> Result<(), String> {
        /// Machines with PCI, on which a disk can be virtio.
        const WITH_DISKS: [&str; 3] = ["virt", "q35", "pc"];
        let kind = script.machine.split(',').next().unwrap_or_default();
        if on_disk && !kind.is_empty() && !WITH_DISKS.contains(&kind) {
            return Err(format!(
                "{} starts it on {kind}, and no disk can be attached to that here; describe it in \
                 a target.toml (docs/targets.md), or import its root with --user-space",
                script.name
            ));
        }
        if !script.machine.is_empty() {
            self.machine.machine = script.machine.clone().into();
        }
        if !script.cpu.is_empty() {
            self.machine.cpu = script.cpu.clone().into();
        }
        self.machine.memory_mb = script.memory_mb.unwrap_or(self.machine.memory_mb);
        Ok(())
    }

    /// Whether a build's own machine was taken, whose serial line may be called otherwise.
    fn is_another_machine(&self) -> bool {
        let same = |known: &Machine| known.machine == self.machine.machine;
        !MACHINES.iter().any(same) && !self.machine.machine.starts_with("pc")
    }
}
