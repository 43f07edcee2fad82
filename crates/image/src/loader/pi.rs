//! A Raspberry Pi's firmware: it reads `config.txt` and `cmdline.txt` from the first FAT.
//!
//! Its own documentation of `config.txt` says what each line does. A line under `[pi4]` or
//! another model's name holds for that board only, and here nobody knows which it is: only what
//! holds for all is read.

use super::{Entry, Loader, readable};
use crate::volume::{Files, Place, Volume};

/// Kernels that are started if none is named, the newest board's first.
const KERNELS: [&str; 5] = [
    "kernel_2712.img",
    "kernel8.img",
    "kernel7l.img",
    "kernel7.img",
    "kernel.img",
];

pub(super) fn read(volumes: &[Volume]) -> Option<Loader> {
    let firmware = ["bootcode.bin", "start.elf", "start4.elf"];
    let (volume, files) = readable(volumes).find(|(n, files)| {
        let has = |name: &&str| files.has(name);
        volumes[*n].kind == "vfat" && firmware.iter().any(has)
    })?;
    let config = files.text("config.txt");
    let mut loader = of(config.as_deref().unwrap_or_default(), files);
    loader.config = config.is_some().then(|| Place {
        volume,
        path: "config.txt".to_owned(),
    });
    Some(loader)
}

fn of(config: &str, files: &dyn Files) -> Loader {
    let mut for_all = true;
    let (mut kernel, mut prefix, mut cmdline) = ("", "", "cmdline.txt");
    let mut initramfs = Vec::new();
    for line in config.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            for_all = section.starts_with("all");
            continue;
        }
        let initrd = line.strip_prefix("initramfs ").map(str::trim);
        match (for_all, line.split_once('='), initrd) {
            (true, Some(("kernel", value)), _) => kernel = value.trim(),
            (true, Some(("os_prefix", value)), _) => prefix = value.trim(),
            (true, Some(("cmdline", value)), _) => cmdline = value.trim(),
            (true, _, Some(rest)) => {
                let name = rest.split_whitespace().next().unwrap_or_default();
                initramfs = vec![name.to_owned()];
            }
            _ => {}
        }
    }
    let at = |name: &str| format!("/{prefix}{name}");
    if kernel.is_empty() {
        let there = KERNELS.iter().find(|name| files.has(&at(name)));
        kernel = there.copied().unwrap_or_default();
    }
    // Another boot loader can be started like a kernel.
    let is_kernel = !kernel.is_empty() && !kernel.contains("u-boot");
    let words = files.text(&at(cmdline)).unwrap_or_default();
    let entry = Entry {
        title: kernel.to_owned(),
        kernel: at(kernel),
        initramfs: initramfs.iter().map(|name| at(name)).collect(),
        cmdline: words.split_whitespace().collect::<Vec<_>>().join(" "),
        ..Entry::default()
    };
    Loader {
        name: super::PI,
        entries: if is_kernel { vec![entry] } else { Vec::new() },
        default: is_kernel.then_some(0),
        ..Loader::default()
    }
}
