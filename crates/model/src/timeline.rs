//! The merged model: filled by sources, read by everybody else.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::{
    Anchor, Clock, ClockEdge, ClockId, ClockKind, Counter, Evidence, EvidenceFile, FileId, FileUse,
    Link, LinkKind, Mark, MarkKind, Milestone, Notice, Read, Request, Severity, Span, SpanEnd,
    SpanId, Stamp, Sym, Symbols, TimeKind, Track, TrackId, TrackKind, Usage,
};

/// All that is known of one boot.
///
/// Events stay on the clock they were stamped by and in the order in which
/// they were read; [`Axis`](crate::Axis) puts them on one reference clock.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Timeline {
    /// Names of everything.
    pub symbols: Symbols,
    /// The evidence that was read.
    pub files: Vec<EvidenceFile>,
    /// The clocks met, by [`ClockId`].
    pub clocks: Vec<Clock>,
    /// What is known of how the clocks relate.
    pub edges: Vec<ClockEdge>,
    /// The lanes, by [`TrackId`].
    pub tracks: Vec<Track>,
    /// What lasted, by [`SpanId`].
    pub spans: Vec<Span>,
    /// What happened at one moment.
    pub marks: Vec<Mark>,
    /// Quantities over time.
    pub counters: Vec<Counter>,
    /// What led to what.
    pub links: Vec<Link>,
    /// Moments that other evidence may know too; they join clocks.
    pub anchors: Vec<Anchor>,
    /// What was read of disks, in the order in which the evidence has it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<Read>,
    /// What programs did with files, in the order in which they began to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_uses: Vec<FileUse>,
    /// What the machine's disks were asked for, in the order in which it was done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Request>,
    /// Whether somebody said what *ready* looks like: only then a boot without that moment
    /// did not get ready.
    #[serde(default)]
    pub awaited: bool,
    /// What could not be used or was assumed.
    pub notices: Vec<Notice>,
    /// Built again when it is needed: see [`Self::track`].
    #[serde(skip)]
    track_index: HashMap<Track, TrackId>,
}

impl Timeline {
    /// Announces a piece of evidence, read by the source called `source`.
    pub fn add_file(&mut self, name: &str, source: &str) -> FileId {
        let id = FileId(u16::try_from(self.files.len()).expect("fewer than 2^16 files"));
        self.files.push(EvidenceFile {
            name: name.to_owned(),
            source: source.to_owned(),
            usage: Usage::default(),
        });
        id
    }

    /// The file with this `id`.
    pub fn file(&self, id: FileId) -> &EvidenceFile {
        &self.files[id.index()]
    }

    /// The usage count of `id`, for its source to fill in.
    pub fn usage_mut(&mut self, id: FileId) -> &mut Usage {
        &mut self.files[id.index()].usage
    }

    /// Adds a clock of real time that the times of `file` are on.
    pub fn add_clock(&mut self, kind: ClockKind, file: FileId) -> ClockId {
        self.add_lab_clock(kind, TimeKind::Measured, file)
    }

    /// The same, of any kind of time.
    pub fn add_lab_clock(&mut self, kind: ClockKind, time: TimeKind, file: FileId) -> ClockId {
        let id = ClockId(u16::try_from(self.clocks.len()).expect("fewer than 2^16 clocks"));
        self.clocks.push(Clock { kind, time, file });
        id
    }

    /// All clocks.
    pub fn clock_ids(&self) -> impl Iterator<Item = ClockId> + use<> {
        (0..self.clocks.len()).map(|i| ClockId(i as u16))
    }

