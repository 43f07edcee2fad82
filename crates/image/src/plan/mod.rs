//! What to boot an image with: machine, firmware, bus and the pattern of ready, each with
//! its reason, and what could not be known.

mod beside;
mod storage;
mod user_space;

use bootlap_artefact::arch::Arch;

use crate::Found;
use crate::beside::Beside;
use crate::handover::kernel_in_boot;
use crate::inittab::{Greeting, Terminal};
use crate::loader::{Entry, Loader, Wait, efi, script};
use crate::machine::MACHINES;
pub use crate::machine::Machine;
use crate::questions;
use crate::system::Init;

/// How an image is to be booted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The machine that has its processor.
    pub machine: Machine,
    /// What runs first.
    pub firmware: Firmware,
    /// The kernel, where the machine starts that itself.
    pub kernel: Option<Kernel>,
    /// What the disk is attached to: one of the target's file.
    pub bus: &'static str,
    /// The pattern of ready.
    pub ready: &'static str,
    /// The command line that the disk's boot loader is to give the kernel instead of its own.
    pub words: Option<String>,
    /// Why each was chosen: key of the target's file, and the reason.
    pub why: Vec<(&'static str, String)>,
    /// What could not be known, and what to do about it.
    pub unknown: Vec<String>,
}

/// A kernel that the machine starts itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Which.
    pub from: Source,
    /// Its command line.
    pub cmdline: String,
}

/// Where a kernel is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// From the disk: what its boot loader would start.
    Disk,
    /// From beside the image.
    Beside,
    /// From the distribution, and what starts the image's user space with it.
    Package(&'static str, Early),
}

/// What the first program has to do before it starts the root's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Early {
    /// Modules that the disk and its file systems need.
    pub modules: Vec<&'static str>,
    /// The root's device.
    pub device: String,
    /// Its file system.
    pub kind: &'static str,
    /// How it is mounted: `ro,subvol=@`.
    pub flags: String,
    /// What runs first in it.
    pub init: String,
}

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
    /// None, and a kernel of the distribution: for the image of a board that cannot be emulated.
    UserSpace,
}

impl Wish {
    /// What can run first, by what it is called.
    pub const FIRMWARE: [(&str, Self); 4] = [
        ("uefi", Self::Uefi),
        ("bios", Self::Bios),
        ("uboot", Self::Uboot),
        ("direct", Self::Direct),
    ];
}

const LOGIN: &str = "login: ";
/// What BusyBox and OpenWrt write where a key has to be pressed first.
const PRESS_ENTER: &str = "Please press Enter to activate this console";
/// How root's shell asks for a command: `/ # `, `sh-5.2# `, `root@board:~# `; and not U-Boot's
/// `## Loading kernel`.
const SHELL: &str = r"(?m)^[^\s#]{1,80} ?# ";
const STARTED: &str = "Run .* as init process";

impl Plan {
    /// For an image, and the kernel that lies beside it, if one does; `wish` is what somebody who
    /// knows it better asked for.
    ///
    /// # Errors
    /// What is missing, and what can be done.
    pub fn of(found: &Found, wish: Option<Wish>, beside: Option<&Beside>) -> Result<Self, String> {
        let of_kernel = beside.and_then(|kernel| kernel.arch);
        let arch = of_kernel.or_else(|| found.arch()).ok_or_else(|| {
            let volumes = found.table.partitions.iter().zip(&found.volumes);
            let unread = volumes.filter_map(|(partition, volume)| {
                let why = volume.trouble.as_ref()?;
                let of = match partition.number {
                    0 => volume.kind.to_owned(),
                    number => format!("partition {number} ({})", volume.kind),
                };
                Some(format!("; {of}: {why}"))
            });
            format!(
                "nothing on it tells which processor it is for: no EFI program, no boot loader, \
                 no kernel and no root file system that can be read{}",
                unread.collect::<String>()
            )
        })?;
        let machine = MACHINES.iter().find(|m| m.arch == arch);
        let machine = machine.ok_or_else(|| {
            format!(
                "it is for {}, and no machine is known here that boots disks for that; describe \
                 one in a target.toml (docs/targets.md)",
                arch.uboot_name()
            )
        })?;
        let mut plan = Self {
            machine: machine.clone(),
            firmware: Firmware::None,
            kernel: None,
            bus: "virtio-blk",
            ready: LOGIN,
            words: None,
            why: Vec::new(),
            unknown: Vec::new(),
        };
        match (wish, beside) {
            (Some(Wish::UserSpace), _) => plan.user_space(found)?,
            (_, Some(kernel)) => plan.beside(found, kernel)?,
            _ => {
                plan.firmware(found, wish)?;
                plan.console(found, wish)?;
                plan.drivers(found)?;
                plan.root(found);
            }
        }
        plan.ready(found);
        plan.questions(found);
        plan.doubts(found);
        Ok(plan)
    }

