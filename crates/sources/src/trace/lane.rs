//! The calls of one thread: what [`super::calls`] keeps of it.

use bootlap_model::{ClockId, Evidence, Stamp, Sym, TrackId};

use super::named_initcalls::Children;

/// Which thread a line is of, as far as it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Thread {
    Pid(u32),
    /// Of each CPU: the idle task, or whatever runs there.
    Cpu(Option<u32>),
}

/// The calls of one thread.
pub(super) struct Lane {
    pub(super) track: TrackId,
    pub(super) pid: Option<Sym>,
    pub(super) open: Vec<Open>,
    /// Where the next call is put when there are no times.
    pub(super) laid_ns: i64,
    /// The last call that had no calls in it.
    pub(super) leaf: Option<usize>,
    pub(super) off_cpu: Option<(i64, bool)>,
    pub(super) asleep_ns: i64,
    pub(super) preempted_ns: i64,
}

pub(super) struct Open {
    pub(super) span: Option<usize>,
    pub(super) name: Sym,
    pub(super) depth: u32,
    pub(super) start: Stamp,
    pub(super) asleep_ns: i64,
    pub(super) preempted_ns: i64,
    /// Set for `do_one_initcall`.
    pub(super) children: Option<Box<Children>>,
}

/// A call that is over.
#[derive(Clone, Copy)]
pub(super) struct Returned<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) depth: u32,
    pub(super) duration_ns: Option<i64>,
    pub(super) value: Option<&'a str>,
}

/// Where and when a line is.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) lane: usize,
    pub(super) clock: ClockId,
    pub(super) at: Option<Stamp>,
    pub(super) cpu: Option<u32>,
    pub(super) evidence: Evidence,
}
