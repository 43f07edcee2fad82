//! QEMU's command line for a boot.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::Command;

use bootlap_artefact::kernel_image::pvh_entry;
use bootlap_product::{Attached, Blob, Boot, Bus, Medium, Patch, Qemu as Spec};

use super::QemuSettings;
use super::disks::{self, Disk};
use super::inputs::hex;
use super::limit::Limit;
use super::memory::{MemoryFile, path_in_child};

/// Arguments, and what the anonymous files among them are.
pub(super) struct Argv {
    args: Vec<String>,
    legend: BTreeMap<String, String>,
    disks: Vec<Disk>,
    /// Which of them the target boots from: it comes last of those in the arguments.
    booted: Option<usize>,
}

impl Argv {
    /// The machine, its time, and nothing that varies by chance.
    pub(super) fn for_target(settings: &QemuSettings) -> io::Result<Self> {
        let spec = &settings.spec;
        let mut argv = Self {
            args: Vec::new(),
            legend: BTreeMap::new(),
            disks: Vec::new(),
            booted: None,
        };
        argv.add("-M", &without_randomness(&spec.program, &spec.machine));
        argv.add("-cpu", &spec.cpu);
        argv.add("-m", &spec.memory_mb.to_string());
        argv.add("-smp", &spec.cpus.to_string());
        for flag in ["-nodefaults", "-no-user-config", "-no-reboot", "-S"] {
            argv.args.push(flag.into());
        }
        argv.add("-display", "none");
        argv.add("-rtc", "clock=vm,base=2020-01-01");
        argv.add("-seed", &settings.seed.to_string());
        if settings.mode.repeats() {
            let shift = shift(settings);
            argv.add("-icount", &format!("shift={shift},align=off,sleep=off"));
        } else {
            argv.add("-accel", "tcg");
        }
        let filled = spec.args.iter().map(|arg| settings.places.filled(arg));
        let mut args: Vec<String> = filled.collect();
        if let Some(attached) = &settings.attached {
            args.extend(attach(attached, &settings.places.disk, &spec.machine));
        }
        if !args.is_empty() {
            // The guest may write to its disks, never to the user's files.
            argv.args.push("-snapshot".into());
        }
        if settings.probe && settings.mode.repeats() {
            let attached = settings.attached.as_ref();
            let card = attached.is_some_and(|a| a.bus == Bus::Sd);
            let cards = settings.cards_take_time() || card;
            let (args, disks) = disks::take_over(&args, cards)?;
            argv.args.extend(args);
            for disk in disks {
                argv.take(disk);
            }
        } else {
            argv.args.extend(args);
        }
        if let Some(attached) = &settings.attached {
            argv.booted = argv.disks.len().checked_sub(1);
            argv.patch(&attached.patches)?;
        }
        Ok(argv)
    }

    /// A disk that is read in the guest's time.
    fn take(&mut self, disk: Disk) {
        let (path, what) = disk.path();
        self.legend.insert(path, what.to_owned());
        self.disks.push(disk);
    }

    /// Devices of these disks are to act when the guest asks them, not when QEMU's main
    /// loop comes to it.
    pub(super) fn disks_act_at_once(&mut self) {
        if self.disks.is_empty() {
            return;
        }
        for bus in ["virtio-pci", "virtio-mmio"] {
            self.add("-global", &format!("{bus}.ioeventfd=off"));
        }
    }

    /// The disks that are read in the guest's time.
    pub(super) fn disks(&self) -> &[Disk] {
        &self.disks
    }

    /// The disk that is booted.
    pub(super) fn into_disk(mut self) -> Option<Disk> {
        self.booted.map(|at| self.disks.swap_remove(at))
    }

