//! `systemd-analyze blame` and `critical-chain`.
//!
//! ```text
//! 23.321s dev-vda.device
//! 1min 9.534s systemd-udev-trigger.service
//!
//! The time when unit became active or started is printed after the "@" character.
//! The time the unit took to start is printed after the "+" character.
//!
//! multi-user.target @33.245s
//! └─systemd-logind.service @28.729s +4.500s
//!   ├─basic.target @28.318s
//!   │ └─...
//!   └─dbus.service @1min 2.027s +44us
//! ```
//!
//! `blame` has lengths only. In the chain, times count since user space began:
//! `@` is when the unit began where there is a `+`, and when it was active
//! where there is none. A unit below another is one that the other was ordered
//! after; that it held it up is not said, and `...` stands for a cycle.

use bootlap_model::{Evidence, Severity, SpanEnd, Stamp};

use super::timespan::{self, Timespan};
use super::units::{Order, Since, Unit, Units, is_unit};
use crate::text::{Import, Skip};

/// A row of `blame`: how long which unit took.
pub(crate) fn blame(text: &str) -> Option<(Timespan, &str)> {
    let (span, unit) = timespan::leading(text)?;
    let unit = unit.trim();
    is_unit(unit).then_some((span, unit))
}

/// Adds a row of `blame`.
pub(crate) fn add_length(
    (span, unit): (Timespan, &str),
    at: Evidence,
    units: &mut Units,
    import: &mut Import<'_>,
) {
    let end = SpanEnd::At(Stamp::new(span.ns, span.err_ns));
    let unit = Unit {
        name: unit,
        since: Since::Itself,
        start: Stamp::new(0, 0),
        end,
        active: None,
        args: &[("start", "unknown")],
        at,
    };
    units.add(&unit, import);
    import.notice(
        "starts-unknown",
        Severity::Info,
        at,
        "systemd-analyze blame tells how long these units took, not when; use `systemd-analyze plot --json=short` or `systemctl show '*'`, which tell both",
    );
}

/// A row of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step<'a> {
    /// How deep it stands.
    depth: usize,
    /// The unit; `None` for `...`.
    unit: Option<&'a str>,
    at: Option<Timespan>,
    took: Option<Timespan>,
}

impl Step<'_> {
    /// Whether it says when: a list of units looks like rows that do not.
    pub(crate) fn is_timed(&self) -> bool {
        self.at.is_some()
    }
}

/// Takes a row of the chain apart; `rooted`: rows without a branch count too.
pub(crate) fn step(text: &str, rooted: bool) -> Option<Step<'_>> {
    let branch = |c: char| "└├│─ |`-+\\".contains(c);
    // A unit can begin with `-`: the root slice and the root mount.
    let lead = ["└─", "├─", "`-", "|-", "+-", "\\-"];
    let begin = lead
        .iter()
        .filter_map(|l| Some(text.find(l)? + l.len()))
        .min();
    let begin = begin.filter(|b| text[..*b].chars().all(branch));
    let depth = match begin {
        Some(begin) => text[..begin].chars().count() / 2,
        None if rooted => 0,
        None => return None,
    };
    let rest = text[begin.unwrap_or(0)..].trim();
    if rest == "..." {
        return Some(Step {
            depth,
            unit: None,
            at: None,
            took: None,
        });
    }
    let (unit, times) = rest.split_once(' ').unwrap_or((rest, ""));
    let (at, took) = match times.split_once('+') {
        Some((at, took)) => (at.trim(), Some(timespan::timespan(took)?)),
        None => (times.trim(), None),
    };
    let at = match at.strip_prefix('@') {
        Some(at) => Some(timespan::timespan(at)?),
        None if at.is_empty() => None,
        None => return None,
    };
    is_unit(unit).then_some(Step {
        depth,
        unit: Some(unit),
        at,
        took,
    })
}

/// The chain so far: the units above, by depth.
#[derive(Default)]
pub(crate) struct Chain {
    above: Vec<String>,
    /// Rows follow: the heading was read.
    pub(crate) begun: bool,
}

/// No tree of `critical-chain` is deeper.
const MAX_DEPTH: usize = 4096;

impl Chain {
    /// Adds a row.
    pub(crate) fn add(
        &mut self,
        step: &Step<'_>,
        at: Evidence,
        units: &mut Units,
        import: &mut Import<'_>,
    ) -> Result<(), Skip> {
        if step.depth > MAX_DEPTH {
            return Err(Skip::unknown(
                "expected a tree of units: `└─a.service @1.2s +3ms`",
            ));
        }
        self.above.truncate(step.depth);
        let Some(unit) = step.unit else {
            return Ok(());
        };
        if let Some(later) = self.above.last() {
            let later = later.clone();
            units.order(&later, Order::After, unit, import);
        }
        self.above.push(unit.to_owned());
        match (step.at, step.took) {
            (Some(begin), took) => {
                let stamp = |ns: i64| Stamp::new(ns, begin.err_ns);
                let took = took.unwrap_or(Timespan { ns: 0, ..begin });
                let end = stamp(begin.ns.saturating_add(took.ns));
                let unit = Unit {
                    name: unit,
                    since: Since::Userspace,
                    start: stamp(begin.ns),
                    end: SpanEnd::At(end),
                    active: Some(end),
                    args: &[],
                    at,
                };
                units.add(&unit, import);
            }
            (None, Some(took)) => add_length((took, unit), at, units, import),
            // It was active before user space began: the root slice, at times.
            (None, None) => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows() {
        let b = |text| blame(text).map(|(s, u)| (s.ns / 1_000_000, u));
        assert_eq!(b(" 799ms a.service"), Some((799, "a.service")));
        assert_eq!(
            b("1min 2.345s b\\x2dc.mount"),
            Some((62_345, "b\\x2dc.mount"))
        );
        assert_eq!(b("1.2s not a unit"), None);
        assert_eq!(b("a.service"), None);
    }

    #[test]
    fn steps() {
        let s = |text, rooted| {
            let step: Step<'_> = step(text, rooted)?;
            let ms = |t: Timespan| t.ns / 1_000_000;
            Some((step.depth, step.unit, step.at.map(ms), step.took.map(ms)))
        };
        let mut expected = (0, Some("a.target"), Some(33_245), None);
        assert_eq!(s("a.target @33.245s", true), Some(expected));
        assert_eq!(s("a.target @33.245s", false), None);
        expected = (1, Some("b.service"), Some(62_027), Some(4_500));
        assert_eq!(s("└─b.service @1min 2.027s +4.500s", true), Some(expected));
        expected = (3, Some("-.slice"), Some(520), None);
        assert_eq!(s("  │ └─-.slice @520ms", true), Some(expected));
        assert_eq!(s("    `--.slice @520ms", true), Some(expected));
        assert_eq!(s("  └─...", true), Some((2, None, None, None)));
        assert_eq!(
            s("k.service +696ms", true),
            Some((0, Some("k.service"), None, Some(696)))
        );
        assert_eq!(s("k.service @soon", true), None);
    }
}
