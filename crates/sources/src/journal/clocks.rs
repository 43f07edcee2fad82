//! How the clocks of a journal lie to each other.
//!
//! A message has up to four times:
//!
//! - `_SOURCE_MONOTONIC_TIMESTAMP` of a kernel message is the kernel's own
//!   stamp, which journald takes from `/dev/kmsg` as it is: printk's clock,
//!   the one that `dmesg` shows. It is **not** `CLOCK_MONOTONIC`: that read
//!   9.2 ms more in Linux 6.1 and 5.4 ms more in 6.12 (both x86, QEMU), from
//!   the first message to the last. `_SOURCE_BOOTTIME_TIMESTAMP` is a copy.
//! - `__MONOTONIC_TIMESTAMP`: when journald had the message. The messages that
//!   are older than journald all have its start, seconds late.
//! - `__REALTIME_TIMESTAMP`: the same moment on the wall clock, so the two tell
//!   the offset of the clocks, and when the wall clock was set.
//! - `_SOURCE_REALTIME_TIMESTAMP`: when the sender sent it, up to some ms
//!   before journald had it.
//!
//! A message is had after it was logged, never before; so the smallest
//! difference is the best estimate of what lies between printk's clock and the
//! monotonic one: 9.63 ms where 9.2 ms was right, 5.87 ms for 5.4 ms.

use bootlap_model::{ClockEdge, ClockId, Evidence, How, Severity};

use super::row::Row;
use crate::text::Import;

/// What is stated where nothing tells how printk's clock lies to the monotonic
/// one: they begin within some ms of each other.
const UNKNOWN_NS: u32 = 20_000_000;

/// A difference that is larger is journald's delay, not the clocks'.
const TOO_LARGE_NS: i64 = 500_000_000;

/// How many of the smallest differences are looked at.
const NEAREST: usize = 8;

/// What lies between printk's clock and another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offset {
    pub(crate) ns: i64,
    pub(crate) err_ns: u32,
    how: How,
    at: Option<Evidence>,
}

/// From printk's clock to the monotonic one, by the messages that have both.
pub(crate) fn printk_to_monotonic(rows: &[Row]) -> Offset {
    let both = rows.iter().filter_map(|r| {
        let late = r.mono_ns?.checked_sub(r.logged_ns?)?;
        Some((late, r.at?))
    });
    nearest(both, TOO_LARGE_NS).unwrap_or(Offset {
        ns: 0,
        err_ns: UNKNOWN_NS,
        how: How::Assumed,
        at: rows
            .iter()
            .find(|r| r.logged_ns.is_some())
            .and_then(|r| r.at),
    })
}

/// From printk's clock to the wall clock of a syslog daemon. Nothing says how
/// late it was, if it wrote all at once.
pub(crate) fn printk_to_wall(rows: &[Row]) -> Option<Offset> {
    let both = rows.iter().filter_map(|r| {
        let late = r.real_ns?.checked_sub(r.logged_ns?)?;
        Some((late, r.at?))
    });
    let mut offset = nearest(both, i64::MAX)?;
    let with = || rows.iter().filter(|r| r.logged_ns.is_some());
    let first = with().find_map(|r| r.real_ns)?;
    let live = with().any(|r| {
        let at = r.real_ns.unwrap_or(first);
        let near = at
            .saturating_sub(r.logged_ns.unwrap_or(0))
            .saturating_sub(offset.ns);
        at.saturating_sub(first) > 1_000_000_000 && near < 100_000_000
    });
    let resolution = with().map(|r| r.err_ns).max().unwrap_or(0);
    offset.err_ns = match live {
        true => offset.err_ns.saturating_add(resolution),
        false => u32::MAX,
    };
    Some(offset)
}

fn nearest(differences: impl Iterator<Item = (i64, Evidence)>, limit: i64) -> Option<Offset> {
    let mut nearest: Vec<(i64, Evidence)> = Vec::new();
    for (ns, at) in differences {
        let place = nearest.partition_point(|(n, _)| *n <= ns);
        if place < NEAREST {
            nearest.truncate(NEAREST - 1);
            nearest.insert(place, (ns, at));
        }
    }
    let &(ns, at) = nearest.first().filter(|(ns, _)| *ns < limit)?;
    let last = nearest.last().map_or(ns, |(ns, _)| *ns);
    // A lone difference says nothing of how good it is.
    let few = if nearest.len() < NEAREST {
        i64::from(UNKNOWN_NS)
    } else {
        0
    };
    let err_ns = last
        .saturating_sub(ns)
        .saturating_add(few)
        .saturating_add(1_000);
    Some(Offset {
        ns,
        err_ns: u32::try_from(err_ns).unwrap_or(u32::MAX),
        how: How::SharedEvent,
        at: Some(at),
    })
}

impl Offset {
    /// Says so of two clocks.
    pub(crate) fn join(&self, from: ClockId, to: ClockId, import: &mut Import<'_>) {
        let edge = ClockEdge::offset(from, to, self.ns, self.err_ns, self.how);
        let why = match self.how {
            How::Assumed => "the kernel's log clock and the monotonic clock begin within ms",
            _ => "the message that was received soonest after the kernel logged it",
        };
        import.timeline.edges.push(edge.because(why, self.at));
    }
}

/// A jump of the wall clock: what slewing cannot do between two messages.
const STEP_NS: u64 = 10_000_000;

/// Joins the monotonic and the wall clock by the offset that most messages
/// have.
pub(crate) fn join_wall(rows: &[Row], mono: ClockId, real: ClockId, import: &mut Import<'_>) {
    struct Stretch {
        from: i64,
        last: i64,
        rows: usize,
        at: Evidence,
    }
    let mut stretches: Vec<Stretch> = Vec::new();
    for row in rows {
        let (Some(m), Some(r), Some(at)) = (row.mono_ns, row.real_ns, row.at) else {
            continue;
        };
        let offset = r.saturating_sub(m);
        if let Some(s) = stretches.last_mut()
            && s.last.abs_diff(offset) <= STEP_NS
        {
            s.rows += 1;
            s.last = offset;
        } else if stretches.len() < 256 {
            stretches.push(Stretch {
                from: offset,
                last: offset,
                rows: 1,
                at,
            });
        }
    }
    let Some(longest) = stretches.iter().max_by_key(|s| s.rows) else {
        return;
    };
    let drift = longest.last.abs_diff(longest.from).saturating_add(1_000);
    let err_ns = u32::try_from(drift).unwrap_or(u32::MAX);
    let edge = ClockEdge::offset(mono, real, longest.from, err_ns, How::Measured);
    let why = "journald reads both clocks for each message";
    import
        .timeline
        .edges
        .push(edge.because(why, Some(longest.at)));
    for stepped in stretches.iter().skip(1) {
        import.notice(
            "wall-clock-stepped",
            Severity::Info,
            stepped.at,
            "the wall clock was set here: times of other files that go by it are right only for the part of the boot in which most messages are",
        );
    }
}
