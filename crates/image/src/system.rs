//! What runs on an image: which distribution, which init, and where it speaks.

use bootlap_artefact::arch::Arch;

use crate::inittab::{self, Greeting, INITTAB, Terminal, is_busyboxs};
use crate::questions;
use crate::volume::{Files, Volume};

/// A root file system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct System {
    /// Its volume.
    pub volume: usize,
    /// `PRETTY_NAME` of os-release, or a part of it that is there.
    pub name: String,
    /// The processor of its programs.
    pub arch: Option<Arch>,
    /// What runs first in user space.
    pub init: Init,
    /// Its path.
    pub init_path: String,
    /// Terminals on which its own configuration lets people in.
    pub terminals: Vec<Terminal>,
    /// The unit that asks for settings on the console at its first boot, and waits.
    pub asking: Option<&'static str>,
    /// A device in its `fstab` that is not on the image, if there is one: the boot waits.
    pub waits_for: Vec<String>,
}

/// Programs that are started as init.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Init {
    /// systemd.
    Systemd,
    /// System V's, with /etc/inittab.
    Sysv,
    /// BusyBox's.
    Busybox,
    /// OpenRC's.
    Openrc,
    /// OpenWrt's.
    Procd,
    /// Another program, or a script.
    Other,
    /// Nothing that could be one.
    #[default]
    None,
}

impl Init {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Systemd => "systemd",
            Self::Sysv => "System V init",
            Self::Busybox => "BusyBox init",
            Self::Openrc => "OpenRC",
            Self::Procd => "procd",
            Self::Other => "an init of its own",
            Self::None => "no init",
        }
    }
}

/// The value of a key in os-release.
pub(crate) fn release_value(text: &str, key: &str) -> Option<String> {
    let lines = text.lines().filter_map(|line| line.split_once('='));
    let (_, value) = lines.into_iter().find(|(name, _)| *name == key)?;
    let value = value.trim().trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.chars().filter(|c| !c.is_control()).collect())
}

/// The root file systems of an image.
pub(crate) fn find(volumes: &[Volume]) -> Vec<System> {
    let all = volumes.iter().enumerate();
    let readable = all.filter_map(|(n, v)| Some((n, v.files.as_deref()?)));
    readable
        .filter_map(|(volume, files)| of(volume, files, volumes))
        .collect()
}

fn of(volume: usize, files: &dyn Files, volumes: &[Volume]) -> Option<System> {
    let release = ["etc/os-release", "usr/lib/os-release"]
        .iter()
        .find_map(|path| files.text(path));
    let (init, init_path) = init(files);
    if release.is_none() && init == Init::None {
        return None;
    }
    let release = release.unwrap_or_default();
    let name = ["PRETTY_NAME", "NAME", "ID"]
        .iter()
        .find_map(|key| release_value(&release, key));
    Some(System {
        volume,
        name: name.unwrap_or_default(),
        arch: arch(files),
        init,
        init_path,
        terminals: terminals(files, init),
        asking: match init {
            Init::Systemd => questions::asking(files),
            _ => None,
        },
        waits_for: waits_for(files, volumes),
    })
}

/// What runs first, and its path.
fn init(files: &dyn Files) -> (Init, String) {
    let systemd = ["usr/lib/systemd/systemd", "lib/systemd/systemd"];
    let paths = ["sbin/init", "usr/sbin/init", "init", "etc/init", "bin/init"];
    let is_there = |path: &&str| files.link(path).is_some() || files.has(path);
    let mut all = paths.into_iter().chain(systemd);
    let Some(path) = all.find(is_there) else {
        return (Init::None, String::new());
    };
    let target = files.link(path);
    let target = target
        .as_deref()
        .map(|to| to.rsplit('/').next().unwrap_or(to));
    let kind = match target {
        // OpenWrt's kernel starts a script of its own, which starts it.
        _ if files.has("sbin/procd") => Init::Procd,
        Some("systemd") => Init::Systemd,
        // With OpenRC, BusyBox's init starts it.
        Some("busybox") if files.has("sbin/openrc") || files.has("usr/sbin/openrc") => Init::Openrc,
        Some("busybox") => Init::Busybox,
        Some("openrc-init") => Init::Openrc,
        _ if path.ends_with("systemd") => Init::Systemd,
        _ => match files.text(INITTAB) {
            Some(inittab) if runs_openrc(files, &inittab) => Init::Openrc,
            Some(inittab) if is_busyboxs(&inittab) => Init::Busybox,
            Some(_) => Init::Sysv,
            None => Init::Other,
        },
    };
    (kind, format!("/{path}"))
}

