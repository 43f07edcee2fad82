//! What each file is, what was understood of it, and how the clocks lie.

use bootlap_model::{Axis, ClockId, Evidence, How, Stamp, TimeKind, Timeline};

use crate::boot::text::{notice as entry, place};
use crate::format::{count, duration};
use crate::inspect::{Inspected, Verdict};
use crate::terminal::{Ink, Line, MARGIN, Page, Style};

/// Behind the margin: what belongs to a file.
const INDENT: usize = MARGIN + 2;

/// What each of `all` is, and the clock graph.
pub fn text(all: &[Inspected], timeline: &Timeline, style: &Style) -> String {
    let mut page = Page::new(style);
    for each in all {
        page.blank();
        file(each, timeline, &mut page);
    }
    clocks(timeline, &mut page);
    for notice in timeline.notices.iter().filter(|n| n.file.is_none()) {
        entry(notice, MARGIN, |at| place(timeline, at), &mut page);
    }
    page.finish()
}

fn file(each: &Inspected, timeline: &Timeline, page: &mut Page<'_>) {
    let name = Line::indented(MARGIN).with(&each.path, Ink::Strong);
    match &each.verdict {
        Verdict::Known {
            source,
            title,
            percent,
        } => {
            let right = Line::default()
                .with(source, Ink::Strong)
                .with(&format!("  {percent} % sure"), Ink::Faint);
            page.line_with_right(name, right);
            let title = Line::indented(INDENT).with(title, Ink::Faint);
            page.line(title);
            parts(each, page);
            understood(each, timeline, page);
        }
        Verdict::Timeless { what, remedy } => {
            page.line_with_right(name, Line::default().with("no times", Ink::Warn));
            let said = format!("{what}: {remedy}");
            page.wrapped(Line::indented(INDENT), &said, Ink::Plain);
        }
        Verdict::Unknown {
            nearest,
            looked_for,
        } => {
            page.line_with_right(name, Line::default().with("unknown", Ink::Bad));
            unknown(nearest, looked_for, page);
        }
        Verdict::Unreadable { why } => {
            page.line_with_right(name, Line::default().with("not readable", Ink::Bad));
            page.wrapped(Line::indented(INDENT), why, Ink::Plain);
        }
        Verdict::Empty => page.line_with_right(name, Line::default().with("empty", Ink::Bad)),
    }
}

fn parts(each: &Inspected, page: &mut Page<'_>) {
    if each.parts.is_empty() {
        return;
    }
    let short = |path: &String| {
        let rest = path.strip_prefix(&each.path).unwrap_or(path);
        rest.trim_start_matches('/').to_owned()
    };
    let names: Vec<String> = each.parts.iter().map(short).collect();
    let text = format!("{} files: {}", names.len(), names.join(", "));
    page.wrapped(Line::indented(INDENT), &text, Ink::Plain);
}

/// How much was used, what it gave, and what not.
fn understood(each: &Inspected, timeline: &Timeline, page: &mut Page<'_>) {
    let (mut total, mut skipped) = (0, 0);
    for file in &each.files {
        let usage = timeline.file(*file).usage;
        total += usage.total;
        skipped += usage.skipped;
    }
    let is_its = |file| each.files.contains(&file);
    let mut facts = vec![match skipped {
        0 => format!("{} lines, all used", count(total)),
        n => format!("{} lines, {} skipped", count(total), count(n)),
    }];
    let spans = timeline.spans.iter().filter(|s| is_its(s.evidence.file));
    let marks = timeline.marks.iter().filter(|m| is_its(m.evidence.file));
    let counters = timeline.counters.iter();
    let counters = counters.filter(|c| is_its(c.evidence.file)).count();
    facts.push(format!("{} spans", count(spans.count() as u64)));
    facts.push(format!("{} marks", count(marks.count() as u64)));
    if counters > 0 {
        facts.push(format!("{counters} counters"));
    }
    page.wrapped(Line::indented(INDENT), &facts.join(" · "), Ink::Plain);
    let notices = timeline.notices.iter();
    let mut notices: Vec<_> = notices.filter(|n| n.file.is_some_and(is_its)).collect();
    notices.sort_by_key(|n| std::cmp::Reverse(n.severity));
    for notice in notices {
        let alone = each.files.len() == 1;
        let place = |at: &Evidence| match alone {
            true => format!("line {}", at.line),
            false => place(timeline, at),
        };
        entry(notice, INDENT, place, page);
    }
}

