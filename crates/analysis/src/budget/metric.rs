//! What a budget can limit, and its values in one boot.

use std::collections::BTreeMap;

use bootlap_model::{SpanEnd, Timeline, TrackKind};
use serde::{Deserialize, Serialize};

use crate::ends::extent_of;
use crate::extent::{Extent, length_ns};
use crate::known::known;
use crate::phase::{PhaseName, phase_of, phases, phases_in};
use crate::view::View;

/// Something that a budget limits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// From power-on to ready, ns.
    Total,
    /// Instructions until ready.
    Instructions,
    /// Bytes on the console.
    ConsoleBytes,
    /// How long a phase lasts, ns.
    Phase(PhaseName),
    /// Instructions of a phase.
    PhaseInstructions(PhaseName),
    /// How long all that has this name lasts, ns.
    Span(String),
}

/// What a metric is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Instructions.
    Instructions,
    /// Bytes.
    Bytes,
}

impl Metric {
    /// What it is counted in.
    pub fn unit(&self) -> Unit {
        match self {
            Metric::Total | Metric::Phase(_) | Metric::Span(_) => Unit::Ns,
            Metric::Instructions | Metric::PhaseInstructions(_) => Unit::Instructions,
            Metric::ConsoleBytes => Unit::Bytes,
        }
    }

    /// What people call it.
    pub fn text(&self) -> String {
        match self {
            Metric::Total => "total".to_owned(),
            Metric::Instructions => "instructions".to_owned(),
            Metric::ConsoleBytes => "console bytes".to_owned(),
            Metric::Phase(phase) => phase.text().to_owned(),
            Metric::PhaseInstructions(phase) => format!("{} instructions", phase.text()),
            Metric::Span(name) => name.clone(),
        }
    }

    /// The phase that it is about, if it is about one.
    pub fn phase(&self) -> Option<PhaseName> {
        match self {
            Metric::Phase(phase) | Metric::PhaseInstructions(phase) => Some(*phase),
            _ => None,
        }
    }
}

/// A phase of one boot in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseMeasure {
    /// Which.
    pub name: PhaseName,
    /// How long it lasted, ns.
    pub ns: i64,
    /// Instructions executed in it, if they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<u64>,
}

/// What is measured of one boot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measures {
    /// What tells perturbations of one build apart: boots of equal perturbations are
    /// compared with each other. `None` where that means nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub perturbation: Option<String>,
    /// When it was ready, ns since power-on; `None` if it never was.
    pub ready_ns: Option<i64>,
    /// Instructions until ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<u64>,
    /// Bytes that the console carried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub console_bytes: Option<u64>,
    /// Its phases, in order.
    #[serde(default)]
    pub phases: Vec<PhaseMeasure>,
}

impl Measures {
    /// What a timeline tells; `console_bytes` and `perturbation` are known to others.
    pub fn of(timeline: &Timeline) -> Self {
        let view = View::of(timeline);
        let extent = extent_of(&view);
        let ready = extent.filter(|e| e.is_ready());
        let phases = phases(timeline);
        let phases = phases.iter().map(|p| PhaseMeasure {
            name: p.name,
            ns: p.duration_ns(),
            instructions: p.instructions(),
        });
        Self {
            perturbation: None,
            ready_ns: ready.map(|e| e.duration_ns()),
            instructions: ready.and_then(|e| e.start.insns_until(&e.end)),
            console_bytes: None,
            phases: phases.collect(),
        }
    }

    /// The value of a metric that needs no timeline; `None` for spans, and for
    /// what was not measured. A boot that never got ready has no totals.
    pub fn value(&self, metric: &Metric) -> Option<i64> {
        let count = |n: Option<u64>| n.map(|n| i64::try_from(n).unwrap_or(i64::MAX));
        let phase = |name: &PhaseName| self.phases.iter().find(|p| p.name == *name);
        match metric {
            Metric::Total => self.ready_ns,
            Metric::Instructions => count(self.instructions),
            Metric::ConsoleBytes => count(self.console_bytes),
            Metric::Phase(name) => Some(phase(name)?.ns),
            Metric::PhaseInstructions(name) => count(phase(name)?.instructions),
            Metric::Span(_) => None,
        }
    }
}

