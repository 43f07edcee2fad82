//! An entry as bytes: a tar archive, compressed, so that other tools can open it.
//!
//! The first member, `kept.json`, holds what is known about the others. Equal entries
//! have equal bytes.

use std::io::{self, Read};

use bootlap_product::sha256;
use serde_json::Value;

/// The first member's name.
const ABOUT: &str = "kept.json";
/// More than a console of 16 MiB with its stamps never is; what is larger is not ours.
const MOST: u64 = 512 << 20;
/// Fast: a boot is kept while others are waited for.
const LEVEL: i32 = 3;

/// What is kept under a key.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What is known about it.
    pub about: Value,
    /// Name and content of each file.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Why bytes are not the entry that they should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// Their hash is not that of what was written.
    #[error("its bytes are not those that were written")]
    Changed,
    /// They are no entry.
    #[error("it is not a kept boot: {0}")]
    Malformed(String),
}

impl Entry {
    /// The file of this name.
    pub fn file(&self, name: &str) -> Option<&[u8]> {
        let mut files = self.files.iter();
        let found = files.find(|(n, _)| n == name);
        found.map(|(_, bytes)| bytes.as_slice())
    }

    /// As it is written.
    ///
    /// # Errors
    /// If it is larger than entries may be.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut archive = tar::Builder::new(Vec::new());
        let about = serde_json::to_vec_pretty(&self.about)?;
        let about = (ABOUT, about.as_slice());
        let files = self.files.iter().map(|(n, b)| (n.as_str(), b.as_slice()));
        for (name, bytes) in [about].into_iter().chain(files) {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            header.set_entry_type(tar::EntryType::Regular);
            archive.append_data(&mut header, name, bytes)?;
        }
        let archive = archive.into_inner()?;
        if archive.len() as u64 > MOST {
            return Err(io::Error::other("it is too large to be kept"));
        }
        let mut packed = zstd::Encoder::new(Vec::new(), LEVEL)?;
        // Where no name holds their hash, damage is seen all the same.
        packed.include_checksum(true)?;
        io::copy(&mut archive.as_slice(), &mut packed)?;
        packed.finish()
    }

    /// Reads what was written.
    ///
    /// # Errors
    /// If it is no entry.
    pub fn of(bytes: &[u8]) -> Result<Self, Damage> {
        let malformed = |e: io::Error| Damage::Malformed(e.to_string());
        let archive = zstd::Decoder::new(bytes).map_err(malformed)?.take(MOST);
        let mut archive = tar::Archive::new(archive);
        let mut files = Vec::new();
        for member in archive.entries().map_err(malformed)? {
            let mut member = member.map_err(malformed)?;
            let name = member.path().map_err(malformed)?;
            let name = name.to_string_lossy().into_owned();
            if name.contains('/') || name.starts_with('.') {
                return Err(Damage::Malformed(format!("a member is called {name}")));
            }
            let mut bytes = Vec::new();
            member.read_to_end(&mut bytes).map_err(malformed)?;
            files.push((name, bytes));
        }
        if files.first().is_none_or(|(name, _)| name != ABOUT) {
            return Err(Damage::Malformed(format!("{ABOUT} is missing")));
        }
        let (_, about) = files.remove(0);
        let about = serde_json::from_slice(&about)
            .map_err(|e| Damage::Malformed(format!("{ABOUT}: {e}")))?;
        Ok(Self { about, files })
    }
}

/// So many digits of the SHA-256 does a name hold.
pub(crate) const SUM: usize = 32;

/// As much of the SHA-256 as a name holds.
pub(crate) fn fingerprint(bytes: &[u8]) -> String {
    let mut hash = sha256(bytes);
    hash.truncate(SUM);
    hash
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn entry() -> Entry {
        Entry {
            about: json!({"inputs": ["a", "b"]}),
            files: vec![
                ("console".into(), b"Linux version 6.1\n".repeat(50)),
                ("empty".into(), Vec::new()),
            ],
        }
    }

    #[test]
    fn an_entry_is_read_as_it_was_written_and_equal_ones_are_equal() {
        let bytes = entry().to_bytes().unwrap();
        assert_eq!(Entry::of(&bytes).unwrap(), entry());
        assert_eq!(entry().to_bytes().unwrap(), bytes);
    }

    #[test]
    fn members_with_paths_are_refused() {
        for name in ["a/b", "..", ".hidden"] {
            let mut archive = tar::Builder::new(Vec::new());
            let mut header = tar::Header::new_gnu();
            header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_size(0);
            header.set_cksum();
            archive.append(&header, io::empty()).unwrap();
            let bytes = zstd::encode_all(archive.into_inner().unwrap().as_slice(), 1).unwrap();
            assert!(
                matches!(Entry::of(&bytes), Err(Damage::Malformed(_))),
                "{name}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_entry_and_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Entry::of(&bytes).is_err());
        }

        #[test]
        fn a_changed_byte_changes_the_fingerprint(at in 0..200usize, bit in 0..8u8) {
            let bytes = entry().to_bytes().unwrap();
            let mut other = bytes.clone();
            let at = at % other.len();
            other[at] ^= 1 << bit;
            prop_assert_ne!(fingerprint(&bytes), fingerprint(&other));
        }
    }
}
