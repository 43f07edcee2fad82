//! Whether an image holds a disk byte for byte, or in a format of virtual machines.

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

/// Bytes that [`format_of`] wants of either end.
pub const ENDS: usize = 512;

/// QEMU's name of the format of an image with this `head` and this `foot`, its first and its last
/// [`ENDS`] bytes; `None` if it is raw.
///
/// What a guest wrote to a raw image could look like another format: this is for images of which
/// nobody said what they are, and for telling that what was said is wrong.
pub fn format_of(head: &[u8], foot: &[u8]) -> Option<&'static str> {
    let begins = |(magic, format): &(&[u8], &str)| match *format {
        "vdi" => head.get(VDI_AT..).is_some_and(|at| at.starts_with(magic)),
        _ => head.starts_with(magic),
    };
    // A VHD of a fixed size has all behind its disk.
    let behind = foot.len() == ENDS && foot.starts_with(b"conectix");
    let known = MAGICS.iter().find(|entry| begins(entry));
    known.map(|(_, format)| *format).or(behind.then_some("vpc"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_raw_disk_says_so_at_one_end() {
        let of = |at: usize, magic: &[u8]| {
            let mut head = vec![0; ENDS];
            head[at..at + magic.len()].copy_from_slice(magic);
            format_of(&head, &[0; ENDS])
        };
        assert_eq!(of(0, b"QFI\xfb\0\0\0\x03"), Some("qcow2"));
        assert_eq!(of(0, b"# Disk DescriptorFile\n"), Some("vmdk"));
        assert_eq!(of(0x40, b"\x7f\x10\xda\xbe"), Some("vdi"));
        assert_eq!(of(510, b"\x55\xaa"), None);
        let mut foot = [0; ENDS];
        foot[..8].copy_from_slice(b"conectix");
        assert_eq!(format_of(&[0; ENDS], &foot), Some("vpc"));
        assert_eq!(format_of(&[], &[]), None);
    }
}
