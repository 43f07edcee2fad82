//! What U-Boot's first stage starts in Falcon mode: one uImage in which the device
//! tree, the kernel and the initramfs lie one after the other.
//!
//! SPL copies it to its load address and enters the kernel with the address of the
//! device tree, which is its beginning. What U-Boot would have told the kernel, the
//! device tree says: the command line, the initramfs, the memory.

use std::sync::Arc;

use bootlap_artefact::arch::Arch;
use bootlap_artefact::compress::Compression;
use bootlap_artefact::fdt::{Fdt, FdtError, Node};
use bootlap_artefact::uimage::UimageHeader;

use crate::TargetError;

/// What the kernel's image is called.
pub(crate) const KERNEL: &str = "kernel's uImage";
/// Each part begins at a multiple of this, in bytes.
const ALIGN: usize = 64 << 10;

/// What a kernel that unpacks itself uses after itself meanwhile, generously.
const HEAP: usize = 512 << 10;

/// The parts; cheap to clone.
#[derive(Clone)]
pub(crate) struct Payload {
    pub(crate) arch: Arch,
    /// The physical address that SPL copies it to.
    pub(crate) load: u32,
    /// Where memory begins, and its bytes.
    pub(crate) memory: (u64, u64),
    pub(crate) devicetree: Arc<[u8]>,
    pub(crate) kernel: Arc<[u8]>,
    pub(crate) initramfs: Option<Arc<[u8]>>,
}

impl Payload {
    /// Bytes for the device tree: it grows by the command line.
    fn room(&self) -> usize {
        (self.devicetree.len() + ALIGN / 2).next_multiple_of(ALIGN)
    }

    /// The physical address of the kernel.
    pub(crate) fn entry(&self) -> u64 {
        u64::from(self.load) + self.room() as u64
    }

    /// The uImage for a kernel with this command line.
    pub(crate) fn to_bytes(&self, cmdline: &str) -> Result<Vec<u8>, TargetError> {
        let wrong = |e: FdtError| TargetError::artefact("kernel.devicetree", e);
        let mut bytes = vec![0; self.room()];
        bytes.extend_from_slice(&self.kernel);
        let mut place = None;
        if let Some(initramfs) = &self.initramfs {
            bytes.resize((bytes.len() + HEAP).next_multiple_of(ALIGN), 0);
            let start = u64::from(self.load) + bytes.len() as u64;
            place = Some((start, start + initramfs.len() as u64));
            bytes.extend_from_slice(initramfs);
        }
        let tree = prepared(&self.devicetree, cmdline, place, self.memory).map_err(wrong)?;
        let room = bytes.get_mut(..self.room()).unwrap_or_default();
        let Some(front) = room.get_mut(..tree.len()) else {
            return Err(TargetError::artefact(
                "kernel.cmdline",
                "the command line is longer than the device tree has room for; shorten it",
            ));
        };
        front.copy_from_slice(&tree);
        let entry = u32::try_from(self.entry()).unwrap_or(u32::MAX);
        UimageHeader::kernel(self.arch, Compression::None, self.load)
            .and_then(|header| {
                let name = "kernel".to_owned();
                UimageHeader {
                    entry,
                    name,
                    ..header
                }
                .to_bytes(&bytes)
            })
            .map_err(|e| TargetError::artefact(KERNEL, e))
    }
}