    /// All files.
    pub fn file_ids(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.files.len()).map(|i| FileId(i as u16))
    }

    /// The clock with this `id`.
    pub fn clock(&self, id: ClockId) -> &Clock {
        &self.clocks[id.index()]
    }

    /// The track of this kind and name, new or known.
    pub fn track(&mut self, kind: TrackKind, name: &str) -> TrackId {
        let name = self.symbols.intern(name);
        let track = Track { kind, name };
        if self.track_index.len() < self.tracks.len() {
            let ids = (0..).map(TrackId);
            self.track_index = self.tracks.iter().copied().zip(ids).collect();
        }
        *self.track_index.entry(track).or_insert_with(|| {
            self.tracks.push(track);
            TrackId(u32::try_from(self.tracks.len() - 1).expect("fewer than 2^32 tracks"))
        })
    }

    /// The lane that `span` is on.
    pub fn track_of(&self, span: &Span) -> &Track {
        &self.tracks[span.track.0 as usize]
    }

    /// What kind of lane `span` is on.
    pub fn kind_of(&self, span: &Span) -> TrackKind {
        self.track_of(span).kind
    }

    /// The text of a symbol.
    pub fn text(&self, sym: Sym) -> &str {
        self.symbols.text(sym)
    }

    /// Adds a span.
    pub fn add_span(&mut self, span: Span) -> SpanId {
        let id = SpanId(u32::try_from(self.spans.len()).expect("fewer than 2^32 spans"));
        self.spans.push(span);
        id
    }

    /// Adds a span whose names are text yet.
    pub fn add_named(
        &mut self,
        clock: ClockId,
        (kind, track): (TrackKind, &str),
        name: &str,
        (start, end): (Stamp, SpanEnd),
        args: &[(&str, &str)],
        evidence: Evidence,
    ) -> SpanId {
        let track = self.track(kind, track);
        let name = self.symbols.intern(name);
        let args = args.iter();
        let args = args.map(|(k, v)| (self.symbols.intern(k), self.symbols.intern(v)));
        let args = args.collect();
        self.add_span(Span {
            track,
            clock,
            start,
            end,
            name,
            args,
            evidence,
        })
    }

    /// Adds a mark.
    pub fn add_mark(
        &mut self,
        clock: ClockId,
        at: Stamp,
        kind: MarkKind,
        name: &str,
        evidence: Evidence,
    ) {
        let name = self.symbols.intern(name);
        self.marks.push(Mark {
            clock,
            at,
            kind,
            name,
            evidence,
        });
    }

    /// Adds a milestone.
    pub fn add_milestone(
        &mut self,
        clock: ClockId,
        at: Stamp,
        milestone: Milestone,
        evidence: Evidence,
    ) {
        let kind = MarkKind::Milestone(milestone);
        self.add_mark(clock, at, kind, milestone.text(), evidence);
    }

    /// Adds a moment that other evidence may know too.
    pub fn add_anchor(&mut self, clock: ClockId, at: Stamp, key: u64, evidence: Evidence) {
        self.anchors.push(Anchor {
            clock,
            at,
            key,
            evidence,
        });
    }

    /// Adds a quantity over time.
    pub fn add_counter(
        &mut self,
        clock: ClockId,
        (name, unit): (&str, &str),
        samples: Vec<(i64, f64)>,
        evidence: Evidence,
    ) {
        let (name, unit) = (self.symbols.intern(name), self.symbols.intern(unit));
        self.counters.push(Counter {
            clock,
            name,
            unit,
            samples,
            evidence,
        });
    }

    /// The span with this `id`.
    pub fn span(&self, id: SpanId) -> &Span {
        &self.spans[id.index()]
    }

    /// The span with this `id`, to add what is learnt about it later.
    pub fn span_mut(&mut self, id: SpanId) -> &mut Span {
        &mut self.spans[id.index()]
    }

    /// The handles of [`Self::spans`], in their order.
    pub fn span_ids(&self) -> impl Iterator<Item = SpanId> + use<> {
        (0..self.spans.len()).map(|i| SpanId(i as u32))
    }

    /// The spans on tracks of one kind, in the order in which they were read.
    pub fn spans_of(&self, kind: TrackKind) -> impl Iterator<Item = &Span> {
        self.spans.iter().filter(move |s| self.kind_of(s) == kind)
    }

    /// The value of a span's argument, as text.
    pub fn arg(&self, span: &Span, key: &str) -> Option<&str> {
        // Most console lines have none, and there are many.
        if span.args.is_empty() {
            return None;
        }
        let key = self.symbols.find(key)?;
        let (_, value) = span.args.iter().find(|(k, _)| *k == key)?;
        Some(self.text(*value))
    }

    /// Whether only its length is known, and not when it was: `systemd-analyze blame` does not
    /// say when a unit began, and all seem to begin at once.
    pub fn is_only_a_length(&self, span: &Span) -> bool {
        self.clock(span.clock).kind == ClockKind::Relative && self.arg(span, "start").is_some()
    }

    /// Says that one span led to another.
    pub fn link(&mut self, from: SpanId, to: SpanId, kind: LinkKind) {
        self.links.push(Link { from, to, kind });
    }

    /// Takes spans out that are others told again: each goes `into` the one that
    /// it is, which keeps its place, and what led to either now leads to that.
    pub fn merge_spans(&mut self, into: &BTreeMap<SpanId, SpanId>) {
        let mut left = 0;
        let places: Vec<SpanId> = (self.span_ids())
            .map(|id| {
                let place = SpanId(left);
                left += u32::from(!into.contains_key(&id));
                place
            })
            .collect();
        let place = |id: SpanId| places[into.get(&id).unwrap_or(&id).index()];
        for link in &mut self.links {
            (link.from, link.to) = (place(link.from), place(link.to));
        }
        let mut known = HashSet::new();
        self.links
            .retain(|link| link.from != link.to && known.insert((link.from, link.to, link.kind)));
        let mut ids = self.span_ids();
        self.spans
            .retain(|_| ids.next().is_some_and(|id| !into.contains_key(&id)));
    }

    /// The first mark of a milestone, if the boot was seen to pass it.
    pub fn milestone(&self, milestone: Milestone) -> Option<&Mark> {
        self.marks
            .iter()
            .find(|m| m.kind == MarkKind::Milestone(milestone))
    }

    /// Counts one case of a kind of trouble, by file.
    pub fn notice(&mut self, code: &str, severity: Severity, at: Option<Evidence>, remedy: &str) {
        self.notice_times(1, code, severity, at, remedy);
    }

    /// Counts `times` cases that one place tells of.
    pub fn notice_times(
        &mut self,
        times: u64,
        code: &str,
        severity: Severity,
        at: Option<Evidence>,
        remedy: &str,
    ) {
        let file = at.map(|at| at.file);
        let is_known = |n: &Notice| n.file == file && n.code == code;
        let known = self.notices.iter().rposition(is_known);
        let known = known.unwrap_or_else(|| {
            self.notices.push(Notice {
                code: code.to_owned(),
                file,
                severity,
                count: 0,
                first: Vec::new(),
                remedy: remedy.to_owned(),
            });
            self.notices.len() - 1
        });
        let notice = &mut self.notices[known];
        notice.count = notice.count.saturating_add(times);
        if let Some(at) = at
            && notice.first.len() < Notice::PLACES
        {
            notice.first.push(at);
        }
    }
}