/// How long all that has a name lasted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpanTime {
    /// So long, ns; several of one name are summed.
    Lasted(i64),
    /// At least so long, ns: it was cut off at the end of the recording.
    AtLeast(i64),
    /// Nothing has this name, but others of its kind are there.
    Gone,
    /// Nothing has this name; the nearest names that there are.
    Unknown(Vec<String>),
}

/// How long what is called `name` lasted: by the name that `show --by spans`
/// prints, or that with its kind before it (`unit network.service`).
pub fn span_time(timeline: &Timeline, name: &str) -> SpanTime {
    let view = View::of(timeline);
    let extent = extent_of(&view);
    let end = extent.map(|e| e.end);
    let mut found: Vec<(i64, bool)> = Vec::new();
    let mut names: BTreeMap<String, TrackKind> = BTreeMap::new();
    for span in view.spans().filter(|s| s.kind != TrackKind::Console) {
        let plain = view.name(&span);
        let kind = span.kind.text();
        let is_it = plain == name
            || span.name() == name
            || name.strip_prefix(kind).and_then(|n| n.strip_prefix(' ')) == Some(span.name());
        if !is_it {
            names.insert(plain, span.kind);
            continue;
        }
        let open = timeline.spans[span.index].end == SpanEnd::OpenAtCut;
        match (span.end, end) {
            (Some(end), _) => found.push((length_ns(&span.start, &end), false)),
            (None, Some(end)) if open => found.push((length_ns(&span.start, &end), true)),
            _ => {}
        }
    }
    if found.is_empty() {
        let places = places_in(&view, extent.as_ref()).into_iter();
        found.extend(places.filter(|p| p.name == name).map(|p| (p.ns, false)));
    }
    let sum_ns = found.iter().fold(0, |sum: i64, f| sum.saturating_add(f.0));
    match found.iter().any(|f| f.1) {
        _ if found.is_empty() => not_there(name, &names),
        true => SpanTime::AtLeast(sum_ns),
        false => SpanTime::Lasted(sum_ns),
    }
}

/// Whether something of that name could have been there.
fn not_there(name: &str, names: &BTreeMap<String, TrackKind>) -> SpanTime {
    let kinds = names.values().map(|k| k.text());
    let unit_like = name.rsplit_once('.').is_some_and(|(_, end)| {
        ["service", "target", "socket", "mount", "device", "timer"].contains(&end)
    });
    let mut kinds = kinds.filter(|k| {
        name.starts_with(&format!("{k} ")) || (unit_like && *k == TrackKind::Unit.text())
    });
    if kinds.next().is_some() {
        return SpanTime::Gone;
    }
    let words: Vec<&str> = name
        .split([' ', '.', '_', '-'])
        .filter(|w| w.len() > 2)
        .collect();
    let alike = |other: &str| words.iter().filter(|w| other.contains(**w)).count();
    let mut near: Vec<(usize, &String)> = names.keys().map(|n| (alike(n), n)).collect();
    near.retain(|(alike, _)| *alike > 0);
    near.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    SpanTime::Unknown(near.into_iter().take(3).map(|(_, n)| n.clone()).collect())
}

/// A known part of a boot.
pub(super) struct Place {
    pub(super) name: String,
    /// Where most of it lies.
    pub(super) phase: Option<PhaseName>,
    /// Its own time, ns: what lies within it and is known, too, does not count.
    pub(super) ns: i64,
}

/// Every known part of the boot.
pub(super) fn places(timeline: &Timeline) -> Vec<Place> {
    let view = View::of(timeline);
    let extent = extent_of(&view);
    places_in(&view, extent.as_ref())
}

fn places_in(view: &View, extent: Option<&Extent>) -> Vec<Place> {
    let Some(extent) = extent else {
        return Vec::new();
    };
    let phases = phases_in(view);
    let known = known(view, extent, |_| true).into_iter();
    let place = known.map(|k| Place {
        phase: k.own.first().and_then(|(a, b)| phase_of(&phases, a, b)),
        ns: k.own_ns(),
        name: k.name(),
    });
    place.collect()
}
