//! What a machine's disks were asked for, as the lab sees it from outside.

use serde::{Deserialize, Serialize};

use crate::{ClockId, Evidence, Stamp};

/// One request that was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The clock of `done`.
    pub clock: ClockId,
    /// When it was done.
    pub done: Stamp,
    /// How long that took since it was asked for, ns: 0 in simulated time, in which disks
    /// take none.
    pub took_ns: u64,
    /// How long the CPU has waited for disks since power-on, ns: it had nothing else to do,
    /// or it polled.
    pub waited_ns: u64,
    /// What was asked for.
    pub kind: RequestKind,
    /// Which disk: the lab's are counted from 0.
    pub disk: u8,
    /// Of the first byte.
    pub offset: u64,
    /// How many.
    pub bytes: u32,
    /// Where this was read.
    pub evidence: Evidence,
}

/// What a disk was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestKind {
    /// To read.
    Read,
    /// To write.
    Write,
    /// To have all on the medium that was written.
    Flush,
    /// What the machine itself loads before the first instruction: the kernel, the
    /// initramfs. The CPU's waiting does not count it.
    Load,
}
