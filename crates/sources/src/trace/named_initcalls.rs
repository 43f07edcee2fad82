//! Initcalls that are only seen as the function that `do_one_initcall` calls.
//!
//! ```text
//!    7.990163 |   1)   swapper-1    |               |  do_one_initcall() {
//!    7.990164 |   1)   swapper-1    |   1.152 us    |    initcall_blacklisted();
//!    7.990166 |   1)   swapper-1    | + 43.790 us   |    trace_initcall_start_cb();
//!    7.990215 |   1)   swapper-1    |   5.463 us    |    crypto_ecb_module_init();
//!    7.990221 |   1)   swapper-1    | + 44.241 us   |    trace_initcall_finish_cb();
//!    7.990267 |   1)   swapper-1    |   2.466 us    |    add_device_randomness();
//! ```
//!
//! `function_graph` does not see every initcall: of those that it does not
//! (early ones, `notrace`), the calls in them are seen instead. So one is
//! believed only if it is the only call that is not the kernel's own
//! book-keeping, and no other initcall has its name: of 556 initcalls of Linux
//! 6.12 with one call, 545 were right, and those that were not (`register_…`
//! functions) said `named-by` as all of them do.

use std::collections::HashMap;

use bootlap_model::{Anchor, SpanEnd, TrackKind};

use crate::text::Import;

/// What `do_one_initcall` does besides: `init/main.c`, and interrupts.
const OWN: [&str; 12] = [
    "initcall_blacklisted",
    "add_device_randomness",
    "add_latent_entropy",
    "ktime_get",
    "msleep",
    "printk",
    "_printk",
    "vprintk",
    "local_clock",
    "sched_clock",
    "sprintf",
    "smp_apic_timer_interrupt",
];
const OWN_PREFIXES: [&str; 8] = [
    "trace_initcall_",
    "do_trace_initcall_",
    "__sysvec_",
    "sysvec_",
    "asm_sysvec_",
    "irq_",
    "__irq_",
    "el1_",
];

/// The calls of one `do_one_initcall`.
#[derive(Default)]
pub(crate) struct Children {
    only: Option<usize>,
    seen: usize,
}

impl Children {
    /// It calls `name`, which is the span `span`.
    pub(crate) fn child(&mut self, name: &str, span: Option<usize>) {
        let own = OWN.contains(&name) || OWN_PREFIXES.iter().any(|p| name.starts_with(p));
        if !own {
            self.only = span;
            self.seen += 1;
        }
    }
}

/// The initcalls of a trace, by the span of their function.
#[derive(Default)]
pub(crate) struct NamedInitcalls(Vec<usize>);

impl NamedInitcalls {
    /// One `do_one_initcall` has returned.
    pub(crate) fn one(&mut self, children: &Children, import: &Import<'_>) {
        if let (1, Some(span)) = (children.seen, children.only)
            && matches!(import.timeline.spans[span].end, SpanEnd::At(_))
        {
            self.0.push(span);
        }
    }

    /// Adds them all as initcalls.
    pub(crate) fn finish(&mut self, import: &mut Import<'_>) {
        let mut times = HashMap::new();
        for &span in &self.0 {
            *times.entry(import.timeline.spans[span].name).or_insert(0) += 1;
        }
        for index in std::mem::take(&mut self.0) {
            let span = import.timeline.spans[index].clone();
            if times.get(&span.name) != Some(&1) {
                continue;
            }
            let pid = import.timeline.arg(&span, "pid").unwrap_or("").to_owned();
            let name = import.timeline.text(span.name).to_owned();
            let track = if pid == "1" {
                "initcalls"
            } else {
                "module initcalls"
            };
            let args = [("pid", &*pid), ("named-by", "only call in do_one_initcall")];
            let key = Anchor::key("initcall", name.as_bytes());
            import.anchor(span.clock, span.start, key, span.evidence);
            import.span(
                span.clock,
                (TrackKind::Initcall, track),
                &name,
                (span.start, span.end),
                &args,
                span.evidence,
            );
        }
    }
}
