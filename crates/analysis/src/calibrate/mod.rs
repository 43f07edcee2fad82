//! How fast a board is, from one real boot of it and one simulated boot of the
//! same target.
//!
//! Both boots are cut into stretches at the lines that both print. Of each
//! stretch the real boot tells how long it took, the simulated one how many
//! instructions that were. What the real console's bytes took on the wire, and
//! what waits on any machine, is taken out; the rest, over the instructions,
//! is how long an instruction takes. By phase, because a boot loader with
//! caches off runs at another speed than the kernel.
//!
//! A board also waits for hardware that the lab does not have. So a stretch
//! that is several times as slow as most is left out, and told.

use std::fmt;

use bootlap_model::Timeline;
use schemars::JsonSchema;
use serde::Serialize;

use crate::phase::PhaseName;
use crate::predict::bytes_ns;
use crate::view::View;

mod baud;
mod lived;
mod storage;
mod stretch;
#[cfg(test)]
mod tests;

pub use baud::{Baud, BaudFrom, Rate};
pub use lived::Lived;
pub use storage::FittedStorage;
pub use stretch::Stretch;

/// Less work than this tells nothing of a phase's speed.
const LEAST_INSNS: u64 = 1_000_000;
/// So many times as slow or as fast as most: that is something else.
const OUTLIER: f64 = 3.0;
/// What a speed is trusted to if a single stretch tells it; of several, each
/// tells as much, so their doubt shrinks with the root of their number.
const UNSURE: f64 = 0.3;

/// Why a board cannot be calibrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCalibrated {
    /// The boot in the lab has no instruction counts.
    NotCounted,
    /// The log has no times, or simulated ones.
    NotMeasured,
    /// The two boots print different things.
    NothingInCommon,
    /// What they have in common does not take long enough, apart from what
    /// the console takes.
    TooLittle,
}

impl fmt::Display for NotCalibrated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotCounted => {
                "the boot in the lab has no instruction counts; boot it in simulated time, with \
                 the probe"
            }
            Self::NotMeasured => {
                "the log has no times of a real board; record it with `bootlap capture`, or with \
                 grabserial -t"
            }
            Self::NothingInCommon => {
                "the log and the boot in the lab have no lines in common; is it a log of this \
                 target?"
            }
            Self::TooLittle => {
                "what the log and the boot in the lab have in common is all console output and \
                 waiting, which tells nothing of the CPU; log a boot with `quiet`, or a longer one"
            }
        })
    }
}

impl std::error::Error for NotCalibrated {}

/// What one boot tells of a board.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// The console's speed.
    pub baud: Baud,
    /// By phase, in the order of a boot.
    pub speeds: Vec<FittedSpeed>,
    /// The storage's speed, if the boot loader tells of reads.
    pub storage: Option<FittedStorage>,
    /// What it rests on, in the order of the boot.
    pub stretches: Vec<Stretch>,
}

/// How fast the board is in one phase.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "FittedSpeedJson")]
pub struct FittedSpeed {
    /// As in a report: `kernel`.
    #[schemars(with = "String")]
    pub phase: PhaseName,
    /// Instructions per second.
    #[serde(rename = "instructions_per_second")]
    pub insns_per_s: f64,
    /// How far a stretch lies from that, as a share, weighed by its work.
    pub error: f64,
    /// How many stretches it rests on.
    pub used: usize,
    /// Stretches that are much slower or faster.
    pub left_out: usize,
}

impl Calibration {
    /// What the real boot took over all stretches, ns, and what the model
    /// makes of them.
    pub fn totals_ns(&self) -> (i64, i64) {
        let sum = |of: fn(&Stretch) -> i64| {
            let all = self.stretches.iter().map(of);
            all.fold(0, i64::saturating_add)
        };
        (sum(|s| s.board_ns), sum(|s| s.predicted_ns))
    }
}

