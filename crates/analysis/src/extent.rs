//! From where to where a boot was seen.

use bootlap_model::{Milestone, Stamp, Timeline};
use serde::Serialize;

use crate::view::{View, length_ns};

/// The part of a timeline that is the boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Extent {
    /// Power-on if it was seen, else the first event.
    pub start: Stamp,
    /// Ready if it was seen, else the last event.
    pub end: Stamp,
    /// Whether `end` is ready: without it the boot took at least this long.
    pub ready: bool,
}

impl Extent {
    /// How long it is, ns; never negative.
    pub fn duration_ns(&self) -> i64 {
        length_ns(&self.start, &self.end)
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

/// Where the boot begins and ends, on the axis; `None` for a timeline without
/// events.
///
/// A ready mark before the start is no end of this boot (a log that begins in
/// the middle of an earlier one) and does not count.
pub fn extent(timeline: &Timeline) -> Option<Extent> {
    extent_of(&View::of(timeline))
}

pub(crate) fn extent_of(view: &View) -> Option<Extent> {
    let (first, last) = view.bounds()?;
    let start = view.milestone(Milestone::PowerOn).unwrap_or(first);
    let ready = view.milestone(Milestone::Ready);
    let ready = ready.filter(|r| r.ns >= start.ns);
    Some(Extent {
        start,
        end: ready.unwrap_or(last),
        ready: ready.is_some(),
    })
}

/// Time from power-on (or the first event, where power-on was not seen) to
/// ready, ns; `None` if the boot never got ready.
pub fn ready_ns(timeline: &Timeline) -> Option<i64> {
    let extent = extent(timeline)?;
    extent.ready.then(|| extent.duration_ns())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Boot;

    #[test]
    fn a_boot_ends_at_ready_whatever_comes_later() {
        let mut boot = Boot::sim();
        boot.mark(Milestone::PowerOn, 0)
            .mark(Milestone::Ready, 70)
            .text(10, 20, "hello")
            .text(80, 90, "login:");
        assert_eq!(ready_ns(&boot.timeline), Some(70));
    }

    #[test]
    fn without_ready_the_last_event_is_only_a_bound() {
        let mut boot = Boot::sim();
        boot.text(10, 20, "hello").text(80, 90, "login:");
        let extent = extent(&boot.timeline).unwrap();
        assert_eq!(
            (extent.start.ns, extent.end.ns, extent.ready),
            (10, 90, false)
        );
        assert_eq!(ready_ns(&boot.timeline), None);
        assert_eq!(super::extent(&Timeline::default()), None);
    }

    #[test]
    fn a_ready_before_power_on_belongs_to_another_boot() {
        let mut boot = Boot::sim();
        boot.mark(Milestone::PowerOn, 50)
            .mark(Milestone::Ready, 40)
            .text(60, 90, "x");
        assert_eq!(ready_ns(&boot.timeline), None);
        assert_eq!(extent(&boot.timeline).unwrap().duration_ns(), 40);
    }
}
