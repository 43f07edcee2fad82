//! What was tried, and what came of it.

use bootlap_analysis::{Delta, Moved, Trial, Verdict};

use crate::format::{change, duration, predicted, recipe};
use crate::terminal::{Align, Ink, Line, MARGIN, Page, Style, Table, cell};

/// A table of trials, then for each the account of where the time went.
pub fn text(trials: &[Trial], style: &Style) -> String {
    let mut page = Page::new(style);
    if trials.is_empty() {
        page.line(Line::indented(MARGIN).with("Nothing was tried.", Ink::Plain));
        return page.finish();
    }
    table(trials, page.columns()).render(&mut page);
    for trial in trials {
        account(trial, &mut page);
    }
    page.finish()
}

/// From this width on there is room for the interval beside the saving.
const WIDE: usize = 100;

fn table(trials: &[Trial], columns: usize) -> Table {
    let mut heads = vec![
        ("recipe", Align::Flex),
        ("before", Align::Right),
        ("after", Align::Right),
        ("saved", Align::Right),
    ];
    if columns >= WIDE {
        heads.push(("95 % interval", Align::Right));
    }
    heads.push(("verdict", Align::Left));
    let mut table = Table::new(&heads).without(&["before", "after"]);
    for trial in trials {
        let (verdict, ink) = verdict(trial.effect.verdict);
        let mut cells = vec![
            cell(&recipe(&trial.recipe), Ink::Plain),
            cell(&duration(trial.before_ns), Ink::Plain),
            cell(&duration(trial.after_ns), Ink::Plain),
            cell(&duration(trial.effect.shift_ns.saturating_neg()), ink),
        ];
        if columns >= WIDE {
            cells.push(cell(&interval(trial), Ink::Faint));
        }
        cells.push(cell(verdict, ink));
        table.row(cells);
    }
    table
}

/// The interval of the saving: a saving is a negative shift, so it turns
/// round.
pub(crate) fn interval(trial: &Trial) -> String {
    let [low, high] = trial
        .effect
        .interval_ns
        .map(|ns| duration(ns.saturating_neg()));
    format!("{high} to {low}")
}

/// The word for a verdict, and its colour.
pub(crate) fn verdict(verdict: Verdict) -> (&'static str, Ink) {
    match verdict {
        Verdict::Faster => ("faster", Ink::Good),
        Verdict::Slower => ("slower", Ink::Bad),
        Verdict::Equivalent => ("equivalent", Ink::Plain),
        Verdict::Unknown => ("unknown", Ink::Warn),
    }
}

fn account(trial: &Trial, page: &mut Page<'_>) {
    page.blank();
    let name = recipe(&trial.recipe);
    page.line(Line::indented(MARGIN).with(&name, Ink::Strong));
    let indent = Line::indented(MARGIN + 2);
    page.wrapped(indent.clone(), &certainty(trial), Ink::Faint);
    let [without, with] = trial.not_ready;
    if without + with > 0 {
        let text = format!("{without} boots without and {with} with the recipe never got ready");
        page.wrapped(indent.clone(), &text, Ink::Bad);
    }
    let changed = trial.phases.iter().filter(|p| p.delta_ns != 0);
    let changed: Vec<_> = changed.map(phase_change).collect();
    if !changed.is_empty() {
        page.wrapped(indent.clone(), &changed.join(" · "), Ink::Plain);
    }
    if let Some(saving) = trial.predicted {
        let text = format!("on the board: {} saved", predicted(saving));
        page.wrapped(indent.clone(), &text, Ink::Plain);
    }
    for moved in &trial.moved {
        page.wrapped(indent.clone(), &came_back(moved), Ink::Warn);
    }
}

/// What the verdict rests on.
fn certainty(trial: &Trial) -> String {
    let effect = &trial.effect;
    let [without, with] = effect.samples;
    let p = match effect.p {
        p if p < 0.001 => "p < 0.001".to_owned(),
        p => format!("p = {p:.3}"),
    };
    let margin = duration(effect.margin_ns);
    let facts = [
        format!("95 % interval of the saving: {}", interval(trial)),
        format!("{without} + {with} boots"),
        p,
        format!("below ±{margin} counts as equal"),
    ];
    // No-break spaces: lines end between the facts only.
    facts.map(|fact| fact.replace(' ', "\u{a0}")).join(" · ")
}

/// `kernel −42.00 ms`, held together when lines are broken.
fn phase_change(delta: &Delta) -> String {
    format!("{} {}", delta.name, change(delta.delta_ns)).replace(' ', "\u{a0}")
}

/// A saving that only moved.
pub(crate) fn came_back(moved: &Moved) -> String {
    let saved = change(moved.saved_ns.saturating_abs().saturating_neg());
    let grew = change(moved.grew_ns.saturating_abs());
    format!(
        "{saved} in {} came back as {grew} in {}",
        moved.from, moved.to
    )
}
