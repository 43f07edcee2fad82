//! Two groups of boots: the verdict, then what it is made of.

use bootlap_analysis::Delta;
use bootlap_analysis::groups::{Row, SpanRow};

use crate::comparison::{ink_of, places};
use crate::format::{change, duration};
use crate::groups::{
    Compared, GroupsReport, Tone, Weight, boots, headline, is_single, listed, margin, notes,
    total_label,
};
use crate::table::By;
use crate::terminal::{Align, Ink, Line, MARGIN, Page, Style, Table, cell};
use crate::trials::{came_back, verdict as verdict_word};

/// The column that goes first where there is no room for it.
const INTERVAL: &str = "95 % interval";
/// Movements that are listed.
const MOVED: usize = 6;

/// All comparisons of `report`; lists have at most `limit` rows.
pub fn text(report: &GroupsReport, by: Option<By>, limit: usize, style: &Style) -> String {
    let mut page = Page::new(style);
    for compared in &report.comparisons {
        page.blank();
        one(report, compared, by, limit, &mut page);
    }
    page.finish()
}

fn one(
    report: &GroupsReport,
    compared: &Compared,
    by: Option<By>,
    limit: usize,
    page: &mut Page<'_>,
) {
    let groups = &compared.groups;
    head(compared, page);
    subjects(compared, page);
    if groups.total.is_some() || !groups.phases.is_empty() {
        page.blank();
        main_table(compared).render(page);
    }
    if by != Some(By::Phases) {
        spans(compared, by, limit, page);
        let lists = [
            (&compared.sides[1].word, &groups.appeared),
            (&compared.sides[0].word, &groups.disappeared),
        ];
        for (word, rows) in lists {
            only(word, rows, by, limit, page);
        }
    }
    if by.is_none() {
        account(compared, page);
    }
    if !groups.moved.is_empty() {
        page.heading("what only moved");
        for moved in groups.moved.iter().take(MOVED) {
            page.wrapped(Line::indented(MARGIN), &came_back(moved), Ink::Warn);
        }
    }
    page.heading("notes");
    for note in notes(compared) {
        let (sign, ink) = match note.weight {
            Weight::Failure => ("! ", Ink::Bad),
            Weight::Warning => ("! ", Ink::Warn),
            Weight::Info => ("· ", Ink::Faint),
        };
        let lead = Line::indented(MARGIN).with(sign, ink);
        let plain = match note.weight {
            Weight::Info => Ink::Faint,
            _ => Ink::Plain,
        };
        page.wrapped(lead, &note.text, plain);
    }
    let text = format!(
        "a change within {} counts as none (--margin); verdicts hold at 5 %, which total, phases and spans share",
        margin(report.margin)
    );
    page.wrapped(
        Line::indented(MARGIN).with("· ", Ink::Faint),
        &text,
        Ink::Faint,
    );
}

/// The first sentence. Its pieces have their own colours, so it is broken at
/// their ends where it does not fit a line.
fn head(compared: &Compared, page: &mut Page<'_>) {
    let ink = |tone| match tone {
        Tone::Good => Ink::Good,
        Tone::Bad => Ink::Bad,
        Tone::Open => Ink::Warn,
        Tone::Even => Ink::Strong,
    };
    let pieces = headline(compared);
    let mut line = Line::indented(MARGIN);
    for (text, tone) in &pieces {
        line.push(text, ink(*tone));
    }
    if line.width() <= page.columns() {
        page.line(line);
        return;
    }
    for (text, tone) in &pieces {
        let text = text.trim_start_matches([';', ',', ' ']);
        page.wrapped(Line::indented(MARGIN), text, ink(*tone));
    }
}

/// Where the two sides were read, and what kind of time it is.
fn subjects(compared: &Compared, page: &mut Page<'_>) {
    let width = compared.sides.iter().map(|s| s.word.chars().count());
    let width = width.max().unwrap_or(0);
    for (side, about) in compared.groups.sides.iter().zip(&compared.sides) {
        let time = match side.time {
            Some(time) => format!("{} time", time.word()),
            None => "several kinds of time".to_owned(),
        };
        let word = format!("{:<width$}  ", about.word);
        let text = format!("{}, {}, {time}", about.path, boots(side.boots()));
        let lead = Line::indented(MARGIN).with(&word, Ink::Faint);
        page.wrapped(lead, &text, Ink::Faint);
    }
}

