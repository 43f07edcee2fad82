//! What to boot an image with: machine, firmware, bus and the pattern of ready, each with
//! its reason, and what could not be known.

use bootlap_artefact::arch::Arch;

use crate::Found;
use crate::handover::kernel_in_boot;
use crate::loader::{Entry, Loader, Wait, efi};
use crate::system::{Init, System};

/// How an image is to be booted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The machine that has its processor.
    pub machine: &'static Machine,
    /// What runs first.
    pub firmware: Firmware,
    /// Words for the kernel's command line, where bootlap has to start the kernel itself:
    /// what the image starts would not be seen.
    pub direct: Option<String>,
    /// The pattern of ready.
    pub ready: &'static str,
    /// Why each was chosen: key of the target's file, and the reason.
    pub why: Vec<(&'static str, String)>,
    /// What could not be known, and what to do about it.
    pub unknown: Vec<String>,
}

/// An emulated machine.
#[derive(Debug, PartialEq, Eq)]
pub struct Machine {
    /// The processors that it has.
    arch: Arch,
    /// As Debian calls them.
    pub debian: &'static str,
    /// The architecture whose packages have its firmware: a release need not have its own.
    pub packages: &'static str,
    /// QEMU's program, `-M`, `-cpu`.
    pub program: &'static str,
    /// See `program`.
    pub machine: &'static str,
    /// See `program`.
    pub cpu: &'static str,
    /// Memory in MiB.
    pub memory_mb: u32,
    /// Whether the turns of polled waits can be left out. Some loops of U-Boot for RISC-V
    /// end earlier than they seem to: seen with 2023.01.
    pub skip_waits: bool,
    /// The device of its serial line, as Linux calls it.
    pub console: &'static str,
    /// Whether the kernel finds that by itself, if its command line names none.
    finds_console: bool,
    /// Its UEFI: program and variables.
    uefi: Option<[&'static str; 2]>,
    /// Its U-Boot, and whether another program has to start it.
    uboot: Option<(&'static str, bool)>,
}

const MACHINES: [Machine; 5] = [
    Machine {
        arch: Arch::X86_64,
        debian: "amd64",
        packages: "amd64",
        program: "qemu-system-x86_64",
        machine: "q35",
        cpu: "max",
        memory_mb: 1024,
        skip_waits: true,
        console: "ttyS0",
        finds_console: false,
        uefi: Some([
            "package:ovmf/usr/share/OVMF/OVMF_CODE_4M.fd",
            "package:ovmf/usr/share/OVMF/OVMF_VARS_4M.fd",
        ]),
        uboot: None,
    },
    Machine {
        arch: Arch::X86,
        debian: "i386",
        packages: "i386",
        program: "qemu-system-i386",
        machine: "q35",
        cpu: "max",
        memory_mb: 1024,
        skip_waits: true,
        console: "ttyS0",
        finds_console: false,
        uefi: None,
        uboot: None,
    },
    Machine {
        arch: Arch::Arm64,
        debian: "arm64",
        packages: "arm64",
        program: "qemu-system-aarch64",
        machine: "virt",
        cpu: "cortex-a57",
        memory_mb: 1024,
        skip_waits: true,
        console: "ttyAMA0",
        finds_console: true,
        uefi: Some([
            "package:qemu-efi-aarch64/usr/share/AAVMF/AAVMF_CODE.fd",
            "package:qemu-efi-aarch64/usr/share/AAVMF/AAVMF_VARS.fd",
        ]),
        uboot: Some((
            "package:u-boot-qemu/usr/lib/u-boot/qemu_arm64/u-boot.bin",
            false,
        )),
    },
    Machine {
        arch: Arch::Arm,
        debian: "armhf",
        packages: "armhf",
        program: "qemu-system-arm",
        machine: "virt",
        cpu: "cortex-a15",
        memory_mb: 512,
        skip_waits: true,
        console: "ttyAMA0",
        finds_console: true,
        uefi: None,
        uboot: Some((
            "package:u-boot-qemu/usr/lib/u-boot/qemu_arm/u-boot.bin",
            false,
        )),
    },
    Machine {
        arch: Arch::Riscv,
        debian: "riscv64",
        packages: "amd64",
        program: "qemu-system-riscv64",
        machine: "virt",
        cpu: "rv64",
        memory_mb: 1024,
        skip_waits: false,
        console: "ttyS0",
        finds_console: true,
        uefi: None,
        uboot: Some((
            "package:u-boot-qemu/usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin",
            true,
        )),
    },
];

/// What runs first on a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Firmware {
    /// The machine's own: a PC's BIOS.
    Bios,
    /// UEFI: program and variables.
    Uefi([&'static str; 2]),
    /// U-Boot.
    Uboot(&'static str),
    /// U-Boot, which the machine's own firmware starts.
    UbootAsPayload(&'static str),
    /// None: the kernel is started by the machine.
    None,
}

/// The firmware that a person asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// UEFI.
    Uefi,
    /// A PC's BIOS.
    Bios,
    /// U-Boot.
    Uboot,
    /// None: the image's kernel is started by the machine.
    Direct,
}

const LOGIN: &str = "login: ";
/// What BusyBox and OpenWrt write where a key has to be pressed first.
const PRESS_ENTER: &str = "Please press Enter to activate this console";
const STARTED: &str = "Run .* as init process";

impl Plan {
    /// For an image; `wish` is what somebody who knows it better asked for.
    ///
    /// # Errors
    /// What is missing, and what can be done.
    pub fn of(found: &Found, wish: Option<Wish>) -> Result<Self, String> {
        let arch = found.arch().ok_or(
            "nothing on it tells which processor it is for: no EFI program, no boot loader, no \
             kernel and no root file system that can be read",
        )?;
        let machine = MACHINES.iter().find(|m| m.arch == arch);
        let machine = machine.ok_or_else(|| {
            format!(
                "it is for {}, and no machine is known here that boots disks for that; describe \
                 one in a target.toml (docs/targets.md)",
                arch.uboot_name()
            )
        })?;
        let mut plan = Self {
            machine,
            firmware: Firmware::None,
            direct: None,
            ready: LOGIN,
            why: Vec::new(),
            unknown: Vec::new(),
        };
        plan.firmware(found, wish)?;
        plan.console(found, wish)?;
        plan.ready(found);
        plan.doubts(found);
        Ok(plan)
    }

    fn chose(&mut self, key: &'static str, why: impl Into<String>) {
        self.why.push((key, why.into()));
    }

    fn firmware(&mut self, found: &Found, wish: Option<Wish>) -> Result<(), String> {
        let machine = self.machine;
        let program = efi::arch(&found.volumes) == Some(machine.arch);
        let sector = found.loaders.iter().any(|l| l.by_sector);
        let for_uboot = found.loaders.iter().any(|l| l.name == "U-Boot");
        let kernel = found.default().is_some() || kernel_in_boot(found).is_some();
        let cannot = |what: &str| {
            Err(format!(
                "no {what} is known here for {}; leave out --firmware",
                machine.arch.uboot_name()
            ))
        };
        let pc = matches!(machine.arch, Arch::X86 | Arch::X86_64);
        self.firmware = match (wish, machine.uefi, machine.uboot) {
            (Some(Wish::Uefi), None, _) => return cannot("UEFI"),
            (Some(Wish::Uboot), _, None) => return cannot("U-Boot"),
            (Some(Wish::Bios), ..) if !pc => return cannot("BIOS"),
            (Some(Wish::Uefi), Some(uefi), _) => {
                self.chose("firmware", "UEFI, as you asked for it");
                Firmware::Uefi(uefi)
            }
            (None, Some(uefi), _) if program => {
                let also = match sector {
                    true => "; its boot sector has a loader for a BIOS, too (--firmware bios)",
                    false => "",
                };
                self.chose(
                    "firmware",
                    format!("UEFI, as the disk has an EFI program{also}"),
                );
                Firmware::Uefi(uefi)
            }
            (Some(Wish::Bios), ..) => {
                self.chose("firmware", "the machine's BIOS, as you asked for it");
                Firmware::Bios
            }
            (None, ..) if pc && sector => {
                self.chose(
                    "firmware",
                    "the machine's BIOS, as the boot sector has a loader for it",
                );
                Firmware::Bios
            }
            (wish @ (None | Some(Wish::Uboot)), _, Some((uboot, payload)))
                if wish.is_some() || for_uboot || program =>
            {
                self.chose(
                    "firmware",
                    match wish {
                        Some(_) => "U-Boot, as you asked for it",
                        None => "U-Boot, which finds what is on the disk by itself",
                    },
                );
                match payload {
                    true => Firmware::UbootAsPayload(uboot),
                    false => Firmware::Uboot(uboot),
                }
            }
            _ if kernel => {
                let why = match wish {
                    None => "the machine starts it, as the disk has no boot loader",
                    Some(_) => "the machine starts it, as you asked for it",
                };
                self.chose("kernel", why);
                Firmware::None
            }
            _ => {
                return Err(
                    "nothing on it can be started that is known here: no EFI program, no \
                            loader in the boot sector, no extlinux.conf, and no kernel in /boot; \
                            if you know better, say so with --firmware"
                        .to_owned(),
                );
            }
        };
        Ok(())
    }

    /// Whether the kernel speaks on the machine's serial line, and what to do if not.
    fn console(&mut self, found: &Found, wish: Option<Wish>) -> Result<(), String> {
        let machine = self.machine;
        let Some((loader, entry)) = found.default() else {
            if self.firmware == Firmware::None {
                self.direct = Some(format!("{} console={}", root_word(found), machine.console));
            }
            return Ok(());
        };
        let consoles = consoles(&entry.cmdline);
        let speaks = match consoles.as_slice() {
            [] => machine.finds_console,
            named => named.contains(&machine.console),
        };
        let is_there = found.place(loader, entry, &entry.kernel).is_some();
        if self.firmware == Firmware::None && !is_there {
            return Err(format!(
                "the machine would have to start {}, which cannot be read from the disk",
                entry.kernel
            ));
        }
        if !speaks && is_there && wish.is_none() {
            self.firmware = Firmware::None;
            self.why.retain(|(key, _)| *key != "firmware");
            self.chose("kernel", silent(machine.console, &consoles));
        } else if !speaks && self.firmware != Firmware::None {
            self.unknown.push(format!(
                "the kernel's command line has no console={}, so its messages may not be seen",
                machine.console
            ));
        }
        if self.firmware == Firmware::None {
            let more = match speaks {
                true => String::new(),
                false => format!(" console={}", machine.console),
            };
            self.direct = Some(format!("{}{more}", entry.cmdline).trim().to_owned());
        }
        Ok(())
    }

    fn ready(&mut self, found: &Found) {
        let system = found.systems.first();
        let console = self.machine.console;
        let login = |system: &System| {
            let own = ["console", console];
            system.logins.iter().any(|l| own.contains(&l.as_str()))
        };
        self.ready = match system {
            Some(system) if system.init == Init::Systemd => {
                self.chose("ready", "systemd starts a login on the kernel's console");
                LOGIN
            }
            Some(system) if system.init == Init::Procd => {
                self.chose("ready", "OpenWrt says so when its console can be used");
                PRESS_ENTER
            }
            Some(system) if login(system) => {
                self.chose("ready", format!("/etc/inittab starts a login on {console}"));
                LOGIN
            }
            Some(system) => {
                self.unknown.push(format!(
                    "{} starts no login on {console}, so ready is where user space begins; write \
                     what your application prints into ready.pattern",
                    system.init.name()
                ));
                STARTED
            }
            None => {
                let unread = found.volumes.iter().filter(|v| v.files.is_none());
                let mut kinds: Vec<&str> = unread.map(|v| v.kind).collect();
                kinds.retain(|kind| !matches!(*kind, "" | "swap"));
                let why = match kinds.as_slice() {
                    [] => "no root file system was found on it".to_owned(),
                    kinds => format!("{} cannot be read here", kinds.join(", ")),
                };
                self.unknown.push(format!(
                    "{why}, so ready is where user space begins; write what your application \
                     prints into ready.pattern"
                ));
                STARTED
            }
        };
    }

    fn doubts(&mut self, found: &Found) {
        if let Some((loader, entry)) = found.default() {
            if loader.wait == Wait::Forever && self.direct.is_none() {
                self.unknown.push(format!(
                    "{} waits until somebody chooses, and here nobody does; set a timeout on a \
                     copy of the disk, or import it with --firmware direct",
                    loader.name
                ));
            }
            if found.place(loader, entry, &entry.kernel).is_none() {
                self.unknown.push(format!(
                    "{} starts {}, which is not found on the disk",
                    loader.name, entry.kernel
                ));
            }
        }
        for missing in found.systems.iter().flat_map(|s| &s.waits_for) {
            self.unknown.push(format!(
                "/etc/fstab wants {missing}, which is not on this disk; the boot may wait for it"
            ));
        }
    }
}

/// Why the machine starts the kernel of a disk whose command line names other consoles.
fn silent(console: &str, named: &[&str]) -> String {
    let named = match named {
        [] => "no console".to_owned(),
        named => format!("only {}", named.join(", ")),
    };
    format!(
        "the machine starts it with console={console}: the command line on the disk names \
         {named}, so nothing of the kernel would be seen. What firmware and boot loader take is \
         left out; add console={console} on the disk to measure that, too"
    )
}

/// The consoles that a command line names, without their settings.
fn consoles(cmdline: &str) -> Vec<&str> {
    let words = cmdline.split_whitespace();
    let named = words.filter_map(|word| word.strip_prefix("console="));
    named
        .map(|value| value.split(',').next().unwrap_or(value))
        .collect()
}

/// Where the first root file system is, for the kernel.
fn root_word(found: &Found) -> String {
    let system = found.systems.first();
    let partition = system.and_then(|s| found.table.partitions.get(s.volume));
    match partition {
        Some(partition) if partition.number > 0 => {
            format!("root=PARTUUID={} rootwait", partition.partuuid)
        }
        _ => "root=/dev/vda rootwait".to_owned(),
    }
}

/// How long a loader waits, for people.
pub fn waits(loader: &Loader, entry: &Entry) -> String {
    let title = match entry.title.as_str() {
        "" => "its entry".to_owned(),
        title => format!("\"{title}\""),
    };
    match loader.wait {
        Wait::Tenths(0) => format!("{} starts {title} at once", loader.name),
        Wait::Tenths(tenths) if tenths % 10 == 0 => {
            format!("{} waits {} s and starts {title}", loader.name, tenths / 10)
        }
        Wait::Tenths(tenths) => format!(
            "{} waits {}.{} s and starts {title}",
            loader.name,
            tenths / 10,
            tenths % 10
        ),
        Wait::Forever => format!("{} waits for somebody to start {title}", loader.name),
        Wait::Unknown => format!("{} starts {title}", loader.name),
    }
}
