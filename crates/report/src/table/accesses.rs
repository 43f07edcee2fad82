//! The table of `bootlap show --by reads`: what programs did with files.

use bootlap_analysis::{FileAccess, Search};

use super::select::{Accessed, Selected};
use crate::format::{count, duration};
use crate::terminal::{Align, Ink, Page, Table, cell, left_out};

/// The files with most calls, at most `limit`, and what was looked for in several folders.
pub(crate) fn accesses(found: &Accessed, limit: usize, page: &mut Page<'_>) {
    files(&found.files, limit, page);
    if !found.searches.is_empty() {
        page.blank();
        searches(&found.searches, page);
    }
}

fn files(files: &Selected<FileAccess>, limit: usize, page: &mut Page<'_>) {
    let mut table = Table::new(&[
        ("calls", Align::Right),
        ("opened", Align::Right),
        ("absent", Align::Right),
        ("reads", Align::Right),
        ("of bytes", Align::Right),
        ("took", Align::Right),
        ("file", Align::FlexPath),
        ("by", Align::Left),
    ])
    .without(&["took", "absent", "of bytes"]);
    for file in &files.rows {
        let or_none = |n: u64| match n {
            0 => "–".to_owned(),
            n => count(n),
        };
        let took = match file.took_ns {
            0 => "–".to_owned(),
            ns => duration(i64::try_from(ns).unwrap_or(i64::MAX)),
        };
        table.row(vec![
            cell(&count(file.calls), Ink::Strong),
            cell(&or_none(file.opens), Ink::Plain),
            cell(&or_none(file.missing), Ink::Plain),
            cell(&or_none(file.reads), Ink::Plain),
            cell(&each(file), Ink::Faint),
            cell(&took, Ink::Faint),
            cell(&file.file, Ink::Plain),
            cell(&by(file), Ink::Faint),
        ]);
    }
    if files.all > 0 {
        table.render(page);
    }
    left_out(files.all, limit, "those with most calls", page);
}

/// How much one call that reads gave, on average.
fn each(file: &FileAccess) -> String {
    match file.read_bytes.checked_div(file.reads) {
        Some(bytes) => count(bytes),
        None => "–".to_owned(),
    }
}

/// `nginx`, `sh and 3 more`, `cat × 12`.
fn by(file: &FileAccess) -> String {
    let first = file.programs.first().map_or("", |program| program);
    match file.programs.len() {
        0 | 1 if file.processes > 1 => format!("{first} × {}", file.processes),
        0 | 1 => first.to_owned(),
        n => format!("{first} and {} more", n - 1),
    }
}

fn searches(all: &[Search], page: &mut Page<'_>) {
    let mut table = Table::new(&[
        ("absent", Align::Right),
        ("folders", Align::Right),
        ("looked for", Align::Left),
        ("by", Align::Left),
        ("found", Align::FlexPath),
    ])
    .without(&["by", "found"]);
    for search in all {
        table.row(vec![
            cell(&count(search.missing), Ink::Strong),
            cell(&count(search.places), Ink::Plain),
            cell(&search.name, Ink::Plain),
            cell(&search.program, Ink::Faint),
            cell(search.found.as_deref().unwrap_or("nowhere"), Ink::Plain),
        ]);
    }
    table.render(page);
}
