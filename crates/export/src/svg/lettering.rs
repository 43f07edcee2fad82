//! The sizes that a chart keeps to, and its lines and captions.

use super::measure::fitted;
use super::palette::Ink;
use super::picture::{Anchor, Rect, Text};
use super::scale::Scale;

/// The size of letters, and the height of a row with them.
pub(super) const LETTERS: f64 = 11.0;
pub(super) const LINE: f64 = 16.0;
/// How wide a step of an area is.
pub(super) const STEP: f64 = 2.0;

/// A thin vertical line.
pub(super) fn line(x: f64, y: f64, h: f64, ink: Ink) -> Rect {
    Rect {
        x: x - 0.5,
        y,
        w: 1.0,
        h,
        ink,
        tip: String::new(),
    }
}

/// A line of explanation, cut where the picture ends.
pub(super) fn faint(x: f64, y: f64, text: &str, scale: &Scale) -> Text {
    let text = fitted(text, LETTERS, false, scale.right - x);
    Text {
        x,
        y,
        anchor: Anchor::Start,
        size: LETTERS,
        bold: false,
        pieces: vec![(text, Ink::Faint)],
    }
}
