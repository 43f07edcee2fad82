//! An animation as what changes from each picture to the next.

use std::ops::Range;

use super::convert::{area, place};
use super::{Canvas, Format, Frame, Picture, Splash, SplashError, picture_of, pixels};

/// A splash of several pictures of one size: the first, and the rectangles in which each differs
/// from the one before, the first from the last included, as it goes round. Each is seen for `ms`.
///
/// # Errors
/// If they differ in size, or there is none.
pub fn animation(
    format: Format,
    pictures: Vec<(u16, u16, Vec<u8>)>,
    ms: u16,
) -> Result<Splash, SplashError> {
    let Some((width, height, first)) = pictures.first() else {
        return Err(SplashError::Damaged("it has no picture"));
    };
    for (number, (w, h, _)) in pictures.iter().enumerate() {
        if (w, h) != (width, height) {
            return Err(SplashError::Sizes {
                number: number + 1,
                found: format!("{w} x {h}"),
                wanted: format!("{width} x {height}"),
            });
        }
    }
    let row_len = usize::from(*width) * format.bytes();
    let mut frames = Vec::new();
    if pictures.len() > 1 {
        let next = pictures.iter().cycle().skip(1);
        for ((_, _, from), (_, _, to)) in pictures.iter().zip(next) {
            frames.push(difference(format, from, to, row_len, ms));
        }
    }
    Ok(Splash {
        format,
        width: *width,
        height: *height,
        pixels: first.clone(),
        frames,
    })
}

/// The smallest rectangle that makes one of the other; a pixel, if they are equal.
fn difference(format: Format, from: &[u8], to: &[u8], row_len: usize, ms: u16) -> Frame {
    let pixel_len = format.bytes();
    let mut rows = (usize::MAX, 0);
    let mut columns = (usize::MAX, 0);
    let pairs = from.chunks(row_len).zip(to.chunks(row_len));
    for (y, (old, new)) in pairs.enumerate() {
        let differs = |(a, b): (&[u8], &[u8])| a != b;
        let pixels = || old.chunks(pixel_len).zip(new.chunks(pixel_len));
        let Some(left) = pixels().position(differs) else {
            continue;
        };
        let right = pixels().rposition(differs).unwrap_or(left);
        rows = (rows.0.min(y), y);
        columns = (columns.0.min(left), columns.1.max(right));
    }
    if rows.0 == usize::MAX {
        (rows, columns) = ((0, 0), (0, 0));
    }
    let seen = columns.0 * pixel_len..(columns.1 + 1) * pixel_len;
    let inside = to.chunks(row_len).take(rows.1 + 1).skip(rows.0);
    let cut = inside.flat_map(|row| row.get(seen.clone()).unwrap_or_default());
    // All of them are below the width or the height, which are 16 bits.
    Frame {
        x: columns.0 as u16,
        y: rows.0 as u16,
        width: (columns.1 - columns.0 + 1) as u16,
        height: (rows.1 - rows.0 + 1) as u16,
        ms,
        pixels: cut.copied().collect(),
    }
}

/// A splash with other pixels: each of its pictures on the canvas. Its frames and their times stay.
///
/// # Errors
/// If the canvas is larger than any screen.
pub fn converted(splash: &Splash, canvas: &Canvas, format: Format) -> Result<Splash, SplashError> {
    let mut seen = picture_of(splash.format, splash.width, splash.height, &splash.pixels);
    let (width, height, first) = pixels(&seen, canvas, format)?;
    let (left, top) = place(&seen, canvas);
    let frame = |frame: &Frame| {
        lay(&mut seen, frame, splash.format);
        let columns = cut(left, frame.x, frame.width, width);
        let rows = cut(top, frame.y, frame.height, height);
        // What is cut off is time all the same: a pixel that stays as it is.
        let (columns, rows) = match columns.is_empty() || rows.is_empty() {
            true => (0..1, 0..1),
            false => (columns, rows),
        };
        // All of them are at most the width or the height, which are 16 bits.
        Frame {
            x: columns.start as u16,
            y: rows.start as u16,
            width: columns.len() as u16,
            height: rows.len() as u16,
            ms: frame.ms,
            pixels: area(&seen, canvas, format, (columns, rows)),
        }
    };
    Ok(Splash {
        format,
        width,
        height,
        pixels: first,
        frames: splash.frames.iter().map(frame).collect(),
    })
}

/// What is on the canvas of `len` pixels from `at` on, in a picture that begins at `begin`.
fn cut(begin: i64, at: u16, len: u16, canvas: u16) -> Range<u32> {
    let start = begin + i64::from(at);
    let inside = |n: i64| n.clamp(0, canvas.into()) as u32;
    inside(start)..inside(start + i64::from(len))
}

/// Draws a frame over what is seen, as far as it lies in it.
fn lay(seen: &mut Picture, frame: &Frame, format: Format) {
    let new = picture_of(format, frame.width, frame.height, &frame.pixels);
    let row_len = seen.width as usize * 4;
    let from = usize::from(frame.x) * 4;
    let old_rows = seen.rgba.chunks_mut(row_len).skip(frame.y.into());
    let new_rows = new.rgba.chunks(usize::from(frame.width) * 4);
    for (old, new) in old_rows.zip(new_rows) {
        let old = old.get_mut(from..).unwrap_or_default();
        let len = old.len().min(new.len());
        old[..len].copy_from_slice(&new[..len]);
    }
}
