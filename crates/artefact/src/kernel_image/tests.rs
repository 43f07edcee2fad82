//! The headers are built here by hand from the formats' documents; the module was also held
//! against Debian's linux-image 6.1 for arm64, armmp and amd64.

use proptest::prelude::*;

use super::*;

const BANNER: &[u8] = b"Linux version 6.1.0 (me@here) (gcc 12) #1 SMP 2026\n";

fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

fn arm64() -> Vec<u8> {
    let mut file = vec![0; 4096];
    put(&mut file, 16, &0x20_0000u64.to_le_bytes());
    put(&mut file, 56, b"ARM\x64");
    put(&mut file, 1000, b"Linux version %s (%s)\0");
    put(
        &mut file,
        2000,
        b"Linux version 6.1.0 (me@here) (gcc 12) # SMP 2026\n",
    );
    put(&mut file, 3000, BANNER);
    file
}

fn zimage(packed: &[u8]) -> Vec<u8> {
    let mut file = vec![0; 0x100];
    put(&mut file, 0x24, &0x016f_2818u32.to_le_bytes());
    put(&mut file, 0x34, &0x4545_4545u32.to_le_bytes());
    put(&mut file, 0x38, &0x80u32.to_le_bytes());
    let size_at = (0x100 + packed.len()) as u32;
    let table = [4, u32::from_le_bytes(*b"KLSZ"), size_at, 0x1000, 0];
    for (i, word) in table.iter().enumerate() {
        put(&mut file, 0x80 + 4 * i, &word.to_le_bytes());
    }
    file.extend_from_slice(packed);
    file.extend_from_slice(&0x5000u32.to_le_bytes());
    file
}

fn bzimage() -> Vec<u8> {
    let mut file = vec![0; 0x800];
    file[0x1f1] = 1;
    put(&mut file, 0x202, b"HdrS\x0f\x02");
    put(&mut file, 0x20e, &0x180u16.to_le_bytes());
    file[0x236] = 1;
    put(&mut file, 0x248, &[0x10, 0, 0, 0, 8]);
    put(&mut file, 0x260, &0x40_0000u32.to_le_bytes());
    put(&mut file, 0x380, b"6.1.0 (me@here) #1\0");
    put(&mut file, 0x410, b"\x28\xb5\x2f\xfd");
    file
}

/// One that unpacks itself to `inside`.
fn bzimage_of(inside: &[u8]) -> Vec<u8> {
    let mut file = bzimage();
    let mut packed = Compression::Zstd.compress(inside).unwrap();
    packed.extend((inside.len() as u32).to_le_bytes());
    put(&mut file, 0x24c, &(packed.len() as u32).to_le_bytes());
    file.truncate(0x410);
    file.extend(packed);
    file
}

fn zboot() -> Vec<u8> {
    let mut file = vec![0; 0x100];
    put(&mut file, 0, b"MZ\0\0zimg\x80\0\0\0\x10");
    put(&mut file, 0x3c, &[0x40]);
    put(&mut file, 0x40, b"PE\0\0\x64\xaa");
    put(&mut file, 0x80, b"\x1f\x8b\x08");
    file
}

/// A 64-bit ELF of one segment.
fn vmlinux() -> Vec<u8> {
    let mut file = vec![0; 64 + 56];
    put(&mut file, 0, b"\x7fELF\x02\x01\x01");
    put(&mut file, 16, &[2, 0, 0xb7, 0, 1]);
    put(&mut file, 32, &[64]);
    put(&mut file, 52, &[64, 0, 56, 0, 1, 0, 64]);
    put(&mut file, 64, &[1, 0, 0, 0, 5]);
    put(&mut file, 64 + 40, &0x12_3456u64.to_le_bytes());
    file.extend_from_slice(BANNER);
    file
}

fn banner() -> Option<String> {
    Some("Linux version 6.1.0 (me@here) (gcc 12) #1 SMP 2026".to_owned())
}

