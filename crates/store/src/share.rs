//! A store that a team shares: what one has made, all take.
//!
//! It is read and written through this machine's own store, which remains the only one
//! that boots are taken from. Its objects need no listing, so any server of files will do:
//!
//! ```text
//! boots/AB/KEY                      a line for each making: SUM WHEN AND WHERE
//! boots/AB/KEY.SUM.tar.zst          the entry; SUM begins the SHA-256 of its bytes
//! boots/AB/KEY.SUM.tar.zst.sig      who has made it, if that was signed
//! ```

use std::fs;
use std::path::Path;

use crate::entry::{SUM, fingerprint};
use crate::error::{StoreError, failed};
use crate::folder::Store;
use crate::names::{BOOTS, ENTRY};
use crate::objects::Objects;
use crate::signature::{Signer, Signers};

/// Entries of one key differ by the host's files; so many hosts are looked at.
const MOST: usize = 16;
const SIGNATURE: &str = ".sig";

/// A store elsewhere.
#[derive(Debug)]
pub struct Share {
    objects: Objects,
    signer: Option<Signer>,
    signers: Option<Signers>,
}

/// What came of looking for a boot in a shared store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pulled {
    /// Entries, or makings of entries, that are new here.
    pub new: usize,
    /// Why others were left there.
    pub refused: Option<String>,
}

impl Share {
    /// In a folder, or at a URL; with `signer`, what is put there is signed, and with
    /// `signers`, only what they have signed is taken.
    pub fn at(place: &str, signer: Option<Signer>, signers: Option<Signers>) -> Self {
        Self {
            objects: Objects::at(place),
            signer,
            signers,
        }
    }

    /// Where it is.
    pub fn place(&self) -> String {
        self.objects.show("")
    }

    /// Takes over what is there under `key` and not in `store`.
    ///
    /// # Errors
    /// If it cannot be read, or the store not written.
    pub fn pull(&self, key: &str, store: &Store) -> Result<Pulled, StoreError> {
        let mut pulled = Pulled::default();
        let Some(index) = self.index(key)? else {
            return Ok(pulled);
        };
        for (sum, made) in index
            .lines()
            .rev()
            .filter_map(|line| line.split_once(' '))
            .filter(|(sum, _)| is_sum(sum))
            .take(MOST)
        {
            if let Some(path) = store.path_of(key, sum) {
                if !store.made(&path).iter().any(|known| known == made) {
                    store.made_again(&path, made)?;
                    pulled.new += 1;
                }
                continue;
            }
            let name = entry(key, sum);
            let Some(bytes) = self.objects.get(&name)? else {
                continue;
            };
            if fingerprint(&bytes) != sum {
                pulled.refused = Some(format!("{} is damaged", self.objects.show(&name)));
                continue;
            }
            if let Some(why) = self.is_refused(&name, &bytes)? {
                pulled.refused = Some(format!("{}: {why}", self.objects.show(&name)));
                continue;
            }
            store.keep_packed(key, &bytes, made)?;
            pulled.new += 1;
        }
        Ok(pulled)
    }

    /// Puts the entry at `path`, and when and where it was made, there.
    ///
    /// # Errors
    /// If it cannot be written or signed.
    pub fn push(&self, key: &str, path: &Path, store: &Store) -> Result<(), StoreError> {
        let bytes = fs::read(path).map_err(|e| failed("read", path, e))?;
        let sum = fingerprint(&bytes);
        let name = entry(key, &sum);
        if !self.objects.has(&name)? {
            if let Some(signer) = &self.signer {
                let signature = signer.sign(&bytes).map_err(|e| failed("sign", path, e))?;
                self.objects
                    .put(&format!("{name}{SIGNATURE}"), &signature)?;
            }
            self.objects.put(&name, &bytes)?;
        }
        // Last: who reads it finds what it names.
        let was = self.index(key)?.unwrap_or_default();
        let mut index = was.clone();
        for made in store.made(path) {
            let line = format!("{sum} {made}");
            if !index.lines().any(|known| known == line) {
                index.push_str(&line);
                index.push('\n');
            }
        }
        match index == was {
            true => Ok(()),
            // Two who write at once may lose a line: that boot is made once more.
            false => self.objects.put(&named(key), index.as_bytes()),
        }
    }

