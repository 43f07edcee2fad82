//! The events of a timeline.

use serde::{Deserialize, Serialize};

use crate::{ClockId, Evidence, Milestone, Stamp, Sym};

/// The handle of a track within its timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TrackId(pub(crate) u32);

impl TrackId {
    /// Its place in [`crate::Timeline::tracks`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The handle of a span within its timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SpanId(pub(crate) u32);

impl SpanId {
    /// Its place in [`crate::Timeline::spans`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a lane of the timeline shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrackKind {
    /// Stages of the firmware that runs before the boot loader (BIOS, UEFI,
    /// coreboot, TF-A).
    Firmware,
    /// What the boot loader did (autoboot wait, hash check, decompression).
    Bootloader,
    /// Stages of the kernel's start that its log tells of.
    Kernel,
    /// Kernel initcalls; one may nest in another.
    Initcall,
    /// Calls of kernel or program functions, by thread or CPU; they nest.
    Function,
    /// Start-up scripts and services of user space, and stages of its start.
    Userspace,
    /// systemd units: from activating to active.
    Unit,
    /// Processes: from fork or exec to exit.
    Process,
    /// System calls of one process.
    Syscall,
    /// Lines of a pin: high or low, and what a person timed.
    Signal,
    /// The console: one span per burst of text.
    Console,
}

impl TrackKind {
    /// The words that people see.
    pub fn text(self) -> &'static str {
        match self {
            TrackKind::Firmware => "firmware",
            TrackKind::Bootloader => "boot loader",
            TrackKind::Kernel => "kernel",
            TrackKind::Initcall => "initcall",
            TrackKind::Function => "function",
            TrackKind::Userspace => "user space",
            TrackKind::Unit => "unit",
            TrackKind::Process => "process",
            TrackKind::Syscall => "system call",
            TrackKind::Signal => "signal",
            TrackKind::Console => "console",
        }
    }
}

/// A lane of events that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

impl SpanEnd {
    /// When it ended, if that is known.
    pub fn known(self) -> Option<Stamp> {
        match self {
            SpanEnd::At(end) => Some(end),
            SpanEnd::OpenAtCut | SpanEnd::Unknown => None,
        }
    }
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

impl Span {
    /// The name of the kernel stage in which a serial console, when it is enabled, prints
    /// what was logged before.
    pub const LOG_FLUSH: &str = "print the log so far";

    /// The name of the kernel stage in which the initramfs is unpacked.
    pub const UNPACK_INITRAMFS: &str = "unpack initramfs";

    /// The name of the kernel stage in which it asks a server for its address.
    pub const ADDRESS_WAIT: &str = "wait for an address";

    /// The name of the mark of a shell's first prompt, where nobody has to log in.
    pub const SHELL_PROMPT: &str = "shell prompt";

    /// How systemd says that it runs in an initramfs; the longer text before version 251.
    pub const IN_INITRAMFS: [&str; 2] = ["Running in initrd", "Running in initial RAM disk"];

    /// How a span begins that is a start job of systemd's, for which it said that it waits.
    pub const START_JOB: &str = "start job of ";

    /// A mark of this name: the kernel gave up.
    pub const KERNEL_PANIC: &str = "kernel panic";

    /// The name of the firmware's stage in which a machine without one reads the kernel and
    /// the initramfs from its storage.
    pub const LOAD_IMAGES: &str = "read kernel and initramfs";

    /// The argument of a console's text that says how many lines follow it of which nobody
    /// knows when they came.
    pub const UNTIMED: &str = "lines without a time";

    /// The argument of a service that runs beside all else until it ends: its length says
    /// how long it lived, not what the boot waited for.
    pub const LIFETIME: &str = "runs in the background";
}

/// A quantity over time: CPU use, disk throughput, memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// The clock of the samples.
    pub clock: ClockId,
    /// What is counted: `cpu user`, `disk read`.
    pub name: Sym,
    /// In what: `%`, `kB` as `/proc/meminfo` counts them, `kB/s` of 1000 bytes,
    /// `runnable tasks`.
    pub unit: Sym,
    /// `(ns, value)`, in order of time; a value holds up to the next sample.
    pub samples: Vec<(i64, f64)>,
    /// Where the first sample was read.
    pub evidence: Evidence,
}

/// A moment that other evidence can know too: the handle by which clocks of
/// different files are joined.
///
/// Two anchors with one key on two clocks are one event. A key is the hash of
/// what identifies the event ([`Anchor::key`]): the text of a kernel line, a
/// process's first exec, a named moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    /// The clock of `at`.
    pub clock: ClockId,
    /// When.
    pub at: Stamp,
    /// What it is.
    pub key: u64,
    /// Where it was read.
    pub evidence: Evidence,
}

impl Anchor {
    /// The key of a kernel log line: its text after the time, without level,
    /// caller and trailing white space.
    pub fn kernel_line(body: &[u8]) -> u64 {
        Self::key("kernel line", body.trim_ascii())
    }

    /// The key of a line that a program writes: to a terminal that somebody
    /// records, in a call that somebody traces. Its first 32 bytes, because
    /// tracers cut strings there; `None` for a line that is too short to be
    /// told from others.
    pub fn line(text: &[u8]) -> Option<u64> {
        let line = text.split(|b| matches!(b, b'\n' | b'\r')).next()?;
        let line = line[..line.len().min(32)].trim_ascii();
        (line.len() >= 4).then(|| Self::key("line", line))
    }

    /// The key of a process that executes `program` (the path as `execve` got
    /// it, or a bare name) for the first time.
    pub fn exec(program: &[u8]) -> u64 {
        let name = program.rsplit(|b| *b == b'/').next().unwrap_or(program);
        Self::key("exec", name)
    }

    /// The key of anything else: what kind of event it is, and what tells it
    /// from others of its kind.
    pub fn key(kind: &str, which: &[u8]) -> u64 {
        use std::hash::{BuildHasher, Hasher};
        let mut hasher = foldhash::fast::FixedState::with_seed(1).build_hasher();
        hasher.write(kind.as_bytes());
        hasher.write(which);
        hasher.finish()
    }
}

/// What a mark stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkKind {
    /// A moment that every boot passes.
    Milestone(Milestone),
    /// A moment that the user or the evidence named.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkKind {
    /// `to` could not go on before `from` ended.
    WaitsOn,
    /// `from` started `to`.
    Spawns,
    /// `to` is ordered after `from`, but does not need it.
    After,
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
