//! How much there is to do in each phase of a simulated boot.

use bootlap_model::{Stamp, Timeline, TrackKind};

use crate::extent::{clip, length_ns};
use crate::phase::{PhaseName, phase_of, phases_in};
use crate::view::{Seen, View};
use crate::work::Meter;

/// What a phase has to do, whatever machine does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// Which phase.
    pub phase: PhaseName,
    /// Instructions to execute, without those of loops that wait.
    pub instructions: u64,
    /// Bytes on the console.
    pub console_bytes: u64,
    /// Bytes that the boot loader reads from storage. What the kernel and
    /// programs read, a console does not tell.
    pub storage_bytes: u64,
    /// Reads of storage.
    pub reads: u32,
    /// What takes as long on every machine, ns: idling, and loops that wait
    /// for a timer.
    pub wait_ns: i64,
}

/// What each phase of a boot has to do, in order; `None` if its instructions
/// were not counted in simulated time.
pub fn amounts(timeline: &Timeline) -> Option<Vec<Amount>> {
    let view = View::of(timeline);
    let waits = Waits::of(&view)?;
    let phases = phases_in(&view);
    let mut amounts = Vec::new();
    for phase in &phases {
        let (instructions, wait_ns) = waits.between(&phase.start, &phase.end)?;
        amounts.push(Amount {
            phase: phase.name,
            instructions,
            console_bytes: 0,
            storage_bytes: 0,
            reads: 0,
            wait_ns,
        });
    }
    let spans = view.spans();
    for line in spans.filter(|s| s.kind == TrackKind::Console) {
        let inside = phases
            .iter()
            .rposition(|p| p.start.ns <= line.start.ns && line.start.ns <= p.end.ns);
        if let Some(at) = inside {
            let amount = &mut amounts[at];
            amount.console_bytes = amount
                .console_bytes
                .saturating_add(console_bytes(&view, &line));
        }
    }
    for (read, bytes) in reads(&view) {
        let end = read.end.unwrap_or(read.start);
        let phase = phase_of(&phases, &read.start, &end);
        if let Some(amount) = amounts.iter_mut().find(|a| Some(a.phase) == phase) {
            amount.storage_bytes = amount.storage_bytes.saturating_add(bytes);
            amount.reads += 1;
        }
    }
    (!amounts.is_empty()).then_some(amounts)
}

/// How many bytes a line takes on the wire, with its line end. What is no text
/// but data has a name that was not sent, and says how many it is.
pub(crate) fn console_bytes(view: &View, line: &Seen) -> u64 {
    view.bytes(line).unwrap_or(line.name().len() as u64 + 2)
}

/// What the boot loader reads from storage, and how much.
///
/// If it says what it reads into memory, that is all: later passes over the
/// data are work. If it does not, images are used where they are, in flash
/// that is mapped, and each pass over one reads it.
fn reads<'v>(view: &'v View) -> Vec<(Seen<'v>, u64)> {
    let of = |names: &'static [&str]| {
        let spans = view.spans();
        let named = spans.filter(|s| s.kind == TrackKind::Bootloader && names.contains(&s.name()));
        let with_bytes = named.filter_map(|s| Some((s, view.bytes(&s)?)));
        with_bytes.collect::<Vec<(Seen, u64)>>()
    };
    let told = of(&["read file", "read mmc", "read nand", "read flash"]);
    if !told.is_empty() {
        return told;
    }
    of(&[
        "hash check",
        "uncompress kernel",
        "load kernel",
        "load ramdisk",
    ])
}

/// Tells what takes a machine's speed from what takes its time.
pub(crate) struct Waits {
    meter: Meter,
    ns_per_insn: f64,
    /// Loops that wait for a timer, in order, disjoint.
    loops: Vec<(Stamp, Stamp)>,
}

impl Waits {
    /// `None` if instructions were not counted in simulated time.
    pub(crate) fn of(view: &View) -> Option<Self> {
        let meter = Meter::in_view(view);
        Some(Self {
            ns_per_insn: meter.ns_per_insn()? as f64,
            meter,
            loops: timer_loops(view),
        })
    }

    /// The instructions from `start` to `end` that do something, and the time,
    /// ns, that passes on any machine.
    pub(crate) fn between(&self, start: &Stamp, end: &Stamp) -> Option<(u64, i64)> {
        let mut instructions = self.counted(start, end)?;
        let mut busy_ns = length_ns(start, end);
        let mut wait_ns = 0_i64;
        for (from, to) in &self.loops {
            if let Some((from, to)) = clip((*start, *end), *from, *to) {
                let looped = self.counted(&from, &to)?;
                instructions = instructions.saturating_sub(looped);
                busy_ns = busy_ns.saturating_sub(length_ns(&from, &to));
                wait_ns = length_ns(&from, &to).saturating_add(wait_ns);
            }
        }
        let idle_ns = busy_ns as f64 - instructions as f64 * self.ns_per_insn;
        Some((
            instructions,
            wait_ns.saturating_add(idle_ns.max(0.0) as i64),
        ))
    }

    /// Counted, or estimated as if the machine had not idled.
    fn counted(&self, start: &Stamp, end: &Stamp) -> Option<u64> {
        let most = (length_ns(start, end) as f64 / self.ns_per_insn) as u64;
        let counted = self.meter.instructions(start, end).unwrap_or(most);
        Some(counted)
    }
}

/// What busily waits for a timer.
pub(crate) fn timer_loops(view: &View) -> Vec<(Stamp, Stamp)> {
    let is_loop = |s: &Seen| {
        matches!(
            (s.kind, s.name()),
            (TrackKind::Bootloader, "autoboot wait" | "menu countdown")
                | (TrackKind::Kernel, "calibrate delay loop")
        )
    };
    let spans = view.spans().filter(is_loop);
    let mut loops: Vec<(Stamp, Stamp)> = Vec::new();
    for (start, end) in spans.filter_map(|s| Some((s.start, s.end?))) {
        if loops.last().is_none_or(|last| last.1.ns <= start.ns) {
            loops.push((start, end));
        }
    }
    loops
}
