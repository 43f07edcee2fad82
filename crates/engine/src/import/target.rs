//! The `target.toml` of an image, with what was chosen and why.

use bootlap_image::Handover;
use bootlap_image::plan::{Firmware, Kernel, Plan, Source};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, value};

/// What the target's file says.
pub(super) struct Description<'p> {
    pub(super) name: &'p str,
    /// One line about it.
    pub(super) summary: &'p str,
    /// The disk, as the target's file names it, if there is one.
    pub(super) disk: Option<&'p str>,
    pub(super) plan: &'p Plan,
    /// What the machine starts itself.
    pub(super) handed: Option<&'p Handed>,
}

/// A kernel and its initramfs, as the target's file names them.
pub(super) struct Handed {
    pub(super) kernel: String,
    pub(super) devicetree: Option<String>,
    /// And what it is compressed with.
    pub(super) initramfs: Option<(String, String)>,
    pub(super) note: &'static str,
}

impl Handed {
    /// As they are on a disk.
    pub(super) fn on_disk(handover: &Handover, compression: Option<String>) -> Self {
        let parts = handover.initramfs.join(",");
        Self {
            kernel: format!("disk:{}", handover.kernel),
            devicetree: None,
            initramfs: compression.map(|compression| (format!("disk:{parts}"), compression)),
            note: "as it is on the disk",
        }
    }
}

impl Description<'_> {
    /// The text of the file.
    pub(super) fn text(&self) -> String {
        let (plan, machine) = (self.plan, &self.plan.machine);
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
            _ => machine.machine.clone().into_owned(),
        });
        table["cpu"] = value(&*machine.cpu);
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

        let packaged = plan.kernel.as_ref().map(|kernel| &kernel.from);
        let fetched = match (&plan.firmware, packaged) {
            (_, Some(Source::Package(..))) => Some("the kernel"),
            (Firmware::Uefi(_) | Firmware::Uboot(_) | Firmware::UbootAsPayload(_), _) => {
                Some("the firmware")
            }
            _ => None,
        };
        if let Some(what) = fetched {
            let mut packages = Table::new();
            packages["architecture"] = value(machine.packages);
            let note = format!("where {what} is fetched from");
            self.add(&mut doc, "packages", packages, &note);
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
        if let Some(kernel) = &plan.kernel {
            self.kernel(&mut doc, kernel);
        }
        if let Some(image) = self.disk {
            let mut disk = Table::new();
            disk["image"] = value(image);
            disk["bus"] = value(plan.bus);
            let note = "never written to; bus: virtio-blk, virtio-scsi, nvme, ahci, sd or usb";
            self.add(&mut doc, "disk", disk, note);
        }
        if let Some(words) = &plan.words {
            let mut loader = Table::new();
            loader["cmdline"] = value(words);
            self.add(&mut doc, "loader", loader, "");
        }

        format!(
            "# Made by `bootlap import`, to be changed: docs/disks.md says how, and\n\
             # docs/targets.md explains every key.\n\n{doc}"
        )
    }

    /// What the machine starts itself.
    fn kernel(&self, doc: &mut DocumentMut, kernel: &Kernel) {
        let mut table = Table::new();
        let mut initramfs = Table::new();
        let mut note = "";
        match (&kernel.from, self.handed) {
            (Source::Package(package, early), _) => {
                table["image"] = value(format!("package:{package}/boot/vmlinu*"));
                initramfs["compression"] = value("none");
                initramfs["tree"] = value("initramfs");
                let modules = early.modules.iter().copied().collect::<Array>();
                initramfs["modules"] = value(modules);
                let folders = ["/dev", "/root"].into_iter().collect::<Array>();
                initramfs["dirs"] = value(folders);
                let mut files = InlineTable::new();
                files.insert("/bin/busybox", "package:busybox-static/bin/busybox".into());
                initramfs["files"] = value(files);
                note = "loads what the disk needs, and starts the init that is on it";
            }
            (_, Some(handed)) => {
                table["image"] = value(&handed.kernel);
                if let Some(devicetree) = &handed.devicetree {
                    table["devicetree"] = value(devicetree);
                }
                if let Some((image, compression)) = &handed.initramfs {
                    initramfs["image"] = value(image);
                    initramfs["compression"] = value(compression);
                    note = handed.note;
                }
            }
            (_, None) => {}
        }
        table["cmdline"] = value(&kernel.cmdline);
        self.add(doc, "kernel", table, "");
        if !initramfs.is_empty() {
            self.add(doc, "initramfs", initramfs, note);
        }
    }

    /// Adds a section below what is known of it.
    fn add(&self, doc: &mut DocumentMut, name: &str, mut table: Table, note: &str) {
        let of_it = |key: &str| key.split('.').next() == Some(name);
        let why = self.plan.why.iter().filter(|(key, _)| of_it(key));
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
