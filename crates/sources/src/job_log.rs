//! The kernel's log as a test runner or a logger quotes it.
//!
//! ```text
//! 2025-06-03 17:34:56.009[40][DEBUG] node[0].cmd[53].stdout [    0.000000] Linux version 6.8.0 (…
//! 2025-06-03 17:34:56.009[40][DEBUG] node[0].cmd[53].stdout [    0.000000] Command line: root=…
//! 20250603 17:34:56.009 - INFO - [    0.000000] Linux version 6.8.0 (…
//! <6>1 2025-06-03T17:34:56.009Z host kernel - - - [    0.000000] Linux version 6.8.0 (…
//! ```
//!
//! The last is syslog's of RFC 5424, as a logger on another machine keeps it.
//!
//! What stands before a line says who logged it and when that was read, which is none of the
//! boot's. All lines of one quotation have the same word right before the kernel's time; what
//! else the runner did is between them.

use memchr::memmem;

use bootlap_model::{Severity, Timeline};

use crate::console::printk;
use crate::dmesg::DmesgReader;
use crate::text::{self, Import, Line, Reader, Skip};
use crate::{Input, Sniff, Source, SourceError};

/// The source.
pub(crate) static SOURCE: Source = Source {
    name: "job-log",
    title: "a kernel log that a test runner or a logger quotes",
    looks_like: "lines of another log with `[    0.000000] Linux version` behind its own words",
    sniff,
    read,
    together: None,
};

/// So many quoted lines are a kernel's log.
const ENOUGH: usize = 8;

fn sniff(head: &[u8]) -> Sniff {
    let mut lines = text::head_lines(head);
    let Some(word) = lines.find_map(quoting_word) else {
        return Sniff::NO;
    };
    let quoted = lines.filter(|line| quoted(line, word).is_some());
    match quoted.take(ENOUGH).count() {
        ENOUGH => Sniff::percent(45),
        _ => Sniff::NO,
    }
}

fn read(input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
    let mut reader = JobLog {
        word: Vec::new(),
        log: DmesgReader::new(input.hints),
    };
    text::read(input, &SOURCE, out, &mut reader)
}

struct JobLog<'h> {
    /// What stands before each line of the first quotation.
    word: Vec<u8>,
    log: DmesgReader<'h>,
}

/// Lines between those of the quotation, and before and behind it.
const RUNNERS_OWN: Skip = Skip {
    code: "not-quoted",
    severity: Severity::Info,
    remedy: "these lines are the runner's own, or of another quotation: only the first one of a kernel's log is read, and by the kernel's times, for the runner's say when it read them",
};

impl Reader for JobLog<'_> {
    fn line(&mut self, line: &Line<'_>, import: &mut Import<'_>) -> Result<(), Skip> {
        if self.word.is_empty()
            && let Some(word) = quoting_word(line.text)
        {
            self.word = word.to_vec();
        }
        match quoted(line.text, &self.word) {
            Some(text) if !self.word.is_empty() => {
                self.log.line(&Line { text, at: line.at }, import)
            }
            _ => Err(RUNNERS_OWN),
        }
    }

    fn finish(&mut self, import: &mut Import<'_>) {
        self.log.finish(import);
    }
}

/// The last word before the time of a kernel's first line, with the blanks around it.
fn quoting_word(line: &[u8]) -> Option<&[u8]> {
    let says = memmem::find(line, b"] Linux version ")?;
    let at = memchr::memrchr(b'[', &line[..says])?;
    printk::parse(&line[at..])?;
    let before = &line[..at];
    let word = before.trim_ascii_end();
    let from = word.iter().rposition(|b| *b == b' ')?;
    // A word that has nothing before it would be the line's own prefix.
    (from + 1 < word.len()).then_some(&before[from..])
}

/// What stands behind the word, if it is a line of the kernel's.
fn quoted<'l>(line: &'l [u8], word: &[u8]) -> Option<&'l [u8]> {
    let mut behind = memmem::find_iter(line, word).map(|at| &line[at + word.len()..]);
    behind.find(|text| printk::parse(text).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_before_the_kernels_time_tells_its_lines() {
        let first = b"12:00:01 x[7].out [    0.000000] Linux version 6.8.0 (a@b)";
        assert_eq!(quoting_word(first), Some(&b" x[7].out "[..]));
        let word = quoting_word(first).unwrap();
        let second = b"12:00:02 x[7].out [    0.100000] smp: Brought up";
        assert_eq!(quoted(second, word), Some(&second[18..]));
        for other in [
            &b"12:00:02 x[8].out [    0.100000] smp: Brought up"[..],
            b"12:00:02 x[7].out total 12",
        ] {
            assert_eq!(quoted(other, word), None);
        }
        let syslog = b"<6>1 2025-06-03T17:34:56Z host kernel - - - [    0.000000] Linux version 6";
        assert_eq!(
            quoted(syslog, quoting_word(syslog).unwrap()),
            Some(&syslog[44..])
        );
        for own in [
            &b"[    0.000000] Linux version 6.8.0 (a@b)"[..],
            b" [    0.000000] Linux version 6.8.0 (a@b)",
            b"12:00:01 out Linux version 6.8.0",
        ] {
            assert_eq!(quoting_word(own), None);
        }
    }
}
