//! Evidence in, events out: one module per format, bytes only.
//!
//! A source never fails on content: it adds what it understood to the
//! [`Timeline`], counts each line as used or skipped, and says in notices what
//! it could not use and what to do about it. It sees bytes, never paths: the
//! same bytes under another name or in other chunks give the same result.

mod accesses;
mod agent;
pub mod align;
mod binary;
mod boot_data;
pub mod boot_table;
mod bootchart;
mod bootstage;
mod bootstat;
mod bug_report;
pub mod bundle;
mod calendar;
mod cbmem;
mod cleaner;
mod colours;
mod commands;
mod console;
mod cpu_time;
mod dmesg;
mod efi;
mod firmware_log;
mod fpdt;
mod ftrace;
mod getprop;
mod grabserial;
mod handover;
pub mod ingest;
mod job_log;
mod journal;
mod json;
mod jump;
mod kfi;
mod lava;
mod logcat;
mod logic;
mod pack;
mod parts;
mod perf;
mod perfetto;
mod pins;
mod quoted;
mod rc_log;
mod registry;
mod same;
mod sections;
mod serial;
mod slimboot;
mod stamped;
mod steps;
mod stopwatch;
mod strace;
mod systemd;
mod text;
mod timeless;
mod trace;
mod trace_cmd;
#[cfg(test)]
mod tried;
mod ts;
mod vcd;
mod watch;

use std::io::{self, BufRead};

use bootlap_model::Timeline;

pub use cleaner::Cleaner;
pub use timeless::{Timeless, timeless};
pub use watch::{Began, BootWatch, ReadyWatch, Seen};

pub use registry::{all, detect, named, ranking};

/// How many first bytes of a file [`detect`] should be given.
pub const HEAD_LEN: usize = 64 * 1024;

/// What is read: a label for people, and the bytes.
pub struct Input<'a> {
    /// What people call it; never opened, never looked at for a decision.
    pub label: &'a str,
    /// The bytes, in whatever chunks they come.
    pub bytes: &'a mut dyn BufRead,
    /// What the target's description adds to what the bytes say.
    pub hints: &'a Hints,
}

/// What a user told of a boot's console beforehand.
#[derive(Default)]
pub struct Hints {
    /// The pattern that means *ready*, searched for in each console line.
    pub ready: Option<regex::bytes::Regex>,
    /// Patterns that mark the application's start.
    pub application: Option<regex::bytes::Regex>,
    /// More moments that the user named: `(name, pattern)`.
    pub marks: Vec<(String, regex::bytes::Regex)>,
}

/// How sure a source is that the bytes are of its format, in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sniff(u8);

impl Sniff {
    /// Not this format.
    pub const NO: Self = Self(0);
    /// Could be.
    pub const MAYBE: Self = Self(20);
    /// Looks like it.
    pub const LIKELY: Self = Self(60);
    /// Lines that hardly anything else prints.
    pub const SURE: Self = Self(90);
    /// A magic number.
    pub const CERTAIN: Self = Self(100);

    /// `percent` sure, at most 100.
    pub const fn percent(percent: u8) -> Self {
        Self(if percent > 100 { 100 } else { percent })
    }

    /// How sure, in percent.
    pub const fn as_percent(self) -> u8 {
        self.0
    }
}

/// Why nothing could be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The bytes are not of this format.
    #[error("not {format}: {why}")]
    NotThisFormat {
        /// The format that was tried.
        format: &'static str,
        /// What was found instead.
        why: String,
    },
    /// bootlap itself wrote it, for people: its times are those of an axis, not of a clock.
    #[error("it is a report of bootlap's: read the run or the files that it was made of")]
    Report,
    /// The bytes could not be read.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
}

/// The parser of one evidence format.
pub struct Source {
    /// The short name of the format, e.g. `console`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// What its bytes look like: what was looked for in a file that is nothing known.
    pub looks_like: &'static str,
    sniff: fn(&[u8]) -> Sniff,
    read: fn(Input<'_>, &mut Timeline) -> Result<(), SourceError>,
    /// For recordings of several files (bootchart's logs, one strace a process).
    together: Option<Together>,
}

/// How the files of one folder or archive are read that belong together.
struct Together {
    is_part: IsPart,
    read_parts: ReadParts,
}

type IsPart = fn(name: &str, head: &[u8]) -> bool;
type ReadParts = fn(Vec<Input<'_>>, &mut Timeline) -> Result<(), SourceError>;

const fn together(is_part: IsPart, read_parts: ReadParts) -> Option<Together> {
    Some(Together {
        is_part,
        read_parts,
    })
}

impl Source {
    /// Looks at the first bytes (up to 64 KiB).
    pub fn sniff(&self, head: &[u8]) -> Sniff {
        (self.sniff)(head)
    }

    /// Adds all that `input` says to `out`.
    ///
    /// # Errors
    /// Only if the bytes cannot be read or are of another format.
    pub fn read(&self, input: Input<'_>, out: &mut Timeline) -> Result<(), SourceError> {
        (self.read)(input, out)
    }

    /// Whether the files of one folder or archive belong together, each a part of one
    /// recording.
    pub fn reads_together(&self) -> bool {
        self.together.is_some()
    }

    /// Whether a file called `name`, of a folder or archive, is a part of this format
    /// though its content alone does not say so: a number that has its meaning from the
    /// file's name (`firmware_start_ns`).
    pub fn is_part(&self, name: &str, head: &[u8]) -> bool {
        let together = self.together.as_ref();
        together.is_some_and(|together| (together.is_part)(name, head))
    }

    /// Adds all that the parts of one recording say. Each is named by its label, which
    /// may be used where the format keeps a fact only there.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_parts(&self, parts: Vec<Input<'_>>, out: &mut Timeline) -> Result<(), SourceError> {
        match &self.together {
            Some(together) => (together.read_parts)(parts, out),
            None => parts.into_iter().try_for_each(|part| self.read(part, out)),
        }
    }
}
