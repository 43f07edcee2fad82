//! Packs rows of pixels.

use lz4::block::{CompressionMode, compress};

use super::{BAND, Encoding, SplashError};

/// The highest there is: the host has time.
const LZ4_LEVEL: i32 = 12;

/// The most pixels in a token of each kind.
const LITERALS: usize = 128;
const RUN: usize = 129;

/// Packs rows of `row_len` bytes, which is a multiple of `pixel_len`.
pub(super) fn encode(
    encoding: Encoding,
    pixels: &[u8],
    row_len: usize,
    pixel_len: usize,
) -> Result<Vec<u8>, SplashError> {
    match encoding {
        Encoding::Raw => Ok(pixels.to_vec()),
        Encoding::Rle => Ok(runs(pixels, row_len, pixel_len)),
        Encoding::Lz4 => bands(pixels, row_len),
    }
}

fn bands(pixels: &[u8], row_len: usize) -> Result<Vec<u8>, SplashError> {
    let failed = |e: std::io::Error| SplashError::Write(e.to_string());
    let mut out = Vec::new();
    for band in pixels.chunks(BAND / row_len * row_len) {
        let mode = CompressionMode::HIGHCOMPRESSION(LZ4_LEVEL);
        let block = compress(band, Some(mode), false).map_err(failed)?;
        let len = u32::try_from(block.len()).map_err(|_| SplashError::TooLong)?;
        out.extend(len.to_le_bytes());
        out.extend(block);
    }
    Ok(out)
}

fn runs(pixels: &[u8], row_len: usize, pixel_len: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let rows: Vec<&[u8]> = pixels.chunks(row_len).collect();
    for equal in rows.chunk_by(|a, b| a == b) {
        // A picture has at most 16384 rows.
        out.extend((equal.len() as u16).to_le_bytes());
        let row: Vec<&[u8]> = equal[0].chunks(pixel_len).collect();
        pack_row(&mut out, &row);
    }
    out
}

fn pack_row(out: &mut Vec<u8>, row: &[&[u8]]) {
    let mut literals: Vec<&[u8]> = Vec::new();
    for run in row.chunk_by(|a, b| a == b) {
        // Two of a kind between others would only cost a token more.
        if run.len() < 3 && (run.len() == 1 || !literals.is_empty()) {
            literals.extend(run);
            continue;
        }
        put_literals(out, &mut literals);
        for part in run.chunks(RUN) {
            match part.len() {
                1 => literals.extend(part),
                n => {
                    out.push((n + 126) as u8);
                    out.extend(part[0]);
                }
            }
        }
    }
    put_literals(out, &mut literals);
}

fn put_literals(out: &mut Vec<u8>, literals: &mut Vec<&[u8]>) {
    for part in literals.chunks(LITERALS) {
        out.push((part.len() - 1) as u8);
        out.extend(part.iter().copied().flatten());
    }
    literals.clear();
}
