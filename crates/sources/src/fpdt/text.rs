//! The same as text: names with numbers, a number alone, dumps of tables.
//!
//! ```text
//! ==> /sys/firmware/acpi/fpdt/boot/firmware_start_ns <==
//! 103226450
//!
//! bootloader_load_ns: 8346002270
//!
//! FPDT @ 0x0000000000000000
//!     0000: 46 50 44 54 44 00 00 00 01 6A 42 4F 43 48 53 20  FPDTD....jBOCHS
//!
//! [02Ch 0044   8]     FPDT Boot Record Address : 000000007F9F1000
//! ```
//!
//! Printed by `grep .` or `tail -n +1` over the files, `acpidump`, `iasl -d`.

use bootlap_model::Severity;

use crate::Sniff;
use crate::text::{self, Import, Line, Reader, Skip};

use super::{Boot, Moment, table};

/// Larger tables in dumps are cut.
const MAX_TABLE: usize = 1 << 20;

pub(super) fn sniff(head: &[u8]) -> Sniff {
    let mut lines = text::head_lines(head).map(text::valid);
    let first = lines.next().unwrap_or_default();
    if first.trim().len() <= 20 && number(first.trim()).is_some() && lines.next().is_none() {
        return Sniff::MAYBE;
    }
    let named = |l: &[u8]| {
        let line = text::valid(l);
        Moment::of(line).is_some_and(|m| m != Moment::Sleep)
    };
    let (named, all) = text::count_lines(head, 200, named);
    let of_table = |l: &[u8]| {
        let line = text::valid(l);
        is_dump_of(line) == Some(true) || line.contains("Signature : \"FPDT\"")
    };
    let (of_table, _) = text::count_lines(head, 200, of_table);
    match (named, of_table) {
        (_, 1..) => Sniff::SURE,
        (0, 0) => Sniff::NO,
        _ if named * 3 >= all => Sniff::SURE,
        _ => Sniff::MAYBE,
    }
}

/// Whether a table's dump begins here, and whether it is one of ours.
fn is_dump_of(line: &str) -> Option<bool> {
    let (name, rest) = line.trim_start().split_once(" @ 0x")?;
    let is_name = name.len() == 4 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let is_address = rest.trim().bytes().all(|b| b.is_ascii_hexdigit());
    (is_name && is_address).then_some(matches!(name, "FPDT" | "FBPT" | "S3PT"))
}

/// Reads names and numbers.
pub(super) struct Names<'b> {
    boot: &'b mut Boot,
    /// What the next number is about.
    about: Option<Moment>,
    /// The bytes of the table that is being dumped.
    dump: Option<Vec<u8>>,
    /// Within the dump of another table.
    other: bool,
    /// Within what `iasl` writes.
    disassembly: bool,
}

impl<'b> Names<'b> {
    pub(super) fn new(about: Option<Moment>, boot: &'b mut Boot) -> Self {
        Self {
            boot,
            about,
            dump: None,
            other: false,
            disassembly: false,
        }
    }

    fn end_dump(&mut self, import: &mut Import<'_>) {
        if let Some(bytes) = self.dump.take() {
            table::read_dump(&bytes, self.boot, import);
        }
    }

    fn add(&mut self, moment: Option<Moment>, ns: i64, line: &Line<'_>) -> Result<(), Skip> {
        let moment = moment.ok_or(Skip::lost(
            "which-moment",
            "a number alone does not tell which moment it is: keep the names of the files, as `grep . /sys/firmware/acpi/fpdt/boot/*` does",
        ))?;
        if self.boot.add(moment, ns, line.at) {
            return Ok(());
        }
        Err(Skip::lost(
            "time-given-twice",
            "there are two times for one moment, and only the first was used: read one boot at a time",
        ))
    }
}

impl Reader for Names<'_> {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        let text = line.str().trim();
        if let Some(ours) = is_dump_of(text) {
            self.end_dump(import);
            self.other = !ours;
            self.dump = ours.then(Vec::new);
            self.boot.pointer.get_or_insert(line.at);
            return Ok(());
        }
        if let Some(row) = hex_row(text) {
            if let Some(dump) = &mut self.dump
                && dump.len() < MAX_TABLE
            {
                dump.extend(row);
            }
            return if self.other { Err(OTHER_TABLE) } else { Ok(()) };
        }
        self.disassembly |= text.contains("Signature : \"FPDT\"");
        if self.disassembly || is_comment(text) {
            self.boot.pointer.get_or_insert(line.at);
            return Ok(());
        }
        let moment = Moment::of(text);
        let Some((rest, value)) = text.rsplit_once([':', '=', ' ', '\t']).or(Some(("", text)))
        else {
            return Err(UNKNOWN);
        };
        match (moment, number(value)) {
            (Some(moment), Some(ns)) => self.add(Some(moment), ns, line),
            (Some(moment), None) => {
                self.about = Some(moment);
                Ok(())
            }
            (None, Some(ns)) if rest.is_empty() => {
                let about = self.about.take();
                self.add(about, ns, line)
            }
            _ => Err(UNKNOWN),
        }
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        self.end_dump(import);
    }
}

const UNKNOWN: Skip = Skip::unknown("expected `bootloader_launch_ns:8346411360`");

const OTHER_TABLE: Skip = Skip {
    code: "another-table",
    severity: Severity::Info,
    remedy: "these ACPI tables tell no times",
};

/// `46 50 44 54` of `0000: 46 50 44 54 …  FPDT…`.
fn hex_row(text: &str) -> Option<Vec<u8>> {
    let (offset, rest) = text.split_once(": ")?;
    let is_offset = offset.len() >= 4 && offset.bytes().all(|b| b.is_ascii_hexdigit());
    // Two spaces are before the text, which may look like numbers.
    let hex = rest.split("  ").next()?.split(' ');
    let bytes = hex.map(|h| (h.len() == 2).then(|| u8::from_str_radix(h, 16).ok())?);
    let bytes: Option<Vec<u8>> = bytes.collect();
    bytes.filter(|b| is_offset && b.len() <= 16)
}

/// What `iasl` writes at the beginning of each file.
fn is_comment(text: &str) -> bool {
    text.starts_with("/*") || text.starts_with("*") || text == "*/"
}

fn number(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dumps() {
        let row = "0000: 46 50 44 54 44 00  FPDTD.";
        assert_eq!(hex_row(row), Some(vec![0x46, 0x50, 0x44, 0x54, 0x44, 0]));
        assert_eq!(hex_row("firmware_start_ns: 12"), None);
        assert_eq!(is_dump_of("FPDT @ 0x0000000000000000"), Some(true));
        assert_eq!(is_dump_of("DSDT @ 0x000000007F9F1000"), Some(false));
        assert_eq!(is_dump_of("me @ 0x1"), None);
    }
}
