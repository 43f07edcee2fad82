//! barebox's environment: files, of which those in `nv/` are its variables.
//!
//! Format: barebox's `include/envfs.h`. A superblock of 28 bytes with the CRC-32 of what follows
//! and one of itself; then the files, each with a head, its name, since version 1 its mode, and
//! its content, all padded to 4 bytes. In the byte order of the CPU. A partition goes on after it.

use std::collections::BTreeMap;

use super::bytes::{array, c_str};

const MAGIC: u32 = 0x798f_ba79;
const FILE: u32 = 0x67a8_c78d;
const FILE_END: u32 = 0x68a8_c78d;
/// Bytes of the superblock, and of what stands before a file's name.
const SUPER: usize = 28;
const HEAD: usize = 12;
/// A file's name is no longer.
const LONGEST_NAME: usize = 4096;
/// The bits of a mode that say what a file is, and those of a link.
const KIND: u32 = 0o170_000;
const LINK: u32 = 0o120_000;

/// The files of an environment by path, without a leading slash: those that differ from the
/// environment that barebox was built with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BareboxEnv {
    files: BTreeMap<String, String>,
}

/// What is wrong with an environment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BareboxEnvError {
    /// It does not begin like one.
    #[error(
        "not an environment of barebox (no 798fba79 at the start); check the file or the offset"
    )]
    NotOne,
    /// It announces more than there is.
    #[error("environment of barebox is cut short; copy all of its partition")]
    Cut,
    /// The bytes are not those that were written.
    #[error(
        "environment of barebox has crc {stored:08x} but its bytes give {computed:08x}: it is damaged; read it again, or save it again in barebox"
    )]
    Crc {
        /// The CRC in the image.
        stored: u32,
        /// The CRC of its bytes.
        computed: u32,
    },
    /// The CRC is right, the content makes no sense.
    #[error("environment of barebox is damaged at byte {0:#x}; save it again in barebox")]
    Damaged(usize),
}

/// Words in the order of the CPU that wrote them.
#[derive(Clone, Copy)]
struct Words<'a> {
    image: &'a [u8],
    big: bool,
}

impl Words<'_> {
    fn at(&self, at: usize) -> Option<u32> {
        let bytes = array(self.image, at)?;
        Some(match self.big {
            true => u32::from_be_bytes(bytes),
            false => u32::from_le_bytes(bytes),
        })
    }

    fn size(&self, at: usize) -> Option<usize> {
        usize::try_from(self.at(at)?).ok()
    }
}

impl BareboxEnv {
    /// Whether `image` begins like one.
    pub fn is_one(image: &[u8]) -> bool {
        words(image).is_some()
    }

    /// The environment at the start of `image`, which may go on after it.
    ///
    /// # Errors
    /// If there is none, or if it is cut off or damaged.
    pub fn read(image: &[u8]) -> Result<BareboxEnv, BareboxEnvError> {
        let words = words(image).ok_or(BareboxEnvError::NotOne)?;
        let word = |at| words.at(at).ok_or(BareboxEnvError::Cut);
        let head = image.get(..SUPER - 4).ok_or(BareboxEnvError::Cut)?;
        check(word(SUPER - 4)?, head)?;
        let size = words.size(12).ok_or(BareboxEnvError::Cut)?;
        let data = image.get(SUPER..).and_then(|data| data.get(..size));
        check(word(8)?, data.ok_or(BareboxEnvError::Cut)?)?;
        let has_modes = array::<1>(image, 16) != Some([0]);
        let mut files = BTreeMap::new();
        let (mut at, end) = (SUPER, SUPER + size);
        while at < end {
            let file = file(words, at, end, has_modes).ok_or(BareboxEnvError::Damaged(at))?;
            if let Some(text) = file.text {
                files.insert(file.name, text);
            }
            at = file.end;
        }
        Ok(BareboxEnv { files })
    }

    /// The content of a file.
    pub fn file(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// A variable that was set with `nv`.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.file(&format!("nv/{name}")).map(str::trim)
    }

    /// Paths and contents, in order of path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(p, c)| (p.as_str(), c.as_str()))
    }
}

fn words(image: &[u8]) -> Option<Words<'_>> {
    let both = [false, true].map(|big| Words { image, big });
    both.into_iter().find(|words| words.at(0) == Some(MAGIC))
}

fn check(stored: u32, bytes: &[u8]) -> Result<(), BareboxEnvError> {
    let computed = crc32fast::hash(bytes);
    match stored == computed {
        true => Ok(()),
        false => Err(BareboxEnvError::Crc { stored, computed }),
    }
}

