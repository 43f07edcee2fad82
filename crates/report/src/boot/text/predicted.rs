//! What a simulated boot is predicted to take on the board that the target
//! stands for.

use bootlap_analysis::Prediction;
use bootlap_analysis::predict::PredictedPhase;

use crate::Report;
use crate::format::{duration, predicted};
use crate::terminal::{Align, Ink, Line, Page, Table, cell};

pub(crate) fn section(report: &Report<'_>, page: &mut Page<'_>) {
    if let Some(prediction) = &report.predicted {
        let total = predicted(prediction.total);
        page.heading(&format!("on {}: {total}", prediction.board));
        table(prediction).render(page);
    }
}

fn table(prediction: &Prediction) -> Table {
    let mut table = Table::new(&[
        ("phase", Align::Flex),
        ("predicted", Align::Right),
        ("±", Align::Right),
        ("CPU", Align::Right),
        ("console", Align::Right),
        ("storage", Align::Right),
        ("waits", Align::Right),
    ])
    .without(&["waits", "storage", "console", "CPU"]);
    for phase in &prediction.phases {
        table.row(row(phase));
    }
    table
}

fn row(phase: &PredictedPhase) -> Vec<Line> {
    let faint = |ns: f64| match ns as i64 {
        0 => cell("–", Ink::Faint),
        ns => cell(&duration(ns), Ink::Faint),
    };
    vec![
        cell(phase.name.text(), Ink::Phase(phase.name)),
        cell(&duration(phase.predicted.predicted_ns()), Ink::Plain),
        faint(phase.predicted.error_ns() as f64),
        faint(phase.cpu_ns),
        faint(phase.console_ns),
        faint(phase.storage_ns),
        faint(phase.amount.wait_ns as f64),
    ]
}
