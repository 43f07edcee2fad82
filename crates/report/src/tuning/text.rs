//! A search for the best set of recipes: a waterfall from before to after.

use unicode_width::UnicodeWidthStr;

use crate::boot::text::time_label;
use crate::format::{change, duration, recipe, times};
use crate::terminal::{Align, Ink, Line, MARGIN, Page, Style, Table, bar, cell};
use crate::trials::{came_back, interval, verdict};
use crate::tuning::{Tuning, Waterfall};

/// From this width on there is room for bars.
const WIDE: usize = 60;

/// What was kept and what each step saves, then what was not, and why.
pub fn text(tuning: &Tuning, style: &Style) -> String {
    let mut page = Page::new(style);
    headline(tuning, &mut page);
    page.blank();
    waterfall(tuning, &mut page);
    for step in &tuning.steps {
        for moved in &step.trial.moved {
            let text = format!("{}: {}", recipe(&step.recipe), came_back(moved));
            page.wrapped(Line::indented(MARGIN), &text, Ink::Faint);
        }
    }
    beside(tuning, &mut page);
    if !tuning.left_out.is_empty() {
        page.heading("left out");
    }
    let out = tuning.left_out.iter().map(|o| (&o.recipe, &o.why));
    entries(out.collect(), Ink::Plain, &mut page);
    if !tuning.excluded.is_empty() {
        page.heading("excluded: these broke the target");
    }
    for broken in &tuning.excluded {
        let names = broken.recipe.replace('+', " + ");
        let text = format!("{names}: {}", broken.why);
        page.wrapped(Line::indented(MARGIN), &text, Ink::Bad);
        for line in &broken.tail {
            page.line(
                Line::indented(MARGIN + 2)
                    .with("| ", Ink::Faint)
                    .with(line, Ink::Faint),
            );
        }
        if let Some(run) = &broken.run {
            page.line(Line::indented(MARGIN + 2).with(run, Ink::Command));
        }
    }
    page.finish()
}

fn headline(tuning: &Tuning, page: &mut Page<'_>) {
    let proof = &tuning.proof;
    let mut line = page.subject(&tuning.about.target);
    let (word, ink) = verdict(proof.effect.verdict);
    let ratio = times(proof.before_ns, proof.after_ns).unwrap_or_default();
    line.push(&format!(": {ratio} {word}: "), ink);
    let (before, after) = (duration(proof.before_ns), duration(proof.after_ns));
    line.push(&format!("{before} → {after}"), Ink::Strong);
    page.line_with_right(line, time_label(&tuning.about.time));
    let [without, with] = proof.effect.samples;
    let facts = [
        format!("saves {}", duration(proof.effect.shift_ns.saturating_neg())),
        format!("95 % interval {}", interval(proof)),
        format!("{without} + {with} fresh boots"),
        format!("{} boots in all", tuning.boots),
    ];
    let facts = facts.map(|fact| fact.replace(' ', "\u{a0}")).join(" · ");
    page.wrapped(Line::indented(MARGIN), &facts, Ink::Faint);
    if let Some(why) = &tuning.stopped {
        let text =
            format!("The search is not through: {why}. What is shown was proved all the same.");
        page.wrapped(Line::indented(MARGIN), &text, Ink::Warn);
    }
}

/// From the start down to the end, each step where it stands.
fn waterfall(tuning: &Tuning, page: &mut Page<'_>) {
    let proof = &tuning.proof;
    let names = tuning.steps.iter().map(|s| recipe(&s.recipe).width());
    let columns = page.columns();
    let name = names
        .max()
        .unwrap_or(0)
        .max("before".len())
        .min(columns / 2);
    let time = 11;
    let bars = columns.saturating_sub(MARGIN + name + time + 3);
    let bars = if columns < WIDE { 0 } else { bars };
    let whole_ns = proof.before_ns.max(proof.after_ns);
    let mut row = |label: &str, text: &str, ink: Ink, from_ns: i64, to_ns: i64| {
        let mut line = Line::indented(MARGIN);
        line.append(Line::default().with(label, Ink::Strong).fit(name));
        line.append(Line::default().with(text, ink).right_aligned(time));
        line.push("  ", Ink::Plain);
        let (low, high) = (from_ns.min(to_ns), from_ns.max(to_ns));
        let drawn = bar::block(low, high, whole_ns, bars);
        line.push(&drawn, ink);
        page.line(line);
    };
    row(
        "before",
        &duration(proof.before_ns),
        Ink::Plain,
        0,
        proof.before_ns,
    );
    let mut at_ns = proof.before_ns;
    for step in &tuning.steps {
        let shift_ns = step.trial.effect.shift_ns;
        let (_, ink) = verdict(step.trial.effect.verdict);
        let to_ns = at_ns.saturating_add(shift_ns);
        let name = recipe(&step.recipe);
        row(&name, &change(shift_ns), ink, at_ns, to_ns);
        at_ns = to_ns;
    }
    row(
        "after",
        &duration(proof.after_ns),
        Ink::Strong,
        0,
        proof.after_ns,
    );
}

/// What each step saves here and on other axes of time.
fn beside(tuning: &Tuning, page: &mut Page<'_>) {
    if tuning.beside.is_empty() {
        return;
    }
    let axes: Vec<Waterfall> = std::iter::once(Waterfall::of(tuning))
        .chain(tuning.beside.iter().cloned())
        .collect();
    let mut recipes: Vec<&str> = Vec::new();
    for step in axes.iter().flat_map(|axis| &axis.steps) {
        if !recipes.contains(&step.recipe.as_str()) {
            recipes.push(&step.recipe);
        }
    }
    page.heading("beside each other: other axes of time");
    let mut columns = vec![("", Align::Flex)];
    columns.extend(axes.iter().map(|axis| (axis.axis.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    let mut row = |name: &str, ink: Ink, of: &dyn Fn(&Waterfall) -> Line| {
        let cells = axes.iter().map(of);
        table.row(std::iter::once(cell(name, ink)).chain(cells).collect());
    };
    let time = |ns: i64| cell(&duration(ns), Ink::Plain);
    row("before", Ink::Strong, &|axis| time(axis.before_ns));
    for name in recipes {
        row(
            &recipe(name),
            Ink::Plain,
            &|axis| match axis.saved_ns(name) {
                Some(saved_ns) if saved_ns < 0 => {
                    cell(&change(saved_ns.saturating_neg()), Ink::Bad)
                }
                Some(saved_ns) => cell(&change(saved_ns.saturating_neg()), Ink::Good),
                None if axis.left_out.iter().any(|out| out == name) => cell("left out", Ink::Faint),
                None => cell("—", Ink::Faint),
            },
        );
    }
    row("after", Ink::Strong, &|axis| time(axis.after_ns));
    table.render(page);
}

/// Names and what is said of them.
fn entries(entries: Vec<(&String, &String)>, ink: Ink, page: &mut Page<'_>) {
    let names = entries.iter().map(|(name, _)| recipe(name).width());
    let name = names.max().unwrap_or(0).min(page.columns() / 2);
    for (long, why) in entries {
        let mut lead = Line::indented(MARGIN);
        lead.append(Line::default().with(&recipe(long), ink).fit(name));
        lead.push("  ", Ink::Plain);
        page.wrapped(lead, why, Ink::Faint);
    }
}
