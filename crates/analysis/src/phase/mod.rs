//! Top-level splits of a boot, and the known parts inside them.

use bootlap_model::{Stamp, Timeline};
use serde::Serialize;

use crate::ends::extent_of;
use crate::extent::length_ns;
use crate::view::View;

mod cut;
mod part;
#[cfg(test)]
mod tests;

/// A top-level split, in the order in which a boot passes them.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseName {
    /// What runs before the boot loader prints, or before the kernel where no
    /// boot loader was seen.
    Firmware,
    /// The boot loader.
    Bootloader,
    /// From the kernel's first instruction to the first program.
    Kernel,
    /// Programs of the initramfs that prepare the real root filesystem.
    Initramfs,
    /// Start-up of the root filesystem's programs.
    Userspace,
    /// From the application's start to ready.
    Application,
}

impl PhaseName {
    /// The word that people see.
    pub fn text(self) -> &'static str {
        match self {
            PhaseName::Firmware => "firmware",
            PhaseName::Bootloader => "boot loader",
            PhaseName::Kernel => "kernel",
            PhaseName::Initramfs => "initramfs",
            PhaseName::Userspace => "user space",
            PhaseName::Application => "application",
        }
    }
}

/// One phase of one boot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phase {
    /// Which.
    pub name: PhaseName,
    /// When it began, on the axis.
    pub start: Stamp,
    /// When it ended.
    pub end: Stamp,
    /// The known parts inside it, in order, not overlapping; they need not
    /// cover it.
    pub parts: Vec<Part>,
}

impl Phase {
    /// How long it lasted, ns; never negative.
    pub fn duration_ns(&self) -> i64 {
        length_ns(&self.start, &self.end)
    }

    /// Instructions executed in it, if both ends were counted.
    pub fn instructions(&self) -> Option<u64> {
        self.start.insns_until(&self.end)
    }
}

/// A known part of a phase, e.g. the autoboot wait.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// What it is.
    pub name: String,
    /// When it began.
    pub start: Stamp,
    /// When it ended.
    pub end: Stamp,
}

impl Part {
    /// How long it lasted, ns; never negative.
    pub fn duration_ns(&self) -> i64 {
        length_ns(&self.start, &self.end)
    }

    /// Instructions executed in it, if both ends were counted.
    pub fn instructions(&self) -> Option<u64> {
        self.start.insns_until(&self.end)
    }
}

/// The phases of a boot, in order and without holes, from the boot's start to
/// its end (see [`extent`](crate::extent())) or to where nobody knows what ran.
///
/// They are cut at the milestones that were seen. A milestone that was not
/// seen merges its phase into the one before it; one out of order (a log can
/// hold anything) is left out, as few as need be. Without anything to cut at
/// there is no phase; and where user space was seen, but not its beginning, the kernel
/// has none, nor what comes after it.
pub fn phases(timeline: &Timeline) -> Vec<Phase> {
    phases_in(&View::of(timeline))
}

pub(crate) fn phases_in(view: &View) -> Vec<Phase> {
    let Some(extent) = extent_of(view) else {
        return Vec::new();
    };
    let mut phases = cut::bare(view, &extent);
    part::fill(view, &mut phases);
    phases
}

/// The phase that most of the time of these stretches lies in; what lies between them is
/// not theirs.
pub(crate) fn phase_of_all(phases: &[Phase], own: &[(Stamp, Stamp)]) -> Option<PhaseName> {
    let in_phase_ns = |p: &Phase| {
        let inside = own.iter().map(|(start, end)| {
            let to_ns = end.ns.min(p.end.ns);
            to_ns.saturating_sub(start.ns.max(p.start.ns)).max(0)
        });
        inside.fold(0, i64::saturating_add)
    };
    // Of equals the first, as `max_by_key` would not give it.
    let best = phases.iter().rev().max_by_key(|p| in_phase_ns(p));
    let best = best.filter(|p| in_phase_ns(p) > 0).map(|p| p.name);
    best.or_else(|| phase_of(phases, &own.first()?.0, &own.last()?.1))
}

/// The phase that most of `start..end` lies in.
pub(crate) fn phase_of(phases: &[Phase], start: &Stamp, end: &Stamp) -> Option<PhaseName> {
    let overlap_ns = |p: &Phase| {
        let to_ns = end.ns.min(p.end.ns);
        to_ns.saturating_sub(start.ns.max(p.start.ns))
    };
    // Of equals the first, as `max_by_key` would not give it.
    let best = phases.iter().rev().max_by_key(|p| overlap_ns(p))?;
    (overlap_ns(best) >= 0).then_some(best.name)
}
