//! What has to be known beside the figures of a comparison.

use std::collections::BTreeSet;

use bootlap_analysis::groups::{End, Side};
use bootlap_model::Milestone;

use crate::format::duration;
use crate::groups::{Compared, SideAbout, boots, bounds, end_short, heaps, is_single};

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Good to know.
    Info,
    /// It limits what the figures say.
    Warning,
    /// Boots failed.
    Failure,
}

/// A note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Stable kebab-case name: `bimodal`, `outlier`, `never-ready` …
    pub code: &'static str,
    /// How much it matters.
    pub weight: Weight,
    /// In words; names stand in backticks.
    pub text: String,
}

/// More names than these are counted.
const NAMED: usize = 4;

/// All notes, those that matter most first.
pub fn notes(compared: &Compared) -> Vec<Note> {
    let groups = &compared.groups;
    let mut notes = Vec::new();
    let mut note = |code, weight, text: String| notes.push(Note { code, weight, text });
    let sides = || groups.sides.iter().zip(&compared.sides);
    for (side, about) in sides() {
        if let Some(text) = failures(compared, side, about) {
            note("never-ready", Weight::Failure, text);
        }
    }
    let kinds = groups.sides.each_ref().map(|s| s.time);
    if kinds[0] != kinds[1] || kinds.contains(&None) {
        let text = "several kinds of time are mixed: such figures do not compare";
        note("times-mixed", Weight::Warning, text.to_owned());
    }
    let all = compared.sides.iter().flat_map(|side| &side.boots);
    let models: BTreeSet<&String> = all.filter_map(|b| b.model.as_ref()).collect();
    if models.len() > 1 {
        let text =
            "the boots were made in the time of different boards: such figures do not compare";
        note("models-differ", Weight::Warning, text.to_owned());
    }
    for (side, about) in sides() {
        if let Some(heaps) = heaps(&side.shape) {
            let text = format!(
                "{} is bimodal: {heaps}. Find out what tells these boots apart before trusting one figure for both",
                about.word
            );
            note("bimodal", Weight::Warning, text);
        }
    }
    for row in &groups.phases {
        for (shape, about) in row.shapes.iter().zip(&compared.sides) {
            if let Some(heaps) = heaps(shape) {
                let text = format!("{} of {} is bimodal: {heaps}", row.name, about.word);
                note("bimodal-phase", Weight::Warning, text);
            }
        }
    }
    for (side, about) in sides() {
        for (text, far) in outliers(side, about) {
            let text = format!(
                "{text}: far from the other boots of {} ({far}), and kept",
                about.word
            );
            note("outlier", Weight::Info, text);
        }
    }
    for (side, about) in sides() {
        if side.identical {
            let text = format!(
                "{} of {} are equal to the nanosecond: however many there are, they are one boot. Boot it in several perturbations (`bootlap try` does)",
                boots(side.boots()),
                about.word
            );
            note("identical", Weight::Warning, text);
        }
    }
    if groups.total.is_some() && !is_single(compared) {
        let counts = groups
            .sides
            .each_ref()
            .map(|s| s.totals_ns.iter().flatten().count());
        if ways(counts) < 40.0 {
            let text = format!(
                "with {} and {} boots no difference, however large, has less than 5 % of chance: record at least 4 and 4",
                counts[0], counts[1]
            );
            note("few-boots", Weight::Warning, text);
        }
    }
    let total = groups.total.as_ref().and_then(|total| total.effect);
    if let Some(sessions) = total
        .and_then(|effect| effect.sessions)
        .filter(|_| !is_single(compared))
    {
        let drift = match sessions.drift_ns {
            0 => String::new(),
            ns => format!(", {} of it as the times drift within a side", duration(ns)),
        };
        let text = format!(
            "nothing says that these boots were made in turns, so a change counts only beyond {}: so much two sessions may differ by without any{drift}. Boot both sides in turns (`bootlap try`) to see less",
            duration(sessions.apart_ns)
        );
        note("sessions", Weight::Info, text);
    }
    for row in &groups.phases {
        let Some(effect) = &row.effect else { continue };
        let there = groups
            .sides
            .each_ref()
            .map(|s| s.totals_ns.iter().flatten().count());
        if effect.samples != there {
            let text = format!(
                "only {} and {} boots show where {} begins and ends; the others count it to the phase before",
                effect.samples[0], effect.samples[1], row.name
            );
            note("phase-in-some", Weight::Warning, text);
        }
    }
    let both = groups.sides.iter().all(|s| s.typical.is_some());
    for row in groups
        .phases
        .iter()
        .filter(|row| both && row.effect.is_none())
    {
        let at = usize::from(row.before_ns.is_none());
        let text = format!(
            "only {} shows where {} begins; the phase before it holds its time on the other side",
            compared.sides[at].word, row.name
        );
        note("phase-on-one-side", Weight::Warning, text);
    }
    let formats = |about: &SideAbout| {
        let mut all: Vec<String> = about.boots.iter().map(|b| b.formats.join(" + ")).collect();
        all.sort();
        all.dedup();
        all
    };
    let mut all: Vec<String> = compared.sides.iter().flat_map(formats).collect();
    all.sort();
    all.dedup();
    if all.len() > 1 {
        let text = format!(
            "the boots are told by different kinds of evidence ({}), and only what all of them tell is compared",
            all.join(", ")
        );
        note("formats-mixed", Weight::Warning, text);
    }
    for (side, about) in sides() {
        if let Some(text) = rest(&groups.end, side, about) {
            note("goes-on", Weight::Info, text);
        }
    }
    for about in &compared.sides {
        if let Some(text) = &about.assumed {
            note("assumed", Weight::Info, text.clone());
        }
        if !about.odd.is_empty() {
            let named = about.odd.iter().take(NAMED);
            let named: Vec<String> = named
                .map(|(name, why)| format!("`{name}` ({why})"))
                .collect();
            let text = format!(
                "no boot, left out of {}: {}",
                about.word,
                list(&named, about.odd.len())
            );
            note("not-a-boot", Weight::Info, text);
        }
    }
    let text = format!("times are {}", bounds(groups));
    note("bounds", Weight::Info, text);
    notes.sort_by_key(|n| std::cmp::Reverse(n.weight as u8));
    notes
}

