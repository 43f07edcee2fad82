//! From a report to its document: the boot itself and its events.

mod model;
mod outcome;
mod predicted;

pub use model::*;
pub use predicted::{PredictedJson, PredictedPhaseJson, PredictedTimeJson};

use std::io::Write;

use bootlap_analysis::{Part, Phase};
use bootlap_model::{
    Axis, Clock, ClockId, Counter, Link, Mark, MarkKind, Span, Stamp, TimeKind, Timeline,
};

use crate::Report;
use crate::boot::headline::Outcome;
use crate::evidence::evidence;
use crate::findings::findings;
use crate::json::{self, FORMAT, id};
use crate::sink::{Sink, buffered};
use crate::trials::trial;

/// The format.
pub const JSON: Sink = Sink {
    name: "json",
    title: "everything, for programs (docs/schema/report.json)",
    extensions: &["json"],
    choices: &[],
    write: |report, _, out| buffered(out, |out| Ok(write(report, out)?)),
};

/// The report as one line of JSON and a newline: see [`write()`].
///
/// # Errors
/// None for any report; the type is that of the serialiser.
pub fn document(report: &Report<'_>) -> Result<String, serde_json::Error> {
    json::line(&ReportJson::of(report))
}

/// Writes the report as one line of JSON and a newline.
///
/// Characters that a terminal or a browser would obey stand as `\u` escapes,
/// so that the document can be shown, piped and embedded as it is.
///
/// # Errors
/// If `out` does not take the bytes.
pub fn write(report: &Report<'_>, out: &mut impl Write) -> Result<(), serde_json::Error> {
    json::write_line(&ReportJson::of(report), out)
}

impl ReportJson {
    /// The document of `report`.
    pub fn of(report: &Report<'_>) -> Self {
        let axis = Axis::of(report.timeline);
        let spans = report.timeline.spans.iter();
        Self {
            spans: spans.map(|s| span(report, &axis, s)).collect(),
            links: report.timeline.links.iter().map(link).collect(),
            ..Self::head(report)
        }
    }

    /// The same without spans and links.
    pub(crate) fn head(report: &Report<'_>) -> Self {
        let timeline = report.timeline;
        let axis = Axis::of(timeline);
        Self {
            format: FORMAT,
            tool: report.about.tool.clone(),
            boot: boot(report),
            costs: outcome::costs(report),
            gaps: report.gaps.clone(),
            disks: report.disks.clone(),
            findings: findings(report),
            trials: report.trials.iter().map(trial).collect(),
            steps: report.steps,
            waterfalls: report.waterfalls.clone(),
            notices: outcome::notices(report),
            spans: Vec::new(),
            marks: timeline
                .marks
                .iter()
                .map(|m| mark(report, &axis, m))
                .collect(),
            counters: counters(timeline, &axis),
            links: Vec::new(),
            clocks: clocks(timeline, &axis),
            files: files(timeline),
            before: report.before.as_deref().map(boot),
            comparison: report.comparison.clone(),
        }
    }
}

fn boot(report: &Report<'_>) -> BootJson {
    BootJson {
        about: report.about.clone(),
        awaited: Outcome::is_awaited(report),
        extent: report.answers.extent().map(|extent| ExtentJson {
            start_ns: extent.start.ns,
            end_ns: extent.end.ns,
            ready: extent.is_ready(),
            end: extent.ends.text().map(str::to_owned),
            last_ns: extent.last.ns,
        }),
        phases: report.phases.iter().map(phase).collect(),
        predicted: report.predicted.as_ref().map(PredictedJson::of),
    }
}

pub(crate) fn phase(phase: &Phase) -> PhaseJson {
    PhaseJson {
        name: id(&phase.name),
        title: phase.name.text().to_owned(),
        start_ns: phase.start.ns,
        end_ns: phase.end.ns,
        instructions: phase.instructions(),
        parts: phase.parts.iter().map(part).collect(),
    }
}

