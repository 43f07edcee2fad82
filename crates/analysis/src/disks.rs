//! What a boot asks of its disks, and how long the CPU waits for them.

use bootlap_model::{Request, RequestKind, Stamp, Timeline};
use schemars::JsonSchema;
use serde::Serialize;

use crate::ends::extent_of;
use crate::phase::{Phase, PhaseName, phases_in};
use crate::read_before::ReadBefore;
use crate::view::View;

/// What was asked of all disks up to the boot's end, or in one phase of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Asked {
    /// Requests to read.
    pub reads: u64,
    /// Bytes of these.
    pub read_bytes: u64,
    /// Of these, what had been read before, by the boot loader or by the kernel itself.
    pub again_bytes: u64,
    /// Requests to write.
    pub writes: u64,
    /// Bytes of these.
    pub written_bytes: u64,
    /// Requests to have on the medium what was written.
    pub flushes: u64,
    /// How long the CPU waited for a disk: it was idle, or polled, while one worked. 0 in
    /// simulated time, in which disks take none.
    pub waited_ns: u64,
}

/// The same of a whole boot, and of its phases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Disks {
    /// In all.
    #[serde(flatten)]
    pub all: Asked,
    /// Of each phase in which a disk was asked for something, in order.
    pub phases: Vec<PhaseDisks>,
}

/// What was asked in one phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PhaseDisks {
    /// Which.
    #[schemars(with = "String")]
    pub phase: PhaseName,
    /// What was done in it.
    #[serde(flatten)]
    pub asked: Asked,
}

/// What a boot read of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileRead {
    /// The partition and the path, as `1:/usr/bin/python3`; without a path what was read of the
    /// partition and is in no file: inodes, folders, what was changed.
    pub file: String,
    /// How long it is; 0 for what is in no file.
    pub size: u64,
    /// How much of it was read, and what lies between.
    pub read_bytes: u64,
    /// Of these bytes, what had been read before.
    pub again_bytes: u64,
    /// With how many requests; one can be for neighbours, too.
    pub reads: u64,
    /// When the first of them was done.
    pub first_ns: i64,
}

impl Asked {
    fn add(&mut self, request: &Request, again_bytes: u64, waited_ns: u64) {
        let bytes = u64::from(request.bytes);
        match request.kind {
            RequestKind::Read => {
                self.reads += 1;
                self.read_bytes += bytes;
                self.again_bytes += again_bytes;
            }
            RequestKind::Write => {
                self.writes += 1;
                self.written_bytes += bytes;
            }
            RequestKind::Flush => self.flushes += 1,
            // The machine's own, before there is a CPU that waits.
            RequestKind::Load => {}
        }
        self.waited_ns = self.waited_ns.saturating_add(waited_ns);
    }
}

/// What disks were asked for; `None` if no lab has seen it.
pub fn disks(timeline: &Timeline) -> Option<Disks> {
    let view = View::of(timeline);
    disks_in(&view, &phases_in(&view))
}

pub(crate) fn disks_in(view: &View, phases: &[Phase]) -> Option<Disks> {
    let end = extent_of(view)?.end;
    let mut all = Asked::default();
    let mut of: Vec<PhaseDisks> = Vec::new();
    let mut before_ns = 0;
    let mut before = ReadBefore::in_view(view);
    let requests = on_axis(view).filter(|(_, r)| r.kind != RequestKind::Load);
    for (at, request) in requests.take_while(|(at, _)| at.ns <= end.ns) {
        let waited_ns = request.waited_ns.saturating_sub(before_ns);
        before_ns = request.waited_ns;
        let again = before.add(at, request);
        let again_bytes = again.iter().map(|range| range.end - range.start).sum();
        all.add(request, again_bytes, waited_ns);
        let Some(phase) = phases.iter().find(|p| at.ns <= p.end.ns) else {
            continue;
        };
        let (phase, asked) = (phase.name, Asked::default());
        if of.last().is_none_or(|last| last.phase != phase) {
            of.push(PhaseDisks { phase, asked });
        }
        if let Some(last) = of.last_mut() {
            last.asked.add(request, again_bytes, waited_ns);
        }
    }
    (all != Asked::default()).then_some(Disks { all, phases: of })
}

fn on_axis<'v>(view: &'v View) -> impl Iterator<Item = (Stamp, &'v Request)> {
    let requests = view.timeline.requests.iter();
    requests.filter_map(|r| Some((view.at(r.clock, r.done)?, r)))
}

/// How long the CPU had waited for disks at each moment at which one was done.
pub(crate) struct Waits(Vec<(i64, u64)>);

impl Waits {
    pub(crate) fn of(view: &View) -> Self {
        let mut waits: Vec<_> = on_axis(view).map(|(at, r)| (at.ns, r.waited_ns)).collect();
        waits.sort_unstable();
        Self(waits)
    }

    /// How long in these stretches, ns, to within one request at either end.
    pub(crate) fn in_all(&self, stretches: &[(Stamp, Stamp)]) -> u64 {
        let at = |ns: i64| {
            let later = self.0.partition_point(|wait| wait.0 <= ns);
            later.checked_sub(1).map_or(0, |i| self.0[i].1)
        };
        let each = stretches.iter().map(|(start, end)| {
            let length = u64::try_from(end.ns.saturating_sub(start.ns)).unwrap_or(0);
            at(end.ns).saturating_sub(at(start.ns)).min(length)
        });
        each.fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use bootlap_model::{Milestone, TrackKind};

    use super::*;
    use crate::build::Boot;

    /// A machine loads 1 s; then three requests, the last after the end.
    fn boot() -> Boot {
        let mut boot = Boot::sim();
        boot.span(TrackKind::Console, 0, 3_000_000_000, "x");
        boot.mark(Milestone::KernelEntry, 1_000_000_000);
        boot.mark(Milestone::UserEntry, 1_700_000_000);
        for (done_ms, waited_ms, kind, bytes) in [
            (1000, 0, RequestKind::Load, 7),
            (1500, 200, RequestKind::Read, 4096),
            (2000, 500, RequestKind::Write, 512),
            (2100, 550, RequestKind::Flush, 0),
            (9000, 999, RequestKind::Read, 1),
        ] {
            boot.request(done_ms, waited_ms, kind, bytes);
        }
        boot
    }

    #[test]
    fn what_is_asked_up_to_the_end_is_counted() {
        let boot = boot();
        let view = View::of(&boot.timeline);
        let phases = phases_in(&view);
        let disks = disks_in(&view, &phases).unwrap();
        let all = Asked {
            reads: 1,
            read_bytes: 4096,
            again_bytes: 0,
            writes: 1,
            written_bytes: 512,
            flushes: 1,
            waited_ns: 550_000_000,
        };
        assert_eq!(disks.all, all);
        let of_phases: Vec<_> = disks.phases.iter().map(|p| p.asked.waited_ns).collect();
        assert_eq!(of_phases, [200_000_000, 350_000_000]);
    }

    #[test]
    fn waiting_in_a_stretch_is_no_longer_than_that() {
        let boot = boot();
        let waits = Waits::of(&View::of(&boot.timeline));
        let ms = |at: i64| Stamp::new(at * 1_000_000, 0);
        assert_eq!(waits.in_all(&[(ms(0), ms(1400))]), 0);
        assert_eq!(waits.in_all(&[(ms(1400), ms(2050))]), 500_000_000);
        assert_eq!(waits.in_all(&[(ms(1990), ms(2010))]), 20_000_000);
    }
}