    fn chose(&mut self, key: &'static str, why: impl Into<String>) {
        self.why.push((key, why.into()));
    }

    fn start(&mut self, from: Source, cmdline: String) {
        self.kernel = Some(Kernel { from, cmdline });
    }

    fn firmware(&mut self, found: &Found, wish: Option<Wish>) -> Result<(), String> {
        let Machine {
            arch, uefi, uboot, ..
        } = self.machine;
        let program = efi::arch(&found.volumes) == Some(arch);
        let sector = found.loaders.iter().any(|l| l.by_sector);
        let names = ["U-Boot", script::NAME];
        let for_uboot = found.loaders.iter().any(|l| names.contains(&l.name));
        let kernel = found.default().is_some() || kernel_in_boot(found).is_some();
        let cannot = |what: &str| {
            Err(format!(
                "no {what} is known here for {}; leave out --firmware",
                arch.uboot_name()
            ))
        };
        let pc = matches!(arch, Arch::X86 | Arch::X86_64);
        self.firmware = match (wish, uefi, uboot) {
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
        let Machine {
            console,
            finds_console,
            ..
        } = self.machine;
        let Some((loader, entry)) = found.default() else {
            if self.firmware == Firmware::None {
                let cmdline = format!("{} console={console}", found.root_word());
                self.start(Source::Disk, cmdline);
            }
            return Ok(());
        };
        let consoles = consoles(&entry.cmdline);
        let speaks = match consoles.as_slice() {
            [] => finds_console,
            named => named.contains(&console),
        };
        let is_there = found.place(loader, entry, &entry.kernel).is_some();
        if self.firmware == Firmware::None && !is_there {
            if entry.kernel.is_empty() {
                return Err(loader.without_kernel(entry));
            }
            return Err(format!(
                "the machine would have to start {}, which cannot be read from the disk",
                entry.kernel
            ));
        }
        if !speaks && is_there && wish.is_none() {
            self.firmware = Firmware::None;
            self.why.retain(|(key, _)| *key != "firmware");
            self.chose("kernel", silent(console, &consoles));
        } else if !speaks && self.firmware != Firmware::None {
            self.unknown.push(format!(
                "the kernel's command line has no console={}, so its messages may not be seen",
                console
            ));
        }
        if self.firmware == Firmware::None {
            let more = match speaks {
                true => String::new(),
                false => format!(" console={}", console),
            };
            let cmdline = format!("{}{more}", found.words_without_loader(loader, entry));
            self.start(Source::Disk, cmdline.trim().to_owned());
        }
        Ok(())
    }

    fn ready(&mut self, found: &Found) {
        let system = found.systems.first();
        let console = self.machine.console;
        let greeting = system.and_then(|system| {
            let own = |t: &&Terminal| ["console", console].contains(&t.name.as_str());
            system.terminals.iter().find(own).map(|t| t.greeting)
        });
        self.ready = match system {
            Some(system) if system.init == Init::Systemd => {
                self.chose("ready", "systemd starts a login on the kernel's console");
                LOGIN
            }
            Some(system) if system.init == Init::Procd => {
                self.chose("ready", "OpenWrt says so when its console can be used");
                PRESS_ENTER
            }
            Some(_) if greeting == Some(Greeting::Login) => {
                self.chose("ready", format!("/etc/inittab starts a login on {console}"));
                LOGIN
            }
            Some(_) if greeting == Some(Greeting::Key) => {
                let why = format!("BusyBox's init asks for a key on {console}");
                self.chose("ready", why);
                PRESS_ENTER
            }
            Some(_) if greeting == Some(Greeting::Shell) => {
                self.chose("ready", format!("/etc/inittab starts a shell on {console}"));
                SHELL
            }
            Some(system) => {
                let why = format!("{} starts no login on {console}", system.init.name());
                self.started(found, &why)
            }
            None => {
                let unread = found.volumes.iter().filter(|v| v.files.is_none());
                let mut kinds: Vec<&str> = unread.map(|v| v.kind).collect();
                kinds.retain(|kind| !matches!(*kind, "" | "swap" | "LVM2_member"));
                let why = match kinds.as_slice() {
                    [] if found.table.iso => {
                        "no root file system was found on it (a live system's \
                                              is in a file, which is not looked into)"
                            .to_owned()
                    }
                    [] => "no root file system was found on it".to_owned(),
                    kinds => format!("{} cannot be read here", kinds.join(", ")),
                };
                self.started(found, &why)
            }
        };
    }

    /// Ready where user space begins, as nothing better is known; `why`.
    fn started(&mut self, found: &Found, why: &str) -> &'static str {
        self.unknown.push(format!(
            "{why}, so ready is where user space begins; write what your application prints \
             into ready.pattern"
        ));
        let given = self.cmdline(found);
        if given.split_whitespace().any(|word| word == "quiet") {
            self.unknown.push(
                "`quiet` on the command line hides the kernel's line that says so: boot without \
                 it until ready.pattern is another"
                    .to_owned(),
            );
        }
        STARTED
    }

