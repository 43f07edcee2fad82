//! Silence on the console.

use bootlap_model::{Milestone, Span, Stamp, Timeline, TrackKind};
use schemars::JsonSchema;
use serde::Serialize;

use crate::ends::extent_of;
use crate::extent::length_ns;
use crate::message::message;
use crate::phase::{Phase, PhaseName, phase_of, phases_in};
use crate::view::{Seen, View};
use crate::work::Meter;

/// A stretch in which nothing was printed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "GapJson")]
pub struct Gap {
    /// When the text before it ended.
    #[serde(rename = "start_ns", serialize_with = "crate::as_ns::moment")]
    #[schemars(with = "i64")]
    pub start: Stamp,
    /// When the next text began.
    #[serde(rename = "end_ns", serialize_with = "crate::as_ns::moment")]
    #[schemars(with = "i64")]
    pub end: Stamp,
    /// The phase that most of it lies in.
    #[schemars(with = "Option<String>")]
    pub phase: Option<PhaseName>,
    /// The last line before it, without the kernel's stamp, or the milestone.
    pub before: String,
    /// The first line after it.
    pub after: String,
    /// How much of it the machine waited, 0 to 1.
    pub idle_share: Option<f64>,
}

impl Gap {
    /// How long it lasted, ns; never negative.
    pub fn duration_ns(&self) -> i64 {
        length_ns(&self.start, &self.end)
    }
}

/// The silences of at least `at_least_ns` between power-on and ready, the
/// longest first.
///
/// What the probe saw without any text (power-on, the kernel's and user
/// space's first instruction) ends a silence too.
pub fn gaps(timeline: &Timeline, at_least_ns: i64) -> Vec<Gap> {
    let view = View::of(timeline);
    gaps_in(&view, &phases_in(&view), silences(&view), at_least_ns)
}

/// Those of `silences` that are this long.
pub(crate) fn gaps_in<'t>(
    view: &View,
    phases: &[Phase],
    silences: impl Iterator<Item = Silence<'t>>,
    at_least_ns: i64,
) -> Vec<Gap> {
    let meter = Meter::in_view(view);
    let mut gaps: Vec<Gap> = silences
        .filter(|s| s.length_ns() >= at_least_ns.max(1) && s.untimed.is_none())
        .map(|s| Gap {
            phase: phase_of(phases, &s.start, &s.end),
            before: line(s.before, Side::Last),
            after: line(s.after, Side::First),
            idle_share: meter.idle_share(&s.start, &s.end),
            start: s.start,
            end: s.end,
        })
        .collect();
    gaps.sort_by_key(|g| (std::cmp::Reverse(g.duration_ns()), g.start.ns));
    gaps
}

/// A gap whose neighbours are not yet made readable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silence<'t> {
    pub(crate) start: Stamp,
    pub(crate) end: Stamp,
    pub(crate) before: &'t str,
    pub(crate) after: &'t str,
    /// The spans of these texts, where they are any.
    pub(crate) around: [Option<usize>; 2],
    /// Lines came between of which nobody knows when: the stretch is no silence.
    pub(crate) untimed: Option<&'t str>,
}

impl Silence<'_> {
    /// How long it lasted, ns; never negative.
    pub(crate) fn length_ns(&self) -> i64 {
        length_ns(&self.start, &self.end)
    }
}

/// All silences of a boot, in order. A long log has as many as lines, so they are not kept.
pub(crate) fn silences<'t>(view: &View<'t>) -> impl Iterator<Item = Silence<'t>> {
    let extent = extent_of(view);
    let inside = move |s: &Sound<'_>| {
        extent.is_some_and(|e| s.end.ns >= e.start.ns && s.start.ns <= e.end.ns)
    };
    let mut sounds = sounds(view).filter(inside);
    let mut last = sounds.next();
    std::iter::from_fn(move || {
        loop {
            let (before, sound) = (last?, sounds.next()?);
            if sound.end.ns >= before.end.ns {
                last = Some(sound);
            }
            if before.end.ns < sound.start.ns {
                return Some(Silence {
                    start: before.end,
                    end: sound.start,
                    before: before.text,
                    after: sound.text,
                    around: [before.span, sound.span],
                    untimed: before.untimed,
                });
            }
        }
    })
}

/// What ends a silence.
#[derive(Clone, Copy)]
struct Sound<'t> {
    start: Stamp,
    end: Stamp,
    text: &'t str,
    /// Its index in the timeline; `None` for a milestone.
    span: Option<usize>,
    /// How many lines without a time follow it.
    untimed: Option<&'t str>,
}

