//! From a simulated boot to the predicted time of a real board.
//!
//! Simulation knows the CPU's work exactly, and what a board's console and
//! storage cost not at all. A [`Board`] says how fast these are; of each phase
//!
//! ```text
//! predicted = instructions ÷ speed + console bytes × 10 ÷ baud
//!           + storage bytes ÷ bandwidth + reads × latency + waits
//! ```
//!
//! *Waits* take as long on every board: sleeping, and loops that look at a
//! timer until it is late enough (the autoboot wait runs a thousand million
//! instructions, and takes two seconds on any CPU). Before user space, who
//! prints waits for the line (boot loaders and printk poll the UART); programs
//! leave their output to the tty's buffer, so there the phase lasts as long as
//! its work or its output, whichever is longer.

use std::collections::BTreeMap;

use bootlap_model::BITS_PER_BYTE;
use bootlap_model::Timeline;
use serde::Serialize;

use crate::phase::PhaseName;

mod amount;
#[cfg(test)]
mod tests;

pub use amount::{Amount, amounts};
pub(crate) use amount::{Waits, console_bytes, timer_loops};

const NS_PER_S: f64 = 1e9;

/// A real board, as far as a boot's time depends on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    /// What people call it.
    pub name: String,
    /// Bits per second of its console.
    pub baud: u32,
    /// How fast it is in each phase; a phase that is not in here cannot be
    /// predicted.
    pub speeds: BTreeMap<PhaseName, Speed>,
}

/// How fast a board is in one phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Instructions per second.
    pub insns_per_s: f64,
    /// Bytes per second that storage is read at; `None` if nobody knows.
    pub storage_bytes_per_s: Option<f64>,
    /// Seconds that a read takes before its first byte.
    pub storage_latency_s: f64,
    /// How far this may be off, as a share.
    pub error: f64,
}

/// A predicted duration or difference. It is neither measured nor simulated,
/// and cannot be taken for either: there is no other way to its value than by
/// names that say so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Predicted {
    predicted_ns: i64,
    error_ns: i64,
}

impl Predicted {
    /// The predicted value, ns.
    pub fn predicted_ns(self) -> i64 {
        self.predicted_ns
    }

    /// How far it may be off, ns; never negative.
    pub fn error_ns(self) -> i64 {
        self.error_ns
    }

    fn new(predicted_ns: f64, error_ns: f64) -> Self {
        Self {
            predicted_ns: predicted_ns.round() as i64,
            error_ns: error_ns.abs().round() as i64,
        }
    }

    /// The sum; errors add up, because one model makes them all.
    fn plus(self, other: Self) -> Self {
        Self {
            predicted_ns: self.predicted_ns.saturating_add(other.predicted_ns),
            error_ns: self.error_ns.saturating_add(other.error_ns),
        }
    }
}

/// What a boot is predicted to take on a board.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The board's name.
    pub board: String,
    /// By phase, in the order of the boot.
    pub phases: Vec<PredictedPhase>,
    /// The whole boot.
    pub total: Predicted,
}

/// What a phase is predicted to take, and what for. All times are predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedPhase {
    /// Which.
    pub name: PhaseName,
    /// What there is to do.
    pub amount: Amount,
    /// For executing instructions, ns.
    pub cpu_ns: f64,
    /// For the bytes on the console, ns.
    pub console_ns: f64,
    /// For reading storage, ns.
    pub storage_ns: f64,
    /// For all of it, with what may overlap.
    pub predicted: Predicted,
    /// The share of `cpu_ns` and `storage_ns` that may be wrong.
    error: f64,
}

impl PredictedPhase {
    fn of(amount: Amount, board: &Board) -> Option<Self> {
        let speed = board.speeds.get(&amount.phase)?;
        let cpu_ns = amount.instructions as f64 / speed.insns_per_s * NS_PER_S;
        let console_ns = bytes_ns(amount.console_bytes, board.baud);
        let storage_ns = speed.storage_bytes_per_s.map_or(0.0, |rate| {
            let latency_s = f64::from(amount.reads) * speed.storage_latency_s;
            (amount.storage_bytes as f64 / rate + latency_s) * NS_PER_S
        });
        let mut phase = Self {
            name: amount.phase,
            amount,
            cpu_ns,
            console_ns,
            storage_ns,
            predicted: Predicted::default(),
            error: speed.error,
        };
        phase.predicted = Predicted::new(phase.ns(), (cpu_ns + storage_ns) * speed.error);
        Some(phase)
    }

    fn ns(&self) -> f64 {
        let work_ns = self.cpu_ns + self.storage_ns + self.amount.wait_ns as f64;
        if self.name < PhaseName::Initramfs {
            work_ns + self.console_ns
        } else {
            work_ns.max(self.console_ns)
        }
    }
}

/// How long so many bytes take on a serial line, ns.
pub fn bytes_ns(bytes: u64, baud: u32) -> f64 {
    bytes as f64 * f64::from(BITS_PER_BYTE) / f64::from(baud.max(1)) * NS_PER_S
}

/// What a simulated boot would take on `board`; `None` for a boot whose
/// instructions were not counted, and for one that did not get ready: what it
/// would have taken, nobody knows.
pub fn predict(timeline: &Timeline, board: &Board) -> Option<Prediction> {
    crate::ready_ns(timeline)?;
    let phases = amounts(timeline)?.into_iter();
    let phases: Option<Vec<_>> = phases.map(|a| PredictedPhase::of(a, board)).collect();
    let phases = phases?;
    let totals = phases.iter().map(|p| p.predicted);
    Some(Prediction {
        board: board.name.clone(),
        total: totals.fold(Predicted::default(), Predicted::plus),
        phases,
    })
}

/// What a change is predicted to save on the board (negative: what it costs).
///
/// What both boots have in common cancels out, and so does its error: the
/// error is that of what changed. Bytes on the console and waits are counted,
/// not estimated.
pub fn predicted_saving(before: &Prediction, after: &Prediction) -> Predicted {
    let in_boot = |boot: &Prediction, name| boot.phases.iter().find(|p| p.name == name).cloned();
    let mut names: Vec<PhaseName> = before.phases.iter().map(|p| p.name).collect();
    names.extend(after.phases.iter().map(|p| p.name));
    names.sort_unstable();
    names.dedup();
    let saving = names.into_iter().map(|name| {
        let sides = [in_boot(before, name), in_boot(after, name)];
        let of = |value: fn(&PredictedPhase) -> f64| {
            let [before, after] = sides.each_ref().map(|p| p.as_ref().map_or(0.0, value));
            before - after
        };
        let error = sides.iter().flatten().map(|p| p.error);
        let error = error.fold(0.0, f64::max);
        let unsure_ns = of(|p| p.cpu_ns).abs() + of(|p| p.storage_ns).abs();
        Predicted::new(of(PredictedPhase::ns), unsure_ns * error)
    });
    saving.fold(Predicted::default(), Predicted::plus)
}
