//! What a kernel file is, how much memory it takes and which version it is.
//!
//! Formats: Linux's `Documentation/arch/arm64/booting.rst`, `Documentation/arch/riscv/boot-image-header.rst`,
//! `Documentation/arch/x86/boot.rst`, `arch/arm/boot/compressed/head.S`, `drivers/firmware/efi/libstub/zboot-header.S`
//! and ELF. A boot loader must leave [`KernelImage::memory_bytes`] free behind the load address:
//! the file is smaller than that, as it has no bss.

mod entry;
mod self_unpacking;

use std::ops::Range;

use object::{Architecture, Object, ObjectSegment};
use serde::{Deserialize, Serialize};

use super::arch::Arch;
use super::bytes::{c_str, le16, le32, le64};
use super::compress::{CompressError, Compression};
use super::elf;

pub use entry::{entry_code, pvh_entry, uefi_entry};
pub use self_unpacking::{UNPACKER, loaded_end, self_unpacking};

/// The container of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelFormat {
    /// arm64's `Image`.
    Arm64Image,
    /// RISC-V's `Image`.
    RiscvImage,
    /// 32-bit Arm's `zImage`, which unpacks itself.
    ArmZimage,
    /// x86's `bzImage`, which unpacks itself.
    X86Bzimage,
    /// An EFI program that unpacks a kernel (`vmlinuz.efi`).
    EfiZboot,
    /// `vmlinux`, as the linker left it.
    Elf,
}

/// A kernel, described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelImage {
    /// The container.
    pub format: KernelFormat,
    /// The processor family, if the container tells and it is a known one.
    pub arch: Option<Arch>,
    /// What the whole file is compressed with, such as gzip for `Image.gz`.
    pub wrapping: Compression,
    /// Bytes of the container, unwrapped.
    pub file_bytes: usize,
    /// Bytes it takes in memory once it runs, bss included, if the container tells.
    pub memory_bytes: Option<u64>,
    /// Bytes from a 2 MiB boundary to where it must be loaded (arm64, RISC-V); of a zImage,
    /// where the kernel inside must be.
    pub text_offset: Option<u64>,
    /// The compressed kernel inside a container that unpacks itself, if it was found.
    pub payload: Option<Payload>,
    /// `Linux version …` as it prints it, or the shorter version in a bzImage's header, if found
    /// in what is not compressed.
    pub version: Option<String>,
}

/// A compressed kernel inside its container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    /// Where, in bytes from the start of the unwrapped container.
    pub range: Range<usize>,
    /// What it is compressed with.
    pub compression: Compression,
}

/// Why a file could not be described.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KernelError {
    /// None of the known containers.
    #[error("not a kernel image; use an Image, zImage, bzImage or vmlinux, compressed or not")]
    Unknown,
    /// Its header tells of more bytes than there are.
    #[error(
        "cut off: its header tells of {needs} bytes, and there are {has}; copy the whole kernel \
         again"
    )]
    Cut {
        /// Bytes that there are.
        has: usize,
        /// Bytes that there must be at least.
        needs: usize,
    },
    /// It is compressed, and that could not be undone.
    #[error("cannot look into the kernel: {0}")]
    Unpack(#[from] CompressError),
    /// Nothing is inside that a boot loader could start instead.
    #[error(
        "not a kernel that unpacks itself to one that can be started, as zImage, vmlinuz.efi and, \
         with CONFIG_PVH=y, bzImage do"
    )]
    NothingInside,
}

/// Largest kernel that is unpacked to look at it, in bytes. Debian's is 33 MB, an `allyesconfig`
/// one some hundreds.
pub const UNPACK_LIMIT: usize = 512 << 20;

impl KernelImage {
    /// What `file` is. If it is compressed as a whole, it is unpacked first.
    ///
    /// # Errors
    /// [`KernelError::Unknown`], [`KernelError::Cut`] or [`KernelError::Unpack`].
    pub fn describe(file: &[u8]) -> Result<KernelImage, KernelError> {
        let wrapping = Compression::detect(file);
        if wrapping == Compression::None {
            return describe_whole(file);
        }
        let inner = wrapping.decompress(file, UNPACK_LIMIT)?;
        let mut image = describe_whole(&inner)?;
        image.wrapping = wrapping;
        Ok(image)
    }

