//! Interned names: a boot has 10^6 events and few distinct names.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use serde::{Deserialize, Serialize};

/// The handle of an interned name; compare and hash it instead of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Sym(u32);

/// The names of one timeline, one after the other in one piece of memory.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct Symbols {
    text: String,
    /// By symbol: where its text ends; it begins where the one before ends.
    ends: Vec<usize>,
    index: HashTable<Known>,
}

/// A name in the index. Its hash is kept, so that looking for a name touches
/// few other names' text, and growing touches none.
#[derive(Clone, Copy, Debug)]
struct Known {
    hash: u32,
    sym: Sym,
}

impl Known {
    /// Of 32 bits, spread over all: the table looks at the highest and lowest.
    fn spread(hash: u32) -> u64 {
        u64::from(hash).wrapping_mul(0x1_0000_0001)
    }
}

/// Names are few and the index is rebuilt by no attacker's choice: a fixed
/// seed keeps equal inputs equal to the last bit.
const HASHER: FixedState = FixedState::with_seed(0);

impl Symbols {
    /// The symbol of `name`, new or known.
    pub fn intern(&mut self, name: &str) -> Sym {
        let hash = HASHER.hash_one(name) as u32;
        if let Some(sym) = self.look_up(hash, name) {
            return sym;
        }
        let sym = self.add(name);
        let known = Known { hash, sym };
        let rehash = |known: &Known| Known::spread(known.hash);
        self.index.insert_unique(Known::spread(hash), known, rehash);
        sym
    }

    fn look_up(&self, hash: u32, name: &str) -> Option<Sym> {
        let is_it = |known: &Known| known.hash == hash && self.text(known.sym) == name;
        let known = self.index.find(Known::spread(hash), is_it)?;
        Some(known.sym)
    }

    /// A symbol for `text` that is not looked up again: for console lines,
    /// which are many and differ. [`Self::find`] does not find it.
    pub fn add(&mut self, text: &str) -> Sym {
        let sym = Sym(u32::try_from(self.ends.len()).expect("fewer than 2^32 names"));
        self.text.push_str(text);
        self.ends.push(self.text.len());
        sym
    }

    /// The text of `sym`.
    pub fn text(&self, sym: Sym) -> &str {
        text_of(&self.text, &self.ends, sym)
    }

    /// The symbol of `name` if it was interned.
    pub fn find(&self, name: &str) -> Option<Sym> {
        self.look_up(HASHER.hash_one(name) as u32, name)
    }
}

impl From<Symbols> for Vec<String> {
    fn from(symbols: Symbols) -> Self {
        let all = (0..symbols.ends.len()).map(|i| Sym(i as u32));
        all.map(|sym| symbols.text(sym).to_owned()).collect()
    }
}

impl From<Vec<String>> for Symbols {
    fn from(names: Vec<String>) -> Self {
        let mut symbols = Self::default();
        for name in names {
            if symbols.find(&name).is_some() {
                symbols.add(&name);
            } else {
                symbols.intern(&name);
            }
        }
        symbols
    }
}

fn text_of<'t>(text: &'t str, ends: &[usize], sym: Sym) -> &'t str {
    let at = sym.0 as usize;
    let start = at.checked_sub(1).map_or(0, |before| ends[before]);
    &text[start..ends[at]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_one_symbol() {
        let mut symbols = Symbols::default();
        let names: Vec<String> = (0..1000).map(|i| format!("name {i}")).collect();
        let first: Vec<Sym> = names.iter().map(|n| symbols.intern(n)).collect();
        let line = symbols.add("name 7");
        let again: Vec<Sym> = names.iter().map(|n| symbols.intern(n)).collect();
        assert_eq!(first, again);
        assert_eq!(symbols.text(first[7]), symbols.text(line));
        assert_ne!(symbols.find("name 7"), Some(line));
        assert_eq!(
            (symbols.find("other"), symbols.intern("")),
            (None, Sym(1001))
        );
    }
}
