//! What of a boot has a name: spans of sources, one by one.

use bootlap_model::{Milestone, Stamp, TrackKind};

use crate::extent::Extent;
use crate::flatten::{Claim, Piece, flatten};
use crate::view::{Seen, View};

/// Something named, with the time that is its own: what runs inside it is
/// taken out.
pub(crate) struct Known<'t> {
    /// What people read.
    pub(crate) name: String,
    /// The span it was read from; `None` for a stage between milestones, and for what
    /// many lines cost together.
    pub(crate) span: Option<Seen<'t>>,
    /// Its stretches, in order, disjoint from those of all others.
    pub(crate) own: Vec<(Stamp, Stamp)>,
}

/// The stage before the kernel runs where it was linked to run: its first
/// instructions, and on some architectures it unpacks itself.
pub(crate) const HEAD: &str = "image start-up";

/// What lines of the kernel's log took on a serial console, where their ends are known:
/// whatever was at work waited for them, so the time is theirs.
pub(crate) const PRINTING: &str = "kernel messages on the serial console";

/// The stage that ends where the kernel's log can begin.
pub(crate) const BEFORE_CLOCK: &str = "before its clock";

impl Known<'_> {
    /// The time that is its own, ns.
    pub(crate) fn own_ns(&self) -> i64 {
        let lengths = self.own.iter().map(|(a, b)| crate::extent::length_ns(a, b));
        lengths.fold(0, i64::saturating_add)
    }

    /// Whether it is a stage between milestones.
    pub(crate) fn is_stage(&self) -> bool {
        self.span.is_none() && self.name != PRINTING
    }

    /// What lane it is on.
    pub(crate) fn kind(&self) -> Option<TrackKind> {
        self.span.map(|s| s.kind)
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
    let mut claims: Vec<(Claim, usize)> = Vec::new();
    let mut add = |name: String, span, start: Stamp, end: Stamp, rank| {
        if let Some((start, end)) = extent.clip(start, end) {
            let own = Vec::new();
            claims.push((Claim { start, end, rank }, known.len()));
            known.push(Known { name, span, own });
        }
    };
    let entry = view.milestone(Milestone::KernelEntry);
    let clock = view.milestone(Milestone::KernelClockStart);
    let image = view.milestone(Milestone::KernelImage);
    if let (Some(image), Some(entry)) = (image, entry) {
        add(HEAD.to_owned(), None, image, entry, 1);
    }
    if let (Some(entry), Some(clock)) = (entry, clock) {
        add(BEFORE_CLOCK.to_owned(), None, entry, clock, 1);
    }
    let mut printed: Vec<(Stamp, Stamp)> = Vec::new();
    for span in view.spans() {
        let Some(end) = span.end else { continue };
        match span.kind {
            kind if !kinds(kind) => {}
            _ if view.is_only_a_length(&span) || view.is_a_lifetime(&span) => {}
            TrackKind::Console if span.logged => printed.extend(extent.clip(span.start, end)),
            TrackKind::Console => {}
            _ => add(view.name(&span), Some(span), span.start, end, 0),
        }
    }
    if !printed.is_empty() {
        let lines = printed.into_iter();
        let rank = 0;
        claims.extend(lines.map(|(start, end)| (Claim { start, end, rank }, known.len())));
        known.push(Known {
            name: PRINTING.to_owned(),
            span: None,
            own: Vec::new(),
        });
    }
    let (claims, owners): (Vec<Claim>, Vec<usize>) = claims.into_iter().unzip();
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
