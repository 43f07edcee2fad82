//! The tree of processes of `bootlap show --by processes`.

use bootlap_analysis::{Hidden, Process, Processes};

use crate::format::{duration, moment};
use crate::table::select::busiest;
use crate::terminal::{Align, Ink, Line, MARGIN, Page, Style, Table, bar, cell, nothing};

/// Columns of a bar on the narrowest page; wider ones give it a share.
const BAR: usize = 10;
/// Columns that a level of the tree is indented by, and levels that are.
const INDENT: usize = 2;
const LEVELS: usize = 8;

/// A table of at most `limit` processes as a tree; what was left out, and what
/// `prune` hid, is said below it.
pub(crate) fn processes(found: &Processes, limit: usize, style: &Style) -> String {
    if found.rows.is_empty() {
        return nothing(
            "No processes were seen: record with bootchart, strace -f or ftrace.",
            style,
        );
    }
    let mut page = Page::new(style);
    let columns = BAR + page.columns().saturating_sub(80) / 2;
    let bar_head = format!("{:<columns$}", "when");
    let mut table = Table::new(&[
        ("start, s", Align::Right),
        ("lasted", Align::Right),
        ("CPU", Align::Right),
        (&bar_head, Align::Left),
        ("process", Align::Flex),
    ])
    .without(&["when", "start, s", "lasted"]);
    let shown = busiest(&found.rows, limit, found.window.1);
    for process in shown.iter().map(|at| &found.rows[*at]) {
        table.row(vec![
            cell(&moment(process.start_ns), Ink::Plain),
            lasted(process, found.window.1),
            cell(
                &process.cpu_ns.map_or("–".to_owned(), duration),
                Ink::Strong,
            ),
            bar_of(process, found.window, columns),
            name(process),
        ]);
    }
    table.render(&mut page);
    below(
        &found.hidden,
        (shown.len(), found.rows.len(), found.all),
        &mut page,
    );
    page.finish()
}

/// How long it lived; with `>` if that is the least.
fn lasted(process: &Process, until: i64) -> Line {
    match process.lasted_ns(until) {
        Some(ns) if process.end_ns.is_none() => cell(&format!("> {}", duration(ns)), Ink::Faint),
        Some(ns) => cell(&duration(ns), Ink::Plain),
        None => cell("no end", Ink::Faint),
    }
}

fn bar_of(process: &Process, (first, last): (i64, i64), columns: usize) -> Line {
    let end = process.until_ns(last);
    let from = process.start_ns.saturating_sub(first);
    let to = end.unwrap_or(process.start_ns).saturating_sub(first);
    let whole = last.saturating_sub(first);
    // What merely stays there should not hide what happens.
    if process.open {
        cell(&bar::rule(from, to, whole, columns), Ink::Faint)
    } else {
        cell(&bar::block(from, to, whole, columns), Ink::Plain)
    }
}

fn name(process: &Process) -> Line {
    let mut line = Line::indented(process.depth.min(LEVELS) * INDENT);
    if process.depth > LEVELS {
        line.push("· ", Ink::Faint);
    }
    let name = if process.name.is_empty() {
        "(no name)"
    } else {
        &process.name
    };
    line.push(name, Ink::Plain);
    if process.count > 1 {
        line.push(&format!(" ×{}", process.count), Ink::Warn);
    }
    if let Some(pid) = process.pid {
        line.push(&format!(" {pid}"), Ink::Faint);
    }
    line
}

/// What the table does not show.
fn below(hidden: &Hidden, (shown, rows, all): (usize, usize, usize), page: &mut Page<'_>) {
    if shown < rows {
        let text = format!("{shown} of {rows} shown: those with most CPU time, and their parents");
        page.wrapped(Line::indented(MARGIN), &text, Ink::Faint);
    }
    if hidden.total() == 0 {
        return;
    }
    let short = format!("shorter than {}", duration(hidden.short_ns));
    let reasons = [
        (hidden.short, short.as_str()),
        (hidden.idle, "idle all the time"),
        (hidden.same, "next to one of the same name"),
        (hidden.chain, "only child of one of the same name"),
        (hidden.recorder, "of the recorder"),
    ];
    let reasons = reasons.iter().filter(|(n, _)| *n > 0);
    let reasons: Vec<String> = reasons.map(|(n, why)| format!("{n} {why}")).collect();
    let text = format!("hid {} of {all}: {}", hidden.total(), reasons.join(", "));
    page.wrapped(Line::indented(MARGIN), &text, Ink::Faint);
}