/// Whether System V's init starts OpenRC: by its table, or by the script that this names.
fn runs_openrc(files: &dyn Files, inittab: &str) -> bool {
    let script = files.text("etc/init.d/rcS").unwrap_or_default();
    let mut lines = inittab.lines().chain(script.lines()).map(str::trim);
    lines.any(|line| !line.starts_with('#') && line.contains("/openrc "))
}

fn arch(files: &dyn Files) -> Option<Arch> {
    let programs = ["bin/sh", "bin/busybox", "sbin/init", "usr/bin/sh", "init"];
    let mut heads = programs.iter().filter_map(|path| files.read(path, 64).ok());
    heads.find_map(|head| of_elf(&head))
}

/// The processor in an ELF header.
fn of_elf(head: &[u8]) -> Option<Arch> {
    if !head.starts_with(b"\x7fELF") {
        return None;
    }
    let pair = [*head.get(18)?, *head.get(19)?];
    let machine = match head.get(5)? {
        2 => u16::from_be_bytes(pair),
        _ => u16::from_le_bytes(pair),
    };
    Some(match (machine, head.get(4)?) {
        (3, _) => Arch::X86,
        (62, _) => Arch::X86_64,
        (40, _) => Arch::Arm,
        (183, _) => Arch::Arm64,
        (243, _) => Arch::Riscv,
        (8, 2) => Arch::Mips64,
        (8, _) => Arch::Mips,
        (20 | 21, _) => Arch::PowerPc,
        _ => return None,
    })
}

/// Terminals on which people are let in; systemd adds that of the kernel's console.
fn terminals(files: &dyn Files, init: Init) -> Vec<Terminal> {
    let inittab = files.text(INITTAB.trim_start_matches('/'));
    let mut found = inittab::terminals(inittab.as_deref(), init == Init::Busybox);
    let wants = "etc/systemd/system/getty.target.wants";
    for name in files.list(wants).unwrap_or_default() {
        let instance = name.split_once('@');
        if let Some(name) = instance.and_then(|(_, rest)| rest.strip_suffix(".service")) {
            found.push(Terminal {
                name: name.to_owned(),
                greeting: Greeting::Login,
            });
        }
    }
    found
}

/// A line of `/etc/fstab`.
pub(crate) struct Mount {
    /// As it is named there, without quotes: `UUID=…`, `/dev/vda1`.
    pub(crate) device: String,
    pub(crate) point: String,
    pub(crate) options: String,
}

/// What a root mounts.
pub(crate) fn fstab(files: &dyn Files) -> Vec<Mount> {
    let text = files.text("etc/fstab").unwrap_or_default();
    let lines = text.lines().map(str::trim).filter(|l| !l.starts_with('#'));
    let mount = |line: &str| {
        let mut fields = line.split_whitespace();
        Some(Mount {
            device: fields.next()?.replace('"', ""),
            point: fields.next()?.to_owned(),
            options: fields.nth(1).unwrap_or_default().to_owned(),
        })
    };
    lines.filter_map(mount).collect()
}

/// Devices that fstab names by a UUID that no file system of the image has.
fn waits_for(files: &dyn Files, volumes: &[Volume]) -> Vec<String> {
    let mut missing = Vec::new();
    for Mount {
        device, options, ..
    } in fstab(files)
    {
        let optional = options.split(',').any(|o| matches!(o, "nofail" | "noauto"));
        let known = |volume: &Volume, uuid: &str| volume.uuid.eq_ignore_ascii_case(uuid);
        if let Some(uuid) = device.strip_prefix("UUID=")
            && !optional
            && !volumes.iter().any(|v| known(v, uuid))
            // What cannot be read may have it.
            && volumes.iter().all(|v| v.files.is_some())
        {
            missing.push(device);
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn os_release_is_read() {
        let text = "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME='Debian GNU/Linux 12 (bookworm)'\nX=\n";
        let name = release_value(text, "PRETTY_NAME");
        assert_eq!(name.as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
        assert_eq!(release_value(text, "X"), None);
        assert_eq!(release_value(text, "ID"), None);
    }

    #[test]
    fn processors_are_told_apart() {
        let elf = |class: u8, order: u8, machine: [u8; 2]| {
            let mut head = b"\x7fELF".to_vec();
            head.extend([class, order]);
            head.resize(18, 0);
            head.extend(machine);
            of_elf(&head)
        };
        assert_eq!(elf(2, 1, [62, 0]), Some(Arch::X86_64));
        assert_eq!(elf(2, 1, [183, 0]), Some(Arch::Arm64));
        assert_eq!(elf(1, 2, [0, 8]), Some(Arch::Mips));
        assert_eq!(elf(2, 1, [255, 255]), None);
        assert_eq!(of_elf(b"#!/bin/sh"), None);
    }
}
