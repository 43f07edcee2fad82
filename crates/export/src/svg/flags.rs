//! Flags: the moments that a boot passes, above its chart.

use bootlap_model::{Axis, MarkKind, Milestone, Timeline};
use bootlap_report::format::duration;

use super::lettering::{LETTERS, line};
use super::measure::{fitted, width};
use super::palette::Ink;
use super::picture::{Anchor, Picture, Text};
use super::scale::{Scale, Window};

/// Rows of flags, and the height of one.
const ROWS: usize = 4;
const HEIGHT: f64 = 15.0;
/// Between a flag's line and its text.
const GAP: f64 = 3.0;
/// Marks that the evidence or the user named are shown up to so many.
const MOST_NAMED: usize = 24;
/// Longer names are cut.
const LONGEST: f64 = 220.0;

/// The moments that get a flag first if there is no room for all.
const FIRST: [Milestone; 14] = [
    Milestone::Ready,
    Milestone::StartupFinished,
    Milestone::InitStart,
    Milestone::ApplicationStart,
    Milestone::SwitchRoot,
    Milestone::ManagerStart,
    Milestone::KernelEntry,
    Milestone::KernelClockStart,
    Milestone::BootloaderStart,
    Milestone::UserEntry,
    Milestone::BootloaderHandover,
    Milestone::FirmwareDone,
    Milestone::KernelImage,
    Milestone::PowerOn,
];

/// A flag that found a place: how high above the chart its text is.
struct Flag {
    x: f64,
    row: usize,
    anchor: Anchor,
    text: String,
    /// From where to where the text is.
    span: (f64, f64),
}

/// All flags of a boot.
pub(super) struct Flags {
    flags: Vec<Flag>,
}

/// Gives each flag a place; those that find none are left out.
pub(super) fn place(timeline: &Timeline, window: Window, scale: &Scale) -> Flags {
    let mut flags: Vec<Flag> = Vec::new();
    for (ns, name) in moments(timeline) {
        if !scale.has(ns) || ns > window.end {
            continue;
        }
        let at = scale.since_zero(ns);
        let time = match at {
            0 => String::new(),
            _ => format!(" {}", duration(at)),
        };
        let text = fitted(&name, LETTERS, false, LONGEST) + &time;
        let (x, w) = (scale.x(ns), width(&text, LETTERS, false));
        let sides = [
            (Anchor::Start, (x + GAP, x + GAP + w)),
            (Anchor::End, (x - GAP - w, x - GAP)),
        ];
        let places = (0..ROWS).flat_map(|row| sides.map(|side| (row, side)));
        let free = places.into_iter().find(|(row, (_, span))| {
            let inside = span.0 >= scale.left && span.1 <= scale.right;
            inside && flags.iter().all(|other| !collide(other, x, *row, *span))
        });
        if let Some((row, (anchor, span))) = free {
            flags.push(Flag {
                x,
                row,
                anchor,
                text,
                span,
            });
        }
    }
    Flags { flags }
}

/// Two texts meet, or the line of one goes through the text of the other.
fn collide(other: &Flag, x: f64, row: usize, span: (f64, f64)) -> bool {
    let through = |x: f64, span: (f64, f64)| span.0 - GAP < x && x < span.1 + GAP;
    let meet = other.row == row && span.0 - GAP < other.span.1 && other.span.0 < span.1 + GAP;
    meet || other.row > row && through(other.x, span) || row > other.row && through(x, other.span)
}

/// What is worth a flag, the most important first: when, and its name.
fn moments(timeline: &Timeline) -> Vec<(i64, String)> {
    let axis = Axis::of(timeline);
    let milestones = FIRST.iter().filter_map(|milestone| {
        let kind = MarkKind::Milestone(*milestone);
        let mut marks = timeline.marks.iter().filter(|m| m.kind == kind);
        let at = marks.find_map(|m| axis.mark(m))?;
        Some((at.ns, milestone.text().to_owned()))
    });
    let named = timeline.marks.iter();
    let named = named.filter(|m| m.kind == MarkKind::Named);
    let named = named.filter_map(|m| Some((axis.mark(m)?.ns, timeline.text(m.name).to_owned())));
    milestones.chain(named.take(MOST_NAMED)).collect()
}

impl Flags {
    fn rows(&self) -> usize {
        self.flags.iter().map(|f| f.row + 1).max().unwrap_or(0)
    }

    /// How much room they take above the chart.
    pub(super) fn height(&self) -> f64 {
        self.rows() as f64 * HEIGHT
    }

    /// Draws them below `top`, with lines down to the axis and, fainter, on to
    /// the bottom.
    pub(super) fn draw(&self, [top, axis, bottom]: [f64; 3], picture: &mut Picture) {
        for flag in &self.flags {
            let y = top + (self.rows() - 1 - flag.row) as f64 * HEIGHT;
            let y_line = y + 2.0;
            let mast = line(flag.x, axis, bottom - axis, Ink::Mast);
            picture.back.push(mast);
            let pole = line(flag.x, y_line, axis - y_line, Ink::Flag);
            picture.back.push(pole);
            let x = match flag.anchor {
                Anchor::Start => flag.span.0,
                _ => flag.span.1,
            };
            picture.texts.push(Text {
                x,
                y: y + 11.0,
                anchor: flag.anchor,
                size: LETTERS,
                bold: false,
                pieces: vec![(flag.text.clone(), Ink::Text)],
            });
        }
    }
}
