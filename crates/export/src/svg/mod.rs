//! `.svg`: a boot as one picture, for a slide, a wiki or a README.
//!
//! From top to bottom: what the boot took, the moments that it passed as flags,
//! its phases, an axis, CPU and disk if they were recorded, and a row for each
//! of the longest initcalls, units or processes (`--by`); the others together
//! are an area. Two boots stand one above the other on one scale.
//!
//! The file needs nothing else: no fonts, no scripts, no network; it is light
//! or dark as the page around it. `measure.rs` says why labels never overlap,
//! whatever font they are drawn in; pointing at a bar shows its whole name.

mod counters;
mod flags;
mod lettering;
mod measure;
mod palette;
mod panel;
mod picture;
mod rows;
mod scale;
#[cfg(test)]
mod tests;

use std::io::Write;

use bootlap_report::Report;
use bootlap_report::boot::headline::{Headline, alone, facts, kind_of_time};
use bootlap_report::table::By;
use bootlap_report::{Sink, SinkError};

use measure::{fitted, width};
use palette::Ink;
use panel::Panel;
use picture::{Anchor, Picture, Text};
use rows::Rows;
use scale::{Scale, Window};

const WIDTH: f64 = 1000.0;
const MARGIN: f64 = 16.0;
/// Rows of a boot, alone and together with another.
const ROWS: usize = 40;
const ROWS_OF_TWO: usize = 22;

/// The format.
pub(crate) const SVG: Sink = Sink {
    name: "svg",
    title: "a picture, for a slide, a wiki or a README",
    extensions: &["svg"],
    choices: &[By::Phases, By::Initcalls, By::Units, By::Processes],
    write,
};

fn write(report: &Report<'_>, by: Option<By>, out: &mut dyn Write) -> Result<(), SinkError> {
    match by {
        Some(by) => write_by(report, by, out),
        None => write_best(report, out),
    }
}

fn write_best(report: &Report<'_>, out: &mut dyn Write) -> Result<(), SinkError> {
    let picture = picture(report, rows::best(report));
    Ok(out.write_all(picture.xml().as_bytes())?)
}

fn write_by(report: &Report<'_>, by: By, out: &mut dyn Write) -> Result<(), SinkError> {
    let window = rows::window(report, by);
    if Rows::of(report, by, window, 1).rows.is_empty() {
        return Err(SinkError::Nothing { by });
    }
    Ok(out.write_all(picture(report, by).xml().as_bytes())?)
}

fn picture(report: &Report<'_>, by: By) -> Picture {
    let Headline { name, rest } = Headline::of(report);
    let mut picture = Picture {
        width: WIDTH,
        title: format!("{name}{rest}, {}", kind_of_time(report)),
        ..Picture::default()
    };
    let mut y = heading(report, &name, &rest, &mut picture);
    let before = report.before.as_deref();
    // The earlier boot above the later one.
    let boots: Vec<&Report<'_>> = before.into_iter().chain([report]).collect();
    let whole: Vec<Window> = boots.iter().map(|r| Window::of(&r.answers)).collect();
    let mut shown: Vec<Window> = boots.iter().map(|r| rows::window(r, by)).collect();
    let zoomed = shown.iter().zip(&whole).any(|(s, w)| !s.covers(*w));
    if zoomed && before.is_some() {
        // Parts of two boots lie beside each other only from their starts on.
        shown = shown.into_iter().map(Window::counted_from_start).collect();
    }
    let limit = if before.is_some() { ROWS_OF_TWO } else { ROWS };
    for (at, boot) in boots.iter().enumerate() {
        let on = |all: &[Window]| {
            let scale = Scale::of(all, all[at], MARGIN, WIDTH - MARGIN);
            (all[at], scale)
        };
        let panel = Panel {
            report: boot,
            rows: Rows::of(boot, by, shown[at], limit),
            whole: on(&whole),
            shown: on(&shown),
        };
        if before.is_some() {
            let word = if at == 0 { "before" } else { "after" };
            subheading(boot, word, y, &mut picture);
            y += 24.0;
        }
        y = panel::draw(&panel, y, &mut picture) + 18.0;
    }
    picture.height = y;
    picture
}

/// The target and what it took; below that what kind of number it is.
fn heading(report: &Report<'_>, name: &str, rest: &str, picture: &mut Picture) -> f64 {
    const SIZE: f64 = 17.0;
    let room = WIDTH - 2.0 * MARGIN;
    let name = fitted(name, SIZE, true, room - width(rest, SIZE, true));
    let rest = fitted_end(rest, SIZE, room);
    picture.texts.push(text(
        28.0,
        SIZE,
        true,
        vec![(name, Ink::Text), (rest, Ink::Text)],
    ));
    let mut said = vec![kind_of_time(report)];
    said.extend(facts(report));
    said.extend(Some(report.about.tool.clone()).filter(|tool| !tool.is_empty()));
    let said = fitted(&said.join(" · "), lettering::LETTERS, false, room);
    picture.texts.push(text(
        46.0,
        lettering::LETTERS,
        false,
        vec![(said, Ink::Faint)],
    ));
    60.0
}

/// The words after a name, whose space in front of them counts.
fn fitted_end(rest: &str, size: f64, room: f64) -> String {
    let space = if rest.starts_with(' ') { " " } else { "" };
    format!("{space}{}", fitted(rest, size, true, room))
}

/// Which of two boots it is.
fn subheading(report: &Report<'_>, word: &str, y: f64, picture: &mut Picture) {
    let run = match report.about.run.as_str() {
        "" => &report.about.target,
        run => run,
    };
    let end = alone(report);
    let end = end.trim_start_matches([':', ' ']);
    let end = end.strip_prefix("is ").unwrap_or(end);
    let room = WIDTH - 2.0 * MARGIN;
    let said = format!("{word}: {end}");
    let said_w = width(&said, 12.0, true) + 12.0;
    let run = fitted(run, 12.0, true, room - said_w);
    let pieces = vec![(said, Ink::Text), (format!("  {run}"), Ink::Faint)];
    picture.texts.push(text(y + 13.0, 12.0, true, pieces));
}

fn text(y: f64, size: f64, bold: bool, pieces: Vec<(String, Ink)>) -> Text {
    Text {
        x: MARGIN,
        y,
        anchor: Anchor::Start,
        size,
        bold,
        pieces,
    }
}
