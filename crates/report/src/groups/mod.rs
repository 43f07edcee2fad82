//! Two groups of boots side by side, as they are shown: what the terminal, the
//! Markdown and the JSON say in common.

mod csv;
mod json;
mod markdown;
mod notes;
mod text;

pub use csv::{GROUP_COLUMNS, csv};
pub use json::{CompareJson, GroupsJson, first, json};
pub use markdown::markdown;
pub use notes::{Note, Weight, notes};
pub use text::text;

use bootlap_analysis::groups::{End, Groups, Margin, Row, Shape, SpanRow, Start};
use bootlap_analysis::{Effect, Verdict};
use bootlap_model::Milestone;

use crate::format::{change, duration, percent};
use crate::table::By;

/// All that is shown of a comparison.
pub struct GroupsReport {
    /// The program that made it, with its version.
    pub tool: String,
    /// What counts as no difference.
    pub margin: Margin,
    /// One comparison; of an experiment the baseline against each variant.
    pub comparisons: Vec<Compared>,
}

/// One comparison.
pub struct Compared {
    /// What was computed.
    pub groups: Groups,
    /// What is known of either side beside its times.
    pub sides: [SideAbout; 2],
}

/// What is known of a side beside its times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SideAbout {
    /// What sentences call it: `before`, `after`, or a variant's name.
    pub word: String,
    /// Where it was read, as the user typed it.
    pub path: String,
    /// Its boots.
    pub boots: Vec<BootAbout>,
    /// What lay there and is no boot: its name and why.
    pub odd: Vec<(String, String)>,
    /// Something that was assumed about it.
    pub assumed: Option<String>,
}

/// What is known of one boot of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BootAbout {
    /// Its file or its run's folder.
    pub name: String,
    /// What its evidence is: `dmesg`, `systemd` …, in order of the alphabet.
    pub formats: Vec<String>,
    /// Why it never got ready, where its recorder said so.
    pub why_not: Option<String>,
    /// The board in whose time it was made, where that was modelled, as [`About::model`].
    ///
    /// [`About::model`]: crate::About::model
    pub model: Option<String>,
}

/// How good or bad a piece of news is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Faster.
    Good,
    /// Slower, or failed.
    Bad,
    /// Nobody knows.
    Open,
    /// No news.
    Even,
}

/// The sentence that a comparison begins with, in pieces.
pub fn headline(compared: &Compared) -> Vec<(String, Tone)> {
    let groups = &compared.groups;
    let [before, after] = &compared.sides;
    let mut pieces = vec![match &groups.total {
        Some(total) => verdict(compared, total),
        None => no_total(compared),
    }];
    let against = against(groups);
    let led = groups.total.as_ref().and_then(verdict_of);
    let link = match led {
        Some(Verdict::Faster | Verdict::Slower | Verdict::Equivalent) => "; but ",
        _ => "; ",
    };
    for (at, row) in against.iter().enumerate() {
        let (word, tone) = match verdict_of(row) {
            Some(Verdict::Slower) => ("slower", Tone::Bad),
            _ => ("faster", Tone::Good),
        };
        let lead = if at == 0 { link } else { ", " };
        let by = change(row.shift_ns()).replace(' ', "\u{a0}");
        pieces.push((format!("{lead}{} got {word}: {by}", row.name), tone));
    }
    for (side, about) in groups.sides.iter().zip([before, after]) {
        let failed = side.failed().count();
        if failed > 0 && groups.total.is_some() {
            let text = format!(
                "; {failed} of {} of {} never got to {}",
                boots(side.boots()),
                about.word,
                end_short(&groups.end)
            );
            pieces.push((text, Tone::Bad));
        }
    }
    pieces
}

/// [`headline`] as one sentence.
pub fn sentence(compared: &Compared) -> String {
    let pieces = headline(compared);
    pieces.into_iter().map(|(text, _)| text).collect()
}

/// Why there is no total.
fn no_total(compared: &Compared) -> (String, Tone) {
    let groups = &compared.groups;
    if groups.end == End::Durations {
        let text = "these files say how long things took, and not all of them when: there is no \
                    total to compare";
        return (text.to_owned(), Tone::Open);
    }
    if groups.end == End::Last {
        let text = format!(
            "{} and {} have no end in common, so there is no total to compare: name one with --ready REGEX",
            compared.sides[0].word, compared.sides[1].word
        );
        return (text, Tone::Open);
    }
    let none = |at: usize| groups.sides[at].totals_ns.iter().all(Option::is_none);
    let word = |at: usize| &compared.sides[at].word;
    let end = end_short(&groups.end);
    let count = |at: usize| boots(groups.sides[at].boots());
    let text = match (none(0), none(1)) {
        (true, true) => format!("no boot of either side ever got to {end}"),
        (true, false) => format!(
            "{} gets to {end}; none of {} of {} did",
            word(1),
            count(0),
            word(0)
        ),
        _ => format!("{} never gets to {end}: none of {} did", word(1), count(1)),
    };
    (text, if none(1) { Tone::Bad } else { Tone::Good })
}

