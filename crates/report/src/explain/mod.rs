//! What stands behind initcalls: `explain`.

mod json;
mod text;

pub use json::{ExplainJson, SymbolJson, json};
pub use text::text;

use bootlap_analysis::functions::Wait;
use bootlap_kbuild::{Asked, Explained, How, Module, OptionInfo, Place, State};

use crate::format::duration;

/// All that is shown of initcalls and the source tree that they are from.
#[derive(Clone, Debug, Default)]
pub struct ExplainReport {
    /// The tree's folder, as it was typed.
    pub kernel: String,
    /// Its version.
    pub version: Option<String>,
    /// The folder below `arch/`, and how that is known.
    pub arch: String,
    /// How the architecture is known: `given`, `by the .config` …
    pub arch_by: String,
    /// The file with the options, if there is one.
    pub config: Option<String>,
    /// The version of bootlap.
    pub tool: String,
    /// Each symbol, in order.
    pub rows: Vec<ExplainRow>,
    /// How many there would be without a limit.
    pub all: usize,
    /// They are the initcalls of a boot, the slowest first.
    pub worklist: bool,
}

/// A symbol, and what it took in a boot.
#[derive(Clone, Debug, Default)]
pub struct ExplainRow {
    /// As it was asked for.
    pub symbol: String,
    /// What is known of it.
    pub explained: Explained,
    /// What it took, in ns.
    pub time_ns: Option<i64>,
    /// What was waited for in it, by a trace of functions.
    pub waits: Vec<Wait>,
}

impl ExplainReport {
    /// How many symbols were found.
    pub fn found(&self) -> usize {
        let found = self.rows.iter().filter(|r| r.place().is_some());
        found.count()
    }
}

impl ExplainRow {
    /// A symbol of which nothing is known yet.
    pub fn of(symbol: &str) -> Self {
        let explained = Explained {
            asked: Asked::parse(symbol),
            places: Vec::new(),
        };
        Self {
            symbol: symbol.to_owned(),
            explained,
            time_ns: None,
            waits: Vec::new(),
        }
    }

    /// Where it is; where it can be in several places, the first.
    pub(crate) fn place(&self) -> Option<&Place> {
        self.explained.places.first()
    }
}

/// Whether it can be a module, in a word and in a few.
pub(crate) fn modular(place: &Place) -> (&'static str, String) {
    let name = |o: Option<&OptionInfo>| o.map_or(String::new(), |o| o.name.clone());
    let option = name(place.option());
    let (word, text) = match place.modular {
        Module::Possible if place.state == Some(State::Module) => ("y/m", "is one".to_owned()),
        Module::Possible => {
            let option = name(place.module_option());
            ("y/m", format!("could be one: CONFIG_{option}=m"))
        }
        Module::Bool => ("y", format!("cannot be one: CONFIG_{option} is on or off")),
        Module::Always => ("y", "cannot be one: it is built with its folder".to_owned()),
        Module::Library => ("y", "cannot be one: it is in a library".to_owned()),
    };
    match place.state {
        Some(State::Yes) => (word, format!("built in; {text}")),
        Some(State::No) => (word, format!("not built; {text}")),
        Some(State::Module) | None => (word, text),
    }
}

/// The delays of a place in short: `2 × busy 50.00 ms`, or how many there are.
pub(crate) fn delays(place: &Place) -> String {
    let timed = |how: How| -> i64 {
        let of = place.delays.iter().filter(|d| d.how == how);
        let known = of.filter_map(bootlap_kbuild::Delay::total_ns);
        known.fold(0_i64, i64::saturating_add)
    };
    let mut parts = Vec::new();
    for how in [How::Busy, How::Sleep, How::Limit] {
        let ns = timed(how);
        if ns > 0 {
            let sign = if how == How::Limit { "≤ " } else { "" };
            parts.push(format!("{} {sign}{}", how.text(), duration(ns)));
        }
    }
    match (parts.is_empty(), place.delays.len()) {
        (true, 0) => String::new(),
        (true, n) => format!("{n} of unknown length"),
        (false, _) => parts.join(", "),
    }
}