    /// The kernel inside `file`, the whole container that this describes: what it would unpack
    /// itself to, if something else can start that. Of a zImage or a `vmlinuz.efi` it is an
    /// `Image`, of a bzImage a `vmlinux` that a virtual machine enters by PVH ([`pvh_entry`]),
    /// without what is not loaded ([`elf::packed`]).
    ///
    /// # Errors
    /// [`KernelError::NothingInside`] or [`KernelError::Unpack`].
    pub fn inside(&self, file: &[u8]) -> Result<Vec<u8>, KernelError> {
        let payload = match self.format {
            KernelFormat::ArmZimage | KernelFormat::EfiZboot | KernelFormat::X86Bzimage => {
                self.payload.as_ref()
            }
            _ => None,
        };
        let payload = payload.ok_or(KernelError::NothingInside)?;
        let packed = file.get(payload.range.clone());
        let packed = packed.ok_or(KernelError::NothingInside)?;
        let inside = payload.compression.decompress(packed, UNPACK_LIMIT)?;
        match self.format {
            KernelFormat::X86Bzimage if pvh_entry(&inside).is_none() => {
                Err(KernelError::NothingInside)
            }
            KernelFormat::X86Bzimage => Ok(elf::packed(&inside).unwrap_or(inside)),
            _ => Ok(inside),
        }
    }

    fn new(format: KernelFormat, arch: Option<Arch>, file: &[u8]) -> KernelImage {
        KernelImage {
            format,
            arch,
            wrapping: Compression::None,
            file_bytes: file.len(),
            memory_bytes: None,
            text_offset: None,
            payload: None,
            version: None,
        }
    }
}

fn describe_whole(file: &[u8]) -> Result<KernelImage, KernelError> {
    let image = describe_plain(file).ok_or(KernelError::Unknown)?;
    let needs = [efi_bytes(file), zimage_bytes(file), bzimage_bytes(file)];
    let needs = needs.into_iter().flatten().max().unwrap_or(0);
    match file.len() < needs {
        true => Err(KernelError::Cut {
            has: file.len(),
            needs,
        }),
        false => Ok(image),
    }
}

/// Bytes up to the end of the last section, if the kernel is an EFI program as
/// well. One without says how much memory it takes, but not how long it is.
fn efi_bytes(file: &[u8]) -> Option<usize> {
    has(file, 0, b"MZ")?;
    let header = le32(file, 0x3c)? as usize;
    has(file, header, b"PE\0\0")?;
    let sections = le16(file, header.checked_add(6)?)?;
    let optional = le16(file, header.checked_add(20)?)?;
    let table = header.checked_add(24)?.checked_add(usize::from(optional))?;
    let ends = (0..usize::from(sections)).map_while(|section| {
        let at = table.checked_add(section.checked_mul(40)?)?;
        let (bytes, start) = (
            le32(file, at.checked_add(16)?)?,
            le32(file, at.checked_add(20)?)?,
        );
        (start as usize).checked_add(bytes as usize)
    });
    ends.max()
}

/// What a zImage says of itself: from where to where it goes.
fn zimage_bytes(file: &[u8]) -> Option<usize> {
    has(file, 0x24, b"\x18\x28\x6f\x01")?;
    let (start, end) = (le32(file, 0x28)?, le32(file, 0x2c)?);
    // One that is linked to a fixed address may say nothing of use.
    end.checked_sub(start).map(|bytes| bytes as usize)
}

/// Bytes up to the end of the kernel that a bzImage unpacks.
fn bzimage_bytes(file: &[u8]) -> Option<usize> {
    has(file, 0x202, b"HdrS")?;
    if le16(file, 0x206)? < 0x0208 {
        return None;
    }
    bzimage_payload(file).map(|range| range.end)
}

fn describe_plain(file: &[u8]) -> Option<KernelImage> {
    // An Image with an EFI stub also is an EFI program: its own magic comes first.
    arm64_image(file)
        .or_else(|| riscv_image(file))
        .or_else(|| arm_zimage(file))
        .or_else(|| x86_bzimage(file))
        .or_else(|| efi_zboot(file))
        .or_else(|| vmlinux(file))
}