/// Calibrates a board from a simulated boot (`lab`) and a timed log of a real
/// one, with what is known of its console's speed.
///
/// # Errors
/// If the two have nothing in common that tells the board's speed.
pub fn calibrate(
    lab: &Timeline,
    board: &Timeline,
    known: Rate,
) -> Result<Calibration, NotCalibrated> {
    let (lab, board) = (View::of(lab), View::of(board));
    if board.simulated() {
        return Err(NotCalibrated::NotMeasured);
    }
    let baud = baud::of(&board, known);
    let mut stretches = stretch::common(&lab, &board, baud.bits_per_s)?;
    let mut phases: Vec<PhaseName> = stretches.iter().map(|s| s.phase).collect();
    phases.dedup();
    phases.sort_unstable();
    phases.dedup();
    let fitted = phases.into_iter().filter_map(|p| fit(p, &mut stretches));
    let speeds: Vec<FittedSpeed> = fitted.collect();
    if speeds.is_empty() {
        return Err(NotCalibrated::TooLittle);
    }
    predict(&mut stretches, &speeds, baud.bits_per_s);
    Ok(Calibration {
        baud,
        storage: storage::of(&board),
        speeds,
        stretches,
    })
}

/// The speed of one phase; marks the stretches that it does not rest on.
fn fit(phase: PhaseName, stretches: &mut [Stretch]) -> Option<FittedSpeed> {
    let own = stretches.iter_mut().filter(|s| s.phase == phase);
    let mut own: Vec<&mut Stretch> = own.collect();
    let middle = middle(&own)?;
    for stretch in &mut own {
        let ns = stretch.ns_per_insn();
        stretch.left_out = ns > middle * OUTLIER || ns < middle / OUTLIER;
    }
    let kept: Vec<(f64, f64)> = own
        .iter()
        .filter(|s| !s.left_out)
        .map(|s| (s.instructions as f64, s.ns_per_insn()))
        .collect();
    let work: f64 = kept.iter().map(|k| k.0).sum();
    if work < LEAST_INSNS as f64 {
        return None;
    }
    let ns_per_insn = kept.iter().map(|(n, ns)| n * ns).sum::<f64>() / work;
    let squares = kept
        .iter()
        .map(|(n, ns)| n * (ns / ns_per_insn - 1.0).powi(2));
    let spread = squares.sum::<f64>() / work;
    // As many stretches of equal work would tell as much.
    let worth = work.powi(2) / kept.iter().map(|k| k.0.powi(2)).sum::<f64>();
    // One that does nearly all the work lies close to the mean that it makes.
    let error = (spread + UNSURE.powi(2) / worth).sqrt();
    Some(FittedSpeed {
        phase,
        insns_per_s: 1e9 / ns_per_insn,
        error: error.min(1.0),
        used: kept.len(),
        left_out: own.len() - kept.len(),
    })
}

/// The median time of an instruction, ns, over all instructions of the
/// stretches; `None` if it is not positive: they were all console.
fn middle(stretches: &[&mut Stretch]) -> Option<f64> {
    let mut ratios: Vec<(f64, u64)> = stretches
        .iter()
        .map(|s| (s.ns_per_insn(), s.instructions))
        .collect();
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: u64 = ratios.iter().map(|r| r.1).sum();
    let mut seen = 0;
    let middle = ratios.iter().find(|r| {
        seen += r.1;
        seen * 2 >= all
    })?;
    (middle.0 > 0.0).then_some(middle.0)
}

/// What the model makes of each stretch.
fn predict(stretches: &mut [Stretch], speeds: &[FittedSpeed], baud: u32) {
    for stretch in stretches {
        let fitted = speeds.iter().find(|s| s.phase == stretch.phase);
        let cpu_ns = fitted.map_or(0.0, |s| stretch.instructions as f64 * 1e9 / s.insns_per_s);
        let ns = cpu_ns + bytes_ns(stretch.bytes, baud) + stretch.wait_ns as f64;
        stretch.predicted_ns = ns as i64;
        stretch.left_out |= fitted.is_none();
    }
}
