//! Interned names: a boot has 10^6 events and few distinct names.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use serde::{Deserialize, Serialize};

/// The handle of an interned name; compare and hash it instead of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Sym(u32);

/// The names of one timeline, one behind the other in one piece of memory.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct Symbols {
    text: String,
    /// By symbol: where its text ends; it begins where the one before ends.
    ends: Vec<usize>,
    index: HashTable<Sym>,
}

/// Names are few and the index is rebuilt by no attacker's choice: a fixed
/// seed keeps equal inputs equal to the last bit.
const HASHER: FixedState = FixedState::with_seed(0);

impl Symbols {
    /// The symbol of `name`, new or known.
    pub fn intern(&mut self, name: &str) -> Sym {
        let hash = HASHER.hash_one(name);
        let (text, ends) = (&self.text, &self.ends);
        if let Some(&sym) = self.index.find(hash, |s| text_of(text, ends, *s) == name) {
            return sym;
        }
        let sym = self.add(name);
        let (text, ends) = (&self.text, &self.ends);
        let rehash = |s: &Sym| HASHER.hash_one(text_of(text, ends, *s));
        self.index.insert_unique(hash, sym, rehash);
        sym
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
        let is_it = |s: &Sym| self.text(*s) == name;
        self.index.find(HASHER.hash_one(name), is_it).copied()
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
