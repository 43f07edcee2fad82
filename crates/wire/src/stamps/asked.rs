//! A disk's request, put together from the mark and the two details behind it.

use bootlap_model::{RequestKind, Stamp};

/// A request that was done; see [`bootlap_model::Request`] for what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// When it was done.
    pub done: Stamp,
    /// How long that took, ns.
    pub took_ns: u64,
    /// How long the CPU has waited for disks since power-on, ns.
    pub waited_ns: u64,
    /// What was asked for.
    pub kind: RequestKind,
    /// Which disk.
    pub disk: u8,
    /// Of the first byte.
    pub offset: u64,
    /// How many.
    pub bytes: u32,
}

/// A request of which not all was read yet.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    done: Stamp,
    place: Option<(u64, u64, u8)>,
}

impl Begun {
    /// What the mark says.
    pub fn new(done: Stamp) -> Self {
        Self { done, place: None }
    }

    /// Takes in a detail; the second makes it whole.
    pub fn detail(&mut self, first: u64, second: u64, code: u8) -> Option<Asked> {
        let Some((offset, bytes, what)) = self.place else {
            self.place = Some((first, second, code));
            return None;
        };
        Some(Asked {
            done: self.done,
            took_ns: first,
            waited_ns: second,
            kind: match what & 3 {
                0 => RequestKind::Read,
                1 => RequestKind::Write,
                2 => RequestKind::Flush,
                _ => RequestKind::Load,
            },
            disk: what >> 2,
            offset,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
        })
    }
}
