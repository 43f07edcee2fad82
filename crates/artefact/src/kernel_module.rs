//! What is around a kernel's module in its file: compression, and the signature that the kernel
//! wants behind it.
//!
//! ```text
//! module │ PKCS#7, sig_len bytes │ 8 bytes, sig_len as u32 big-endian │ ~Module signature appended~\n
//! ```

use crate::compress::Compression;

const MAGIC: &[u8] = b"~Module signature appended~\n";
/// Between signature and magic; its last four bytes are the signature's length.
const INFO: usize = 12;

fn unsigned(module: &[u8]) -> Option<&[u8]> {
    let signed = module.strip_suffix(MAGIC)?;
    let (rest, info) = signed.split_at_checked(signed.len().checked_sub(INFO)?)?;
    let length = u32::from_be_bytes(*info.last_chunk()?);
    rest.get(..rest.len().checked_sub(usize::try_from(length).ok()?)?)
}

/// More than any module takes, bytes.
const LONGEST: usize = 128 << 20;

/// What is in this file, if it is compressed; `None` if it is not, or damaged.
fn unpacked(file: &[u8]) -> Option<Vec<u8>> {
    match Compression::detect(file) {
        Compression::None => None,
        packed => packed.decompress(file, LONGEST).ok(),
    }
}

/// The module in this file without its signature; `None` if it has none. The file may be compressed
/// (`virtio.ko.xz`); what is given is not: kmod and BusyBox go by the content, whatever the file is
/// called.
pub fn unsigned_file(file: &[u8]) -> Option<Vec<u8>> {
    let Some(mut module) = unpacked(file) else {
        return unsigned(file).map(<[u8]>::to_vec);
    };
    let length = unsigned(&module)?.len();
    module.truncate(length);
    Some(module)
}

/// The module in the file of this path, with its signature, if it is compressed by itself there:
/// `virtio.ko.xz`, `.ko.gz` or `.ko.zst`, as the kernel's `modules_install` calls them.
pub fn plain_file(path: &[u8], file: &[u8]) -> Option<Vec<u8>> {
    let packed = [&b".ko.xz"[..], b".ko.gz", b".ko.zst"];
    let is_packed = packed.iter().any(|end| path.ends_with(end));
    is_packed.then(|| unpacked(file)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_behind_the_module_goes() {
        let signed = |length: u32| {
            let info = [&[0, 0, 2, 0, 0, 0, 0, 0][..], &length.to_be_bytes()].concat();
            [b"\x7fELF module", &b"signature"[..], &info, MAGIC].concat()
        };
        assert_eq!(unsigned(&signed(9)), Some(&b"\x7fELF module"[..]));
        assert_eq!(unsigned(b"\x7fELF module"), None);
        for packed in [Compression::None, Compression::Xz, Compression::Zstd] {
            let file = packed.compress(&signed(9)).unwrap();
            assert_eq!(unsigned_file(&file).unwrap(), b"\x7fELF module");
            let other = packed.compress(b"\x7fELF module").unwrap();
            assert_eq!(unsigned_file(&other), None);
            let plain = (packed != Compression::None).then(|| signed(9));
            assert_eq!(plain_file(b"lib/modules/6.12/virtio.ko.xz", &file), plain);
            assert_eq!(plain_file(b"lib/firmware/virtio.bin.xz", &file), None);
            let cut = &file[..file.len() - 20];
            assert_eq!(plain_file(b"virtio.ko.xz", cut), None);
        }
        for damaged in [signed(22), signed(u32::MAX), MAGIC.to_vec(), Vec::new()] {
            assert_eq!(unsigned(&damaged), None);
        }
    }
}
