//! What the disks were asked for, in short.

use bootlap_analysis::disks::{Asked, Disks};

use crate::Report;
use crate::format::{count, duration};
use crate::terminal::{Ink, Line, MARGIN, Page};

pub(crate) fn section(report: &Report<'_>, page: &mut Page<'_>) {
    let Some(disks) = &report.disks else {
        return;
    };
    page.heading("disks");
    page.wrapped(Line::indented(MARGIN), &sentence(disks), Ink::Faint);
}

/// Without waiting, disks took no time: a boot in which they do has some.
fn sentence(disks: &Disks) -> String {
    let asked = asked(&disks.all);
    if disks.all.waited_ns == 0 {
        return format!("{asked}; they take no time here");
    }
    let waits = disks.phases.iter().filter(|p| p.asked.waited_ns > 0);
    let waits = waits.map(|p| format!("{} {}", p.phase.text(), waited(&p.asked)));
    let waits: Vec<String> = waits.collect();
    format!(
        "{asked}; the CPU waits {} for them ({})",
        waited(&disks.all),
        waits.join(", ")
    )
}

fn waited(asked: &Asked) -> String {
    duration(i64::try_from(asked.waited_ns).unwrap_or(i64::MAX))
}

fn asked(asked: &Asked) -> String {
    let of = |n: u64, what: &str, bytes: u64| {
        let plural = if n == 1 { "" } else { "s" };
        format!("{} {what}{plural} of {}", count(n), size(bytes))
    };
    let mut parts = Vec::new();
    if asked.reads > 0 {
        let again = match asked.again_bytes {
            0 => String::new(),
            bytes => format!(" ({} of it again)", size(bytes)),
        };
        parts.push(of(asked.reads, "read", asked.read_bytes) + &again);
    }
    if asked.writes > 0 {
        parts.push(of(asked.writes, "write", asked.written_bytes));
    }
    match asked.flushes {
        0 => {}
        1 => parts.push("a flush".to_owned()),
        n => parts.push(format!("{} flushes", count(n))),
    }
    parts.join(", ")
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
