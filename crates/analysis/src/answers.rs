//! The answers about one boot that reports show, each computed when it is first asked
//! for, and then kept: a page shows some of them several times, most files show few.

use std::cell::OnceCell;

use bootlap_model::{Timeline, TrackKind};

use crate::functions::folded_of;
use crate::{
    Accesses, CallStats, CriticalPath, Extent, Processes, UnitStart, accesses, critical_path,
    extent, functions, processes, units,
};

/// What analyses say of one timeline.
pub struct Answers<'t> {
    timeline: &'t Timeline,
    extent: OnceCell<Option<Extent>>,
    units: OnceCell<Vec<UnitStart>>,
    path: OnceCell<Option<CriticalPath>>,
    processes: OnceCell<Processes>,
    pruned: OnceCell<Processes>,
    functions: OnceCell<Vec<CallStats>>,
    accesses: OnceCell<Accesses>,
}

impl<'t> Answers<'t> {
    /// Of this timeline; nothing is computed yet.
    pub fn of(timeline: &'t Timeline) -> Self {
        Self {
            timeline,
            extent: OnceCell::new(),
            units: OnceCell::new(),
            path: OnceCell::new(),
            processes: OnceCell::new(),
            pruned: OnceCell::new(),
            functions: OnceCell::new(),
            accesses: OnceCell::new(),
        }
    }

    /// With what is known already.
    #[must_use]
    pub fn knowing(self, extent: Option<Extent>) -> Self {
        Self {
            extent: OnceCell::from(extent),
            ..self
        }
    }

    /// Where the boot begins and ends: [`extent`](crate::extent()).
    pub fn extent(&self) -> Option<Extent> {
        *self.extent.get_or_init(|| extent(self.timeline))
    }

    /// Its units, the longest start first: [`units`].
    pub fn units(&self) -> &[UnitStart] {
        self.units.get_or_init(|| units(self.timeline))
    }

    /// What its end waited for: [`critical_path`].
    pub fn critical_path(&self) -> Option<&CriticalPath> {
        let path = self.path.get_or_init(|| critical_path(self.timeline));
        path.as_ref()
    }

    /// What ran, with or without what bootchart hides: [`processes`](crate::processes()).
    pub fn processes(&self, prune: bool) -> &Processes {
        let kept = if prune { &self.pruned } else { &self.processes };
        kept.get_or_init(|| processes(self.timeline, prune))
    }

    /// What programs did with files, the most calls first: [`accesses`](crate::accesses()).
    pub fn accesses(&self) -> &Accesses {
        self.accesses.get_or_init(|| accesses(self.timeline))
    }

    /// What each function cost, the most time first: [`functions`](crate::functions()).
    pub fn functions(&self) -> &[CallStats] {
        self.functions.get_or_init(|| functions(self.timeline))
    }

    /// Stacks of calls with their own time, ns, of the lanes that are wanted; not kept,
    /// as they are many and only one file format has them: [`folded_of`].
    pub fn stacks(&self, wanted: impl Fn(TrackKind) -> bool) -> Vec<(Vec<String>, i64)> {
        folded_of(self.timeline, wanted)
    }
}
