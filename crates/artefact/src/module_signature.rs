//! The signature that the kernel wants behind a module.
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

/// The module in this file without its signature; `None` if it has none. The file may be compressed
/// (`virtio.ko.xz`); what is given is not: kmod and BusyBox go by the content, whatever the file is
/// called.
pub fn unsigned_file(file: &[u8]) -> Option<Vec<u8>> {
    let packed = Compression::detect(file);
    if packed == Compression::None {
        return unsigned(file).map(<[u8]>::to_vec);
    }
    let mut module = packed.decompress(file, LONGEST).ok()?;
    let length = unsigned(&module)?.len();
    module.truncate(length);
    Some(module)
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
        }
        for damaged in [signed(22), signed(u32::MAX), MAGIC.to_vec(), Vec::new()] {
            assert_eq!(unsigned(&damaged), None);
        }
    }
}
