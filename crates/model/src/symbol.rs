//! Interned names: a boot has 10^5 events and few distinct names.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// The handle of an interned name; compare and hash it instead of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Sym(u32);

/// The names of one timeline.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    names: Vec<Box<str>>,
    index: HashMap<Box<str>, Sym>,
}

impl Symbols {
    /// The symbol of `name`, new or known.
    pub fn intern(&mut self, name: &str) -> Sym {
        if let Some(&sym) = self.index.get(name) {
            return sym;
        }
        let sym = Sym(u32::try_from(self.names.len()).expect("fewer than 2^32 names"));
        self.names.push(name.into());
        self.index.insert(name.into(), sym);
        sym
    }

    /// The text of `sym`.
    pub fn text(&self, sym: Sym) -> &str {
        &self.names[sym.0 as usize]
    }

    /// The symbol of `name` if it was interned.
    pub fn find(&self, name: &str) -> Option<Sym> {
        self.index.get(name).copied()
    }
}
