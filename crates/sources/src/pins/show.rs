//! Pins as spans, marks, milestones and counters.

use bootlap_model::{ClockId, Evidence, Milestone, Severity, SpanEnd, TrackKind};

use super::edges::{Edges, Level, MAX_SPANS};
use super::{Pin, Recording};
use crate::text::Import;

/// Power, reset and ready change less often.
const MAX_CALM: usize = 100;
/// Changes of a pin with more of them are no marks.
const MAX_MARKS: usize = 16;

/// What a pin's name says that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Power,
    Reset,
    Ready,
    Other,
}

impl Role {
    fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
        let power = [
            "power", "pwr", "poweron", "vcc", "vdd", "vbus", "vin", "vbat", "vsys", "supply", "5v",
            "12v", "24v", "3v3", "3v", "1v8", "5v0", "pgood", "pg",
        ];
        let reset = [
            "reset", "rst", "nreset", "nrst", "resetn", "rstn", "por", "npor", "porn", "sysreset",
        ];
        words
            .find_map(|word| match word {
                "ready" => Some(Role::Ready),
                word if power.contains(&word) => Some(Role::Power),
                word if reset.contains(&word) => Some(Role::Reset),
                _ => None,
            })
            .unwrap_or(Role::Other)
    }
}

/// Whether a pin's name says what it is.
pub(super) fn tells_role(name: &str) -> bool {
    Role::of(name) != Role::Other
}

/// Shows pins of one bit.
pub(super) fn bits(
    pins: &[(&Pin, &Edges)],
    extent: (i64, i64),
    recording: &Recording<'_>,
    clock: ClockId,
    import: &mut Import<'_>,
) {
    milestones(pins, extent, recording, clock, import);
    for (pin, edges) in pins {
        if edges.cut || edges.len() > MAX_SPANS {
            busy(&pin.name, edges, recording, clock, import);
        } else {
            highs(pin, edges, extent, recording, clock, import);
            changes(pin, edges, recording, clock, import);
        }
    }
}

/// What is said by the names of pins.
fn milestones(
    pins: &[(&Pin, &Edges)],
    extent: (i64, i64),
    recording: &Recording<'_>,
    clock: ClockId,
    import: &mut Import<'_>,
) {
    // A pin that changes all the time is not what its name says.
    let calm = |edges: &Edges| !edges.cut && edges.len() <= MAX_CALM;
    let of = |role| {
        pins.iter()
            .filter(move |(pin, edges)| Role::of(&pin.name) == role && calm(edges))
    };
    let rise = |edges: &Edges| {
        let rises = |i: &usize| edges.get(*i).1 == Level::High && edges.get(*i - 1).1 == Level::Low;
        (1..edges.len())
            .find(rises)
            .map(|i| (edges.get(i).0, edges.place(i)))
    };
    let powered = of(Role::Power).filter_map(|(pin, edges)| {
        let was_off = edges.len() > 1 && edges.get(0).1 != Level::High;
        if !was_off && edges.len() > 0 {
            import.notice(
                "was-on-before",
                Severity::Notice,
                pin.at,
                "the supply was on when the recording began (or never came), so power-on is not in it: start the analyser before the board is switched on",
            );
        }
        was_off.then(|| rise(edges)).flatten().map(|(ns, at)| (ns, at.unwrap_or(pin.at)))
    });
    let released = of(Role::Reset).filter_map(|(pin, edges)| {
        let (ns, at) = release(edges, extent)?;
        Some((ns, at.unwrap_or(pin.at)))
    });
    let powered = powered.min_by_key(|(ns, _)| *ns);
    let released = released.min_by_key(|(ns, _)| *ns);
    if let Some((ns, at)) = powered.or(released) {
        import.milestone(clock, recording.stamp(ns), Milestone::PowerOn, at);
    }
    if let (Some(_), Some((ns, at))) = (powered, released) {
        import.mark(clock, recording.stamp(ns), "reset released", at);
    }
    let ready = of(Role::Ready).filter_map(|(pin, edges)| Some((rise(edges)?, pin.at)));
    if let Some(((ns, at), pin_at)) = ready.min_by_key(|((ns, _), _)| *ns) {
        import.milestone(
            clock,
            recording.stamp(ns),
            Milestone::Ready,
            at.unwrap_or(pin_at),
        );
    }
}

/// When a reset pin came to rest: its only change, or the first one to the
/// level that it has most of the time, since nobody agrees whether reset is low
/// or high.
fn release(edges: &Edges, (_, end_ns): (i64, i64)) -> Option<(i64, Option<Evidence>)> {
    if edges.len() == 2 {
        return Some((edges.get(1).0, edges.place(1)));
    }
    let (mut high_ns, mut low_ns) = (0i64, 0i64);
    for i in 0..edges.len() {
        let (ns, level) = edges.get(i);
        let until = if i + 1 < edges.len() {
            edges.get(i + 1).0
        } else {
            end_ns
        };
        let long = until.saturating_sub(ns).max(0);
        match level {
            Level::High => high_ns = high_ns.saturating_add(long),
            Level::Low => low_ns = low_ns.saturating_add(long),
            Level::Unknown => {}
        }
    }
    let rest = if high_ns >= low_ns {
        Level::High
    } else {
        Level::Low
    };
    let i = (1..edges.len()).find(|i| edges.get(*i).1 == rest)?;
    Some((edges.get(i).0, edges.place(i)))
}

