//! The merged model: filled by sources, read by everybody else.

use crate::{
    Clock, ClockEdge, ClockId, Evidence, EvidenceFile, FileId, Link, Mark, MarkKind, Milestone,
    Notice, Severity, Span, SpanId, Sym, Symbols, Track, TrackId, TrackKind, Usage,
};

/// All that is known of one boot.
///
/// Events stay on the clock they were stamped by and in the order in which
/// they were read; [`Axis`](crate::Axis) puts them on one reference clock.
#[derive(Clone, Debug, Default)]
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
    /// What led to what.
    pub links: Vec<Link>,
    /// What could not be used or was assumed.
    pub notices: Vec<Notice>,
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

    /// The file behind `id`.
    pub fn file(&self, id: FileId) -> &EvidenceFile {
        &self.files[usize::from(id.0)]
    }

    /// The usage count of `id`, for its source to fill in.
    pub fn usage_mut(&mut self, id: FileId) -> &mut Usage {
        &mut self.files[usize::from(id.0)].usage
    }

    /// Adds a clock.
    pub fn add_clock(&mut self, clock: Clock) -> ClockId {
        let id = ClockId(u16::try_from(self.clocks.len()).expect("fewer than 2^16 clocks"));
        self.clocks.push(clock);
        id
    }

    /// The clock behind `id`.
    pub fn clock(&self, id: ClockId) -> &Clock {
        &self.clocks[usize::from(id.0)]
    }

    /// The track of this kind and name, new or known.
    pub fn track(&mut self, kind: TrackKind, name: &str) -> TrackId {
        let name = self.symbols.intern(name);
        let track = Track { kind, name };
        let at = self.tracks.iter().position(|t| *t == track);
        let at = at.unwrap_or_else(|| {
            self.tracks.push(track);
            self.tracks.len() - 1
        });
        TrackId(u32::try_from(at).expect("fewer than 2^32 tracks"))
    }

    /// What kind of lane `span` is on.
    pub fn kind_of(&self, span: &Span) -> TrackKind {
        self.tracks[span.track.0 as usize].kind
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

    /// The span behind `id`.
    pub fn span(&self, id: SpanId) -> &Span {
        &self.spans[id.0 as usize]
    }

    /// The spans on tracks of one kind, in the order in which they were read.
    pub fn spans_of(&self, kind: TrackKind) -> impl Iterator<Item = &Span> {
        self.spans.iter().filter(move |s| self.kind_of(s) == kind)
    }

    /// The value of a span's argument, as text.
    pub fn arg(&self, span: &Span, key: &str) -> Option<&str> {
        let key = self.symbols.find(key)?;
        let (_, value) = span.args.iter().find(|(k, _)| *k == key)?;
        Some(self.text(*value))
    }

    /// The first mark of a milestone, if the boot was seen to pass it.
    pub fn milestone(&self, milestone: Milestone) -> Option<&Mark> {
        self.marks
            .iter()
            .find(|m| m.kind == MarkKind::Milestone(milestone))
    }

    /// Counts one case of a kind of trouble.
    pub fn notice(&mut self, code: &str, severity: Severity, at: Option<Evidence>, remedy: &str) {
        let known = self.notices.iter().position(|n| n.code == code);
        let known = known.unwrap_or_else(|| {
            self.notices.push(Notice {
                code: code.to_owned(),
                severity,
                count: 0,
                first: Vec::new(),
                remedy: remedy.to_owned(),
            });
            self.notices.len() - 1
        });
        let notice = &mut self.notices[known];
        notice.count += 1;
        if let Some(at) = at
            && notice.first.len() < Notice::PLACES
        {
            notice.first.push(at);
        }
    }
}
