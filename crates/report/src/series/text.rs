//! Many boots of one target on one screen.

use bootlap_analysis::Spread;

use crate::boot::text::time_label;
use crate::format::duration;
use crate::series::SeriesReport;
use crate::terminal::{Align, Ink, Line, MARGIN, Page, Style, Table, cell};

/// From this width on there is room for the interval of each median.
const WIDE: usize = 96;
/// More boots that never got ready are counted, not listed.
const MOST_LISTED: usize = 10;

/// The median boot, how far the others are from it, and which to look at.
pub fn text(report: &SeriesReport, style: &Style) -> String {
    let mut page = Page::new(style);
    headline(report, &mut page);
    if let Some(ready) = &report.series.ready {
        page.blank();
        table(report, ready, page.columns()).render(&mut page);
    }
    page.blank();
    notable(report, &mut page);
    page.finish()
}

fn headline(report: &SeriesReport, page: &mut Page<'_>) {
    let (about, boots) = (&report.about, report.laps.len());
    let mut line = Line::indented(MARGIN).with(&about.target, Ink::Strong);
    let mut facts = Vec::new();
    match &report.series.ready {
        Some(ready) => {
            line.push(" is ready after ", Ink::Plain);
            line.push(&duration(ready.median_ns), Ink::Strong);
            let of = match ready.samples {
                1 => ", one boot".to_owned(),
                n => format!(", the median of {n} boots"),
            };
            line.push(&of, Ink::Plain);
            match ready.interval_ns {
                Some(interval) => facts.push(held(&format!("95 % interval {}", range(interval)))),
                None if ready.samples > 1 => {
                    facts.push(held("fewer than 6 boots: no interval of the median"));
                }
                None => {}
            }
        }
        None => line.push(&format!(" never got ready in {}", plural(boots)), Ink::Bad),
    }
    page.line_with_right(line, time_label(&about.time));
    if !about.machine.is_empty() {
        facts.push(about.machine.clone());
    }
    let power: Vec<i64> = report
        .laps
        .iter()
        .filter_map(|l| power_ns(l.power_ms))
        .collect();
    if let Some(power) = Spread::of(&power) {
        let took = duration(power.median_ns);
        facts.push(held(&format!("the power command took {took} of it")));
    }
    if !facts.is_empty() {
        page.wrapped(Line::indented(MARGIN), &facts.join(" · "), Ink::Faint);
    }
    if let Some([fast, slow]) = report.series.modes {
        let text = format!(
            "two clusters: {} around {}, {} around {}",
            plural(fast.samples),
            duration(fast.median_ns),
            slow.samples,
            duration(slow.median_ns),
        );
        page.wrapped(Line::indented(MARGIN), &text, Ink::Warn);
    }
    match report.series.not_ready() {
        0 => {}
        n if report.series.ready.is_some() => {
            let text = format!("{n} of {} never got ready", plural(boots));
            page.line(Line::indented(MARGIN).with(&text, Ink::Bad));
        }
        _ => {}
    }
}

/// Lines end between the facts only.
fn held(fact: &str) -> String {
    fact.replace(' ', "\u{a0}")
}

fn power_ns(ms: Option<u64>) -> Option<i64> {
    i64::try_from(ms?.saturating_mul(1_000_000)).ok()
}

fn plural(boots: usize) -> String {
    match boots {
        1 => "1 boot".to_owned(),
        n => format!("{n} boots"),
    }
}

fn range([low, high]: [i64; 2]) -> String {
    format!("{} to {}", duration(low), duration(high))
}

fn table(report: &SeriesReport, ready: &Spread, columns: usize) -> Table {
    let mut heads = vec![
        ("phase", Align::Flex),
        ("median", Align::Right),
        ("min", Align::Right),
        ("max", Align::Right),
        ("IQR", Align::Right),
    ];
    if columns >= WIDE {
        heads.push(("95 % interval", Align::Right));
    }
    // A phase that not all boots have says in how many it was seen.
    let some = report
        .series
        .phases
        .iter()
        .any(|(_, s)| s.samples != ready.samples);
    if some {
        heads.push(("boots", Align::Right));
    }
    let mut table = Table::new(&heads);
    let mut row = |name: &str, ink: Ink, spread: &Spread| {
        let mut cells = vec![
            cell(name, ink),
            cell(&duration(spread.median_ns), Ink::Strong),
        ];
        for ns in [spread.min_ns, spread.max_ns, spread.iqr_ns()] {
            cells.push(cell(&duration(ns), Ink::Plain));
        }
        if columns >= WIDE {
            let interval = spread.interval_ns.map_or("–".to_owned(), range);
            cells.push(cell(&interval, Ink::Faint));
        }
        if some {
            cells.push(cell(&spread.samples.to_string(), Ink::Faint));
        }
        table.row(cells);
    };
    for (name, spread) in &report.series.phases {
        row(name.text(), Ink::Phase(*name), spread);
    }
    row("ready", Ink::Strong, ready);
    table
}

/// The boots that are worth a look: the fastest, the slowest, those far from
/// the others, those that hung.
fn notable(report: &SeriesReport, page: &mut Page<'_>) {
    let series = &report.series;
    let mut named = |what: &str, at: Option<usize>| {
        let boot = at.and_then(|at| Some((at, series.laps[at].ready_ns?, report.laps.get(at)?)));
        let Some((at, ns, lap)) = boot else { return };
        let line = Line::indented(MARGIN).with(&format!("{what:<9}"), Ink::Faint);
        let mut line = line
            .with(&format!("{:>9}", duration(ns)), Ink::Plain)
            .with("  ", Ink::Plain)
            .with(&lap.run, Ink::Command);
        if series.outliers.contains(&at) {
            line.push("  far from the others", Ink::Warn);
        }
        page.line(line);
    };
    let ends = [series.fastest, series.slowest];
    named("fastest", series.fastest);
    if series.slowest != series.fastest {
        named("slowest", series.slowest);
    }
    let others = series
        .outliers
        .iter()
        .filter(|&&at| !ends.contains(&Some(at)));
    let others: Vec<usize> = others.copied().collect();
    for &at in others.iter().take(MOST_LISTED) {
        named("outlier", Some(at));
    }
    more(page, others.len(), "far from the others");
    let hung: Vec<_> = report
        .laps
        .iter()
        .filter_map(|l| Some((l, l.why_not.as_ref()?)))
        .collect();
    for (lap, why) in hung.iter().take(MOST_LISTED) {
        let line = Line::indented(MARGIN).with("not ready  ", Ink::Bad);
        page.wrapped(line, &format!("{}: {why}", lap.run), Ink::Plain);
    }
    more(page, hung.len(), "that never got ready");
}

/// Counts what is not listed.
fn more(page: &mut Page<'_>, all: usize, what: &str) {
    if let Some(more @ 1..) = all.checked_sub(MOST_LISTED) {
        let text = format!("… and {more} more {what}");
        page.line(Line::indented(MARGIN).with(&text, Ink::Faint));
    }
}
