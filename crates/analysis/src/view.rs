//! A timeline's events, all on one axis.

use std::cell::OnceCell;
use std::cmp::Reverse;

use bootlap_model::{
    Axis, ClockId, ClockKind, How, MarkKind, Milestone, Span, Stamp, TimeKind, Timeline, TrackKind,
};

use crate::extent::Extent;

/// A timeline together with its axis. Events that nothing relates to the axis
/// are left out: their time is not known.
pub(crate) struct View<'t> {
    pub(crate) timeline: &'t Timeline,
    axis: Axis,
    /// See [`Self::spans`]: asked for by every analysis, and long to sort.
    order: OnceCell<Vec<u32>>,
    /// See [`Self::bounds`].
    bounds: OnceCell<Option<(Stamp, Stamp)>>,
    /// The part of it that is the boot, once that was asked for.
    pub(crate) extent: OnceCell<Option<Extent>>,
}

/// A span on the axis.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'t> {
    timeline: &'t Timeline,
    pub(crate) kind: TrackKind,
    /// Whether the kernel's log gave its time.
    pub(crate) logged: bool,
    pub(crate) start: Stamp,
    /// `None` if the end is unknown.
    pub(crate) end: Option<Stamp>,
    /// Its index in the timeline.
    pub(crate) index: usize,
}

impl<'t> Seen<'t> {
    /// Its name, as it was read: looked up when it is asked for, for most are only counted.
    pub(crate) fn name(&self) -> &'t str {
        self.timeline.text(self.timeline.spans[self.index].name)
    }

    /// Its end, if that is known.
    fn last(&self) -> Stamp {
        self.end.unwrap_or(self.start)
    }

    /// The order of spans; among equals they come as they were read.
    fn order(&self) -> (i64, Reverse<i64>) {
        (self.start.ns, Reverse(self.last().ns))
    }
}

impl<'t> View<'t> {
    pub(crate) fn of(timeline: &'t Timeline) -> Self {
        Self {
            timeline,
            axis: Axis::of(timeline),
            order: OnceCell::new(),
            bounds: OnceCell::new(),
            extent: OnceCell::new(),
        }
    }

    /// Whether the axis is simulated time.
    pub(crate) fn simulated(&self) -> bool {
        self.axis
            .reference()
            .is_some_and(|clock| self.timeline.clock(clock).time == TimeKind::Simulated)
    }

    /// A moment of that clock on the axis, if something relates the two.
    pub(crate) fn at(&self, clock: ClockId, stamp: Stamp) -> Option<Stamp> {
        self.axis.at(clock, stamp)
    }

    /// The first mark of a milestone that the axis reaches.
    pub(crate) fn milestone(&self, milestone: Milestone) -> Option<Stamp> {
        self.axis.milestone(self.timeline, milestone)
    }

    /// All marks of a milestone whose clock is known to the axis, and not only assumed: several
    /// files can tell of it.
    pub(crate) fn known_milestones(&self, milestone: Milestone) -> impl Iterator<Item = Stamp> {
        let kind = MarkKind::Milestone(milestone);
        let marks = self.timeline.marks.iter().filter(move |m| m.kind == kind);
        let known = marks.filter(|m| {
            self.axis
                .how(m.clock)
                .is_some_and(|how| how != How::Assumed)
        });
        known.filter_map(|m| self.axis.mark(m))
    }