fn arm64_image(file: &[u8]) -> Option<KernelImage> {
    has(file, 56, b"ARM\x64")?;
    // Before 3.17 image_size was 0 and text_offset of unknown byte order.
    let image_size = le64(file, 16)?;
    let mut image = KernelImage::new(KernelFormat::Arm64Image, Some(Arch::Arm64), file);
    image.memory_bytes = (image_size != 0).then_some(image_size);
    image.text_offset = (image_size != 0).then_some(le64(file, 8)?);
    image.version = banner(file);
    Some(image)
}

fn riscv_image(file: &[u8]) -> Option<KernelImage> {
    has(file, 56, b"RSC\x05")?;
    let mut image = KernelImage::new(KernelFormat::RiscvImage, Some(Arch::Riscv), file);
    image.memory_bytes = Some(le64(file, 16)?);
    image.text_offset = Some(le64(file, 8)?);
    image.version = banner(file);
    Some(image)
}

fn arm_zimage(file: &[u8]) -> Option<KernelImage> {
    has(file, 0x24, b"\x18\x28\x6f\x01")?;
    let mut image = KernelImage::new(KernelFormat::ArmZimage, Some(Arch::Arm), file);
    // Since 4.15 a table says where the size of the unpacked kernel is and how big its bss is.
    let table = le32(file, 0x34).filter(|magic| *magic == 0x4545_4545);
    let table = table.and_then(|_| le32(file, 0x38)).map(|at| at as usize);
    if let Some((table, (size_at, bss))) = table.and_then(|at| Some((at, kernel_size(file, at)?))) {
        image.memory_bytes = le32(file, size_at).map(|size| u64::from(size) + u64::from(bss));
        image.payload = zimage_payload(file, size_at);
        image.text_offset = Some(text_offset(file, table));
    }
    Some(image)
}

/// From a zImage's table: where the size of the unpacked kernel is, and the size of its bss.
fn kernel_size(file: &[u8], table: usize) -> Option<(usize, u32)> {
    has(file, table.checked_add(4)?, b"KLSZ")?;
    Some((
        le32(file, table.checked_add(8)?)? as usize,
        le32(file, table.checked_add(12)?)?,
    ))
}

/// Where the kernel inside a zImage must be: the table says it since 5.8; before, nearly all were
/// linked to the same place.
fn text_offset(file: &[u8], table: usize) -> u64 {
    let words = le32(file, table).unwrap_or(0);
    let said = table.checked_add(16).and_then(|at| le32(file, at));
    said.filter(|_| words >= 5).map_or(0x8000, u64::from)
}

/// Nothing says where the compressed kernel begins, only that it ends with its size; `gzip` has
/// that in its own last bytes, for the others it is appended.
fn zimage_payload(file: &[u8], size_at: usize) -> Option<Payload> {
    const USED_ON_ARM: [Compression; 5] = [
        Compression::Gzip,
        Compression::Lzma,
        Compression::Xz,
        Compression::Lzo,
        Compression::Lz4Legacy,
    ];
    let before = file.get(..size_at)?;
    // The decompressor in front has the same magic among its constants, so a candidate must also
    // unpack, if only its beginning. Real files have one or two of them.
    let candidate = |at: &usize| USED_ON_ARM.contains(&Compression::detect(&before[*at..]));
    let unpacks = |at: &usize| {
        let packed = &file[*at..];
        let beginning = Compression::detect(packed).decompress(packed, 512);
        !matches!(beginning, Err(CompressError::Corrupt { .. }))
    };
    let start = (0..before.len()).filter(candidate).take(16).find(unpacks)?;
    let compression = Compression::detect(&before[start..]);
    let end = if compression == Compression::Gzip {
        size_at + 4
    } else {
        size_at
    };
    Some(Payload {
        range: start..end,
        compression,
    })
}

