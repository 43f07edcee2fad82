//! Making a FIT.

use super::super::arch::Arch;
use super::super::compress::Compression;
use super::super::fdt::{Fdt, Node};
use super::{FitError, Hash};

/// A FIT to be written. The same values give the same bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FitSpec<'a> {
    /// Text for people.
    pub description: &'a str,
    /// Seconds since 1970, shown as the time of creation.
    pub timestamp: u32,
    /// What all parts are for.
    pub arch: Arch,
    /// The kernel. Without a load address it is a `kernel_noload`, for U-Boot to run where it
    /// lies. On arm64 such a kernel must not be compressed: U-Boot 2023.01 looks for the header of
    /// an `Image` in the compressed bytes and says `Bad Linux ARM64 Image magic!`.
    pub kernel: Part<'a>,
    /// The initramfs. Its compression is the kernel's business: leave it at none here, whatever
    /// it is, or U-Boot unpacks it (and warns that this is deprecated).
    pub ramdisk: Option<Part<'a>>,
    /// The device tree blob.
    pub fdt: Option<Part<'a>>,
    /// How each part is checked.
    pub hash: Hash,
    /// The data of each part begins at a multiple of this many bytes in the file; 4 is the least.
    pub data_align: usize,
}

/// One image of a FIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    /// Text for people.
    pub description: &'a str,
    /// The bytes, already compressed.
    pub data: &'a [u8],
    /// What U-Boot must unpack them with.
    pub compression: Compression,
    /// Physical address to copy or unpack to.
    pub load: Option<u64>,
    /// Physical address to jump to; the load address if not given.
    pub entry: Option<u64>,
}

impl<'a> Part<'a> {
    /// Bytes to be used as they are, wherever U-Boot puts them.
    pub fn new(description: &'a str, data: &'a [u8]) -> Part<'a> {
        Part {
            description,
            data,
            compression: Compression::None,
            load: None,
            entry: None,
        }
    }
}

impl<'a> FitSpec<'a> {
    /// A FIT of one kernel, checked with CRC-32.
    pub fn new(arch: Arch, kernel: Part<'a>) -> FitSpec<'a> {
        FitSpec {
            description: "made by bootlap",
            timestamp: 0,
            arch,
            kernel,
            ramdisk: None,
            fdt: None,
            hash: Hash::Crc32,
            // From a multiple of 4 only, U-Boot's plain memcpy copies byte by byte on 64 bits.
            data_align: 8,
        }
    }

    /// The file.
    ///
    /// # Errors
    /// [`FitError::Compression`] if U-Boot cannot unpack a part, [`FitError::Fdt`] if it becomes
    /// too big or cannot be aligned like this.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FitError> {
        let kernel_type = if self.kernel.load.is_some() {
            "kernel"
        } else {
            "kernel_noload"
        };
        let mut kernel = self.kernel;
        if kernel.load.is_none() {
            // U-Boot wants both properties and, for this type, counts from where the kernel is.
            kernel.load = Some(0);
            kernel.entry = Some(kernel.entry.unwrap_or(0));
        }
        let parts = [
            ("kernel", kernel_type, Some(kernel)),
            ("ramdisk", "ramdisk", self.ramdisk),
            ("fdt", "flat_dt", self.fdt),
        ];

        let mut images = Node::new("images");
        let mut configuration = Node::new("conf-1");
        configuration.set_text("description", self.description);
        for (role, kind, part) in parts {
            let Some(part) = part else { continue };
            let name = format!("{role}-1");
            configuration.set_text(role, &name);
            images.children.push(self.image(name, kind, part)?);
        }
        let mut configurations = Node::new("configurations");
        configurations.set_text("default", "conf-1");
        configurations.children.push(configuration);

        let mut root = Node::new("");
        root.set_u32("timestamp", self.timestamp);
        root.set_text("description", self.description);
        root.set_u32("#address-cells", 1);
        root.children = vec![images, configurations];
        let tree = Fdt {
            root,
            ..Fdt::default()
        };
        Ok(tree.to_bytes(self.data_align)?)
    }

    fn image(&self, name: String, kind: &str, part: Part<'a>) -> Result<Node<'a>, FitError> {
        let compression = part.compression;
        let compression = compression
            .fit_name()
            .ok_or(FitError::Compression(compression))?;
        let mut image = Node::new(name);
        image.set_text("description", part.description);
        image.set("data", part.data);
        image.set_text("type", kind);
        image.set_text("arch", self.arch.uboot_name());
        if kind != "flat_dt" {
            image.set_text("os", "linux");
        }
        image.set_text("compression", compression);
        let entry = part
            .entry
            .or(part.load.filter(|_| kind.starts_with("kernel")));
        for (name, address) in [("load", part.load), ("entry", entry)] {
            let Some(address) = address else { continue };
            // One cell where it fits, as everybody writes it; U-Boot looks at the length.
            match u32::try_from(address) {
                Ok(address) => image.set_u32(name, address),
                Err(_) => image.set(name, address.to_be_bytes().to_vec()),
            }
        }
        if self.hash != Hash::None {
            let mut hash = Node::new("hash-1");
            hash.set("value", self.hash.digest(part.data));
            hash.set_text("algo", self.hash.name());
            image.children.push(hash);
        }
        Ok(image)
    }
}
