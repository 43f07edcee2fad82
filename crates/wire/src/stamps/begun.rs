//! A disk's request, put together from the mark and the two details behind it.

use bootlap_model::{ClockId, Evidence, Request, RequestKind, Stamp};

/// A request of which not all was read yet.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    clock: ClockId,
    done: Stamp,
    place: Option<(u64, u64, u8)>,
}

impl Begun {
    /// What the mark says, stamped by `clock`.
    pub fn new(clock: ClockId, done: Stamp) -> Self {
        Self {
            clock,
            done,
            place: None,
        }
    }

    /// Takes in a detail; the second makes it whole.
    pub fn detail(
        &mut self,
        (first, second, code): (u64, u64, u8),
        evidence: Evidence,
    ) -> Option<Request> {
        let Some((offset, bytes, what)) = self.place else {
            self.place = Some((first, second, code));
            return None;
        };
        Some(Request {
            clock: self.clock,
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
            evidence,
        })
    }
}