/// The device tree `blob` with the command line, the first and last physical
/// address of the initramfs, and the memory: where it begins, and its bytes.
fn prepared(
    blob: &[u8],
    cmdline: &str,
    initramfs: Option<(u64, u64)>,
    memory: (u64, u64),
) -> Result<Vec<u8>, FdtError> {
    let mut tree = Fdt::parse(blob)?;
    let root = &mut tree.root;
    let chosen = child(root, "chosen".to_owned());
    chosen.set_text("bootargs", cmdline);
    if let Some((start, end)) = initramfs {
        chosen.set("linux,initrd-start", start.to_be_bytes().to_vec());
        chosen.set("linux,initrd-end", end.to_be_bytes().to_vec());
    }
    let cells = |name: &str, usual: u64| root.number(name).unwrap_or(usual);
    let cells = [cells("#address-cells", 2), cells("#size-cells", 1)];
    let mut reg = Vec::new();
    for (number, cells) in [memory.0, memory.1].into_iter().zip(cells) {
        let bytes = number.to_be_bytes();
        reg.extend_from_slice(if cells == 1 { &bytes[4..] } else { &bytes });
    }
    let is_memory = |n: &&Node<'_>| n.name == "memory" || n.name.starts_with("memory@");
    let name = root.children.iter().find(is_memory);
    let name = name.map_or(format!("memory@{:x}", memory.0), |n| n.name.to_string());
    let node = child(root, name);
    node.set_text("device_type", "memory");
    node.set("reg", reg);
    tree.to_bytes(4)
}

/// The child called so, which is there then.
fn child<'n, 'a>(node: &'n mut Node<'a>, name: String) -> &'n mut Node<'a> {
    let at = node.children.iter().position(|c| c.name == name.as_str());
    let at = at.unwrap_or_else(|| {
        node.children.push(Node::new(name));
        node.children.len() - 1
    });
    &mut node.children[at]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare() -> Vec<u8> {
        let mut root = Node::new("");
        root.set_text("model", "a board");
        root.set_u32("#address-cells", 1);
        root.set_u32("#size-cells", 1);
        let tree = Fdt {
            root,
            ..Fdt::default()
        };
        tree.to_bytes(4).unwrap()
    }

    fn payload() -> Payload {
        Payload {
            arch: Arch::Arm,
            load: 0x4300_0000,
            memory: (0x4000_0000, 0x1000_0000),
            devicetree: bare().into(),
            kernel: [1; 100_000].as_slice().into(),
            initramfs: Some([2; 10].as_slice().into()),
        }
    }

    #[test]
    fn spl_finds_all_that_a_kernel_needs() {
        let payload = payload();
        let image = payload.to_bytes("quiet").unwrap();
        let (header, data) = UimageHeader::read(&image).unwrap();
        assert_eq!((header.load, header.entry), (0x4300_0000, 0x4301_0000));
        assert_eq!(payload.entry(), 0x4301_0000);
        assert_eq!(data[0x1_0000..][..100_000], [1; 100_000]);
        let tree = Fdt::parse(data).unwrap();
        assert_eq!(tree.root.text("model").unwrap(), "a board");
        let chosen = tree.root.child("chosen").unwrap();
        assert_eq!(chosen.text("bootargs").unwrap(), "quiet");
        let start = chosen.number("linux,initrd-start").unwrap();
        let end = chosen.number("linux,initrd-end").unwrap();
        assert_eq!(end - start, 10);
        assert_eq!(data[start as usize - 0x4300_0000..], [2; 10]);
        let memory = tree.root.child("memory@40000000").unwrap();
        let reg = &memory.prop("reg").unwrap().value;
        assert_eq!(reg[..], [0x40, 0, 0, 0, 0x10, 0, 0, 0]);
    }

    #[test]
    fn another_command_line_replaces_the_first_and_moves_nothing() {
        let again = Payload {
            devicetree: prepared(&bare(), "a", None, (0, 1)).unwrap().into(),
            ..payload()
        };
        let (short, long) = (again.to_bytes("a").unwrap(), again.to_bytes("a quiet"));
        assert_eq!(short.len(), long.unwrap().len());
        let too_long = again.to_bytes(&"x".repeat(ALIGN)).unwrap_err();
        assert!(too_long.to_string().contains("shorten"), "{too_long}");
    }

    #[test]
    fn what_is_no_device_tree_is_an_error() {
        let wrong = Payload {
            devicetree: b"MZ".as_slice().into(),
            ..payload()
        };
        let why = wrong.to_bytes("quiet").unwrap_err().to_string();
        assert!(why.contains("kernel.devicetree"), "{why}");
    }
}
