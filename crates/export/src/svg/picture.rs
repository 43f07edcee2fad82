//! What a chart is made of, and how that becomes XML.
//!
//! Only rectangles, areas and text: everything draws those, LibreOffice and
//! old converters too. Colours stand as attributes for the light form, and once
//! more as variables, which a dark page changes.

use std::fmt::Write;

use bootlap_report::xml::escaped;

use super::measure::width;
use super::palette::{Ink, STYLE};

/// The side of a text that its `x` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A rectangle; lines are thin ones.
#[derive(Clone, Debug)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) w: f64,
    pub(super) h: f64,
    pub(super) ink: Ink,
    /// What is shown when one points at it.
    pub(super) tip: String,
}

/// Text on one line.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) x: f64,
    /// The line that the letters stand on.
    pub(super) y: f64,
    pub(super) anchor: Anchor,
    pub(super) size: f64,
    pub(super) bold: bool,
    /// Pieces with their inks; a gap is part of a piece.
    pub(super) pieces: Vec<(String, Ink)>,
}

impl Text {
    /// The most that it takes up: left, top, right, bottom.
    pub(super) fn bounds(&self) -> [f64; 4] {
        let w: f64 = self
            .pieces
            .iter()
            .map(|(t, _)| width(t, self.size, self.bold))
            .sum();
        let left = match self.anchor {
            Anchor::Start => self.x,
            Anchor::Middle => self.x - w / 2.0,
            Anchor::End => self.x - w,
        };
        [
            left,
            self.y - 0.95 * self.size,
            left + w,
            self.y + 0.25 * self.size,
        ]
    }
}

/// A filled shape: its upper edge from left to right, over a straight base.
#[derive(Clone, Debug)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) base: f64,
    /// How wide each step is.
    pub(super) step: f64,
    /// How high each step is above the base.
    pub(super) heights: Vec<f64>,
    pub(super) ink: Ink,
}

/// Four corners: what leads from a part of one axis to the whole of another.
#[derive(Clone, Debug)]
pub(super) struct Funnel {
    /// From where to where at the top, and at the bottom.
    pub(super) top: (f64, f64),
    pub(super) bottom: (f64, f64),
    /// Where its top and its bottom are.
    pub(super) y: (f64, f64),
}

/// A chart, from back to front.
#[derive(Clone, Debug, Default)]
pub(super) struct Picture {
    pub(super) width: f64,
    pub(super) height: f64,
    /// What it is, in one sentence.
    pub(super) title: String,
    /// Lines behind everything else.
    pub(super) back: Vec<Rect>,
    pub(super) funnels: Vec<Funnel>,
    pub(super) areas: Vec<Area>,
    pub(super) rects: Vec<Rect>,
    pub(super) texts: Vec<Text>,
}

impl Picture {
    /// A square of a colour, before the word that says what it means.
    pub(super) fn key(&mut self, x: f64, y: f64, ink: Ink) {
        self.rects.push(Rect {
            x,
            y: y + 3.0,
            w: 10.0,
            h: 10.0,
            ink,
            tip: String::new(),
        });
    }

    /// The whole file.
    pub(super) fn xml(&self) -> String {
        let (w, h) = (number(self.width), number(self.height.ceil()));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" \
             height=\"{h}\" role=\"img\" font-family=\"Helvetica,Arial,'Liberation Sans','DejaVu \
             Sans',sans-serif\">\n<title>{}</title>\n<style>{}</style>\n",
            escaped(&self.title),
            STYLE.as_str(),
        );
        let paper = Rect {
            x: 0.0,
            y: 0.0,
            w: self.width,
            h: self.height.ceil(),
            ink: Ink::Paper,
            tip: String::new(),
        };
        rect(&paper, &mut out);
        self.back.iter().for_each(|r| rect(r, &mut out));
        self.funnels.iter().for_each(|f| funnel(f, &mut out));
        self.areas.iter().for_each(|a| area(a, &mut out));
        self.rects.iter().for_each(|r| rect(r, &mut out));
        self.texts.iter().for_each(|t| text(t, &mut out));
        out + "</svg>\n"
    }
}

/// Hundredths are finer than any screen.
fn number(x: f64) -> String {
    let text = format!("{x:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

fn rect(r: &Rect, out: &mut String) {
    let [x, y, w, h] = [r.x, r.y, r.w, r.h].map(number);
    let (class, fill) = (r.ink.class(), r.ink.light());
    let _ = write!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{fill}\" class=\"{class}\""
    );
    if r.tip.is_empty() {
        out.push_str("/>\n");
    } else {
        let _ = writeln!(out, "><title>{}</title></rect>", escaped(&r.tip));
    }
}

fn area(a: &Area, out: &mut String) {
    let mut path = format!("M{} {}", number(a.left), number(a.base));
    let mut last = 0.0;
    for (at, height) in a.heights.iter().enumerate() {
        // Below a hundredth nothing is drawn, so nothing is written.
        if (height - last).abs() >= 0.01 {
            let x = number(a.left + at as f64 * a.step);
            let _ = write!(path, "H{x}V{}", number(a.base - height));
            last = *height;
        }
    }
    let right = number(a.left + a.heights.len() as f64 * a.step);
    let _ = write!(path, "H{right}V{}Z", number(a.base));
    let (class, fill) = (a.ink.class(), a.ink.light());
    let _ = writeln!(
        out,
        "<path d=\"{path}\" fill=\"{fill}\" class=\"{class}\"/>"
    );
}

fn funnel(f: &Funnel, out: &mut String) {
    let (top, bottom) = f.y;
    let corners = [
        (f.top.0, top),
        (f.top.1, top),
        (f.bottom.1, bottom),
        (f.bottom.0, bottom),
    ];
    let corners = corners.map(|(x, y)| format!("{},{}", number(x), number(y)));
    let (class, fill) = (Ink::Grid.class(), Ink::Grid.light());
    let _ = writeln!(
        out,
        "<polygon points=\"{}\" fill=\"{fill}\" class=\"{class}\"/>",
        corners.join(" ")
    );
}

fn text(t: &Text, out: &mut String) {
    let anchor = match t.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let bold = if t.bold { " font-weight=\"bold\"" } else { "" };
    let [x, y, size] = [t.x, t.y, t.size].map(number);
    let _ = write!(
        out,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{bold} xml:space=\"preserve\">"
    );
    for (piece, ink) in &t.pieces {
        let (class, fill) = (ink.class(), ink.light());
        let _ = write!(
            out,
            "<tspan fill=\"{fill}\" class=\"{class}\">{}</tspan>",
            escaped(piece)
        );
    }
    out.push_str("</text>\n");
}
