//! The tables about one boot: `show --by …`.

mod accesses;
mod files;
mod functions;
mod json;
mod processes;
mod select;
mod text;
mod units;

use bootlap_model::TrackKind;

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
    /// Files that were read from the disk, most bytes first.
    Files,
    /// What programs did with files, most calls first.
    Reads,
}

impl By {
    /// All tables.
    pub const ALL: &[By] = &[
        By::Phases,
        By::Spans,
        By::Initcalls,
        By::Units,
        By::Processes,
        By::Functions,
        By::Gaps,
        By::Deltas,
        By::Files,
        By::Reads,
    ];

    /// The word that asks for it (`--by initcalls`), and what it lists.
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            By::Phases => ("phases", "Phases and their parts"),
            By::Spans => ("spans", "Everything that lasted"),
            By::Initcalls => ("initcalls", "Kernel initcalls"),
            By::Units => ("units", "Units of systemd, and what ready waited for"),
            By::Processes => ("processes", "Processes, as a tree"),
            By::Functions => ("functions", "Functions, as KFI's kd counts them"),
            By::Gaps => ("gaps", "Silences of the console"),
            By::Deltas => (
                "deltas",
                "Console lines with the time since the line before",
            ),
            By::Files => ("files", "Files that were read from the disk of a run"),
            By::Reads => ("reads", "Files that programs opened, read and looked for"),
        }
    }

    /// The word that asks for it.
    pub fn text(self) -> &'static str {
        self.names().0
    }

    /// Whether it lists spans of a kind.
    pub fn takes(self, kind: TrackKind) -> bool {
        match self {
            By::Phases | By::Gaps | By::Deltas | By::Files | By::Reads => false,
            By::Initcalls => kind == TrackKind::Initcall,
            By::Units => kind == TrackKind::Unit,
            By::Processes => kind == TrackKind::Process,
            By::Functions => kind == TrackKind::Function,
            By::Spans => true,
        }
    }
}
