//! The `/bootstage` node of a device tree: the blob, and its source text.
//!
//! ```text
//! / {
//!     bootstage {
//!         1 {
//!             mark = <0x00108a91>;
//!             name = "bootm_start";
//!         };
//!         0 {
//!             accum = <0x000057ce>;
//!             name = "dm_r";
//!         };
//!     };
//! };
//! ```
//!
//! U-Boot adds the newest record first and stops when the blob is full, so
//! the first stages may be missing (18 of 30 came through in U-Boot 2023.01).
//! `dtc` refuses such a blob without `-f`, because of the `name` properties;
//! `fdtdump` prints it.

use bootlap_model::{Evidence, Severity};

use crate::Sniff;
use crate::binary::{self, Order};
use crate::text::{self, Import, Line, Reader, Skip};

use super::stages::{self, Record, Records, UNIT_NS};

const MAGIC: [u8; 4] = [0xd0, 0x0d, 0xfe, 0xed];

/// Kernels nest a dozen deep.
const MAX_DEPTH: usize = 64;

/// Whether it begins like a flattened device tree.
pub(super) fn is_blob(head: &[u8]) -> bool {
    head.starts_with(&MAGIC)
}

/// What is known of a record before its node ends.
#[derive(Default)]
struct Partial {
    name: String,
    us: Option<u32>,
    accumulated: bool,
    start: u64,
}

impl Partial {
    fn record(self, at: Evidence) -> Option<Record> {
        Some(Record {
            name: self.name,
            ns: i64::from(self.us?) * UNIT_NS,
            accumulated: self.accumulated,
            error: false,
            at,
        })
    }
}

/// Reads the records of a blob; each counts as a line.
pub(super) fn read_blob(bytes: &[u8], import: &mut Import<'_>) {
    let mut walk = Walk {
        bytes,
        records: Records::default(),
        partial: None,
    };
    let whole = walk.run(import);
    if whole.is_none() {
        import.notice(
            "device-tree-cut",
            Severity::DataLoss,
            stages::nowhere(import, bytes.len() as u64),
            "the device tree ends too early: copy the whole of /sys/firmware/fdt",
        );
    }
    let records = walk.records;
    import.count_lines(records.0.len() as u64);
    missing(&records, import);
    records.write(import.timeline);
}

/// Says what U-Boot left out.
fn missing(records: &Records, import: &mut Import<'_>) {
    let at = stages::nowhere(import, 0);
    if records.0.is_empty() {
        import.notice(
            "no-records",
            Severity::Notice,
            at,
            "the device tree has no bootstage records: build U-Boot with CONFIG_BOOTSTAGE_FDT, and take /sys/firmware/fdt of the running Linux",
        );
    } else if records.0.iter().all(|r| r.ns > 0) {
        import.notice(
            "first-stages-missing",
            Severity::DataLoss,
            at,
            "U-Boot adds the newest records first, and had no room in the device tree for the first: raise CONFIG_SYS_FDT_PAD, or use `bootstage report`",
        );
    }
}

struct Walk<'b> {
    bytes: &'b [u8],
    records: Records,
    partial: Option<Partial>,
}

impl Walk<'_> {
    fn word(&self, at: usize) -> Option<usize> {
        binary::u32_at(self.bytes, at, Order::Big).map(|n| n as usize)
    }

    /// Goes through all nodes once; `None` if the blob ends too early.
    fn run(&mut self, import: &mut Import<'_>) -> Option<()> {
        const BEGIN: usize = 1;
        const END: usize = 2;
        const PROPERTY: usize = 3;
        const NOP: usize = 4;
        let mut at = self.word(8)?;
        let strings = self.word(12)?;
        let mut depth = 0usize;
        // How deep the bootstage node is, while in it.
        let mut within: Option<usize> = None;
        loop {
            let token = self.word(at)?;
            at += 4;
            match token {
                BEGIN => {
                    let name = binary::c_str(self.bytes, at)?;
                    let start = at as u64;
                    if within.is_none() && name == b"bootstage" {
                        within = Some(depth);
                    } else if within.is_some_and(|d| depth == d + 1) {
                        self.partial = Some(Partial {
                            start,
                            ..Partial::default()
                        });
                    }
                    at += (name.len() + 4) & !3;
                    depth += 1;
                    if depth > MAX_DEPTH {
                        return None;
                    }
                }
                END => {
                    depth = depth.checked_sub(1)?;
                    if within.is_some_and(|d| depth == d + 1) {
                        self.end_record(at as u64, import);
                    } else if within == Some(depth) {
                        within = None;
                    }
                    if depth == 0 {
                        return Some(());
                    }
                }
                PROPERTY => {
                    let (len, name) = (self.word(at)?, self.word(at + 4)?);
                    let end = (at + 8).checked_add(len)?;
                    let value = self.bytes.get(at + 8..end)?;
                    if let Some(partial) = &mut self.partial {
                        let name = binary::c_str(self.bytes, strings.checked_add(name)?)?;
                        partial.property(name, value);
                    }
                    at = end.checked_add(3)? & !3;
                }
                NOP => {}
                _ => return None,
            }
        }
    }

    fn end_record(&mut self, end: u64, import: &Import<'_>) {
        let Some(partial) = self.partial.take() else {
            return;
        };
        let at = Evidence {
            file: import.file,
            start: partial.start,
            end,
            line: self.records.0.len() as u32 + 1,
        };
        if let Some(record) = partial.record(at) {
            self.records.push(record);
        }
    }
}

