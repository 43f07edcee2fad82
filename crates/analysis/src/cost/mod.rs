//! What a boot spends most of its time on.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use bootlap_model::{Evidence, Milestone, Span, Stamp, Timeline, TrackKind};
use serde::Serialize;

use crate::disks::Waits;
use crate::ends::extent_of;
use crate::extent::{Extent, length_ns};
use crate::gap::{Side, Silence, line, silences};
use crate::known::{Known, known, left_over, taken};
use crate::phase::{Phase, PhaseName, phase_of, phase_of_all, phases_in};
use crate::view::{Seen, View};
use crate::work::Meter;

mod holes;
#[cfg(test)]
mod tests;
mod why;

/// Something that takes long and that a person would name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// What it is.
    pub name: String,
    /// The phase that most of it lies in; `None` where the boot has no known
    /// phase.
    pub phase: Option<PhaseName>,
    /// Whether it is known when it was; where not, `start` and `end` only tell how long.
    pub placed: bool,
    /// When it began.
    pub start: Stamp,
    /// When it ended.
    pub end: Stamp,
    /// How much of `start..end` is its own, ns: other costs may lie inside.
    pub duration_ns: i64,
    /// One sentence: what the machine did.
    pub why: String,
    /// How much of its own time the machine waited, 0 to 1, where that is
    /// known.
    pub idle_share: Option<f64>,
    /// Where it was read: what it is, or the lines around a silence. A finding is about
    /// it only if it cites one of these places.
    pub evidence: Vec<Evidence>,
}

/// Initcalls below this share of the boot are told as one.
const SHORT_INITCALL: i64 = 100;

/// Waiting for disks below this share of something is not said, nor below this, ns.
const SHORT_WAIT: i64 = 20;
const LEAST_WAIT_NS: i64 = 1_000_000;

/// Silences and bursts below this share of the boot are no cost.
const SHORT_SILENCE: i64 = 1000;

/// The `n` largest costs, the largest first. No moment belongs to two of them, as far as it
/// is known when they were.
///
/// First the known parts (the inner one of nested ones has the time; initcalls
/// below 1 % of the boot are summed), then the silences that no known part
/// covers, then the console text of each phase.
pub fn costs(timeline: &Timeline, n: usize) -> Vec<Cost> {
    let view = View::of(timeline);
    let silences: Vec<Silence> = silences(&view).collect();
    costs_in(&view, &phases_in(&view), &silences, n)
}

/// The shortest silence that is a cost, of a boot of this length, ns.
pub(crate) fn least_silence_ns(extent: &Extent) -> i64 {
    extent.duration_ns() / SHORT_SILENCE
}

/// `silences` are all of them from [`least_silence_ns`] on, and may be others.
pub(crate) fn costs_in(view: &View, phases: &[Phase], silences: &[Silence], n: usize) -> Vec<Cost> {
    let mut costs = lengths(view);
    if let Some(extent) = extent_of(view) {
        costs.extend(within(view, phases, silences, extent));
    }
    costs.sort_by(|a, b| {
        let key = |c: &Cost| (Reverse(c.duration_ns), c.start.ns, c.end.ns);
        key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
    });
    costs.truncate(n);
    costs
}

/// What has a length, but nobody knows when it was: such costs can overlap each other, and
/// those that have a place.
fn lengths(view: &View) -> Vec<Cost> {
    if !view.has_lengths() {
        return Vec::new();
    }
    let only = view.spans().filter(|s| view.is_only_a_length(s));
    let cost = |seen: Seen| {
        let (start, end) = (seen.start, seen.end?);
        Some(Cost {
            name: view.name(&seen),
            phase: None,
            placed: false,
            start,
            end,
            duration_ns: length_ns(&start, &end),
            why: "its own time; when it was is not in the evidence".to_owned(),
            idle_share: None,
            evidence: vec![view.timeline.spans.get(seen.index)?.evidence],
        })
    };
    only.filter_map(cost).collect()
}

/// What took the time of a boot.
fn within(view: &View, phases: &[Phase], silences: &[Silence], extent: Extent) -> Vec<Cost> {
    let timeline = view.timeline;
    let known = known(view, &extent, |_| true);
    let ledger = Ledger {
        timeline,
        phases,
        meter: Meter::in_view(view),
        waits: Waits::of(view),
        extent,
    };
    let mut costs = ledger.of_known(&known);
    let taken = taken(&known);
    costs.extend(ledger.of_silences(silences, &known, &taken));
    costs.extend(ledger.of_bursts(view, &taken));
    costs.extend(ledger.of_holes(view, silences, &taken));
    costs
}

