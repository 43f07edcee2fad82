//! Unpacks rows of pixels that nobody has checked.

use lz4::block::decompress_to_buffer;

use super::{BAND, Encoding, SplashError};

/// The pixels of `rows` rows of `row_len` bytes.
pub(super) fn unpack(
    encoding: Encoding,
    packed: &[u8],
    rows: usize,
    row_len: usize,
    pixel_len: usize,
) -> Result<Vec<u8>, SplashError> {
    let len = rows * row_len;
    let pixels = match encoding {
        Encoding::Raw => (packed.len() == len).then(|| packed.to_vec()),
        Encoding::Rle => runs(packed, len, row_len, pixel_len),
        Encoding::Lz4 => bands(packed, len, row_len),
    };
    pixels.ok_or(SplashError::Damaged("its pixels cannot be unpacked"))
}

/// Takes `n` bytes away from the front.
fn take<'a>(from: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (taken, rest) = from.split_at_checked(n)?;
    *from = rest;
    Some(taken)
}

fn bands(mut from: &[u8], len: usize, row_len: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    while out.len() < len {
        let band = (BAND / row_len * row_len).min(len - out.len());
        let block_len = u32::from_le_bytes(take(&mut from, 4)?.try_into().ok()?);
        let block = take(&mut from, usize::try_from(block_len).ok()?)?;
        let at = out.len();
        out.resize(at + band, 0);
        let got = decompress_to_buffer(block, Some(band as i32), out.get_mut(at..)?).ok()?;
        if got != band {
            return None;
        }
    }
    Some(out)
}

fn runs(mut from: &[u8], len: usize, row_len: usize, pixel_len: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    while out.len() < len {
        let times = u16::from_le_bytes(take(&mut from, 2)?.try_into().ok()?);
        let mut row = Vec::with_capacity(row_len);
        while row.len() < row_len {
            let n = usize::from(*take(&mut from, 1)?.first()?);
            match n {
                0..128 => row.extend(take(&mut from, (n + 1) * pixel_len)?),
                _ => row.extend(take(&mut from, pixel_len)?.repeat(n - 126)),
            }
        }
        if times == 0 || row.len() > row_len {
            return None;
        }
        // The agent stops at the last row, too.
        let rows = usize::from(times).min((len - out.len()) / row_len);
        out.extend(row.repeat(rows));
    }
    Some(out)
}
