//! Who is told how far it is.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::failure::Failure;

/// What the engine tells the program that it is part of. Every method has a
/// default that does nothing: `()` is a silent listener.
pub trait Progress: Sync {
    /// Something begins.
    fn step(&self, _what: &str) {}

    /// Something begins that is done `total` times.
    fn count(&self, _what: &str, _total: usize) {}

    /// One of the many is done.
    fn one_done(&self) {}

    /// A line that is worth keeping.
    fn note(&self, _text: &str) {}

    /// A boot was taken from the store; `made` is when it was made, RFC 3339.
    fn kept(&self, _made: &str) {}

    /// A kept boot was made again, and was the same.
    fn kept_again(&self) {}

    /// Sets `stop` when the person has had enough, so that a board is switched
    /// off before the program ends.
    ///
    /// # Errors
    /// If that cannot be arranged.
    fn stop_when_asked(&self, _stop: &Arc<AtomicBool>) -> Result<(), Failure> {
        Ok(())
    }
}

impl Progress for () {}