    /// All spans, in order of start, the longer first among equals. An end
    /// before the start is as good as none.
    pub(crate) fn spans(&self) -> impl Iterator<Item = Seen<'t>> + Clone {
        let order = self.order.get_or_init(|| self.sorted()).iter();
        order.filter_map(|index| self.seen(*index as usize))
    }

    /// The same of these kinds of lanes, without looking at more than the kind of all others:
    /// most are lines.
    pub(crate) fn spans_of(
        &self,
        wanted: impl Fn(TrackKind) -> bool + Clone,
    ) -> impl Iterator<Item = Seen<'t>> + Clone {
        let wanted: Vec<bool> = self
            .timeline
            .tracks
            .iter()
            .map(|t| wanted(t.kind))
            .collect();
        let order: &[u32] = match wanted.contains(&true) {
            true => self.order.get_or_init(|| self.sorted()),
            false => &[],
        };
        let is_wanted = move |index: &&u32| {
            let span = &self.timeline.spans[**index as usize];
            wanted[span.track.index()]
        };
        let wanted = order.iter().filter(is_wanted);
        wanted.filter_map(|index| self.seen(*index as usize))
    }

    /// The places of all spans, in their order. A long log has as many as lines: what they
    /// are is not kept.
    fn sorted(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.timeline.spans.len());
        let (mut last, mut in_order) = (None, true);
        for seen in self.unsorted() {
            let next = seen.order();
            in_order &= last.is_none_or(|last| last <= next);
            last = Some(next);
            order.push(seen.index as u32);
        }
        // One log's lines are in order as they were read.
        if !in_order {
            order.sort_by_cached_key(|&index| self.seen(index as usize).map(|s| s.order()));
        }
        order
    }

    /// The first span of this name, in the order of [`Self::spans`], without sorting all.
    pub(crate) fn first(&self, kind: TrackKind, name: &str) -> Option<Seen<'t>> {
        if !self.timeline.tracks.iter().any(|track| track.kind == kind) {
            return None;
        }
        let wanted = |s: &Seen| s.kind == kind && s.name() == name;
        self.unsorted().filter(wanted).min_by_key(Seen::order)
    }

    /// All spans, in the order in which they were read.
    fn unsorted(&self) -> impl Iterator<Item = Seen<'t>> {
        (0..self.timeline.spans.len()).filter_map(|index| self.seen(index))
    }

    fn seen(&self, index: usize) -> Option<Seen<'t>> {
        let timeline = self.timeline;
        let span = &timeline.spans[index];
        let placed = self.axis.span_or_length(timeline, span)?;
        Some(Seen {
            timeline,
            kind: timeline.kind_of(span),
            logged: timeline.clock(span.clock).kind == ClockKind::KernelPrintk,
            start: placed.start,
            end: placed.end.filter(|end| end.ns >= placed.start.ns),
            index,
        })
    }

    /// Whether only its length is known.
    pub(crate) fn is_only_a_length(&self, seen: &Seen) -> bool {
        self.timeline.is_only_a_length(self.span(seen))
    }

    /// Whether there can be any of these.
    pub(crate) fn has_lengths(&self) -> bool {
        let mut clocks = self.timeline.clocks.iter();
        clocks.any(|clock| clock.kind == ClockKind::Relative)
    }

    /// Whether its length is how long something lived: see [`Span::LIFETIME`].
    pub(crate) fn is_a_lifetime(&self, seen: &Seen) -> bool {
        self.arg(seen, Span::LIFETIME).is_some()
    }

    /// The value of a span's argument, as text.
    pub(crate) fn arg(&self, seen: &Seen, key: &str) -> Option<&'t str> {
        self.timeline.arg(self.span(seen), key)
    }

    /// How many bytes a span says that it is about.
    pub(crate) fn bytes(&self, seen: &Seen) -> Option<u64> {
        self.arg(seen, "bytes")?.parse().ok()
    }

    fn span(&self, seen: &Seen) -> &'t Span {
        &self.timeline.spans[seen.index]
    }

    /// What people read as the name of a span.
    pub(crate) fn name(&self, seen: &Seen) -> String {
        name_of(self.timeline, self.span(seen))
    }

    /// The counted moments of the reference clock. Counts on another clock
    /// belong to a moment close by (a line was logged a little before it was
    /// sent), so they are left out here.
    pub(crate) fn counted(&self) -> Vec<(i64, u64)> {
        let reference = self.axis.reference();
        let on_axis = |clock| Some(clock) == reference;
        let marks = self.timeline.marks.iter().filter(|m| on_axis(m.clock));
        let spans = self.timeline.spans.iter().filter(|s| on_axis(s.clock));
        let ends = spans.flat_map(|s| std::iter::once(s.start).chain(s.end.known()));
        let stamps = marks.map(|m| m.at).chain(ends);
        stamps.filter_map(|s| Some((s.ns, s.insns?))).collect()
    }

    /// The first and the last moment at which something is known to have
    /// happened. Of equal ones those of marks are the first, and spans come in
    /// the order of [`Self::spans`], which this does without sorting.
    pub(crate) fn bounds(&self) -> Option<(Stamp, Stamp)> {
        *self.bounds.get_or_init(|| self.find_bounds())
    }

    fn find_bounds(&self) -> Option<(Stamp, Stamp)> {
        let (mut first, mut last): (Option<Seen>, Option<Seen>) = (None, None);
        for seen in self.unsorted().filter(|s| !self.is_only_a_length(s)) {
            if first.is_none_or(|f| seen.order() < f.order()) {
                first = Some(seen);
            }
            let key = |s: &Seen| (s.last().ns, s.order());
            if last.is_none_or(|l| key(&seen) >= key(&l)) {
                last = Some(seen);
            }
        }
        let marks = self.timeline.marks.iter();
        let marks: Vec<Stamp> = marks.filter_map(|m| self.axis.mark(m)).collect();
        let of_first = marks.iter().copied().chain(first.map(|s| s.start));
        let of_last = marks.iter().copied().chain(last.map(|s| s.last()));
        Some((
            of_first.min_by_key(|s| s.ns)?,
            of_last.max_by_key(|s| s.ns)?,
        ))
    }
}

/// What people read as the name of a span.
pub(crate) fn name_of(timeline: &Timeline, span: &Span) -> String {
    let name = timeline.text(span.name);
    let arg = |key| timeline.arg(span, key);
    match (timeline.kind_of(span), arg("image"), arg("module")) {
        (TrackKind::Initcall, ..) if is_probe(timeline, span) => format!("probe of {name}"),
        (TrackKind::Initcall, _, Some(module)) => format!("initcall {name} [{module}]"),
        (TrackKind::Initcall, ..) => format!("initcall {name}"),
        (TrackKind::Bootloader, Some(image), _) if name == "hash check" => {
            format!("hash check of {image}")
        }
        _ => name.to_owned(),
    }
}

/// Whether a span is a device's probe, which runs within an initcall and is
/// named after the device: its lane says so.
pub(crate) fn is_probe(timeline: &Timeline, span: &Span) -> bool {
    timeline.text(timeline.track_of(span).name) == "device probes"
}
