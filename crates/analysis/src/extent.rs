//! The part of a timeline that is the boot.

use bootlap_model::{Milestone, Span, Stamp};
use serde::Serialize;

/// The part of a timeline that is the boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Extent {
    /// Power-on if it was seen, else the first event.
    pub start: Stamp,
    /// Where the boot ended, as far as that is known.
    pub end: Stamp,
    /// What `end` is.
    pub ends: Ends,
    /// The last event, which can be later.
    pub last: Stamp,
}

/// What the end of a boot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ends {
    /// Ready, as its owner said.
    Ready,
    /// Nobody said what ready looks like, and the evidence knows this end.
    Milestone(Milestone),
    /// The same: this unit of systemd's was active.
    Unit(&'static str),
    /// The same: a shell waits for commands.
    Shell,
    /// The kernel gave up: nothing comes after that.
    Panic,
    /// The evidence knows an end, in nothing but a kernel's log: it was silent for so long that the boot was
    /// over, if not earlier.
    Silence,
    /// The last event: the boot took at least this long.
    Last,
}

impl Ends {
    /// The words that people see; `None` for the last event, which is no end.
    pub fn text(self) -> Option<&'static str> {
        match self {
            Ends::Ready => Some(Milestone::Ready.text()),
            Ends::Milestone(milestone) => Some(milestone.text()),
            Ends::Unit(unit) => Some(unit),
            Ends::Shell => Some(Span::SHELL_PROMPT),
            Ends::Panic => Some(Span::KERNEL_PANIC),
            Ends::Silence => Some("a long silence"),
            Ends::Last => None,
        }
    }
}

/// Less than this after the end is no log that goes on, ns.
const GOES_ON_NS: i64 = 1_000_000;

impl Extent {
    /// How long it is, ns; never negative.
    pub fn duration_ns(&self) -> i64 {
        length_ns(&self.start, &self.end)
    }

    /// Whether `end` is ready.
    pub fn is_ready(&self) -> bool {
        self.ends == Ends::Ready
    }

    /// For how long the evidence goes on after an end that it knows, ns; `None` if it
    /// does not.
    pub fn goes_on_ns(&self) -> Option<i64> {
        let ns = length_ns(&self.end, &self.last);
        (self.ends != Ends::Last && ns >= GOES_ON_NS).then_some(ns)
    }

    /// The part of `start..end` that lies inside; `None` if nothing does.
    pub(crate) fn clip(&self, start: Stamp, end: Stamp) -> Option<(Stamp, Stamp)> {
        clip((self.start, self.end), start, end)
    }
}

/// The part of `start..end` inside `window`; `None` if it has no length.
pub(crate) fn clip(window: (Stamp, Stamp), start: Stamp, end: Stamp) -> Option<(Stamp, Stamp)> {
    let from = if start.ns < window.0.ns {
        window.0
    } else {
        start
    };
    let to = if end.ns > window.1.ns { window.1 } else { end };
    (from.ns < to.ns).then_some((from, to))
}

/// How long from `start` to `end`, ns; never negative.
pub(crate) fn length_ns(start: &Stamp, end: &Stamp) -> i64 {
    end.ns.saturating_sub(start.ns).max(0)
}
