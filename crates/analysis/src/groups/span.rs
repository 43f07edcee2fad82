//! Spans by name, in all boots of both sides.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use bootlap_model::{Timeline, TrackKind};

use super::sample::{Test, Values, known};
use super::{Row, SpanRow};
use crate::ends::extent_of;
use crate::extent::length_ns;
use crate::functions::functions;
use crate::processes::processes;
use crate::stats::median;
use crate::unit::units;
use crate::view::View;

/// What became of the spans.
pub(super) struct Spans {
    pub(super) tested: Vec<SpanRow>,
    pub(super) short: usize,
    pub(super) appeared: Vec<SpanRow>,
    pub(super) disappeared: Vec<SpanRow>,
}

/// A span as people know it.
type Key = (TrackKind, String);

/// Shorter spans are not tested, ns: there are hundreds, and each test more
/// makes all others weaker.
const LEAST_NS: i64 = 1_000_000;
/// Nor those below this part of the boot.
const LEAST_PART: i64 = 1_000;

/// Spans of all boots by name.
pub(super) fn rows(sides: &[Vec<&Timeline>; 2], test: &Test) -> Spans {
    let mut all: BTreeMap<Key, Values> = BTreeMap::new();
    let none = || sides.each_ref().map(|boots| vec![None; boots.len()]);
    let mut longest_ns = 0;
    let mut told: [BTreeMap<TrackKind, usize>; 2] = Default::default();
    for (side, boots) in sides.iter().enumerate() {
        for (boot, timeline) in boots.iter().enumerate() {
            let view = View::of(timeline);
            let extent = extent_of(&view);
            longest_ns = longest_ns.max(extent.map_or(0, |e| e.duration_ns()));
            let durations = durations(&view);
            let kinds: BTreeSet<TrackKind> = durations.keys().map(|key| key.0).collect();
            for kind in kinds {
                *told[side].entry(kind).or_insert(0) += 1;
            }
            for (key, ns) in durations {
                let values = all.entry(key).or_insert_with(none);
                values[side][boot] = Some(ns);
            }
        }
    }
    let least_ns = LEAST_NS.max(longest_ns / LEAST_PART);
    let mut spans = Spans {
        tested: Vec::new(),
        short: 0,
        appeared: Vec::new(),
        disappeared: Vec::new(),
    };
    for ((kind, name), values) in all {
        let there = known(&values);
        let boots = there.each_ref().map(Vec::len);
        // Both sides together decide, so that this does not depend on how
        // they differ.
        let together: Vec<i64> = there.concat();
        let is_short = median(&together).is_none_or(|ns| ns < least_ns);
        let row = || bare(&name, &there);
        // What the other side's evidence does not tell of did not appear.
        let tells = |side: usize| {
            let boots = told[side].get(&kind).copied().unwrap_or(0);
            boots * 2 >= sides[side].len()
        };
        match boots {
            [0, n] if n * 2 >= sides[1].len() && tells(0) => spans.appeared.push(SpanRow {
                kind,
                boots,
                row: row(),
            }),
            [n, 0] if n * 2 >= sides[0].len() && tells(1) => spans.disappeared.push(SpanRow {
                kind,
                boots,
                row: row(),
            }),
            [0, _] | [_, 0] => {}
            _ if is_short => spans.short += 1,
            _ => spans
                .tested
                .extend(
                    test.row(&name, &values)
                        .map(|row| SpanRow { kind, boots, row }),
                ),
        }
    }
    for list in [
        &mut spans.tested,
        &mut spans.appeared,
        &mut spans.disappeared,
    ] {
        list.sort_by(|a, b| {
            let key = |s: &SpanRow| Reverse(s.row.shift_ns().unsigned_abs());
            key(a)
                .cmp(&key(b))
                .then_with(|| a.row.name.cmp(&b.row.name))
        });
    }
    spans
}

fn bare(name: &str, values: &[Vec<i64>; 2]) -> Row {
    let [before_ns, after_ns] = values.each_ref().map(|v| median(v));
    Row {
        name: name.to_owned(),
        before_ns,
        after_ns,
        effect: None,
        shapes: Default::default(),
        values_ns: Default::default(),
    }
}

/// How long each name lasted in one boot: all calls, or all processes, of it
/// together. What began after the boot's end is not of the boot; what has no
/// known end has no time.
fn durations(view: &View) -> BTreeMap<Key, i64> {
    let timeline = view.timeline;
    let until = extent_of(view).map(|e| e.end.ns);
    let inside = |ns: i64| until.is_none_or(|until| ns <= until);
    let mut all: BTreeMap<Key, i64> = BTreeMap::new();
    let mut add = |kind, name: String, ns: i64| {
        let sum = all.entry((kind, name)).or_insert(0);
        *sum = sum.saturating_add(ns);
    };
    for span in view.spans() {
        let plain = matches!(
            span.kind,
            TrackKind::Firmware
                | TrackKind::Bootloader
                | TrackKind::Kernel
                | TrackKind::Initcall
                | TrackKind::Userspace
        );
        if let (true, true, Some(end)) = (plain, inside(span.start.ns), span.end) {
            let name = view.name(&span);
            let name = name.strip_prefix("initcall ").unwrap_or(&name);
            add(span.kind, name.to_owned(), length_ns(&span.start, &end));
        }
    }
    for unit in units(timeline) {
        let begun = unit.start.is_none_or(|start| inside(start.ns));
        if let (true, Some(ns)) = (begun, unit.own_ns) {
            add(TrackKind::Unit, unit.name, ns);
        }
    }
    for process in processes(timeline, false).rows {
        let end = process.end_ns.filter(|end| inside(*end));
        if let Some(end) = end {
            let ns = end.saturating_sub(process.start_ns).max(0);
            add(TrackKind::Process, process.name, ns);
        }
    }
    for function in functions(timeline) {
        if function.kind == TrackKind::Function {
            add(TrackKind::Function, function.name, function.time_ns);
        }
    }
    all
}
