//! `inspect --json`: a list with an entry per file.

use bootlap_model::{Axis, ClockId, Evidence, FileId, Notice, Timeline};
use schemars::JsonSchema;
use serde::Serialize;

use crate::boot::{self, json::ClockJson};
use crate::inspect::{Inspected, Verdict};
use crate::json::id;

/// One file, or several that are parts of one recording.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InspectedJson {
    /// What was given; for a member of an archive the archive's path, `/`, and
    /// the member's.
    pub path: String,
    /// The format's short name; null if it is none that is known.
    pub source: Option<String>,
    /// What the format is, in a few words.
    pub title: Option<String>,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
    /// Why nothing was read: `unknown`, `empty`, or what went wrong.
    pub problem: Option<String>,
    /// The formats nearest to it, if it is unknown.
    pub nearest: Vec<NearestJson>,
    /// The files that were read together.
    pub parts: Vec<String>,
    /// How many lines (or records) were used.
    pub lines: LinesJson,
    /// How many things that lasted were found.
    pub spans: usize,
    /// How many moments were found.
    pub marks: usize,
    /// How many quantities over time were found.
    pub counters: usize,
    /// Its clocks, and how each lies to the reference clock.
    pub clocks: Vec<InspectedClockJson>,
    /// What could not be used or was assumed.
    pub notices: Vec<InspectedNoticeJson>,
}

/// A format that is near.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NearestJson {
    /// The format's short name.
    pub source: String,
    /// How sure its source was, from 0 to 1.
    pub confidence: f64,
    /// What was looked for.
    pub looks_like: String,
}

/// Lines of a file: used + skipped = total.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct LinesJson {
    /// Lines in the file (records, if it is not text).
    pub total: u64,
    /// Lines that were understood.
    pub used: u64,
    /// Lines that were not; a notice says why.
    pub skipped: u64,
}

/// A clock of a file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InspectedClockJson {
    /// The clock.
    #[serde(flatten)]
    pub clock: ClockJson,
    /// Why it is where it is, a sentence each.
    pub why: Vec<String>,
}

/// A notice about a file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InspectedNoticeJson {
    /// Stable kebab-case name.
    pub code: String,
    /// `info`, `notice`, `data-loss` or `error`.
    pub severity: String,
    /// How often it was met.
    pub count: u64,
    /// The first places.
    pub first: Vec<PlaceJson>,
    /// What happened and what to do next.
    pub remedy: String,
}

/// A place in a file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlaceJson {
    /// The file's name.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Offset of the first byte.
    pub start: u64,
    /// Offset after the last byte.
    pub end: u64,
}

/// The list that `inspect --json` prints.
///
/// # Errors
/// None for any evidence.
pub fn json(all: &[Inspected], timeline: &Timeline) -> Result<String, serde_json::Error> {
    let axis = Axis::of(timeline);
    let list: Vec<_> = all.iter().map(|i| entry(i, timeline, &axis)).collect();
    crate::json::line(&list)
}

fn entry(inspected: &Inspected, timeline: &Timeline, axis: &Axis) -> InspectedJson {
    let is_its = |file: FileId| inspected.files.contains(&file);
    let (mut source, mut title, mut percent, mut problem) = (None, None, 0, None);
    let mut nearest = Vec::new();
    match &inspected.verdict {
        Verdict::Known {
            source: name,
            title: words,
            percent: sure,
        } => {
            (source, title) = (Some((*name).to_owned()), Some((*words).to_owned()));
            percent = *sure;
        }
        Verdict::Timeless { what, remedy } => {
            problem = Some(format!("{what}, without times: {remedy}"));
        }
        Verdict::Unknown { nearest: list, .. } => {
            problem = Some("unknown".to_owned());
            nearest = list.iter().map(near).collect();
        }
        Verdict::Unreadable { why } => problem = Some(why.clone()),
        Verdict::Empty => problem = Some("empty".to_owned()),
    }
    let clocks = timeline.clock_ids();
    let clocks = clocks.filter(|c| is_its(timeline.clock(*c).file));
    let notices = timeline.notices.iter();
    let notices = notices.filter(|n| n.file.is_some_and(is_its));
    InspectedJson {
        path: inspected.path.clone(),
        source,
        title,
        confidence: f64::from(percent) / 100.0,
        problem,
        nearest,
        parts: inspected.parts.clone(),
        lines: lines(inspected, timeline),
        spans: count(timeline.spans.iter().map(|s| s.evidence), is_its),
        marks: count(timeline.marks.iter().map(|m| m.evidence), is_its),
        counters: count(timeline.counters.iter().map(|c| c.evidence), is_its),
        clocks: clocks.map(|c| clock(c, timeline, axis)).collect(),
        notices: notices.map(|n| notice(n, timeline)).collect(),
    }
}

fn near((source, percent, looks_like): &(&str, u8, &str)) -> NearestJson {
    NearestJson {
        source: (*source).to_owned(),
        confidence: f64::from(*percent) / 100.0,
        looks_like: (*looks_like).to_owned(),
    }
}

fn lines(inspected: &Inspected, timeline: &Timeline) -> LinesJson {
    let mut lines = LinesJson::default();
    for file in &inspected.files {
        let usage = timeline.file(*file).usage;
        lines.total += usage.total;
        lines.used += usage.used;
        lines.skipped += usage.skipped;
    }
    lines
}

fn count(places: impl Iterator<Item = Evidence>, is_its: impl Fn(FileId) -> bool) -> usize {
    places.filter(|at| is_its(at.file)).count()
}

fn clock(clock: ClockId, timeline: &Timeline, axis: &Axis) -> InspectedClockJson {
    let edges = timeline.edges.iter();
    let edges = edges.filter(|e| (e.from == clock || e.to == clock) && !e.why.is_empty());
    InspectedClockJson {
        clock: boot::json::clock(axis, clock, timeline.clock(clock)),
        why: edges.map(|e| e.why.clone()).collect(),
    }
}

fn notice(notice: &Notice, timeline: &Timeline) -> InspectedNoticeJson {
    let place = |at: &Evidence| PlaceJson {
        file: timeline.file(at.file).name.clone(),
        line: at.line,
        start: at.start,
        end: at.end,
    };
    InspectedNoticeJson {
        code: notice.code.clone(),
        severity: id(&notice.severity),
        count: notice.count,
        first: notice.first.iter().map(place).collect(),
        remedy: notice.remedy.clone(),
    }
}
