//! Integers and strings out of bytes that nobody has checked: out of range is `None`.

/// The `N` bytes at `at`.
pub(super) fn array<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    data.get(at..at.checked_add(N)?)?.try_into().ok()
}

pub(super) fn be32(data: &[u8], at: usize) -> Option<u32> {
    array(data, at).map(u32::from_be_bytes)
}

pub(super) fn be64(data: &[u8], at: usize) -> Option<u64> {
    array(data, at).map(u64::from_be_bytes)
}

pub(super) fn le16(data: &[u8], at: usize) -> Option<u16> {
    array(data, at).map(u16::from_le_bytes)
}

pub(super) fn le32(data: &[u8], at: usize) -> Option<u32> {
    array(data, at).map(u32::from_le_bytes)
}

pub(super) fn le64(data: &[u8], at: usize) -> Option<u64> {
    array(data, at).map(u64::from_le_bytes)
}

/// The bytes at `at` up to a NUL, which must come within `most` bytes (a bound, because hostile
/// input may point a million times at one string of a million bytes).
pub(super) fn c_str(data: &[u8], at: usize, most: usize) -> Option<&[u8]> {
    let rest = data.get(at..)?;
    let head = &rest[..rest.len().min(most.saturating_add(1))];
    Some(&head[..memchr::memchr(0, head)?])
}
