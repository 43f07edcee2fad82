//! `explain --json`: what stands behind initcalls.

use bootlap_analysis::functions::Wait;
use bootlap_kbuild::Place;
use schemars::JsonSchema;
use serde::Serialize;

use crate::explain::{ExplainReport, ExplainRow};

/// Initcalls, and what a source tree says of them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExplainJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// The tree's folder.
    pub kernel: String,
    /// The tree's version.
    pub version: Option<String>,
    /// The folder below `arch/`.
    pub arch: String,
    /// The file with the options; null where all that could be built counts.
    pub config: Option<String>,
    /// How many symbols there are without a limit.
    pub all: usize,
    /// The symbols, in order; of a boot the slowest first.
    pub symbols: Vec<SymbolJson>,
}

/// A symbol.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SymbolJson {
    /// As it was asked for.
    pub symbol: String,
    /// The function's name.
    pub function: String,
    /// What it took in the boot, ns; null if no log was given, or it never
    /// returned.
    pub time_ns: Option<i64>,
    /// What was waited for in it and in what it called, the longest first, if the log has a
    /// trace of functions.
    pub waits: Vec<Wait>,
    /// Where it can be: empty where it was not found, several where nothing
    /// tells which is meant.
    pub places: Vec<Place>,
}

/// What `explain --json` prints.
///
/// # Errors
/// None for any report.
pub fn json(report: &ExplainReport) -> Result<String, serde_json::Error> {
    crate::json::line(&ExplainJson {
        format: crate::json::FORMAT,
        tool: report.tool.clone(),
        kernel: report.kernel.clone(),
        version: report.version.clone(),
        arch: report.arch.clone(),
        config: report.config.clone(),
        all: report.all,
        symbols: report.rows.iter().map(symbol).collect(),
    })
}

fn symbol(row: &ExplainRow) -> SymbolJson {
    SymbolJson {
        symbol: row.symbol.clone(),
        function: row.explained.asked.function.clone(),
        time_ns: row.time_ns,
        waits: row.waits.clone(),
        places: row.explained.places.clone(),
    }
}
