//! Two boots in Markdown: by phase, then what shrank, grew or only moved.

use bootlap_analysis::{Comparison, Delta, Moved};

use super::{SHOWN, grew_and_shrank};
use crate::Report;
use crate::format::{change, duration};
use crate::markdown::{code, prose};

/// What became of `before`.
pub(crate) fn blocks(
    comparison: &Comparison,
    report: &Report<'_>,
    before: &Report<'_>,
) -> Vec<String> {
    let mut blocks = Vec::new();
    // Of what only says how long units took, there is neither phase nor total.
    if !comparison.phases.is_empty() || comparison.total.is_known() {
        blocks.push(table(comparison));
    }
    let (grew, shrank) = grew_and_shrank(comparison);
    blocks.extend(places("What shrank", &shrank));
    blocks.extend(places("What grew", &grew));
    if !comparison.moved.is_empty() {
        blocks.push("#### What only moved".to_owned());
        let lines = comparison.moved.iter().take(SHOWN);
        let lines: Vec<String> = lines.map(|m| format!("- {}", came_back(m))).collect();
        blocks.push(lines.join("\n"));
    }
    let boots = [("before", before), ("after", report)];
    let boots = boots.iter().filter(|(_, r)| !r.about.run.is_empty());
    let boots = boots.map(|(word, r)| format!("{word}: {}", code(&r.about.run)));
    let boots: Vec<String> = boots.collect();
    if !boots.is_empty() {
        blocks.push(boots.join(", "));
    }
    blocks
}

fn table(comparison: &Comparison) -> String {
    let mut table = "| phase | before | after | change |\n| :-- | --: | --: | --: |".to_owned();
    let side = |ns: Option<i64>| ns.map_or("–".to_owned(), duration);
    for delta in &comparison.phases {
        table += &format!(
            "\n| {} | {} | {} | {} |",
            prose(&delta.name),
            side(delta.before_ns),
            side(delta.after_ns),
            change(delta.delta_ns)
        );
    }
    let total = &comparison.total;
    let ready = comparison.before_ready && comparison.after_ready;
    let what = if ready { "to ready" } else { "seen" };
    table += &format!(
        "\n| **{what}** | **{}** | **{}** | **{}** |",
        side(total.before_ns),
        side(total.after_ns),
        change(total.delta_ns)
    );
    table
}

pub(crate) fn places(title: &str, deltas: &[&Delta]) -> Vec<String> {
    if deltas.is_empty() {
        return Vec::new();
    }
    let side = |ns: Option<i64>| ns.map_or("not there".to_owned(), duration);
    let line = |d: &&Delta| {
        let (before, after) = (side(d.before_ns), side(d.after_ns));
        let name = code(&d.name);
        format!("- **{}** {name}: {before} → {after}", change(d.delta_ns))
    };
    let mut lines: Vec<String> = deltas.iter().take(SHOWN).map(line).collect();
    if let Some(rest) = deltas.get(SHOWN..).filter(|rest| !rest.is_empty()) {
        let sum = rest.iter().map(|d| d.delta_ns);
        let sum = change(sum.fold(0, i64::saturating_add));
        lines.push(format!("- and {} more, {sum} together", rest.len()));
    }
    vec![format!("#### {title}"), lines.join("\n")]
}

/// `−4.000 s in A came back as +3.900 s in B`
pub(crate) fn came_back(moved: &Moved) -> String {
    let saved = change(moved.saved_ns.saturating_abs().saturating_neg());
    let grew = change(moved.grew_ns.saturating_abs());
    let (from, to) = (code(&moved.from), code(&moved.to));
    format!("{saved} in {from} came back as {grew} in {to}")
}
