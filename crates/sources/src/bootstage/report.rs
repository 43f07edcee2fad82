//! The report as text, alone or in the middle of a console.
//!
//! ```text
//! => bootstage report
//! Timer summary in microseconds:
//!        Mark    Elapsed  Stage
//!           0          0  reset
//!   3,575,678  3,575,678  board_init_f start
//!   3,575,695         17  arch_cpu_init A9
//!
//! Accumulated time:
//!                  1,235  dm_f
//! ```
//!
//! | quirk | from |
//! | --- | --- |
//! | no `(N records)` | before 2015 |
//! | `id=64`, `user_7`, nothing in place of a name | unnamed records |
//! | one name many times (`fit_image_load`) | marks named by their function |
//! | each row twice | `bootstage unstash` in a U-Boot that made the stash |
//! | `(Overflowed internal boot id table …` | a table too small |
//! | `overflow` for Elapsed, `25 stages out of …` | Telechips' kernel prints it |
//! | two reports in one capture | the command's, then that of `bootm` |

use std::cell::Cell;

use bootlap_model::{Evidence, Severity, Timeline};

use crate::Sniff;
use crate::console::printk;
use crate::handover::Moment;
use crate::steps;
use crate::text::{self, Import, Line, Reader, Skip};

use super::stages::{self, Record, Records, UNIT_NS};

const HEADER: &str = "Timer summary in microseconds";
const LENGTHS: &str = "Accumulated time:";

/// A console that prints more of them is not of one boot.
const MAX_REPORTS: u32 = 100;

/// So many lines of something else in a row end a report.
const MAX_MISSES: u32 = 3;

const AROUND: Skip = Skip {
    code: "around-the-report",
    severity: Severity::Info,
    remedy: "these lines are not of U-Boot's report: read the file as a console (--as console) to use them too",
};

const OTHER_BOOT: Skip = Skip::lost(
    "another-boot",
    "this report is of another boot, and only the first boot was read: `FILE#2` names the second",
);

/// How much of a head is the report: all of it, or a console with one inside.
pub(super) fn sniff(head: &[u8]) -> Sniff {
    let (headers, kernels) = (Cell::new(0), Cell::new(0));
    let (used, all) = text::count_lines(head, 500, |line| {
        let text = text::valid(line);
        let line = text.trim();
        let is_header = line.starts_with(HEADER);
        headers.set(headers.get() + u32::from(is_header));
        kernels.set(kernels.get() + u32::from(printk::parse(text.as_bytes()).is_some()));
        let known = is_header || is_columns(line) || line == LENGTHS || is_remark(line);
        known || is_prompt(line) || row(text, false).is_some()
    });
    match (headers.get(), used * 2 >= all && kernels.get() == 0) {
        (0, _) => Sniff::NO,
        (_, true) => Sniff::percent(95),
        // A console that the console's own source knows comes first.
        (_, false) => Sniff::percent(55),
    }
}

/// Finds reports in lines, whatever is between them. Each [`Self::line`] may
/// be any line of a console.
#[derive(Default)]
pub(crate) struct Report {
    /// What is known to be of this boot.
    records: Records,
    /// The report that is being read.
    current: Records,
    within: Within,
    /// Lines of something else since the last row.
    misses: u32,
    /// Reports that were not empty.
    reports: u32,
    /// There was no room for the last row.
    overfull: bool,
    /// Where the current report begins, in front of its rows.
    header: Option<Evidence>,
    /// Where the first report of another boot begins.
    another: Option<Evidence>,
    /// Places of lines of reports that are of another boot.
    pub(super) dropped: Vec<Evidence>,
    /// Where U-Boot says that its table was full.
    pub(super) full: Option<Evidence>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Within {
    #[default]
    Nothing,
    Marks,
    Lengths,
}

impl Report {
    /// Takes a line without its line end; whether it is of a report.
    pub(crate) fn line(&mut self, text: &str, at: Evidence) -> bool {
        let line = text.trim();
        if line.starts_with(HEADER) {
            self.end_report();
            self.within = Within::Marks;
            self.header = Some(at);
            return true;
        }
        if is_columns(line) {
            // The line before it was lost.
            if self.within == Within::Nothing {
                self.end_report();
                self.within = Within::Marks;
                self.header = Some(at);
            }
            return true;
        }
        if line.contains("ootstage space exhausted") || line.starts_with("Overflowed internal") {
            self.full.get_or_insert(at);
            return true;
        }
        if is_prompt(line) || is_remark(line) {
            return true;
        }
        match self.within {
            Within::Nothing => false,
            _ if line.is_empty() => true,
            _ if line == LENGTHS => {
                self.within = Within::Lengths;
                true
            }
            _ => self.row(text, at),
        }
    }

    /// Takes a row; what is none ends the report.
    fn row(&mut self, text: &str, at: Evidence) -> bool {
        let lengths = self.within == Within::Lengths;
        let Some((ns, accumulated, name)) = row(text, lengths) else {
            // Another CPU may print in the middle of the marks, but what
            // comes after the lengths is after the report.
            self.misses += 1;
            if lengths || self.misses > MAX_MISSES {
                self.within = Within::Nothing;
            }
            return false;
        };
        self.misses = 0;
        let room = self.current.push(Record {
            name: name.to_owned(),
            ns,
            accumulated,
            error: false,
            at,
        });
        self.overfull = !room;
        room
    }