    /// What is booted; the files must stay open until QEMU has started.
    pub(super) fn boot(
        &mut self,
        settings: &QemuSettings,
        boot: &Boot,
    ) -> io::Result<Vec<MemoryFile>> {
        match boot {
            Boot::Flash {
                medium,
                bank_size,
                banks,
                ..
            } => {
                let mut files = Vec::new();
                for (i, blobs) in banks.iter().enumerate() {
                    let name = format!("flash{i}");
                    let file = MemoryFile::with_size(&name, *bank_size)?;
                    for blob in blobs {
                        file.write_at(blob.offset, &blob.bytes)?;
                    }
                    let path = self.name(&file, describe(&name, blobs));
                    let kind = match medium {
                        Medium::Nor => "pflash",
                        Medium::Sd => "sd",
                    };
                    let mut drive =
                        format!("if={kind},unit={i},format=raw,snapshot=off,file={path}");
                    if *medium == Medium::Sd && settings.cards_take_time() {
                        drive += ",aio=io_uring";
                        self.take(Disk::card(&file, describe(&name, blobs))?);
                    }
                    self.add("-drive", &drive);
                    files.push(file);
                }
                Ok(files)
            }
            Boot::Direct {
                kernel,
                initramfs,
                devicetree,
                cmdline,
            } => {
                let mut files = Vec::new();
                let images = [
                    ("-kernel", Some(kernel)),
                    ("-initrd", initramfs.as_ref()),
                    ("-dtb", devicetree.as_ref()),
                ];
                for (option, blob) in images {
                    let Some(blob) = blob else { continue };
                    let (file, path) = self.file(blob, 0)?;
                    self.add(option, &path);
                    files.push(file);
                }
                self.add("-append", cmdline);
                Ok(files)
            }
            Boot::Firmware {
                image,
                variables,
                payload,
                ..
            } => {
                let mut files = Vec::new();
                let flash = [
                    image.as_ref().filter(|_| variables.is_some()),
                    variables.as_ref(),
                ];
                for (unit, blob) in flash.into_iter().enumerate() {
                    let Some(blob) = blob else { continue };
                    let size = bank_size(&settings.spec, blob);
                    let (file, path) = self.file(blob, size)?;
                    let readonly = if unit == 0 { "on" } else { "off" };
                    self.add(
                        "-drive",
                        &format!(
                            "if=pflash,unit={unit},format=raw,readonly={readonly},snapshot=off,\
                             file={path}"
                        ),
                    );
                    files.push(file);
                }
                let alone = [
                    ("-bios", image.as_ref().filter(|_| variables.is_none())),
                    ("-kernel", payload.as_ref()),
                ];
                for (option, blob) in alone {
                    let Some(blob) = blob else { continue };
                    let (file, path) = self.file(blob, 0)?;
                    self.add(option, &path);
                    files.push(file);
                }
                Ok(files)
            }
        }
    }

    /// A file in memory with a blob, of this size at least, and its path.
    fn file(&mut self, blob: &Blob, size: u64) -> io::Result<(MemoryFile, String)> {
        let file = MemoryFile::with_size(&blob.name, size)?;
        file.write_at(0, &blob.bytes)?;
        let path = self.name(&file, blob.name.clone());
        Ok((file, path))
    }

    /// Changes what is on the disk that is booted.
    fn patch(&mut self, patches: &[Patch]) -> io::Result<()> {
        if patches.is_empty() {
            return Ok(());
        }
        let disk = self.booted.map(|at| &mut self.disks[at]);
        let disk = disk.ok_or_else(|| {
            io::Error::other(
                "bootlap's probe shows the guest a changed disk, in counted time: leave out \
                 --plain and --no-probe, or boot an image that `bootlap apply` wrote",
            )
        })?;
        patches.iter().try_for_each(|patch| disk.patch(patch))
    }

    pub(super) fn console(&mut self, console: &MemoryFile) {
        let path = self.name(console, "console".into());
        self.add("-chardev", &format!("file,id=console,path={path}"));
        self.add("-serial", "chardev:console");
    }

    pub(super) fn control(&mut self, socket: &OwnedFd) {
        let fd = socket.as_raw_fd();
        self.add("-chardev", &format!("socket,id=control,fd={fd}"));
        self.add("-mon", "chardev=control,mode=control");
    }

