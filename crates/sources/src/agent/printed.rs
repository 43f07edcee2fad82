//! An archive that `bootlap-agent collect --console` printed among all else:
//!
//! ```text
//! bootlap-archive 0/8120 Ym9vdGxhcAEBACEA4NahagAAAABgflTZNprlFWQAAAABAAAATgAAADAuMS4w…
//! bootlap-archive 57/8120 Ni4xLjAtNTYtYXJtNjQCAA8AbWFjaGluZQBhYXJjaDY0AgB0AGNtZGxpbmUA…
//! bootlap-archive 3735928559 end
//! ```
//!
//! Where its bytes belong, of how many, base64; at the end their CRC-32. Other
//! output that breaks into a line costs that line, and what follows it: a record
//! cannot be found again.

use bootlap_model::{Evidence, Severity, Timeline};
use data_encoding::BASE64;

use super::LIMIT;

const PREFIX: &[u8] = b"bootlap-archive ";

/// What has been printed so far.
#[derive(Default)]
pub(crate) struct Printed {
    bytes: Vec<u8>,
    /// A line was missed: the next bytes are not those after the last.
    torn: bool,
    crc: Option<u32>,
    last: Option<Evidence>,
}

/// What a line of an archive says.
enum Part<'t> {
    Bytes { at: usize, digits: &'t [u8] },
    End { crc: u32 },
}

impl Printed {
    /// Whether this is a line of an archive.
    pub(crate) fn is_line(text: &[u8]) -> bool {
        text.starts_with(PREFIX)
    }

    /// Takes the line if it is of an archive; says whether it is.
    pub(crate) fn line(&mut self, text: &[u8], evidence: Evidence) -> bool {
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

    /// Reads what has been printed, as a file of its own beside the console
    /// called `label`.
    pub(crate) fn finish(self, label: &str, timeline: &mut Timeline) {
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
