//! The changes of one pin, in few bytes.

use bootlap_model::Evidence;

/// A pin that changes more often is shown as the times in which it was busy.
pub(super) const MAX_SPANS: usize = 200;
/// More changes of one pin are not kept: a console of half a megabyte.
const MAX_EDGES: usize = 4 << 20;
/// The places of that many changes are kept.
const MAX_PLACES: usize = MAX_SPANS + 1;
/// A silence of this length ends what is told as one time of being busy.
const SILENCE_NS: i64 = 10_000_000;
/// More times of being busy are joined over shorter silences.
const MAX_BUSY: usize = 256;

/// What a pin shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Low,
    High,
    /// Undriven or not known: `x`, `z`.
    Unknown,
}

impl Level {
    /// Of a digit or letter in a dump (VCD has also the nine values of VHDL).
    pub(crate) fn of(byte: u8) -> Option<Self> {
        Some(match byte {
            b'0' | b'l' | b'L' => Level::Low,
            b'1' | b'h' | b'H' => Level::High,
            b'x' | b'X' | b'z' | b'Z' | b'u' | b'U' | b'w' | b'W' | b'-' => Level::Unknown,
            _ => return None,
        })
    }
}

/// A time in which a pin kept changing.
pub(super) struct Busy {
    pub(super) start_ns: i64,
    pub(super) end_ns: i64,
    pub(super) edges: u64,
    pub(super) at: Evidence,
}

/// The changes of one pin; the first is the level that it had at first.
#[derive(Default)]
pub(super) struct Edges {
    /// ns · 4 + level, in order.
    packed: Vec<i64>,
    places: Vec<Evidence>,
    pub(super) busy: Vec<Busy>,
    silence_ns: i64,
    last: Option<Level>,
    /// Changes were dropped.
    pub(super) cut: bool,
}

impl Edges {
    /// Adds a change if it is one; says whether it was kept.
    pub(super) fn push(&mut self, ns: i64, level: Level, at: Evidence, room: bool) -> bool {
        if self.last == Some(level) {
            return false;
        }
        if self.last.is_some() {
            self.busy(ns, at);
        }
        self.last = Some(level);
        self.cut |= !room || self.packed.len() >= MAX_EDGES;
        if self.cut {
            return false;
        }
        // Times have 61 bits: see `units::fs_to_ns`.
        self.packed.push(ns << 2 | level as i64);
        if self.places.len() < MAX_PLACES {
            self.places.push(at);
        }
        true
    }

    /// Takes note of a change.
    pub(super) fn busy(&mut self, ns: i64, at: Evidence) {
        self.silence_ns = self.silence_ns.max(SILENCE_NS);
        if let Some(last) = self.busy.last_mut()
            && ns.saturating_sub(last.end_ns) <= self.silence_ns
        {
            last.end_ns = ns;
            last.edges += 1;
            return;
        }
        self.busy.push(Busy {
            start_ns: ns,
            end_ns: ns,
            edges: 1,
            at,
        });
        while self.busy.len() > MAX_BUSY && self.silence_ns < i64::MAX {
            self.silence_ns = self.silence_ns.saturating_mul(2);
            self.join();
        }
    }

    fn join(&mut self) {
        let silence_ns = self.silence_ns;
        self.busy.dedup_by(|later, earlier| {
            let near = later.start_ns.saturating_sub(earlier.end_ns) <= silence_ns;
            if near {
                earlier.end_ns = later.end_ns;
                earlier.edges += later.edges;
            }
            near
        });
    }

    /// How many there are, the first level included.
    pub(super) fn len(&self) -> usize {
        self.packed.len()
    }

    /// The change at `i`.
    #[inline]
    pub(super) fn get(&self, i: usize) -> (i64, Level) {
        let packed = self.packed[i];
        let level = match packed & 3 {
            0 => Level::Low,
            1 => Level::High,
            _ => Level::Unknown,
        };
        (packed >> 2, level)
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = (i64, Level)> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }

    /// Where the file has the change at `i`, if that is one of the first.
    pub(super) fn place(&self, i: usize) -> Option<Evidence> {
        self.places.get(i).copied()
    }
}
