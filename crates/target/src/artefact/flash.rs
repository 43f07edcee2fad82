//! A flash bank filled with parts at fixed offsets, as a NOR chip or an SD card image has them.

use std::ops::Range;

/// Something that lies at a place in flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed<'a> {
    /// What people call it, such as `environment`.
    pub name: &'a str,
    /// Bytes from the start of the bank.
    pub offset: usize,
    /// Its bytes.
    pub data: &'a [u8],
}

/// Why parts cannot lie like this.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlashError {
    /// A part ends behind the end of the bank.
    #[error(
        "{name} of {len:#x} bytes at {offset:#x} ends behind the flash of {size:#x} bytes; move it or shrink it"
    )]
    Overflow {
        /// The part.
        name: String,
        /// Its size in bytes.
        len: usize,
        /// Where it was to lie.
        offset: usize,
        /// Bytes in the bank.
        size: usize,
    },
    /// Two parts want the same bytes.
    #[error(
        "{first} ends at {end:#x}, but {second} begins at {offset:#x}; move {second} or shrink {first}"
    )]
    Overlap {
        /// The part that begins first.
        first: String,
        /// Where it ends.
        end: usize,
        /// The part that begins inside of it.
        second: String,
        /// Where that one begins.
        offset: usize,
    },
}

/// A bank of `size` bytes with `parts` in it; the rest is `fill` (erased NOR flash reads 0xff).
///
/// # Errors
/// [`FlashError::Overflow`] or [`FlashError::Overlap`], naming the parts.
pub fn place(size: usize, fill: u8, parts: &[Placed<'_>]) -> Result<Vec<u8>, FlashError> {
    let mut ranges: Vec<(Range<usize>, &Placed<'_>)> = Vec::with_capacity(parts.len());
    for part in parts {
        let end = part
            .offset
            .checked_add(part.data.len())
            .filter(|end| *end <= size);
        let end = end.ok_or_else(|| FlashError::Overflow {
            name: part.name.to_owned(),
            len: part.data.len(),
            offset: part.offset,
            size,
        })?;
        ranges.push((part.offset..end, part));
    }
    ranges.sort_by_key(|(range, _)| (range.start, range.end));
    for pair in ranges.windows(2) {
        let [(first, a), (second, b)] = pair else {
            continue;
        };
        if first.end > second.start {
            return Err(FlashError::Overlap {
                first: a.name.to_owned(),
                end: first.end,
                second: b.name.to_owned(),
                offset: second.start,
            });
        }
    }
    let mut bank = vec![fill; size];
    for (range, part) in ranges {
        bank[range].copy_from_slice(part.data);
    }
    Ok(bank)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part<'a>(name: &'a str, offset: usize, data: &'a [u8]) -> Placed<'a> {
        Placed { name, offset, data }
    }

    #[test]
    fn parts_lie_where_they_should() {
        let parts = [part("fit", 4, b"FIT"), part("environment", 0, b"env")];
        assert_eq!(place(8, 0xff, &parts).unwrap(), b"env\xffFIT\xff");
        assert_eq!(place(2, 0, &[]).unwrap(), [0, 0]);
    }

    #[test]
    fn touching_is_allowed_overlapping_is_not() {
        let touching = [
            part("a", 0, b"12"),
            part("b", 2, b"34"),
            part("none", 2, b""),
        ];
        assert_eq!(place(4, 0, &touching).unwrap(), b"1234");
        let error = place(
            4,
            0,
            &[part("fit", 1, b"12"), part("environment", 0, b"12")],
        );
        assert_eq!(
            error.unwrap_err().to_string(),
            "environment ends at 0x2, but fit begins at 0x1; move fit or shrink environment"
        );
    }

    #[test]
    fn a_part_must_end_inside() {
        for offset in [3, usize::MAX] {
            let error = place(4, 0, &[part("fit", offset, b"12")]).unwrap_err();
            assert!(matches!(error, FlashError::Overflow { ref name, .. } if name == "fit"));
        }
    }
}
