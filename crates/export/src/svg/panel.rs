//! One boot in a chart, from top to bottom: flags, phases, axis, counters, the
//! crowd, the rows.
//!
//! Each label has a line of its own or is only drawn where there is room, so
//! labels cannot overlap.

use bootlap_report::Report;
use bootlap_report::format::duration;

use super::counters;
use super::flags;
use super::lettering::{LETTERS, LINE, STEP, faint, line};
use super::measure::{fitted, width};
use super::palette::Ink;
use super::picture::{Anchor, Area, Funnel, Picture, Rect, Text};
use super::rows::{Row, Rows};
use super::scale::{Scale, Window};

/// Between a bar and its label.
const GAP: f64 = 5.0;
const BANNER: f64 = 22.0;
const CROWD: f64 = 20.0;
/// How high it is between the boot and the part of it that is shown.
const FUNNEL: f64 = 14.0;

/// What is drawn of a boot, and when.
pub(super) struct Panel<'r> {
    pub(super) report: &'r Report<'r>,
    pub(super) rows: Rows,
    /// All of the boot, for its phases and flags.
    pub(super) whole: (Window, Scale),
    /// What the rows show: the same, or a part of it.
    pub(super) shown: (Window, Scale),
}

/// Draws it from `top` on; where it ends.
pub(super) fn draw(panel: &Panel<'_>, top: f64, picture: &mut Picture) -> f64 {
    let (report, rows) = (panel.report, &panel.rows);
    let ((whole, overview), (window, scale)) = (panel.whole, panel.shown);
    let flags = flags::place(report.timeline, whole, &overview);
    let mut y = top + flags.height();
    if !report.phases.is_empty() {
        banner(report, &overview, y, picture);
        y += BANNER;
    }
    let mut axis = y;
    let zoomed = !whole.covers(window);
    if zoomed {
        flags.draw([top, y, y], picture);
        y = ticks(&overview, y, picture);
        picture.funnels.push(Funnel {
            top: (overview.x(window.start), overview.x(window.end)),
            bottom: (scale.x(window.start), scale.x(window.end)),
            y: (y, y + FUNNEL),
        });
        axis = y + FUNNEL;
        y = axis;
    }
    y = ticks(&scale, y, picture);
    y = counters::draw(report.timeline, window, &scale, y, picture);
    y = caption(rows, &scale, y, picture);
    if rows.rows.is_empty() {
        let text = faint(scale.left, y + 12.0, "nothing of this was seen", &scale);
        picture.texts.push(text);
        y += LINE;
    }
    if !rows.rest.is_empty() {
        let text = faint(scale.left, y + 12.0, &rows.rest_caption, &scale);
        picture.texts.push(text);
        y += LINE;
        crowd(&rows.rest, &scale, y + CROWD, picture);
        y += CROWD + 4.0;
    }
    for (at, row) in rows.rows.iter().enumerate() {
        let y = y + at as f64 * LINE;
        bar(row, &scale, y, picture);
        if let Some(parent) = row.parent {
            let up = (at - parent) as f64 * LINE;
            branch(row, &scale, y, up, picture);
        }
    }
    path(&rows.rows, &scale, y, picture);
    y += rows.rows.len() as f64 * LINE;
    for (x, _) in scale.ticks() {
        picture.back.push(line(x, axis, y - axis, Ink::Grid));
    }
    if !zoomed {
        flags.draw([top, axis, y], picture);
    }
    y
}

/// From each thing that the end waited for to the next one: down where it was
/// over, and along while nothing of them ran.
fn path(rows: &[Row], scale: &Scale, top: f64, picture: &mut Picture) {
    let steps = rows.iter().enumerate().filter(|(_, r)| r.ink == Ink::Path);
    let steps: Vec<(usize, &Row)> = steps.collect();
    for pair in steps.windows(2) {
        let [(above, from), (below, to)] = pair else {
            continue;
        };
        let (x, next) = (scale.x(from.end), scale.x(to.start));
        let middle = top + LINE / 2.0;
        let (y, end) = (middle + *above as f64 * LINE, middle + *below as f64 * LINE);
        picture.back.push(line(x, y, end - y, Ink::Path));
        picture.back.push(Rect {
            x: x.min(next),
            y: end - 0.5,
            w: (next - x).abs(),
            h: 1.0,
            ink: Ink::Path,
            tip: String::new(),
        });
    }
}

/// The phases, side by side.
fn banner(report: &Report<'_>, scale: &Scale, y: f64, picture: &mut Picture) {
    for phase in &report.phases {
        let (from, to) = (scale.x(phase.start.ns), scale.x(phase.end.ns));
        let (name, time) = (phase.name.text(), duration(phase.duration_ns()));
        picture.rects.push(Rect {
            x: from,
            y,
            // A hairline of paper between two phases.
            w: (to - from - 0.5).max(0.5),
            h: BANNER,
            ink: Ink::Phase(phase.name),
            tip: format!("{name}: {time}"),
        });
        let texts = [format!("{name} {time}"), name.to_owned()];
        let fits = |text: &&String| width(text, LETTERS, false) + 2.0 * GAP <= to - from;
        if let Some(text) = texts.iter().find(fits) {
            picture.texts.push(Text {
                x: f64::midpoint(from, to),
                y: y + 15.0,
                anchor: Anchor::Middle,
                size: LETTERS,
                bold: false,
                pieces: vec![(text.clone(), Ink::Text)],
            });
        }
    }
}

