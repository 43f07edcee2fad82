//! The kernel of a disk without its boot loader: what a machine can be handed instead.

use crate::Found;
use crate::loader::{Entry, Loader, script, section};
use crate::system::Init;
use crate::volume::{MOST_FILE, Place};

/// Files of a disk, as `PARTITION:PATH`; behind `#` a section of a unified kernel image, or
/// what an image of `mkimage` has in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handover {
    /// The kernel.
    pub kernel: String,
    /// The parts of its initramfs, in their order.
    pub initramfs: Vec<String>,
    /// Its command line; empty where no boot loader says one.
    pub cmdline: String,
}

impl Handover {
    /// What is started if nobody chooses, or a kernel in `/boot` that no loader names.
    ///
    /// # Errors
    /// What cannot be found.
    pub fn of(found: &Found) -> Result<Self, String> {
        let name = |place: &Place| {
            let number = found.table.partitions[place.volume].number;
            match place.path.contains(['#', ',']) {
                true => Err(format!(
                    "{}: no name of a part can have such a path",
                    place.path
                )),
                false => Ok(format!("{number}:{}", place.path)),
            }
        };
        let Some((loader, entry)) = found.default() else {
            return without_loader(found, &name);
        };
        let place = |path: &str| {
            let place = found.place(loader, entry, path);
            place.ok_or_else(|| format!("{path} cannot be read from the disk"))
        };
        if entry.kernel.is_empty() {
            return Err(loader.without_kernel(entry));
        }
        let kernel = place(&entry.kernel)?;
        let program = found.read(&kernel);
        let program = program.ok_or_else(|| format!("{} is damaged", entry.kernel))?;
        let kernel = name(&kernel)?;
        if section(&program, ".linux").is_some() {
            let named = |section: &str| format!("{kernel}#{section}");
            let initramfs = section(&program, ".initrd").map(|_| named(".initrd"));
            return Ok(Self {
                kernel: named(".linux"),
                initramfs: initramfs.into_iter().collect(),
                cmdline: found.words_without_loader(loader, entry),
            });
        }
        let initramfs = entry.initramfs.iter().map(|path| {
            let place = place(path)?;
            let file = found.read(&place).unwrap_or_default();
            Ok(named_within(name(&place)?, &file))
        });
        Ok(Self {
            kernel: named_within(kernel, &program),
            initramfs: initramfs.collect::<Result<_, String>>()?,
            cmdline: found.words_without_loader(loader, entry),
        })
    }
}

impl Found {
    /// A loader's command line, for a kernel that is started without it. Where it names no root,
    /// systemd looks for one on the disk that it was loaded from, which only loaders tell
    /// (`LoaderDevicePartUUID`), and mounts it for writing: systemd-gpt-auto-generator(8). Of a
    /// script of U-Boot's, a board's variables have it.
    pub(crate) fn words_without_loader(&self, loader: &Loader, entry: &Entry) -> String {
        let cmdline = &entry.cmdline;
        let words = || cmdline.split_whitespace();
        let names = ["root=", "roothash=", "usrhash=", "mount.usr="];
        if words().any(|word| names.iter().any(|name| word.starts_with(name))) {
            return cmdline.to_owned();
        }
        if loader.name == script::NAME {
            let root = format!("{cmdline} {}", self.root_word());
            return root.trim_start().to_owned();
        }
        let system = self.systems.first().filter(|s| s.init == Init::Systemd);
        let partition = system.and_then(|s| self.table.partitions.get(s.volume));
        let Some(partition) = partition.filter(|p| p.number > 0 && !p.partuuid.is_empty()) else {
            return cmdline.to_owned();
        };
        let how = match words().any(|word| matches!(word, "ro" | "rw")) {
            true => "",
            false => " rw",
        };
        let root = format!("{cmdline} root=PARTUUID={}{how}", partition.partuuid);
        root.trim_start().to_owned()
    }

    /// Where the first root file system is, for the kernel.
    pub(crate) fn root_word(&self) -> String {
        let system = self.systems.first();
        let partition = system.and_then(|s| self.table.partitions.get(s.volume));
        match partition {
            Some(partition) if partition.number > 0 => match partition.mapped() {
                Some(device) => format!("root={device} rootwait"),
                None => format!("root=PARTUUID={} rootwait", partition.partuuid),
            },
            _ => "root=/dev/vda rootwait".to_owned(),
        }
    }

