//! What stands behind initcalls.

use bootlap_analysis::functions::{Wait, WaitKind};
use bootlap_kbuild::{Condition, Delay, OptionInfo, Param, Part, Place};

use crate::explain::{ExplainReport, ExplainRow, delays, modular};
use crate::format::duration;
use crate::terminal::{Align, Ink, Line, MARGIN, Page, Style, Table, cell};

/// Where what is said of a symbol begins.
const INDENT: usize = MARGIN + 14;
/// How many of each kind are shown of one symbol.
const SHOWN: usize = 12;
/// How many options that switch one on are named.
const SELECTORS: usize = 6;

/// Each symbol with all that is known of it; of a whole boot a table.
pub fn text(report: &ExplainReport, style: &Style) -> String {
    let mut page = Page::new(style);
    headline(report, &mut page);
    if report.worklist {
        page.blank();
        worklist(report, &mut page);
    } else {
        for row in &report.rows {
            symbol(row, &mut page);
        }
    }
    page.finish()
}

fn headline(report: &ExplainReport, page: &mut Page<'_>) {
    let version = report.version.as_deref().unwrap_or("of unknown version");
    let line = page.subject(&format!("Linux {version}"));
    let arch = format!(" {}, {}", report.arch, report.arch_by);
    page.line(line.with(&arch, Ink::Plain));
    let options = match &report.config {
        Some(config) => format!("options of {config}"),
        None => "no .config: whatever could be built".to_owned(),
    };
    let facts = format!("{} · {options}", report.kernel);
    page.wrapped(Line::indented(MARGIN), &facts, Ink::Faint);
}

fn worklist(report: &ExplainReport, page: &mut Page<'_>) {
    let mut table = Table::new(&[
        ("time", Align::Right),
        ("initcall", Align::Flex),
        ("level", Align::Left),
        ("option", Align::Left),
        ("can be", Align::Left),
        ("delays", Align::Left),
    ])
    .without(&["level", "delays", "can be"]);
    for row in &report.rows {
        let time = row.time_ns.map_or("no end".to_owned(), duration);
        let mut cells = vec![
            cell(&time, Ink::Strong),
            cell(&row.explained.asked.function, Ink::Plain),
        ];
        match row.place() {
            Some(place) => cells.extend(columns(place)),
            None => cells.extend([Line::default(), cell("not found", Ink::Warn)]),
        }
        table.row(cells);
    }
    table.render(page);
    let missing = report.rows.len() - report.found();
    if missing > 0 {
        let text = format!("{missing} not found: of modules or of another tree");
        page.wrapped(Line::indented(MARGIN), &text, Ink::Faint);
    }
    if report.all > report.rows.len() {
        let text = format!("{} of {} shown: the longest", report.rows.len(), report.all);
        page.wrapped(Line::indented(MARGIN), &text, Ink::Faint);
    }
}

fn columns(place: &Place) -> Vec<Line> {
    let level = place.level.map_or("–".to_owned(), |l| l.text());
    let option = place
        .option()
        .map_or("always".to_owned(), |o| o.name.clone());
    vec![
        cell(&level, Ink::Faint),
        cell(&option, Ink::Plain),
        cell(modular(place).0, Ink::Faint),
        cell(&shortest(place), Ink::Warn),
    ]
}

/// What is known to pass, or how many delays there are.
fn shortest(place: &Place) -> String {
    match (place.delay_ns(), place.delays.len()) {
        (_, 0) => String::new(),
        (0, n) => n.to_string(),
        (ns, n) => format!("{n}: {}", duration(ns)),
    }
}

fn symbol(row: &ExplainRow, page: &mut Page<'_>) {
    page.blank();
    let places = &row.explained.places;
    let name = Line::indented(MARGIN).with(&row.symbol, Ink::Strong);
    let time = row.time_ns.map_or(String::new(), duration);
    page.line_with_right(name, cell(&time, Ink::Strong));
    if places.is_empty() {
        let text = "not found: check the version and --arch, and that it is no symbol of a \
                    module from elsewhere";
        return said(page, "", text, Ink::Warn);
    }
    if places.len() > 1 {
        let text = format!("one of these {} functions", places.len());
        said(page, "", &text, Ink::Warn);
    }
    traced(&row.waits, page);
    for (at, place) in places.iter().enumerate() {
        if at > 0 {
            page.blank();
        }
        whole(place, page);
    }
}

fn said(page: &mut Page<'_>, what: &str, text: &str, ink: Ink) {
    let first = Line::indented(MARGIN + 2).with(what, Ink::Faint);
    page.wrapped(first.fit(INDENT), text, ink);
}

fn whole(place: &Place, page: &mut Page<'_>) {
    let at = format!("{}:{}", place.file, place.line);
    said(page, "source", &at, Ink::Plain);
    if let Some(by) = &place.included_by {
        said(page, "", &format!("included by {by}"), Ink::Faint);
    }
    match (place.level, &place.made_by) {
        (Some(level), Some(made_by)) => {
            let (name, line) = (&made_by.name, made_by.line);
            let text = format!("{}: {name} in line {line}", level.text());
            said(page, "level", &text, Ink::Plain);
        }
        _ => said(page, "level", "none: it is no initcall", Ink::Plain),
    }
    options(place, page);
    said(page, "module", &modular(place).1, Ink::Plain);
    params(place, page);
    waits(place, page);
}

