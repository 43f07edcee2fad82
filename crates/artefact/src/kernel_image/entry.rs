//! How a kernel begins: the code at each place where boot loaders enter it, by which its
//! first instruction can be known wherever it was loaded.
//!
//! Linux's `Documentation/arch/x86/boot.rst` (32-bit entry and EFI handover protocol),
//! `Documentation/arch/arm64/booting.rst`, `Documentation/arch/riscv/boot-image-header.rst`,
//! and the PE header that all of them have for UEFI.

use object::elf::{FileHeader32, FileHeader64, NoteType};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, FileKind};

use super::super::bytes::{le16, le32};
use super::has;

/// As much of a compiled function is not found in another one. It must not have a jump in it.
const OF_COMPILER: usize = 24;

/// The kind of Xen's note that says where a machine enters.
pub(super) const PHYS32_ENTRY: NoteType = NoteType(18);

/// The first bytes of the code at each entry of a kernel that is not compressed as a whole;
/// none for a container whose entries are not known here.
pub fn entry_code(file: &[u8]) -> Vec<&[u8]> {
    let mut places: Vec<(usize, usize)> = Vec::new();
    if has(file, 56, b"ARM\x64").is_some() {
        // An instruction that is none but looks like PE, and a jump.
        places.push((0, 8));
    } else if has(file, 56, b"RSC\x05").is_some() {
        places.push((0, 6));
    } else if has(file, 0x202, b"HdrS").is_some() {
        let setup = match file.get(0x1f1) {
            None | Some(0) => 4,
            Some(n) => usize::from(*n),
        };
        let start = (setup + 1) * 512;
        places.push((start, 8));
        let has_handover = le16(file, 0x206).is_some_and(|protocol| protocol >= 0x020b);
        let handover = le32(file, 0x264).filter(|at| has_handover && *at != 0);
        // A jump, 512 bytes behind that of 32 bits.
        places.extend(handover.map(|at| (start + at as usize + 512, 5)));
    }
    places.extend(uefi_entry(file).map(|at| (at, OF_COMPILER)));
    let code = places
        .into_iter()
        .filter_map(|(at, n)| file.get(at..)?.get(..n));
    // What is not code is empty space.
    code.filter(|code| code.iter().any(|byte| *byte != 0))
        .collect()
}

/// Where a program of UEFI is entered, as its PE header says: an address, which in kernels is
/// the place in the file. `None` if it is none.
pub fn uefi_entry(file: &[u8]) -> Option<usize> {
    has(file, 0, b"MZ")?;
    let header = le32(file, 0x3c)? as usize;
    has(file, header, b"PE\0\0")?;
    let entry = le32(file, header.checked_add(0x28)?)?;
    (entry != 0).then_some(entry as usize)
}

/// The physical address at which a virtual machine enters a `vmlinux` for x86: what its note for
/// Xen's PVH says (`CONFIG_PVH=y`), which QEMU, Firecracker and Cloud Hypervisor look for. `None`
/// if it has none.
pub fn pvh_entry(file: &[u8]) -> Option<u64> {
    match FileKind::parse(file).ok()? {
        FileKind::Elf64 => noted_entry::<FileHeader64<Endianness>>(file),
        FileKind::Elf32 => noted_entry::<FileHeader32<Endianness>>(file),
        _ => None,
    }
}

fn noted_entry<H: FileHeader<Endian = Endianness>>(file: &[u8]) -> Option<u64> {
    let header = H::parse(file).ok()?;
    let endian = header.endian().ok()?;
    for segment in header.program_headers(endian, file).ok()? {
        let Ok(Some(mut notes)) = segment.notes(endian, file) else {
            continue;
        };
        while let Ok(Some(note)) = notes.next() {
            if note.name() == b"Xen" && note.n_type(endian) == PHYS32_ENTRY {
                let word: [u8; 4] = note.desc().get(..4)?.try_into().ok()?;
                return Some(u32::from_le_bytes(word).into());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pvh_is_noted() {
        let mut elf = vec![0; 64 + 56];
        elf[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        let mut put = |at: usize, bytes: &[u8]| elf[at..at + bytes.len()].copy_from_slice(bytes);
        put(16, &[2, 0, 62, 0, 1]);
        put(32, &64_u64.to_le_bytes());
        put(52, &[64, 0, 56, 0, 1, 0]);
        put(64, &4_u32.to_le_bytes());
        put(64 + 8, &120_u64.to_le_bytes());
        put(64 + 32, &40_u64.to_le_bytes());
        put(64 + 48, &4_u64.to_le_bytes());
        let note = |kind: u32, address: u32| {
            let words = [4, 4, kind].map(u32::to_le_bytes).concat();
            [&words, &b"Xen\0"[..], &address.to_le_bytes()].concat()
        };
        elf.extend([note(6, 7), note(18, 0x10_0540)].concat());
        assert_eq!(pvh_entry(&elf), Some(0x10_0540));
        let at = 120 + 20 + 8;
        elf[at] = 17;
        assert_eq!(pvh_entry(&elf), None);
        assert_eq!(pvh_entry(&elf[..130]), None);
        assert_eq!(pvh_entry(b""), None);
    }

    #[test]
    fn entries_are_found_and_nothing_else() {
        let mut image = vec![0; 4096];
        image[..8].copy_from_slice(b"MZ@\xfaV\xa3Y\x14");
        image[56..60].copy_from_slice(b"ARM\x64");
        image[0x3c..0x40].copy_from_slice(&64_u32.to_le_bytes());
        image[64..68].copy_from_slice(b"PE\0\0");
        image[64 + 0x28..64 + 0x2c].copy_from_slice(&1000_u32.to_le_bytes());
        image[1000..1024].copy_from_slice(&[7; 24]);
        assert_eq!(entry_code(&image), [&image[..8], &[7; 24]]);

        let mut image = vec![0; 4096];
        image[0x1f1] = 1;
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x206] = 0x0f;
        image[0x207] = 2;
        image[0x264] = 16;
        image[1024..1032].copy_from_slice(&[1; 8]);
        image[1024 + 16 + 512..][..5].copy_from_slice(&[2; 5]);
        assert_eq!(entry_code(&image), [&[1; 8][..], &[2; 5]]);

        assert!(entry_code(b"").is_empty() && entry_code(b"MZ").is_empty());
        assert!(entry_code(&image[..600]).is_empty());
    }
}
