//! Files that are written, each in one step: what was there before stays until
//! the new one is whole.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use bootlap_export::{SINKS, sink_for};
use bootlap_product::whole_file::replace;
use bootlap_report::table::By;
use bootlap_report::{Report, Sink, SinkError};

use crate::failure::{Exit, Failure};

/// A file to write.
pub struct Output<'p> {
    /// Where.
    pub path: &'p Path,
    /// Its format.
    pub sink: &'static Sink,
    /// What it is to be of, if the format leaves that open.
    pub by: Option<By>,
}

impl Output<'_> {
    /// What [`Output::write`] writes.
    ///
    /// # Errors
    /// If the report has nothing of what was asked for.
    pub fn bytes(&self, report: &Report<'_>) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let written = self.sink.write(report, self.by, &mut bytes);
        written.map_err(|e| cannot_write(self.path, &e))?;
        Ok(bytes)
    }

    /// Writes `report`.
    ///
    /// # Errors
    /// If it has nothing of what was asked for, or the file cannot be written.
    pub fn write(&self, report: &Report<'_>) -> Result<(), Failure> {
        let write = |file: &mut File| -> Result<(), SinkError> {
            let mut out = BufWriter::new(file);
            self.sink.write(report, self.by, &mut out)?;
            Ok(out.flush()?)
        };
        replace(self.path, write).map_err(|e| cannot_write(self.path, &e))
    }
}

/// Writes `report` in the format that the file's extension asks for.
///
/// # Errors
/// If it asks for none, or the file cannot be written.
pub fn write(report: &Report<'_>, path: &Path) -> Result<(), Failure> {
    let (sink, by) = (sink_of(path)?, None);
    Output { path, sink, by }.write(report)
}

/// Writes a text.
///
/// # Errors
/// If the file cannot be written.
pub fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    replace(path, |file| file.write_all(text.as_bytes())).map_err(|e: io::Error| {
        let exit = match e.kind() {
            io::ErrorKind::NotFound => Exit::Usage,
            _ => Exit::Internal,
        };
        Failure::new(exit, format!("cannot write {}: {e}", path.display()))
    })
}

/// The format that a file's extension asks for.
pub fn sink_of(path: &Path) -> Result<&'static Sink, Failure> {
    // Of `boot.tar.gz`, `tar.gz` before `gz`.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut extensions = name.match_indices('.').map(|(dot, _)| &name[dot + 1..]);
    extensions.find_map(sink_for).ok_or_else(|| {
        let known = SINKS.iter().map(|sink| {
            let first = sink.extensions.first().copied().unwrap_or_default();
            format!("\n         .{first:<8} {}", sink.title)
        });
        let known: String = known.collect();
        let name = path.display();
        let why = format!("{name}: the extension says which format to write, and can be{known}");
        Failure::new(Exit::Usage, why)
    })
}

/// The folder in `out` that a patch set is written to: `patches`, unless that is
/// the target's own.
pub fn free_folder(out: &Path) -> PathBuf {
    let names = (2..).map(|n| format!("patches-{n}"));
    let mut names = std::iter::once("patches".to_owned()).chain(names);
    let free = names.find(|name| !out.join(name).exists());
    out.join(free.unwrap_or_default())
}

fn cannot_write(path: &Path, e: &SinkError) -> Failure {
    let text = format!("cannot write {}: {e}", path.display());
    match e {
        SinkError::Nothing { .. } => Failure::new(Exit::NothingUsable, text)
            .hint("without --by it shows what the boot has most to tell of"),
        SinkError::NoProcesses => Failure::new(Exit::NothingUsable, text).hint(
            "record them with bootlap-agent collect (docs/collect.md), bootchart, strace -f or ftrace",
        ),
        SinkError::Io(e) if e.kind() == io::ErrorKind::NotFound => {
            Failure::new(Exit::Usage, text).hint("does its folder exist?")
        }
        SinkError::Io(_) | SinkError::Json(_) => Failure::new(Exit::Internal, text),
    }
}