fn part(part: &Part) -> PartJson {
    PartJson {
        name: part.name.clone(),
        start_ns: part.start.ns,
        end_ns: part.end.ns,
        instructions: part.instructions(),
    }
}

pub(crate) fn span(report: &Report<'_>, axis: &Axis, span: &Span) -> SpanJson {
    let timeline = report.timeline;
    let placed = axis.span(span);
    let end = placed.and_then(|p| p.end);
    SpanJson {
        track: id(&timeline.kind_of(span)),
        name: timeline.text(span.name).to_owned(),
        start_ns: placed.map(|p| p.start.ns),
        end_ns: end.map(|end| end.ns),
        err_ns: placed.map_or(span.start.err_ns, |p| p.start.err_ns),
        instructions: end.and_then(|end| placed?.start.insns_until(&end)),
        clock: span.clock.index(),
        args: args(timeline, span),
        evidence: evidence(report, &span.evidence),
    }
}

fn args(timeline: &Timeline, span: &Span) -> Vec<[String; 2]> {
    let text = |sym| timeline.text(sym).to_owned();
    span.args
        .iter()
        .map(|(k, v)| [text(*k), text(*v)])
        .collect()
}

fn mark(report: &Report<'_>, axis: &Axis, mark: &Mark) -> MarkJson {
    MarkJson {
        milestone: match mark.kind {
            MarkKind::Milestone(milestone) => Some(id(&milestone)),
            MarkKind::Named => None,
        },
        name: report.timeline.text(mark.name).to_owned(),
        at_ns: axis.mark(mark).map(|at| at.ns),
        evidence: evidence(report, &mark.evidence),
    }
}

fn counters(timeline: &Timeline, axis: &Axis) -> Vec<CounterJson> {
    let text = |sym| timeline.text(sym).to_owned();
    let counter = |counter: &Counter| CounterJson {
        name: text(counter.name),
        unit: text(counter.unit),
        clock: counter.clock.index(),
        samples: samples(axis, counter),
    };
    timeline.counters.iter().map(counter).collect()
}

/// JSON has no infinity, and what is no number is no sample.
fn samples(axis: &Axis, counter: &Counter) -> Vec<(Option<i64>, f64)> {
    let numbers = counter.samples.iter().filter(|(_, v)| v.is_finite());
    let placed = |ns| Some(axis.at(counter.clock, Stamp::new(ns, 0))?.ns);
    numbers.map(|(ns, value)| (placed(*ns), *value)).collect()
}

fn link(link: &Link) -> LinkJson {
    LinkJson {
        from: link.from.index(),
        to: link.to.index(),
        kind: id(&link.kind),
    }
}

fn clocks(timeline: &Timeline, axis: &Axis) -> Vec<ClockJson> {
    let clock = |id| clock(axis, id, timeline.clock(id));
    timeline.clock_ids().map(clock).collect()
}

/// A clock, and how it got onto the reference clock.
pub(crate) fn clock(axis: &Axis, at: ClockId, clock: &Clock) -> ClockJson {
    // Where its zero lies tells the offset and what it is known to.
    let zero = axis.at(at, Stamp::new(0, 0));
    ClockJson {
        kind: id(&clock.kind),
        time: clock.time.word().to_owned(),
        simulated: clock.time == TimeKind::Simulated,
        how: match axis.how(at) {
            Some(_) if axis.reference() == Some(at) => "reference".to_owned(),
            Some(how) => id(&how),
            None => "unrelated".to_owned(),
        },
        offset_ns: zero.map(|zero| zero.ns),
        err_ns: zero.map(|zero| zero.err_ns),
    }
}

fn files(timeline: &Timeline) -> Vec<FileJson> {
    let file = |file: &bootlap_model::EvidenceFile| FileJson {
        name: file.name.clone(),
        source: file.source.clone(),
        total: file.usage.total,
        used: file.usage.used,
        skipped: file.usage.skipped,
    };
    timeline.files.iter().map(file).collect()
}
