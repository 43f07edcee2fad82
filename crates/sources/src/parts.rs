//! Recordings in several files: one recording, one import for each file.

use std::io::{self, BufRead};

use bootlap_model::Timeline;

use crate::text::Import;
use crate::{Input, Source, SourceError};

/// One file of a recording.
pub(crate) struct Part<'a> {
    /// Without folders; empty if the file is read alone, as what it says must not depend
    /// on what it is called.
    pub(crate) name: &'a str,
    pub(crate) bytes: &'a mut dyn BufRead,
}

/// What a format makes of the files of one recording.
pub(crate) trait Parts {
    /// Takes one file.
    fn part(&mut self, file: Part<'_>, import: &mut Import<'_>) -> io::Result<()>;

    /// There are no more files: writes down what all of them said.
    fn finish(&mut self, import: &mut Import<'_>);
}

/// Reads a file that is alone.
pub(crate) fn read_one(
    input: Input<'_>,
    source: &Source,
    out: &mut Timeline,
    mut recording: impl Parts,
) -> Result<(), SourceError> {
    let mut import = Import::new(out, input.label, source.name);
    let file = Part {
        name: "",
        bytes: input.bytes,
    };
    recording.part(file, &mut import)?;
    recording.finish(&mut import);
    import.finish();
    Ok(())
}

/// Reads all files of a recording, one after the other.
pub(crate) fn read_all(
    parts: Vec<Input<'_>>,
    source: &Source,
    out: &mut Timeline,
    mut recording: impl Parts,
) -> Result<(), SourceError> {
    let mut left = parts.len();
    for part in parts {
        left -= 1;
        let mut import = Import::new(out, part.label, source.name);
        let file = Part {
            name: base(part.label),
            bytes: part.bytes,
        };
        recording.part(file, &mut import)?;
        if left == 0 {
            recording.finish(&mut import);
        }
        import.finish();
    }
    Ok(())
}

/// The last part of a path.
pub(crate) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