#[test]
fn arm64_image() {
    let image = KernelImage::describe(&arm64()).unwrap();
    assert_eq!(
        (image.format, image.arch),
        (KernelFormat::Arm64Image, Some(Arch::Arm64))
    );
    assert_eq!(
        (image.memory_bytes, image.text_offset),
        (Some(0x20_0000), Some(0))
    );
    assert_eq!(image.version, banner());

    let mut old = arm64();
    put(&mut old, 16, &[0; 8]);
    let image = KernelImage::describe(&old).unwrap();
    assert_eq!((image.memory_bytes, image.text_offset), (None, None));
}

#[test]
fn a_compressed_image_is_looked_into() {
    let plain = KernelImage::describe(&arm64()).unwrap();
    for wrapping in [
        Compression::Gzip,
        Compression::Lz4,
        Compression::Zstd,
        Compression::Lzma,
    ] {
        let packed = wrapping.compress(&arm64()).unwrap();
        let expected = KernelImage {
            wrapping,
            ..plain.clone()
        };
        assert_eq!(KernelImage::describe(&packed), Ok(expected));
    }
    let cut = &Compression::Gzip.compress(&arm64()).unwrap()[..40];
    let error = KernelImage::describe(cut).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot look into the kernel: not valid gzip data ("),
        "{error}"
    );
}

#[test]
fn riscv_image() {
    let mut file = vec![0; 64];
    put(&mut file, 8, &0x20_0000u64.to_le_bytes());
    put(&mut file, 16, &0x100_0000u64.to_le_bytes());
    put(&mut file, 48, b"RISCV\0\0\0RSC\x05");
    let image = KernelImage::describe(&file).unwrap();
    assert_eq!(
        (image.format, image.arch),
        (KernelFormat::RiscvImage, Some(Arch::Riscv))
    );
    assert_eq!(
        (image.memory_bytes, image.text_offset),
        (Some(0x100_0000), Some(0x20_0000))
    );
}

#[test]
fn arm_zimage() {
    for (compression, size_bytes) in [(Compression::Xz, 0), (Compression::Gzip, 4)] {
        let packed = compression.compress(&[7; 5000]).unwrap();
        let mut file = zimage(&packed);
        put(&mut file, 0xa0, b"\xfd7zXZ\0\x1f\x8b\x08"); // the decompressor's constants
        let image = KernelImage::describe(&file).unwrap();
        assert_eq!(
            (image.format, image.arch),
            (KernelFormat::ArmZimage, Some(Arch::Arm))
        );
        assert_eq!(image.memory_bytes, Some(0x6000));
        let range = 0x100..0x100 + packed.len() + size_bytes;
        assert_eq!(image.inside(&file).unwrap(), [7; 5000]);
        assert_eq!(image.payload, Some(Payload { range, compression }));
        assert_eq!(image.text_offset, Some(0x8000));
        // Since 5.8.
        put(&mut file, 0x80, &6u32.to_le_bytes());
        put(&mut file, 0x90, &0x20_8000u32.to_le_bytes());
        let image = KernelImage::describe(&file).unwrap();
        assert_eq!(image.text_offset, Some(0x20_8000));
        // What is cut does not come out.
        let damaged = &file[..0x110];
        assert!(image.inside(damaged).is_err());
    }
}

#[test]
fn what_is_inside_others_cannot_be_started() {
    for file in [arm64(), bzimage_of(&vmlinux()), vmlinux()] {
        let image = KernelImage::describe(&file).unwrap();
        assert_eq!(image.inside(&file), Err(KernelError::NothingInside));
    }
}

#[test]
fn x86_bzimage() {
    let image = KernelImage::describe(&bzimage()).unwrap();
    assert_eq!(
        (image.format, image.arch),
        (KernelFormat::X86Bzimage, Some(Arch::X86_64))
    );
    assert_eq!(image.memory_bytes, Some(0x40_0000));
    assert_eq!(image.version.as_deref(), Some("6.1.0 (me@here) #1"));
    let payload = image.payload.unwrap();
    assert_eq!(
        (payload.range, payload.compression),
        (0x410..0x414, Compression::Zstd)
    );
}

