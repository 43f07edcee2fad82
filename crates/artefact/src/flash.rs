//! Whether parts fit into a flash bank at the places that they are given.

/// Something that lies at a place in flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed<'a> {
    /// What people call it, such as `environment`.
    pub name: &'a str,
    /// Bytes from the start of the bank.
    pub offset: u64,
    /// How many bytes it takes.
    pub len: u64,
}

/// Why parts cannot lie like this.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlashError {
    /// A part ends after the end of the bank.
    #[error(
        "{name} of {len:#x} bytes at {offset:#x} ends behind the flash of {size:#x} bytes; move it, shrink it or make the bank larger"
    )]
    Overflow {
        /// The part.
        name: String,
        /// Its size in bytes.
        len: u64,
        /// Where it was to lie.
        offset: u64,
        /// Bytes in the bank.
        size: u64,
    },
    /// Two parts want the same bytes.
    #[error(
        "{first} ends at {end:#x}, but {second} begins at {offset:#x}; move {second} or shrink {first}"
    )]
    Overlap {
        /// The part that begins first.
        first: String,
        /// Where it ends.
        end: u64,
        /// The part that begins inside of it.
        second: String,
        /// Where that one begins.
        offset: u64,
    },
}

/// Checks that `parts` lie side by side in a bank of `size` bytes.
///
/// # Errors
/// [`FlashError::Overflow`] or [`FlashError::Overlap`], naming the parts.
pub fn check(size: u64, parts: &[Placed<'_>]) -> Result<(), FlashError> {
    let end = |part: &Placed<'_>| part.offset.checked_add(part.len);
    for part in parts {
        if end(part).is_none_or(|end| end > size) {
            return Err(FlashError::Overflow {
                name: part.name.to_owned(),
                len: part.len,
                offset: part.offset,
                size,
            });
        }
    }
    let mut order: Vec<&Placed<'_>> = parts.iter().filter(|p| p.len > 0).collect();
    order.sort_by_key(|part| part.offset);
    for pair in order.windows(2) {
        if let [first, second] = pair
            && let Some(end) = end(first).filter(|end| *end > second.offset)
        {
            return Err(FlashError::Overlap {
                first: first.name.to_owned(),
                end,
                second: second.name.to_owned(),
                offset: second.offset,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, offset: u64, len: u64) -> Placed<'_> {
        Placed { name, offset, len }
    }

    #[test]
    fn touching_is_allowed_overlapping_is_not() {
        let touching = [part("b", 2, 2), part("a", 0, 2), part("none", 1, 0)];
        assert_eq!(check(4, &touching), Ok(()));
        assert_eq!(check(0, &[]), Ok(()));
        let error = check(4, &[part("FIT", 1, 2), part("environment", 0, 2)]);
        assert_eq!(
            error.unwrap_err().to_string(),
            "environment ends at 0x2, but FIT begins at 0x1; move FIT or shrink environment"
        );
        // One that holds others, and two at the same place.
        assert!(check(9, &[part("a", 0, 9), part("b", 1, 1), part("c", 4, 1)]).is_err());
        assert!(check(9, &[part("a", 3, 1), part("b", 3, 1)]).is_err());
    }

    #[test]
    fn a_part_must_end_inside() {
        for offset in [3, u64::MAX] {
            let error = check(4, &[part("FIT", offset, 2)]).unwrap_err();
            assert!(matches!(error, FlashError::Overflow { ref name, .. } if name == "FIT"));
            assert!(error.to_string().starts_with("FIT of 0x2 bytes at 0x"));
        }
    }
}
