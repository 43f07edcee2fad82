//! `bootlap pack` and `bootlap layout`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap pack trace.txt --image root.ext4 -o boot.pack
  bootlap pack old.pack --image new-root.ext4 -o boot.pack
  mount -o loop,ro root.squashfs /mnt && bootlap pack old.pack --image /mnt -o boot.pack")]
pub(crate) struct Pack {
    /// What a boot reads: the kernel's trace as text or trace.dat, a run that has
    /// one, or a pack.
    #[arg(required = true, value_name = "TRACE|RUN|PACK")]
    pub(crate) inputs: Vec<PathBuf>,
    /// The target's root: an ext2, ext3 or ext4 image, or the folder where
    /// another kind is mounted.
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: PathBuf,
    /// The pack to write.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Where the target mounts the image.
    #[arg(long, value_name = "DIR", default_value = "/", value_parser = place)]
    pub(crate) place: String,
    /// The image's device in the trace [default: the one whose inodes fit].
    #[arg(long, value_name = "MAJOR:MINOR", value_parser = device)]
    pub(crate) device: Option<u32>,
}

/// The image's maker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayoutFormat {
    /// mksquashfs -sort.
    Squashfs,
    /// mke2fs -d, from a tar archive (e2fsprogs 1.47.1 and later).
    Mke2fs,
    /// mkfs.erofs --tar (erofs-utils 1.8 and later), uncompressed.
    Erofs,
    /// The recipe boot-image, for a target with a root of its own.
    BootImage,
    /// The recipe preload, for a target with a disk.
    Preload,
}

#[derive(ClapArgs)]
#[command(after_help = "Examples:
  bootlap layout boot.pack --for squashfs -o boot.sort
  bootlap layout boot.pack --for mke2fs --root rootfs -o boot.list
  bootlap layout boot.pack --for boot-image -o boot.order
  bootlap layout runs/vm/2026-11-27_08-03-26 --for preload -o reads.txt
  bootlap layout trace.txt --image old-root.ext4 --for erofs --root rootfs -o boot.list")]
pub(crate) struct Layout {
    /// What a boot reads: a pack, the kernel's trace as text or trace.dat, a run
    /// that has one, or a run of a target with a disk.
    #[arg(required = true, value_name = "TRACE|RUN|PACK")]
    pub(crate) inputs: Vec<PathBuf>,
    /// The image's maker.
    #[arg(long = "for", value_enum, value_name = "MAKER")]
    pub(crate) format: LayoutFormat,
    /// The folder from which the image will be made.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// The image that was booted; it has the names of the trace's inodes.
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: Option<PathBuf>,
    /// Where the target mounts the image.
    #[arg(long, value_name = "DIR", default_value = "/", value_parser = place)]
    pub(crate) place: String,
    /// The image's device in the trace [default: the one whose inodes fit].
    #[arg(long, value_name = "MAJOR:MINOR", value_parser = device)]
    pub(crate) device: Option<u32>,
    /// The list to write.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

fn place(text: &str) -> Result<String, String> {
    let trimmed = text.trim_end_matches('/');
    match text.starts_with('/') {
        true if trimmed.is_empty() => Ok("/".to_owned()),
        true => Ok(trimmed.to_owned()),
        false => Err("write the whole path on the target, such as / or /data".to_owned()),
    }
}

/// As the kernel has it: `major << 20 | minor`.
fn device(text: &str) -> Result<u32, String> {
    let numbers = text.split_once(':');
    let numbers = numbers.and_then(|(major, minor)| {
        let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
        (major < 1 << 12 && minor < 1 << 20).then_some(major << 20 | minor)
    });
    numbers.ok_or_else(|| "write MAJOR:MINOR, such as 179:2".to_owned())
}
