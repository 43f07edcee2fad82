//! Where recognisers put what they found. What is only understood later changes
//! it again: [`amend`].

mod amend;

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use bootlap_model::{
    Anchor, ClockEdge, ClockId, ClockKind, Evidence, FileId, MarkKind, Milestone, Request,
    RequestKind, Severity, Span, SpanEnd, Stamp, Sym, Timeline, TrackId, TrackKind,
};
use bootlap_wire::stamps::Begun;

use self::amend::{Counted, Place};
use super::line::Line;
use super::{numbers, printk};

const CONSOLE: (TrackKind, &str) = (TrackKind::Console, "console");

/// The lane of what the kernel does between two of its lines.
pub(crate) const STAGES: (TrackKind, &str) = (TrackKind::Kernel, "kernel stages");

/// Kernel lines that may join files: the first ones do, later ones are many
/// and repeat.
const MAX_ANCHORS: usize = 16_384;

/// A kernel line's moment: when it was logged, and when it was sent.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    /// When it was logged, on the kernel's clock.
    pub(crate) ns: i64,
    /// The resolution of that.
    pub(crate) err_ns: u32,
    /// When its first byte was sent, on the clock of the stamps.
    pub(crate) first: Option<Stamp>,
    /// When its last byte was sent.
    pub(crate) last: Option<Stamp>,
    /// The task that logged it, if the kernel says so.
    pub(crate) task: Option<u32>,
}

impl Moment {
    /// The moment on the kernel's clock.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp::new(self.ns, self.err_ns)
    }
}

/// What one read of a console or a kernel log keeps from line to line.
pub(crate) struct Kept {
    pub(crate) file: FileId,
    /// The clock of the stamps, if there are any.
    pub(crate) wire: Option<ClockId>,
    /// The kernel's clock, once a line had a time.
    printk: Option<ClockId>,
    /// What the times of kernel lines count: the kernel's clock, or the wall
    /// clock that a program made of it (`dmesg -T`).
    pub(crate) printk_kind: ClockKind,
    counted: Vec<Counted>,
    /// The milestones added so far.
    passed: Vec<Milestone>,
    /// The lanes used so far: few, and each is used for many events.
    tracks: Vec<(TrackKind, &'static str, TrackId)>,
    /// The keys of arguments used so far: there are about ten.
    keys: Vec<(&'static str, Sym)>,
    /// The numbers that were arguments last: 0, and mostly a task's.
    numbers: [Option<(u32, Sym)>; 2],
    /// The place of the last console text.
    last_text: Option<usize>,
    /// Lines without a time since then.
    untimed: u32,
    kernel_lines: usize,
    written_lines: usize,
    from: From,
}

/// Where in the timeline the events of a read begin.
struct From {
    span: usize,
    mark: usize,
    anchor: usize,
    edge: usize,
}

impl Kept {
    /// The kernel's clock, once a line had a time.
    pub(crate) fn kernel(&self) -> Option<ClockId> {
        self.printk
    }

    /// For a read that begins now.
    pub(crate) fn new(timeline: &Timeline, file: FileId, wire: Option<ClockId>) -> Self {
        Self {
            file,
            wire,
            printk: None,
            printk_kind: ClockKind::KernelPrintk,
            counted: Vec::new(),
            passed: Vec::new(),
            tracks: Vec::new(),
            keys: Vec::new(),
            numbers: [None; 2],
            last_text: None,
            untimed: 0,
            kernel_lines: 0,
            written_lines: 0,
            from: From {
                span: timeline.spans.len(),
                mark: timeline.marks.len(),
                anchor: timeline.anchors.len(),
                edge: timeline.edges.len(),
            },
        }
    }
}

/// Stamps that are coarser than this tell less than the times of kernel lines.
const COARSE_NS: u32 = 1_000_000;

/// The timeline, as one read of a console sees it.
pub(crate) struct Out<'o> {
    pub(crate) timeline: &'o mut Timeline,
    kept: &'o mut Kept,
}

impl Deref for Out<'_> {
    type Target = Kept;

    fn deref(&self) -> &Kept {
        self.kept
    }
}

impl DerefMut for Out<'_> {
    fn deref_mut(&mut self) -> &mut Kept {
        self.kept
    }
}

impl<'o> Out<'o> {
    pub(crate) fn new(timeline: &'o mut Timeline, kept: &'o mut Kept) -> Self {
        Self { timeline, kept }
    }

    /// The kernel's clock.
    pub(crate) fn printk_clock(&mut self) -> ClockId {
        if let Some(clock) = self.printk {
            return clock;
        }
        let time = self.wire.map(|w| self.timeline.clock(w).time);
        let (kind, file) = (self.printk_kind, self.file);
        *self.kept.printk.insert(
            self.timeline
                .add_lab_clock(kind, time.unwrap_or_default(), file),
        )
    }

