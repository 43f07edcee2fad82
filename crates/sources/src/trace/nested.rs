//! Slices that nest: each begins within the one that is open.

use std::collections::HashMap;
use std::hash::Hash;

use bootlap_model::{Evidence, Severity, SpanEnd, SpanId, Stamp};

use crate::text::Import;

/// More than any recording of a boot, 200 bytes each.
const MAX_SLICES: usize = 2_000_000;
/// Deeper ones are left out: somebody forgot to end them.
const MAX_DEPTH: usize = 512;

/// What is open, by thread or track.
pub(crate) struct Nested<K> {
    /// The innermost last; `None` for what is not kept.
    open: HashMap<K, Vec<Option<SpanId>>>,
    kept: usize,
}

impl<K> Default for Nested<K> {
    fn default() -> Self {
        Self {
            open: HashMap::new(),
            kept: 0,
        }
    }
}

impl<K: Hash + Eq> Nested<K> {
    /// A slice begins, which `span` adds to the timeline if there is room.
    pub(crate) fn begin(
        &mut self,
        key: K,
        evidence: Evidence,
        import: &mut Import<'_>,
        span: impl FnOnce(&mut Import<'_>) -> SpanId,
    ) {
        let open = self.open.entry(key).or_default();
        if open.len() >= MAX_DEPTH {
            return;
        }
        self.kept += 1;
        let kept = (self.kept <= MAX_SLICES).then(|| span(import));
        open.push(kept);
        if kept.is_none() {
            import.notice(
                "slices-left-out",
                Severity::DataLoss,
                evidence,
                "only the first two million slices are shown: record fewer categories",
            );
        }
    }

    /// The innermost one ends; one that began before the recording is not known.
    pub(crate) fn end(&mut self, key: &K, at: Stamp, import: &mut Import<'_>) {
        if let Some(span) = self.open.get_mut(key).and_then(Vec::pop).flatten() {
            end(span, at, import);
        }
    }
}

/// What is open has ended.
pub(super) fn end(span: SpanId, at: Stamp, import: &mut Import<'_>) {
    let span = import.timeline.span_mut(span);
    span.end = match at.ns >= span.start.ns {
        true => SpanEnd::At(at),
        false => SpanEnd::Unknown,
    };
}
