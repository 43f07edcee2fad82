//! From a picture's colours to a screen's pixels, and back for looking at a capture.

use std::ops::Range;

use super::{Format, Picture, SplashError, check_size};

/// What a picture is laid on.
#[derive(Clone, Copy, Debug)]
pub struct Canvas {
    /// The screen's size in pixels, if the picture should fill it: it is put in the middle, and
    /// what does not fit is cut off.
    pub size: Option<(u32, u32)>,
    /// Red, green, blue: around the picture, and where it can be seen through.
    pub background: [u8; 3],
    /// Whether colours that RGB565 does not have become patterns of two that it has.
    pub dither: bool,
}

/// An order of 8 × 8 thresholds in which each number of them is spread evenly (Bayer's).
const THRESHOLDS: [[u32; 8]; 8] = [
    [0, 32, 8, 40, 2, 34, 10, 42],
    [48, 16, 56, 24, 50, 18, 58, 26],
    [12, 44, 4, 36, 14, 46, 6, 38],
    [60, 28, 52, 20, 62, 30, 54, 22],
    [3, 35, 11, 43, 1, 33, 9, 41],
    [51, 19, 59, 27, 49, 17, 57, 25],
    [15, 47, 7, 39, 13, 45, 5, 37],
    [63, 31, 55, 23, 61, 29, 53, 21],
];

/// The pixels of a picture on its canvas, and their width and height.
///
/// # Errors
/// If the canvas is larger than any screen.
pub fn pixels(
    picture: &Picture,
    canvas: &Canvas,
    format: Format,
) -> Result<(u16, u16, Vec<u8>), SplashError> {
    let (width, height) = canvas.size.unwrap_or((picture.width, picture.height));
    check_size(width, height)?;
    let out = area(picture, canvas, format, (0..width, 0..height));
    // check_size: both are at most 16384.
    Ok((width as u16, height as u16, out))
}

/// Where on its canvas a picture begins: left and top, which are negative if it is cut off.
pub(super) fn place(picture: &Picture, canvas: &Canvas) -> (i64, i64) {
    let (width, height) = canvas.size.unwrap_or((picture.width, picture.height));
    // The agent rounds in the same way.
    (
        (i64::from(width) - i64::from(picture.width)) / 2,
        (i64::from(height) - i64::from(picture.height)) / 2,
    )
}

/// The pixels of some columns and rows of the canvas.
pub(super) fn area(
    picture: &Picture,
    canvas: &Canvas,
    format: Format,
    (columns, rows): (Range<u32>, Range<u32>),
) -> Vec<u8> {
    let (left, top) = place(picture, canvas);
    let mut out = Vec::with_capacity(columns.len() * rows.len() * format.bytes());
    for y in rows {
        for x in columns.clone() {
            let (at_x, at_y) = (i64::from(x) - left, i64::from(y) - top);
            let colour = over(at(picture, at_x, at_y), canvas.background);
            put(&mut out, colour, format, canvas.dither, x, y);
        }
    }
    out
}

/// A pixel of the picture; outside there is nothing.
fn at(picture: &Picture, x: i64, y: i64) -> [u8; 4] {
    let (width, height) = (i64::from(picture.width), i64::from(picture.height));
    if !(0..width).contains(&x) || !(0..height).contains(&y) {
        return [0; 4];
    }
    let (pixels, _) = picture.rgba.as_chunks::<4>();
    let pixel = pixels.get((y * width + x) as usize);
    pixel.copied().unwrap_or_default()
}

fn over([r, g, b, alpha]: [u8; 4], background: [u8; 3]) -> [u8; 3] {
    let alpha = u32::from(alpha);
    let mix = |front: u8, back: u8| {
        ((u32::from(front) * alpha + u32::from(back) * (255 - alpha) + 127) / 255) as u8
    };
    let [r_back, g_back, b_back] = background;
    [mix(r, r_back), mix(g, g_back), mix(b, b_back)]
}

fn put(out: &mut Vec<u8>, [r, g, b]: [u8; 3], format: Format, dither: bool, x: u32, y: u32) {
    match format {
        Format::Xrgb8888 => out.extend([b, g, r, 0]),
        Format::Rgb565 => {
            let threshold = match dither {
                // The middle of its 64th of a step.
                true => 2 * THRESHOLDS[(y % 8) as usize][(x % 8) as usize] + 1,
                false => 64,
            };
            let level = |value: u8, most: u32| {
                (u32::from(value) * most * 128 + threshold * 255) / (255 * 128)
            };
            let pixel = level(r, 31) << 11 | level(g, 63) << 5 | level(b, 31);
            out.extend((pixel as u16).to_le_bytes());
        }
    }
}

/// What pixels look like.
pub fn picture_of(format: Format, width: u16, height: u16, pixels: &[u8]) -> Picture {
    let rgba = match format {
        Format::Xrgb8888 => {
            let (pixels, _) = pixels.as_chunks::<4>();
            pixels
                .iter()
                .flat_map(|&[b, g, r, _]| [r, g, b, 255])
                .collect()
        }
        Format::Rgb565 => {
            let (pixels, _) = pixels.as_chunks::<2>();
            pixels
                .iter()
                .flat_map(|&p| widened(u16::from_le_bytes(p)))
                .collect()
        }
    };
    Picture {
        width: width.into(),
        height: height.into(),
        rgba,
    }
}

/// As screens and the agent do it: the upper bits once more below.
fn widened(pixel: u16) -> [u8; 4] {
    let (r, g, b) = (pixel >> 11, pixel >> 5 & 63, pixel & 31);
    let five = |v: u16| (v << 3 | v >> 2) as u8;
    [five(r), (g << 2 | g >> 4) as u8, five(b), 255]
}
