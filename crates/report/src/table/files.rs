//! The table of `bootlap show --by files`: what a boot read from its disk.

use bootlap_analysis::disks::FileRead;

use crate::format::{count, moment, percent};
use crate::terminal::{Align, Ink, Page, Table, cell, left_out};

/// The files of which most was read, at most `limit` of them.
pub(crate) fn files(all: &[FileRead], limit: usize, page: &mut Page<'_>) {
    let mut table = Table::new(&[
        ("read", Align::Right),
        ("of it", Align::Right),
        ("again", Align::Right),
        ("requests", Align::Right),
        ("first, s", Align::Right),
        ("file", Align::FlexPath),
    ])
    .without(&["first, s", "requests", "of it", "again"]);
    for file in all.iter().take(limit) {
        let share = match file.size {
            0 => "–".to_owned(),
            size => {
                let once = file.read_bytes.saturating_sub(file.again_bytes);
                percent((once as f64 / size as f64).min(1.0))
            }
        };
        let again = match file.again_bytes {
            0 => "–".to_owned(),
            bytes => kilobytes(bytes),
        };
        table.row(vec![
            cell(&kilobytes(file.read_bytes), Ink::Strong),
            cell(&share, Ink::Faint),
            cell(&again, Ink::Plain),
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

fn kilobytes(bytes: u64) -> String {
    format!("{} kB", count(bytes.div_ceil(1000)))
}

fn name(file: &FileRead) -> String {
    match file.file.split_once(':') {
        Some((partition, "")) => format!("partition {partition}: in no file"),
        _ => file.file.clone(),
    }
}
