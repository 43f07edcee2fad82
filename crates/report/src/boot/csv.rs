//! `.csv`: everything that has a time, one row each, for a spreadsheet or a
//! script.
//!
//! RFC 4180, UTF-8, with a line of column names. First the phases, then the
//! marks, then the spans in the order in which they were read; then the same of
//! the boot that it is compared with. The columns are [`COLUMNS`]; later
//! versions only add some at the end. Where something is not known a cell is
//! empty.
//!
//! Names come from evidence, and a spreadsheet takes text that begins with
//! `=`, `+`, `-` or `@` for a formula, so such text gets an apostrophe before
//! it; so does what stands behind a semicolon, at which spreadsheets in many
//! countries split even what is quoted.

use std::borrow::Cow;
use std::io::{self, Write};

use bootlap_model::{Axis, ClockId, How, Mark, MarkKind, Span, SpanEnd, Timeline};
use csv::{Terminator, WriterBuilder};

use crate::Report;
use crate::csv::defused;
use crate::format::exact_seconds;
use crate::json::id;
use crate::sink::{Sink, SinkError};
use crate::table::By;

/// The columns, in order:
///
/// | column | what stands there |
/// | --- | --- |
/// | `boot` | `this`, or `before` for the boot that it is compared with |
/// | `kind` | `phase`, `mark`, or the kind of the span's lane: `initcall`, `unit` … |
/// | `track` | the name of the lane |
/// | `name` | what it was; of the console the text itself |
/// | `start_s` | when it began, seconds on the boot's reference clock; may be negative |
/// | `duration_s` | how long it took; empty if its end is not known |
/// | `error_s` | the start is true within ± this |
/// | `instructions` | executed in it, where the machine counts them |
/// | `clock` | the kind of clock that stamped it |
/// | `how` | how that clock is tied to the reference: `reference`, `measured`, `shared-event`, `declared`, `assumed`, `unrelated` |
/// | `file`, `line` | where it was read |
/// | `args` | more facts for reading: `key=value; key=value` |
pub const COLUMNS: [&str; 13] = [
    "boot",
    "kind",
    "track",
    "name",
    "start_s",
    "duration_s",
    "error_s",
    "instructions",
    "clock",
    "how",
    "file",
    "line",
    "args",
];

/// The format.
pub const CSV: Sink = Sink {
    name: "csv",
    title: "a row for everything that has a time, for a spreadsheet",
    extensions: &["csv"],
    choices: &[],
    write,
};

fn write(report: &Report<'_>, _: Option<By>, out: &mut dyn Write) -> Result<(), SinkError> {
    let mut rows = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(out);
    rows.write_record(COLUMNS).map_err(io::Error::from)?;
    let before = report.before.as_deref().map(|before| ("before", before));
    for (label, report) in [("this", report)].into_iter().chain(before) {
        let mut row = |row: Row<'_>| rows.write_record(row.cells(label));
        boot(report, &mut row).map_err(io::Error::from)?;
    }
    Ok(rows.flush()?)
}

fn boot(report: &Report<'_>, row: &mut dyn FnMut(Row<'_>) -> csv::Result<()>) -> csv::Result<()> {
    for phase in &report.phases {
        row(Row {
            kind: "phase".into(),
            track: "phases",
            name: phase.name.text(),
            start_ns: Some(phase.start.ns),
            duration_ns: Some(phase.duration_ns()),
            err_ns: Some(phase.start.err_ns),
            instructions: phase.instructions(),
            ..Row::default()
        })?;
    }
    let timeline = report.timeline;
    let axis = Axis::of(timeline);
    for mark in &timeline.marks {
        row(of_mark(timeline, &axis, mark))?;
    }
    for span in &timeline.spans {
        row(of_span(timeline, &axis, span))?;
    }
    Ok(())
}

/// One row; text is as the evidence has it.
#[derive(Default)]
struct Row<'t> {
    kind: Cow<'t, str>,
    track: &'t str,
    name: &'t str,
    start_ns: Option<i64>,
    duration_ns: Option<i64>,
    err_ns: Option<u32>,
    instructions: Option<u64>,
    clock: String,
    how: &'t str,
    file: &'t str,
    line: Option<u32>,
    args: String,
}

impl Row<'_> {
    fn cells(&self, boot: &str) -> [String; COLUMNS.len()] {
        let number = |n: Option<u64>| n.map_or(String::new(), |n| n.to_string());
        let seconds = |ns: Option<i64>| ns.map_or(String::new(), exact_seconds);
        [
            boot.to_owned(),
            self.kind.to_string(),
            defused(self.track),
            defused(self.name),
            seconds(self.start_ns),
            seconds(self.duration_ns),
            seconds(self.err_ns.map(i64::from)),
            number(self.instructions),
            self.clock.clone(),
            self.how.to_owned(),
            defused(self.file),
            number(self.line.map(u64::from)),
            defused(&self.args),
        ]
    }
}

fn of_mark<'t>(timeline: &'t Timeline, axis: &Axis, mark: &Mark) -> Row<'t> {
    let at = axis.mark(mark);
    Row {
        kind: "mark".into(),
        track: match mark.kind {
            MarkKind::Milestone(_) => "milestones",
            MarkKind::Named => "marks",
        },
        name: timeline.text(mark.name),
        start_ns: at.map(|at| at.ns),
        err_ns: at.map(|at| at.err_ns),
        clock: id(&timeline.clock(mark.clock).kind),
        how: how(axis, mark.clock),
        file: &timeline.file(mark.evidence.file).name,
        line: Some(mark.evidence.line),
        ..Row::default()
    }
}

fn of_span<'t>(timeline: &'t Timeline, axis: &Axis, span: &Span) -> Row<'t> {
    let placed = axis.span(span);
    let end = match span.end {
        SpanEnd::At(end) => Some(end),
        SpanEnd::OpenAtCut | SpanEnd::Unknown => None,
    };
    // What nothing relates to the reference still has a length.
    let length = end.map(|end| end.ns.saturating_sub(span.start.ns));
    let track = timeline.track_of(span);
    let args = span.args.iter();
    let args = args.map(|(k, v)| format!("{}={}", timeline.text(*k), timeline.text(*v)));
    Row {
        kind: id(&track.kind).into(),
        track: timeline.text(track.name),
        name: timeline.text(span.name),
        start_ns: placed.map(|p| p.start.ns),
        duration_ns: placed.and_then(|p| p.duration_ns()).or(length),
        err_ns: placed.map(|p| p.start.err_ns),
        instructions: end.and_then(|end| span.start.insns_until(&end)),
        clock: id(&timeline.clock(span.clock).kind),
        how: how(axis, span.clock),
        file: &timeline.file(span.evidence.file).name,
        line: Some(span.evidence.line),
        args: args.collect::<Vec<_>>().join("; "),
    }
}

fn how(axis: &Axis, clock: ClockId) -> &'static str {
    if axis.reference() == Some(clock) {
        return "reference";
    }
    match axis.how(clock) {
        Some(How::Measured) => "measured",
        Some(How::SharedEvent) => "shared-event",
        Some(How::Declared) => "declared",
        Some(How::Assumed) => "assumed",
        None => "unrelated",
    }
}
