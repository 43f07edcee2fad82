//! The digests that protect an image in a FIT.
//!
//! U-Boot computes them on one CPU before anything else runs, so the choice is a boot-time knob,
//! and not an obvious one. Measured on Debian's U-Boot 2023.01 for arm64, in instructions per
//! byte of a kernel: CRC-32 6.0, SHA-1 and SHA-256 1.6, as it uses the crypto instructions of ARMv8
//! for these and a table for that. Without such instructions the order is another one: measure it.

use serde::{Deserialize, Serialize};
use sha1::{Digest, Sha1};
use sha2::Sha256;

/// A digest algorithm, named as in a FIT's `algo` property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hash {
    /// No digest at all: nothing is checked, nothing is spent.
    None,
    /// CRC-32 (IEEE), 4 bytes, big-endian.
    Crc32,
    /// SHA-1, 20 bytes.
    Sha1,
    /// SHA-256, 32 bytes.
    Sha256,
}

impl Hash {
    /// The `algo` property; `none` for [`Hash::None`], which a FIT says by having no hash node.
    pub fn name(self) -> &'static str {
        match self {
            Hash::None => "none",
            Hash::Crc32 => "crc32",
            Hash::Sha1 => "sha1",
            Hash::Sha256 => "sha256",
        }
    }

    /// The algorithm called `name`, if it is one of these (U-Boot also knows md5 and longer SHA-2).
    pub fn from_name(name: &str) -> Option<Hash> {
        [Hash::None, Hash::Crc32, Hash::Sha1, Hash::Sha256]
            .into_iter()
            .find(|hash| hash.name() == name)
    }

    /// The digest of `data`, as the bytes a FIT stores; empty for [`Hash::None`].
    pub fn digest(self, data: &[u8]) -> Vec<u8> {
        match self {
            Hash::None => Vec::new(),
            Hash::Crc32 => crc32fast::hash(data).to_be_bytes().to_vec(),
            Hash::Sha1 => Sha1::digest(data).to_vec(),
            Hash::Sha256 => Sha256::digest(data).to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// printf abc | crc32, sha1sum, sha256sum.
    #[test]
    fn digests_match_coreutils() {
        let hex = |hash: Hash| -> String {
            hash.digest(b"abc")
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect()
        };
        assert_eq!(hex(Hash::None), "");
        assert_eq!(hex(Hash::Crc32), "352441c2");
        assert_eq!(hex(Hash::Sha1), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(
            hex(Hash::Sha256),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn names_round_trip() {
        for hash in [Hash::None, Hash::Crc32, Hash::Sha1, Hash::Sha256] {
            assert_eq!(Hash::from_name(hash.name()), Some(hash));
        }
        assert_eq!(Hash::from_name("md5"), None);
    }
}