    pub(super) fn probe(
        &mut self,
        settings: &QemuSettings,
        [probe, console, stamps, facts]: [&MemoryFile; 4],
        boot: &Boot,
    ) {
        let program = &settings.spec.program;
        let image = image_entry(program, boot);
        let flash = flash(&settings.spec, boot);
        let plugin = self.name(probe, "bootlap's probe, also in LD_PRELOAD".into());
        let console = path_in_child(console.fd());
        let stamps = self.name(stamps, "console stamps".into());
        let counted = if settings.mode.repeats() { "on" } else { "off" };
        let mut options = format!("{plugin},console={console},stamps={stamps},counted={counted}");
        if let Some(image) = image {
            options += &format!(",image={image:#x}");
        }
        if let Boot::Firmware { code, .. } = boot {
            let programs = [("code", &code.kernel), ("loader", &code.loader)];
            for (name, entries) in programs.iter().filter(|p| !p.1.is_empty()) {
                options += &format!(",{name}={}", hex(entries));
            }
        }
        if settings.mode.repeats() {
            let facts = self.name(facts, "what was done with time".into());
            options += &format!(",shift={},facts={facts}", shift(settings));
            if settings.spec.skip_waits {
                options += ",waits=skip";
            }
            options += &match settings.limit {
                Some(limit) => format!(",limit={}", limit.ns()),
                None => format!(",most={}", Limit::MOST.ns()),
            };
        }
        if let Some(model) = &settings.model {
            let board = model.options(flash, uart_hz(&settings.spec), &loaded(boot));
            options += &format!(",{board}");
        }
        self.add("-plugin", &options);
    }

    pub(super) fn args(&self) -> &[String] {
        &self.args
    }

    /// What stands behind each `/proc/self/fd/N`.
    pub(super) fn legend(&self) -> &BTreeMap<String, String> {
        &self.legend
    }

    fn name(&mut self, file: &MemoryFile, what: String) -> String {
        let path = path_in_child(file.fd());
        self.legend.insert(path.clone(), what);
        path
    }

    fn add(&mut self, option: &str, value: &str) {
        self.args.push(option.into());
        self.args.push(value.into());
    }
}

/// QEMU counts 2^shift ns for an instruction.
fn shift(settings: &QemuSettings) -> u32 {
    match &settings.model {
        Some(model) => model.shift(),
        None => settings.spec.icount_shift,
    }
}

/// Bytes of the images that are in memory from the start.
fn loaded(boot: &Boot) -> Vec<u64> {
    match boot {
        Boot::Direct {
            kernel,
            initramfs,
            devicetree,
            ..
        } => {
            let images = [Some(kernel), initramfs.as_ref(), devicetree.as_ref()];
            let images = images.into_iter().flatten();
            images.map(|blob| blob.bytes.len() as u64).collect()
        }
        Boot::Flash { .. } | Boot::Firmware { .. } => Vec::new(),
    }
}

/// Where the kernel image is entered, for the probe; 0 if nothing runs before.
fn image_entry(program: &str, boot: &Boot) -> Option<u64> {
    match boot {
        Boot::Flash { kernel_entry, .. } => Some(*kernel_entry),
        Boot::Direct { .. } if is_arm(program) => Some(0),
        // Behind the BIOS, a bzImage is entered at 1 MiB, and a vmlinux where its note says.
        Boot::Direct { kernel, .. } if program.ends_with("x86_64") || program.ends_with("i386") => {
            Some(pvh_entry(&kernel.bytes).unwrap_or(0x10_0000))
        }
        Boot::Direct { .. } | Boot::Firmware { .. } => None,
    }
}

/// The first and the last address of memory-mapped flash, where it is known: that of a
/// boot loader, or one that `machine.args` attach to a machine that starts the kernel.
fn flash(spec: &Spec, boot: &Boot) -> Option<[u64; 2]> {
    let (base, both_banks) = match spec.machine.starts_with("virt") {
        true if is_arm(&spec.program) => (0, 0x800_0000),
        true if spec.program.contains("riscv") => (0x2000_0000, 0x400_0000),
        _ => return None,
    };
    let size = match boot {
        Boot::Flash {
            medium: Medium::Nor,
            bank_size,
            banks,
            ..
        } => bank_size.checked_mul(banks.len() as u64)?,
        Boot::Direct { .. } if spec.args.iter().any(|arg| arg.contains("if=pflash")) => both_banks,
        _ => return None,
    };
    Some([base, base + size.checked_sub(1)?])
}

