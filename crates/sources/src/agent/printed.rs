//! An archive that `bootlap-agent collect --console` printed among all else:
//!
//! ```text
//! bootlap-archive 0/8120 Ym9vdGxhcAEBACEA4NahagAAAABgflTZNprlFWQAAAABAAAATgAAADAuMS4w…
//! bootlap-archive 57/8120 Ni4xLjAtNTYtYXJtNjQCAA8AbWFjaGluZQBhYXJjaDY0AgB0AGNtZGxpbmUA…
//! bootlap-archive 3735928559 end
//! ```
//!
//! and what the kernel traced meanwhile (`--trace`), line by line:
//!
//! ```text
//! bootlap-trace # clock: mono
//! bootlap-trace tz-106 [000] ..... 11.002: sys_read -> 0x28
//! ```
//!
//! Of the archive: where its bytes belong, of how many, base64; at the end their CRC-32. Other
//! output that breaks into a line costs that line, and what follows it: a record
//! cannot be found again.

use bootlap_model::{Evidence, Severity, Timeline};
use data_encoding::BASE64;

use super::LIMIT;
use crate::{Hints, Input};

const PREFIX: &[u8] = b"bootlap-archive ";
const TRACE: &[u8] = b"bootlap-trace ";

/// What has been printed so far.
#[derive(Default)]
pub(crate) struct Printed {
    bytes: Vec<u8>,
    /// A line was missed: the next bytes are not those after the last.
    torn: bool,
    crc: Option<u32>,
    last: Option<Evidence>,
    /// The lines of a trace.
    trace: Vec<u8>,
}

/// What a line of an archive says.
enum Part<'t> {
    Bytes { at: usize, digits: &'t [u8] },
    End { crc: u32 },
}

impl Printed {
    /// Whether this is a line of an archive.
    pub(crate) fn is_line(text: &[u8]) -> bool {
        text.starts_with(PREFIX) || text.starts_with(TRACE)
    }

    /// Takes the line if it is of an archive; says whether it is.
    pub(crate) fn line(&mut self, text: &[u8], evidence: Evidence) -> bool {
        if let Some(line) = text.strip_prefix(TRACE) {
            if fits(self.trace.len(), line.len() + 1) {
                self.trace.extend(line);
                self.trace.push(b'\n');
            }
            return true;
        }
        let Some(rest) = text.strip_prefix(PREFIX) else {
            return false;
        };
        self.last = Some(evidence);
        match Part::of(rest.trim_ascii_end()) {
            Some(Part::Bytes { at, digits }) => self.take(at, digits),
            Some(Part::End { crc }) => self.crc = Some(crc),
            None => self.torn = true,
        }
        true
    }

    fn take(&mut self, at: usize, digits: &[u8]) {
        if at == 0 {
            // It was sent once more.
            *self = Self {
                last: self.last,
                trace: std::mem::take(&mut self.trace),
                ..Self::default()
            };
        }
        match BASE64.decode(digits) {
            Ok(bytes) if !self.torn && at == self.bytes.len() && fits(at, bytes.len()) => {
                self.bytes.extend(bytes);
            }
            _ => self.torn = true,
        }
    }

    /// Reads what has been printed, as files of their own beside the console called `label`.
    pub(crate) fn finish(self, label: &str, timeline: &mut Timeline) {
        if !self.trace.is_empty() {
            let label = format!("{label}: trace");
            let input = Input {
                label: &label,
                bytes: &mut &*self.trace,
                hints: &Hints::default(),
            };
            // Of bytes in memory every line can be read.
            let _ = crate::ftrace::SOURCE.read(input, timeline);
        }
        let Some(at) = self.last else {
            return;
        };
        let mut crc = flate2::Crc::new();
        crc.update(&self.bytes);
        let remedy = match self.crc {
            _ if self.torn => {
                "other output broke into the archive that bootlap-agent printed, and only what is before it was read: let it be printed when the console is quiet (bootlap.after-ms=), or copy the file"
            }
            None => {
                "the console ends within the archive that bootlap-agent printed, and what is there was read: record until the line `bootlap-archive … end`"
            }
            Some(stated) if stated != crc.sum() => {
                "the archive that bootlap-agent printed came over the console with errors, and what can be read was: is the baud rate right?"
            }
            Some(_) => "",
        };
        if !remedy.is_empty() {
            timeline.notice("archive-torn", Severity::DataLoss, Some(at), remedy);
        }
        if !self.bytes.is_empty() {
            super::read(&self.bytes, false, &format!("{label}: archive"), timeline);
        }
    }
}

fn fits(at: usize, more: usize) -> bool {
    (at + more) as u64 <= LIMIT
}

impl<'t> Part<'t> {
    fn of(text: &'t [u8]) -> Option<Self> {
        let (first, second) = text.split_at(text.iter().position(|b| *b == b' ')?);
        let second = second.trim_ascii_start();
        let first = str::from_utf8(first).ok()?;
        if second == b"end" {
            let crc = first.parse().ok()?;
            return Some(Self::End { crc });
        }
        let (at, len) = first.split_once('/')?;
        let (at, len): (usize, usize) = (at.parse().ok()?, len.parse().ok()?);
        (at < len).then_some(Self::Bytes { at, digits: second })
    }
}
