//! What a report format is.

use std::io::{self, Write};

use crate::Report;
use crate::table::By;

/// Facts about a sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SinkInfo {
    /// The short name of the format, e.g. `html`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// File extensions that ask for it, without the dot.
    pub extensions: &'static [&'static str],
}

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// The bytes could not be written.
    #[error("cannot write: {0}")]
    Io(#[from] io::Error),
    /// The report does not fit the format.
    #[error("cannot express this report as JSON: {0}")]
    Json(serde_json::Error),
    /// There is nothing of what `by` asked for.
    #[error("this boot shows no {}", .by.text())]
    Nothing {
        /// What was asked for.
        by: By,
    },
    /// The format is of processes, and there are none.
    #[error("this boot shows no processes")]
    NoProcesses,
}

impl From<serde_json::Error> for SinkError {
    fn from(e: serde_json::Error) -> Self {
        match e.is_io() {
            true => SinkError::Io(e.into()),
            false => SinkError::Json(e),
        }
    }
}

/// One report format.
pub trait Sink: Sync {
    /// Facts about the format.
    fn info(&self) -> &'static SinkInfo;
    /// Writes `report`; the same report gives the same bytes.
    ///
    /// # Errors
    /// If `out` does not take the bytes.
    fn write(&self, report: &Report<'_>, out: &mut dyn Write) -> Result<(), SinkError>;

    /// What it can be of, where the format leaves a choice (`--by`).
    fn choices(&self) -> &'static [By] {
        &[]
    }

    /// Writes `report` seen by one of [`choices`](Self::choices).
    ///
    /// # Errors
    /// As [`write`](Self::write); [`SinkError::Nothing`] if the boot has
    /// nothing of that.
    fn write_by(&self, report: &Report<'_>, by: By, out: &mut dyn Write) -> Result<(), SinkError> {
        let _ = by;
        self.write(report, out)
    }
}
