//! How fast a console is, from how fast its bytes came.

use bootlap_model::{BAUD_RATES, BITS_PER_BYTE, ClockKind};
use serde::Serialize;

use super::stretch::lines;
use crate::view::View;

/// So many bytes in a row show the line's speed: fewer may have waited in a
/// buffer, and came at once.
const BURST_BYTES: u64 = 400;

/// How far from a rate the bytes may come: UARTs divide clocks that do not
/// divide evenly, and the host stamps when it wakes up.
const NEAR: f64 = 0.06;

/// The speed of a console.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Baud {
    /// Bits per second.
    pub bits_per_s: u32,
    /// How that is known.
    pub from: BaudFrom,
}

/// How a console's speed is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BaudFrom {
    /// Its bytes came so fast and no faster.
    Seen,
    /// The user or the target says so.
    Told,
    /// Nothing tells: what most run at.
    Assumed,
}

/// What is known of a console's speed before its log is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// The user says so, whatever the log looks like.
    Stated(u32),
    /// The target says so; the log may show that the board is not set so.
    Told(u32),
    /// Nothing.
    Unknown,
}

pub(super) fn of(board: &View, known: Rate) -> Baud {
    let (bits_per_s, from) = match (known, seen(board)) {
        (Rate::Stated(rate), _) => (rate, BaudFrom::Told),
        (_, Some(rate)) => (rate, BaudFrom::Seen),
        (Rate::Told(rate), None) => (rate, BaudFrom::Told),
        (Rate::Unknown, None) => (115_200, BaudFrom::Assumed),
    };
    Baud { bits_per_s, from }
}

/// The rate that the fastest long burst came at, if there is one like it.
fn seen(board: &View) -> Option<u32> {
    let clocks = &board.timeline.clocks;
    let on_the_wire = clocks.iter().any(|c| {
        matches!(
            c.kind,
            ClockKind::HostMonotonic
                | ClockKind::HostElapsed
                | ClockKind::HostRealtime
                | ClockKind::Analyser
        )
    });
    if !on_the_wire {
        return None;
    }
    let lines = lines(board, false);
    let mut fastest = f64::INFINITY;
    let mut to = 0;
    for (i, from) in lines.iter().enumerate() {
        to = to.max(i);
        while to < lines.len() && lines[to].bytes_before - from.bytes_before < BURST_BYTES {
            to += 1;
        }
        let Some(end) = lines.get(to) else { break };
        let ns = end.at.ns.saturating_sub(from.at.ns) as f64;
        fastest = fastest.min(ns / (end.bytes_before - from.bytes_before) as f64);
    }
    let rate = f64::from(BITS_PER_BYTE) * 1e9 / fastest;
    let near = |r: &&u32| (rate / f64::from(**r) - 1.0).abs() < NEAR;
    BAUD_RATES.iter().find(near).copied()
}
