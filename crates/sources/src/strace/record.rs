//! What is kept of single calls.

use bootlap_model::{Evidence, Stamp};

/// A call that made a process or a thread.
pub(super) struct Fork {
    pub(super) parent: u32,
    pub(super) child: u32,
    pub(super) start: Stamp,
    /// When it returned, if that is known.
    pub(super) end: Option<Stamp>,
    pub(super) thread: bool,
    /// How many programs the parent had executed by then.
    pub(super) programs: usize,
    pub(super) at: Evidence,
}

/// The first program of a process.
pub(super) struct Exec {
    pub(super) process: u32,
    pub(super) at: Stamp,
    pub(super) evidence: Evidence,
}

/// A line that a process wrote, by the key of [`bootlap_model::Anchor::line`].
pub(super) struct Written {
    pub(super) process: u32,
    pub(super) at: Stamp,
    pub(super) key: u64,
    pub(super) evidence: Evidence,
}

/// A thread executed a program, by which it became the process.
pub(super) struct Takeover {
    pub(super) process: u32,
    pub(super) thread: u32,
    pub(super) at: Stamp,
}

/// One call that is worth looking at.
pub(super) struct Call {
    pub(super) process: u32,
    pub(super) name: u16,
    pub(super) start: Stamp,
    pub(super) took: Took,
    pub(super) waits: bool,
    pub(super) args: Box<str>,
    pub(super) ret: Box<str>,
    pub(super) at: Evidence,
}

/// How long a call took, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Took {
    For(i64),
    /// No longer than this: until the next line.
    AtMost(i64),
    /// So long at least: it was not over.
    AtLeast(i64),
}

impl Took {
    pub(super) fn ns(self) -> i64 {
        match self {
            Took::For(ns) | Took::AtMost(ns) | Took::AtLeast(ns) => ns,
        }
    }
}
