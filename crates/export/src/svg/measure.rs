//! How wide text is, at most.
//!
//! An SVG brings no fonts, so nobody knows which one it will be drawn in. The
//! widths below are the larger ones of DejaVu Sans (about the widest sans-serif
//! that is common) and Liberation Sans (Arial's and Helvetica's metrics), so a
//! label fits wherever it is looked at.

use bootlap_report::clean::clean;
use unicode_width::UnicodeWidthChar;

/// Advance widths of U+0020 to U+007E in thousandths of the font's size.
const ASCII: [u16; 95] = [
    318, 401, 460, 838, 637, 951, 780, 275, 391, 391, 500, 838, 318, 361, 318, 337, 637, 637, 637,
    637, 637, 637, 637, 637, 637, 637, 337, 337, 838, 838, 838, 557, 1016, 685, 687, 723, 771, 667,
    611, 778, 752, 295, 500, 667, 558, 863, 749, 788, 667, 788, 723, 667, 611, 732, 685, 989, 686,
    667, 686, 391, 337, 391, 838, 557, 500, 613, 635, 550, 635, 616, 353, 635, 634, 278, 278, 580,
    278, 975, 634, 612, 635, 635, 412, 521, 393, 634, 592, 818, 592, 592, 525, 637, 337, 637, 838,
];

/// How much wider bold letters are, at most.
const BOLD: f64 = 1.25;
/// Rounding, hinting and kerning of whoever draws it.
const SLACK: f64 = 1.03;

/// The most that `text` takes up in a font of `size`.
pub(super) fn width(text: &str, size: f64, bold: bool) -> f64 {
    let ems: f64 = text.chars().map(em).sum();
    ems * size * SLACK * if bold { BOLD } else { 1.0 }
}

/// The width of a character in units of the font's size.
fn em(c: char) -> f64 {
    match c {
        ' '..='~' => f64::from(ASCII[c as usize - 0x20]) / 1000.0,
        // Latin, Greek, Cyrillic; punctuation, arrows, shapes, pictures.
        '\u{a0}'..='\u{58f}' | '\u{2000}'..='\u{2dff}' | '\u{fffd}' => 1.2,
        // Whole phrases in one character, tablets, long dashes.
        '\u{fdf0}'..='\u{fdff}' | '\u{12000}'..='\u{12fff}' | '\u{2e3a}'..='\u{2e3b}' => 12.0,
        _ if c.width() == Some(2) => 1.4,
        // Scripts whose letters join or stack; some are wide.
        _ => 3.0,
    }
}

/// `text` on one line, without anything that acts, in at most `room`; what does
/// not fit is cut with `…`. Nothing if not even that fits.
pub(super) fn fitted(text: &str, size: f64, bold: bool, room: f64) -> String {
    let text = flat(text);
    if width(&text, size, bold) <= room {
        return text;
    }
    let end = width("…", size, bold);
    let mut kept = String::new();
    let mut used = end;
    for c in text.chars() {
        used += width(c.encode_utf8(&mut [0; 4]), size, bold);
        if used > room {
            break;
        }
        kept.push(c);
    }
    if end > room {
        return String::new();
    }
    kept.truncate(kept.trim_end().len());
    kept + "…"
}

/// Harmless, and not higher than a line: marks that stack are dropped from the
/// third one on.
fn flat(text: &str) -> String {
    let mut stacked = 0;
    let mut low = |c: &char| {
        stacked = if c.width() == Some(0) { stacked + 1 } else { 0 };
        stacked <= 2
    };
    clean(text).trim().chars().filter(|c| low(c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_cut() {
        assert_eq!(fitted("short", 10.0, false, 500.0), "short");
        let cut = fitted("a-rather-long-name.service", 10.0, false, 80.0);
        assert!(cut.ends_with('…') && cut.starts_with("a-rather"), "{cut}");
        assert!(width(&cut, 10.0, false) <= 80.0);
        assert_eq!(fitted("abc", 10.0, false, 5.0), "");
        assert_eq!(
            fitted("Z\u{300}\u{301}\u{302}\u{303}x\n", 10.0, false, 99.0),
            "Z\u{300}\u{301}x␊"
        );
    }
}
