//! The events of a timeline.

use serde::{Deserialize, Serialize};

use crate::{ClockId, Evidence, Milestone, Stamp, Sym};

/// The handle of a track within its timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TrackId(pub(crate) u32);

/// The handle of a span within its timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SpanId(pub(crate) u32);

/// What a lane of the timeline shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrackKind {
    /// What the boot loader did (autoboot wait, hash check, decompression).
    Bootloader,
    /// Stages of the kernel's start that its log tells of.
    Kernel,
    /// Kernel initcalls; one may nest in another.
    Initcall,
    /// Start-up scripts and services of user space.
    Userspace,
    /// The console: one span per burst of text.
    Console,
}

/// A lane of events that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Track {
    /// What it shows.
    pub kind: TrackKind,
    /// Its label.
    pub name: Sym,
}

/// When a span ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpanEnd {
    /// At this moment.
    At(Stamp),
    /// It was still running when the recording stopped.
    OpenAtCut,
    /// Nobody knows; never invented.
    Unknown,
}

/// Something that lasted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// The lane.
    pub track: TrackId,
    /// The clock of `start` and `end`.
    pub clock: ClockId,
    /// When it began.
    pub start: Stamp,
    /// When it ended.
    pub end: SpanEnd,
    /// What it was; for the console the text itself.
    pub name: Sym,
    /// More facts, as `(key, value)`; values are text as the evidence had it.
    pub args: Vec<(Sym, Sym)>,
    /// Where it was read.
    pub evidence: Evidence,
}

/// What a mark stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkKind {
    /// A moment that every boot passes.
    Milestone(Milestone),
    /// A moment that the user named.
    Named,
}

/// Something that happened at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// The clock of `at`.
    pub clock: ClockId,
    /// When.
    pub at: Stamp,
    /// What it stands for.
    pub kind: MarkKind,
    /// What to call it.
    pub name: Sym,
    /// Where it was read.
    pub evidence: Evidence,
}

/// Why one span led to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkKind {
    /// `to` could not go on before `from` ended.
    WaitsOn,
    /// `from` started `to`.
    Spawns,
}

/// A relation of two spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The cause.
    pub from: SpanId,
    /// The consequence.
    pub to: SpanId,
    /// Why.
    pub kind: LinkKind,
}
