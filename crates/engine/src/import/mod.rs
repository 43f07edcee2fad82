//! A target made of a disk image as it is shipped: what is on it (`bootlap_image`), what to
//! boot it with, and a `target.toml` that says so.
//!
//! Nothing is mounted, nothing needs root, and the image is only read.

mod archive;
mod folder;
mod holey;
mod sparse;
mod target;
mod told;
mod unpack;
mod user_space;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use bootlap_artefact::compress::Compression;
use bootlap_artefact::kernel_image::{KernelFormat, KernelImage, uefi_entry};
use bootlap_image::beside::Beside;
pub use bootlap_image::plan::Wish;
use bootlap_image::plan::{Plan, Source};
use bootlap_image::{Found, Handover};
use bootlap_product::initramfs::compression;
use bootlap_product::{Cache, Target, look_at_disk};
use bootlap_report::imported::Imported;

use crate::failure::{Exit, Failure};
use crate::progress::Progress;
use folder::Files;
use target::{Description, Handed};

/// What to make a target of.
pub struct Request<'a> {
    /// A file, or a build's folder.
    pub image: &'a Path,
    /// The target's folder, which is made.
    pub out: &'a Path,
    /// What is to run first, if somebody knows that better.
    pub wish: Option<Wish>,
    /// A kernel that is not on the image.
    pub kernel: Option<&'a Path>,
    /// Its initramfs.
    pub initramfs: Option<&'a Path>,
    /// For what a guest has to read.
    pub cache: &'a Cache,
}

/// Makes a target of an image in a new folder.
///
/// # Errors
/// If the image cannot be read, nothing on it can be started, or the folder is there.
pub fn import(request: &Request<'_>, progress: &dyn Progress) -> Result<Imported, Failure> {
    let out = request.out;
    if fs::symlink_metadata(out).is_ok() {
        return Err(
            Failure::new(Exit::Usage, format!("{} exists already", out.display()))
                .hint("name a new folder with --out; nothing is written over"),
        );
    }
    let files = files(request)?;
    let named = [
        &files.disk,
        &files.kernel,
        &files.initramfs,
        &files.devicetree,
    ];
    for path in named.into_iter().flatten() {
        let known = fs::metadata(path).map_err(|e| {
            Failure::new(Exit::Usage, format!("cannot read {}: {e}", path.display()))
        })?;
        if !known.is_file() {
            return Err(
                Failure::new(Exit::Usage, format!("{} is no file", path.display()))
                    .hint("copy a device into one first: dd if=DEVICE of=disk.img conv=sparse"),
            );
        }
    }
    let failed = |e: std::io::Error| {
        Failure::new(Exit::Usage, format!("cannot create {}: {e}", out.display()))
    };
    if let Some(above) = out.parent() {
        fs::create_dir_all(above).map_err(failed)?;
    }
    fs::create_dir(out).map_err(failed)?;
    let made = into(request, &files, progress);
    if made.is_err() {
        // It was made a moment ago, and half a target helps nobody.
        let _ = fs::remove_dir_all(out);
    }
    made
}

/// The files that are to be booted.
fn files(request: &Request<'_>) -> Result<Files, Failure> {
    let image = request.image;
    let mut files = match image.is_dir() {
        true => folder::files(image)?,
        false => Files {
            disk: Some(image.to_owned()),
            ..Files::default()
        },
    };
    if let Some(kernel) = request.kernel {
        files.kernel = Some(kernel.to_owned());
        files.initramfs = request.initramfs.map(Path::to_owned);
        if !image.is_dir() && files.initramfs.is_none() && is_initramfs(image) {
            files.initramfs = files.disk.take();
        }
    }
    if request.wish == Some(Wish::UserSpace) {
        (files.kernel, files.initramfs, files.script) = (None, None, None);
    }
    Ok(files)
}

/// Whether a file is an archive of cpio, compressed or not.
fn is_initramfs(path: &Path) -> bool {
    let begins = || {
        let mut head = [0; 6];
        let mut file = BufReader::new(File::open(path)?);
        let packed = Compression::detect(file.fill_buf()?);
        match packed.reader(file)? {
            Some(mut inside) => inside.read_exact(&mut head)?,
            None => return Ok(false),
        }
        std::io::Result::Ok(head.starts_with(b"07070"))
    };
    begins().unwrap_or(false)
}

/// What was found, and the files that it is in.
struct Seen {
    found: Found,
    bytes: u64,
    /// What had to be undone to read it.
    unpacked_from: Vec<String>,
    /// The disk, as a file in the target's folder names it; none if there is none.
    disk: Option<String>,
}