/// What the total says.
fn verdict(compared: &Compared, total: &Row) -> (String, Tone) {
    let (before, after) = (&compared.sides[0].word, &compared.sides[1].word);
    let Some(effect) = &total.effect else {
        return no_total(compared);
    };
    let (shift, held) = (effect.shift_ns, |text: String| text.replace(' ', "\u{a0}"));
    let part = part(shift, total.before_ns.unwrap_or(0));
    let by = held(by(effect));
    let counted = samples(effect);
    if is_single(compared) {
        let less = match shift {
            ..0 => format!(
                "{} less than {before}{part}",
                duration(shift.saturating_neg())
            ),
            0 => format!("exactly as long as {before}"),
            1.. => format!("{} more than {before}{part}", duration(shift)),
        };
        let sides = &compared.groups.sides;
        let why = match sides.iter().all(|s| s.time.is_some_and(|t| t.repeats())) {
            true => {
                "to the nanosecond, as such boots repeat exactly; but a change of layout alone can move a boot by some ms, so one boot proves nothing"
            }
            false => "one boot on a side proves nothing",
        };
        return (format!("{after} took {less}, {counted}: {why}"), Tone::Open);
    }
    match effect.verdict {
        Verdict::Faster => (
            format!("{after} is faster: {by}{part}, {counted}"),
            Tone::Good,
        ),
        Verdict::Slower => (
            format!("{after} is slower: {by}{part}, {counted}"),
            Tone::Bad,
        ),
        Verdict::Equivalent => (
            format!(
                "{after} is as fast as {before}: {by}{part}, within ±{}, {counted}",
                held(duration(effect.margin_ns))
            ),
            Tone::Even,
        ),
        Verdict::Unknown => {
            let apart = apart(effect).map_or(String::new(), |ns| {
                let ns = held(duration(ns));
                format!("; two sessions may differ by {ns} without any change")
            });
            let text = format!(
                "{counted} do not tell whether {after} is faster than {before}: {by}{part}{apart}"
            );
            (text, Tone::Open)
        }
    }
}

/// What the sessions of both sides may differ by, where only that keeps their
/// difference from being a change.
fn apart(effect: &Effect) -> Option<i64> {
    let [low, high] = effect.interval_ns;
    let sessions = effect.sessions?;
    (low > 0 || high < 0).then_some(sessions.apart_ns)
}

/// Phases whose news is not that of the total.
fn against(groups: &Groups) -> Vec<&Row> {
    let total = groups.total.as_ref().and_then(verdict_of);
    let is_against = |row: &&Row| match (total, verdict_of(row)) {
        (Some(Verdict::Faster), phase) => phase == Some(Verdict::Slower),
        (Some(Verdict::Slower), phase) => phase == Some(Verdict::Faster),
        (_, phase) => matches!(phase, Some(Verdict::Faster | Verdict::Slower)),
    };
    groups.phases.iter().filter(is_against).collect()
}

/// The verdict of a row, where both sides have it.
pub fn verdict_of(row: &Row) -> Option<Verdict> {
    Some(row.effect.as_ref()?.verdict)
}

/// Whether a side is one boot, or copies of one.
pub(crate) fn is_single(compared: &Compared) -> bool {
    let sides = compared.groups.sides.iter();
    let mut single = sides.map(|s| s.identical || s.totals_ns.iter().flatten().count() < 2);
    single.any(|single| single)
}

/// `−212.0 ms ± 9.0 ms`; where the interval lies askew, its ends.
fn by(effect: &Effect) -> String {
    let [low, high] = effect.interval_ns;
    let below = effect.shift_ns.saturating_sub(low).max(0);
    let above = high.saturating_sub(effect.shift_ns).max(0);
    let shift = change(effect.shift_ns);
    if below.max(above) > below.min(above).saturating_mul(2) {
        return format!("{shift}, 95 %: {} to {}", change(low), change(high));
    }
    format!("{shift} ± {}", duration(half(effect)))
}

