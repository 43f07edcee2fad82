//! Calls of one task, nested by their times.

use std::cmp::Reverse;
use std::collections::HashMap;

use bootlap_model::{ClockId, Span, Sym, Timeline, TrackId, TrackKind};

use super::sleep::{Asleep, is_sleep};
use crate::view::is_probe;

/// The calls of one task on one clock.
pub(super) struct Lane {
    pub(super) kind: TrackKind,
    /// The name of its track.
    pub(super) name: Sym,
    /// In order of start, callers before what they call.
    pub(super) calls: Vec<Call>,
    /// When a call of it slept.
    pub(super) asleep: Asleep,
}

/// One call.
pub(super) struct Call {
    pub(super) name: Sym,
    pub(super) start_ns: i64,
    /// `None` if unknown.
    pub(super) end_ns: Option<i64>,
    /// Bound of the error of a time.
    err_ns: i64,
    /// When it was innermost, ns.
    pub(super) local_ns: i64,
    /// The index of its caller in the lane.
    pub(super) parent: Option<usize>,
}

impl Call {
    /// How long it took; 0 if its end is unknown.
    pub(super) fn length_ns(&self) -> i64 {
        let end_ns = self.end_ns.unwrap_or(self.start_ns);
        end_ns.saturating_sub(self.start_ns)
    }
}

/// All lanes, in the order in which their first call was read.
pub(super) fn lanes(timeline: &Timeline) -> Vec<Lane> {
    // A track of initcalls has those of several tasks, and two logs may name
    // their tracks alike.
    type Key = (TrackId, ClockId, Option<Sym>);
    let pid = timeline.symbols.find("pid");
    let pid_of = |span: &Span| {
        let (_, value) = span.args.iter().find(|(key, _)| Some(*key) == pid)?;
        Some(*value)
    };
    let mut lanes: Vec<Lane> = Vec::new();
    let mut known: HashMap<Key, usize> = HashMap::new();
    // A trace also has functions for its initcalls: not both.
    let mut traced = vec![false; timeline.files.len()];
    for span in timeline.spans_of(TrackKind::Function) {
        traced[span.evidence.file.index()] = true;
    }
    for span in &timeline.spans {
        let track = timeline.track_of(span);
        let calls = match track.kind {
            TrackKind::Function => true,
            TrackKind::Initcall => !traced[span.evidence.file.index()] && !is_probe(timeline, span),
            _ => false,
        };
        if !calls {
            continue;
        }
        let at = *known
            .entry((span.track, span.clock, pid_of(span)))
            .or_insert_with(|| {
                lanes.push(Lane {
                    kind: track.kind,
                    name: track.name,
                    calls: Vec::new(),
                    asleep: Asleep::default(),
                });
                lanes.len() - 1
            });
        lanes[at].calls.push(call(span));
    }
    for lane in &mut lanes {
        // The sort is stable: of equal calls the one logged first is the caller.
        let length = |c: &Call| Reverse(c.length_ns());
        lane.calls.sort_by_key(|c| (c.start_ns, length(c)));
        nest(&mut lane.calls);
        if lane.kind == TrackKind::Function {
            let sleeps = lane
                .calls
                .iter()
                .filter(|c| is_sleep(timeline.text(c.name)));
            lane.asleep = sleeps
                .filter_map(|c| Some((c.start_ns, c.end_ns?)))
                .collect();
        }
    }
    lanes
}

fn call(span: &Span) -> Call {
    let end = span.end.known().filter(|end| end.ns >= span.start.ns);
    Call {
        name: span.name,
        start_ns: span.start.ns,
        end_ns: end.map(|end| end.ns),
        err_ns: i64::from(span.start.err_ns.max(end.map_or(0, |end| end.err_ns))),
        local_ns: 0,
        parent: None,
    }
}

/// Finds the caller of each call, and gives each moment to the call that began
/// last of those that are open.
fn nest(calls: &mut [Call]) {
    let mut open: Vec<usize> = Vec::new();
    let mut now_ns = i64::MIN;
    for at in 0..calls.len() {
        let start_ns = calls[at].start_ns;
        close(calls, &mut open, &mut now_ns, at);
        if let Some(&top) = open.last() {
            spend(&mut calls[top], now_ns, start_ns);
            calls[at].parent = Some(top);
        }
        now_ns = start_ns;
        if calls[at].end_ns.is_some() {
            open.push(at);
        }
    }
    while let Some(top) = open.pop() {
        let end_ns = calls[top].end_ns.unwrap_or(now_ns);
        spend(&mut calls[top], now_ns, end_ns);
        now_ns = now_ns.max(end_ns);
    }
}

/// Closes what has ended when call `at` begins.
fn close(calls: &mut [Call], open: &mut Vec<usize>, now_ns: &mut i64, at: usize) {
    let start_ns = calls[at].start_ns;
    while let Some(&top) = open.last() {
        let end_ns = calls[top].end_ns.unwrap_or(start_ns);
        if end_ns > start_ns {
            // Times are rounded: a call may seem to begin before the one
            // before it has ended, but it cannot end after its caller.
            let rounding = calls[at].err_ns.saturating_add(calls[top].err_ns);
            let next = calls[at].end_ns.is_some_and(|end| end > end_ns);
            if !next || end_ns.saturating_sub(start_ns) > rounding {
                return;
            }
        }
        let until = end_ns.min(start_ns);
        spend(&mut calls[top], *now_ns, until);
        *now_ns = (*now_ns).max(until);
        open.pop();
    }
}

fn spend(call: &mut Call, from_ns: i64, until_ns: i64) {
    if from_ns < until_ns {
        let more = until_ns.saturating_sub(from_ns.max(call.start_ns));
        call.local_ns = call.local_ns.saturating_add(more.max(0));
    }
}
