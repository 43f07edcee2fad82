//! A target made of a disk image as it is shipped: what is on it (`bootlap_image`), what to
//! boot it with, and a `target.toml` that says so.
//!
//! Nothing is mounted, nothing needs root, and the image is only read.

mod folder;
mod target;
mod unpack;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bootlap_artefact::kernel_image::{KernelFormat, KernelImage, uefi_entry};
pub use bootlap_image::plan::Wish;
use bootlap_image::plan::{self, Firmware, Plan};
use bootlap_image::{Found, Handover, Window};
use bootlap_product::Target;
use bootlap_product::initramfs::compression;
use bootlap_report::imported::{Chosen, Imported, Loader, Partition, Starts};

use crate::failure::{Exit, Failure};
use crate::progress::Progress;
use target::Description;

/// Makes a target of `image`, a file or a build's folder, in the new folder `out`.
///
/// # Errors
/// If the image cannot be read, nothing on it can be started, or the folder is there.
pub fn import(
    image: &Path,
    out: &Path,
    wish: Option<Wish>,
    progress: &dyn Progress,
) -> Result<Imported, Failure> {
    if fs::symlink_metadata(out).is_ok() {
        return Err(
            Failure::new(Exit::Usage, format!("{} exists already", out.display()))
                .hint("name a new folder with --out; nothing is written over"),
        );
    }
    let image = match image.is_dir() {
        true => folder::image(image)?,
        false => image.to_owned(),
    };
    let known = fs::metadata(&image)
        .map_err(|e| Failure::new(Exit::Usage, format!("cannot read {}: {e}", image.display())))?;
    if !known.is_file() {
        return Err(
            Failure::new(Exit::Usage, format!("{} is no file", image.display()))
                .hint("copy a device into one first: dd if=DEVICE of=disk.img conv=sparse"),
        );
    }
    let failed = |e: std::io::Error| {
        Failure::new(Exit::Usage, format!("cannot create {}: {e}", out.display()))
    };
    if let Some(above) = out.parent() {
        fs::create_dir_all(above).map_err(failed)?;
    }
    fs::create_dir(out).map_err(failed)?;
    let made = into(&image, out, wish, progress);
    if made.is_err() {
        // It was made a moment ago, and half a target helps nobody.
        let _ = fs::remove_dir_all(out);
    }
    made
}

fn into(
    image: &Path,
    out: &Path,
    wish: Option<Wish>,
    progress: &dyn Progress,
) -> Result<Imported, Failure> {
    let raw = unpack::raw(image, &out.join("disk.img"), progress)?;
    progress.step("looking at the disk");
    let unusable = |why: &str| {
        let what = format!("{}: {why}", image.display());
        Failure::new(Exit::NothingUsable, what)
    };
    let opened = File::open(&raw.path).and_then(|file| Ok((file.metadata()?.len(), file)));
    let (bytes, file) = opened.map_err(|e| unusable(&e.to_string()))?;
    let found = Found::of(&Window::all(Rc::new(file), bytes));
    let plan = Plan::of(&found, wish).map_err(|why| match no_disk(&raw.path) {
        Some(what) => unusable(&format!("it is {what}, and no disk"))
            .hint("import the disk that it is on, or name it in a target (docs/targets.md)"),
        None => unusable(&why).hint("if you know what it is, describe it: docs/targets.md"),
    })?;

    let write = |name: &str, bytes: &[u8]| {
        let path = out.join(name);
        fs::write(&path, bytes).map_err(|e| {
            Failure::new(
                Exit::Internal,
                format!("cannot write {}: {e}", path.display()),
            )
        })
    };
    let handover = match plan.direct {
        Some(_) => Some(Handover::of(&found).map_err(|why| unusable(&why))?),
        None => None,
    };
    let name = name_of(out, image);
    let named = match raw.from.is_empty() {
        true => seen_from(out, image)?,
        false => "disk.img".to_owned(),
    };
    let description = Description {
        name: &name,
        summary: &summary(&found, image),
        image: &named,
        plan: &plan,
        handover: handover.as_ref(),
        compression: handover.as_ref().and_then(|h| packed_with(h, &found)),
    };
    let text = description.text();
    let shown = out.join("target.toml").display().to_string();
    Target::parse(out.to_owned(), text.clone(), &shown)?;
    write("target.toml", text.as_bytes())?;
    Ok(imported(image, &raw, bytes, &found, &plan, shown))
}

