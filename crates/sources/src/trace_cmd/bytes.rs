//! Numbers and strings in the byte order of the recorded machine.

/// Bytes that are read from front to back; what is not there is `None`.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'f> {
    pub(super) data: &'f [u8],
    pub(super) at: usize,
    pub(super) order: Order,
}

/// How the recorded machine writes numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) big_endian: bool,
    /// The size of its pointers: 4 or 8.
    pub(super) long: usize,
}

impl Order {
    /// That of most machines.
    #[cfg(test)]
    pub(super) const LITTLE: Self = Self {
        big_endian: false,
        long: 8,
    };

    /// The number that `bytes`, at most 8, are.
    pub(super) fn number(self, bytes: &[u8]) -> u64 {
        let push = |n: u64, b: &u8| n << 8 | u64::from(*b);
        if self.big_endian {
            bytes.iter().take(8).fold(0, push)
        } else {
            bytes.iter().take(8).rev().fold(0, push)
        }
    }

    /// The same of two's complement.
    pub(super) fn signed(self, bytes: &[u8]) -> i64 {
        let unused = 64 - 8 * bytes.len().clamp(1, 8) as u32;
        ((self.number(bytes) << unused) as i64) >> unused
    }
}

impl<'f> Bytes<'f> {
    /// Those from `at` on.
    pub(super) fn from(self, at: u64) -> Option<Self> {
        let at = usize::try_from(at).ok()?;
        (at <= self.data.len()).then_some(Self { at, ..self })
    }

    /// The next `len` bytes.
    pub(super) fn take(&mut self, len: u64) -> Option<&'f [u8]> {
        let end = self.at.checked_add(usize::try_from(len).ok()?)?;
        let taken = self.data.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        let order = self.order;
        Some(order.number(self.take(2)?) as u16)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        let order = self.order;
        Some(order.number(self.take(4)?) as u32)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        let order = self.order;
        Some(order.number(self.take(8)?))
    }

    /// Up to a NUL, which is taken too.
    pub(super) fn string(&mut self) -> Option<&'f str> {
        let rest = self.data.get(self.at..)?;
        let len = memchr::memchr(0, rest)?;
        self.at += len + 1;
        Some(crate::text::valid(&rest[..len]))
    }
}
