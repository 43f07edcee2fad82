//! What Perfetto shows of an event: its name, category and facts.

use bootlap_analysis::Phase;
use bootlap_model::{
    ClockId, Evidence, How, LinkKind, MarkKind, Span, SpanEnd, SpanId, Stamp, TimeKind, TrackKind,
};
use bootlap_report::id as id_of;

use super::lanes::{Boot, Lane, What};
use super::links::Flows;
use super::packets::{Names, Value, shown};
use super::schema::{SourceLocation, TYPE_INSTANT, TrackEvent};

/// Fills in events of one boot.
pub(super) struct Writer<'b, 'r> {
    pub(super) boot: &'b Boot<'r>,
    pub(super) flows: &'b Flows,
    pub(super) names: &'b mut Names,
}

impl Writer<'_, '_> {
    /// The event that begins `what`.
    pub(super) fn begin(&mut self, lane: &Lane<'_>, what: What<'_>) -> TrackEvent {
        let mut event = TrackEvent::default();
        let e = &mut event;
        let timeline = self.boot.report.timeline;
        match what {
            What::Span(id) => self.span(e, id),
            What::Mark(mark) => {
                self.names.name(e, timeline.text(mark.name), false);
                if let MarkKind::Milestone(milestone) = mark.kind {
                    self.names
                        .note(e, "milestone", Value::Text(&id_of(&milestone)));
                }
                self.error(e, "err_ns", self.boot.axis.mark(mark));
                self.clock(e, mark.clock);
                self.evidence(e, &mark.evidence);
            }
            What::Phase(phase) => self.phase(e, phase),
            What::Part(part) => {
                self.names.name(e, &part.name, false);
                self.error(e, "err_ns", Some(part.start));
                self.instructions(e, part.instructions());
            }
            What::Gap(gap) => {
                self.names.name(e, "silence", false);
                self.names.note(e, "before", Value::Text(&gap.before));
                self.names.note(e, "after", Value::Text(&gap.after));
                if let Some(share) = gap.idle_share {
                    let percent = (share * 100.0).round() as i64;
                    self.names.note(e, "idle_percent", Value::Int(percent));
                }
            }
            What::Finding(finding) => {
                self.names.name(e, &finding.title, false);
                self.names.note(e, "rule", Value::Text(&finding.rule));
                self.names.note(e, "why", Value::Text(&finding.why));
                self.names.note(e, "fix", Value::Text(&finding.fix));
                let saving = &finding.saving;
                self.names.note(e, "saving_ns", Value::Int(saving.ns));
                self.names
                    .note(e, "saving_kind", Value::Text(&id_of(&saving.kind)));
                if let Some(recipe) = &finding.recipe {
                    self.names.note(e, "recipe", Value::Text(recipe));
                }
                if let Some(first) = finding.evidence.first() {
                    self.evidence(e, first);
                }
            }
        }
        if !matches!(what, What::Span(_)) {
            let category = self.names.category(lane.category);
            event.category_iids.insert(0, category);
        }
        event
    }

    fn span(&mut self, e: &mut TrackEvent, id: SpanId) {
        let timeline = self.boot.report.timeline;
        let span = timeline.span(id);
        let kind = timeline.kind_of(span);
        e.category_iids.push(self.names.category(&id_of(&kind)));
        // Hardly a line of a console comes twice.
        let once = kind == TrackKind::Console;
        self.names.name(e, timeline.text(span.name), once);
        for (key, value) in &span.args {
            let value = Value::said(timeline.text(*value));
            self.names.note(e, timeline.text(*key), value);
        }
        self.times(e, span);
        for (kind, key) in [
            (LinkKind::WaitsOn, "waits-on"),
            (LinkKind::Spawns, "spawned-by"),
            (LinkKind::After, "after"),
        ] {
            let causes = self.flows.causes(id, kind);
            let names = causes.map(|c| timeline.text(timeline.span(c).name));
            let names: Vec<&str> = names.collect();
            if !names.is_empty() {
                self.names.note(e, key, Value::List(names));
            }
        }
        self.clock(e, span.clock);
        self.evidence(e, &span.evidence);
    }

    /// What is known of when it began and ended, beyond the two numbers.
    fn times(&mut self, e: &mut TrackEvent, span: &Span) {
        let placed = self.boot.axis.span(span);
        let start = placed.map(|p| p.start);
        let end = placed.and_then(|p| p.end);
        self.error(e, "err_ns", start);
        if end.map(|end| end.err_ns) != start.map(|start| start.err_ns) {
            self.error(e, "end_err_ns", end);
        }
        match span.end {
            SpanEnd::At(_) => {}
            SpanEnd::OpenAtCut => {
                let open = Value::Text("still running when the recording stopped");
                self.names.note(e, "end", open);
            }
            SpanEnd::Unknown => self.names.note(e, "end", Value::Text("unknown")),
        }
        if let Some((start, end)) = start.zip(end) {
            if end.ns < start.ns {
                self.names.note(e, "end", Value::Text("unknown"));
            }
            self.instructions(e, start.insns_until(&end));
        }
    }