    /// What the stamps count, if there are any.
    pub(crate) fn wire_kind(&self) -> Option<ClockKind> {
        self.wire.map(|w| self.timeline.clock(w).kind)
    }

    /// Whether the stamps are of a host or an analyser, whose recording can
    /// begin late.
    pub(crate) fn is_host_clock(&self) -> bool {
        self.wire_kind()
            .is_some_and(|kind| kind != ClockKind::QemuVirtual)
    }

    /// Takes back the milestone that the first stamp was taken for.
    pub(crate) fn forget_power_on(&mut self) {
        let power_on = MarkKind::Milestone(Milestone::PowerOn);
        let first = self.from.mark;
        let mut marks = self.timeline.marks[first..].iter();
        if let Some(i) = marks.position(|m| m.kind == power_on) {
            self.timeline.marks.remove(first + i);
        }
    }

    /// Adds a span and says where it is.
    #[expect(clippy::too_many_arguments, reason = "that is what a span is")]
    fn span(
        &mut self,
        clock: ClockId,
        (kind, track): (TrackKind, &'static str),
        name: Sym,
        start: Stamp,
        end: SpanEnd,
        args: Vec<(Sym, Sym)>,
        evidence: Evidence,
    ) -> usize {
        let track = self.track(kind, track);
        self.timeline.add_span(Span {
            track,
            clock,
            start,
            end,
            name,
            args,
            evidence,
        });
        self.timeline.spans.len() - 1
    }

    fn track(&mut self, kind: TrackKind, name: &'static str) -> TrackId {
        let known = self.tracks.iter().find(|t| t.0 == kind && t.1 == name);
        if let Some(&(_, _, id)) = known {
            return id;
        }
        let id = self.timeline.track(kind, name);
        self.tracks.push((kind, name, id));
        id
    }

    /// An argument of a span.
    pub(crate) fn arg(&mut self, key: &'static str, value: &str) -> (Sym, Sym) {
        (self.key(key), self.timeline.symbols.intern(value))
    }

    /// The same for a number.
    pub(crate) fn number_arg(&mut self, key: &'static str, value: u32) -> (Sym, Sym) {
        let place = usize::from(value != 0);
        let sym = match self.numbers[place] {
            Some((number, sym)) if number == value => sym,
            _ => self.timeline.symbols.intern(&value.to_string()),
        };
        self.numbers[place] = Some((value, sym));
        (self.key(key), sym)
    }

    /// The symbol of an argument's key.
    pub(crate) fn key(&mut self, key: &'static str) -> Sym {
        if let Some((_, sym)) = self.keys.iter().find(|(k, _)| *k == key) {
            return *sym;
        }
        let sym = self.timeline.symbols.intern(key);
        self.keys.push((key, sym));
        sym
    }

    /// Adds a span on the clock of the stamps; nothing if there is none or a
    /// moment is not known.
    pub(crate) fn wire_span(
        &mut self,
        track: (TrackKind, &'static str),
        name: &str,
        (start, end): (Option<Stamp>, Option<Stamp>),
        args: &[(&'static str, &str)],
        evidence: Evidence,
    ) {
        let (Some(clock), Some(start), Some(end)) = (self.wire, start, end) else {
            return;
        };
        let mut until = SpanEnd::At(end);
        if end.ns < start.ns {
            until = SpanEnd::Unknown;
            self.backwards(evidence);
        }
        let name = self.timeline.symbols.intern(name);
        let args = args.iter().map(|(k, v)| self.arg(k, v)).collect();
        self.span(clock, track, name, start, until, args, evidence);
    }

    /// Adds a span on the clock of the stamps, or of the kernel where there are none.
    pub(crate) fn span_of_any(
        &mut self,
        track: (TrackKind, &'static str),
        name: &str,
        (start, end): (Stamp, Stamp),
        evidence: Evidence,
    ) {
        match self.wire {
            Some(_) => self.wire_span(track, name, (Some(start), Some(end)), &[], evidence),
            None => {
                self.printk_span(track, name, start, SpanEnd::At(end), &[], evidence);
            }
        }
    }

    fn backwards(&mut self, at: Evidence) {
        self.notice(
            "stamps-run-backwards",
            Severity::Error,
            at,
            "later bytes have earlier stamps: the recording is damaged, record again",
        );
    }

    /// Adds a span on the kernel's clock and says where it is, for its end to
    /// be filled in.
    pub(crate) fn printk_span(
        &mut self,
        track: (TrackKind, &'static str),
        name: &str,
        start: Stamp,
        end: SpanEnd,
        args: &[(&'static str, &str)],
        evidence: Evidence,
    ) -> usize {
        let name = self.timeline.symbols.intern(name);
        let args = args.iter().map(|(k, v)| self.arg(k, v)).collect();
        self.printk_event(track, name, (start, end), args, evidence)
    }

    /// The same with names that are known, for what is met often.
    pub(crate) fn printk_event(
        &mut self,
        track: (TrackKind, &'static str),
        name: Sym,
        (start, end): (Stamp, SpanEnd),
        args: Vec<(Sym, Sym)>,
        evidence: Evidence,
    ) -> usize {
        let clock = self.printk_clock();
        self.span(clock, track, name, start, end, args, evidence)
    }

    /// Adds a console span: the text of `burst`.
    pub(crate) fn console_span(&mut self, burst: &Line<'_>, logged: Option<i64>) {
        let logged = logged.map(|ns| Stamp::new(ns, printk::RESOLUTION_NS));
        let (wire, sent) = (self.wire, burst.first());
        // A stamp that counts whole seconds says less than the kernel's own; so does the time
        // at which a logger got what had been logged before it started.
        let received = self.wire_kind() == Some(ClockKind::Realtime);
        let (clock, start) = match (wire.zip(sent), logged) {
            (Some((_, sent)), Some(logged)) if received || sent.err_ns >= COARSE_NS => {
                (self.printk_clock(), logged)
            }
            (Some((wire, sent)), _) => (wire, sent),
            (None, Some(logged)) => (self.printk_clock(), logged),
            (None, None) => return,
        };
        let evidence = burst.evidence(self.file);
        let end = match burst.last() {
            Some(end) if Some(clock) == wire && end.ns >= start.ns => SpanEnd::At(end),
            _ => SpanEnd::Unknown,
        };
        if burst.last().is_some_and(|end| end.ns < start.ns) && Some(clock) == wire {
            self.backwards(evidence);
        }
        self.text(clock, burst.text, (start, end), evidence);
    }

    /// Adds a console span on the clock of the stamps: so many bytes that are no
    /// text.
    pub(crate) fn data_span(
        &mut self,
        name: &str,
        (start, end): (Stamp, SpanEnd),
        bytes: u64,
        evidence: Evidence,
    ) {
        let Some(wire) = self.wire else { return };
        let name = self.timeline.symbols.intern(name);
        let args = vec![self.arg("bytes", &bytes.to_string())];
        self.span(wire, CONSOLE, name, start, end, args, evidence);
    }

    /// Adds a console span on the kernel's clock: what one of its lines says.
    pub(crate) fn logged_span(&mut self, text: &[u8], at: Stamp, evidence: Evidence) {
        let clock = self.printk_clock();
        self.text(clock, text, (at, SpanEnd::Unknown), evidence);
    }

    fn text(
        &mut self,
        clock: ClockId,
        text: &[u8],
        (start, end): (Stamp, SpanEnd),
        evidence: Evidence,
    ) {
        self.untimed_end();
        let text = match told(text) {
            Some(text) => self.timeline.symbols.add(&text),
            None => self.timeline.symbols.add(&shown(text)),
        };
        let at = self.span(clock, CONSOLE, text, start, end, Vec::new(), evidence);
        self.last_text = Some(at);
    }

    /// Counts a line that has no time: what follows the last text is no silence.
    pub(crate) fn untimed_line(&mut self) {
        self.untimed += 1;
    }

    /// Says of the last text how many lines without a time follow it.
    pub(crate) fn untimed_end(&mut self) {
        let lines = std::mem::take(&mut self.untimed);
        if let (Some(at), 1..) = (self.last_text, lines) {
            let arg = self.arg(Span::UNTIMED, &lines.to_string());
            self.timeline.spans[at].args.push(arg);
        }
    }

    /// Adds a moment of a kernel line, that other evidence may know too.
    pub(crate) fn anchor(&mut self, moment: &Moment, key: u64, evidence: Evidence) {
        let clock = self.printk_clock();
        self.timeline
            .add_anchor(clock, moment.stamp(), key, evidence);
    }

    /// Adds the moment of a kernel line, as the line itself tells it.
    pub(crate) fn kernel_line(&mut self, body: &[u8], moment: &Moment, evidence: Evidence) {
        if self.kernel_lines < MAX_ANCHORS && !body.is_empty() {
            self.kernel_lines += 1;
            self.anchor(moment, Anchor::kernel_line(body), evidence);
        }
    }

    /// Adds the moment of a line that a program wrote, as it was sent.
    pub(crate) fn written_line(&mut self, line: &Line<'_>) {
        let (Some(clock), Some(at)) = (self.wire, line.first()) else {
            return;
        };
        if let Some(key) = Anchor::line(line.text)
            && self.written_lines < MAX_ANCHORS
        {
            self.written_lines += 1;
            let evidence = line.evidence(self.file);
            self.timeline.add_anchor(clock, at, key, evidence);
        }
    }

    /// Adds a mark.
    pub(crate) fn mark(
        &mut self,
        clock: ClockId,
        at: Stamp,
        kind: MarkKind,
        name: &str,
        evidence: Evidence,
    ) {
        if let MarkKind::Milestone(milestone) = kind {
            self.passed.push(milestone);
        }
        self.timeline.add_mark(clock, at, kind, name, evidence);
    }

    /// Adds a milestone on the clock of the stamps, if there is one, and
    /// unless the milestone was passed before.
    pub(crate) fn wire_milestone(
        &mut self,
        milestone: Milestone,
        at: Option<Stamp>,
        evidence: Evidence,
    ) {
        if let (Some(clock), Some(at)) = (self.wire, at)
            && !self.has(milestone)
        {
            let kind = MarkKind::Milestone(milestone);
            self.mark(clock, at, kind, milestone.text(), evidence);
        }
    }

    /// A request of a disk that was done now; nothing without a clock of stamps.
    pub(crate) fn begun(&self, at: Stamp) -> Option<Begun> {
        Some(Begun::new(self.wire?, at))
    }

    /// Adds what a disk was asked for, and shows what the machine loaded by itself.
    pub(crate) fn request(&mut self, request: Request) {
        if request.kind == RequestKind::Load {
            let took = i64::try_from(request.took_ns).unwrap_or(i64::MAX);
            let start = Stamp {
                ns: request.done.ns.saturating_sub(took),
                ..request.done
            };
            self.timeline.add_named(
                request.clock,
                (TrackKind::Firmware, "machine"),
                Span::LOAD_IMAGES,
                (start, SpanEnd::At(request.done)),
                &[("bytes", &request.bytes.to_string())],
                request.evidence,
            );
        }
        self.timeline.requests.push(request);
    }

    /// Adds a milestone on the kernel's clock, unless it was passed before.
    pub(crate) fn kernel_milestone(
        &mut self,
        milestone: Milestone,
        moment: &Moment,
        evidence: Evidence,
    ) {
        if self.has(milestone) {
            return;
        }
        let clock = self.printk_clock();
        let kind = MarkKind::Milestone(milestone);
        self.mark(clock, moment.stamp(), kind, milestone.text(), evidence);
        let place = Place::Mark(self.timeline.marks.len() - 1);
        self.count(place, moment, moment.first);
    }

    /// Adds a mark that a kernel line names.
    pub(crate) fn kernel_mark(&mut self, text: &[u8], moment: &Moment, evidence: Evidence) {
        let clock = self.printk_clock();
        let name = shown(text);
        self.mark(clock, moment.stamp(), MarkKind::Named, &name, evidence);
    }

    /// Whether this read has added `milestone`.
    pub(crate) fn has(&self, milestone: Milestone) -> bool {
        self.passed.contains(&milestone)
    }

    /// Counts one case of a kind of trouble.
    pub(crate) fn notice(&mut self, code: &str, severity: Severity, at: Evidence, remedy: &str) {
        self.timeline.notice(code, severity, Some(at), remedy);
    }

    /// Relates two clocks.
    pub(crate) fn edge(&mut self, edge: ClockEdge) {
        self.timeline.edges.push(edge);
    }
}

/// A kernel line that has more than its time before the message (`<6>`, `(1)[17:init]`,
/// `[    T1]`): what reads these names looks for the message behind the time.
fn told(text: &[u8]) -> Option<String> {
    let body = printk::parse(text)?.body;
    let level = numbers::level_len(text);
    let end = level + memchr::memchr(b']', &text[level..])? + 1;
    if level == 0 && body <= end + 1 {
        return None;
    }
    let message = text.get(body..)?;
    Some(format!(
        "{} {}",
        shown(&text[level..end]),
        shown(message).trim_start()
    ))
}

/// Console text for people: valid UTF-8 without control characters.
pub(crate) fn shown(text: &[u8]) -> Cow<'_, str> {
    let text = text.trim_ascii_end();
    // Nearly all text is plain ASCII; the lines have no control bytes left but
    // tabs. Without an early end the compiler makes vectors of it.
    let odd = |any: bool, b: &u8| any | !b.is_ascii() | (*b == b'\t');
    if !text.iter().fold(false, odd)
        && let Ok(text) = std::str::from_utf8(text)
    {
        return Cow::Borrowed(text);
    }
    let clean = |c: char| match c {
        '\t' => Some(' '),
        c => (!c.is_control()).then_some(c),
    };
    let text = String::from_utf8_lossy(text);
    text.chars().filter_map(clean).collect::<String>().into()
}
