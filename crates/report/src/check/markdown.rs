//! A budget as Markdown, for the comment on a merge request.

use std::fmt::Write;

use bootlap_analysis::budget::State;

use crate::check::{CheckReport, amount, bound, fault, grown};
use crate::markdown::{code, prose};

/// The verdict, each limit, and under those that are broken why.
pub fn markdown(report: &CheckReport) -> String {
    let (broken, all) = (report.count(State::Broken), report.judged.len());
    let verdict = match (broken, report.count(State::Unknown)) {
        (0, 0) => "keeps its budget".to_owned(),
        (0, n) => format!("breaks no limit; {n} of {all} unknown"),
        (n, _) => format!("breaks {n} of {all} limits"),
    };
    let target = match report.about.target.as_str() {
        "" => "this boot",
        target => target,
    };
    let boots = match report.boots.len() {
        1 => "1 boot".to_owned(),
        n => format!("the median of {n} boots"),
    };
    let against = match &report.baseline {
        Some(baseline) => format!(" · against {}", code(baseline)),
        None => String::new(),
    };
    let mut out = format!(
        "### {} {verdict}\n\n{} time · {boots} · {}{against}\n\n",
        code(target),
        report.about.time,
        code(&report.budget)
    );
    out += "| | limit | value | growth | allowed |\n| --- | --- | ---: | ---: | ---: |\n";
    for judged in &report.judged {
        let unit = judged.limit.metric.unit();
        let state = match judged.state {
            State::Ok => "✓",
            State::Unknown => "?",
            State::Broken => "✗",
        };
        let value = judged.value.map(|value| amount(value, unit));
        let growth = judged
            .growth
            .as_ref()
            .map(|growth| grown(growth.shift, unit));
        let _ = writeln!(
            out,
            "| {state} | {} | {} | {} | {} |",
            prose(&judged.limit.metric.text()),
            value.unwrap_or_default(),
            growth.unwrap_or_default(),
            bound(judged)
        );
    }
    for judged in report.judged.iter().filter(|j| j.state == State::Broken) {
        let why = fault(judged).unwrap_or_default();
        let _ = write!(
            out,
            "\n**{}** {}\n",
            prose(&judged.limit.metric.text()),
            prose(&why)
        );
    }
    out
}