/// What is needed to make a cost of stretches of time.
struct Ledger<'t> {
    timeline: &'t Timeline,
    phases: &'t [Phase],
    meter: Meter,
    waits: Waits,
    extent: Extent,
}

/// Console text of one phase.
#[derive(Default)]
struct Printed {
    own: Vec<(Stamp, Stamp)>,
    chars: u64,
}

impl<'t> Ledger<'t> {
    /// `did` says what happened, if anybody knows; the rest of the sentence is
    /// what the instruction counts say.
    fn cost(&self, name: String, own: &[(Stamp, Stamp)], did: Option<String>) -> Option<Cost> {
        let (start, end) = (own.first()?.0, own.last()?.1);
        let lengths = own.iter().map(|(a, b)| length_ns(a, b));
        let duration_ns = lengths.fold(0, i64::saturating_add);
        let insns = self.meter.instructions_in(own);
        let idle_share = insns.and_then(|i| self.meter.share(i, duration_ns));
        Some(Cost {
            name,
            phase: phase_of_all(self.phases, own),
            placed: true,
            start,
            end,
            duration_ns,
            why: why::sentence(did, insns, idle_share, self.waited_ns(own, duration_ns)),
            idle_share,
            evidence: Vec::new(),
        })
    }

    /// How much of these stretches the CPU waited for disks, ns, if that is worth a word.
    fn waited_ns(&self, own: &[(Stamp, Stamp)], duration_ns: i64) -> Option<i64> {
        let waited_ns = i64::try_from(self.waits.in_all(own)).ok()?;
        let least_ns = LEAST_WAIT_NS.max(duration_ns / SHORT_WAIT);
        (waited_ns >= least_ns).then_some(waited_ns)
    }

    /// The same, read from these spans of the timeline.
    fn cost_of(
        &self,
        name: String,
        own: &[(Stamp, Stamp)],
        did: Option<String>,
        spans: impl IntoIterator<Item = &'t Span>,
    ) -> Option<Cost> {
        let mut cost = self.cost(name, own, did)?;
        cost.evidence.extend(spans.into_iter().map(|s| s.evidence));
        Some(cost)
    }

    fn of_known(&self, known: &[Known]) -> Vec<Cost> {
        let limit_ns = self.extent.duration_ns() / SHORT_INITCALL;
        let is_short = |k: &&Known| k.kind() == Some(TrackKind::Initcall) && k.own_ns() < limit_ns;
        let (short, long): (Vec<&Known>, Vec<&Known>) = known.iter().partition(is_short);
        let mut costs: Vec<Cost> = long
            .iter()
            .filter_map(|k| self.cost_of(k.name(), &k.own, why::of(self.timeline, k), k.span()))
            .collect();
        // By phase: those of modules run in user space, seconds after the kernel's own.
        let mut by_phase: BTreeMap<Option<PhaseName>, Vec<&Known>> = BTreeMap::new();
        for known in short {
            let first = known.own.first();
            let phase = first.and_then(|(start, end)| phase_of(self.phases, start, end));
            by_phase.entry(phase).or_default().push(known);
        }
        for short in by_phase.into_values() {
            let mut own: Vec<_> = short.iter().flat_map(|k| k.own.iter().copied()).collect();
            own.sort_by_key(|o| o.0.ns);
            let did = "the kernel starts built-in drivers and subsystems".to_owned();
            let name = format!("{} short initcalls", short.len());
            let spans = short.iter().filter_map(|k| k.span());
            costs.extend(self.cost_of(name, &own, Some(did), spans));
        }
        costs
    }

