//! Whether an image holds a disk byte for byte, or in a format of virtual machines.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// The others, by what they begin with.
const MAGICS: [(&[u8], &str); 6] = [
    (b"QFI\xfb", "qcow2"),
    (b"KDMV", "vmdk"),
    (b"# Disk Descriptor", "vmdk"),
    (b"vhdxfile", "vhdx"),
    (b"conectix", "vpc"),
    // Of VirtualBox: in front of the number is text.
    (b"\x7f\x10\xda\xbe", "vdi"),
];
const VDI_AT: usize = 0x40;

/// QEMU's name of the format that it is in; `None` if it is raw, or cannot be read.
///
/// What a guest wrote to a raw image could look like another format: this is for images of which
/// nobody said what they are, and for telling that what was said is wrong.
pub fn format(image: &File) -> Option<&'static str> {
    let mut head = [0; VDI_AT + 4];
    image.read_at(&mut head, 0).ok()?;
    let begins = |(magic, format): &(&[u8], &str)| match *format {
        "vdi" => head[VDI_AT..].starts_with(magic),
        _ => head.starts_with(magic),
    };
    if let Some((_, format)) = MAGICS.iter().find(|entry| begins(entry)) {
        return Some(format);
    }
    // A VHD of a fixed size has all behind its disk.
    let end = image.metadata().ok()?.len().checked_sub(512)?;
    let mut foot = [0; 8];
    image.read_exact_at(&mut foot, end).ok()?;
    (&foot == b"conectix").then_some("vpc")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_is_no_raw_disk_says_so_at_one_end() {
        let of = |at: usize, magic: &[u8]| {
            let mut file = tempfile::tempfile().unwrap();
            let mut bytes = vec![0; 4096];
            bytes[at..at + magic.len()].copy_from_slice(magic);
            file.write_all(&bytes).unwrap();
            format(&file)
        };
        assert_eq!(of(0, b"QFI\xfb\0\0\0\x03"), Some("qcow2"));
        assert_eq!(of(0, b"# Disk DescriptorFile\n"), Some("vmdk"));
        assert_eq!(of(0x40, b"\x7f\x10\xda\xbe"), Some("vdi"));
        assert_eq!(of(4096 - 512, b"conectix"), Some("vpc"));
        assert_eq!(of(510, b"\x55\xaa"), None);
        assert_eq!(format(&tempfile::tempfile().unwrap()), None);
    }
}
