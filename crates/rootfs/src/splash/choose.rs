//! Which encoding shows a picture first.
//!
//! Reading a byte takes time, and so does unpacking it. The model is a sum: bytes of the file
//! times what reading one takes, plus bytes of pixels times what making one takes.

use super::{Encoding, Splash, SplashError, write};

/// What making a byte of pixels takes more than with LZ4, in ps: measured in instructions
/// (`docs/tables/splash.md`), at 500 million a second. Raw pixels are not free: all of their pages
/// are mapped.
fn unpack_ps(encoding: Encoding) -> u64 {
    match encoding {
        Encoding::Raw => 350,
        Encoding::Rle => 200,
        Encoding::Lz4 => 0,
    }
}

/// A file, and how long it should take to show it.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// How it is packed.
    pub encoding: Encoding,
    /// The file.
    pub bytes: Vec<u8>,
    /// Reading and unpacking it, in µs, without what all have in common.
    pub micros: u64,
}

/// The splash in each encoding. `storage` is what the boot reads it from, in kB/s.
///
/// # Errors
/// As [`write()`].
pub fn estimates(splash: &Splash, storage: u32) -> Result<Vec<Estimate>, SplashError> {
    let estimate = |encoding| {
        let bytes = write(splash, encoding)?;
        let read_us = bytes.len() as u64 * 1000 / u64::from(storage.max(1));
        let unpack_us = splash.pixels.len() as u64 * unpack_ps(encoding) / 1_000_000;
        Ok(Estimate {
            encoding,
            bytes,
            micros: read_us + unpack_us,
        })
    };
    Encoding::ALL.into_iter().map(estimate).collect()
}

/// The fastest; of equally fast ones the smallest.
pub fn choose(estimates: Vec<Estimate>) -> Option<Estimate> {
    let key = |e: &Estimate| (e.micros, e.bytes.len());
    estimates.into_iter().min_by_key(key)
}
