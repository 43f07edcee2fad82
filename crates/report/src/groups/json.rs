//! A comparison of groups of boots as a document: `bootlap compare --json`.

use bootlap_analysis::Effect;
use bootlap_analysis::groups::{End, Margin, Mode, Row, Shape, Side, SpanRow, Start};
use bootlap_analysis::stats::Sessions;
use bootlap_analysis::{Delta, Moved};
use schemars::JsonSchema;
use serde::Serialize;

use crate::groups::{Compared, GroupsReport, SideAbout, Weight, bounds, notes, sentence};
use crate::json::id;

/// Two groups of boots: `bootlap compare --json`.
///
/// All times are integer nanoseconds. Changes are *after* minus *before*:
/// negative is faster.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CompareJson {
    /// Version of this format; fields are only added within one version.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// The margin of `equivalent`, as a part of what is compared; absent where
    /// a time was given.
    pub margin_share: Option<f64>,
    /// The margin as a time; absent where a share was given.
    pub margin_ns: Option<i64>,
    /// The comparison; of an experiment the baseline against the first
    /// variant.
    #[serde(flatten)]
    pub comparison: GroupsJson,
    /// Of an experiment the baseline against each further variant; else none.
    pub others: Vec<GroupsJson>,
}

/// One comparison.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GroupsJson {
    /// What it comes to, in one sentence.
    pub headline: String,
    /// The first group.
    pub before: SideJson,
    /// The second group.
    pub after: SideJson,
    /// What times count from: `milestone`, `line` or `first` (each boot's first
    /// event).
    pub start: String,
    /// Which milestone or line.
    pub start_name: Option<String>,
    /// What boots are followed to: `milestone`, `unit`, `line`, `last` (the
    /// last event of each boot; then nothing is compared up to it), or
    /// `durations` (nothing says when, only how long things took).
    pub end: String,
    /// Which milestone, unit or line.
    pub end_name: Option<String>,
    /// Both in words.
    pub bounds: String,
    /// From start to end; absent if the boots have no such moments in common.
    pub total: Option<RowJson>,
    /// By phase, in the order of a boot. Total, phases and spans share one error
    /// of 5 %: `p` is corrected for that.
    pub phases: Vec<RowJson>,
    /// Spans that both sides have, the largest change first; `p` is corrected
    /// for their number.
    pub spans: Vec<SpanRowJson>,
    /// Matched spans that are too short to be tested.
    pub short_spans: usize,
    /// Spans that only boots after have.
    pub appeared: Vec<SpanRowJson>,
    /// Spans that only boots before have.
    pub disappeared: Vec<SpanRowJson>,
    /// Disjoint places that cover the boot, with their medians.
    pub places: Vec<Delta>,
    /// Savings that came back elsewhere.
    pub moved: Vec<Moved>,
    /// What limits these figures.
    pub notes: Vec<NoteJson>,
}

/// A group of boots.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SideJson {
    /// `before`, `after`, or a variant's name.
    pub name: String,
    /// Where it was read.
    pub path: String,
    /// `simulated`, `measured` or `mixed`.
    pub time: String,
    /// How many boots never got to the end; they are in no figure.
    pub failed: usize,
    /// The boot that the others are most like.
    pub typical: Option<String>,
    /// How the totals lie.
    pub shape: ShapeJson,
    /// All boots.
    pub boots: Vec<GroupBootJson>,
    /// What lay there and is no boot.
    pub left_out: Vec<LeftOutJson>,
}

/// A boot of a group.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GroupBootJson {
    /// Its file or run.
    pub name: String,
    /// What its evidence is.
    pub formats: Vec<String>,
    /// From start to end; absent if it never got there, or if the boots have no
    /// end in common.
    pub total_ns: Option<i64>,
    /// Whether it got to the end.
    pub reached: bool,
    /// Why not, where its recorder said so.
    pub why_not: Option<String>,
}

/// What is no boot.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LeftOutJson {
    /// The file.
    pub name: String,
    /// Why.
    pub why: String,
}

/// How values lie.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ShapeJson {
    /// Whether they fall into two heaps.
    pub bimodal: bool,
    /// The heaps, if there are several.
    pub modes: Vec<ModeJson>,
    /// How many are far from all others; they are kept.
    pub outliers: usize,
}

/// A heap of values.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ModeJson {
    /// Its median.
    pub median_ns: i64,
    /// How many values.
    pub boots: usize,
}

/// A duration in both groups.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RowJson {
    /// What lasted; phases as in a report: `user space`.
    pub name: String,
    /// Its median before; absent if no boot has it.
    pub before_ns: Option<i64>,
    /// Its median after.
    pub after_ns: Option<i64>,
    /// Hodges–Lehmann shift; like all that follows absent if only one side has
    /// it.
    pub shift_ns: Option<i64>,
    /// 95 % interval of the shift.
    pub interval_ns: Option<[i64; 2]>,
    /// Chance of such a difference without a cause.
    pub p: Option<f64>,
    /// `faster`, `slower`, `equivalent` or `unknown`.
    pub verdict: Option<String>,
    /// What counts as no difference.
    pub margin_ns: Option<i64>,
    /// How many boots of either side have it.
    pub samples: Option<[usize; 2]>,
    /// What two sessions of boots may differ by without any change; the verdict
    /// takes it away. Null where boots were made in turns, or are simulated.
    pub sessions: Option<Sessions>,
    /// How the values before lie.
    pub before_shape: ShapeJson,
    /// How the values after lie.
    pub after_shape: ShapeJson,
    /// Of total and phases the value of each boot of either side, in the order of its boots; null
    /// where a boot has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values_ns: Option<[Vec<Option<i64>>; 2]>,
}