fn heads(first: (&'static str, Align), single: bool) -> Vec<(&'static str, Align)> {
    let mut heads = vec![
        first,
        ("before", Align::Right),
        ("after", Align::Right),
        ("change", Align::Right),
    ];
    if !single {
        heads.push((INTERVAL, Align::Right));
    }
    heads.push(("verdict", Align::Left));
    heads
}

fn main_table(compared: &Compared) -> Table {
    let groups = &compared.groups;
    let single = is_single(compared);
    let heads = heads(("phase", Align::Flex), single);
    let mut table = Table::new(&heads).without(&[INTERVAL, "before", "after"]);
    for phase in &groups.phases {
        table.row(cells(&phase.name, ink_of(&phase.name), phase, single));
    }
    if let Some(total) = &groups.total {
        table.row(cells(total_label(groups), Ink::Strong, total, single));
    }
    table
}

/// Name, before, after, change, interval, verdict.
fn cells(name: &str, ink: Ink, row: &Row, single: bool) -> Vec<Line> {
    let side = |ns: Option<i64>| cell(&ns.map_or("–".to_owned(), duration), Ink::Plain);
    let mut cells = vec![cell(name, ink), side(row.before_ns), side(row.after_ns)];
    let Some(effect) = &row.effect else {
        cells.push(cell("–", Ink::Faint));
        if !single {
            cells.push(cell("–", Ink::Faint));
        }
        let word = match row.before_ns {
            Some(_) => "only before",
            None => "only after",
        };
        cells.push(cell(word, Ink::Warn));
        return cells;
    };
    let (word, ink) = verdict_word(effect.verdict);
    let changed = if single { Ink::Plain } else { ink };
    cells.push(cell(&change(effect.shift_ns), changed));
    if !single {
        let [low, high] = effect.interval_ns.map(change);
        cells.push(cell(&format!("{low} to {high}"), Ink::Faint));
    }
    cells.push(cell(word, ink));
    cells
}

fn spans(compared: &Compared, by: Option<By>, limit: usize, page: &mut Page<'_>) {
    let rows = listed(compared, by);
    let all = compared.groups.spans.len();
    if rows.is_empty() {
        if by.is_some() {
            page.heading("matched spans");
            let text = "both sides have none of these that are long enough to be tested";
            page.wrapped(Line::indented(MARGIN), text, Ink::Faint);
        }
        return;
    }
    page.heading(match by {
        Some(_) => "matched spans",
        None => "matched spans that changed",
    });
    let single = is_single(compared);
    let mut heads = vec![("kind", Align::Left)];
    heads.extend(self::heads(("name", Align::Flex), single));
    let mut table = Table::new(&heads).without(&[INTERVAL, "kind", "before", "after"]);
    for span in rows.iter().take(limit) {
        let mut row = vec![cell(span.kind.text(), Ink::Faint)];
        row.extend(cells(&span.row.name, Ink::Plain, &span.row, single));
        table.row(row);
    }
    table.render(page);
    let more = match rows.len().saturating_sub(limit) {
        0 => String::new(),
        n => format!("and {n} more (--limit); "),
    };
    let short = match compared.groups.short {
        0 => String::new(),
        n => format!(", {n} shorter ones were not"),
    };
    let text = format!("{more}{all} matched spans were tested{short}");
    page.wrapped(Line::indented(MARGIN), &text, Ink::Faint);
}

/// Spans that only one side has.
fn only(word: &str, rows: &[SpanRow], by: Option<By>, limit: usize, page: &mut Page<'_>) {
    let wanted = rows.iter().filter(|s| by.is_none_or(|by| by.takes(s.kind)));
    let rows: Vec<&SpanRow> = wanted.collect();
    if rows.is_empty() {
        return;
    }
    page.heading(&format!("only in {word}"));
    let mut table = Table::new(&[
        ("kind", Align::Left),
        ("name", Align::Flex),
        ("lasts", Align::Right),
        ("boots", Align::Right),
    ])
    .without(&["boots", "kind"]);
    for span in rows.iter().take(limit) {
        let lasts = span.row.before_ns.or(span.row.after_ns).unwrap_or(0);
        table.row(vec![
            cell(span.kind.text(), Ink::Faint),
            cell(&span.row.name, Ink::Plain),
            cell(&duration(lasts), Ink::Plain),
            cell(&span.boots[0].max(span.boots[1]).to_string(), Ink::Faint),
        ]);
    }
    table.render(page);
    if rows.len() > limit {
        let text = format!("and {} more", rows.len() - limit);
        page.wrapped(Line::indented(MARGIN), &text, Ink::Faint);
    }
}

/// The account by place.
fn account(compared: &Compared, page: &mut Page<'_>) {
    let total_ns = compared.groups.total.as_ref().and_then(|t| t.before_ns);
    let least_ns = (total_ns.unwrap_or(0) / 200).max(1_000_000);
    // A phase that nothing tells apart is in the table already.
    let is_phase = |d: &Delta| compared.groups.phases.iter().any(|p| p.name == d.name);
    let changed = |d: &&Delta| d.delta_ns.saturating_abs() >= least_ns && !is_phase(d);
    let all = compared.groups.places.iter().filter(changed);
    let (grew, shrank): (Vec<&Delta>, Vec<&Delta>) = all.partition(|d| d.delta_ns > 0);
    places("where it shrank", &shrank, Ink::Good, page);
    places("where it grew", &grew, Ink::Bad, page);
}