/// What the console's UART divides to get its rate, Hz, as the guest is told by the
/// machine's device tree or by the chip's manual.
fn uart_hz(spec: &Spec) -> Option<u64> {
    let machine = spec.machine.split([',', '-']).next()?;
    Some(match machine {
        "virt" if is_arm(&spec.program) => 24_000_000,
        "virt" if spec.program.contains("riscv") => 3_686_400,
        "pc" | "q35" | "microvm" => 1_843_200,
        "orangepi" | "vexpress" | "versatilepb" | "versatileab" => 24_000_000,
        _ => return None,
    })
}

/// Whether it is a PC that is known to hang in this QEMU where time is counted: with more
/// processors than one, in QEMU 7 (7.2 was tried, with and without bootlap; 10.0 does not).
pub fn hangs_when_counted(spec: &Spec) -> bool {
    let is_pc = spec.program.ends_with("x86_64") || spec.program.ends_with("i386");
    if !is_pc || spec.cpus < 2 {
        return false;
    }
    let asked = Command::new(&spec.program).arg("--version").output();
    let told = asked.map(|done| done.stdout).unwrap_or_default();
    String::from_utf8_lossy(&told).contains("version 7.")
}

fn is_arm(program: &str) -> bool {
    program.ends_with("aarch64") || program.ends_with("arm")
}

/// The arguments that attach an image.
fn attach(attached: &Attached, path: &str, machine: &str) -> Vec<String> {
    const DISK: &str = "drive=bootlap-disk";
    let file = path.replace(',', ",,");
    let format = attached.format.name();
    let mut args = vec![
        "-drive".to_owned(),
        format!("file={file},format={format},if=none,id=bootlap-disk"),
    ];
    // What the machine starts itself, a kernel, is 0.
    let first = format!("{DISK},bootindex=1");
    let devices = match attached.bus {
        Bus::VirtioBlk => vec![format!("virtio-blk-pci,{first}")],
        Bus::VirtioScsi => vec![
            "virtio-scsi-pci,id=bootlap-scsi".to_owned(),
            format!("scsi-hd,bus=bootlap-scsi.0,{first}"),
        ],
        Bus::Nvme => vec![format!("nvme,serial=bootlap,{first}")],
        // The machine's own, with which its firmware begins.
        Bus::Ahci if machine.starts_with("q35") => vec![format!("ide-hd,bus=ide.0,{first}")],
        Bus::Ahci => vec![
            "ich9-ahci,id=bootlap-ahci".to_owned(),
            format!("ide-hd,bus=bootlap-ahci.0,{first}"),
        ],
        Bus::Sd => vec![
            "sdhci-pci,id=bootlap-sd".to_owned(),
            format!("sd-card,{DISK}"),
        ],
        Bus::Usb => vec![
            "qemu-xhci,id=bootlap-usb".to_owned(),
            format!("usb-storage,bus=bootlap-usb.0,{first}"),
        ],
    };
    args.extend(
        devices
            .into_iter()
            .flat_map(|device| ["-device".to_owned(), device]),
    );
    args
}

/// Bytes of a flash bank that holds `blob`: the `virt` boards have banks of one size.
fn bank_size(spec: &Spec, blob: &Blob) -> u64 {
    let bank = match spec.machine.starts_with("virt") {
        true if is_arm(&spec.program) => 64 << 20,
        true if spec.program.contains("riscv") => 32 << 20,
        _ => 0,
    };
    bank.max(blob.bytes.len() as u64)
}

/// The `virt` boards of Arm put random seeds into the device tree.
fn without_randomness(program: &str, machine: &str) -> String {
    if is_arm(program) && machine.starts_with("virt") && !machine.contains("dtb-randomness") {
        format!("{machine},dtb-randomness=off")
    } else {
        machine.to_owned()
    }
}

fn describe(bank: &str, blobs: &[Blob]) -> String {
    let blobs: Vec<String> = blobs
        .iter()
        .map(|b| format!("{} at {:#x}", b.name, b.offset))
        .collect();
    format!("{bank}: {}", blobs.join(", "))
}