/// A span by name.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SpanRowJson {
    /// `initcall`, `unit`, `process`, `function` …
    pub kind: String,
    /// In how many boots of either side it is.
    pub boots: [usize; 2],
    /// Its time; all of its calls in a boot together.
    #[serde(flatten)]
    pub row: RowJson,
}

/// What limits the figures.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NoteJson {
    /// Stable name: `bimodal`, `outlier`, `never-ready`, `identical` …
    pub code: String,
    /// `info`, `warning` or `failure`.
    pub weight: String,
    /// In words.
    pub text: String,
}

/// The first comparison of several, as it is in that document: for the page of two of its boots.
pub fn first(report: &GroupsReport) -> Option<GroupsJson> {
    report.comparisons.first().map(GroupsJson::of)
}

/// What `compare --json` prints.
///
/// # Errors
/// None for any comparison.
pub fn json(report: &GroupsReport) -> Result<String, serde_json::Error> {
    let mut all = report.comparisons.iter().map(GroupsJson::of);
    let Some(comparison) = all.next() else {
        return Ok("null\n".to_owned());
    };
    let (margin_share, margin_ns) = match report.margin {
        Margin::Share(share) => (Some(share), None),
        Margin::Ns(ns) => (None, Some(ns)),
    };
    crate::json::line(&CompareJson {
        format: crate::json::FORMAT,
        tool: report.tool.clone(),
        margin_share,
        margin_ns,
        comparison,
        others: all.collect(),
    })
}

impl GroupsJson {
    fn of(compared: &Compared) -> Self {
        let groups = &compared.groups;
        let (start, start_name) = match &groups.start {
            Start::Milestone(m) => ("milestone", Some(id(m))),
            Start::Line(text) => ("line", Some(text.clone())),
            Start::First => ("first", None),
        };
        let (end, end_name) = match &groups.end {
            End::Milestone(m) => ("milestone", Some(id(m))),
            End::Unit(name) => ("unit", Some(name.clone())),
            End::Line(text) => ("line", Some(text.clone())),
            End::Last => ("last", None),
            End::Durations => ("durations", None),
        };
        let ended = !matches!(groups.end, End::Last | End::Durations);
        let side = |at: usize| SideJson::of(&groups.sides[at], &compared.sides[at], ended);
        Self {
            headline: sentence(compared).replace('\u{a0}', " "),
            before: side(0),
            after: side(1),
            start: start.to_owned(),
            start_name,
            end: end.to_owned(),
            end_name,
            bounds: bounds(groups),
            total: groups.total.as_ref().map(RowJson::of),
            phases: groups.phases.iter().map(RowJson::of).collect(),
            spans: groups.spans.iter().map(span).collect(),
            short_spans: groups.short,
            appeared: groups.appeared.iter().map(span).collect(),
            disappeared: groups.disappeared.iter().map(span).collect(),
            places: groups.places.clone(),
            moved: groups.moved.clone(),
            notes: notes(compared)
                .into_iter()
                .map(|note| NoteJson {
                    code: note.code.to_owned(),
                    weight: match note.weight {
                        Weight::Info => "info",
                        Weight::Warning => "warning",
                        Weight::Failure => "failure",
                    }
                    .to_owned(),
                    text: note.text.replace('\u{a0}', " "),
                })
                .collect(),
        }
    }
}

impl SideJson {
    fn of(side: &Side, about: &SideAbout, ended: bool) -> Self {
        let boots = side.totals_ns.iter().zip(&about.boots);
        let name = |at: usize| Some(about.boots.get(at)?.name.clone());
        Self {
            name: about.word.clone(),
            path: about.path.clone(),
            time: side.time.map_or("mixed", |time| time.word()).to_owned(),
            failed: side.failed().count(),
            typical: side.typical.and_then(name),
            shape: shape(&side.shape),
            boots: boots
                .map(|(total_ns, boot)| GroupBootJson {
                    name: boot.name.clone(),
                    formats: boot.formats.clone(),
                    total_ns: total_ns.filter(|_| ended),
                    reached: total_ns.is_some(),
                    why_not: boot.why_not.clone(),
                })
                .collect(),
            left_out: about
                .odd
                .iter()
                .map(|(name, why)| LeftOutJson {
                    name: name.clone(),
                    why: why.clone(),
                })
                .collect(),
        }
    }
}

impl RowJson {
    fn of(row: &Row) -> Self {
        let effect = row.effect.as_ref();
        let p = |e: &Effect| if e.p.is_finite() { e.p } else { 1.0 };
        Self {
            name: row.name.clone(),
            before_ns: row.before_ns,
            after_ns: row.after_ns,
            shift_ns: effect.map(|e| e.shift_ns),
            interval_ns: effect.map(|e| e.interval_ns),
            p: effect.map(p),
            verdict: effect.map(|e| id(&e.verdict)),
            margin_ns: effect.map(|e| e.margin_ns),
            samples: effect.map(|e| e.samples),
            sessions: effect.and_then(|e| e.sessions),
            before_shape: shape(&row.shapes[0]),
            after_shape: shape(&row.shapes[1]),
            values_ns: Some(row.values_ns.clone()),
        }
    }
}

fn span(span: &SpanRow) -> SpanRowJson {
    SpanRowJson {
        kind: id(&span.kind),
        boots: span.boots,
        row: RowJson {
            // Of hundreds of spans nobody looks at each boot.
            values_ns: None,
            ..RowJson::of(&span.row)
        },
    }
}

fn shape(shape: &Shape) -> ShapeJson {
    let mode = |mode: &Mode| ModeJson {
        median_ns: mode.median_ns,
        boots: mode.samples,
    };
    ShapeJson {
        bimodal: shape.modes.is_some(),
        modes: shape.modes.iter().flatten().map(mode).collect(),
        outliers: shape.outliers.len(),
    }
}
