//! Timelines made by hand, for tests.

use proptest::prelude::*;

use bootlap_model::{
    ClockEdge, ClockId, ClockKind, Evidence, FileId, How, Milestone, Request, RequestKind, SpanEnd,
    Stamp, TimeKind, Timeline, TrackKind,
};

/// A timeline under construction; times are ns on its first clock.
pub(crate) struct Boot {
    pub(crate) timeline: Timeline,
    main: ClockId,
    file: FileId,
}

impl Boot {
    /// A boot in simulated time.
    pub(crate) fn sim() -> Self {
        Self::on(ClockKind::QemuVirtual, TimeKind::Simulated)
    }

    /// A boot of a board.
    pub(crate) fn board() -> Self {
        Self::on(ClockKind::HostMonotonic, TimeKind::Measured)
    }

    /// A boot on this clock.
    pub(crate) fn on(kind: ClockKind, time: TimeKind) -> Self {
        let mut timeline = Timeline::default();
        let file = timeline.add_file("console", "test");
        let main = timeline.add_lab_clock(kind, time, file);
        Self {
            timeline,
            main,
            file,
        }
    }

    /// A kernel clock whose zero is `at_ns`, known to `err_ns`.
    pub(crate) fn kernel_clock(&mut self, at_ns: i64, err_ns: u32) -> ClockId {
        let clock = self.timeline.add_clock(ClockKind::KernelPrintk, self.file);
        let how = How::SharedEvent;
        let edge = ClockEdge::offset(clock, self.main, at_ns, err_ns, how);
        self.timeline.edges.push(edge);
        clock
    }

    fn evidence(&self) -> Evidence {
        Evidence::whole(self.file, 0)
    }

    pub(crate) fn mark(&mut self, milestone: Milestone, ns: i64) -> &mut Self {
        self.mark_at(milestone, Stamp::new(ns, 0))
    }

    pub(crate) fn mark_at(&mut self, milestone: Milestone, at: Stamp) -> &mut Self {
        let evidence = self.evidence();
        self.timeline
            .add_milestone(self.main, at, milestone, evidence);
        self
    }

    /// What a disk was asked for, and how long the CPU has waited for disks then.
    pub(crate) fn request(&mut self, done_ms: i64, waited_ms: u64, kind: RequestKind, bytes: u32) {
        let evidence = self.evidence();
        self.timeline.requests.push(Request {
            clock: self.main,
            done: Stamp::new(done_ms * 1_000_000, 0),
            took_ns: 0,
            waited_ns: waited_ms * 1_000_000,
            kind,
            disk: 0,
            offset: 0,
            bytes,
            evidence,
        });
    }

    pub(crate) fn text(&mut self, start_ns: i64, end_ns: i64, text: &str) -> &mut Self {
        self.span(TrackKind::Console, start_ns, end_ns, text)
    }

    pub(crate) fn span(&mut self, kind: TrackKind, start: i64, end: i64, name: &str) -> &mut Self {
        self.span_at(kind, Stamp::new(start, 0), Stamp::new(end, 0), name)
    }

    pub(crate) fn span_at(
        &mut self,
        kind: TrackKind,
        start: Stamp,
        end: Stamp,
        name: &str,
    ) -> &mut Self {
        self.span_on(self.main, kind, start, SpanEnd::At(end), name)
    }

    pub(crate) fn span_on(
        &mut self,
        clock: ClockId,
        kind: TrackKind,
        start: Stamp,
        end: SpanEnd,
        name: &str,
    ) -> &mut Self {
        let evidence = self.evidence();
        self.timeline
            .add_named(clock, (kind, "test"), name, (start, end), &[], evidence);
        self
    }

    /// Adds a fact to the span added last.
    pub(crate) fn arg(&mut self, key: &str, value: &str) -> &mut Self {
        let pair = (
            self.timeline.symbols.intern(key),
            self.timeline.symbols.intern(value),
        );
        self.timeline.spans.last_mut().unwrap().args.push(pair);
        self
    }
}

/// All milestones, in order.
pub(crate) const MILESTONES: [Milestone; 11] = [
    Milestone::PowerOn,
    Milestone::BootloaderStart,
    Milestone::BootloaderHandover,
    Milestone::KernelEntry,
    Milestone::KernelClockStart,
    Milestone::InitStart,
    Milestone::UserEntry,
    Milestone::SwitchRoot,
    Milestone::ManagerStart,
    Milestone::ApplicationStart,
    Milestone::Ready,
];

const KINDS: [TrackKind; 6] = [
    TrackKind::Bootloader,
    TrackKind::Kernel,
    TrackKind::Initcall,
    TrackKind::Userspace,
    TrackKind::Unit,
    TrackKind::Console,
];

/// Any boot whose length is a number: milestones and spans in any order.
pub(crate) fn any_boot() -> impl Strategy<Value = Boot> {
    boot_within(i64::MIN / 4..i64::MAX / 4)
}

/// Any boot at all, also at the ends of the number line.
pub(crate) fn wild_boot() -> impl Strategy<Value = Boot> {
    boot_within(i64::MIN..i64::MAX)
}

fn boot_within(all: std::ops::Range<i64>) -> impl Strategy<Value = Boot> {
    let ns = prop_oneof![8 => -50..1_000i64, 2 => 0..5_000_000_000i64, 1 => all];
    let insns = prop::option::of(0..1_000_000u64);
    let stamp = (ns, insns, 0..20u32).prop_map(|(ns, insns, err_ns)| Stamp { ns, err_ns, insns });
    let stamp = stamp.boxed();
    let end = prop_oneof![
        8 => stamp.clone().prop_map(SpanEnd::At),
        1 => Just(SpanEnd::Unknown),
        1 => Just(SpanEnd::OpenAtCut),
    ];
    let name = prop::sample::select(vec!["a", "b", "autoboot wait", "x\ny", "", "hash check"]);
    let mark = (0..MILESTONES.len(), stamp.clone());
    let span = (0..KINDS.len(), stamp, end, name, any::<bool>());
    let marks = prop::collection::vec(mark, 0..12);
    let spans = prop::collection::vec(span, 0..12);
    (marks, spans).prop_map(|(marks, spans)| {
        let mut boot = Boot::sim();
        let printk = boot.kernel_clock(17, 3);
        for (milestone, at) in marks {
            boot.mark_at(MILESTONES[milestone], at);
        }
        for (kind, start, end, name, on_printk) in spans {
            let clock = if on_printk { printk } else { boot.main };
            boot.span_on(clock, KINDS[kind], start, end, name);
        }
        boot
    })
}

impl std::fmt::Debug for Boot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#?} {:#?}", self.timeline.marks, self.timeline.spans)
    }
}
