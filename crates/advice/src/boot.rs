//! What rules look at.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use bootlap_analysis::functions::{Wait, waits_below};
use bootlap_analysis::{Accesses, Ends, Extent, Meter, accesses, extent};
use bootlap_kbuild::dot_config::DotConfig;
use bootlap_model::{
    Axis, BITS_PER_BYTE, Counter, Evidence, Milestone, Span, Stamp, Sym, Timeline, TrackKind,
};
use bootlap_product::cmdline;
use bootlap_product::recipe::Choice;
use bootlap_product::{Parts, Target};

use crate::Facts;
use crate::chain::Chain;
use crate::lines::{Line, Lines, Said, Wanted, message};

/// One boot, and what was booted.
pub struct Boot<'a> {
    seen: View<'a>,
    explained: Option<View<'a>>,
    target: Option<(&'a Target, &'a Parts)>,
    facts: Facts,
    lines: Lines<'a>,
    chain: OnceCell<Option<Chain>>,
    printing: OnceCell<Vec<[i64; 2]>>,
    accesses: OnceCell<Accesses>,
    waits: OnceCell<BTreeMap<String, Vec<Wait>>>,
}

/// A timeline on its axis.
struct View<'a> {
    timeline: &'a Timeline,
    axis: Axis,
    /// When the boot was over, ns on the axis: what came later cost it nothing.
    end_ns: i64,
    /// Spans by kind, as they were read; not the console's, which are far more than
    /// all others and which rules go through as [`Boot::lines`].
    kinds: BTreeMap<TrackKind, Vec<&'a Span>>,
}

impl<'a> View<'a> {
    fn of(timeline: &'a Timeline) -> Self {
        Self::within(timeline, extent(timeline))
    }

    fn within(timeline: &'a Timeline, extent: Option<Extent>) -> Self {
        let mut kinds: BTreeMap<TrackKind, Vec<&Span>> = BTreeMap::new();
        for span in &timeline.spans {
            match timeline.kind_of(span) {
                TrackKind::Console => {}
                kind => kinds.entry(kind).or_default().push(span),
            }
        }
        let known = extent.filter(|extent| extent.ends != Ends::Last);
        Self {
            timeline,
            axis: Axis::of(timeline),
            end_ns: known.map_or(i64::MAX, |extent| extent.end.ns),
            kinds,
        }
    }

    /// All ended spans of this kind, as they were read.
    fn spans(&self, kind: TrackKind) -> impl Iterator<Item = Found<'a>> {
        self.among(kind, |_| true)
    }

    /// The same of those with one of these names, by their symbols: there may be a hundred
    /// thousand initcalls, and a hundred rules that ask for some.
    fn named(&self, kind: TrackKind, names: &[&str]) -> impl Iterator<Item = Found<'a>> {
        let symbols = names.iter().filter_map(|n| self.timeline.symbols.find(n));
        let symbols: Vec<Sym> = symbols.collect();
        self.among(kind, move |span| symbols.contains(&span.name))
    }

    fn among(
        &self,
        kind: TrackKind,
        wanted: impl Fn(&Span) -> bool,
    ) -> impl Iterator<Item = Found<'a>> {
        let console = match kind {
            TrackKind::Console => &self.timeline.spans[..],
            _ => &[],
        };
        let console = console
            .iter()
            .filter(move |s| self.timeline.kind_of(s) == kind);
        let others = self.kinds.get(&kind).into_iter().flatten().copied();
        let spans = console.chain(others).filter(move |span| wanted(span));
        spans.filter_map(|span| {
            let placed = self.axis.span_or_length(self.timeline, span)?;
            if placed.start.ns > self.end_ns {
                return None;
            }
            Some(Found {
                timeline: self.timeline,
                span,
                start_ns: placed.start.ns,
                end_ns: placed.end?.ns,
            })
        })
    }
}

/// A span that a rule found, on the axis.
#[derive(Clone)]
pub(crate) struct Found<'a> {
    timeline: &'a Timeline,
    pub(crate) span: &'a Span,
    pub(crate) start_ns: i64,
    pub(crate) end_ns: i64,
}

impl<'a> Found<'a> {
    pub(crate) fn ns(&self) -> i64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    pub(crate) fn name(&self) -> &'a str {
        self.timeline.text(self.span.name)
    }

    pub(crate) fn arg(&self, key: &str) -> Option<&'a str> {
        self.timeline.arg(self.span, key)
    }

    pub(crate) fn at(&self) -> [i64; 2] {
        [self.start_ns, self.end_ns]
    }

    /// The name of its track, e.g. `device probes`.
    pub(crate) fn track(&self) -> &'a str {
        self.timeline.text(self.timeline.track_of(self.span).name)
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