fn unknown(nearest: &[(&str, u8, &str)], looked_for: &[&str], page: &mut Page<'_>) {
    for (source, percent, looks_like) in nearest {
        let text = format!("nearest is {source} ({percent} %), which has {looks_like}");
        page.wrapped(Line::indented(INDENT), &text, Ink::Plain);
    }
    let text = format!("looked for: {}", looked_for.join(", "));
    page.wrapped(Line::indented(INDENT), &text, Ink::Faint);
    let hint = "if it is one of these, say so with --as FORMAT";
    page.wrapped(Line::indented(INDENT), hint, Ink::Faint);
}

/// The clock graph: where each clock's zero lies on the reference clock.
fn clocks(timeline: &Timeline, page: &mut Page<'_>) {
    let axis = Axis::of(timeline);
    let Some(reference) = axis.reference() else {
        return;
    };
    page.heading("clocks");
    page.line(clock_line(timeline, reference).with("  is the reference", Ink::Faint));
    for clock in timeline.clock_ids().filter(|c| *c != reference) {
        let line = clock_line(timeline, clock);
        let Some(zero) = axis.at(clock, Stamp::new(0, 0)) else {
            page.line_with_right(line, Line::default().with("not joined", Ink::Warn));
            continue;
        };
        let how = axis.how(clock).unwrap_or(How::Assumed);
        let sign = if zero.ns < 0 { "" } else { "+" };
        let place = format!(
            "{sign}{} ± {}",
            duration(zero.ns),
            duration(zero.err_ns.into())
        );
        page.line_with_right(line, Line::default().with(&place, Ink::Plain));
        let (word, ink) = match how {
            How::Measured => ("measured", Ink::Faint),
            How::SharedEvent => ("shared events", Ink::Faint),
            How::Declared => ("declared", Ink::Faint),
            How::Assumed => ("assumed", Ink::Warn),
        };
        let first = Line::indented(INDENT)
            .with(word, ink)
            .with(": ", Ink::Faint);
        page.wrapped(first, &why(timeline, clock), Ink::Faint);
    }
}

fn clock_line(timeline: &Timeline, clock: ClockId) -> Line {
    let of = timeline.clock(clock);
    let time = match of.time {
        TimeKind::Measured => String::new(),
        time => format!(", {}", time.word()),
    };
    Line::indented(MARGIN)
        .with(of.kind.text(), Ink::Plain)
        .with(&time, Ink::Warn)
        .with(&format!("  {}", timeline.file(of.file).name), Ink::Faint)
}

/// What the edges at a clock rest on.
fn why(timeline: &Timeline, clock: ClockId) -> String {
    let edges = timeline.edges.iter();
    let mut edges: Vec<_> = edges.filter(|e| e.from == clock || e.to == clock).collect();
    edges.sort_by_key(|e| (e.how, e.err_ns));
    let mut whys: Vec<String> = Vec::new();
    for edge in edges {
        let other = if edge.from == clock {
            edge.to
        } else {
            edge.from
        };
        let of = timeline.clock(other);
        let drift = match edge.drift_ppm {
            0.0 => String::new(),
            ppm => format!(", drifting by {ppm:.1} ppm"),
        };
        let text = format!("{} (to the {}{drift})", edge.why, of.kind.text());
        if !whys.contains(&text) {
            whys.push(text);
        }
    }
    whys.truncate(2);
    whys.join("; ")
}
