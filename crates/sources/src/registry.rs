//! All sources, and which one fits.

use crate::console::{Console, Stamps};
use crate::stopwatch::Stopwatch;
use crate::{Sniff, Source};

/// How many first bytes of a file [`detect`] should be given.
pub const HEAD_LEN: usize = 64 * 1024;

/// All sources, the more particular format first.
pub fn all() -> &'static [&'static dyn Source] {
    &[&Stamps, &Stopwatch, &Console]
}

/// The source with this short name.
pub fn named(name: &str) -> Option<&'static dyn Source> {
    all().iter().copied().find(|s| s.info().name == name)
}

/// The source that is surest of `head`, the first [`HEAD_LEN`] bytes of a
/// file; among equally sure ones the first of [`all`].
pub fn detect(head: &[u8]) -> Option<&'static dyn Source> {
    let mut best = (Sniff::NO, None);
    for &source in all() {
        let sniff = source.sniff(head);
        if sniff > best.0 {
            best = (sniff, Some(source));
        }
    }
    best.1
}