/// What every boot offers to whoever asks for advice.
impl<'a> Boot<'a> {
    /// A boot of which only the evidence is known.
    pub fn new(timeline: &'a Timeline) -> Self {
        Self::within(timeline, extent(timeline))
    }

    /// The same of a boot whose [`extent()`] is known already.
    pub fn within(timeline: &'a Timeline, extent: Option<Extent>) -> Self {
        let seen = View::within(timeline, extent);
        let lines = Lines::of(timeline, &seen.axis, seen.end_ns);
        Self {
            seen,
            explained: None,
            target: None,
            facts: Facts::of_boot(timeline),
            lines,
            chain: OnceCell::new(),
            printing: OnceCell::new(),
            accesses: OnceCell::new(),
            waits: OnceCell::new(),
        }
    }

    /// With the same target booted with `initcall_debug`, if that was done: it
    /// tells which initcalls the kernel's time goes into, at its own cost.
    #[must_use]
    pub fn explained(mut self, timeline: Option<&'a Timeline>) -> Self {
        self.explained = timeline.map(View::of);
        self
    }

    /// With what was booted; without it rules go by the evidence alone.
    #[must_use]
    pub fn of(mut self, target: &'a Target, parts: &'a Parts) -> Self {
        self.target = Some((target, parts));
        self.facts = Facts::of_target(target, parts).or(self.facts);
        self
    }

    /// With what else is known.
    #[must_use]
    pub fn knowing(mut self, facts: Facts) -> Self {
        self.facts = facts.or(self.facts);
        self
    }
}

/// What an initcall takes behind the end of a span that it waited for, ns; `None` if it did not:
/// it started in the span, and what comes behind is a small part of it.
fn waited(call: &Found<'_>, span: &Found<'_>) -> Option<i64> {
    const SMALL: i64 = 20;
    let behind_ns = call.end_ns.saturating_sub(span.end_ns);
    let within = (span.start_ns..span.end_ns).contains(&call.start_ns);
    (within && behind_ns >= 0 && behind_ns <= call.ns() / SMALL).then_some(behind_ns)
}