/// The names of round times, below `y`.
fn ticks(scale: &Scale, y: f64, picture: &mut Picture) -> f64 {
    let mut free = 0.0;
    for (x, label) in scale.ticks() {
        let half = width(&label, LETTERS, false) / 2.0;
        // Those at the edges move inwards.
        let x = x.clamp(
            scale.left + half,
            (scale.right - half).max(scale.left + half),
        );
        if x - half < free {
            continue;
        }
        free = x + half + GAP;
        picture.texts.push(Text {
            x,
            y: y + 13.0,
            anchor: Anchor::Middle,
            size: LETTERS,
            bold: false,
            pieces: vec![(label, Ink::Faint)],
        });
    }
    y + 20.0
}

/// What the rows are, and what their colours mean.
fn caption(rows: &Rows, scale: &Scale, y: f64, picture: &mut Picture) -> f64 {
    let mut used = scale.left;
    if let Some((ink, text)) = rows.legend {
        // One more, so that it is not cut for a rounding error.
        let w = width(text, LETTERS, false) + 1.0;
        let x = scale.right - w;
        used = w + LETTERS + 2.0 * GAP + scale.left;
        picture.key(x - GAP - 10.0, y, ink);
        let text = faint(x, y + 12.0, text, scale);
        picture.texts.push(text);
    }
    let room = scale.right - used - 20.0;
    picture.texts.push(Text {
        x: scale.left,
        y: y + 12.0,
        anchor: Anchor::Start,
        size: LETTERS,
        bold: true,
        pieces: vec![(fitted(&rows.caption, LETTERS, true, room), Ink::Text)],
    });
    y + LINE + 4.0
}

/// How many of `spans` there are at a time, as an area above `base`.
fn crowd(spans: &[(i64, i64)], scale: &Scale, base: f64, picture: &mut Picture) {
    let steps = ((scale.right - scale.left) / STEP) as usize;
    // Differences first, sums after: a span counts in each step that it covers.
    let mut change = vec![0.0; steps + 2];
    let mut add = |at: f64, amount: f64| {
        let at = (at - scale.left) / STEP;
        let whole = (at.floor().max(0.0) as usize).min(steps);
        let part = (at - whole as f64).clamp(0.0, 1.0);
        change[whole] += amount * (1.0 - part);
        change[whole + 1] += amount * part;
    };
    for (start, end) in spans {
        add(scale.x(*start), 1.0);
        add(scale.x(*end), -1.0);
    }
    let mut now = 0.0;
    let sums = change.iter().take(steps).map(|c: &f64| {
        now += c;
        now.max(0.0)
    });
    let sums: Vec<f64> = sums.collect();
    // Never nothing: dividing by it must give a height.
    let most = sums.iter().copied().fold(1e-9, f64::max);
    picture.areas.push(Area {
        left: scale.left,
        base,
        step: STEP,
        heights: sums.iter().map(|n| n / most * CROWD).collect(),
        ink: Ink::Rest,
    });
}

fn bar(row: &Row, scale: &Scale, y: f64, picture: &mut Picture) {
    let (from, to) = (scale.x(row.start), scale.x(row.end));
    let to = to.max(from + 1.0).min(scale.right.max(from));
    let (inset, h) = if row.thin { (5.0, 6.0) } else { (2.0, 12.0) };
    let since = duration(scale.since_zero(row.start));
    picture.rects.push(Rect {
        x: from.min(scale.right - 1.0),
        y: y + inset,
        w: (to - from).max(1.0),
        h,
        ink: row.ink,
        tip: format!("{}, {}, at {since}", cut(&row.name), cut(&row.said)),
    });
    picture.texts.extend(label(row, from, to, scale, y + 12.0));
}

/// Tips are read, not scrolled.
fn cut(name: &str) -> String {
    let mut name: String = name.chars().take(200).collect();
    if name.is_empty() {
        name.push_str("(no name)");
    }
    name
}

/// Behind the bar, else before it, else on it, else wherever most of it fits.
fn label(row: &Row, from: f64, to: f64, scale: &Scale, y: f64) -> Vec<Text> {
    // It may quote the evidence, too.
    let said = format!("  {}", fitted(&row.said, LETTERS, false, 300.0));
    let said_w = width(&said, LETTERS, false);
    let name = fitted(&cut(&row.name), LETTERS, false, 420.0);
    let w = width(&name, LETTERS, false) + said_w;
    let behind = (scale.right - to - GAP, to + GAP, Anchor::Start);
    let before = (from - GAP - scale.left, from - GAP, Anchor::End);
    let on = (to - from - 2.0 * GAP, from + GAP, Anchor::Start);
    let places = [behind, before, on];
    let fits = places.iter().find(|(room, ..)| w <= *room);
    let roomiest = places.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let (room, x, anchor) = *fits.or(roomiest).unwrap_or(&behind);
    let name = fitted(&name, LETTERS, false, room - said_w);
    let text = |x, pieces| Text {
        x,
        y,
        anchor,
        size: LETTERS,
        bold: false,
        pieces,
    };
    let (name, said) = ((name, Ink::Text), (said, Ink::Faint));
    match anchor {
        Anchor::Start => vec![text(x, vec![name, said])],
        // LibreOffice aligns each piece on its own, so they stand apart.
        _ => vec![
            text(x - said_w, vec![name]),
            text(x, vec![(said.0.trim_start().to_owned(), said.1)]),
        ],
    }
}

/// The line from a parent's row, `up` above, to its child's bar at `y`.
fn branch(row: &Row, scale: &Scale, y: f64, up: f64, picture: &mut Picture) {
    let x = scale.x(row.start);
    let middle = LINE / 2.0;
    picture.back.push(line(x, y - up + middle, up, Ink::Branch));
}
