//! What rules look at.

use bootlap_model::{Axis, Evidence, Span, Timeline, TrackKind};
use bootlap_target::recipe::Choice;
use bootlap_target::{Parts, Target};

/// One boot, and what was booted.
pub struct Boot<'a> {
    /// What happened.
    pub timeline: &'a Timeline,
    /// The same target booted with `initcall_debug`, if that was done: it
    /// tells which initcalls the kernel's time goes into, at its own cost.
    pub explained: Option<&'a Timeline>,
    /// What was booted; without it rules go by the evidence alone.
    pub target: Option<(&'a Target, &'a Parts)>,
}

/// A span that a rule found, on the axis.
pub(crate) struct Found<'a> {
    pub(crate) span: &'a Span,
    pub(crate) start_ns: i64,
    pub(crate) end_ns: i64,
}

impl Found<'_> {
    pub(crate) fn ns(&self) -> i64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

/// How long some spans last together, ns.
pub(crate) fn total_ns(spans: &[Found<'_>]) -> i64 {
    spans.iter().fold(0, |sum, s| sum.saturating_add(s.ns()))
}

/// Where some spans were read.
pub(crate) fn evidence(spans: &[Found<'_>]) -> Vec<Evidence> {
    spans.iter().map(|s| s.span.evidence).collect()
}

impl<'a> Boot<'a> {
    /// The ended spans of this kind and name, in order.
    pub(crate) fn spans(&self, kind: TrackKind, name: &str) -> Vec<Found<'a>> {
        spans_in(self.timeline, kind, |n| n == name)
    }

    /// Where in this boot lies what `found` shows of the explained one, which
    /// has times of its own: the silence behind the last line before it that
    /// both boots print, if it is about as long.
    pub(crate) fn silence_like(&self, found: &Found<'_>) -> Option<Found<'a>> {
        let explained = self.explained?;
        let theirs = spans_in(explained, TrackKind::Console, |_| true);
        let mut ours = spans_in(self.timeline, TrackKind::Console, |_| true);
        let before = theirs.iter().rev().filter(|l| l.end_ns <= found.start_ns);
        let at = before
            .map(|line| message(explained.text(line.span.name)))
            .find_map(|said| {
                let same = |l: &Found<'_>| message(self.timeline.text(l.span.name)) == said;
                ours.iter().rposition(same)
            })?;
        let end_ns = ours.get(at + 1)?.start_ns;
        let line = ours.swap_remove(at);
        let silence = Found {
            span: line.span,
            start_ns: line.end_ns,
            end_ns,
        };
        let is_like = silence.ns() >= found.ns() / 2 && silence.ns() / 2 <= found.ns();
        is_like.then_some(silence)
    }

    /// The recipe, typed as `name`, if it applies to the target; else why not.
    pub(crate) fn recipe(&self, name: &str) -> Result<String, String> {
        let Some((target, parts)) = self.target else {
            return Err("no target was given".into());
        };
        let choice = Choice::parse(name).map_err(|e| e.to_string())?;
        choice.edits(target, parts)?;
        Ok(choice.name())
    }

    /// The speed of the real board's console in baud, as `[board]` or the
    /// command line says it.
    pub(crate) fn baud(&self) -> u64 {
        let target = self.target.map(|(target, _)| target);
        let stated = target.and_then(|t| t.board.as_ref()).map(|b| b.baud);
        let said = stated.or_else(|| target?.console_baud());
        said.map_or(DEFAULT_BAUD, u64::from)
    }
}

/// A console line without the kernel's time in front.
fn message(line: &str) -> &str {
    let timed = line.strip_prefix('[').and_then(|l| l.split_once("] "));
    timed.map_or(line, |(_, message)| message).trim()
}

/// What nearly every board's console runs at.
const DEFAULT_BAUD: u64 = 115_200;

/// The ended spans of `timeline` of this kind whose name `wanted` accepts.
pub(crate) fn spans_in<'t>(
    timeline: &'t Timeline,
    kind: TrackKind,
    wanted: impl Fn(&str) -> bool,
) -> Vec<Found<'t>> {
    let axis = Axis::of(timeline);
    timeline
        .spans_of(kind)
        .filter(|span| wanted(timeline.text(span.name)))
        .filter_map(|span| {
            let placed = axis.span(span)?;
            Some(Found {
                span,
                start_ns: placed.start.ns,
                end_ns: placed.end?.ns,
            })
        })
        .collect()
}
