//! What boots a target: the interface that recorder and experiments see.

use std::time::Instant;

use bootlap_wire::stamps::{Header, Record};

use crate::LabError;

/// A machine that boots once: on, events until it is off.
pub trait Machine {
    /// Starts the boot; the machine's clock is zero at this moment.
    ///
    /// # Errors
    /// If the machine does not start, with what to do about it.
    fn power_on(&mut self) -> Result<MachineInfo, LabError>;

    /// Waits for the next event, or for the deadline.
    ///
    /// # Errors
    /// If the machine broke.
    fn next(&mut self, deadline: Instant) -> Result<MachineEvent, LabError>;

    /// Ends the boot, whatever its state. Dropping the machine does the same.
    fn power_off(&mut self);

    /// What is known of it after the boot, if that is more than
    /// [`Machine::power_on`] could say.
    fn facts(&self) -> Option<serde_json::Value> {
        None
    }

    /// Whether it types for the user: then a boot loader's prompt is not the
    /// end.
    fn answers(&self) -> bool {
        false
    }

    /// Why it could not be switched off, if it could not. CaptureEvent once.
    fn trouble(&mut self) -> Option<LabError> {
        None
    }
}

/// What is known of a machine once it runs.
#[derive(Clone, Debug)]
pub struct MachineInfo {
    /// The clock that stamps its console.
    pub clock: Header,
    /// Facts for the manifest: exact arguments, versions, images.
    pub facts: serde_json::Value,
}

/// What a machine tells while it boots.
#[derive(Clone, Debug)]
pub enum MachineEvent {
    /// Console bytes and probe marks, in order.
    Console(Vec<Record>),
    /// It is off or has stopped for good, and why.
    Stopped(String),
    /// Nothing happened until the deadline.
    Deadline,
}
