//! What of a boot has a name: spans of sources, one by one.

use bootlap_model::{Milestone, Span, Stamp, Timeline, TrackKind};
use smallvec::SmallVec;

use crate::extent::Extent;
use crate::flatten::{Claim, Piece, flatten};
use crate::view::{View, name_of};

/// Something named, with the time that is its own: what runs inside it is
/// taken out. A boot has as many as initcalls, so each is small.
pub(crate) struct Known<'t> {
    timeline: &'t Timeline,
    what: What,
    /// Its stretches, in order, disjoint from those of all others. Most have one.
    pub(crate) own: SmallVec<[(Stamp, Stamp); 1]>,
}

/// What has the time.
#[derive(Clone, Copy)]
enum What {
    /// The span of this index.
    Span(u32),
    /// A stage between milestones, or what many lines cost together.
    Stage(&'static str),
}

/// The stage before the kernel runs where it was linked to run: its first
/// instructions, and on some architectures it unpacks itself.
pub(crate) const HEAD: &str = "image start-up";

/// What lines of the kernel's log took on a serial console, where their ends are known:
/// whatever was at work waited for them, so the time is theirs.
pub(crate) const PRINTING: &str = "kernel messages on the serial console";

/// The stage that ends where the kernel's log can begin.
pub(crate) const BEFORE_CLOCK: &str = "before its clock";

impl<'t> Known<'t> {
    /// What people read.
    pub(crate) fn name(&self) -> String {
        match self.what {
            What::Span(_) => self
                .span()
                .map_or(String::new(), |s| name_of(self.timeline, s)),
            What::Stage(name) => name.to_owned(),
        }
    }

    /// The stage that it is, if it is no span.
    pub(crate) fn stage(&self) -> Option<&'static str> {
        match self.what {
            What::Span(_) => None,
            What::Stage(name) => Some(name),
        }
    }

    /// The span it was read from.
    pub(crate) fn span(&self) -> Option<&'t Span> {
        match self.what {
            What::Span(index) => self.timeline.spans.get(index as usize),
            What::Stage(_) => None,
        }
    }

    /// The name of that span, as it was read.
    pub(crate) fn text(&self) -> Option<&'t str> {
        Some(self.timeline.text(self.span()?.name))
    }

    /// The time that is its own, ns.
    pub(crate) fn own_ns(&self) -> i64 {
        let lengths = self.own.iter().map(|(a, b)| crate::extent::length_ns(a, b));
        lengths.fold(0, i64::saturating_add)
    }

    /// Whether it is a stage between milestones.
    pub(crate) fn is_stage(&self) -> bool {
        self.stage().is_some_and(|stage| stage != PRINTING)
    }

    /// What lane it is on.
    pub(crate) fn kind(&self) -> Option<TrackKind> {
        self.span().map(|span| self.timeline.kind_of(span))
    }
}

/// Everything named inside the boot that has time of its own, in order of
/// start. `kinds` says which spans to tell apart from the rest.
pub(crate) fn known<'t>(
    view: &View<'t>,
    extent: &Extent,
    kinds: impl Fn(TrackKind) -> bool,
) -> Vec<Known<'t>> {
    let mut known: Vec<Known> = Vec::new();
    let (mut claims, mut owners): (Vec<Claim>, Vec<usize>) = Default::default();
    let part = |what| Known {
        timeline: view.timeline,
        what,
        own: SmallVec::new(),
    };
    let mut add = |what, start: Stamp, end: Stamp, rank| {
        if let Some((start, end)) = extent.clip(start, end) {
            claims.push(Claim { start, end, rank });
            owners.push(known.len());
            known.push(part(what));
        }
    };
    let entry = view.milestone(Milestone::KernelEntry);
    let clock = view.milestone(Milestone::KernelClockStart);
    let image = view.milestone(Milestone::KernelImage);
    if let (Some(image), Some(entry)) = (image, entry) {
        add(What::Stage(HEAD), image, entry, 1);
    }
    if let (Some(entry), Some(clock)) = (entry, clock) {
        add(What::Stage(BEFORE_CLOCK), entry, clock, 1);
    }
    let mut printed: Vec<(Stamp, Stamp)> = Vec::new();
    for span in view.spans() {
        let Some(end) = span.end else { continue };
        match span.kind {
            kind if !kinds(kind) => {}
            _ if view.is_only_a_length(&span) || view.is_a_lifetime(&span) => {}
            TrackKind::Console if span.logged => printed.extend(extent.clip(span.start, end)),
            TrackKind::Console => {}
            _ => add(What::Span(span.index as u32), span.start, end, 0),
        }
    }
    if !printed.is_empty() {
        let rank = 0;
        owners.extend(printed.iter().map(|_| known.len()));
        let lines = printed.into_iter();
        claims.extend(lines.map(|(start, end)| Claim { start, end, rank }));
        known.push(part(What::Stage(PRINTING)));
    }
    for Piece { start, end, claim } in flatten(&claims) {
        known[owners[claim]].own.push((start, end));
    }
    known.retain(|k| !k.own.is_empty());
    known.sort_by_key(|k| k.own[0].0.ns);
    known
}

/// The stretches of `start..end` that `taken` (in order, disjoint) leaves.
pub(crate) fn left_over(taken: &[(Stamp, Stamp)], start: Stamp, end: Stamp) -> Vec<(Stamp, Stamp)> {
    let mut left = Vec::new();
    let mut from = start;
    let first = taken.partition_point(|t| t.1.ns <= start.ns);
    for &(taken_from, taken_to) in &taken[first..] {
        if taken_from.ns >= end.ns {
            break;
        }
        if from.ns < taken_from.ns {
            left.push((from, taken_from));
        }
        from = taken_to;
    }
    if from.ns < end.ns {
        left.push((from, end));
    }
    left
}

/// The stretches of everything in `known`, in order.
pub(crate) fn taken(known: &[Known]) -> Vec<(Stamp, Stamp)> {
    let mut taken: Vec<_> = known.iter().flat_map(|k| k.own.iter().copied()).collect();
    taken.sort_by_key(|t| t.0.ns);
    taken
}