    fn of_silences(
        &self,
        silences: &[Silence],
        known: &[Known],
        taken: &[(Stamp, Stamp)],
    ) -> Vec<Cost> {
        // Long silences are few, and known parts can be many.
        let mut ends: Vec<(i64, &Known)> = Vec::with_capacity(taken.len());
        ends.extend(
            known
                .iter()
                .flat_map(|k| k.own.iter().map(move |own| (own.1.ns, k))),
        );
        ends.sort_by_key(|end| end.0);
        let ends_at = |ns: i64| {
            let at = ends.binary_search_by_key(&ns, |end| end.0).ok()?;
            Some(ends[at].1)
        };
        let mut costs = Vec::new();
        for silence in silences.iter().filter(|s| self.is_long_ns(s.length_ns())) {
            for (start, end) in left_over(taken, silence.start, silence.end) {
                if !self.is_long(&start, &end) {
                    continue;
                }
                let name = match ends_at(start.ns) {
                    Some(stage) if stage.is_stage() => {
                        silence_name(Milestone::KernelClockStart.text())
                    }
                    Some(part) if is_last_before(part, silence, &start) => {
                        format!("silence after {}", part.name())
                    }
                    _ => silence_name(silence.before),
                };
                let around = silence.around.into_iter().flatten();
                let around = around.filter_map(|at| self.timeline.spans.get(at));
                let (name, did) = match silence.untimed {
                    None => (name, None),
                    Some(lines) => untimed(self.timeline, silence, lines),
                };
                costs.extend(self.cost_of(name, &[(start, end)], did, around));
            }
        }
        costs
    }

    /// Printing, by phase: single lines are short, together they are not.
    fn of_bursts(&self, view: &View, taken: &[(Stamp, Stamp)]) -> Vec<Cost> {
        let mut printed: BTreeMap<Option<PhaseName>, Printed> = BTreeMap::new();
        let mut shown_to_ns = i64::MIN;
        for burst in view.spans_of(|kind| kind == TrackKind::Console) {
            let Some(end) = burst.end else { continue };
            // What is blank ends no silence, and lies in one.
            if burst.name().trim().is_empty() {
                continue;
            }
            let window = self.extent.clip(burst.start, end);
            // Two consoles can print at once; the first one has the time.
            let Some((start, end)) = window.filter(|w| w.0.ns >= shown_to_ns) else {
                continue;
            };
            shown_to_ns = end.ns;
            let phase = phase_of(self.phases, &start, &end);
            let printed = printed.entry(phase).or_default();
            printed.own.extend(left_over(taken, start, end));
            printed.chars = printed.chars.saturating_add(chars(view, &burst));
        }
        let cost = |(phase, printed): (Option<PhaseName>, Printed)| {
            let whose = phase.map_or(String::new(), |p| format!(" of the {}", p.text()));
            let did = format!("prints {} characters", printed.chars);
            let cost = self.cost(format!("console text{whose}"), &printed.own, Some(did));
            cost.filter(|c| self.is_long_ns(c.duration_ns))
        };
        printed.into_iter().filter_map(cost).collect()
    }

    fn is_long(&self, start: &Stamp, end: &Stamp) -> bool {
        self.is_long_ns(length_ns(start, end))
    }

    fn is_long_ns(&self, duration_ns: i64) -> bool {
        duration_ns > least_silence_ns(&self.extent)
    }
}

/// How many characters a burst has: those of its text, or of the data that its
/// name stands for.
fn chars(view: &View, burst: &Seen) -> u64 {
    let text = || burst.name().chars().count() as u64;
    view.bytes(burst).unwrap_or_else(text)
}

/// What a stretch is called in which something was said, but nobody knows when.
fn untimed(timeline: &Timeline, silence: &Silence, lines: &str) -> (String, Option<String>) {
    let before = line(silence.before, Side::Last);
    let lines = match lines {
        "1" => "one line".to_owned(),
        n => format!("{n} lines"),
    };
    let behind = silence.around[0].map(|at| timeline.spans[at].evidence);
    let behind = behind.map(|at| match &timeline.files[..] {
        [_] => format!(", behind line {}", at.line),
        _ => format!(", behind {}:{}", timeline.file(at.file).name, at.line),
    });
    let did = format!(
        "{lines} without a time came meanwhile{}: record the console with bootlap",
        behind.unwrap_or_default()
    );
    (format!("what follows \"{before}\""), Some(did))
}

/// Whether `part` says better what came before `start` than the text does: that came
/// earlier, or is about it.
fn is_last_before(part: &Known, silence: &Silence, start: &Stamp) -> bool {
    part.text()
        .is_some_and(|text| silence.start.ns != start.ns || silence.before.contains(text))
}

/// Names a silence by the text (or the probe's milestone) before it.
pub(crate) fn silence_name(before: &str) -> String {
    format!("silence after \"{}\"", line(before, Side::Last))
}
