//! The shape of the document. A doc comment here is the field's description
//! in the schema.

use bootlap_analysis::{Comparison, Disks, Gap};
use schemars::JsonSchema;
use serde::Serialize;

use crate::About;
use crate::evidence::EvidenceJson;
use crate::findings::FindingJson;
use crate::trials::TrialJson;
use crate::tuning::Waterfall;

/// One boot: what it took, where the time went, and what to do about it.
///
/// All times are integer nanoseconds. Those named `…_ns` without more words
/// are moments on the boot's reference clock, zero at power-on where that was
/// seen; a moment may be negative.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReportJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// What was booted, and how.
    #[serde(flatten)]
    pub boot: BootJson,
    /// Largest costs, disjoint, the largest first.
    pub costs: Vec<CostJson>,
    /// Silences of the console, the longest first.
    pub gaps: Vec<Gap>,
    /// What the disks were asked for, where a lab has seen it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disks: Option<Disks>,
    /// Advice, best first.
    pub findings: Vec<FindingJson>,
    /// What was tried, and what came of it.
    pub trials: Vec<TrialJson>,
    /// Whether each trial was made on top of those before it that were faster:
    /// together they lead from `before` to this boot.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub steps: bool,
    /// Those steps from the start to the end, and beside them the same on other axes of
    /// time, or what searches on other boards kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waterfalls: Vec<Waterfall>,
    /// What sources could not use or had to assume.
    pub notices: Vec<NoticeJson>,
    /// What lasted, in the order in which it was read.
    pub spans: Vec<SpanJson>,
    /// What happened at one moment.
    pub marks: Vec<MarkJson>,
    /// Quantities over time: CPU use, disk throughput, memory.
    pub counters: Vec<CounterJson>,
    /// What led to what.
    pub links: Vec<LinkJson>,
    /// The clocks met, and how each got onto the reference clock.
    pub clocks: Vec<ClockJson>,
    /// The evidence that was read, and how much of it was used.
    pub files: Vec<FileJson>,
    /// The boot that this one is compared with.
    pub before: Option<BootJson>,
    /// This boot against `before`, place by place.
    pub comparison: Option<Comparison>,
}

/// What was booted, how, and its splits.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BootJson {
    /// What was booted.
    #[serde(flatten)]
    pub about: About,
    /// Whether somebody said what ready looks like, so that a boot without it failed.
    pub awaited: bool,
    /// The part of the recording that is the boot; null if nothing was seen.
    pub extent: Option<ExtentJson>,
    /// Top-level splits, in order.
    pub phases: Vec<PhaseJson>,
    /// What it is predicted to take on the board that its target describes;
    /// null if that describes none, or time is not simulated.
    pub predicted: Option<super::PredictedJson>,
}

/// From where to where the boot was seen.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExtentJson {
    /// Power-on if it was seen, else the first event.
    pub start_ns: i64,
    /// Ready if it was seen. Else, where nobody said what ready looks like, an end that the
    /// evidence knows (`startup finished`, `login prompt`). Else the last event.
    pub end_ns: i64,
    /// Whether the end is ready.
    pub ready: bool,
    /// What the end is; null for the last event.
    pub end: Option<String>,
    /// The last event, which can be later than the end.
    pub last_ns: i64,
}

/// A top-level split.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PhaseJson {
    /// `firmware`, `bootloader`, `kernel`, `initramfs`, `userspace` or
    /// `application`.
    pub name: String,
    /// The words that people see.
    pub title: String,
    /// When it began.
    pub start_ns: i64,
    /// When it ended.
    pub end_ns: i64,
    /// Instructions executed in it.
    pub instructions: Option<u64>,
    /// Known parts of it, in order; they need not cover it.
    pub parts: Vec<PartJson>,
}

/// A known part of a phase.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PartJson {
    /// What it is.
    pub name: String,
    /// When it began.
    pub start_ns: i64,
    /// When it ended.
    pub end_ns: i64,
    /// Instructions executed in it.
    pub instructions: Option<u64>,
}

