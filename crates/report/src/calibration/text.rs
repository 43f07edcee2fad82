//! What a log tells of a board, and how well the model fits it.

use std::cmp::Reverse;

use bootlap_analysis::calibrate::{BaudFrom, Calibration, Stretch};

use crate::calibration::CalibrationReport;
use crate::format::{change, duration, percent};
use crate::terminal::{Align, Ink, Line, MARGIN, Page, Style, Table, cell};

/// How many misses are shown.
const MISSES: usize = 6;
/// A miss of less than this share of all is not worth a line, as 1 in …
const SMALLEST: i64 = 200;

/// The fit, what it misses, and the table to paste.
pub fn text(report: &CalibrationReport, style: &Style) -> String {
    let mut page = Page::new(style);
    let found = &report.calibration;
    let (board_ns, model_ns) = found.totals_ns();
    let line = page.subject(&report.name);
    page.line(line.with(&format!(" took {}", duration(board_ns)), Ink::Plain));
    let model = format!(
        "from the first to the last line that the lab prints, too; the model makes that predicted \
         {}",
        duration(model_ns)
    );
    page.wrapped(Line::indented(MARGIN), &model, Ink::Plain);
    if let Some(lived) = report.lived {
        let lived = format!(
            "booted in that time: {} modelled where the log has {}",
            duration(lived.modelled_ns),
            duration(lived.board_ns)
        );
        page.wrapped(Line::indented(MARGIN), &lived, Ink::Plain);
    }
    page.wrapped(Line::indented(MARGIN), &facts(found), Ink::Faint);
    page.blank();
    speeds(found).render(&mut page);
    misses(found, board_ns, &mut page);
    page.heading("for target.toml");
    // As it is: cut to the page's width it could not be pasted.
    page.finish() + "\n" + report.fragment().trim_end()
}

fn facts(found: &Calibration) -> String {
    let how = match found.baud.from {
        BaudFrom::Seen => "as its bytes came",
        BaudFrom::Told => "as it was told",
        BaudFrom::Assumed => "assumed, for nothing tells",
    };
    let mut facts = vec![
        format!("{} stretches between common lines", found.stretches.len()),
        format!("console at {} baud, {how}", found.baud.bits_per_s),
    ];
    match &found.storage {
        Some(s) => facts.push(format!(
            "storage at {:.2} MB/s, by {} reads of the boot loader",
            s.bytes_per_s / 1e6,
            s.reads
        )),
        None => facts.push("the boot loader tells of no reads, so nothing of storage".to_owned()),
    }
    facts.join(" · ")
}

fn speeds(found: &Calibration) -> Table {
    let mut table = Table::new(&[
        ("phase", Align::Flex),
        ("M insns/s", Align::Right),
        ("±", Align::Right),
        ("stretches", Align::Right),
        ("left out", Align::Right),
    ]);
    for speed in &found.speeds {
        table.row(vec![
            cell(speed.phase.text(), Ink::Phase(speed.phase)),
            cell(&format!("{:.1}", speed.insns_per_s / 1e6), Ink::Plain),
            cell(&percent(speed.error), Ink::Plain),
            cell(&speed.used.to_string(), Ink::Faint),
            cell(&speed.left_out.to_string(), Ink::Faint),
        ]);
    }
    table
}

/// The stretches that the model is most wrong about.
fn misses(found: &Calibration, all_ns: i64, page: &mut Page<'_>) {
    let miss = |s: &Stretch| s.predicted_ns.saturating_sub(s.board_ns);
    let mut missed: Vec<&Stretch> = found
        .stretches
        .iter()
        .filter(|s| miss(s).unsigned_abs() > all_ns.unsigned_abs() / SMALLEST.unsigned_abs())
        .collect();
    missed.sort_by_key(|s| Reverse(miss(s).unsigned_abs()));
    if missed.is_empty() {
        return;
    }
    page.heading("where the model misses");
    let mut table = Table::new(&[
        ("from", Align::Flex),
        ("board", Align::Right),
        ("predicted", Align::Right),
        ("miss", Align::Right),
        ("", Align::Left),
    ])
    .without(&["board"]);
    for stretch in missed.iter().take(MISSES) {
        let note = if stretch.left_out { "left out" } else { "" };
        table.row(vec![
            cell(&stretch.from, Ink::Plain),
            cell(&duration(stretch.board_ns), Ink::Plain),
            cell(&duration(stretch.predicted_ns), Ink::Plain),
            cell(&change(miss(stretch)), Ink::Warn),
            cell(note, Ink::Faint),
        ]);
    }
    table.render(page);
}
