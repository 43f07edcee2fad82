//! Writing stamped consoles, a record for each byte.

use std::io::{self, Write};

use bootlap_model::Stamp;

use super::{Header, ProbeMark, Record, StampClock};

/// Writes a stamped console of version 1.
///
/// It does not buffer: hand it a `BufWriter`, and flush that when the console
/// is silent so that a killed recording keeps what it saw.
pub struct Writer<W: Write> {
    to: W,
}

impl<W: Write> Writer<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// If writing fails.
    pub fn new(mut to: W, clock: StampClock) -> io::Result<Self> {
        to.write_all(&Header { clock }.encode())?;
        Ok(Self { to })
    }

    /// Writes one record; events have no place in this version.
    ///
    /// # Errors
    /// If writing fails.
    pub fn record(&mut self, record: Record) -> io::Result<()> {
        match record.encode() {
            Some(bytes) => self.to.write_all(&bytes),
            None => Ok(()),
        }
    }

    /// Writes bytes that arrived together at `at`.
    ///
    /// # Errors
    /// If writing fails.
    pub fn bytes(&mut self, at: Stamp, bytes: &[u8]) -> io::Result<()> {
        bytes
            .iter()
            .try_for_each(|&byte| self.record(Record::Byte { at, byte }))
    }

    /// Writes a mark.
    ///
    /// # Errors
    /// If writing fails.
    pub fn mark(&mut self, at: Stamp, mark: ProbeMark) -> io::Result<()> {
        self.record(Record::Mark { at, mark })
    }

    /// Flushes what is written to.
    ///
    /// # Errors
    /// If that fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    /// What is written to.
    pub fn get_ref(&self) -> &W {
        &self.to
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.to
    }
}
