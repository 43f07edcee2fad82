//! Ctrl-C and its relatives, for commands that have something to put in order.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bootlap_engine::{Exit, Failure};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// What the shell says of a program that SIGINT ended.
const INTERRUPTED: i32 = 130;

/// A flag that the first of these signals sets; the second ends the program at
/// once.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::default();
    stop_when_asked(&stop)?;
    Ok(stop)
}

/// The same for a flag that is there.
pub(crate) fn stop_when_asked(stop: &Arc<AtomicBool>) -> Result<(), Failure> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        flag::register_conditional_shutdown(signal, INTERRUPTED, stop.clone())
            .and_then(|_| flag::register(signal, stop.clone()))
            .map_err(|e| Failure::new(Exit::Internal, format!("cannot listen for signals: {e}")))?;
    }
    Ok(())
}
