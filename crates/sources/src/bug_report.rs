//! Android's bug report: what `dumpstate` collects (`adb bugreport`).
//!
//! ```text
//! == dumpstate: 2026-11-29 10:00:00
//! ------ KERNEL LOG (dmesg) ------
//! [    0.000000] Booting Linux on physical CPU 0x0000000000 [0x412fd050]
//! ------ 0.012s was the duration of 'KERNEL LOG (dmesg)' ------
//! ------ SYSTEM LOG (logcat -v threadtime -v printable -v uid -d *:v) ------
//! --------- beginning of main
//! 11-29 09:55:10.000  root   500   500 I vold    : Vold 3.0 (the awakening) firing up
//! ------ EVENT LOG (logcat -b events -v threadtime -v printable -v uid -d *:v) ------
//! ------ SYSTEM PROPERTIES (getprop) ------
//! ```
//!
//! Three kinds of sections have times of the boot: the kernel's log, logcat's buffers, which
//! are one log in several pieces, and the properties. Each is read as such a file of its own
//! would be. `LAST KMSG` and `LAST LOGCAT` are of the boot before, and are left out; and so
//! are the files of the device that lie beside the report in its archive, below `FS/`.

use bootlap_model::{Severity, Timeline};

use crate::dmesg::DmesgReader;
use crate::getprop::Properties;
use crate::logcat::LogcatReader;
use crate::sections::Sections;
use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Hints, Input, Sniff, Source, SourceError};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "bug-report",
    title: "Android's bug report (dumpstate)",
    looks_like: "`== dumpstate: DATE`, then sections of `------ NAME (command) ------`",
    sniff,
    read,
    together: None,
};

fn sniff(head: &[u8]) -> Sniff {
    match text::count_lines(head, 40, |line| line.starts_with(b"== dumpstate: ")) {
        (0, _) => Sniff::NO,
        _ => Sniff::percent(98),
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    let mut report = BugReport {
        hints: input.hints,
        sections: Sections::default(),
        logcat: LogcatReader::new(),
        in_logcat: false,
    };
    text::read(input, &SOURCE, out, &mut report)
}

/// The name of a section that begins.
fn section(line: &str) -> Option<&str> {
    let name = line.trim_end().strip_prefix("------ ")?;
    let name = name.strip_suffix(" ------")?;
    (!name.contains(" was the duration of ")).then_some(name)
}

/// Whether the file of this name in an archive names the report in it.
pub(crate) fn names_it(name: &str) -> bool {
    name.rsplit('/').next() == Some("main_entry.txt")
}

/// Whether the file of this name in such an archive was copied from the device.
pub(crate) fn is_copied(name: &str) -> bool {
    name.split('/').any(|folder| folder == "FS")
}

/// Why it is not read.
pub(crate) const COPIED: &str =
    "a file of the device beside its bug report, as likely of an earlier boot: give it alone";

struct BugReport<'h> {
    hints: &'h Hints,
    sections: Sections<'h>,
    /// Reads all of logcat's buffers: the events of one tie the dates of the others.
    logcat: LogcatReader,
    in_logcat: bool,
}

const NOT_READ: Skip = Skip {
    code: "section-without-times",
    severity: Severity::Info,
    remedy: "these sections of the bug report say nothing of when something happened in this boot",
};

impl Reader for BugReport<'_> {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        let text = text::valid(line.text);
        if let Some(name) = section(text) {
            let is_last = name.starts_with("LAST ");
            self.in_logcat = !is_last && name.contains("(logcat ");
            let reader: Option<Box<dyn Reader>> = match name {
                _ if is_last => None,
                _ if name.starts_with("KERNEL LOG") => Some(Box::new(DmesgReader::new(self.hints))),
                _ if name.starts_with("SYSTEM PROPERTIES") => Some(Box::new(Properties::default())),
                _ => None,
            };
            self.sections.begin(reader, import);
            return Ok(());
        }
        if text.starts_with("------ ") {
            self.in_logcat = false;
            self.sections.begin(None, import);
            return Ok(());
        }
        if self.in_logcat {
            return self.logcat.line(line, import);
        }
        self.sections.line(line, import).unwrap_or(Err(NOT_READ))
    }

    fn blank(&mut self, line: &Line<'_>, import: &mut Import<'_>) {
        match self.in_logcat {
            true => self.logcat.blank(line, import),
            false => self.sections.blank(line, import),
        }
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        self.sections.begin(None, import);
        self.logcat.finish(import);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_device() {
        assert!(names_it("a.zip/main_entry.txt") && !names_it("a.zip/version.txt"));
        assert!(is_copied("a.zip/FS/sys/fs/pstore/console-ramoops-0"));
        assert!(!is_copied("a.zip/bugreport-FS.txt"));
    }

    #[test]
    fn sections_and_what_ends_them() {
        assert_eq!(
            section("------ KERNEL LOG (dmesg) ------"),
            Some("KERNEL LOG (dmesg)")
        );
        for other in [
            "------ 0.012s was the duration of 'KERNEL LOG (dmesg)' ------",
            "--------- beginning of main",
            "------ x",
        ] {
            assert_eq!(section(other), None, "{other}");
        }
    }
}