/// What rules ask.
impl<'a> Boot<'a> {
    pub(crate) fn timeline(&self) -> &'a Timeline {
        self.seen.timeline
    }

    pub(crate) fn axis(&self) -> &Axis {
        &self.seen.axis
    }

    pub(crate) fn target(&self) -> Option<(&'a Target, &'a Parts)> {
        self.target
    }

    /// What programs did with files, if their calls were recorded.
    pub(crate) fn accesses(&self) -> &Accesses {
        self.accesses.get_or_init(|| accesses(self.seen.timeline))
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The ended spans of this kind and name, in order.
    pub(crate) fn spans(&self, kind: TrackKind, name: &str) -> Vec<Found<'a>> {
        self.seen.named(kind, &[name]).collect()
    }

    /// All ended spans of this kind, in order.
    pub(crate) fn spans_of(&self, kind: TrackKind) -> Vec<Found<'a>> {
        self.seen.spans(kind).collect()
    }

    /// The boot that explains if there is one.
    fn explaining(&self) -> &View<'a> {
        self.explained.as_ref().unwrap_or(&self.seen)
    }

    /// The initcalls of these names, of the boot that explains if there is one.
    pub(crate) fn initcalls(&self, names: &[&str]) -> Vec<Found<'a>> {
        let calls = self.explaining().named(TrackKind::Initcall, names);
        calls.collect()
    }

    /// All that last so long at least.
    pub(crate) fn long_initcalls(&self, least_ns: i64) -> Vec<Found<'a>> {
        let calls = self.explaining().spans(TrackKind::Initcall);
        calls.filter(|call| call.ns() >= least_ns).collect()
    }

    /// Whether there are any.
    pub(crate) fn has_initcalls(&self) -> bool {
        let mut calls = self.explaining().spans(TrackKind::Initcall);
        calls.next().is_some()
    }

    /// What an initcall of [`initcalls`](Self::initcalls) takes itself, ns: all of it, or, if it
    /// waited for the initramfs, what is behind that. One that asks for a module or a program does
    /// wait (`kernel/umh.c`, since Linux 5.13): it starts while the initramfs is unpacked, and ends
    /// soon after.
    pub(crate) fn own_ns(&self, call: &Found<'_>) -> i64 {
        let mut unpacks = self
            .explaining()
            .named(TrackKind::Kernel, &[Span::UNPACK_INITRAMFS]);
        let own = unpacks.find_map(|unpack| waited(call, &unpack));
        own.unwrap_or_else(|| call.ns())
    }

    /// What was waited for in an initcall of [`initcalls`](Self::initcalls), the longest first;
    /// nothing without a trace of functions.
    pub(crate) fn waits_in(&self, initcall: &str) -> &[Wait] {
        let waits = || {
            let names: Vec<&str> = self.initcall_names().collect();
            waits_below(self.explaining().timeline, &names)
        };
        let waits = self.waits.get_or_init(waits).get(initcall);
        waits.map_or(&[], Vec::as_slice)
    }

    fn initcall_names(&self) -> impl Iterator<Item = &'a str> {
        let calls = self.explaining().spans(TrackKind::Initcall);
        calls.map(|call| call.name())
    }

    /// Which share of the kernel's spans of this name, from 0 to 1, initcalls
    /// other than `own` ran beside, but for those that waited for one; of the boot that explains
    /// if there is one. `None` if it tells of no others.
    pub(crate) fn beside_initcalls(&self, name: &str, own: &str) -> Option<f64> {
        let view = self.explaining();
        let spans: Vec<Found<'_>> = view.named(TrackKind::Kernel, &[name]).collect();
        let calls = view.spans(TrackKind::Initcall);
        let calls: Vec<Found<'_>> = calls.filter(|call| call.name() != own).collect();
        if calls.is_empty() {
            return None;
        }
        let mut shared_ns = 0_i64;
        for span in &spans {
            let mut since = span.start_ns;
            for call in calls.iter().filter(|call| waited(call, span).is_none()) {
                let end_ns = call.end_ns.min(span.end_ns);
                let more_ns = end_ns.saturating_sub(call.start_ns.max(since)).max(0);
                shared_ns = shared_ns.saturating_add(more_ns);
                since = since.max(end_ns);
            }
        }
        Some(match total_ns(&spans) {
            0 => 0.0,
            ns => shared_ns as f64 / ns as f64,
        })
    }

    /// Where in this boot an initcall lies: itself, or, if another boot
    /// explained it, the silence that is like it.
    pub(crate) fn place_of(&self, initcall: &Found<'a>) -> Option<Found<'a>> {
        match &self.explained {
            Some(explained) => self.silence_like(explained, initcall),
            None => Some(initcall.clone()),
        }
    }

    /// Where in this boot lies what `found` shows of the explained one, which
    /// has times of its own: the silence after the last line before it that
    /// both boots print, if it is about as long.
    fn silence_like(&self, explained: &View<'a>, found: &Found<'_>) -> Option<Found<'a>> {
        let theirs: Vec<Found<'_>> = explained.spans(TrackKind::Console).collect();
        let mut ours = self.spans_of(TrackKind::Console);
        let before = theirs.iter().rev().filter(|l| l.end_ns <= found.start_ns);
        let at = before.map(|line| message(line.name())).find_map(|said| {
            let same = |l: &Found<'_>| message(l.name()) == said;
            ours.iter().rposition(same)
        })?;
        let end_ns = ours.get(at + 1)?.start_ns;
        let line = ours.swap_remove(at);
        let silence = Found {
            start_ns: line.end_ns,
            end_ns,
            ..line
        };
        let is_like = silence.ns() >= found.ns() / 2 && silence.ns() / 2 <= found.ns();
        is_like.then_some(silence)
    }

    /// All lines of text, by time.
    pub(crate) fn lines(&self) -> Said<'_, 'a> {
        self.lines.said()
    }

    /// The first line that is wanted.
    pub(crate) fn line(&self, wanted: impl Wanted) -> Option<Line<'a>> {
        self.lines().find(wanted).copied()
    }

    /// From the first line that contains `from` to the first one after it
    /// that contains `to`, ns on the axis.
    pub(crate) fn between(&self, from: &str, to: &str) -> Option<[i64; 2]> {
        let lines = self.lines();
        let at = lines.places(from).next()?;
        let end = lines.since(at + 1).find(to)?;
        Some([lines[at].start_ns, end.start_ns])
    }

    /// When this boot passed the first of these that it was seen to pass, ns.
    pub(crate) fn moment(&self, milestones: &[Milestone]) -> Option<i64> {
        let timeline = self.seen.timeline;
        let mark = milestones.iter().find_map(|m| timeline.milestone(*m))?;
        Some(self.seen.axis.mark(mark)?.ns)
    }

    /// What a counter said last, in its own unit: `memory free`, kB.
    pub(crate) fn counted_last(&self, name: &str) -> Option<f64> {
        let timeline = self.timeline();
        let is = |counter: &&Counter| timeline.text(counter.name) == name;
        let (_, value) = timeline.counters.iter().find(is)?.samples.last()?;
        Some(*value)
    }

    /// The kernel's version, as its first line says it: `(6, 12)`.
    pub(crate) fn kernel_version(&self) -> Option<(u32, u32)> {
        let line = self.line("Linux version ")?;
        let (_, version) = line.text.split_once("Linux version ")?;
        let mut numbers = version.split(|c: char| !c.is_ascii_digit());
        let mut next = || numbers.next()?.parse().ok();
        Some((next()?, next()?))
    }

    /// The parameter of this name on the kernel's command line, whole, as in
    /// `loglevel=3`; the last, which counts.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let words = cmdline::words(self.facts.cmdline.as_deref()?);
        let found = words.into_iter().rev();
        found.into_iter().find(|w| cmdline::is_parameter(w, name))
    }

    /// Whether the command line is known and has no parameter of this name.
    pub(crate) fn lacks(&self, name: &str) -> bool {
        self.facts.cmdline.is_some() && self.parameter(name).is_none()
    }

    /// What the units of this boot waited for; `None` where no ordering of them
    /// is known.
    pub(crate) fn chain(&self) -> Option<&Chain> {
        let chain = || Chain::of(self.seen.timeline, &self.seen.axis);
        self.chain.get_or_init(chain).as_ref()
    }

    /// When a serial console was busy, by the times in the kernel's log.
    pub(crate) fn printing(&self) -> &[[i64; 2]] {
        self.printing.get_or_init(|| self.all_printing())
    }

    /// The kernel's `.config`.
    pub(crate) fn kernel_config(&self) -> Option<&DotConfig> {
        self.facts.kernel_config.as_ref()
    }

    /// U-Boot's `.config`.
    pub(crate) fn uboot_config(&self) -> Option<&DotConfig> {
        self.facts.uboot_config.as_ref()
    }

    /// A variable of U-Boot's environment.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.facts.environment.as_ref()?.get(name)
    }

    /// What U-Boot counted down from where nothing has a time, seconds.
    pub(crate) fn countdown_s(&self) -> Option<u32> {
        self.facts.countdown_s
    }

    /// How much of this stretch the machine had nothing to do, ns; known in
    /// simulated time only.
    pub(crate) fn waited_ns(&self, [start, end]: [i64; 2]) -> Option<i64> {
        let at = |ns| Stamp::new(ns, 0);
        let share = Meter::of(self.timeline()).idle_share(&at(start), &at(end))?;
        Some((share * end.saturating_sub(start) as f64) as i64)
    }

    /// A variable of barebox's environment, as `nv` sets it.
    pub(crate) fn nv(&self, name: &str) -> Option<&str> {
        self.facts.barebox.as_ref()?.variable(name)
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

    /// The same of a recipe that changes something called `what`.
    pub(crate) fn recipe_about(&self, name: &str, what: &str) -> Result<String, String> {
        let (target, parts) = self.target.ok_or("no target was given")?;
        let choice = Choice::parse(name).map_err(|e| e.to_string())?;
        let edits = choice.edits(target, parts)?;
        match edits.iter().any(|edit| edit.key.contains(what)) {
            true => Ok(choice.name()),
            false => Err(format!("it does not change {what}")),
        }
    }

    /// The speed of the real board's console in baud, as `[board]` or the
    /// command line says it.
    pub(crate) fn baud(&self) -> u64 {
        let target = self.target.map(|(target, _)| target);
        let stated = target.and_then(|t| t.board.as_ref()).map(|b| b.baud);
        let said = stated.or_else(|| cmdline::console_baud(self.facts.cmdline.as_deref()?));
        let said = self.measured_baud().or(said.map(u64::from));
        said.unwrap_or(DEFAULT_BAUD)
    }

    /// What this many bytes take on the board's console, ns.
    pub(crate) fn on_the_line_ns(&self, bytes: u64) -> i64 {
        let bits = u128::from(bytes) * u128::from(BITS_PER_BYTE);
        let ns = bits * 1_000_000_000 / u128::from(self.baud().max(1));
        i64::try_from(ns).unwrap_or(i64::MAX)
    }
}

/// What nearly every board's console runs at.
const DEFAULT_BAUD: u64 = 115_200;
