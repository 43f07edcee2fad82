//! The `target.toml` of an image, with what was chosen and why.

use bootlap_image::Handover;
use bootlap_image::plan::{Firmware, Plan};
use toml_edit::{DocumentMut, Item, Table, value};

/// What the target's file says.
pub(super) struct Description<'p> {
    pub(super) name: &'p str,
    /// One line about it.
    pub(super) summary: &'p str,
    /// The image, as its file names it.
    pub(super) image: &'p str,
    pub(super) plan: &'p Plan,
    /// What the machine starts itself, and what its initramfs is compressed with.
    pub(super) handover: Option<&'p Handover>,
    pub(super) compression: Option<String>,
}

impl Description<'_> {
    /// The text of the file.
    pub(super) fn text(&self) -> String {
        let (plan, machine) = (self.plan, self.plan.machine);
        let mut doc = DocumentMut::new();
        doc["format"] = value(1);
        doc["name"] = value(self.name);
        doc["summary"] = value(self.summary);

        let mut ready = Table::new();
        ready["pattern"] = value(plan.ready);
        ready["timeout-s"] = value(900);
        self.add(
            &mut doc,
            "ready",
            ready,
            "the console's text at which the boot is over",
        );

        let mut table = Table::new();
        table["kind"] = value("qemu");
        table["program"] = value(machine.program);
        table["machine"] = value(match plan.firmware {
            // Without a screen it speaks on the serial line.
            Firmware::Bios => format!("{},graphics=off", machine.machine),
            _ => machine.machine.to_owned(),
        });
        table["cpu"] = value(machine.cpu);
        table["memory-mb"] = value(i64::from(machine.memory_mb));
        if !machine.skip_waits {
            table["skip-waits"] = value(false);
        }
        let firmware = plan.why.iter().find(|(key, _)| *key == "firmware");
        let note = match (&plan.firmware, firmware) {
            (Firmware::Bios, Some((_, why))) => why.as_str(),
            _ => "",
        };
        self.add(&mut doc, "machine", table, note);

        if matches!(
            plan.firmware,
            Firmware::Uefi(_) | Firmware::Uboot(_) | Firmware::UbootAsPayload(_)
        ) {
            let mut packages = Table::new();
            packages["architecture"] = value(machine.packages);
            self.add(
                &mut doc,
                "packages",
                packages,
                "where the firmware is fetched from",
            );
        }
        let mut firmware = Table::new();
        match plan.firmware {
            Firmware::Uefi([image, variables]) => {
                firmware["image"] = value(image);
                firmware["variables"] = value(variables);
            }
            Firmware::Uboot(image) => firmware["image"] = value(image),
            Firmware::UbootAsPayload(payload) => firmware["payload"] = value(payload),
            Firmware::Bios | Firmware::None => {}
        }
        if !firmware.is_empty() {
            self.add(&mut doc, "firmware", firmware, "");
        }
        if let (Some(cmdline), Some(handover)) = (&plan.direct, self.handover) {
            let mut kernel = Table::new();
            kernel["image"] = value(format!("disk:{}", handover.kernel));
            kernel["cmdline"] = value(cmdline);
            self.add(&mut doc, "kernel", kernel, "");
            if let Some(compression) = &self.compression {
                let mut initramfs = Table::new();
                initramfs["image"] = value(format!("disk:{}", handover.initramfs.join(",")));
                initramfs["compression"] = value(compression);
                let note = "as it is on the disk";
                self.add(&mut doc, "initramfs", initramfs, note);
            }
        }
        let mut disk = Table::new();
        disk["image"] = value(self.image);
        disk["bus"] = value("virtio-blk");
        let note = "never written to; bus: virtio-blk, virtio-scsi, nvme, ahci, sd or usb";
        self.add(&mut doc, "disk", disk, note);

        format!(
            "# Made by `bootlap import`, to be changed: docs/disks.md says how, and\n\
             # docs/targets.md explains every key.\n\n{doc}"
        )
    }

    /// Adds a section below what is known of it.
    fn add(&self, doc: &mut DocumentMut, name: &str, mut table: Table, note: &str) {
        let why = self.plan.why.iter().filter(|(key, _)| *key == name);
        let mut comment = String::from("\n");
        for line in why.map(|(_, why)| why.as_str()).chain([note]) {
            for line in wrapped(line) {
                comment.push_str(&format!("# {line}\n"));
            }
        }
        table.decor_mut().set_prefix(comment);
        doc.insert(name, Item::Table(table));
    }
}

/// In lines of a file that is read at 80 columns.
fn wrapped(text: &str) -> Vec<String> {
    const COLUMNS: usize = 76;
    let mut lines: Vec<String> = Vec::new();
    // Some of it is the disk's.
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= COLUMNS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
