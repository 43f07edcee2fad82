//! Clocks, and what is known of how they relate.

use serde::{Deserialize, Serialize};

use crate::Evidence;

/// The handle of a clock within its timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClockId(pub(crate) u16);

/// What a clock counts, and from when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClockKind {
    /// QEMU's virtual clock: ns of guest time since power-on. With instruction
    /// counting it is simulated time, without it follows the host.
    QemuVirtual,
    /// The host's `CLOCK_MONOTONIC`, zero at power-on of the machine.
    HostMonotonic,
    /// The stamps in the kernel log: ns since the kernel's clock started.
    KernelPrintk,
}

/// One clock of a timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// What it counts.
    pub kind: ClockKind,
    /// Simulated time (instruction-counted) is never mixed with measured time
    /// without saying so.
    pub simulated: bool,
}

/// How the relation of two clocks is known, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Both clocks were read at one moment.
    Measured,
    /// One event carries a stamp of each.
    SharedEvent,
    /// The user said so.
    Declared,
    /// Nothing says so; every report shows it.
    Assumed,
}

/// `to = from + offset_ns`, within `err_ns`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockEdge {
    /// The clock that is converted.
    pub from: ClockId,
    /// The clock that it is converted to.
    pub to: ClockId,
    /// What to add to a time of `from`.
    pub offset_ns: i64,
    /// The bound of the offset's error.
    pub err_ns: u32,
    /// How it is known.
    pub how: How,
    /// Where it was seen.
    pub evidence: Option<Evidence>,
}