/// What a file is that people take for a disk.
fn no_disk(path: &Path) -> Option<&'static str> {
    /// Larger ones would be disks.
    const MOST: u64 = 256 << 20;
    let size = fs::metadata(path).ok()?.len();
    let bytes = (size <= MOST).then(|| fs::read(path).ok()).flatten()?;
    let kernel = KernelImage::describe(&bytes);
    // Every program is an ELF.
    if kernel.is_ok_and(|kernel| kernel.format != KernelFormat::Elf) {
        return Some("a kernel");
    }
    uefi_entry(&bytes).map(|_| "a program of UEFI")
}

/// What the initramfs is compressed with, if there is one.
fn packed_with(handover: &Handover, found: &Found) -> Option<String> {
    let parts = handover.initramfs.iter().map(|name| found.named(name));
    let bytes: Vec<Vec<u8>> = parts.collect::<Option<_>>()?;
    (!bytes.is_empty()).then(|| compression(&bytes.concat()).to_string())
}

/// The target's name: of its folder.
fn name_of(out: &Path, image: &Path) -> String {
    let name = out.file_name().or(image.file_name());
    let name = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let plain = |c: char| if c.is_control() { '-' } else { c };
    let name: String = name.chars().map(plain).collect();
    if matches!(name.as_str(), "" | "." | "..") {
        return "image".to_owned();
    }
    name
}

fn summary(found: &Found, image: &Path) -> String {
    let file = image.file_name().unwrap_or_default().to_string_lossy();
    let system = found.systems.first().map(|system| system.name.as_str());
    match system.filter(|name| !name.is_empty()) {
        Some(system) => format!("{system}, from {file}"),
        None => format!("from {file}"),
    }
}

/// The image's path for a file in `out`: beside it if that can be, so that both can be moved.
fn seen_from(out: &Path, image: &Path) -> Result<String, Failure> {
    let real = |path: &Path| {
        fs::canonicalize(path)
            .map_err(|e| Failure::new(Exit::Usage, format!("cannot read {}: {e}", path.display())))
    };
    let (folder, image) = (real(out)?, real(image)?);
    let beside = folder
        .parent()
        .and_then(|above| image.strip_prefix(above).ok());
    let path: PathBuf = match beside {
        Some(rest) => Path::new("..").join(rest),
        None => image.clone(),
    };
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::new(Exit::Usage, format!("{} is no UTF-8", image.display()))
            .hint("rename it, or the folder that it is in")
    })
}

/// All of it for people and programs.
fn imported(
    image: &Path,
    raw: &unpack::Raw,
    bytes: u64,
    found: &Found,
    plan: &Plan,
    target: String,
) -> Imported {
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
    let starts = found.default().map(|(loader, entry)| Starts {
        how: plan::waits(loader, entry),
        kernel: entry.kernel.clone(),
        version: version(found),
        initramfs: entry.initramfs.clone(),
        cmdline: entry.cmdline.clone(),
    });
    let mut notes = found.table.odd.clone();
    for (partition, volume) in found.table.partitions.iter().zip(&found.volumes) {
        if let Some(trouble) = &volume.trouble {
            notes.push(format!(
                "partition {} looks like {} and cannot be read: {trouble}",
                partition.number, volume.kind
            ));
        }
    }
    notes.extend(plan.unknown.iter().cloned());
    let chosen = plan.why.iter().map(|(key, why)| Chosen {
        key: (*key).to_owned(),
        value: value(key, plan),
        why: why.clone(),
    });
    Imported {
        image: image.display().to_string(),
        unpacked_from: raw.from.clone(),
        bytes,
        table: match found.table.iso {
            true => format!("{}, also an ISO 9660", found.table.kind.name()),
            false => found.table.kind.name().to_owned(),
        },
        partitions: partitions.collect(),
        loaders: loaders.collect(),
        starts,
        architecture: plan.machine.debian.to_owned(),
        chosen: chosen.collect(),
        notes,
        target,
    }
}

fn value(key: &str, plan: &Plan) -> String {
    match key {
        "ready" => format!("{:?}", plan.ready),
        "kernel" => "no firmware".to_owned(),
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

fn version(found: &Found) -> String {
    let described = found
        .default()
        .and_then(|(loader, entry)| found.kernel(loader, entry));
    let version = described
        .and_then(|kernel| kernel.version)
        .unwrap_or_default();
    let version = version.strip_prefix("Linux version ").unwrap_or(&version);
    version.split(' ').next().unwrap_or_default().to_owned()
}