struct File {
    name: String,
    /// Nothing where it is a link.
    text: Option<String>,
    end: usize,
}

/// The file at `at`; nothing if there is none before `end`.
fn file(words: Words<'_>, at: usize, end: usize, has_modes: bool) -> Option<File> {
    let image = words.image.get(..end)?;
    if words.at(at)? != FILE {
        return None;
    }
    let (bytes, head) = (words.size(at + 4)?, words.size(at + 8)?);
    let name = c_str(image, at + HEAD, LONGEST_NAME)?;
    let mode = (at + HEAD + name.len() + 1).checked_next_multiple_of(4)?;
    if has_modes && words.at(mode)? != FILE_END {
        return None;
    }
    let is_link = has_modes && words.at(mode + 4)? & KIND == LINK;
    let content = (at + HEAD).checked_add(head.checked_next_multiple_of(4)?)?;
    if content < mode + 8 * usize::from(has_modes) {
        return None;
    }
    let text = image.get(content..content.checked_add(bytes)?)?;
    Some(File {
        name: String::from_utf8_lossy(name)
            .trim_start_matches('/')
            .to_owned(),
        text: (!is_link).then(|| String::from_utf8_lossy(text).into_owned()),
        end: (content + bytes).checked_next_multiple_of(4)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An environment as barebox 2023 saves it.
    fn saved(files: &[(&str, &str, u32)], big: bool) -> Vec<u8> {
        let word = |n: u32| {
            if big {
                n.to_be_bytes()
            } else {
                n.to_le_bytes()
            }
        };
        let padded = |text: &str, more: usize| {
            let mut bytes = text.as_bytes().to_vec();
            bytes.resize((text.len() + more).next_multiple_of(4), 0);
            bytes
        };
        let mut data = Vec::new();
        for (name, text, mode) in files {
            let name = padded(name, 1);
            for n in [FILE, text.len() as u32, name.len() as u32 + 8] {
                data.extend(word(n));
            }
            data.extend(&name);
            data.extend(word(FILE_END));
            data.extend(word(*mode));
            data.extend(padded(text, 0));
        }
        let mut image = Vec::new();
        for n in [MAGIC, 0, crc32fast::hash(&data), data.len() as u32] {
            image.extend(word(n));
        }
        image.extend([1, 0, 0, 0]);
        image.extend(word(0));
        image.extend(word(crc32fast::hash(&image)));
        image.extend(data);
        image
    }

    const FILES: [(&str, &str, u32); 3] = [
        ("/nv/autoboot_timeout", "3\n", 0o100_777),
        (
            "/boot/mmc",
            "#!/bin/sh\nglobal.bootm.image=/mnt/mmc/zImage\n",
            0o100_777,
        ),
        ("/network/eth0-discover", "eth0-discover", 0o120_777),
    ];

    #[test]
    fn files_and_variables_are_read_in_both_byte_orders() {
        for big in [false, true] {
            let mut image = saved(&FILES, big);
            image.extend([0xff; 100]);
            let env = BareboxEnv::read(&image).unwrap();
            assert_eq!(env.variable("autoboot_timeout"), Some("3"));
            assert!(env.file("boot/mmc").unwrap().contains("zImage"));
            // A link to itself says that a file of the built-in environment is gone.
            assert_eq!(env.iter().count(), 2);
        }
        let empty = BareboxEnv::read(&saved(&[], false)).unwrap();
        assert_eq!(empty, BareboxEnv::default());
    }

    #[test]
    fn damage_is_an_error() {
        let image = saved(&FILES, false);
        for len in 0..image.len() {
            assert!(BareboxEnv::read(&image[..len]).is_err(), "{len}");
        }
        for at in 0..image.len() {
            let mut image = image.clone();
            image[at] ^= 1;
            assert!(BareboxEnv::read(&image).is_err(), "{at}");
        }
        // A content that begins inside of its file's name.
        let mut image = saved(&FILES, false);
        image[SUPER + 8] = 0;
        for (at, from, to) in [(8, SUPER, image.len()), (SUPER - 4, 0, SUPER - 4)] {
            let crc = crc32fast::hash(&image[from..to]);
            image[at..at + 4].copy_from_slice(&crc.to_le_bytes());
        }
        let damaged = Err(BareboxEnvError::Damaged(SUPER));
        assert_eq!(BareboxEnv::read(&image), damaged);
        let why = BareboxEnv::read(b"bootdelay=2").unwrap_err().to_string();
        assert!(why.contains("check the file"), "{why}");
    }
}