/// What ends a silence, in order.
fn sounds<'v, 't>(view: &'v View<'t>) -> impl Iterator<Item = Sound<'t>> + use<'v, 't> {
    // A console that prints the log so far is not silent; the log cannot show it.
    let is_flush = |s: &Seen| s.kind == TrackKind::Kernel && s.name() == Span::LOG_FLUSH;
    let texts = view.spans().filter(move |s| {
        let blank = s.name().trim().is_empty();
        s.kind == TrackKind::Console && !blank || is_flush(s)
    });
    let mut texts = texts.map(|s| Sound {
        start: s.start,
        end: s.end.unwrap_or(s.start),
        text: s.name(),
        span: Some(s.index),
        untimed: view.arg(&s, Span::UNTIMED),
    });
    let mut text = texts.next();
    let silent = [
        Milestone::PowerOn,
        Milestone::KernelImage,
        Milestone::KernelEntry,
        Milestone::UserEntry,
    ];
    let moments = silent.into_iter().filter_map(|milestone| {
        let at = view.milestone(milestone)?;
        Some(Sound {
            start: at,
            end: at,
            text: milestone.text(),
            span: None,
            untimed: None,
        })
    });
    let mut moments: Vec<Sound> = moments.collect();
    moments.sort_by_key(|s| std::cmp::Reverse(s.start.ns));
    std::iter::from_fn(move || match (text, moments.last()) {
        // Of what begins at once the shorter one is the first.
        (Some(sound), moment)
            if moment.is_none_or(|m| (sound.start.ns, sound.end.ns) <= (m.start.ns, m.end.ns)) =>
        {
            text = texts.next();
            Some(sound)
        }
        _ => moments.pop(),
    })
}

/// Which line of a burst stands next to a silence.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    First,
    Last,
}

/// The longest label; longer lines are cut with an ellipsis.
const LABEL_CHARS: usize = 80;

/// One line of console text made readable: no control characters, no kernel
/// stamp (the time is known anyway, and differs from boot to boot).
pub(crate) fn line(text: &str, side: Side) -> String {
    let mut lines = text.split(['\n', '\r']).filter(|l| !message(l).is_empty());
    let line = match side {
        Side::First => lines.next(),
        Side::Last => lines.next_back(),
    };
    label(line.unwrap_or_default())
}

/// [`line`] for text that is one line already.
pub(crate) fn label(line: &str) -> String {
    let line = message(line).chars();
    let clean: String = line.filter(|c| !c.is_control()).collect();
    if clean.chars().count() <= LABEL_CHARS {
        return clean;
    }
    let mut cut: String = clean.chars().take(LABEL_CHARS - 1).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Boot;

    #[test]
    fn the_longest_silence_comes_first_with_what_stands_around_it() {
        let mut boot = Boot::sim();
        boot.mark(Milestone::PowerOn, 0)
            .mark(Milestone::KernelEntry, 40)
            .mark(Milestone::Ready, 500)
            .text(10, 20, "U-Boot 2023.01\r\n\r\nDRAM: 64 MiB\r\n")
            .text(100, 110, "[    0.000000] Linux version 6.1\n")
            .text(400, 500, "[    0.3][    T1] random: crng init done\nready")
            .text(900, 910, "later");
        let gaps = gaps(&boot.timeline, 15);
        let seen: Vec<_> = gaps
            .iter()
            .map(|g| (g.duration_ns(), g.before.as_str(), g.after.as_str()))
            .collect();
        assert_eq!(
            seen,
            [
                (290, "Linux version 6.1", "random: crng init done"),
                (60, "kernel starts", "Linux version 6.1"),
                (20, "DRAM: 64 MiB", "kernel starts"),
            ]
        );
        assert_eq!(gaps[0].phase, Some(PhaseName::Kernel));
    }

    #[test]
    fn where_lines_without_a_time_came_was_no_silence() {
        let mut boot = Boot::sim();
        boot.text(0, 10, "a").text(100, 110, "b");
        boot.arg(Span::UNTIMED, "3").text(500, 510, "c");
        let seen: Vec<_> = gaps(&boot.timeline, 1)
            .iter()
            .map(Gap::duration_ns)
            .collect();
        assert_eq!(seen, [90]);
        let costs = crate::costs(&boot.timeline, 9);
        assert_eq!(costs[0].name, "what follows \"b\"");
        assert!(
            costs[0].why.starts_with("3 lines without a time"),
            "{costs:?}"
        );
    }

    #[test]
    fn bursts_that_overlap_leave_no_silence() {
        let mut boot = Boot::sim();
        boot.text(0, 100, "a").text(10, 20, "b").text(130, 140, "c");
        let gaps = gaps(&boot.timeline, 1);
        assert_eq!(gaps.len(), 1);
        assert_eq!((gaps[0].start.ns, gaps[0].before.as_str()), (100, "a"));
        assert_eq!(gaps[0].phase, None);
    }

    #[test]
    fn a_silence_says_whether_the_machine_waited() {
        let mut boot = Boot::sim();
        let at = Stamp::counted;
        boot.span_at(TrackKind::Console, at(0, 0), at(2_000_000, 1_000_000), "a")
            .span_at(
                TrackKind::Console,
                at(6_000_000, 1_500_000),
                at(6_000_100, 1_500_050),
                "b",
            );
        assert_eq!(gaps(&boot.timeline, 1)[0].idle_share, Some(0.75));
    }

    #[test]
    fn only_stamps_are_dropped_from_a_line() {
        assert_eq!(line("[    1.5] [foo] bar", Side::First), "[foo] bar");
        assert_eq!(
            line("[  OK  ] Started x", Side::First),
            "[  OK  ] Started x"
        );
        assert_eq!(line("[    0.1][    C0] x", Side::First), "x");
        assert_eq!(line("[", Side::First), "[");
        assert_eq!(line("\x1b[0m\n\n", Side::Last), "[0m");
        assert_eq!(line(&"ä".repeat(200), Side::Last).chars().count(), 80);
    }
}