fn failures(compared: &Compared, side: &Side, about: &SideAbout) -> Option<String> {
    let failed: Vec<usize> = side.failed().collect();
    if failed.is_empty() {
        return None;
    }
    let end = &compared.groups.end;
    let said = |at: &usize| {
        let boot = about.boots.get(*at)?;
        Some(match &boot.why_not {
            Some(why) => format!("`{}` ({why})", boot.name),
            None => format!("`{}`", boot.name),
        })
    };
    let named: Vec<String> = failed.iter().take(NAMED).filter_map(said).collect();
    let hint = match end {
        End::Milestone(Milestone::Ready) => "",
        End::Last => "; nothing in them has a time",
        _ => "; if their logs were only cut earlier, leave them out",
    };
    Some(format!(
        "{} of {} of {} never got to {}, left out of all figures: {}{hint}",
        failed.len(),
        boots(side.boots()),
        about.word,
        end_short(end),
        list(&named, failed.len())
    ))
}

fn outliers(side: &Side, about: &SideAbout) -> Vec<(String, String)> {
    let there = side.totals_ns.iter().enumerate();
    let there: Vec<(usize, i64)> = there.filter_map(|(at, ns)| Some((at, (*ns)?))).collect();
    let totals: Vec<i64> = there.iter().map(|t| t.1).collect();
    let middle = bootlap_analysis::stats::median(&totals).unwrap_or(0);
    let out = side.shape.outliers.iter().filter_map(|at| {
        let (boot, ns) = there.get(*at)?;
        let name = &about.boots.get(*boot)?.name;
        let text = format!("`{name}` took {}", duration(*ns));
        Some((text, format!("median {}", duration(middle))))
    });
    out.collect()
}

/// Logs that go on after the end: what comes there is in no figure.
fn rest(end: &End, side: &Side, about: &SideAbout) -> Option<String> {
    let (count, longest_ns) = side.go_on;
    let said = matches!(
        end,
        End::Unit(_) | End::Milestone(Milestone::Ready | Milestone::StartupFinished)
    );
    if count == 0 || said {
        return None;
    }
    Some(format!(
        "the logs of {} of {} of {} go on after that end, by up to {}: `--ready REGEX` takes a later one",
        count,
        boots(side.boots()),
        about.word,
        duration(longest_ns)
    ))
}

fn list(named: &[String], all: usize) -> String {
    let more = match all.saturating_sub(named.len()) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    named.join(", ") + &more
}

/// In how many ways so many boots can be told into two groups: one of them is
/// the one seen, so that chance is never below 2 in this.
fn ways([a, b]: [usize; 2]) -> f64 {
    let steps = (1..=a.min(b)).map(|i| (a.max(b) + i) as f64 / i as f64);
    steps.product()
}
