//! One file that holds what several programs printed, one after the other.

use std::mem;

use crate::text::{Import, Line, Reader, Skip};

/// Gives the lines of each section to the reader of what is in it.
#[derive(Default)]
pub(crate) struct Sections<'h> {
    /// Of the section that is being read, if anything in it has times.
    reader: Option<Box<dyn Reader + 'h>>,
}

impl<'h> Sections<'h> {
    /// Another section begins, which this one reads.
    pub(crate) fn begin(&mut self, reader: Option<Box<dyn Reader + 'h>>, import: &mut Import<'_>) {
        if let Some(mut before) = mem::replace(&mut self.reader, reader) {
            before.finish(import);
        }
    }

    /// What became of a line; `None` in a section that nobody reads.
    pub(crate) fn line(
        &mut self,
        line: &Line<'_>,
        import: &mut Import<'_>,
    ) -> Option<Result<(), Skip>> {
        Some(self.reader.as_mut()?.line(line, import))
    }

    /// A line without anything in it.
    pub(crate) fn blank(&mut self, line: &Line<'_>, import: &mut Import<'_>) {
        if let Some(reader) = &mut self.reader {
            reader.blank(line, import);
        }
    }
}
