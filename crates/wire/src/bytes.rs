//! Numbers and text out of bytes that nobody has checked: out of range is `None`.

/// Order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Low byte first.
    Little,
    /// High byte first.
    Big,
}

/// The number of `N` bytes (at most 8) at `at`.
fn number<const N: usize>(bytes: &[u8], at: usize, order: Order) -> Option<u64> {
    let bytes: [u8; N] = bytes.get(at..at.checked_add(N)?)?.try_into().ok()?;
    let push = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
    Some(match order {
        Order::Big => bytes.iter().fold(0, push),
        Order::Little => bytes.iter().rev().fold(0, push),
    })
}

/// The 16-bit number at `at`.
pub fn u16_at(bytes: &[u8], at: usize, order: Order) -> Option<u16> {
    number::<2>(bytes, at, order).map(|n| n as u16)
}

/// The 32-bit number at `at`.
pub fn u32_at(bytes: &[u8], at: usize, order: Order) -> Option<u32> {
    number::<4>(bytes, at, order).map(|n| n as u32)
}

/// The 64-bit number at `at`.
pub fn u64_at(bytes: &[u8], at: usize, order: Order) -> Option<u64> {
    number::<8>(bytes, at, order)
}

/// The text at `at` up to a NUL, which must come before the end.
pub fn c_str(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    Some(&rest[..memchr::memchr(0, rest)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_both_orders() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 0];
        assert_eq!(u16_at(&bytes, 1, Order::Little), Some(0x0302));
        assert_eq!(u32_at(&bytes, 0, Order::Big), Some(0x0102_0304));
        let eight = u64_at(&bytes, 0, Order::Little);
        assert_eq!(eight, Some(0x0807_0605_0403_0201));
        assert_eq!(u32_at(&bytes, 6, Order::Big), None);
        assert_eq!(u32_at(&bytes, usize::MAX, Order::Big), None);
        assert_eq!(c_str(&bytes, 6), Some(&[7, 8][..]));
        assert_eq!(c_str(&bytes[..8], 6), None);
    }
}
