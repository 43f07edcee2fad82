//! Kernel lines that come with their time, from logs that are no console.

use bootlap_model::{ClockId, Evidence, FileId, Timeline};

use super::kernel::Kernel;
use super::out::{Kept, Moment, Out};
use super::printk::RESOLUTION_NS;

/// What [`Kernel`] understands of lines that another format kept.
pub(crate) struct KernelLog {
    kernel: Kernel,
    kept: Kept,
}

impl KernelLog {
    /// A log whose lines are read from `file`.
    pub(crate) fn new(timeline: &Timeline, file: FileId) -> Self {
        Self {
            kernel: Kernel::default(),
            kept: Kept::new(timeline, file, None),
        }
    }

    /// The clock of the lines.
    pub(crate) fn clock(&mut self, timeline: &mut Timeline) -> ClockId {
        Out::new(timeline, &mut self.kept).printk_clock()
    }

    /// Takes a line that was logged at `ns`; `body` is its text.
    pub(crate) fn line(&mut self, ns: i64, body: &[u8], at: Evidence, timeline: &mut Timeline) {
        let mut out = Out::new(timeline, &mut self.kept);
        let moment = Moment {
            ns,
            err_ns: RESOLUTION_NS,
            first: None,
            last: None,
            task: None,
        };
        self.kernel.look_for_step(ns, at, &mut out);
        self.kernel.line(body, &moment, true, at, &mut out);
    }

    /// There are no more.
    pub(crate) fn finish(&mut self, timeline: &mut Timeline) {
        self.kernel.finish(&mut Out::new(timeline, &mut self.kept));
    }
}
