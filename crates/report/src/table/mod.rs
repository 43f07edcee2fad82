//! The tables about one boot: `show --by …`.

mod functions;
mod json;
mod processes;
mod select;
mod text;
mod units;

pub use json::{LineJson, RowsJson, TableJson, json};
pub use select::{Rows, busiest};
pub use text::text;

/// What a table lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Phases and their parts, in the order of the boot.
    Phases,
    /// What lasted, except for console text, the longest first.
    Spans,
    /// Kernel initcalls, the longest first.
    Initcalls,
    /// Units of systemd: what each took, and what ready waited for.
    Units,
    /// Processes as a tree.
    Processes,
    /// Calls of functions, as KFI's `kd` counts them.
    Functions,
    /// Silences of the console, the longest first.
    Gaps,
    /// Console lines with the time since the line before, in order.
    Deltas,
}

impl By {
    /// The word that asks for it: `--by initcalls`.
    pub fn text(self) -> &'static str {
        match self {
            By::Phases => "phases",
            By::Spans => "spans",
            By::Initcalls => "initcalls",
            By::Units => "units",
            By::Processes => "processes",
            By::Functions => "functions",
            By::Gaps => "gaps",
            By::Deltas => "deltas",
        }
    }
}