    /// The kernel's command line, as far as it is known.
    fn cmdline<'p>(&'p self, found: &'p Found) -> &'p str {
        let given = self.kernel.as_ref().map(|kernel| kernel.cmdline.as_str());
        let given = given.or_else(|| found.default().map(|(_, entry)| entry.cmdline.as_str()));
        given.unwrap_or_default()
    }

    /// Nobody is there to answer what an image asks at its first boot, which each boot of it is.
    fn questions(&mut self, found: &Found) {
        let Some(unit) = found.systems.first().and_then(|system| system.asking) else {
            return;
        };
        let given = self.cmdline(found);
        if questions::is_off(given) {
            return;
        }
        let changed = format!("{given} {}", questions::OFF);
        let changed = changed.trim().to_owned();
        let why = format!("{unit} asks on the console at the first boot, and here nobody answers");
        match &mut self.kernel {
            Some(kernel) => {
                kernel.cmdline = changed;
                self.chose("kernel.cmdline", why);
            }
            None if found.with_cmdline(&changed).is_ok() => {
                self.words = Some(changed);
                self.chose("loader", why);
            }
            None => self
                .unknown
                .push(format!("{why}: put {} on its command line", questions::OFF)),
        }
    }

    fn doubts(&mut self, found: &Found) {
        let script = found.loaders.iter().find_map(|loader| {
            let config = loader.config.as_ref()?;
            (loader.name == script::NAME && loader.entries.is_empty()).then_some(config)
        });
        if let (Some(script), None) = (script, &self.kernel) {
            self.unknown.push(format!(
                "what /{} starts is U-Boot's to know: it may want variables of its own board; if \
                 nothing starts, import it with --user-space",
                script.path
            ));
        }
        if let Some((loader, entry)) = found.default() {
            if loader.wait == Wait::Forever && self.kernel.is_none() {
                self.unknown.push(format!(
                    "{} waits until somebody chooses, and here nobody does; set a timeout on a \
                     copy of the disk, or import it with --firmware direct",
                    loader.name
                ));
            }
            let its_own = matches!(
                &self.kernel,
                None | Some(Kernel {
                    from: Source::Disk,
                    ..
                })
            );
            if its_own && entry.kernel.is_empty() {
                self.unknown.push(loader.without_kernel(entry));
            } else if its_own && found.place(loader, entry, &entry.kernel).is_none() {
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