#[test]
fn what_virtual_machines_start_is_taken_out_of_a_bzimage() {
    // A segment with Xen's note 18 in it.
    let mut elf = vmlinux();
    let at = elf.len() as u64;
    put(&mut elf, 64, &4u32.to_le_bytes());
    put(&mut elf, 64 + 8, &at.to_le_bytes());
    put(&mut elf, 64 + 32, &20u64.to_le_bytes());
    elf.extend(b"\x04\0\0\0\x04\0\0\0\x12\0\0\0Xen\0\x40\x05\x10\0");
    let file = bzimage_of(&elf);
    let image = KernelImage::describe(&file).unwrap();
    assert_eq!(image.inside(&file).unwrap(), elf);
    assert_eq!(pvh_entry(&elf), Some(0x10_0540));
}

#[test]
fn efi_zboot() {
    let image = KernelImage::describe(&zboot()).unwrap();
    assert_eq!(
        (image.format, image.arch),
        (KernelFormat::EfiZboot, Some(Arch::Arm64))
    );
    assert_eq!(image.payload.unwrap().compression, Compression::Gzip);
}

#[test]
fn elf() {
    let image = KernelImage::describe(&vmlinux()).unwrap();
    assert_eq!(
        (image.format, image.arch),
        (KernelFormat::Elf, Some(Arch::Arm64))
    );
    assert_eq!(image.memory_bytes, Some(0x12_3456));
    assert_eq!(image.version, banner());
}

#[test]
fn other_files_are_refused() {
    for file in [&b""[..], b"MZ", b"\x7fELF", &[0; 4096]] {
        assert_eq!(
            KernelImage::describe(file).unwrap_err().to_string(),
            "not a kernel image; use an Image, zImage, bzImage or vmlinux, compressed or not"
        );
    }
}

#[test]
fn what_is_cut_off_is_told() {
    let mut efi = arm64();
    put(&mut efi, 0, b"MZ");
    put(&mut efi, 0x3c, &[0x40]);
    // Two sections after an optional header of 16 bytes: up to 4096 and 1024.
    put(&mut efi, 0x40, b"PE\0\0\x64\xaa\x02");
    put(&mut efi, 0x40 + 20, &[16]);
    for (section, start) in [3584u32, 512].into_iter().enumerate() {
        let at = 0x40 + 24 + 16 + 40 * section + 16;
        put(&mut efi, at, &512u32.to_le_bytes());
        put(&mut efi, at + 4, &start.to_le_bytes());
    }
    let mut compact = zimage(b"\xfd7zXZ\0");
    let end = compact.len() as u32;
    put(&mut compact, 0x2c, &end.to_le_bytes());
    for (file, needs) in [(efi, 4096), (compact, end as usize), (bzimage(), 0x418)] {
        assert!(KernelImage::describe(&file).is_ok());
        assert!(KernelImage::describe(&file[..needs]).is_ok());
        let cut = KernelError::Cut {
            has: needs - 1,
            needs,
        };
        assert_eq!(KernelImage::describe(&file[..needs - 1]), Err(cut));
    }
}

#[test]
fn cut_files_never_panic() {
    for file in [
        arm64(),
        zimage(b"\xfd7zXZ\0"),
        bzimage(),
        zboot(),
        vmlinux(),
    ] {
        for end in 0..file.len().min(0x500) {
            let _ = KernelImage::describe(&file[..end]);
        }
    }
}

proptest! {
    #[test]
    fn damage_never_panics(at in 0usize..0x270, value in prop_oneof![Just(0xff), any::<u8>()]) {
        for mut file in [arm64(), zimage(b"\xfd7zXZ\0"), bzimage(), zboot(), vmlinux()] {
            let at = at % file.len();
            let end = (at + 4).min(file.len());
            file[at..end].fill(value);
            let _ = KernelImage::describe(&file);
        }
    }
}
