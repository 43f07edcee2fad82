//! What programs do with files, as their system calls tell.

use serde::{Deserialize, Serialize};

use crate::{ClockId, Evidence, Stamp, Sym};

/// All that one process, while it ran one program, did with one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileUse {
    /// The process; 0 if the evidence does not number the only one.
    pub pid: u32,
    /// What it ran: the last part of the program's path, or the process's name.
    pub program: Sym,
    /// The file, as far as it is known: relative to a folder that the evidence does not
    /// name if it does not begin with a slash.
    pub path: Sym,
    /// How often it was opened.
    pub opens: u32,
    /// How often it was looked for, opened or executed, and was not there.
    pub missing: u32,
    /// How often somebody looked at it by name and it was there: `stat`, `access`,
    /// `readlink`.
    pub looks: u32,
    /// Calls that read it; of a folder, that listed it.
    pub reads: u32,
    /// Bytes that these gave.
    pub bytes: u64,
    /// How often it was mapped into memory.
    pub maps: u32,
    /// How long all these calls took, ns, as far as the evidence says.
    pub took_ns: u64,
    /// The clock of `first`.
    pub clock: ClockId,
    /// When the first of them began.
    pub first: Stamp,
    /// Where that is said.
    pub evidence: Evidence,
}

impl FileUse {
    /// How many calls these are.
    pub fn calls(&self) -> u64 {
        [self.opens, self.missing, self.looks, self.reads, self.maps]
            .into_iter()
            .map(u64::from)
            .sum()
    }
}
