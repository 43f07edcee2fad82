//! Recordings in several files: one recording, one import for each file.

use std::io::{self, BufRead};

use bootlap_model::Timeline;

use crate::text::Import;
use crate::{Input, SourceError, SourceInfo};

/// What a format makes of the files of one recording.
pub(crate) trait Parts {
    /// Takes one file. Its `name` has no folders; a file that is read alone
    /// has none, as what it says must not depend on what it is called.
    fn part(
        &mut self,
        name: &str,
        bytes: &mut dyn BufRead,
        import: &mut Import<'_>,
    ) -> io::Result<()>;

    /// There are no more files: writes down what all of them said.
    fn finish(&mut self, import: &mut Import<'_>);
}

/// Reads a file that is alone.
pub(crate) fn read_one(
    input: Input<'_>,
    info: &SourceInfo,
    out: &mut Timeline,
    mut recording: impl Parts,
) -> Result<(), SourceError> {
    let mut import = Import::new(out, input.label, info.name);
    recording.part("", input.bytes, &mut import)?;
    recording.finish(&mut import);
    import.finish();
    Ok(())
}

/// Reads all files of a recording, one after the other.
pub(crate) fn read_all(
    parts: Vec<Input<'_>>,
    info: &SourceInfo,
    out: &mut Timeline,
    mut recording: impl Parts,
) -> Result<(), SourceError> {
    let mut left = parts.len();
    for part in parts {
        left -= 1;
        let mut import = Import::new(out, part.label, info.name);
        recording.part(base(part.label), part.bytes, &mut import)?;
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
