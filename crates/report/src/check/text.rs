//! A budget, limit by limit.

use bootlap_analysis::budget::{Judged, State};

use crate::boot::text::time_label;
use crate::check::{CheckReport, amount, bound, fault, grown, growth_text};
use crate::terminal::{Align, Ink, Line, MARGIN, Page, Style, Table, cell};

/// Each limit with its value, and under those that are not kept why.
pub fn text(report: &CheckReport, style: &Style) -> String {
    let mut page = Page::new(style);
    headline(report, &mut page);
    page.blank();
    table(report).render(&mut page);
    for judged in report.judged.iter().filter(|j| j.state != State::Ok) {
        account(judged, &mut page);
    }
    page.finish()
}

fn headline(report: &CheckReport, page: &mut Page<'_>) {
    let target = match report.about.target.as_str() {
        "" => "this boot",
        target => target,
    };
    let mut line = page.subject(target);
    let (broken, all) = (report.count(State::Broken), report.judged.len());
    match (broken, report.count(State::Unknown)) {
        (0, 0) => line.push(" keeps its budget", Ink::Good),
        (0, n) => line.push(
            &format!(" breaks no limit; {n} of {all} unknown"),
            Ink::Warn,
        ),
        (n, _) => line.push(&format!(" breaks {n} of {all} limits"), Ink::Bad),
    }
    page.line_with_right(line, time_label(&report.about.time));
    let boots = match report.boots.len() {
        1 => "1 boot".to_owned(),
        n => format!("the median of {n} boots"),
    };
    let mut facts = vec![report.budget.clone(), boots];
    facts.extend(report.baseline.as_ref().map(|b| format!("against {b}")));
    page.wrapped(Line::indented(MARGIN), &facts.join(" · "), Ink::Faint);
}

fn table(report: &CheckReport) -> Table {
    let heads = [
        ("limit", Align::Flex),
        ("value", Align::Right),
        ("growth", Align::Right),
        ("allowed", Align::Right),
        ("", Align::Left),
    ];
    let mut table = Table::new(&heads).without(&["growth", "value"]);
    for judged in &report.judged {
        let metric = &judged.limit.metric;
        let unit = metric.unit();
        let name = match metric.phase() {
            Some(phase) => cell(&metric.text(), Ink::Phase(phase)),
            None => cell(&metric.text(), Ink::Plain),
        };
        let value = judged.value.map_or("–".to_owned(), |v| amount(v, unit));
        let growth = judged
            .growth
            .map_or(String::new(), |g| grown(g.shift, unit));
        table.row(vec![
            name,
            cell(&value, Ink::Strong),
            cell(&growth, Ink::Plain),
            cell(&bound(judged), Ink::Plain),
            cell(judged.state.text(), ink(judged.state)),
        ]);
    }
    table
}

fn ink(state: State) -> Ink {
    match state {
        State::Ok => Ink::Good,
        State::Broken => Ink::Bad,
        State::Unknown => Ink::Warn,
    }
}

fn account(judged: &Judged, page: &mut Page<'_>) {
    page.blank();
    let metric = &judged.limit.metric;
    let line = Line::indented(MARGIN).with(&metric.text(), Ink::Strong);
    page.line(line.with(&format!(" {}", judged.state.text()), ink(judged.state)));
    let indent = Line::indented(MARGIN + 2);
    if let Some(growth) = &judged.growth {
        page.wrapped(
            indent.clone(),
            &growth_text(growth, metric.unit()),
            Ink::Plain,
        );
    }
    if !judged.why.is_empty() {
        page.wrapped(indent.clone(), &judged.why, Ink::Plain);
    }
    if let Some(fault) = fault(judged) {
        page.wrapped(indent, &fault, Ink::Plain);
    }
}