impl Partial {
    fn property(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"name" => {
                let text = value.strip_suffix(b"\0").unwrap_or(value);
                self.name = text::valid(text).to_owned();
            }
            b"mark" | b"accum" => {
                self.us = binary::u32_at(value, 0, Order::Big);
                self.accumulated = name == b"accum";
            }
            _ => {}
        }
    }
}

/// Whether it is the source text of a device tree with bootstage records.
pub(super) fn sniff_text(head: &[u8]) -> Sniff {
    let mut records = SourceText::default();
    let mut first = true;
    let mut is_tree = false;
    for line in text::head_lines(head) {
        let line = text::valid(line).trim();
        is_tree |= first && line.starts_with("/dts-v1/");
        first = false;
        records.take(line, None);
        if records.told {
            return Sniff::percent(95);
        }
    }
    if is_tree { Sniff::MAYBE } else { Sniff::NO }
}

/// Reads the source text of a device tree.
#[derive(Default)]
pub(super) struct SourceText {
    records: Records,
    partial: Option<Partial>,
    /// Open nodes within the bootstage node, that one included.
    depth: usize,
    /// A time was seen.
    told: bool,
    /// Where the last time was.
    at: Option<Evidence>,
}

impl SourceText {
    /// Takes a trimmed line; what ends with it, if a record does.
    fn take(&mut self, line: &str, at: Option<Evidence>) -> Option<Partial> {
        let is_begin = line.ends_with('{');
        if self.depth == 0 {
            let name = line.trim_end_matches('{').trim_end();
            let name = name.rsplit(':').next().unwrap_or_default().trim();
            self.depth = usize::from(is_begin && name == "bootstage");
            return None;
        }
        if is_begin {
            self.depth += 1;
            if self.depth == 2 {
                self.partial = Some(Partial::default());
            }
        } else if line.starts_with('}') {
            self.depth -= 1;
            if self.depth == 1 {
                return self.partial.take();
            }
        } else if let (Some(partial), Some((name, value))) = (
            &mut self.partial,
            line.trim_end_matches(';').split_once('='),
        ) {
            let value = value.trim();
            match name.trim() {
                "name" => partial.name = value.trim_matches('"').to_owned(),
                name @ ("mark" | "accum") => {
                    partial.us = cell(value);
                    partial.accumulated = name == "accum";
                    self.told |= partial.us.is_some();
                    self.at = at;
                }
                _ => {}
            }
        }
        None
    }
}

impl Reader for SourceText {
    /// All lines of a device tree are understood; most need no event.
    fn line(&mut self, line: &Line<'_>, _sheet: &mut Import<'_>) -> Result<(), Skip> {
        let partial = self.take(line.str().trim(), Some(line.at));
        let at = self.at.unwrap_or(line.at);
        if let Some(record) = partial.and_then(|p| p.record(at))
            && !self.records.push(record)
        {
            return Err(stages::TOO_MANY);
        }
        Ok(())
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        let records = std::mem::take(&mut self.records);
        missing(&records, import);
        records.write(import.timeline);
    }
}

/// `<0x00108a91>`, `<1084049>`.
fn cell(text: &str) -> Option<u32> {
    let text = text.strip_prefix('<')?.strip_suffix('>')?.trim();
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells() {
        assert_eq!(cell("<0x00108a91>"), Some(1_084_049));
        assert_eq!(cell("<1084049>"), Some(1_084_049));
        assert_eq!(cell("<0x1 0x2>"), None);
        assert_eq!(cell("\"x\""), None);
    }
}
