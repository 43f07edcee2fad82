//! Two groups of boots as rows: the total, the phases, the matched spans.

use std::io;

use bootlap_analysis::groups::{Row, SpanRow};
use csv::{Terminator, WriterBuilder};

use crate::csv::defused;
use crate::format::exact_seconds;
use crate::groups::{GroupsReport, total_label};
use crate::json::id;

/// The columns, in order; a time that is not known is an empty cell.
///
/// | column | what stands there |
/// | --- | --- |
/// | `before`, `after` | the two sides, as they were typed |
/// | `kind` | `total`, `phase`, or the span's kind: `initcall`, `unit` … |
/// | `name` | what lasted |
/// | `before_s`, `after_s` | medians, seconds |
/// | `shift_s`, `low_s`, `high_s` | the change and its 95 % interval |
/// | `p` | chance of such a difference without a cause, corrected |
/// | `verdict` | `faster`, `slower`, `equivalent`, `unknown`; empty on one side only |
/// | `before_boots`, `after_boots` | how many boots have it |
pub const GROUP_COLUMNS: [&str; 13] = [
    "before",
    "after",
    "kind",
    "name",
    "before_s",
    "after_s",
    "shift_s",
    "low_s",
    "high_s",
    "p",
    "verdict",
    "before_boots",
    "after_boots",
];

/// The whole text.
///
/// # Errors
/// None for any comparison.
pub fn csv(report: &GroupsReport) -> io::Result<String> {
    let mut rows = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(Vec::new());
    rows.write_record(GROUP_COLUMNS)?;
    for compared in &report.comparisons {
        let groups = &compared.groups;
        let sides = compared.sides.each_ref().map(|s| defused(&s.path));
        let reached = groups
            .sides
            .each_ref()
            .map(|s| s.totals_ns.iter().flatten().count());
        let mut write = |kind: &str, name: &str, row: &Row, boots: [usize; 2]| {
            rows.write_record(cells(&sides, kind, name, row, boots))
        };
        if let Some(total) = &groups.total {
            write("total", total_label(groups), total, reached)?;
        }
        for phase in &groups.phases {
            let boots = phase.effect.map_or(reached, |e| e.samples);
            write("phase", &phase.name, phase, boots)?;
        }
        let spans = groups.spans.iter().chain(&groups.appeared);
        for SpanRow { kind, boots, row } in spans.chain(&groups.disappeared) {
            write(&id(kind), &row.name, row, *boots)?;
        }
    }
    let bytes = rows.into_inner().map_err(|e| e.into_error())?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

fn cells(sides: &[String; 2], kind: &str, name: &str, row: &Row, boots: [usize; 2]) -> Vec<String> {
    let seconds = |ns: Option<i64>| ns.map_or(String::new(), exact_seconds);
    let effect = row.effect.as_ref();
    vec![
        sides[0].clone(),
        sides[1].clone(),
        kind.to_owned(),
        defused(name),
        seconds(row.before_ns),
        seconds(row.after_ns),
        seconds(effect.map(|e| e.shift_ns)),
        seconds(effect.map(|e| e.interval_ns[0])),
        seconds(effect.map(|e| e.interval_ns[1])),
        effect.map_or(String::new(), |e| format!("{:.6}", e.p)),
        effect.map_or(String::new(), |e| e.verdict.text().to_owned()),
        boots[0].to_string(),
        boots[1].to_string(),
    ]
}
