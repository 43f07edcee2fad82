//! Compression as boot loaders and the kernel understand it.
//!
//! Each format has one variant that the decompressors in U-Boot and Linux accept, at the level
//! people ship; anything else that a format allows is a boot that stops. The constraints come from
//! U-Boot's `boot/image.c`, `lib/lz4_wrapper.c`, `lib/zstd/zstd.c` and Linux's
//! `lib/decompress*.c`, `scripts/Makefile.lib`; every variant here was booted by one or the other.
//!
//! - gzip -9, no name, time 0.
//! - bzip2 -9.
//! - LZMA "alone" with the true size in the header. The dictionary is no larger than the data,
//!   because Linux allocates it.
//! - xz with a CRC-32: the kernel's decoder knows no CRC-64, which is what xz writes by default.
//! - LZ4, twice: `lz4` is the frame format with independent blocks, the only one U-Boot reads;
//!   `lz4-legacy` is the only one the kernel reads.
//! - zstd -19 with the content size in the header.
//!
//! What U-Boot can unpack is decided when it is built. Debian's 2023.01 for `qemu_arm64` starts
//! gzip, lzma and lz4 kernels; to bzip2 and zstd it says `Unimplemented compression type 2` (or 6),
//! and no parameter helps, only `CONFIG_BZIP2` and `CONFIG_ZSTD`. Some older sources cannot unpack
//! a zstd kernel even then: `image_decomp` sets up `in` twice and `out` never. A kernel that is
//! given the LZ4 frame format says `Initramfs unpacking failed: invalid magic at start of
//! compressed archive`.
//!
//! LZO is recognised, not read or written.

mod streams;

use std::fmt;
use std::io::{self, BufRead, Read, Write};
use std::str::FromStr;

use lz4::{BlockMode, BlockSize, ContentChecksum, liblz4::BlockChecksum};
use lzma_rust2::{CheckType, LzmaOptions, LzmaReader, LzmaWriter, XzOptions, XzReader, XzWriter};
use serde::{Deserialize, Serialize};

use super::{bytes, lz4_legacy};
use streams::Streams;

/// A compression format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compression {
    /// Stored as it is.
    None,
    /// RFC 1952.
    Gzip,
    /// bzip2.
    Bzip2,
    /// LZMA "alone" (`.lzma`), not LZMA2.
    Lzma,
    /// xz. U-Boot has no decoder for it.
    Xz,
    /// lzop's format. Recognised only.
    Lzo,
    /// LZ4 frame format: for U-Boot.
    Lz4,
    /// LZ4 legacy format (`lz4 -l`): for the kernel.
    Lz4Legacy,
    /// Zstandard.
    Zstd,
}

/// What went wrong with compressed data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompressError {
    /// No format has this name.
    #[error("unknown compression `{0}`; use one of {names}", names = Compression::names())]
    Unknown(String),
    /// The format is only recognised.
    #[error("{0} is recognised but not supported; use lz4 or gzip")]
    Unsupported(Compression),
    /// The data is damaged, cut or not in this format.
    #[error("not valid {format} data ({reason}); make it again or check that the file is whole")]
    Corrupt {
        /// The format it was read as.
        format: Compression,
        /// The decoder's own words.
        reason: String,
    },
    /// The encoder gave up.
    #[error("{format} cannot hold this data ({reason}); choose another compression")]
    Unwritable {
        /// The format that was asked for.
        format: Compression,
        /// The encoder's own words.
        reason: String,
    },
    /// More comes out than the caller allows.
    #[error(
        "{format} data unpacks to more than {limit} bytes; raise the limit if that is expected"
    )]
    TooBig {
        /// The format it was read as.
        format: Compression,
        /// The caller's limit in bytes.
        limit: usize,
    },
}

/// Most memory an xz or LZMA decoder may ask for, in KiB: `xz -9` needs 65 MiB, and only a
/// hostile header needs gigabytes.
const DECODER_KIB: u32 = 256 << 10;

impl Compression {
    /// Every format, in the order of the documentation.
    pub const ALL: [Compression; 9] = [
        Compression::None,
        Compression::Gzip,
        Compression::Bzip2,
        Compression::Lzma,
        Compression::Xz,
        Compression::Lzo,
        Compression::Lz4,
        Compression::Lz4Legacy,
        Compression::Zstd,
    ];

    fn names() -> String {
        Self::ALL.map(Compression::name).join(", ")
    }

