//! Predicted times. Each field says that it is one.

use bootlap_analysis::predict::PredictedPhase;
use bootlap_analysis::{Predicted, Prediction};
use schemars::JsonSchema;
use serde::Serialize;

use crate::json::id;

/// What a simulated boot is predicted to take on the board that the target
/// describes in `[board]`. Nothing in here was measured.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PredictedJson {
    /// The board's name.
    pub board: String,
    /// Power-on to ready, as predicted.
    pub total: PredictedTimeJson,
    /// By phase, in the order of the boot.
    pub phases: Vec<PredictedPhaseJson>,
}

/// A predicted duration or difference.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct PredictedTimeJson {
    /// The prediction.
    pub predicted_ns: i64,
    /// How far it may be off.
    pub error_ns: i64,
}

/// What a phase is predicted to take, and what for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PredictedPhaseJson {
    /// `firmware`, `bootloader`, `kernel`, `initramfs`, `userspace`, `application`.
    pub name: String,
    /// The prediction.
    pub predicted_ns: i64,
    /// How far it may be off.
    pub error_ns: i64,
    /// Predicted for executing instructions.
    pub predicted_cpu_ns: i64,
    /// Predicted for sending bytes over the console's line.
    pub predicted_console_ns: i64,
    /// Predicted for reading storage; 0 where its speed is not known.
    pub predicted_storage_ns: i64,
    /// What takes as long on every machine: idling, and loops that wait for a
    /// timer.
    pub predicted_wait_ns: i64,
    /// Instructions to execute, without those of loops that wait.
    pub instructions: u64,
    /// Bytes on the console.
    pub console_bytes: u64,
    /// Bytes that the boot loader reads from storage.
    pub storage_bytes: u64,
}

impl PredictedJson {
    pub(crate) fn of(prediction: &Prediction) -> Self {
        Self {
            board: prediction.board.clone(),
            total: prediction.total.into(),
            phases: prediction.phases.iter().map(phase).collect(),
        }
    }
}

impl From<Predicted> for PredictedTimeJson {
    fn from(time: Predicted) -> Self {
        Self {
            predicted_ns: time.predicted_ns(),
            error_ns: time.error_ns(),
        }
    }
}

fn phase(phase: &PredictedPhase) -> PredictedPhaseJson {
    PredictedPhaseJson {
        name: id(&phase.name),
        predicted_ns: phase.predicted.predicted_ns(),
        error_ns: phase.predicted.error_ns(),
        predicted_cpu_ns: phase.cpu_ns as i64,
        predicted_console_ns: phase.console_ns as i64,
        predicted_storage_ns: phase.storage_ns as i64,
        predicted_wait_ns: phase.amount.wait_ns,
        instructions: phase.amount.instructions,
        console_bytes: phase.amount.console_bytes,
        storage_bytes: phase.amount.storage_bytes,
    }
}