/// Something that takes long and that a person would name.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CostJson {
    /// What it is.
    pub name: String,
    /// The phase it lies in.
    pub phase: Option<String>,
    /// Whether it is known when it was; where not, `start_ns` and `end_ns` only tell how long.
    pub placed: bool,
    /// When it began.
    pub start_ns: i64,
    /// When it ended.
    pub end_ns: i64,
    /// How long it took; costs within it are not counted twice, so this can
    /// be less than the distance of its ends.
    pub duration_ns: i64,
    /// One sentence: what the machine did.
    pub why: String,
    /// How much of it the machine waited, 0 to 1.
    pub idle_share: Option<f64>,
    /// Index of the finding that removes it.
    pub finding: Option<usize>,
}

/// One kind of trouble with the evidence.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NoticeJson {
    /// Stable name.
    pub code: String,
    /// `info`, `notice`, `data-loss` or `error`.
    pub severity: String,
    /// How often it was met.
    pub count: u64,
    /// What happened and what to do next.
    pub remedy: String,
    /// The first places.
    pub first: Vec<EvidenceJson>,
}

/// Something that lasted.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SpanJson {
    /// The kind of lane: `bootloader`, `kernel`, `initcall`, `userspace`,
    /// `console`; more may come.
    pub track: String,
    /// What it was; for the console the text itself.
    pub name: String,
    /// When it began; null if nothing relates its clock to the reference.
    pub start_ns: Option<i64>,
    /// When it ended; null if unknown.
    pub end_ns: Option<i64>,
    /// The moments are true within ± this.
    pub err_ns: u32,
    /// Instructions executed in it.
    pub instructions: Option<u64>,
    /// The index of the clock that stamped it.
    pub clock: usize,
    /// More facts, as `[key, value]`.
    pub args: Vec<[String; 2]>,
    /// Where it was read.
    pub evidence: EvidenceJson,
}

/// Something that happened at one moment.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MarkJson {
    /// The milestone that it is, e.g. `ready`; null for a user's own mark.
    pub milestone: Option<String>,
    /// What to call it.
    pub name: String,
    /// When; null if nothing relates its clock to the reference.
    pub at_ns: Option<i64>,
    /// Where it was read.
    pub evidence: EvidenceJson,
}

/// A quantity over time.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CounterJson {
    /// What is counted, e.g. `cpu user`.
    pub name: String,
    /// In what: `%`, `kB/s`, `processes`.
    pub unit: String,
    /// The index of the clock that stamped it.
    pub clock: usize,
    /// `[at_ns, value]`, in order of time; a value holds up to the next one.
    /// `at_ns` is null if nothing relates its clock to the reference.
    pub samples: Vec<(Option<i64>, f64)>,
}

/// A relation of two spans.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LinkJson {
    /// The cause: its index in `spans`.
    pub from: usize,
    /// The consequence: its index in `spans`.
    pub to: usize,
    /// `waits-on` (`to` could not go on before `from` ended), `spawns` (`from`
    /// started `to`) or `after` (`to` is ordered after `from`, but does not
    /// need it); more may come.
    pub kind: String,
}

/// A clock.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ClockJson {
    /// `qemu-virtual`, `host-monotonic` or `kernel-printk`; more may come.
    pub kind: String,
    /// What its time is made of: `measured`, `simulated` or `modelled`.
    pub time: String,
    /// Whether that is simulated time.
    pub simulated: bool,
    /// How its times got onto the reference clock: `reference` (it is the
    /// reference), `measured`, `shared-event`, `declared`, `assumed`, or
    /// `unrelated`.
    pub how: String,
    /// What was added to its times to bring them onto the reference clock.
    pub offset_ns: Option<i64>,
    /// The bound of that conversion's error.
    pub err_ns: Option<u32>,
}

/// An evidence file. Lines used and skipped add up to the total.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FileJson {
    /// Its name.
    pub name: String,
    /// The source that read it.
    pub source: String,
    /// Lines in it.
    pub total: u64,
    /// Lines that gave an event or were understood to need none.
    pub used: u64,
    /// Lines that could not be used.
    pub skipped: u64,
}
