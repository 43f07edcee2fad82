//! One share of an experiment's boots, for machines that do not see each other: each makes
//! its share, and who puts the shares together finds all boots made.

use std::fmt;
use std::str::FromStr;

/// The `k`-th of `n` shares, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    k: u64,
    n: u64,
}

impl Shard {
    /// Whether the boot of this key is its own. Each key is one shard's, whatever else is
    /// booted.
    pub(crate) fn has(self, key: &str) -> bool {
        let drawn = key.get(..16).map(|start| u64::from_str_radix(start, 16));
        drawn.and_then(Result::ok).unwrap_or(0) % self.n == self.k - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (k, n) = text.split_once('/')?;
            let (k, n) = (k.parse().ok()?, n.parse().ok()?);
            (1..=n).contains(&k).then_some(Self { k, n })
        };
        read().ok_or_else(|| "write which share of how many, such as 2/4".to_owned())
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.k, self.n)
    }
}

#[cfg(test)]
mod tests {
    use bootlap_product::sha256;

    use super::*;

    #[test]
    fn each_key_is_one_shards_own() {
        let shards: Vec<Shard> = (1..=4).map(|k| format!("{k}/4").parse().unwrap()).collect();
        let keys = (0..1000).map(|n: u32| sha256(&n.to_le_bytes()));
        let mut shares = [0; 4];
        for key in keys {
            let own: Vec<usize> = (0..4).filter(|i| shards[*i].has(&key)).collect();
            assert_eq!(own.len(), 1);
            shares[own[0]] += 1;
        }
        assert!(
            shares.iter().all(|share| (200..300).contains(share)),
            "{shares:?}"
        );
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for text in ["", "2", "0/4", "5/4", "1/0", "-1/4", "a/b"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
