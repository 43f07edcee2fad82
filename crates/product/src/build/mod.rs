//! Kernels and boot loaders, built from source as a target says.
//!
//! ```toml
//! [kernel.build]
//! source = "package:linux-source/usr/src/linux-source-*.tar.xz"
//! architecture = "arm64"
//! config = "allnoconfig"            # or a .config beside target.toml
//! options = { PRINTK_TIME = "y" }   # on top of it
//! ```
//!
//! `image = "build:arch/arm64/boot/Image"` then names what comes out. What was
//! built is kept by a hash of all that went into it, so it is built once; the
//! build knows neither date nor user, so equal input gives equal bytes.

mod config;
mod make;
mod source;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use bootlap_artefact::compress::Compression;
use bootlap_kbuild::dot_config::DotConfig;
use serde::Deserialize;

use crate::cache::{is_whole, seal, sha256, sha256_of_file};
use crate::part::Find;
use crate::{Cache, Progress, TargetError};
use make::Make;
use source::Source;

/// What makes an image: `[kernel.build]` or `[bootloader.build]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Build {
    /// The source: a folder, an archive, `package:…` that holds an archive, or
    /// `source-package:NAME`.
    pub source: String,
    /// What the kernel's makefiles call the processor family (`ARCH`); it chooses
    /// the compiler of a boot loader, too.
    pub architecture: String,
    /// A `.config` beside `target.toml`, or a configuration that `make` knows.
    pub config: String,
    /// Options on top of it, without `CONFIG_`.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
}

/// An initramfs that a kernel is built with.
pub(crate) struct Inside {
    /// The archive, as it is.
    pub(crate) archive: Vec<u8>,
    /// How the kernel's makefiles compress it.
    pub(crate) compression: Compression,
}

/// What it is called in the build's folder.
const ARCHIVE: &str = "initramfs.cpio";

impl Inside {
    /// The options by which the kernel holds it.
    fn options(&self) -> Vec<(String, String)> {
        let name = match self.compression {
            Compression::None => "NONE",
            Compression::Gzip => "GZIP",
            Compression::Bzip2 => "BZIP2",
            Compression::Lzma => "LZMA",
            Compression::Xz => "XZ",
            Compression::Lzo => "LZO",
            Compression::Lz4 | Compression::Lz4Legacy => "LZ4",
            Compression::Zstd => "ZSTD",
        };
        let on = |option: String| (option, "y".to_owned());
        let mut options = vec![
            on("BLK_DEV_INITRD".to_owned()),
            ("INITRAMFS_SOURCE".to_owned(), ARCHIVE.to_owned()),
            on(format!("INITRAMFS_COMPRESSION_{name}")),
        ];
        if self.compression != Compression::None {
            options.push(on(format!("RD_{name}")));
        }
        options
    }
}

/// What was built.
#[derive(Clone, Debug)]
pub struct Built {
    /// The image.
    pub image: PathBuf,
    /// The source and its version, for people.
    pub origin: String,
    /// The configuration that it was built with, whole.
    pub config: DotConfig,
    /// The file of that configuration.
    pub config_path: PathBuf,
    /// The source tree, which may be gone from the cache since.
    pub tree: PathBuf,
    /// Whether an earlier build was taken.
    pub kept: bool,
}

/// Raised when the same input gives other bytes than before.
const FORMAT: u32 = 1;