    /// The bytes of what is named `PARTITION:PATH` or `PARTITION:PATH#SECTION`.
    pub fn named(&self, name: &str) -> Option<Vec<u8>> {
        let (partition, path) = name.split_once(':')?;
        let number: u32 = partition.parse().ok()?;
        let partitions = &self.table.partitions;
        let volume = partitions.iter().position(|p| p.number == number)?;
        let (path, wanted) = match path.split_once('#') {
            Some((path, wanted)) => (path, Some(wanted)),
            None => (path, None),
        };
        let bytes = self.files(volume)?.read(path, MOST_FILE).ok()?;
        match wanted {
            Some(WRAPPED) => script::unwrapped(&bytes).map(<[u8]>::to_vec),
            Some(wanted) => section(&bytes, wanted),
            None => Some(bytes),
        }
    }
}

/// What an image of mkimage has in it, as a section.
const WRAPPED: &str = "image";

/// The name of what a file has in it, if mkimage wrapped it.
fn named_within(name: String, file: &[u8]) -> String {
    match script::unwrapped(file) {
        Some(_) => format!("{name}#{WRAPPED}"),
        None => name,
    }
}

fn without_loader(
    found: &Found,
    name: &dyn Fn(&Place) -> Result<String, String>,
) -> Result<Handover, String> {
    let kernel = kernel_in_boot(found).ok_or("there is no kernel on the disk")?;
    if found.read(&kernel).is_none() {
        return Err(format!("{} is damaged", kernel.path));
    }
    // Named as Debian and Fedora name them.
    let (folder, file) = kernel.path.rsplit_once('/').unwrap_or(("", &kernel.path));
    let version = file.split_once('-').map_or("", |(_, version)| version);
    let names = [
        format!("{folder}/initrd.img-{version}"),
        format!("{folder}/initramfs-{version}.img"),
        format!("{folder}/initrd.img"),
    ];
    let files = found.files(kernel.volume);
    let initramfs = names.iter().find(|path| files.is_some_and(|f| f.has(path)));
    let initramfs = initramfs.map(|path| {
        name(&Place {
            volume: kernel.volume,
            path: path.clone(),
        })
    });
    Ok(Handover {
        kernel: name(&kernel)?,
        initramfs: initramfs.transpose()?.into_iter().collect(),
        cmdline: String::new(),
    })
}

/// A kernel that no boot loader names.
pub(crate) fn kernel_in_boot(found: &Found) -> Option<Place> {
    let names = ["vmlinuz", "vmlinux", "Image", "zImage", "bzImage", "kernel"];
    for (volume, _) in found.volumes.iter().enumerate() {
        let Some(files) = found.files(volume) else {
            continue;
        };
        for folder in ["boot", ""] {
            let all = files.list(folder).unwrap_or_default();
            let is_kernel = |name: &&String| {
                names.iter().any(|n| {
                    let rest = name.strip_prefix(n);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']))
                })
            };
            if let Some(name) = all.iter().rfind(is_kernel) {
                return Some(Place {
                    volume,
                    path: format!("{folder}/{name}"),
                });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::System;
    use crate::table::{Partition, Table};

    #[test]
    fn a_root_that_only_the_loader_tells_is_named() {
        let partition = Partition {
            number: 2,
            partuuid: "07efd125-dbf3-4c81-b46f-5cf6f8de0351".to_owned(),
            ..Partition::default()
        };
        let found = |init| Found {
            table: Table {
                partitions: vec![partition.clone()],
                ..Table::default()
            },
            volumes: Vec::new(),
            loaders: Vec::new(),
            systems: vec![System {
                init,
                ..System::default()
            }],
        };
        let of = |init, name, line: &str| {
            let loader = Loader {
                name,
                ..Loader::default()
            };
            let entry = Entry {
                cmdline: line.to_owned(),
                ..Entry::default()
            };
            found(init).words_without_loader(&loader, &entry)
        };
        let given = |line: &str| of(Init::Systemd, "GRUB", line);
        let root = "root=PARTUUID=07efd125-dbf3-4c81-b46f-5cf6f8de0351";
        assert_eq!(given("console=ttyS0"), format!("console=ttyS0 {root} rw"));
        assert_eq!(given("ro"), format!("ro {root}"));
        assert_eq!(given(""), format!("{root} rw"));
        for line in ["root=/dev/vda2 ro", "roothash=0123 quiet"] {
            assert_eq!(given(line), line);
        }
        assert_eq!(of(Init::Busybox, "GRUB", "quiet"), "quiet");
        let by_script = of(Init::Busybox, script::NAME, "quiet");
        assert_eq!(by_script, format!("quiet {root} rootwait"));
    }
}