    fn end_report(&mut self) {
        let current = std::mem::take(&mut self.current);
        let header = self.header.take();
        self.within = Within::Nothing;
        if current.0.is_empty() {
            return;
        }
        self.reports += 1;
        if self.records.0.is_empty() {
            self.records = current;
        } else if self.reports <= MAX_REPORTS && self.records.goes_on_in(&current) {
            self.merge(current);
        } else {
            self.another = self.another.or(header);
            self.dropped.extend(current.0.iter().map(|r| r.at));
        }
    }

    /// What was reported before is known already; what was accumulated since
    /// then replaces what it was.
    fn merge(&mut self, later: Records) {
        let known: std::collections::BTreeSet<(i64, String)> = {
            let marks = self.records.0.iter().filter(|r| !r.accumulated);
            marks.map(|r| (r.ns, r.name.clone())).collect()
        };
        if later.0.iter().any(|r| r.accumulated) {
            self.records.0.retain(|r| !r.accumulated);
        }
        let new = |r: &Record| r.accumulated || !known.contains(&(r.ns, r.name.clone()));
        for record in later.0.into_iter().filter(new) {
            self.records.push(record);
        }
    }

    /// Writes down what was found in a console: the clock of it, and when the boot loader
    /// handed over, if both are known.
    pub(crate) fn write(&mut self, timeline: &mut Timeline) -> Option<Moment> {
        self.end_report();
        std::mem::take(&mut self.records).write(timeline)
    }

    /// Whether a record was found so far.
    fn found(&self) -> bool {
        !self.records.0.is_empty() || !self.current.0.is_empty()
    }
}

impl Reader for Report {
    fn line(&mut self, line: &Line<'_>, _sheet: &mut Import<'_>) -> Result<(), Skip> {
        self.overfull = false;
        match Report::line(self, line.str(), line.at) {
            true => Ok(()),
            false if self.overfull => Err(stages::TOO_MANY),
            false => Err(AROUND),
        }
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        if !self.found() {
            import.notice(
                "no-records",
                Severity::Notice,
                stages::nowhere(import, 0),
                "there is no bootstage report in this file: run `bootstage report` at U-Boot's prompt, or set CONFIG_BOOTSTAGE_REPORT",
            );
        }
        self.end_report();
        std::mem::take(&mut self.records).write(import.timeline);
        if let Some(at) = self.another {
            import.notice(OTHER_BOOT.code, OTHER_BOOT.severity, at, OTHER_BOOT.remedy);
        }
        for at in std::mem::take(&mut self.dropped) {
            import.skip(at, OTHER_BOOT);
        }
        if let Some(at) = self.full {
            stages::full(import, at);
        }
    }
}

/// ns, whether it is a length, and the name.
fn row(text: &str, lengths: bool) -> Option<(i64, bool, &str)> {
    let (first, rest) = word(text)?;
    let first_ns = grouped(first)?.checked_mul(UNIT_NS)?;
    let (second, name) = word(rest).unwrap_or(("", ""));
    let is_elapsed = grouped(second).is_some() || second == "overflow";
    if !lengths && is_elapsed {
        return Some((first_ns, false, name.trim()));
    }
    // Lengths have an empty column before the number.
    let indented = text.len() - text.trim_start().len() >= 11;
    let name = rest.trim();
    (lengths || (indented && !name.is_empty())).then_some((first_ns, true, name))
}

/// The first word, and what is after it.
fn word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// `1,043,362`.
fn grouped(text: &str) -> Option<i64> {
    steps::grouped(text)?.try_into().ok()
}

fn is_columns(line: &str) -> bool {
    line.split_whitespace().eq(["Mark", "Elapsed", "Stage"])
}

/// The command that asks for it, after whatever prompt.
fn is_prompt(line: &str) -> bool {
    line.ends_with("bootstage report") && line.len() < 60
}

/// What goes with a full table, and Telechips' last line.
fn is_remark(line: &str) -> bool {
    line.starts_with("Please increase CONFIG_")
        || line.starts_with("(Overflowed internal boot id table")
        || line.starts_with("- please increase CONFIG_BOOTSTAGE")
        || (line.contains(" stages out of ") && line.contains("proceeded"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows() {
        let mark = |text| row(text, false);
        assert_eq!(
            mark("  1,043,362    315,637  id=64"),
            Some((1_043_362_000, false, "id=64"))
        );
        assert_eq!(
            mark("  3,575,678  3,575,678  board_init_f start"),
            Some((3_575_678_000, false, "board_init_f start"))
        );
        assert_eq!(
            mark("    155,241    155,241"),
            Some((155_241_000, false, ""))
        );
        assert_eq!(mark(" 9 overflow  x"), Some((9_000, false, "x")));
        assert_eq!(
            mark("                36,047  dm_f"),
            Some((36_047_000, true, "dm_f"))
        );
        assert_eq!(
            row("    615,561  dm_r", true),
            Some((615_561_000, true, "dm_r"))
        );
        for bad in [
            "",
            "Starting kernel ...",
            "12 files",
            "99,999,999,999,999,999,999  1  x",
        ] {
            assert_eq!(mark(bad), None, "{bad}");
        }
    }
}