    /// The name in `target.toml` and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Compression::None => "none",
            Compression::Gzip => "gzip",
            Compression::Bzip2 => "bzip2",
            Compression::Lzma => "lzma",
            Compression::Xz => "xz",
            Compression::Lzo => "lzo",
            Compression::Lz4 => "lz4",
            Compression::Lz4Legacy => "lz4-legacy",
            Compression::Zstd => "zstd",
        }
    }

    /// The `compression` property of a FIT image; `None` if U-Boot cannot unpack this format.
    pub fn fit_name(self) -> Option<&'static str> {
        match self {
            Compression::Xz | Compression::Lz4Legacy => None,
            other => Some(other.name()),
        }
    }

    /// The format that `data` starts with; [`Compression::None`] if it is no known one.
    pub fn detect(data: &[u8]) -> Compression {
        const MAGICS: [(&[u8], Compression); 7] = [
            (b"\x1f\x8b\x08", Compression::Gzip),
            (b"BZh", Compression::Bzip2),
            (b"\xfd7zXZ\0", Compression::Xz),
            (b"\x89LZO\0\r\n\x1a\n", Compression::Lzo),
            (b"\x04\x22\x4d\x18", Compression::Lz4),
            (b"\x02\x21\x4c\x18", Compression::Lz4Legacy),
            (b"\x28\xb5\x2f\xfd", Compression::Zstd),
        ];
        MAGICS
            .iter()
            .find(|(magic, _)| data.starts_with(magic))
            .map(|(_, format)| *format)
            .or_else(|| looks_like_lzma(data).then_some(Compression::Lzma))
            .unwrap_or(Compression::None)
    }

    /// `data` compressed. The same data gives the same bytes, whenever and wherever.
    ///
    /// # Errors
    /// [`CompressError::Unsupported`] for LZO; [`CompressError::Unwritable`] if an encoder fails.
    pub fn compress(self, data: &[u8]) -> Result<Vec<u8>, CompressError> {
        let packed = match self {
            Compression::None => Ok(data.to_vec()),
            Compression::Gzip => gzip(data),
            Compression::Bzip2 => bzip2(data),
            Compression::Lzma => lzma(data),
            Compression::Xz => xz(data),
            Compression::Lzo => return Err(CompressError::Unsupported(self)),
            Compression::Lz4 => lz4_frame(data),
            Compression::Lz4Legacy => lz4_legacy::write(data),
            Compression::Zstd => zstd_frame(data),
        };
        packed.map_err(|error| CompressError::Unwritable {
            format: self,
            reason: error.to_string(),
        })
    }

    /// What the first stream in `data` unpacks to. Like U-Boot and the kernel, this ignores what
    /// follows it: images are padded to the blocks of their flash.
    ///
    /// # Errors
    /// [`CompressError::Corrupt`] for damaged or cut data, [`CompressError::TooBig`] as soon as
    /// more than `limit` bytes come out, [`CompressError::Unsupported`] for LZO.
    pub fn decompress(self, data: &[u8], limit: usize) -> Result<Vec<u8>, CompressError> {
        let (unpacked, _) = self.decompress_first(data, limit)?;
        Ok(unpacked)
    }

    /// What `from` holds, unpacked while it is read, however large it is: all streams, where
    /// a file has several. Behind those of gzip and bzip2 anything may follow. `None` for a
    /// format that cannot be read so.
    ///
    /// # Errors
    /// If it does not begin as it should.
    pub fn reader<'r>(self, from: impl BufRead + 'r) -> io::Result<Option<Box<dyn Read + 'r>>> {
        Ok(Some(match self {
            Compression::None => Box::new(from),
            Compression::Gzip => Box::new(Streams::<flate2::bufread::GzDecoder<_>>::new(from)),
            Compression::Bzip2 => Box::new(Streams::<::bzip2::bufread::BzDecoder<_>>::new(from)),
            Compression::Lzma => Box::new(LzmaReader::new_mem_limit(from, DECODER_KIB, None)?),
            Compression::Xz => Box::new(XzReader::new_mem_limit(from, true, DECODER_KIB)),
            Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(from)?),
            // The LZ4 library takes what is cut off for whole.
            Compression::Lzo | Compression::Lz4 | Compression::Lz4Legacy => return Ok(None),
        }))
    }

    /// What the first stream in `data` unpacks to, and what follows it: an initramfs may be
    /// several archives one after the other. Behind LZ4 frames nothing is found.
    ///
    /// # Errors
    /// As [`Compression::decompress`].
    pub fn decompress_first(
        self,
        data: &[u8],
        limit: usize,
    ) -> Result<(Vec<u8>, &[u8]), CompressError> {
        let mut rest = data;
        let from = &mut rest;
        let unpacked = match self {
            Compression::None => up_to(from, limit),
            Compression::Gzip => up_to(flate2::bufread::GzDecoder::new(from), limit),
            Compression::Bzip2 => up_to(::bzip2::bufread::BzDecoder::new(from), limit),
            Compression::Lzma => match LzmaReader::new_mem_limit(from, DECODER_KIB, None) {
                Ok(mut reader) => {
                    let unpacked = up_to(&mut reader, limit);
                    // It reads ahead.
                    let (from, ahead) = reader.into_parts();
                    let left = from.len().saturating_add(ahead.len());
                    *from = &data[data.len().saturating_sub(left)..];
                    unpacked
                }
                Err(error) => Err(error),
            },
            Compression::Xz => up_to(XzReader::new_mem_limit(from, false, DECODER_KIB), limit),
            Compression::Lzo => return Err(CompressError::Unsupported(self)),
            Compression::Lz4 => {
                let unpacked = read_lz4_frame(data, limit);
                *from = &[];
                unpacked
            }
            Compression::Lz4Legacy => lz4_legacy::read(from, limit),
            Compression::Zstd => zstd::stream::read::Decoder::with_buffer(from)
                .and_then(|reader| up_to(reader.single_frame(), limit)),
        };
        match unpacked {
            Ok(Some(bytes)) => Ok((bytes, rest)),
            Ok(None) => Err(CompressError::TooBig {
                format: self,
                limit,
            }),
            Err(error) => Err(CompressError::Corrupt {
                format: self,
                reason: error.to_string(),
            }),
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Compression {
    type Err = CompressError;

    fn from_str(name: &str) -> Result<Self, CompressError> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| CompressError::Unknown(name.to_owned()))
    }
}

