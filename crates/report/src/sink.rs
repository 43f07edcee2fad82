//! What a report format is.

use std::io::{self, BufWriter, Write};

use crate::Report;
use crate::table::By;

/// For formats that are written in pieces of a few bytes.
///
/// # Errors
/// As `write`, or if `out` does not take the bytes.
pub fn buffered<E: From<io::Error>>(
    out: &mut dyn Write,
    write: impl FnOnce(&mut BufWriter<&mut dyn Write>) -> Result<(), E>,
) -> Result<(), E> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    write(&mut out)?;
    Ok(out.flush()?)
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
pub struct Sink {
    /// The short name of the format, e.g. `html`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// File extensions that ask for it, without the dot.
    pub extensions: &'static [&'static str],
    /// What it can be of, where the format leaves a choice (`--by`).
    pub choices: &'static [By],
    /// Writes a report, by one of the choices if one was made; the same report gives the
    /// same bytes. Fails if the bytes are not taken, or the boot has nothing of what was
    /// asked for.
    pub write: fn(&Report<'_>, Option<By>, &mut dyn Write) -> Result<(), SinkError>,
}

impl Sink {
    /// Writes `report`: see the field.
    ///
    /// # Errors
    /// As there.
    pub fn write(
        &self,
        report: &Report<'_>,
        by: Option<By>,
        out: &mut dyn Write,
    ) -> Result<(), SinkError> {
        (self.write)(report, by, out)
    }
}
