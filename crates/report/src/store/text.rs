//! `bootlap store list`, for people.

use crate::format::{count, duration};
use crate::store::StoreJson;
use crate::terminal::{Align, Ink, Line, MARGIN, Page, Style, Table, cell, left_out};

/// The boots, as many as `limit`.
pub fn text(document: &StoreJson, limit: usize, style: &Style) -> String {
    let mut page = Page::new(style);
    let sum = format!(
        "{} boots, {} MB, in {}",
        count(document.boots.len() as u64),
        count(document.bytes.div_ceil(1_000_000)),
        document.store
    );
    page.wrapped(Line::indented(MARGIN), &sum, Ink::Plain);
    if let Some(why) = &document.distrusted {
        let why = format!("Nothing is taken from it any more: {why}");
        page.wrapped(Line::indented(MARGIN), &why, Ink::Bad);
    }
    let damaged = document
        .boots
        .iter()
        .filter_map(|b| Some((&b.path, b.damage.as_ref()?)));
    for (path, why) in damaged {
        page.wrapped(Line::indented(MARGIN), &format!("{path}: {why}"), Ink::Bad);
    }
    if document.boots.is_empty() {
        return page.finish();
    }
    page.blank();
    let mut table = Table::new(&[
        ("target", Align::Flex),
        ("edits", Align::Right),
        ("perturbation", Align::Right),
        ("time", Align::Left),
        ("ready", Align::Right),
        ("made", Align::Right),
        ("used", Align::Left),
    ])
    .without(&["perturbation", "edits", "time"]);
    let shown = match limit {
        0 => document.boots.len(),
        limit => limit,
    };
    let sound = document.boots.iter().filter(|boot| boot.damage.is_none());
    for boot in sound.take(shown) {
        let plain = |text: &str| cell(text, Ink::Plain);
        let ready = boot.ready_ns.map_or("never".to_owned(), duration);
        table.row(vec![
            plain(&boot.target),
            plain(&boot.edits.to_string()),
            plain(&boot.perturbation.to_string()),
            plain(&boot.mode),
            plain(&ready),
            plain(&format!("{} ×", boot.made.len())),
            plain(&boot.used.get(..16).unwrap_or_default().replace('T', " ")),
        ]);
    }
    table.render(&mut page);
    left_out(document.boots.len(), shown, "those used last", &mut page);
    page.finish()
}