/// The image `output`, a path within the build's folder as `make` names it.
pub(crate) fn build(
    key: &str,
    build: &Build,
    inside: Option<&Inside>,
    output: &str,
    finder: &dyn Find,
    cache: &Cache,
    progress: Progress<'_>,
) -> Result<Built, TargetError> {
    if !is_inside(output) {
        let why = format!("build:{output} is no path inside of the build");
        return Err(TargetError::artefact(key, why));
    }
    let source = Source::find(key, &build.source, finder)?;
    let options = inside.map_or_else(Vec::new, Inside::options);
    let config = config::Wanted::of(key, build, options, finder)?;
    let make = Make::for_architecture(key, &build.architecture)?;
    let root = cache.root().join("build");
    let name = sha256(
        format!(
            "{FORMAT}\n{}\n{}\n{}\n{}\n{output}\n{}{}",
            source.identity,
            build.architecture,
            config.identity(),
            make.compiler,
            build.config,
            inside.map_or_else(String::new, |inside| sha256(&inside.archive)),
        )
        .as_bytes(),
    );
    let result = root.join("results").join(&name);
    let file_name = Path::new(output).file_name().unwrap_or_default();
    let kept = is_whole_result(&result, file_name);
    if !kept {
        let _lock = lock(&root)?;
        // Somebody else may have built it meanwhile.
        if !is_whole_result(&result, file_name) {
            let _ = fs::remove_dir_all(&result);
            let tree = source.unpacked(&root, progress)?;
            let work = root.join(format!("work.{}", std::process::id()));
            let _ = fs::remove_dir_all(&work);
            let made = put(&work, inside)
                .and_then(|()| run(key, &make, &tree, &work, &config, output, progress));
            let placed = made.and_then(|()| place(&work, output, &result));
            // What failed stays to be looked at: the error names its log.
            if placed.is_ok() {
                let _ = fs::remove_dir_all(&work);
            }
            placed?;
        }
    }
    let config_path = result.join("config");
    let config = fs::read(&config_path);
    let config = config.map_err(|e| TargetError::io("read", &config_path, e))?;
    Ok(Built {
        image: result.join(file_name),
        origin: format!("{} built from {}", file_name.display(), source.origin),
        config: DotConfig::read(&config).map_err(|e| TargetError::artefact(key, e))?,
        config_path,
        tree: source.tree(&root),
        kept,
    })
}

/// Makes the build's folder, with what the makefiles are to find there.
fn put(work: &Path, inside: Option<&Inside>) -> Result<(), TargetError> {
    fs::create_dir_all(work).map_err(|e| TargetError::io("create", work, e))?;
    let Some(inside) = inside else { return Ok(()) };
    let file = work.join(ARCHIVE);
    fs::write(&file, &inside.archive).map_err(|e| TargetError::io("write", &file, e))
}

fn run(
    key: &str,
    make: &Make,
    tree: &Path,
    work: &Path,
    config: &config::Wanted,
    output: &str,
    progress: Progress<'_>,
) -> Result<(), TargetError> {
    config.write(key, make, tree, work)?;
    // The makefiles know what comes out by its last name: Image, zImage, vmlinux,
    // u-boot.bin; U-Boot's other images are made with all the rest.
    let file = Path::new(output).file_name().unwrap_or_default();
    let file = file.to_string_lossy();
    let target = match &*file {
        "u-boot.bin" => "u-boot.bin",
        other if other.starts_with("u-boot") => "all",
        other => other,
    };
    make.build(key, tree, work, target, progress)
}

/// Takes over what is needed of a build.
fn place(work: &Path, output: &str, result: &Path) -> Result<(), TargetError> {
    let made = work.join(output);
    let file = made.file_name().unwrap_or_default();
    let partial = result.with_extension(format!("partial.{}", std::process::id()));
    let failed = |e| TargetError::io("take over", &made, e);
    let copied = |from: &Path, name: &OsStr| {
        let to = partial.join(name);
        fs::copy(from, &to).map_err(failed)?;
        // A power cut after the rename must not leave an empty file.
        let synced = fs::File::open(&to).and_then(|file| file.sync_all());
        synced.map_err(failed)?;
        seal(&to, &sha256_of_file(&to)?.0).map_err(failed)
    };
    fs::create_dir_all(&partial).map_err(failed)?;
    copied(&work.join(".config"), OsStr::new("config"))?;
    copied(&made, file)?;
    fs::rename(&partial, result).map_err(failed)
}

/// Whether a result is there, as it was taken over.
fn is_whole_result(result: &Path, image: &OsStr) -> bool {
    [OsStr::new("config"), image].iter().all(|name| {
        let path = result.join(name);
        sha256_of_file(&path).is_ok_and(|(hash, _)| is_whole(&path, &hash))
    })
}

/// One build at a time: each takes all processors.
fn lock(root: &Path) -> Result<fs::File, TargetError> {
    let path = root.join("lock");
    let lock = || {
        fs::create_dir_all(root.join("results"))?;
        let file = fs::File::create(&path)?;
        file.lock()?;
        // What a killed build left behind; nobody else builds now.
        for entry in fs::read_dir(root)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with("work.") {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        Ok(file)
    };
    lock().map_err(|e| TargetError::io("lock", &path, e))
}

fn is_inside(path: &str) -> bool {
    let path = Path::new(path);
    let normal = |c| matches!(c, std::path::Component::Normal(_));
    path.components().next().is_some() && path.components().all(normal)
}

#[cfg(test)]
mod tests;
