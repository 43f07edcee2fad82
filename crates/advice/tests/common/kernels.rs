//! Kernels that unpack themselves, as far as their headers go.

use bootlap_artefact::compress::Compression;

/// A `vmlinux` of so many bytes that a virtual machine enters.
pub(crate) fn vmlinux_of(bytes: usize) -> Vec<u8> {
    let mut elf = vec![0; 120];
    let words: [(usize, &[u8]); 7] = [
        (0, b"\x7fELF\x02\x01\x01"),
        (16, &[2, 0, 62, 0, 1]),
        (32, &[64]),
        (52, &[64, 0, 56, 0, 1]),
        (64, &[4]),
        (72, &[120]),
        (96, &[20]),
    ];
    for (at, bytes) in words {
        elf[at..at + bytes.len()].copy_from_slice(bytes);
    }
    elf.extend(b"\x04\0\0\0\x04\0\0\0\x12\0\0\0Xen\0\0\0\x10\0");
    elf.resize(bytes, 0);
    elf
}

/// A bzImage that unpacks itself to `inside`.
pub(crate) fn bzimage_of(inside: &[u8]) -> Vec<u8> {
    let packed = Compression::Gzip;
    let packed = packed.compress(inside).unwrap();
    let mut image = vec![0; 0x400];
    image[0x1f1] = 1;
    image[0x202..0x208].copy_from_slice(b"HdrS\x0f\x02");
    image[0x24c..0x250].copy_from_slice(&(packed.len() as u32).to_le_bytes());
    image.extend(packed);
    image
}

/// A zImage that unpacks itself to `inside`.
pub(crate) fn zimage_of(inside: &[u8]) -> Vec<u8> {
    let mut image = vec![0; 0x100];
    let xz = Compression::Xz;
    image.extend(xz.compress(inside).unwrap());
    let size_at = image.len() as u32;
    for (at, word) in [
        (0x24, 0x016f_2818),
        (0x34, 0x4545_4545),
        (0x38, 0x80),
        (0x80, 4),
        (0x84, u32::from_le_bytes(*b"KLSZ")),
        (0x88, size_at),
    ] {
        image[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
    image.extend((inside.len() as u32).to_le_bytes());
    image
}
