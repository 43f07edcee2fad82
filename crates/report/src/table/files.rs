//! The table of `bootlap show --by files`: what a boot read from its disk.

use bootlap_analysis::disks::FileRead;

use crate::format::{count, moment, percent};
use crate::terminal::{Align, Ink, Page, Table, cell, left_out};

/// The files of which most was read, at most `limit` of them.
pub(crate) fn files(all: &[FileRead], limit: usize, page: &mut Page<'_>) {
    let mut table = Table::new(&[
        ("read", Align::Right),
        ("of it", Align::Right),
        ("requests", Align::Right),
        ("first, s", Align::Right),
        ("file", Align::FlexPath),
    ])
    .without(&["first, s", "requests", "of it"]);
    for file in all.iter().take(limit) {
        let share = match file.size {
            0 => "–".to_owned(),
            size => percent((file.read_bytes as f64 / size as f64).min(1.0)),
        };
        table.row(vec![
            cell(
                &format!("{} kB", count(file.read_bytes.div_ceil(1000))),
                Ink::Strong,
            ),
            cell(&share, Ink::Faint),
            cell(&count(file.reads), Ink::Faint),
            cell(&moment(file.first_ns), Ink::Plain),
            cell(&name(file), Ink::Plain),
        ]);
    }
    if !all.is_empty() {
        table.render(page);
    }
    left_out(all.len(), limit, "those of which most was read", page);
}

fn name(file: &FileRead) -> String {
    match file.file.split_once(':') {
        Some((partition, "")) => format!("partition {partition}: in no file"),
        _ => file.file.clone(),
    }
}