fn options(place: &Place, page: &mut Page<'_>) {
    let mut what = "option";
    let first = place.option();
    match first {
        Some(option) => one_option(option, page),
        None => said(page, what, "none: it is always built", Ink::Plain),
    }
    what = "needs";
    for condition in place.conditions.iter().rev() {
        if condition.on
            && condition
                .any
                .iter()
                .any(|n| Some(n) == first.map(|o| &o.name))
        {
            continue;
        }
        said(page, what, &condition_text(place, condition), Ink::Plain);
        what = "";
    }
}

fn condition_text(place: &Place, condition: &Condition) -> String {
    let value = |name: &String| {
        let known = place.options.iter().find(|o| o.name == *name);
        let value = known.and_then(|o| o.value.as_ref());
        let value = value.map_or(String::new(), |v| format!("={v}"));
        format!("CONFIG_{name}{value}")
    };
    let names: Vec<String> = condition.any.iter().map(value).collect();
    let place = match condition.part {
        Part::Folder => "its folder",
        Part::Object => "its object",
        Part::Member => "its part of the object",
        Part::Source => "an #if around it",
    };
    let without = if condition.on { "" } else { "without " };
    format!("{without}{}, for {place}", names.join(" or "))
}

fn one_option(option: &OptionInfo, page: &mut Page<'_>) {
    let value = option
        .value
        .as_ref()
        .map_or(String::new(), |v| format!("={v}"));
    let kind = option.kind.text();
    let prompt = match &option.prompt {
        Some(prompt) => format!("“{prompt}”"),
        None => "no prompt: only other options switch it".to_owned(),
    };
    let text = format!("CONFIG_{}{value} ({kind}) {prompt}", option.name);
    said(page, "option", &text, Ink::Strong);
    if let Some(help) = &option.help {
        said(page, "", help, Ink::Faint);
    }
    if !option.depends.is_empty() {
        said(page, "depends on", &all_of(&option.depends), Ink::Plain);
    }
    if !option.selected_by.is_empty() {
        let names = option.selected_by.iter().take(SELECTORS);
        let mut names: Vec<&str> = names.map(String::as_str).collect();
        let more = format!("and {} more", option.selected_by.len() - names.len());
        if option.selected_by.len() > names.len() {
            names.push(&more);
        }
        said(page, "selected by", &names.join(", "), Ink::Plain);
    }
}

/// Expressions joined, in brackets where they would be misread.
fn all_of(needs: &[String]) -> String {
    let whole = |e: &String| match e.contains("||") && needs.len() > 1 {
        true => format!("({e})"),
        false => e.clone(),
    };
    let needs: Vec<String> = needs.iter().map(whole).collect();
    needs.join(" && ")
}

fn params(place: &Place, page: &mut Page<'_>) {
    let mut what = "parameters";
    for Param {
        name,
        kind,
        line,
        description,
    } in place.params.iter().take(SHOWN)
    {
        let about = description
            .as_ref()
            .map_or(String::new(), |d| format!(": {d}"));
        let module = &place.module;
        let text = format!("{module}.{name} ({kind}, line {line}){about}");
        said(page, what, &text, Ink::Plain);
        what = "";
    }
    more(place.params.len(), page);
}

/// What a trace of functions has of its delays.
fn traced(waits: &[Wait], page: &mut Page<'_>) {
    for (at, wait) in waits.iter().take(SHOWN).enumerate() {
        let label = if at == 0 { "waited" } else { "" };
        let how = match wait.how {
            WaitKind::Busy => "busy",
            WaitKind::Sleep => "asleep",
        };
        let times = if wait.count == 1 { "call" } else { "calls" };
        let text = format!(
            "{} {how} in {} {times} of {}",
            duration(wait.time_ns),
            wait.count,
            wait.function
        );
        said(page, label, &text, Ink::Warn);
    }
    more(waits.len(), page);
}

fn waits(place: &Place, page: &mut Page<'_>) {
    let all = delays(place);
    if !all.is_empty() {
        said(page, "delays", &all, Ink::Warn);
    }
    for delay in place.delays.iter().take(SHOWN) {
        let text = format!("line {}: {}{}", delay.line, delay.call, times(delay));
        said(page, "", &text, Ink::Plain);
        let path = delay.path.join(" → ");
        if delay.path.len() > 1 {
            let first = Line::indented(INDENT + 2);
            page.wrapped(first, &path, Ink::Faint);
        }
    }
    more(place.delays.len(), page);
}

fn times(delay: &Delay) -> String {
    let once = match (delay.ns, delay.most_ns) {
        (Some(ns), Some(most)) => format!(", {} to {}", duration(ns), duration(most)),
        (Some(ns), None) => format!(", {}", duration(ns)),
        (None, _) => String::new(),
    };
    let how = delay.how.text();
    match (delay.in_loop, delay.times) {
        (false, _) => format!("{once} {how}"),
        (true, Some(n)) => format!("{once} {how}, {n} times"),
        (true, None) => format!("{once} {how}, in a loop"),
    }
}

fn more(all: usize, page: &mut Page<'_>) {
    if all > SHOWN {
        said(page, "", &format!("and {} more", all - SHOWN), Ink::Faint);
    }
}
