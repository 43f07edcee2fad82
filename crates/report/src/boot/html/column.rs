//! Columns of numbers, laid out so that they compress well.
//!
//! A column is as wide as its largest number needs (0 to 8 bytes), and stands
//! byte by byte: first the lowest byte of all numbers, then the next. So bytes
//! of a kind lie together, and the high ones, mostly zero, cost nothing.

use std::borrow::Cow;

/// Numbers of one kind, one for each span, link or moment.
pub(crate) struct Column {
    /// What they are; the viewer asks for it by this name.
    pub(crate) name: Cow<'static, str>,
    /// The numbers.
    pub(crate) values: Vec<u64>,
}

impl Column {
    pub(crate) fn new(
        name: impl Into<Cow<'static, str>>,
        values: impl IntoIterator<Item = u64>,
    ) -> Self {
        Self {
            name: name.into(),
            values: values.into_iter().collect(),
        }
    }

    /// Bytes for each number; 0 if all are zero.
    pub(crate) fn width(&self) -> u32 {
        let all = self.values.iter().fold(0, |all, v| all | v);
        (u64::BITS - all.leading_zeros()).div_ceil(8)
    }

    /// Adds the bytes.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        for plane in 0..self.width() {
            out.extend(self.values.iter().map(|v| (v >> (8 * plane)) as u8));
        }
    }
}

/// A number with its sign in the lowest bit: small numbers stay small.
pub(crate) fn zigzag(n: i64) -> u64 {
    ((n << 1) ^ (n >> 63)) as u64
}

/// What each number is more than the one before, as [`zigzag`].
pub(crate) fn steps(values: impl IntoIterator<Item = u64>) -> impl Iterator<Item = u64> {
    let mut before = 0;
    values.into_iter().map(move |value| {
        let step = value.wrapping_sub(before) as i64;
        before = value;
        zigzag(step)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_kind_lie_together() {
        let mut out = Vec::new();
        Column::new("x", [1, 0x302, 4]).write(&mut out);
        assert_eq!(out, [1, 2, 4, 0, 3, 0]);
        assert_eq!(Column::new("x", [0, 0]).width(), 0);
        assert_eq!(Column::new("x", [u64::MAX]).width(), 8);
    }

    #[test]
    fn steps_have_signs() {
        let all: Vec<u64> = steps([5, 3, 3, 10]).collect();
        assert_eq!(all, [10, 3, 0, 14]);
        assert_eq!(zigzag(i64::MIN), u64::MAX);
    }
}