    fn index(&self, key: &str) -> Result<Option<String>, StoreError> {
        let index = self.objects.get(&named(key))?;
        Ok(index.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Why an entry is not trusted, if so.
    fn is_refused(&self, name: &str, bytes: &[u8]) -> Result<Option<String>, StoreError> {
        let Some(signers) = &self.signers else {
            return Ok(None);
        };
        let Some(signature) = self.objects.get(&format!("{name}{SIGNATURE}"))? else {
            return Ok(Some("nobody has signed it".to_owned()));
        };
        let who = signers.who(bytes, &signature);
        Ok(who.err().map(|e| e.to_string()))
    }
}

/// Others have written it, and it becomes a part of paths here.
fn is_sum(text: &str) -> bool {
    text.len() == SUM && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn named(key: &str) -> String {
    format!("{BOOTS}/{}/{key}", key.get(..2).unwrap_or("00"))
}

fn entry(key: &str, sum: &str) -> String {
    format!("{}.{sum}{ENTRY}", named(key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::entry::Entry;

    const KEY: &str = "ab12";

    fn kept(n: u8) -> Entry {
        Entry {
            about: json!({ "n": n }),
            files: vec![("console".into(), vec![n; 100])],
        }
    }

    #[test]
    fn what_one_has_made_the_other_takes() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let share = Share::at(at("share").to_str().unwrap(), None, None);
        let [a, b] = ["a", "b"].map(|name| Store::at(at(name), u64::MAX));
        assert_eq!(share.pull(KEY, &b).unwrap(), Pulled::default());
        let path = a.keep(KEY, &kept(1), "monday on x").unwrap();
        share.push(KEY, &path, &a).unwrap();
        assert_eq!(share.pull(KEY, &b).unwrap().new, 1);
        let found = b.find(KEY).remove(0);
        assert_eq!(found.entry.unwrap(), kept(1));
        assert_eq!(b.made(&found.path), ["monday on x"]);
        // It was made again, and so says the other store.
        a.made_again(&path, "tuesday on x").unwrap();
        share.push(KEY, &path, &a).unwrap();
        assert_eq!(share.pull(KEY, &b).unwrap().new, 1);
        assert_eq!(b.made(&found.path).len(), 2);
        assert_eq!(share.pull(KEY, &b).unwrap().new, 0);
    }

    #[test]
    fn an_index_cannot_name_files_outside_of_the_store() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let index = at("share").join(named(KEY));
        fs::create_dir_all(index.parent().unwrap()).unwrap();
        fs::write(index, "../../../../../victim monday\n").unwrap();
        let store = Store::at(at("store"), u64::MAX);
        // So that the way there exists.
        fs::create_dir_all(at("store/boots/ab").join(format!("{KEY}..."))).unwrap();
        fs::write(at("victim.tar.zst"), "").unwrap();
        let share = Share::at(at("share").to_str().unwrap(), None, None);
        assert_eq!(share.pull(KEY, &store).unwrap(), Pulled::default());
        assert!(!at("victim.made").exists());
    }

    #[test]
    fn what_is_damaged_or_not_signed_stays_there() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let place = at("share").to_str().unwrap().to_owned();
        let [a, b] = ["a", "b"].map(|name| Store::at(at(name), u64::MAX));
        let path = a.keep(KEY, &kept(1), "monday").unwrap();
        Share::at(&place, None, None).push(KEY, &path, &a).unwrap();
        let allowed = at("allowed");
        fs::write(&allowed, "").unwrap();
        let wary = Share::at(&place, None, Some(Signers::new(allowed)));
        let pulled = wary.pull(KEY, &b).unwrap();
        assert_eq!(pulled.new, 0);
        assert!(pulled.refused.unwrap().contains("nobody has signed it"));
        let there = at("share")
            .join(BOOTS)
            .join("ab")
            .join(path.file_name().unwrap());
        fs::write(there, "other").unwrap();
        let pulled = Share::at(&place, None, None).pull(KEY, &b).unwrap();
        assert!(pulled.refused.unwrap().contains("is damaged"));
        assert!(b.find(KEY).is_empty());
    }
}
