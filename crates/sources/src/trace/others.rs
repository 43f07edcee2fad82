//! What is no span: notes, single calls, and events of any other kind.
//!
//! Events of a kind that is met rarely are marks; of a kind that is met often
//! only the count is told. The function tracer says when functions are
//! entered, but not when they return: the first call of each is a mark, and
//! how many calls there were is a quantity over time.

use std::collections::{BTreeMap, HashSet};

use bootlap_model::{Anchor, Severity, Sym};

use super::cut;
use super::event::Moment;
use super::tally::Tally;
use crate::text::Import;

/// Kinds with more events than this are not shown one by one.
const FEW: usize = 100;
/// Kinds that are looked at at all.
const MAX_KINDS: usize = 2_000;
/// Functions whose first call is marked.
const MAX_FUNCTIONS: usize = 2_000;
const MAX_NOTES: usize = 10_000;
const MAX_KERNEL_LINES: usize = 16_384;
/// A mark's text is cut there.
const MAX_TEXT: usize = 200;

#[derive(Default)]
struct Kind {
    held: Vec<(Moment, String)>,
    first: Option<Moment>,
    seen: u64,
}

/// All of a trace that is no span.
#[derive(Default)]
pub(crate) struct Others {
    kinds: BTreeMap<String, Kind>,
    functions: HashSet<Sym>,
    calls: Option<(Moment, Tally)>,
    notes: usize,
    kernel_lines: usize,
}

impl Others {
    /// An event of any other kind.
    pub(crate) fn event(
        &mut self,
        name: &str,
        fields: &str,
        now: &Moment,
        import: &mut Import<'_>,
    ) {
        if !self.kinds.contains_key(name) {
            if self.kinds.len() >= MAX_KINDS {
                return import.notice(
                    "kinds-left-out",
                    Severity::DataLoss,
                    now.evidence,
                    "only the first 2000 kinds of events are kept: record fewer",
                );
            }
            self.kinds.insert(name.to_owned(), Kind::default());
        }
        let Some(kind) = self.kinds.get_mut(name) else {
            return;
        };
        kind.seen += 1;
        kind.first.get_or_insert(*now);
        if kind.seen > FEW as u64 {
            kind.held = Vec::new();
            return;
        }
        let text = format!("{name} {fields}");
        let text = cut(&text, MAX_TEXT).trim_end().to_owned();
        kind.held.push((*now, text));
    }

    /// `name` is entered.
    pub(crate) fn enter(&mut self, name: &str, now: &Moment, import: &mut Import<'_>) {
        let (_, tally) = self.calls.get_or_insert_with(|| (*now, Tally::default()));
        tally.add(now.at.ns);
        let sym = import.sym(name);
        if self.functions.len() < MAX_FUNCTIONS && self.functions.insert(sym) {
            import.mark(now.clock, now.at, name, now.evidence);
            import.notice(
                "first-calls-only",
                Severity::Info,
                now.evidence,
                "the function tracer does not say how long functions take: the first call of each is marked, and all are counted; trace with function_graph to see times",
            );
        }
    }

    /// Somebody wrote a note into the trace.
    pub(crate) fn note(&mut self, text: &str, now: &Moment, import: &mut Import<'_>) {
        self.notes += 1;
        let text = text.trim();
        if self.notes <= MAX_NOTES && !text.is_empty() {
            import.mark(now.clock, now.at, cut(text, MAX_TEXT), now.evidence);
        }
        if self.notes > MAX_NOTES {
            import.notice(
                "notes-left-out",
                Severity::DataLoss,
                now.evidence,
                "only the first 10000 notes in the trace are shown: write fewer to trace_marker",
            );
        }
    }

    /// A line goes to the kernel's log.
    pub(crate) fn printk(&mut self, text: &str, now: &Moment, import: &mut Import<'_>) {
        self.kernel_lines += 1;
        if self.kernel_lines > MAX_KERNEL_LINES {
            return;
        }
        let text = text.trim();
        let body = match text.strip_prefix('[').and_then(|t| t.split_once("] ")) {
            Some((time, body)) if time.trim_start().starts_with(|c: char| c.is_ascii_digit()) => {
                body
            }
            _ => text,
        };
        let key = Anchor::kernel_line(body.as_bytes());
        import.anchor(now.clock, now.at, key, now.evidence);
    }

    /// The recording has ended.
    pub(crate) fn finish(&mut self, import: &mut Import<'_>) {
        let mut marks = Vec::new();
        for (name, kind) in std::mem::take(&mut self.kinds) {
            if let (true, Some(first)) = (kind.seen > FEW as u64, kind.first) {
                let text = format!("{name}, {} times", kind.seen);
                import.mark(
                    first.clock,
                    first.at,
                    &format!("first of {text}"),
                    first.evidence,
                );
                import.notice(
                    "frequent-events",
                    Severity::Info,
                    first.evidence,
                    "events of these kinds are too many to show one by one: only the first is shown, with their count",
                );
            }
            marks.extend(kind.held);
        }
        marks.sort_by_key(|(now, _)| now.evidence.line);
        for (now, text) in marks {
            import.mark(now.clock, now.at, &text, now.evidence);
        }
        if let Some((first, tally)) = self.calls.take() {
            let (unit, samples) = tally.samples("calls");
            import.counter(
                first.clock,
                ("function calls", &unit),
                samples,
                first.evidence,
            );
        }
    }
}
