//! Android's sparse images, as `fastboot` flashes them: blocks that are there, blocks of one
//! word again and again, and blocks that nobody cares for.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::path::Path;

use android_sparse_image::{
    CHUNK_HEADER_BYTES_LEN, ChunkHeader, ChunkType, FILE_HEADER_BYTES_LEN, FileHeader, HEADER_MAGIC,
};

use crate::failure::Failure;
use crate::progress::Progress;

use super::holey::{Holey, Packed};

/// Whether this is the beginning of one.
pub(super) fn begins(head: &[u8]) -> bool {
    head.starts_with(&HEADER_MAGIC.to_le_bytes())
}

/// Writes the disk that it stands for to `to`.
pub(super) fn unpack(
    packed: &Packed<'_>,
    to: &Path,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    let wrong = |e: &dyn fmt::Display| packed.damaged(&"Android sparse image", e);
    let mut from = BufReader::new(packed.file);
    let mut header = [0; FILE_HEADER_BYTES_LEN];
    from.read_exact(&mut header).map_err(|e| wrong(&e))?;
    let header = FileHeader::from_bytes(&header).map_err(|e| wrong(&e))?;
    let mut out = Holey::new(packed, to, progress)?;
    for _ in 0..header.chunks {
        let mut chunk = [0; CHUNK_HEADER_BYTES_LEN];
        from.read_exact(&mut chunk).map_err(|e| wrong(&e))?;
        let chunk = ChunkHeader::from_bytes(&chunk).map_err(|e| wrong(&e))?;
        let bytes = u64::from(chunk.chunk_size) * u64::from(header.block_size);
        match chunk.chunk_type {
            ChunkType::Raw => {
                let mut blocks = from.by_ref().take(bytes);
                out.take(&mut blocks, |e| wrong(e))?;
                if blocks.limit() > 0 {
                    return Err(wrong(&io::Error::from(io::ErrorKind::UnexpectedEof)));
                }
            }
            ChunkType::Fill => {
                let mut word = [0; 4];
                from.read_exact(&mut word).map_err(|e| wrong(&e))?;
                match word {
                    [0, 0, 0, 0] => out.skip(bytes)?,
                    _ => out.take(&mut Again { word, at: 0 }.take(bytes), |e| wrong(e))?,
                }
            }
            ChunkType::DontCare => out.skip(bytes)?,
            ChunkType::Crc32 => {
                from.read_exact(&mut [0; 4]).map_err(|e| wrong(&e))?;
            }
        }
    }
    out.finish()
}

/// A word, for ever.
struct Again {
    word: [u8; 4],
    at: usize,
}

impl Read for Again {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        for byte in to.iter_mut() {
            *byte = self.word[self.at % 4];
            self.at = self.at.wrapping_add(1);
        }
        Ok(to.len())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn blocks_are_copied_repeated_and_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let (image, to) = (dir.path().join("image"), dir.path().join("disk"));
        let unpacked = || {
            let file = &File::open(&image).unwrap();
            let image = &image;
            unpack(&Packed { image, file }, &to, &())
        };
        let header = FileHeader {
            block_size: 4096,
            blocks: 6,
            chunks: 4,
            checksum: 0,
        };
        let mut bytes = header.to_bytes().to_vec();
        bytes.extend(ChunkHeader::new_raw(1, 4096).to_bytes());
        bytes.extend([7; 4096]);
        bytes.extend(ChunkHeader::new_fill(2).to_bytes());
        bytes.extend([1, 2, 3, 4]);
        bytes.extend(ChunkHeader::new_dontcare(2).to_bytes());
        bytes.extend(ChunkHeader::new_raw(1, 4096).to_bytes());
        bytes.extend([9; 4096]);
        fs::write(&image, &bytes).unwrap();
        unpacked().unwrap();
        let words = [1, 2, 3, 4].repeat(2048);
        let want = [&[7; 4096][..], &words, &[0; 8192], &[9; 4096]].concat();
        assert!(fs::read(&to).unwrap() == want);

        fs::remove_file(&to).unwrap();
        fs::write(&image, &bytes[..bytes.len() - 1]).unwrap();
        let said = unpacked().unwrap_err();
        assert!(
            said.message.contains("damaged, or cut off"),
            "{}",
            said.message
        );
    }
}