/// The times in which a pin was high.
fn highs(
    pin: &Pin,
    edges: &Edges,
    extent: (i64, i64),
    recording: &Recording<'_>,
    clock: ClockId,
    import: &mut Import<'_>,
) {
    for (i, (ns, level)) in edges.iter().enumerate() {
        if level != Level::High {
            continue;
        }
        let end = match (i + 1 < edges.len()).then(|| edges.get(i + 1)) {
            None => SpanEnd::OpenAtCut,
            // Nobody saw it fall (`x`, `$dumpoff`).
            Some((_, Level::Unknown)) => SpanEnd::Unknown,
            Some((ns, _)) => SpanEnd::At(recording.stamp(ns)),
        };
        // Nobody saw it rise either if it was high at first, or after an `x`.
        let unseen = i > 0 && edges.get(i - 1).1 == Level::Unknown;
        let args: &[(&str, &str)] = if i == 0 && ns <= extent.0 {
            &[("since", "before the recording")]
        } else if unseen {
            &[("since", "when it was not recorded")]
        } else {
            &[]
        };
        let at = edges.place(i).unwrap_or(pin.at);
        let track = (TrackKind::Signal, &pin.name[..]);
        import.span(clock, track, "high", (recording.stamp(ns), end), args, at);
    }
}

/// Marks where a pin changes, and what the user looks for there: `LED rises`.
fn changes(
    pin: &Pin,
    edges: &Edges,
    recording: &Recording<'_>,
    clock: ClockId,
    import: &mut Import<'_>,
) {
    let hints = recording.hints;
    let few = edges.len() <= MAX_MARKS + 1;
    let mut seen = Vec::new();
    for i in 1..edges.len() {
        let (ns, level) = edges.get(i);
        let what = match (edges.get(i - 1).1, level) {
            (Level::Low, Level::High) => "rises",
            (Level::High, Level::Low) => "falls",
            _ => continue,
        };
        let text = format!("{} {what}", pin.name);
        let at = edges.place(i).unwrap_or(pin.at);
        let stamp = recording.stamp(ns);
        if few {
            import.mark(clock, stamp, &text, at);
        }
        if seen.contains(&level) {
            continue;
        }
        seen.push(level);
        let matches = |pattern: &Option<regex::bytes::Regex>| {
            pattern
                .as_ref()
                .is_some_and(|p| p.is_match(text.as_bytes()))
        };
        if matches(&hints.ready) {
            import.milestone(clock, stamp, Milestone::Ready, at);
        }
        if matches(&hints.application) {
            import.milestone(clock, stamp, Milestone::ApplicationStart, at);
        }
        for (name, pattern) in &hints.marks {
            if pattern.is_match(text.as_bytes()) {
                import.mark(clock, stamp, name, at);
            }
        }
    }
}

/// The times in which a pin kept changing.
fn busy(
    name: &str,
    edges: &Edges,
    recording: &Recording<'_>,
    clock: ClockId,
    import: &mut Import<'_>,
) {
    for busy in &edges.busy {
        import.notice(
            "busy-pins",
            Severity::Info,
            busy.at,
            "these pins change too often to show each change: only when they were busy is shown",
        );
        let times = (
            recording.stamp(busy.start_ns),
            SpanEnd::At(recording.stamp(busy.end_ns)),
        );
        let changes = busy.edges.to_string();
        let track = (TrackKind::Signal, name);
        import.span(
            clock,
            track,
            "busy",
            times,
            &[("changes", &changes)],
            busy.at,
        );
    }
}

/// Shows a pin of several bits: its values.
pub(super) fn word(
    name: &str,
    values: &[(i64, String, Evidence)],
    edges: &Edges,
    recording: &Recording<'_>,
    clock: ClockId,
    import: &mut Import<'_>,
) {
    if values.len() > MAX_SPANS {
        return busy(name, edges, recording, clock, import);
    }
    for (i, (ns, value, at)) in values.iter().enumerate() {
        let end = values
            .get(i + 1)
            .map(|(ns, ..)| SpanEnd::At(recording.stamp(*ns)));
        let times = (recording.stamp(*ns), end.unwrap_or(SpanEnd::OpenAtCut));
        import.span(clock, (TrackKind::Signal, name), value, times, &[], *at);
    }
}

/// Shows a quantity.
pub(super) fn quantity(
    pin: &Pin,
    unit: &str,
    samples: &[(i64, f64)],
    stride: usize,
    clock: ClockId,
    import: &mut Import<'_>,
) {
    if stride > 1 {
        import.notice(
            "samples-thinned",
            Severity::Info,
            pin.at,
            "these quantities have more samples than can be shown: some were left out, evenly",
        );
    }
    import.counter(clock, (&pin.name, unit), samples.to_vec(), pin.at);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_roles() {
        for (name, role) in [
            ("power", Role::Power),
            ("VCC_3V3", Role::Power),
            ("J4.5V", Role::Power),
            ("nRST", Role::Reset),
            ("SYS-RESET", Role::Reset),
            ("ready", Role::Ready),
            ("LED1", Role::Other),
            ("already", Role::Other),
            ("D0", Role::Other),
        ] {
            assert_eq!(Role::of(name), role, "{name}");
        }
    }
}
