//! An animation as what changes from each picture to the next.

use super::{Format, Frame, Splash, SplashError};

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
