//! Clocks, and what is known of how they relate.

use serde::{Deserialize, Serialize};

use crate::{Evidence, FileId};

/// The handle of a clock within its timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClockId(pub(crate) u16);

impl ClockId {
    /// Its place in [`crate::Timeline::clocks`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// What a clock counts, and from when. Times are ns everywhere.
///
/// The order is that of preference for the axis that everything is shown on:
/// the clock that sees most of a boot, and best, comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClockKind {
    /// QEMU's virtual clock: ns of guest time since power-on. With instruction
    /// counting it is simulated time, without it follows the host.
    QemuVirtual,
    /// The host's `CLOCK_MONOTONIC`, zero at power-on of the machine.
    HostMonotonic,
    /// A logic analyser or oscilloscope: since its recording began.
    Analyser,
    /// The clock of a host that stamped console lines, from wherever it
    /// counted: the first character, the program's start, a pattern (grabserial).
    HostElapsed,
    /// The wall clock of a host that stamped console lines; zero is
    /// 1970-01-01, or midnight where the evidence has no date.
    HostRealtime,
    /// The stamps in the kernel log: ns since the kernel's clock started.
    KernelPrintk,
    /// The target's `CLOCK_MONOTONIC`: since the kernel's timekeeping started.
    Monotonic,
    /// The target's `CLOCK_BOOTTIME`: as [`Self::Monotonic`], and counts
    /// through suspend; `/proc/uptime`.
    Boottime,
    /// The kernel's tracing clock (ftrace, perf, KFI): near the log's.
    Trace,
    /// What firmware counts with since reset (TSC, FPDT, coreboot).
    Firmware,
    /// The boot loader's timer, since reset or since it was set up.
    Bootloader,
    /// The target's wall clock; zero is 1970-01-01, or midnight where the
    /// evidence has no date. Steps when the clock is set.
    Realtime,
    /// Since the first event of the recording, whenever that was: `strace -r`.
    Relative,
    /// A person's stopwatch.
    Stopwatch,
}

impl ClockKind {
    /// The words that people see.
    pub fn text(self) -> &'static str {
        match self {
            ClockKind::QemuVirtual => "QEMU virtual clock",
            ClockKind::HostMonotonic => "host monotonic clock",
            ClockKind::Analyser => "logic analyser",
            ClockKind::HostElapsed => "host elapsed time",
            ClockKind::HostRealtime => "host wall clock",
            ClockKind::KernelPrintk => "kernel log clock",
            ClockKind::Monotonic => "monotonic clock",
            ClockKind::Boottime => "boot-time clock (uptime)",
            ClockKind::Trace => "kernel trace clock",
            ClockKind::Firmware => "firmware clock",
            ClockKind::Bootloader => "boot loader timer",
            ClockKind::Realtime => "wall clock",
            ClockKind::Relative => "since the recording's first event",
            ClockKind::Stopwatch => "stopwatch",
        }
    }
}

/// What a clock's time is made of. They are never mixed without saying so.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum TimeKind {
    /// Real time, of a real or an emulated machine.
    #[default]
    Measured,
    /// Counted instructions, each of which takes the same time.
    Simulated,
    /// A board's time as a model has it: counted instructions at its speed, and what
    /// its serial line takes.
    Modelled,
}

impl TimeKind {
    /// The word that people see before “time”.
    pub fn word(self) -> &'static str {
        match self {
            TimeKind::Measured => "measured",
            TimeKind::Simulated => "simulated",
            TimeKind::Modelled => "modelled",
        }
    }

    /// The kind with this word.
    pub fn named(word: &str) -> Option<Self> {
        let all = [TimeKind::Measured, TimeKind::Simulated, TimeKind::Modelled];
        all.into_iter().find(|kind| kind.word() == word)
    }

    /// Whether equal boots take equal time, to the nanosecond.
    pub fn repeats(self) -> bool {
        self != TimeKind::Measured
    }
}

/// One clock of a timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// What it counts.
    pub kind: ClockKind,
    /// What its time is made of.
    pub time: TimeKind,
    /// The evidence whose times are on it: every file has clocks of its own,
    /// until something shows how they relate.
    pub file: FileId,
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

/// `to = from + offset_ns + drift_ppm/10⁶ · (from − pivot_ns)`, within `err_ns`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockEdge {
    /// The clock that is converted.
    pub from: ClockId,
    /// The clock that it is converted to.
    pub to: ClockId,
    /// What to add to a time of `from`.
    pub offset_ns: i64,
    /// How much faster `to` runs, in parts per million; 0 where nothing tells.
    pub drift_ppm: f32,
    /// The time of `from` at which `offset_ns` holds.
    pub pivot_ns: i64,
    /// The bound of the offset's error.
    pub err_ns: u32,
    /// How it is known.
    pub how: How,
    /// What it rests on, for people: `Run /init`, `27 equal kernel lines`.
    pub why: String,
    /// Where it was seen.
    pub evidence: Option<Evidence>,
}

impl ClockEdge {
    /// An edge between clocks that run equally fast.
    pub fn offset(from: ClockId, to: ClockId, offset_ns: i64, err_ns: u32, how: How) -> Self {
        Self {
            from,
            to,
            offset_ns,
            drift_ppm: 0.0,
            pivot_ns: 0,
            err_ns,
            how,
            why: String::new(),
            evidence: None,
        }
    }

    /// Says what it rests on.
    pub fn because(mut self, why: impl Into<String>, at: Option<Evidence>) -> Self {
        self.why = why.into();
        self.evidence = at;
        self
    }
}