    fn phase(&mut self, e: &mut TrackEvent, phase: &Phase) {
        self.names.name(e, phase.name.text(), false);
        self.error(e, "err_ns", Some(phase.start));
        self.error(e, "end_err_ns", Some(phase.end));
        self.instructions(e, phase.instructions());
    }

    fn instructions(&mut self, e: &mut TrackEvent, count: Option<u64>) {
        if let Some(count) = count {
            self.names.note(e, "instructions", Value::Uint(count));
        }
    }

    fn error(&mut self, e: &mut TrackEvent, key: &str, at: Option<Stamp>) {
        if let Some(at) = at.filter(|at| at.err_ns > 0) {
            self.names.note(e, key, Value::Uint(at.err_ns.into()));
        }
    }

    /// Which clock stamped it and how that is brought onto the axis, unless it
    /// is the clock of the axis.
    fn clock(&mut self, e: &mut TrackEvent, clock: ClockId) {
        let axis = &self.boot.axis;
        if axis.reference() == Some(clock) {
            return;
        }
        let kind = self.boot.report.timeline.clock(clock).kind;
        self.names.note(e, "clock", Value::Text(kind.text()));
        if let Some(how) = axis.how(clock) {
            self.names.note(e, "clock_how", Value::Text(&id_of(&how)));
            if how == How::Assumed {
                e.category_iids.push(self.names.category("assumed"));
            }
        }
    }

    fn evidence(&mut self, e: &mut TrackEvent, evidence: &Evidence) {
        let file = self.boot.report.timeline.file(evidence.file);
        e.source_location = Some(SourceLocation {
            file_name: Some(shown(&file.name)),
            line_number: Some(evidence.line),
        });
    }

    /// What this boot is, how it was measured, and what the file cannot show.
    pub(super) fn about(&mut self, offset_ns: i64) -> TrackEvent {
        let mut event = TrackEvent {
            r#type: Some(TYPE_INSTANT),
            track_uuid: Some(self.boot.root),
            ..TrackEvent::default()
        };
        let e = &mut event;
        let report = self.boot.report;
        let about = &report.about;
        e.category_iids.push(self.names.category("about"));
        self.names.name(e, "about this boot", false);
        for (key, text) in [
            ("target", &about.target),
            ("run", &about.run),
            ("machine", &about.machine),
            ("mode", &about.mode),
            ("time", &about.time),
            ("console_sha256", &about.console_sha256),
            ("tool", &about.tool),
        ] {
            if !text.is_empty() {
                self.names.note(e, key, Value::Text(text));
            }
        }
        if let Some(identical) = about.identical {
            self.names.note(e, "identical", Value::Bool(identical));
        }
        if let Some(ns) = about.ready_ns {
            self.names.note(e, "ready_ns", Value::Int(ns));
        }
        if let Some(count) = about.instructions {
            self.names.note(e, "instructions", Value::Uint(count));
        }
        // Time of the trace = time of the boot + this.
        self.names.note(e, "offset_ns", Value::Int(offset_ns));
        let clocks = self.clocks();
        let clocks = clocks.iter().map(String::as_str).collect();
        self.names.note(e, "clocks", Value::List(clocks));
        let all_findings = report.findings.iter().map(|f| f.title.as_str());
        let findings: Vec<&str> = all_findings.collect();
        if !findings.is_empty() {
            self.names.note(e, "findings", Value::List(findings));
        }
        for (key, count) in [
            ("events_without_a_known_time", self.boot.unplaced),
            ("links_without_an_arrow", self.flows.not_drawn),
        ] {
            if count > 0 {
                self.names.note(e, key, Value::Uint(count as u64));
            }
        }
        event
    }

    /// A line for each clock: what it is, and how it gets onto the axis.
    fn clocks(&self) -> Vec<String> {
        let (timeline, axis) = (self.boot.report.timeline, &self.boot.axis);
        let line = |clock: ClockId| {
            let known = timeline.clock(clock);
            let time = match known.time {
                TimeKind::Measured => String::new(),
                time => format!(", {} time", time.word()),
            };
            let how = match (axis.how(clock), axis.err_ns(clock)) {
                _ if axis.reference() == Some(clock) => "the axis".to_owned(),
                (Some(how), Some(err_ns)) => format!("{}, within {err_ns} ns", id_of(&how)),
                _ => "unrelated: not shown".to_owned(),
            };
            let file = &timeline.file(known.file).name;
            format!("{} of {file}{time}: {how}", known.kind.text())
        };
        timeline.clock_ids().map(line).collect()
    }
}