/// The half of an effect's interval that is wider.
fn half(effect: &Effect) -> i64 {
    let [low, high] = effect.interval_ns;
    let below = effect.shift_ns.saturating_sub(low);
    below.max(high.saturating_sub(effect.shift_ns)).max(0)
}

/// ` (−3.8 %)`
fn part(shift_ns: i64, before_ns: i64) -> String {
    if before_ns <= 0 {
        return String::new();
    }
    let share = percent(shift_ns as f64 / before_ns as f64);
    let sign = if shift_ns > 0 { "+" } else { "" };
    format!(" ({sign}{share})").replace("\u{20}%", "\u{a0}%")
}

/// `10 and 10 boots`
fn samples(effect: &Effect) -> String {
    match effect.samples {
        [1, 1] => "1 boot each".to_owned(),
        [a, b] => format!("{a} and {b} boots"),
    }
    .replace(' ', "\u{a0}")
}

pub(crate) fn boots(n: usize) -> String {
    match n {
        1 => "1 boot".to_owned(),
        n => format!("{n} boots"),
    }
}

/// What times are: `from kernel clock starts to ready`.
pub fn bounds(groups: &Groups) -> String {
    let start = match &groups.start {
        Start::Milestone(m) => format!("\"{}\"", m.text()),
        Start::Line(text) => format!("the line `{text}`, the first that all boots print,"),
        Start::First => "each boot's first event".to_owned(),
    };
    let end = match &groups.end {
        End::Milestone(m) => format!("\"{}\"", m.text()),
        End::Unit(name) => format!("`{name}` active"),
        End::Line(text) => {
            format!("the line `{text}`, the last that all boots print in the same order")
        }
        End::Last => "the last event of each boot".to_owned(),
        End::Durations => return "how long each thing took, wherever in the boot".to_owned(),
    };
    format!("from {start} to {end}")
}

fn end_short(end: &End) -> String {
    match end {
        End::Milestone(Milestone::Ready) => "ready".to_owned(),
        End::Milestone(m) => format!("\"{}\"", m.text()),
        End::Unit(name) => format!("`{name}`"),
        End::Line(_) => "the last common line".to_owned(),
        End::Last => "an end".to_owned(),
        End::Durations => "any duration".to_owned(),
    }
}

/// What the row of the total is called.
pub fn total_label(groups: &Groups) -> &'static str {
    match groups.end {
        End::Milestone(Milestone::Ready) => "to ready",
        _ => "total",
    }
}

/// The margin in words: `±1.0 %`.
pub fn margin(margin: Margin) -> String {
    match margin {
        Margin::Share(share) => format!("±{}", exact_percent(share)),
        Margin::Ns(ns) => format!("±{}", duration(ns)),
    }
}

/// A share that somebody typed, with all of its digits: `0.05 %`.
fn exact_percent(share: f64) -> String {
    let digits = format!("{:.6}", share * 100.0);
    let digits = digits.trim_end_matches('0');
    match digits.strip_suffix('.') {
        Some(whole) => format!("{whole}.0 %"),
        None => format!("{digits} %"),
    }
}

/// Matched spans that are listed: those of a wanted kind, or those that
/// changed. Where no verdict is possible, those whose change is no noise.
pub fn listed(compared: &Compared, by: Option<By>) -> Vec<&SpanRow> {
    let single = is_single(compared);
    let total_ns = compared.groups.total.as_ref().and_then(|t| t.before_ns);
    let least_ns = (total_ns.unwrap_or(0) / 200).max(1_000_000);
    let wanted = |s: &&SpanRow| match by {
        Some(by) => by.takes(s.kind),
        None if single => s.row.shift_ns().saturating_abs() >= least_ns,
        None => matches!(verdict_of(&s.row), Some(Verdict::Faster | Verdict::Slower)),
    };
    compared.groups.spans.iter().filter(wanted).collect()
}

/// `6 boots near 4.102 s and 4 near 4.911 s`, if there are two heaps.
pub(crate) fn heaps(shape: &Shape) -> Option<String> {
    let [low, high] = shape.modes.as_ref()?;
    Some(format!(
        "{} near {} and {} near {}",
        boots(low.samples),
        duration(low.median_ns),
        high.samples,
        duration(high.median_ns)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_told_as_it_was_typed() {
        let told = [0.01, 0.005, 0.0005, 0.00012].map(|s| margin(Margin::Share(s)));
        assert_eq!(told, ["±1.0 %", "±0.5 %", "±0.05 %", "±0.012 %"]);
    }
}
