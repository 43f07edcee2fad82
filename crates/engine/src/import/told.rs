//! What was found on an image and chosen for it, as the report has it.

use std::path::PathBuf;

use bootlap_image::Found;
use bootlap_image::plan::{self, Firmware, Kernel, Plan, Source};
use bootlap_report::imported::{Chosen, Imported, Loader, Partition, Starts};

use super::folder::Files;
use super::{Request, Seen};

/// All of it for people and programs.
pub(super) fn imported(
    request: &Request<'_>,
    files: &Files,
    seen: &Seen,
    plan: &Plan,
    target: String,
) -> Imported {
    let found = &seen.found;
    let partitions = found
        .table
        .partitions
        .iter()
        .zip(&found.volumes)
        .enumerate();
    let partitions = partitions.map(|(n, (partition, volume))| Partition {
        number: partition.number,
        start: partition.start,
        bytes: partition.bytes,
        name: match partition.name.as_str() {
            "" => volume.label.clone(),
            name => name.to_owned(),
        },
        content: volume.kind.to_owned(),
        read: volume.files.is_some(),
        system: system(found, n),
    });
    let loaders = found.loaders.iter().map(|loader| Loader {
        name: loader.name.to_owned(),
        version: loader.version.clone(),
        at: loader.at.clone(),
        config: loader.config.as_ref().map_or_else(String::new, |place| {
            let partition = &found.table.partitions[place.volume];
            match partition.number {
                0 => format!("/{}", place.path),
                n => format!("partition {n}: /{}", place.path),
            }
        }),
    });
    let mut notes = found.table.odd.clone();
    for (partition, volume) in found.table.partitions.iter().zip(&found.volumes) {
        if let Some(trouble) = &volume.trouble {
            notes.push(match &volume.files {
                Some(_) => format!("partition {}: {trouble}", partition.number),
                None => format!(
                    "partition {} looks like {} and cannot be read: {trouble}",
                    partition.number, volume.kind
                ),
            });
        }
    }
    for loader in &found.loaders {
        notes.extend(loader.guess.as_ref().map(|asked| {
            format!(
                "{} asks `{asked}`, which only the machine knows: taken as not so; it may start \
                 another kernel, or another root, there",
                loader.name
            )
        }));
    }
    notes.extend(plan.unknown.iter().cloned());
    let chosen = plan.why.iter().map(|(key, why)| Chosen {
        key: (*key).to_owned(),
        value: value(key, plan),
        why: why.clone(),
    });
    Imported {
        image: files
            .disk
            .as_deref()
            .unwrap_or(request.image)
            .display()
            .to_string(),
        unpacked_from: seen.unpacked_from.clone(),
        bytes: seen.bytes,
        table: match found.table.iso {
            _ if !found.is_disk() => String::new(),
            true => format!("{}, also an ISO 9660", found.table.kind.name()),
            false => found.table.kind.name().to_owned(),
        },
        partitions: partitions.collect(),
        loaders: loaders.collect(),
        starts: starts(files, found, plan),
        architecture: plan.machine.debian.to_owned(),
        chosen: chosen.collect(),
        notes,
        target,
    }
}

/// What is started: by the boot loader, or by the machine.
fn starts(files: &Files, found: &Found, plan: &Plan) -> Option<Starts> {
    let shown = |path: &Option<PathBuf>| {
        let path = path.as_ref().map(|path| path.display().to_string());
        path.unwrap_or_default()
    };
    match &plan.kernel {
        Some(Kernel {
            from: Source::Beside,
            cmdline,
        }) => {
            return Some(Starts {
                how: "the machine starts".to_owned(),
                kernel: shown(&files.kernel),
                version: String::new(),
                initramfs: files
                    .initramfs
                    .iter()
                    .map(|p| p.display().to_string())
                    .collect(),
                cmdline: cmdline.clone(),
            });
        }
        Some(Kernel {
            from: Source::Package(package, early),
            cmdline,
        }) => {
            return Some(Starts {
                how: format!("the machine starts {package}, and that {}", early.init),
                kernel: format!("package {package}"),
                version: String::new(),
                initramfs: Vec::new(),
                cmdline: cmdline.clone(),
            });
        }
        _ => {}
    }
    found.default().map(|(loader, entry)| Starts {
        how: plan::waits(loader, entry),
        kernel: entry.kernel.clone(),
        version: found.kernel_version().unwrap_or_default(),
        initramfs: entry.initramfs.clone(),
        cmdline: entry.cmdline.clone(),
    })
}

fn value(key: &str, plan: &Plan) -> String {
    match key {
        "ready" => format!("{:?}", plan.ready),
        "kernel" => "no firmware".to_owned(),
        "disk" => plan.bus.to_owned(),
        "kernel.cmdline" => {
            let kernel = plan.kernel.as_ref();
            kernel.map_or_else(String::new, |kernel| kernel.cmdline.clone())
        }
        "loader" => plan.words.clone().unwrap_or_default(),
        _ => match &plan.firmware {
            Firmware::Uefi([image, _])
            | Firmware::Uboot(image)
            | Firmware::UbootAsPayload(image) => {
                image.rsplit('/').next().unwrap_or(image).to_owned()
            }
            Firmware::Bios => "SeaBIOS".to_owned(),
            Firmware::None => "none".to_owned(),
        },
    }
}

/// What runs from a partition.
fn system(found: &Found, volume: usize) -> String {
    let system = found.systems.iter().find(|system| system.volume == volume);
    let Some(system) = system else {
        return String::new();
    };
    let name = match system.name.as_str() {
        "" => "a root file system",
        name => name,
    };
    format!("{name}, {}", system.init.name())
}