fn into(
    request: &Request<'_>,
    files: &Files,
    progress: &dyn Progress,
) -> Result<Imported, Failure> {
    let (image, out) = (request.image, request.out);
    let unusable = |why: &str| {
        let what = format!("{}: {why}", image.display());
        Failure::new(Exit::NothingUsable, what)
    };
    let seen = see(files, request, progress)?;
    let found = &seen.found;
    let beside = match &files.kernel {
        Some(kernel) => Some(beside(kernel, files)?),
        None => None,
    };
    let plan = Plan::of(found, request.wish, beside.as_ref());
    let plan = plan.map_err(|why| match files.disk.as_deref().and_then(no_disk) {
        Some(what) => unusable(&format!("it is {what}, and no disk"))
            .hint("import the disk that it is on, or name both: ROOT --kernel KERNEL"),
        None => unusable(&why).hint(
            "a kernel that lies elsewhere is named with --kernel; if you know what the image is, \
             describe it: docs/targets.md",
        ),
    })?;

    let write = |name: &str, bytes: &[u8], mode: u32| {
        let path = out.join(name);
        let written = || {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            let mut options = File::options();
            let mut file = options
                .write(true)
                .create_new(true)
                .mode(mode)
                .open(&path)?;
            file.write_all(bytes)
        };
        written().map_err(|e: std::io::Error| {
            Failure::new(
                Exit::Internal,
                format!("cannot write {}: {e}", path.display()),
            )
        })
    };
    let handover = match plan.kernel.as_ref().map(|kernel| &kernel.from) {
        Some(Source::Disk) => {
            let handover = Handover::of(found).map_err(|why| unusable(&why))?;
            let compression = packed_with(&handover, found);
            Some(Handed::on_disk(&handover, compression))
        }
        Some(Source::Beside) => Some(handed(files, out)?),
        Some(Source::Package(_, early)) => {
            write("initramfs/init", user_space::init(early).as_bytes(), 0o777)?;
            None
        }
        None => None,
    };
    let name = name_of(out, image);
    let description = Description {
        name: &name,
        summary: &summary(found, image),
        disk: seen.disk.as_deref(),
        plan: &plan,
        handed: handover.as_ref(),
    };
    let text = description.text();
    let shown = out.join("target.toml").display().to_string();
    Target::parse(out.to_owned(), text.clone(), &shown)?;
    write("target.toml", text.as_bytes(), 0o666)?;
    Ok(told::imported(request, files, &seen, &plan, shown))
}

/// Looks at the disk, or at the initramfs where there is none.
fn see(files: &Files, request: &Request<'_>, progress: &dyn Progress) -> Result<Seen, Failure> {
    let out = request.out;
    let unusable = |path: &Path, why: String| {
        let what = format!("{}: {why}", path.display());
        Failure::new(Exit::NothingUsable, what)
    };
    if let Some(image) = &files.disk {
        let raw = unpack::raw(image, &out.join("disk.img"), progress)?;
        progress.step("looking at the disk");
        let known = fs::metadata(&raw.path).map_err(|e| unusable(image, e.to_string()))?;
        let found = look_at_disk(&raw.path, request.cache, &|what| progress.step(what));
        return Ok(Seen {
            found: found.map_err(|e| unusable(image, e.to_string()))?,
            bytes: known.len(),
            disk: Some(match raw.from.is_empty() {
                true => seen_from(out, image)?,
                false => "disk.img".to_owned(),
            }),
            unpacked_from: raw.from,
        });
    }
    let Some(initramfs) = &files.initramfs else {
        let kernel = files.kernel.as_deref().unwrap_or(out);
        let why = "there is neither a disk nor an initramfs for it; name one: ROOT --kernel KERNEL";
        return Err(unusable(kernel, why.to_owned()));
    };
    progress.step("looking at the initramfs");
    let bytes = fs::read(initramfs).map_err(|e| unusable(initramfs, e.to_string()))?;
    let found = Found::of_initramfs(&bytes);
    Ok(Seen {
        found: found.ok_or_else(|| unusable(initramfs, "it is no initramfs".to_owned()))?,
        bytes: bytes.len() as u64,
        disk: None,
        unpacked_from: Vec::new(),
    })
}

/// The kernel beside an image.
fn beside(kernel: &Path, files: &Files) -> Result<Beside, Failure> {
    let unusable = |why: String| {
        let what = format!("{}: {why}", kernel.display());
        Failure::new(Exit::NothingUsable, what)
    };
    let bytes = fs::read(kernel).map_err(|e| unusable(e.to_string()))?;
    let known = KernelImage::describe(&bytes).map_err(|e| unusable(e.to_string()))?;
    Ok(Beside {
        arch: known.arch,
        has_initramfs: files.initramfs.is_some(),
        script: files.script.clone(),
    })
}

/// The kernel and its initramfs as the target's file names them.
fn handed(files: &Files, out: &Path) -> Result<Handed, Failure> {
    let named = |path: &Option<PathBuf>| path.as_ref().map(|p| seen_from(out, p)).transpose();
    let initramfs = match &files.initramfs {
        Some(path) => {
            let bytes = fs::read(path).map_err(|e| {
                Failure::new(Exit::Usage, format!("cannot read {}: {e}", path.display()))
            })?;
            Some((seen_from(out, path)?, compression(&bytes).to_string()))
        }
        None => None,
    };
    Ok(Handed {
        kernel: named(&files.kernel)?.unwrap_or_default(),
        devicetree: named(&files.devicetree)?,
        initramfs,
        note: "as it lies beside the image",
    })
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
