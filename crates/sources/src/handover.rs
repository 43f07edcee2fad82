//! Where a kernel's clock begins on the clock of what started it: behind its last word, as
//! far as anybody can tell.

use bootlap_model::{ClockEdge, ClockId, Evidence, How, Stamp, Timeline};

/// A kernel's log begins by then, ns: one that begins later is an excerpt.
const KERNEL_BEGINS_NS: i64 = 100_000_000;

/// What a kernel may take from the loader's last word to its own zero, ns: to unpack and
/// move itself.
const ERR_NS: u32 = 500_000_000;

/// A clock, a moment of it, and what tells of it.
pub(crate) type Moment = (ClockId, Stamp, Evidence);

/// Joins the clock of a kernel's first line, logged at `ns`, with that of the loader's `last`
/// word: assumed, and told to be. Whether it can be so.
pub(crate) fn assume(timeline: &mut Timeline, (kernel, ns): (ClockId, i64), last: Moment) -> bool {
    let (loader, last, at) = last;
    let is_first = ns <= KERNEL_BEGINS_NS;
    if is_first {
        let offset = last.ns.saturating_sub(ns);
        let edge = ClockEdge::offset(kernel, loader, offset, ERR_NS, How::Assumed);
        let why = "the kernel's first line follows the loader's last word";
        timeline.edges.push(edge.because(why, Some(at)));
    }
    is_first
}
