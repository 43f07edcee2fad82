//! Kconfig: what each option is, asks, needs, and is switched on by.

mod expr;
mod lex;
mod parse;

pub use expr::{Expr, Op};
pub use parse::read;

use std::collections::HashMap;

use serde::Serialize;

/// The type of an option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Not said: an option that is only mentioned.
    #[default]
    Unknown,
    /// On or off.
    Bool,
    /// On, off, or a module.
    Tristate,
    /// A text.
    String,
    /// A number.
    Int,
    /// A number in hexadecimal.
    Hex,
}

impl Kind {
    /// The keyword.
    pub fn text(self) -> &'static str {
        match self {
            Kind::Unknown => "unknown",
            Kind::Bool => "bool",
            Kind::Tristate => "tristate",
            Kind::String => "string",
            Kind::Int => "int",
            Kind::Hex => "hex",
        }
    }
}

/// An option. One that is defined in several places has what all of them say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbol {
    /// Its type.
    pub kind: Kind,
    /// What menus show; without it nobody can choose the option.
    pub prompt: Option<String>,
    /// When it is shown, if not always.
    pub prompt_if: Option<Expr>,
    /// The first line of its help.
    pub help: Option<String>,
    /// All of these must hold, those of the menus around it included.
    pub depends: Vec<Expr>,
    /// Which options switch it on, and when.
    pub selected_by: Vec<(String, Option<Expr>)>,
    /// Where it is first defined.
    pub file: String,
    /// The line there, from 1 on.
    pub line: u32,
}

/// All options of a tree, by their names without `CONFIG_`.
#[derive(Clone, Debug, Default)]
pub struct Kconfig {
    /// The options.
    pub symbols: HashMap<String, Symbol>,
}

impl Kconfig {
    /// An option.
    pub fn get(&self, name: &str) -> Option<&Symbol> {
        self.symbols.get(name)
    }
}
