//! The numbers in the prefixes of a kernel's lines.

/// The length of `<6>`, or 0.
pub(crate) fn level_len(text: &[u8]) -> usize {
    match text {
        [b'<', d, b'>', ..] if d.is_ascii_digit() => 3,
        [b'<', d, e, b'>', ..] if d.is_ascii_digit() && e.is_ascii_digit() => 4,
        _ => 0,
    }
}

/// How many digits `text` begins with, if any.
pub(crate) fn digits(text: &[u8]) -> Option<usize> {
    let n = text.iter().take_while(|b| b.is_ascii_digit()).count();
    (n > 0).then_some(n)
}

/// The value of at most 9 digits.
pub(crate) fn number(digits: &[u8]) -> i64 {
    let digit = |n: i64, d: &u8| n * 10 + i64::from(d - b'0');
    digits.iter().fold(0, digit)
}
