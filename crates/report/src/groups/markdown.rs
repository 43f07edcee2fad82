//! Two groups of boots in Markdown, to paste into a pull request.

use bootlap_analysis::groups::{Row, SpanRow};

use crate::comparison::markdown::{came_back, places};
use crate::format::{change, duration};
use crate::groups::{
    Compared, GroupsReport, Weight, boots, is_single, listed, margin, notes, sentence, total_label,
};
use crate::markdown::{code, prose};

/// How many spans are listed.
const SHOWN: usize = 10;

/// The whole text.
pub fn markdown(report: &GroupsReport) -> String {
    let mut blocks: Vec<String> = Vec::new();
    for compared in &report.comparisons {
        blocks.extend(one(compared));
    }
    let margin = margin(report.margin);
    blocks.push(format!(
        "A change within {margin} counts as none. Verdicts hold at 5 %, which total, phases and spans share."
    ));
    if !report.tool.is_empty() {
        blocks.push(format!("Made by {}.", code(&report.tool)));
    }
    blocks.join("\n\n") + "\n"
}

fn one(compared: &Compared) -> Vec<String> {
    let groups = &compared.groups;
    let mut blocks = vec![format!("### {}", prose(&sentence(compared)))];
    let sides = compared.sides.iter().zip(&groups.sides);
    let sides = sides.map(|(about, side)| {
        format!(
            "{}: {} ({})",
            prose(&about.word),
            code(&about.path),
            boots(side.boots())
        )
    });
    blocks.push(sides.collect::<Vec<String>>().join(", "));
    let single = is_single(compared);
    let mut table = head("phase");
    for phase in &groups.phases {
        table += &line(&prose(&phase.name), phase, single);
    }
    if let Some(total) = &groups.total {
        table += &line(&format!("**{}**", total_label(groups)), total, single);
    }
    blocks.push(table);
    let changed = listed(compared, None);
    if !changed.is_empty() {
        blocks.push("#### Matched spans that changed".to_owned());
        let mut table = head("span");
        for span in changed.iter().take(SHOWN) {
            let name = format!("{} {}", span.kind.text(), code(&span.row.name));
            table += &line(&name.replace('|', "\\|"), &span.row, single);
        }
        blocks.push(table);
        if changed.len() > SHOWN {
            blocks.push(format!("And {} more.", changed.len() - SHOWN));
        }
    }
    for (about, rows) in [
        (&compared.sides[1], &groups.appeared),
        (&compared.sides[0], &groups.disappeared),
    ] {
        blocks.extend(only(&about.word, rows));
    }
    let total_ns = groups.total.as_ref().and_then(|t| t.before_ns);
    let least_ns = (total_ns.unwrap_or(0) / 200).max(1_000_000);
    let large = groups.places.iter();
    let large = large.filter(|d| d.delta_ns.saturating_abs() >= least_ns);
    let (grew, shrank): (Vec<_>, Vec<_>) = large.partition(|d| d.delta_ns > 0);
    blocks.extend(places("Where it shrank", &shrank));
    blocks.extend(places("Where it grew", &grew));
    if !groups.moved.is_empty() {
        blocks.push("#### What only moved".to_owned());
        let lines = groups.moved.iter().take(SHOWN);
        let lines: Vec<String> = lines.map(|m| format!("- {}", came_back(m))).collect();
        blocks.push(lines.join("\n"));
    }
    let notes = notes(compared).into_iter().map(|note| match note.weight {
        Weight::Info => format!("- {}", prose(&note.text)),
        Weight::Warning | Weight::Failure => format!("- **{}**", prose(&note.text)),
    });
    blocks.push("#### Notes".to_owned());
    blocks.push(notes.collect::<Vec<String>>().join("\n"));
    blocks
}

fn head(what: &str) -> String {
    format!(
        "| {what} | before | after | change | 95 % interval | verdict |\n| :-- | --: | --: | --: | --: | :-- |"
    )
}

fn line(name: &str, row: &Row, single: bool) -> String {
    let side = |ns: Option<i64>| ns.map_or("–".to_owned(), duration);
    let (before, after) = (side(row.before_ns), side(row.after_ns));
    let Some(effect) = &row.effect else {
        return format!("\n| {name} | {before} | {after} | – | – | on one side only |");
    };
    let [low, high] = effect.interval_ns.map(change);
    let interval = match single {
        true => "–".to_owned(),
        false => format!("{low} to {high}"),
    };
    format!(
        "\n| {name} | {before} | {after} | {} | {interval} | **{}** |",
        change(effect.shift_ns),
        effect.verdict.text()
    )
}

fn only(word: &str, rows: &[SpanRow]) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let line = |span: &SpanRow| {
        let lasts = span.row.before_ns.or(span.row.after_ns).unwrap_or(0);
        let (kind, name) = (span.kind.text(), code(&span.row.name));
        format!("- {kind} {name}: {}", duration(lasts))
    };
    let mut lines: Vec<String> = rows.iter().take(SHOWN).map(line).collect();
    if rows.len() > SHOWN {
        lines.push(format!("- and {} more", rows.len() - SHOWN));
    }
    vec![format!("#### Only in {}", prose(word)), lines.join("\n")]
}
