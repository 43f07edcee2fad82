//! `.md`: the boot as GitHub-flavoured Markdown, to paste into an issue or a
//! pull request.
//!
//! Names and lines come from evidence. Whole ones stand as code, in which
//! nothing is markup; sentences that hold some are escaped (`crate::markdown`). Lists
//! are cut where a reader would stop, so that a report always fits into a
//! comment (65 536 characters).

mod details;

use bootlap_model::shell_word;
use std::io::Write;

use bootlap_advice::Finding;
use bootlap_analysis::{Cost, Phase, Trial, Verdict};

use crate::Report;
use crate::boot::headline::{Headline, facts, kind_of_time};
use crate::boot::text::costs::expected;
use crate::comparison;
use crate::format::{duration, percent, share};
use crate::markdown::{code, prose};
use crate::sink::{Sink, SinkError};
use crate::table::By;

/// How many costs, findings and trials are listed.
const SHOWN: usize = 8;
/// Characters of a phase that fills the whole boot.
const BAR: i64 = 30;
/// From this share on, a cost is called waiting.
const WAITING: f64 = 0.05;

/// The format.
pub const MARKDOWN: Sink = Sink {
    name: "markdown",
    title: "Markdown, for an issue or a pull request",
    extensions: &["md", "markdown"],
    choices: &[],
    write,
};

fn write(report: &Report<'_>, _: Option<By>, out: &mut dyn Write) -> Result<(), SinkError> {
    Ok(out.write_all(document(report).as_bytes())?)
}

/// The whole text: blocks, with an empty line between each two.
fn document(report: &Report<'_>) -> String {
    let mut blocks = headline(report);
    match (&report.before, &report.comparison) {
        (Some(before), Some(comparison)) => {
            blocks.extend(comparison::markdown::blocks(comparison, report, before));
        }
        _ => blocks.extend(phases(report)),
    }
    blocks.extend(costs(report));
    blocks.extend(findings(report));
    blocks.extend(trials(&report.trials));
    blocks.extend(details::blocks(report));
    if !report.about.tool.is_empty() {
        blocks.push(format!("Made by {}.", code(&report.about.tool)));
    }
    blocks.join("\n\n") + "\n"
}

fn headline(report: &Report<'_>) -> Vec<String> {
    let Headline { name, rest } = Headline::of(report);
    let mut words = vec![kind_of_time(report)];
    words.extend(facts(report));
    let words: Vec<String> = words.iter().map(|word| prose(word)).collect();
    vec![
        format!("### {}{rest}", code(&name)),
        format!("In {}", words.join(" · ")),
    ]
}

fn phases(report: &Report<'_>) -> Vec<String> {
    let phases = &report.phases;
    let whole = phases.iter().map(Phase::duration_ns);
    let whole = whole.fold(0, i64::saturating_add);
    // The boot can go on where nobody knows which phase it is in.
    let boot = report.answers.extent().map_or(0, |e| e.duration_ns());
    let whole = whole.max(boot);
    if phases.is_empty() {
        return Vec::new();
    }
    let mut table = "| phase | time | share | |\n| :-- | --: | --: | :-- |".to_owned();
    for phase in phases {
        let ns = phase.duration_ns();
        table += &format!(
            "\n| {} | {} | {} | {} |",
            phase.name.text(),
            duration(ns),
            share(ns, whole),
            bar(ns, whole)
        );
    }
    vec![table]
}

/// A bar that is `BAR` characters long for the whole.
fn bar(ns: i64, whole: i64) -> String {
    let columns = i128::from(ns.max(0)) * i128::from(BAR) / i128::from(whole.max(1));
    "█".repeat(columns.clamp(0, BAR.into()) as usize)
}

fn costs(report: &Report<'_>) -> Vec<String> {
    if report.costs.is_empty() {
        return Vec::new();
    }
    let lines: Vec<String> = report.costs.iter().take(SHOWN).map(cost).collect();
    vec!["#### Largest costs".to_owned(), lines.join("\n")]
}

fn cost(cost: &Cost) -> String {
    let mut place: Vec<String> = Vec::new();
    place.extend(cost.phase.map(|phase| phase.text().to_owned()));
    let waited = cost.idle_share.filter(|share| *share >= WAITING);
    place.extend(waited.map(|share| format!("{} waiting", percent(share))));
    let place = match place.as_slice() {
        [] => String::new(),
        some => format!(" ({})", some.join(", ")),
    };
    let (time, name) = (duration(cost.duration_ns), code(&cost.name));
    format!("1. **{time}** {name}{place}<br>{}", prose(&cost.why))
}

fn findings(report: &Report<'_>) -> Vec<String> {
    if report.findings.is_empty() {
        return Vec::new();
    }
    let all = &report.findings;
    let line = |f: &Finding| finding(&report.about.typed(), f);
    let mut lines: Vec<String> = all.iter().take(SHOWN).map(line).collect();
    if all.len() > SHOWN {
        let command = code(&format!("bootlap advise {}", report.about.typed()));
        lines.push(format!("- and {} more: {command}", all.len() - SHOWN));
    }
    vec!["#### What to change".to_owned(), lines.join("\n")]
}

fn finding(target: &str, finding: &Finding) -> String {
    let saving = expected(finding);
    let how = match &finding.recipe {
        Some(recipe) => code(&format!("bootlap try {target} {}", shell_word(recipe))),
        None => prose(&finding.fix),
    };
    format!(
        "- **{saving}:** {}<br>{}<br>→ {how}",
        prose(&finding.title),
        prose(&finding.why),
    )
}

fn trials(trials: &[Trial]) -> Vec<String> {
    if trials.is_empty() {
        return Vec::new();
    }
    let lines: Vec<String> = trials.iter().map(trial).collect();
    vec!["#### What was tried".to_owned(), lines.join("\n")]
}

fn trial(trial: &Trial) -> String {
    let effect = &trial.effect;
    let verdict = match effect.verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Equivalent => "equivalent",
        Verdict::Unknown => "unknown",
    };
    // The change's interval, turned round.
    let [most, least] = effect.interval_ns.map(|ns| duration(ns.saturating_neg()));
    let saved = match effect.shift_ns {
        ns @ 1.. => format!("took {} more", duration(ns)),
        ns => format!("saved {}", duration(ns.saturating_neg())),
    };
    let [without, with] = effect.samples;
    let mut line = format!(
        "- {}: **{verdict}**, {saved} (95 % interval of the saving: {least} to {most}, {without} + {with} boots)",
        code(&trial.recipe)
    );
    let [without, with] = trial.not_ready;
    if without + with > 0 {
        line += &format!("; never ready: {without} boots without it, {with} with it");
    }
    for moved in &trial.moved {
        line += &format!("; {}", comparison::markdown::came_back(moved));
    }
    line
}
