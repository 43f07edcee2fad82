//! The legacy uImage: a 64-byte header in front of an image, from before there was FIT.
//!
//! Format: U-Boot's `include/image.h` (`struct legacy_img_hdr`). Big-endian; one CRC-32 over the
//! header with its own field zero, one over the data. `verify=no` in the environment skips the
//! second one.

use super::arch::Arch;
use super::bytes::{array, be32};
use super::compress::Compression;

const MAGIC: u32 = 0x2705_1956;

/// Size of the header in bytes.
pub const HEADER_BYTES: usize = 64;

/// What the header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UimageHeader {
    /// Seconds since 1970.
    pub timestamp: u32,
    /// Physical address to copy or unpack to.
    pub load: u32,
    /// Physical address to jump to.
    pub entry: u32,
    /// Operating system, `IH_OS_*`; 5 is Linux.
    pub os: u8,
    /// Processor family, `IH_ARCH_*`; see [`Arch::from_uimage_code`].
    pub arch: u8,
    /// Image type, `IH_TYPE_*`; see the constants here.
    pub kind: u8,
    /// Compression, `IH_COMP_*`; see [`UimageHeader::compression`].
    pub compression: u8,
    /// Text for people, at most 32 bytes.
    pub name: String,
}

/// `IH_OS_LINUX`.
pub const OS_LINUX: u8 = 5;
/// `IH_TYPE_KERNEL`.
pub const KIND_KERNEL: u8 = 2;
/// `IH_TYPE_RAMDISK`.
pub const KIND_RAMDISK: u8 = 3;
/// `IH_TYPE_MULTI`: several images in one.
pub const KIND_MULTI: u8 = 4;
/// `IH_TYPE_SCRIPT`.
pub const KIND_SCRIPT: u8 = 6;

/// Compressions by their `IH_COMP_*` number.
const COMPRESSIONS: [Compression; 7] = [
    Compression::None,
    Compression::Gzip,
    Compression::Bzip2,
    Compression::Lzma,
    Compression::Lzo,
    Compression::Lz4,
    Compression::Zstd,
];

/// What is wrong with a uImage.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UimageError {
    /// It does not start like one.
    #[error("not a uImage (no 27051956 at the start); check the file or the offset")]
    NotUimage,
    /// The header announces more data than there is.
    #[error("uImage is cut short: {needed} bytes announced, {available} there; copy all of it")]
    Cut {
        /// Bytes needed, header included.
        needed: usize,
        /// Bytes there are.
        available: usize,
    },
    /// The header's own CRC is wrong.
    #[error("uImage header has crc {stored:08x} but its bytes give {computed:08x}; make it again")]
    HeaderCrc {
        /// The CRC in the header.
        stored: u32,
        /// The CRC of the header's bytes.
        computed: u32,
    },
    /// The data's CRC is wrong.
    #[error("uImage data has crc {stored:08x} but its bytes give {computed:08x}; make it again")]
    DataCrc {
        /// The CRC in the header.
        stored: u32,
        /// The CRC of the data.
        computed: u32,
    },
    /// U-Boot cannot unpack this.
    #[error("u-boot has no {0} decompressor; use none, gzip, bzip2, lzma, lz4 or zstd")]
    Compression(Compression),
    /// The size is a 32-bit number.
    #[error("uImage data of {0} bytes is too big; it must be below 4 GiB")]
    TooBig(usize),
    /// The name is longer than its field.
    #[error("uImage name `{0}` is longer than 32 bytes; shorten it")]
    Name(String),
}

impl UimageHeader {
    /// A Linux kernel that is unpacked to and started at `load`.
    ///
    /// # Errors
    /// [`UimageError::Compression`] if U-Boot cannot unpack it.
    pub fn kernel(arch: Arch, compression: Compression, load: u32) -> Result<Self, UimageError> {
        let code = COMPRESSIONS.iter().position(|c| *c == compression);
        Ok(UimageHeader {
            timestamp: 0,
            load,
            entry: load,
            os: OS_LINUX,
            arch: arch.uimage_code(),
            kind: KIND_KERNEL,
            compression: code.ok_or(UimageError::Compression(compression))? as u8,
            name: String::new(),
        })
    }

    /// The compression, if the number is a known one.
    pub fn compression(&self) -> Option<Compression> {
        COMPRESSIONS.get(usize::from(self.compression)).copied()
    }

    /// The header and its data, both CRCs checked. `file` may go on after the data.
    ///
    /// # Errors
    /// [`UimageError::NotUimage`], [`UimageError::Cut`], [`UimageError::HeaderCrc`] or
    /// [`UimageError::DataCrc`].
    pub fn read(file: &[u8]) -> Result<(UimageHeader, &[u8]), UimageError> {
        if be32(file, 0) != Some(MAGIC) {
            return Err(UimageError::NotUimage);
        }
        let cut = |needed| UimageError::Cut {
            needed,
            available: file.len(),
        };
        let header: [u8; HEADER_BYTES] = array(file, 0).ok_or(cut(HEADER_BYTES))?;
        let word = |at| be32(&header, at).unwrap_or_default();

        let (stored, computed) = (word(4), header_crc(header));
        if stored != computed {
            return Err(UimageError::HeaderCrc { stored, computed });
        }
        let end = HEADER_BYTES.saturating_add(word(12) as usize);
        let data = file.get(HEADER_BYTES..end).ok_or(cut(end))?;
        let (stored, computed) = (word(24), crc32fast::hash(data));
        if stored != computed {
            return Err(UimageError::DataCrc { stored, computed });
        }
        let name = header[32..]
            .split(|&byte| byte == 0)
            .next()
            .unwrap_or_default();
        let header = UimageHeader {
            timestamp: word(8),
            load: word(16),
            entry: word(20),
            os: header[28],
            arch: header[29],
            kind: header[30],
            compression: header[31],
            name: String::from_utf8_lossy(name).into_owned(),
        };
        Ok((header, data))
    }

    /// The header followed by `data`.
    ///
    /// # Errors
    /// [`UimageError::TooBig`] or [`UimageError::Name`].
    pub fn to_bytes(&self, data: &[u8]) -> Result<Vec<u8>, UimageError> {
        let size = u32::try_from(data.len()).map_err(|_| UimageError::TooBig(data.len()))?;
        if self.name.len() > 32 {
            return Err(UimageError::Name(self.name.clone()));
        }
        let mut header = [0; HEADER_BYTES];
        let data_crc = crc32fast::hash(data);
        let words = [
            MAGIC,
            0,
            self.timestamp,
            size,
            self.load,
            self.entry,
            data_crc,
        ];
        for (slot, word) in header.chunks_exact_mut(4).zip(words) {
            slot.copy_from_slice(&word.to_be_bytes());
        }
        header[28..32].copy_from_slice(&[self.os, self.arch, self.kind, self.compression]);
        header[32..32 + self.name.len()].copy_from_slice(self.name.as_bytes());
        let crc = header_crc(header);
        header[4..8].copy_from_slice(&crc.to_be_bytes());
        Ok([&header, data].concat())
    }
}

/// The CRC of a header whose CRC field counts as zero.
fn header_crc(mut header: [u8; HEADER_BYTES]) -> u32 {
    header[4..8].fill(0);
    crc32fast::hash(&header)
}

#[cfg(test)]
mod tests;
