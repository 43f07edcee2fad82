//! The longest time without preemption or interrupts, as the kernel's tracers for that report it.
//!
//! ```text
//! # tracer: preemptirqsoff
//! # latency: 252310 us, #6/6, CPU#0 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)
//! #    | task: modprobe-198 (uid:0 nice:0 policy:0 rt_prio:0)
//! #  => started at: ide_probe
//! #  => ended at:   ide_probe
//! modprobe-198       0d..1.    0us : ide_probe
//! ```
//!
//! Printed by `print_trace_header` (`kernel/trace/trace.c`). A boot has one such report for each
//! tracer, of the longest stretch since `tracing_max_latency` was set to 0.

use bootlap_model::{Evidence, SpanEnd, Stamp, TrackKind};

use crate::steps::between;
use crate::text::{self, Import};
use crate::trace::Recording;

/// What the heading says, until the first event tells when that was.
#[derive(Default)]
pub(super) struct Longest {
    /// What was off; empty for other tracers.
    off: &'static str,
    ns: Option<i64>,
    task: String,
    from: String,
    to: String,
}

impl Longest {
    /// A tracer's name: a report begins.
    pub(super) fn tracer(&mut self, name: &str) {
        *self = Self::default();
        self.off = match name {
            "irqsoff" => "interrupts off",
            "preemptoff" => "preemption off",
            "preemptirqsoff" => "preemption or interrupts off",
            _ => "",
        };
    }

    /// Another line of the heading.
    pub(super) fn heading(&mut self, text: &str) {
        if self.off.is_empty() {
            return;
        }
        let text = text.trim_start_matches('#').trim_ascii_start();
        if let Some(rest) = text.strip_prefix("latency: ") {
            let us = rest.split_once(" us").map(|(us, _)| us.as_bytes());
            self.ns = us.and_then(|us| text::decimal(us, 3));
        } else if let Some(rest) = text.strip_prefix("| task: ") {
            rest.split(" (")
                .next()
                .unwrap_or(rest)
                .clone_into(&mut self.task);
        } else if let Some(rest) = text.strip_prefix("=> started at: ") {
            rest.trim_ascii().clone_into(&mut self.from);
        } else if let Some(rest) = text.strip_prefix("=> ended at:") {
            rest.trim_ascii().clone_into(&mut self.to);
        }
    }

    /// The first event: the report counts from here.
    pub(super) fn begins(
        &mut self,
        at: Stamp,
        evidence: Evidence,
        recording: &mut Recording,
        import: &mut Import<'_>,
    ) {
        let Some(ns) = self.ns.take() else {
            return;
        };
        let name = match self.from == self.to {
            true => self.from.clone(),
            false => between(&self.from, &self.to),
        };
        let end = SpanEnd::At(Stamp::new(at.ns.saturating_add(ns), at.err_ns));
        let clock = recording.clock(import);
        let track = (TrackKind::Kernel, self.off);
        let args = [("task", &self.task[..])];
        import.span(clock, track, &name, (at, end), &args, evidence);
    }
}