fn x86_bzimage(file: &[u8]) -> Option<KernelImage> {
    has(file, 0x202, b"HdrS")?;
    let protocol = le16(file, 0x206)?;
    let sixty_four = protocol >= 0x020c && le16(file, 0x236)? & 1 != 0;
    let arch = if sixty_four { Arch::X86_64 } else { Arch::X86 };
    let mut image = KernelImage::new(KernelFormat::X86Bzimage, Some(arch), file);
    if protocol >= 0x020a {
        image.memory_bytes = le32(file, 0x260).map(u64::from);
    }
    if protocol >= 0x0208 {
        let range = bzimage_payload(file)?;
        image.payload = payload(file, range.start, range.len());
        if let Some(payload) = &mut image.payload
            && payload.compression != Compression::Gzip
        {
            // Behind it stands how long it gets; gzip has that in itself.
            payload.range.end = payload.range.end.saturating_sub(4).max(payload.range.start);
        }
    }
    let version = usize::from(le16(file, 0x20e)?);
    image.version = (version != 0)
        .then(|| c_str(file, version + 0x200, 512))
        .flatten()
        .map(|text| String::from_utf8_lossy(text).into_owned());
    Some(image)
}

/// Where a bzImage (protocol 2.08 and later) says that its compressed kernel is.
fn bzimage_payload(file: &[u8]) -> Option<Range<usize>> {
    let setup_sectors = match file.get(0x1f1)? {
        0 => 4,
        n => usize::from(*n),
    };
    let start = (setup_sectors + 1) * 512;
    let start = start.checked_add(le32(file, 0x248)? as usize)?;
    Some(start..start.checked_add(le32(file, 0x24c)? as usize)?)
}

fn efi_zboot(file: &[u8]) -> Option<KernelImage> {
    has(file, 0, b"MZ")?;
    has(file, 4, b"zimg")?;
    let machine = le16(file, (le32(file, 0x3c)? as usize).checked_add(4)?);
    let arch = match machine {
        Some(0xaa64) => Some(Arch::Arm64),
        Some(0x5064) => Some(Arch::Riscv),
        _ => None,
    };
    let mut image = KernelImage::new(KernelFormat::EfiZboot, arch, file);
    image.payload = payload(file, le32(file, 8)? as usize, le32(file, 12)? as usize);
    Some(image)
}

fn vmlinux(file: &[u8]) -> Option<KernelImage> {
    let elf = object::File::parse(file).ok()?;
    let arch = match elf.architecture() {
        Architecture::Arm => Some(Arch::Arm),
        Architecture::Aarch64 => Some(Arch::Arm64),
        Architecture::I386 => Some(Arch::X86),
        Architecture::X86_64 => Some(Arch::X86_64),
        Architecture::Riscv32 | Architecture::Riscv64 => Some(Arch::Riscv),
        Architecture::Mips => Some(Arch::Mips),
        Architecture::Mips64 => Some(Arch::Mips64),
        Architecture::PowerPc | Architecture::PowerPc64 => Some(Arch::PowerPc),
        _ => None,
    };
    let mut image = KernelImage::new(KernelFormat::Elf, arch, file);
    // A sum, as x86's per-CPU segment lies at address 0, far from the others.
    image.memory_bytes = elf
        .segments()
        .try_fold(0u64, |sum, s| sum.checked_add(s.size()));
    image.version = banner(file);
    Some(image)
}

/// `Some` if `magic` is at `at`.
fn has(file: &[u8], at: usize, magic: &[u8]) -> Option<()> {
    file.get(at..)?.starts_with(magic).then_some(())
}

fn payload(file: &[u8], start: usize, size: usize) -> Option<Payload> {
    let range = start..start.checked_add(size)?;
    let compression = Compression::detect(file.get(range.clone())?);
    Some(Payload { range, compression })
}

/// `linux_banner`, the first line that the kernel prints.
fn banner(file: &[u8]) -> Option<String> {
    const START: &[u8] = b"Linux version ";
    let mut found = None;
    for at in memchr::memmem::find_iter(file, START) {
        let line = &file[at..file.len().min(at + 512)];
        let line = line.split(|byte| matches!(byte, b'\n' | 0)).next()?;
        // Other strings begin like it; only in the banner a number follows.
        if !line.get(START.len()).is_some_and(u8::is_ascii_digit) {
            continue;
        }
        // Since 6.1 there is a second one, a placeholder from before the build number was known:
        // `# SMP` instead of `#1 SMP`.
        let built = memchr::memmem::find(line, b" #").and_then(|hash| line.get(hash + 2));
        if built.is_some_and(u8::is_ascii_digit) {
            found = Some(line);
            break;
        }
        found = found.or(Some(line));
    }
    found.map(|line| String::from_utf8_lossy(line).into_owned())
}

#[cfg(test)]
mod tests;
