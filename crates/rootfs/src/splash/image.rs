//! PNG, which is what people draw logos in.

use std::io::Cursor;

use super::{MOST_PIXELS, Picture, SplashError, check_size};

/// Reads a PNG of any kind: grey, palette, 16 bits, interlaced. Of an animated one the first frame.
///
/// # Errors
/// If it is none, damaged, or larger than any screen.
pub fn read_png(bytes: &[u8]) -> Result<Picture, SplashError> {
    let not = |e: png::DecodingError| SplashError::NotPng(e.to_string());
    let limits = png::Limits {
        bytes: 8 * MOST_PIXELS as usize,
    };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(not)?;
    let (width, height) = reader.info().size();
    check_size(width, height)?;
    let Some(room) = reader.output_buffer_size() else {
        return Err(SplashError::TooLarge { width, height });
    };
    let mut out = vec![0; room];
    let info = reader.next_frame(&mut out).map_err(not)?;
    out.truncate(info.buffer_size());
    let rgba = match info.color_type {
        png::ColorType::Rgba => out,
        png::ColorType::Rgb => spread(&out, |&[r, g, b]: &[u8; 3]| [r, g, b, 255]),
        png::ColorType::GrayscaleAlpha => spread(&out, |&[v, a]: &[u8; 2]| [v, v, v, a]),
        png::ColorType::Grayscale => spread(&out, |&[v]: &[u8; 1]| [v, v, v, 255]),
        png::ColorType::Indexed => return Err(SplashError::NotPng("no palette".into())),
    };
    Ok(Picture {
        width,
        height,
        rgba,
    })
}

fn spread<const N: usize>(from: &[u8], rgba: impl Fn(&[u8; N]) -> [u8; 4]) -> Vec<u8> {
    let (pixels, _) = from.as_chunks();
    pixels.iter().flat_map(rgba).collect()
}

/// Writes a PNG, without alpha: screens have none.
///
/// # Errors
/// If the library refuses, which it has no reason to.
pub fn write_png(picture: &Picture) -> Result<Vec<u8>, SplashError> {
    let failed = |e: png::EncodingError| SplashError::Write(e.to_string());
    let (pixels, _) = picture.rgba.as_chunks::<4>();
    let rgb: Vec<u8> = pixels.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect();
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, picture.width, picture.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(&rgb).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(out)
}