/// LZMA has no magic: the usual properties byte, a dictionary that is a power of two of at least
/// 4 KiB, and a size that is either unknown or believable.
fn looks_like_lzma(data: &[u8]) -> bool {
    let (Some(dictionary), Some(size)) = (bytes::le32(data, 1), bytes::le64(data, 5)) else {
        return false;
    };
    let believable = size == u64::MAX || size < 1 << 40;
    data[0] == 0x5d && dictionary.is_power_of_two() && dictionary >= 4096 && believable
}

/// All that `reader` has, or `None` if that is more than `limit` bytes.
fn up_to(reader: impl Read, limit: usize) -> io::Result<Option<Vec<u8>>> {
    let mut out = Vec::new();
    let most = u64::try_from(limit).map_or(u64::MAX, |n| n.saturating_add(1));
    reader.take(most).read_to_end(&mut out)?;
    Ok((out.len() <= limit).then_some(out))
}

fn gzip(data: &[u8]) -> io::Result<Vec<u8>> {
    let mut writer = flate2::GzBuilder::new()
        .mtime(0)
        .write(Vec::new(), flate2::Compression::best());
    writer.write_all(data)?;
    writer.finish()
}

fn bzip2(data: &[u8]) -> io::Result<Vec<u8>> {
    let mut writer = ::bzip2::write::BzEncoder::new(Vec::new(), ::bzip2::Compression::best());
    writer.write_all(data)?;
    writer.finish()
}

/// The options of `preset`, with a dictionary no larger than the data needs: the decoder in the
/// kernel allocates what the header says, and a small board does not have 64 MiB to spare.
fn lzma_options(preset: u32, data: &[u8]) -> LzmaOptions {
    let mut options = LzmaOptions::with_preset(preset);
    let needed = u32::try_from(data.len())
        .ok()
        .and_then(u32::checked_next_power_of_two)
        .unwrap_or(u32::MAX);
    options.dict_size = options.dict_size.min(needed).max(4096);
    options
}

fn lzma(data: &[u8]) -> io::Result<Vec<u8>> {
    let size = Some(data.len() as u64);
    let mut writer = LzmaWriter::new_use_header(Vec::new(), &lzma_options(9, data), size)?;
    writer.write_all(data)?;
    writer.finish()
}

fn xz(data: &[u8]) -> io::Result<Vec<u8>> {
    let mut options = XzOptions::with_preset(6);
    options.lzma_options = lzma_options(6, data);
    options.set_check_sum_type(CheckType::Crc32);
    let mut writer = XzWriter::new(Vec::new(), options)?;
    writer.write_all(data)?;
    writer.finish()
}

fn lz4_frame(data: &[u8]) -> io::Result<Vec<u8>> {
    let mut writer = lz4::EncoderBuilder::new()
        .block_size(BlockSize::Max4MB)
        .block_mode(BlockMode::Independent)
        .block_checksum(BlockChecksum::NoBlockChecksum)
        .checksum(ContentChecksum::ChecksumEnabled)
        .level(9)
        .build(Vec::new())?;
    writer.write_all(data)?;
    let (out, result) = writer.finish();
    result.map(|()| out)
}

/// The library calls a cut frame the end of the data; only `finish` says that it was cut.
fn read_lz4_frame(data: &[u8], limit: usize) -> io::Result<Option<Vec<u8>>> {
    let mut reader = lz4::Decoder::new(data)?;
    let Some(out) = up_to(&mut reader, limit)? else {
        return Ok(None);
    };
    match reader.finish().1 {
        Ok(()) => Ok(Some(out)),
        Err(_) => Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the frame is cut short",
        )),
    }
}

fn zstd_frame(data: &[u8]) -> io::Result<Vec<u8>> {
    let mut writer = zstd::bulk::Compressor::new(19)?;
    writer.set_parameter(zstd::zstd_safe::CParameter::ChecksumFlag(true))?;
    writer.compress(data)
}

#[cfg(test)]
mod tests;
