//! A moment on one clock.

use serde::{Deserialize, Serialize};

/// A moment: nanoseconds on the clock of the event that carries it.
///
/// Negative times are moments before that clock's zero (a boot loader seen
/// from the kernel's clock) and are never clamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Nanoseconds since the clock's zero.
    pub ns: i64,
    /// The moment lies within `ns ± err_ns`: the resolution of the clock, and
    /// after a conversion the sum of the errors along the way.
    pub err_ns: u32,
    /// Instructions that the machine had executed since power-on, where the
    /// machine counts them (QEMU with icount). Time that passes without
    /// instructions was spent waiting, so the pair tells work from idling.
    pub insns: Option<u64>,
}

impl Stamp {
    /// A moment known to `err_ns`, without an instruction count.
    pub const fn new(ns: i64, err_ns: u32) -> Self {
        Self {
            ns,
            err_ns,
            insns: None,
        }
    }

    /// An exact moment of a machine that counts instructions.
    pub const fn counted(ns: i64, insns: u64) -> Self {
        Self {
            ns,
            err_ns: 0,
            insns: Some(insns),
        }
    }

    /// The same moment, of which only is known that it is no earlier.
    pub const fn at_least(self) -> Self {
        Self {
            err_ns: u32::MAX,
            ..self
        }
    }

    /// Whether it may be any later: see [`Self::at_least`].
    pub const fn is_at_least(&self) -> bool {
        self.err_ns == u32::MAX
    }

    /// Instructions executed from `self` to `later`, if both were counted.
    pub fn insns_until(&self, later: &Stamp) -> Option<u64> {
        later.insns?.checked_sub(self.insns?)
    }
}
